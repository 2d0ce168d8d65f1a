"""JavaScript modules, kept as files, as one script inside a page.

A page from a mail attachment cannot load other files, so modules become functions of one script:
`$name` holds what `name.js` exports. `export` and `import` are the only syntax that changes. The
files stay usual modules, in the form

    import { name, other } from "./module.js";     export function name(...)     export const name

A module comes after all that it imports; a circle is an error.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (function|const|class) (\w+)", re.MULTILINE)


@lru_cache
def read(name: str) -> str:
    """The text of a file of the pages."""
    return (files("sgdphase._report") / "explorer" / name).read_text(encoding="utf-8")


def bundle(start: str) -> str:
    """The script that runs the module `start`, with all modules that it needs.

    >>> "const $special = (() => {" in bundle("theory")
    True
    """
    done: dict[str, str] = {}
    _add(start, done, ())
    script = "\n".join(['"use strict";', *done.values()])
    # The end of a script element must not stand inside of it.
    return script.replace("</script", "<\\/script")


def _add(name: str, done: dict[str, str], above: tuple[str, ...]) -> None:
    if name in done:
        return
    if name in above:
        raise ValueError(f"modules import each other: {' -> '.join((*above, name))}")
    text = read(f"{name}.js")
    for _, other in _IMPORT.findall(text):
        _add(other, done, (*above, name))
    exported = ", ".join(found[1] for found in _EXPORT.findall(text))
    body = _IMPORT.sub(lambda m: f"const {{{m[1]}}} = ${m[2]};\n", text)
    body = _EXPORT.sub(r"\1 \2", body)
    done[name] = f"const ${name} = (() => {{\n{body}return {{ {exported} }};\n}})();\n"
