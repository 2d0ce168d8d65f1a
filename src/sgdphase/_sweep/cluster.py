"""Workers of a running Dask cluster. See docs/clusters.md."""

from __future__ import annotations

import logging
import math
import pkgutil
import socket
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread
from time import monotonic
from typing import Any

from sgdphase._extras import extra
from sgdphase._sweep.storefile import SweepError
from sgdphase._sweep.workers import Workers
from sgdphase.errors import InputError, one_line
from sgdphase.stats import duration

_CONNECT_SECONDS = 10
_ASK_SECONDS = 2.0
# For workers to say whether they can import the package; one that is busy may take longer.
_IMPORT_SECONDS = 10
_PROBE = "sgdphase.errors:InputError.__name__"


class DaskWorkers(Workers):
    """The workers of a Dask cluster, as the `workers` of a sweep.

    If a worker dies, Dask gives its pack to another one, up to the setting
    `distributed.scheduler.allowed-failures`; then it reports the pack as killed.

    Parameters
    ----------
    address : str; of the scheduler
    patience : float, default 600
        Seconds without any worker after which the sweep ends with an error.

    Examples
    --------
    >>> sweep(plan, "runs.sqlite", workers=DaskWorkers("tcp://10.0.0.1:8786"))  # doctest: +SKIP
    """

    here = False

    def __init__(self, address: str, patience: float = 600.0) -> None:
        distributed = extra("distributed", "dask")
        # A lost scheduler fills a page there, and is one line here.
        for name in ("distributed.client", "tornado.application"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            self._client: Any = _connected(distributed, address)
        except (OSError, ValueError, TypeError) as error:
            reason = " ".join((getattr(error, "strerror", None) or str(error)).split())
            raise InputError(f"no Dask scheduler at '{address}' ({reason})") from None
        self.gone = f"the Dask scheduler at {address} is gone"
        self._patience = patience
        self._killed: type[BaseException] = distributed.KilledWorker
        self._executor: Any = self._client.get_executor(pure=False)
        self._threads, self._asked, self._last_seen = 0, -math.inf, monotonic()
        self._known: set[str] = set()

    @property
    def parallel(self) -> int:
        # Workers come and go, but asking is a round trip.
        if monotonic() - self._asked > _ASK_SECONDS:
            # The loss of the scheduler shows in what was submitted.
            with suppress(OSError, RuntimeError):
                threads = self._client.nthreads()
                self._check_import(set(threads))
                self._threads = sum(threads.values())
            self._asked = monotonic()
            if self._threads:
                self._last_seen = self._asked
        return max(self._threads, 1)

    def _check_import(self, workers: set[str]) -> None:
        """Raise `InputError` if no worker can import the package: the first pack kills such one."""
        new = sorted(workers - self._known)
        self._known |= workers
        if not new:
            return
        # A function of Python's own, which any worker can load.
        ask = pkgutil.resolve_name, _PROBE
        with suppress(TimeoutError):
            answers: dict[str, Any] = self._client.sync(
                self._client._run, *ask, workers=new, on_error="return",
                callback_timeout=_IMPORT_SECONDS,
            )  # fmt: skip
            failed = [each for each in new if isinstance(answers.get(each), Exception)]
            if failed and {*failed} == workers:
                self.stop()
                raise InputError(
                    f"no Dask worker of {len(failed)} can import sgdphase ({failed[0]}: "
                    f"{one_line(str(answers[failed[0]]))[1:-1]}); install the same version on "
                    "every host"
                )

    def waiting(self) -> str:
        if self.parallel and self._threads:
            return ""
        lasted = monotonic() - self._last_seen
        state = "no Dask worker is left" if self._known else "no Dask worker has come yet"
        if lasted < self._patience:
            return f"{state}; gives up in {duration(self._patience - lasted)}"
        log = ": their logs say why" if self._known else ""
        raise SweepError(
            f"{state} after {duration(lasted)}{log}. What was reported done is kept, and the same "
            "command goes on from there"
        )

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


def _connected(distributed: Any, address: str) -> Any:
    """A client; raises where nobody listens, or somebody else than a scheduler."""
    # Fails at once, where a client takes as long as it is given.
    if address.partition("://")[0] in (address, "tcp", "tls"):
        place = distributed.comm.get_address_host_port(address)
        socket.create_connection(place, _CONNECT_SECONDS).close()

    class Client(distributed.Client):  # type: ignore[misc]
        def __del__(self) -> None:
            """Not closed here: that of one that never connected waits, and prints a traceback."""

    result: Future[Any] = Future()

    def connect() -> None:
        try:
            result.set_result(Client(address, timeout=_CONNECT_SECONDS, set_as_default=False))
        except Exception as error:
            result.set_exception(error)

    # In a thread, since a client waits for ever for a server that does not speak its language.
    Thread(target=connect, daemon=True).start()
    try:
        return result.result(_CONNECT_SECONDS + 1)
    except TimeoutError:
        raise OSError(f"no answer within {_CONNECT_SECONDS} s") from None
