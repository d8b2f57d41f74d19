"""Builds the extension of docs/tutorial.md: ``python setup.py build_ext --inplace``."""

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

setup(
    name="rows",
    version="1.0",
    ext_modules=[CppExtension("rows", ["rows.cpp"])],
    cmdclass={"build_ext": BuildExtension},
)
