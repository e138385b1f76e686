from hexsim.accuracy.rescaling import RescalingLoss
from hexsim.reports.network.rescaling import rescaling_line, rescaling_table

LOSSES = (
    RescalingLoss("c1", "c1.w", 45.0, 0.5, 0.25),
    RescalingLoss("c2", "c2.w", 40.04, 0.001, 0.5),
)


def test_the_line_names_the_worst() -> None:
    line = rescaling_line(LOSSES)
    assert "at load: 2, worst 'c2' with 40.0 dB, max error 0.00100 (0.500 steps)" in line
    assert "axis_weights=True" in line


def test_the_table_has_all() -> None:
    lines = rescaling_table(LOSSES, "sd855").splitlines()
    assert [line.split() for line in lines[3:]] == [
        ["c1", "c1.w", "45.0", "0.500", "0.250"],
        ["c2", "c2.w", "40.0", "0.00100", "0.500"],
    ]
    assert rescaling_table((), "sd835") == "sd835 rescales no weights at load"
