"""The listings of docs/concepts/kernel-code.md are what its commands print."""

import pytest

from benchmarks.kernel_code_page import PAGE, page


@pytest.mark.toolchain
def test_the_listings_are_what_the_commands_print():
    remedy = "python -m benchmarks.kernel_code_page --write"
    assert PAGE.read_text(encoding="utf-8") == page(), remedy
