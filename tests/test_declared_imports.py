"""Every library that a source imports is a dependency in pyproject.toml, and in the right group.

A library that happens to come along with another one may be gone with its next release.
"""

import re
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions

import pytest

from hexsim.frameworks.exporters import Exporter
from hexsim.frameworks.pytorch import PROGRAM, SCRIPT
from hexsim.frameworks.tensorflow import KERAS, TENSORFLOW, TFLITE
from tests.imports import CHECKOUT, Import, imports

PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
OWN_ENVIRONMENT = {
    CHECKOUT / "benchmarks" / "engine_process.py",
    CHECKOUT / "tests" / "digits" / "train.py",
    CHECKOUT / "tests" / "oracle" / "aimet" / "record.py",
    CHECKOUT / "tests" / "real" / "litert_codes.py",
}
"""Scripts whose docstrings say in which environment they run; no test loads what it has."""

SHIPPED = ("hexsim", "models")
CHECKED = ("tests", "benchmarks")


def distributions(requirements: list[str]) -> set[str]:
    """Normalised names of requirements, without versions."""
    return {normalized(re.split(r"[^\w.-]", text)[0]) for text in requirements}


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def installed() -> Mapping[str, list[str]]:
    """The distributions that bring each library."""
    return packages_distributions()


def providers(library: str) -> set[str]:
    """The installed distributions that bring a library; one that is absent goes by its name."""
    return {normalized(name) for name in installed().get(library, [library])}


CORE = distributions(PROJECT["dependencies"])
OPTIONAL = distributions(
    [library for extra in ("images", "report", "detection", "sweep") for library in EXTRAS[extra]]
)
EXPORTERS = distributions(EXTRAS["tflite"] + EXTRAS["tensorflow"] + EXTRAS["pytorch"])
"""Other programs, which hexsim runs but does not import."""
DEVELOPMENT = CORE | OPTIONAL | distributions(EXTRAS["dev"] + EXTRAS["docs"])


def third_party(folder: str) -> list[Import]:
    ours = {"hexsim"} if folder in SHIPPED else {"hexsim", *CHECKED}
    known = ours | sys.stdlib_module_names
    return [imported for imported in imports(folder) if imported.root not in known]


def undeclared_in_checks(folder: str) -> list[Import]:
    return [
        imported for imported in third_party(folder) if not providers(imported.root) & DEVELOPMENT
    ]


@pytest.mark.slow
@pytest.mark.parametrize("folder", SHIPPED)
def test_what_ships_loads_with_core_libraries_alone(folder: str) -> None:
    for imported in third_party(folder):
        allowed = CORE | OPTIONAL | EXPORTERS if imported.guarded else CORE
        assert providers(imported.root) & allowed, f"{imported}: declare it"


@pytest.mark.slow
@pytest.mark.parametrize("folder", CHECKED)
def test_tests_and_benchmarks_import_what_is_installed_for_development(folder: str) -> None:
    for imported in undeclared_in_checks(folder):
        assert imported.file in OWN_ENVIRONMENT, f"{imported}: declare it"


def test_a_script_with_an_environment_of_its_own_needs_it() -> None:
    undeclared = [imported for folder in CHECKED for imported in undeclared_in_checks(folder)]
    assert {imported.file for imported in undeclared} == OWN_ENVIRONMENT


def test_no_library_is_declared_for_nothing() -> None:
    imported = {use.root for folder in SHIPPED for use in third_party(folder)}
    assert set().union(*map(providers, imported)) - EXPORTERS == CORE | OPTIONAL


@pytest.mark.parametrize("exporter", [TFLITE, TENSORFLOW, KERAS, PROGRAM, SCRIPT])
def test_what_an_exporter_needs_is_in_its_extra(exporter: Exporter) -> None:
    assert {normalized(name) for name in exporter.modules} == distributions(EXTRAS[exporter.extra])
