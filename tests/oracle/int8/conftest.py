"""Tests of the toolchain's judgement are skipped where it is missing, but never in CI."""

import os

import pytest

from tests.oracle.int8.qemu import missing_tools


@pytest.fixture(autouse=True)
def tools(request):
    missing = missing_tools()
    if missing and request.node.get_closest_marker("toolchain"):
        stop = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        stop(f"{', '.join(missing)} missing; install clang-19, lld-19 and qemu-user")
