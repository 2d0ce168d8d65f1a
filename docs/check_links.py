"""Check every link inside a built site: the file is there, and so is the anchor.

python docs/check_links.py build/site
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The targets of links and images of a page, and the names of its places."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and (name == "id" or (name == "name" and tag == "a")):
                self.places.add(value)
            if value and name in ("href", "src"):
                self.targets.add(value)


@cache
def read(path: Path) -> Page:
    return Page(path.read_text())


def fault(page: Path, target: str) -> str:
    """Why a link does not resolve; empty if it does. Links to other sites are not followed."""
    url = urlsplit(target)
    if url.scheme or url.netloc:
        return ""
    file = (page.parent / unquote(url.path)).resolve() if url.path else page
    if not file.is_file():
        return "no such file"
    # The explorer keeps its view in the part after `#`.
    checked = url.fragment and file.suffix == ".html" and file.name != "explore.html"
    if checked and unquote(url.fragment) not in read(file).places:
        return "no such place"
    return ""


def main(site: Path) -> int:
    pages = sorted(site.resolve().rglob("*.html"))
    links = [(page, target) for page in pages for target in sorted(read(page).targets)]
    faults = [(page, target, why) for page, target in links if (why := fault(page, target))]
    for page, target, why in faults:
        print(f"{page.relative_to(site.resolve())}: {target}: {why}", file=sys.stderr)
    print(f"{len(pages)} pages, {len(links)} links, {len(faults)} broken")
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
