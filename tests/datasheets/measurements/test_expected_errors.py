"""What times of a class are expected to be wrong by."""

from __future__ import annotations

from hexsim.datasheets import chips
from hexsim.datasheets.measurements import ANY_CHIP, FEWEST, expected_error, expected_errors


def test_every_class_is_of_a_chip_and_has_a_size() -> None:
    for row in expected_errors():
        assert row.chip == ANY_CHIP or row.chip in chips.names()
        assert row.rows > 0
        assert 0 <= row.median <= row.most
        assert abs(row.bias) <= row.most


def test_every_runtime_with_an_error_has_one_for_other_chips_or_was_measured_on_one() -> None:
    """Whoever asks for a chip without a measured time is told that it is that of others."""
    runtimes = {(row.runtime, row.precision) for row in expected_errors() if row.chip == ANY_CHIP}
    assert {("dsp", ""), ("htp", "w8a8"), ("htp_fp16", ""), ("llm", "tokens")} <= runtimes
    for runtime, precision in runtimes:
        error = expected_error("of the user", "qnn-2.43", runtime, precision)
        assert error is not None
        assert "fewer than 5 times of this one are published" in str(error)


def test_few_times_of_a_chip_tell_little_so_that_of_all_chips_is_said() -> None:
    few = [row for row in expected_errors() if row.chip != ANY_CHIP and row.rows < FEWEST]
    assert few
    for row in few:
        error = expected_error(row.chip, row.stack, row.runtime, row.precision)
        assert error is None or error.chip == ANY_CHIP


def test_a_measured_chip_has_its_own() -> None:
    error = expected_error("sd8gen3", "qnn-2.43", "htp", "w8a8")
    assert error is not None
    assert (error.chip, error.rows > 10) == ("sd8gen3", True)
    assert str(error).startswith("times of this chip have been within ")
    elsewhere = expected_error("sd8gen3", "another release", "htp", "w8a8")
    assert elsewhere is not None
    assert elsewhere.chip == ANY_CHIP
    assert expected_error("sd8gen3", "qnn-2.43", "no runtime") is None
