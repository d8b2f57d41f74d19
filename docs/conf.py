"""How `make docs` builds the site from these pages, which are plain Markdown, to be read on a code host as well."""  # noqa: INP001

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from pygments.lexers.data import JsonLexer

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_PACKAGE = Path(__file__).parent.parent / "pyharness" / "__init__.py"

project = "pyharness"
copyright = "the pyharness authors, BSD 3-Clause"  # noqa: A001  (Sphinx's name)
release = re.findall(r'^__version__ = "(.+)"', _PACKAGE.read_text(encoding="utf-8"), re.MULTILINE)[0]

extensions = ["myst_parser", "sphinx_copybutton"]
exclude_patterns = ["requirements.txt"]
myst_heading_anchors = 4  # the anchors that a code host gives headings: links to them work there and here
nitpicky = True
smartquotes = False  # --json is no dash
highlight_language = "text"
suppress_warnings = ["myst.header"]  # a page may begin with its second level under a title of its own

html_theme = "furo"
html_title = f"pyharness {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
pygments_style = "default"
pygments_dark_style = "github-dark"

# A copied session is its commands: no prompts, no output.
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_copy_empty_lines = False


def setup(app: Sphinx) -> None:
    """Colour JSON with comments, which VS Code's files are."""
    app.add_lexer("jsonc", JsonLexer)
