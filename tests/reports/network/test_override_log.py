"""The lines about overrides, and none where nobody gave any."""

from dataclasses import replace

from hexsim.quantization.overrides.override import KeyOutcome
from hexsim.reports.network.quantizer_log import override_log, unused_line
from tests.dlc.made import small_network, with_encodings


def test_lines() -> None:
    model = replace(
        with_encodings(small_network()),
        origins={"a": "override", "b": "that of 'a'", "c": "override", "d": "that of 'c'"},
        overrides=(
            KeyOutcome("a", "activation", "override", "applied"),
            KeyOutcome("w", "parameter", "QDQ node", "ignored", "for a reason"),
        ),
    )
    assert list(override_log(model)) == [
        "[INFO] override of activation 'a' applied",
        "[WARNING] QDQ node of parameter 'w' ignored: for a reason",
        "[INFO] Overrides: 1 applied, 1 ignored, 0 unmatched",
        "[INFO] Encodings: 2 override, 2 that of a layer's input",
    ]
    assert list(override_log(replace(model, overrides=()))) == []


def test_unused() -> None:
    line = unused_line(1)
    assert line == "[WARNING] the file holds 1 overrides; give override_params=True to use them"
