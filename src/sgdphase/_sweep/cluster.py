"""Workers of a running Dask cluster. See docs/clusters.md."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Future
from time import monotonic
from typing import Any

from sgdphase._extras import extra
from sgdphase._sweep.workers import Workers
from sgdphase.errors import InputError

_CONNECT_SECONDS = 10
_ASK_SECONDS = 2.0


class DaskWorkers(Workers):
    """The workers of a Dask cluster, as the `workers` of a sweep.

    If a worker dies, Dask gives its pack to another one, up to the setting
    `distributed.scheduler.allowed-failures`; then it reports the pack as killed.

    Parameters
    ----------
    address : str; of the scheduler

    Examples
    --------
    >>> sweep(plan, "runs.sqlite", workers=DaskWorkers("tcp://10.0.0.1:8786"))  # doctest: +SKIP
    """

    here = False

    def __init__(self, address: str) -> None:
        distributed = extra("distributed", "dask")
        try:
            self._client: Any = distributed.Client(
                address, timeout=_CONNECT_SECONDS, set_as_default=False
            )
        except (OSError, ValueError, TypeError) as error:
            reason = " ".join(str(error).split())
            raise InputError(f"no Dask scheduler at '{address}' ({reason})") from None
        self._killed: type[BaseException] = distributed.KilledWorker
        self._executor: Any = self._client.get_executor(pure=False)
        self._threads, self._asked = 1, -math.inf

    @property
    def parallel(self) -> int:
        # Workers come and go, but asking is a round trip.
        if monotonic() - self._asked > _ASK_SECONDS:
            self._threads = max(sum(self._client.nthreads().values()), 1)
            self._asked = monotonic()
        return self._threads

    @property
    def slots(self) -> int:
        """Two per thread, so that a worker has the next pack while the last one is sent back."""
        return 2 * self.parallel

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = self._executor.submit(fn, *args, **kwargs)
        return future

    def died(self, error: BaseException) -> bool:
        return isinstance(error, self._killed)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._executor.shutdown(wait=wait)
        self._client.close()

    def stop(self) -> None:
        # Closing the client makes the scheduler forget what it asked for.
        self._client.close()
