"""A calibration reads back as it was, and its text follows from the document alone."""

from hexsim.reports.calibration import calibration_text
from hexsim.results.calibration import CalibratedConstant, CalibratedRow, Calibration, OneRunAlone

RUN = CalibratedRow(
    runtime="dsp",
    network="alexnet",
    model="alexnet",
    figure="total_inference",
    measured_ms=10.0,
    before_ms=12.0,
    after_ms=10.5,
    left_out_ms=11.0,
)
LAYER = CalibratedRow(
    runtime="dsp",
    network="alexnet",
    model="alexnet",
    figure="layer",
    layer="conv1",
    layer_class="convolution",
    measured_ms=1.0,
    before_ms=2.0,
    after_ms=1.1,
)
MOVED = CalibratedConstant(
    stated_by="snpe-1.30",
    constant="rpc.call_us",
    unit="us",
    reported=True,
    before=100.0,
    after=150.0,
    one_sigma_factor_before=2.0,
    one_sigma_factor_after=1.25,
)
ANSWER = Calibration(
    chip="sd845",
    stack="snpe-1.30",
    constants=(MOVED,),
    measured=(RUN, LAYER),
    one_run_alone=OneRunAlone(median_error_of_others_before=0.2, median_error_of_others_after=0.1),
    stack_toml="title = 1",
)


def test_rows_keep_their_key_and_files_are_not_stored() -> None:
    text = ANSWER.to_json()
    assert '"rows": [' in text
    assert "toml" not in text
    read = Calibration.from_json(text)
    assert (read.constants, read.measured) == (ANSWER.constants, ANSWER.measured)
    assert read.stack_toml == ""
    assert repr(read) == "<Calibration: sd845, snpe-1.30: 1 of 1 constants informed by 2 rows>"


def test_the_text_has_constants_runs_classes_and_errors() -> None:
    lines = calibration_text(ANSWER).splitlines()
    assert lines[0].startswith("sd845, snpe-1.30: 1 constants affect 2 rows; 1 have another value")
    assert lines[3].split() == [
        *("rpc.call_us", "snpe-1.30", "100", "us", "x/", "2.00", "150", "us", "x/", "1.25")
    ]
    assert "10.5 (+5%)" in next(line for line in lines if line.startswith("dsp"))
    assert "convolution" in next(line for line in lines if "convolution" in line)
    assert lines[-3].startswith("Median error of the rows: 60.0% before")
    assert lines[-1] == "One run alone leaves 10.0% on the others, which is 20.0% without it."
