"""Whether the files that state the version agree: run by `make release-check`."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def faults() -> list[str]:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    latest = re.fullmatch(r"(\S+) \((\d{4}-\d\d-\d\d)\)", headings[0])
    cited = dict(
        re.findall(r'^([\w-]+): "?([^"\n]*)"?$', (ROOT / "CITATION.cff").read_text(), re.M)
    )
    if latest is None:
        return [f"CHANGELOG.md: '{headings[0]}' must be a version and its date"]
    stated = {"CHANGELOG.md": latest[1], "CITATION.cff": cited.get("version")}
    wrong = [f"{name}: version {it}, not {version}" for name, it in stated.items() if it != version]
    if cited.get("date-released") != latest[2]:
        wrong.append(f"CITATION.cff: date {cited.get('date-released')}, not {latest[2]}")
    wheels = [path.name for path in (ROOT / "dist").glob("*.whl")]
    if not any(name.startswith(f"sgdphase-{version}-") for name in wheels):
        wrong.append(f"dist: no wheel of {version} among {wheels}")
    return wrong


if __name__ == "__main__":
    sys.exit("\n".join(faults()) or None)
