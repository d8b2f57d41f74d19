"""Links between pages lead somewhere, on a code host as on the site: files, headings, and a place for each page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kit.paths import ROOT

DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def text_of(page: Path) -> str:
    """Its text without blocks of code, in which brackets are code."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def links(page: Path) -> list[str]:
    prose = re.sub(r"`[^`\n]*`", lambda code: code[0].replace("](", "] ("), text_of(page))
    return [link for link in LINK.findall(prose) if not re.match(r"[a-z]+:", link)]


def anchors(page: Path) -> set[str]:
    """As code hosts make them of headings."""
    titles = re.findall(r"^#+ (.+)$", text_of(page), re.MULTILINE)
    slugs = [re.sub(r"[^\w\- ]", "", title.replace("`", "").lower()).replace(" ", "-") for title in titles]
    return {slug if not slugs[:at].count(slug) else f"{slug}-{slugs[:at].count(slug)}" for at, slug in enumerate(slugs)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for link in links(page):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{page.name} names {link}"
        if anchor:
            assert anchor in anchors(target), f"{page.name} names {link}; {target.name} has {sorted(anchors(target))}"


def test_there_are_links_to_check():
    assert sum(len(links(page)) for page in PAGES) > 50


def test_every_page_has_a_place_in_the_navigation():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```", index, re.DOTALL | re.MULTILINE)
    named = {line for tree in trees for line in tree.splitlines() if re.fullmatch(r"[\w/-]+", line)}
    pages = {str(page.relative_to(DOCS).with_suffix("")) for page in DOCS.rglob("*.md")}
    assert named == pages - {"index"}


def test_the_page_of_limits_names_each_section_of_limits():
    linked = set(links(DOCS / "limits.md"))
    sections = {
        f"{page.name}#{anchor}"
        for page in DOCS.glob("*.md")
        for anchor in anchors(page)
        if page.name != "limits.md" and re.search(r"(^|-)limits$", anchor)
    }
    assert len(sections) > 5
    assert sections <= linked


def test_the_readme_is_one_that_people_read():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 900
