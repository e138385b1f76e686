"""Where the packages are; all else about the build stands in pyproject.toml.

`hexsim.models` is the folder models/ beside hexsim/: pyproject.toml can find packages by their
folders or map one to another folder, but not both.
"""

from setuptools import find_namespace_packages, setup

setup(
    packages=[*find_namespace_packages(include=["hexsim*"]), "hexsim.models"],
    package_dir={"hexsim.models": "models"},
)
