"""A step that ends with its thread: that is said at once, and the program runs on to its next stop."""

import pytest

ENDS = """import threading, time
def work(n):
    return n
thread = threading.Thread(target=work, args=(1,))
thread.start()
thread.join()
for _ in range(10):
    time.sleep(0.1)
print("over", flush=True)
"""


@pytest.mark.parametrize("step", ["--over", "--out"])
def test_it_is_said(pyharness, tmp_path, step):
    (tmp_path / "ends.py").write_text(ENDS)
    done = pyharness("step", "ends.py", "--at", "py:ends.py:3", step, "--at", "py:ends.py:9")
    assert "has ended, and its step with it. The program runs on to its next stop." in done.stderr
    assert "over" in done.stdout
