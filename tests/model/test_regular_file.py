"""What is no file is not read: a pipe, a device, a link to one, what the kernel makes up, a file that is too large."""

import linecache
import os

import pytest

from pyharness.host import handles
from pyharness.host.regular_file import read_own, read_regular, read_text
from pyharness.model import source_map
from pyharness.model.errors import HarnessError
from pyharness.model.text import code_lines, source_line
from pyharness.project import changes
from pyharness.project.reading import sources


def a_pipe(path):
    os.mkfifo(path)


def endless(path):
    path.symlink_to("/dev/zero")


def of_the_kernel(path):
    path.symlink_to("/proc/self/status")  # a regular file, it says


@pytest.fixture(params=[a_pipe, endless, of_the_kernel], ids=lambda one: one.__name__)
def no_file(request, tmp_path):
    path = tmp_path / "it.py"
    request.param(path)
    return path


def test_it_is_refused_at_once(no_file):
    for read in (read_regular, read_own, read_text):
        with pytest.raises(OSError, match="no regular file"):
            read(no_file)


def test_its_lines_are_empty_and_those_of_code_in_memory_are_known(no_file):
    assert source_line.known_line(str(no_file), 1) == ""
    linecache.cache["<made>"] = (6, None, ["x = 1\n"], "<made>")
    assert source_line.known_line("<made>", 1) == "x = 1"


def test_a_file_that_a_process_has_open_is_one(tmp_path):
    file = tmp_path / "it.py"
    file.write_bytes(b"x = 1\n")
    with file.open("rb") as stream:
        assert read_regular(f"/proc/self/fd/{stream.fileno()}") == b"x = 1\n"
        assert read_regular(f"/proc/self/root{file}") == b"x = 1\n"


def test_a_file_has_a_limit(tmp_path):
    file = tmp_path / "large"
    file.write_bytes(b"x" * 10)
    assert read_regular(file, 10) == b"x" * 10
    with pytest.raises(OSError, match="more than"):
        read_regular(file, 9)


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfx = '\xc3\xa9'\n",
        b"\xef\xbb\xbf# coding: utf-8\nx = '\xc3\xa9'\n",
        b"# -*- coding: latin-1 -*-\nx = '\xe9'\n",
        b"#!/bin/sh\r\n# vim: set fileencoding=iso-8859-15 :\r\nx = '\xe9'\r\n",
        b"\n# coding: cp1252\nx = '\xe9'\n",
        b"# coding: hex\nx = '\xc3\xa9'\n",
        b"# coding: utf-16\nx = '\xc3\xa9'\n",
        b"# coding: nothing\nx = '\xc3\xa9'\n",
        b"import os\n# coding: latin-1\nx = '\xc3\xa9'\n",
    ],
)
def test_a_source_is_read_in_the_encoding_that_it_names(tmp_path, data):
    (tmp_path / "it.py").write_bytes(data)
    text = read_text(tmp_path / "it.py")
    assert text.endswith("x = 'é'\n")
    assert "\ufeff" not in text
    assert "\r" not in text


def test_our_own_files_are_no_links(tmp_path):
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("a\r\nb\rc")
    link.symlink_to(file)
    assert read_own(file) == b"a\r\nb\rc"
    assert read_text(link) == "a\nb\nc"
    with pytest.raises(OSError, match="no regular file"):
        read_own(link)


def test_nothing_is_known_of_its_lines(no_file):
    file = str(no_file)
    assert code_lines.line_count(file) is None
    assert code_lines.runnable_lines(file) == []
    assert source_line.source_line(file, 1) == ""
    no_file.rename(no_file.parent / f"x.py{source_map.SUFFIX}")
    assert source_map.map_of(str(no_file.parent / "x.py")) is None


def test_no_handle_is_in_it(no_file, monkeypatch, tmp_path):
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "state"))
    (tmp_path / "state" / "run").mkdir(parents=True)
    no_file.rename(tmp_path / "state" / "run" / "it.json")
    assert handles.live() == []


def test_a_project_with_it_is_examined_all_the_same(no_file):
    assert sources.text_of(no_file) == ""
    with pytest.raises(HarnessError, match="no regular file"):
        changes.current(no_file)
