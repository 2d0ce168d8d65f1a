"""Downloads: sources in turn, archives, who waits for whom."""

from __future__ import annotations

import io

from sgdphase.problems import _download


def test_the_bar_follows_what_pooch_tells_it(monkeypatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr", screen)
    with _download._bar("toys.tar.gz") as bar:
        bar.total = 3000
        assert bar.total == 3000
        bar.update(2000)
        bar.reset()
        bar.update(3000)
        task = bar._progress.tasks[0]
        assert (task.completed, task.finished) == (3000, True)
        bar.close()
    assert "toys.tar.gz" in screen.getvalue()
    monkeypatch.setattr(screen, "isatty", lambda: False)
    with _download._bar("toys.tar.gz") as bar:
        assert bar is False
