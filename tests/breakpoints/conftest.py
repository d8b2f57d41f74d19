"""What these tests share: the real command on an eager program with an extension."""

import pytest

from kit import builds


@pytest.fixture(scope="session")
def extension():
    """Path of the extension with the op ``walk::weighted``."""
    return str(builds.op_kernel())


@pytest.fixture(scope="session")
def survey():
    """Path of an extension whose authors never heard of us."""
    return str(builds.survey())
