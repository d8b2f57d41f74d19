"""Runs the blocks of Python that pages show, page by page; says which raised. Argument: JSON, [[place, text], ...]."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import traceback
from pathlib import Path

from given_names import given


def main() -> int:
    blocks = json.loads(Path(sys.argv[1]).read_text())
    failed, pages = 0, {}
    for place, text in blocks:
        page = place.partition(":")[0]
        names, printed = pages.setdefault(page, given()), io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(text, place, "exec", dont_inherit=True), names)  # noqa: S102  (a page's own code)
        except Exception:  # noqa: BLE001  (whatever it is, the page is wrong)
            failed += 1
            print(f"{place} raised\n{text}\n{printed.getvalue()}{traceback.format_exc()}")
    print(f"{len(blocks)} blocks, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(main())
