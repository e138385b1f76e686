"""The list of layers as snpe-dlc-info lays it out.

Every layer that some runtime refuses is named with the reason.
"""

import pytest

from hexsim.api.convert import fallbacks, node_fallbacks
from hexsim.dlc import Container, Metadata
from hexsim.layers import Neuron, Opaque
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.model import Model
from hexsim.reports.info import (
    conversion_text,
    count,
    dims,
    info_csv,
    info_table,
    info_text,
    rescaling_line,
    rescaling_table,
    share,
)
from hexsim.results.conversion import Conversion
from hexsim.results.info import Info
from hexsim.results.validation import RescaledWeight
from hexsim.studies.model_info import info_of
from tests.dlc.made import small_network, with_encodings
from tests.reports.pages.networks import chain, with_codes
from tests.small_networks import Sketch


def test_heading_rows_and_footer() -> None:
    metadata = Metadata("7", "hexsim convert a=b", "0.1.0", "hexsim quantize c=d")
    container = Container(with_encodings(small_network()), metadata)
    text = info_table(info_of("no/such.dlc", container))
    lines = text.splitlines()
    assert lines[:2] == ["DLC info for: no/such.dlc", "Model Version: 7"]
    assert [cell.strip() for cell in lines[3].split("|")[1:-1]] == [
        *("Id", "Name", "Type", "Inputs", "Outputs", "Out Dims", "Runtimes", "Parameters")
    ]
    first = [cell.strip() for cell in lines[5].split("|")[1:-1]]
    assert first == [
        *("0", "in", "data", "in", "in", "1x8x8x3", "A D G C H"),
        "input_preprocessing: passthrough",
    ]
    assert "| output encoding: min -1." in text
    assert {len(line) for line in lines[2:] if line.startswith(("|", "-"))} == {len(lines[2])}
    assert lines[-8:-1] == [
        "",
        "Total parameters: 564 (0 MB assuming single precision float)",
        "Total MACs per inference: 10k (100%)",
        "Of 4 layers: all run on aip, dsp, gpu, cpu, hta",
        "Converter command: hexsim convert a=b",
        "Quantizer command: hexsim quantize c=d",
        "DLC created with converter version: 0.1.0",
    ]
    assert lines[-1] == "Layers used by DLC: CONVOLUTIONAL, DATA, FULLY_CONNECTED, POOLING"


def test_kinds_are_named_once() -> None:
    answer = info_of("m", Container(Model(small_network()), Metadata()))
    assert answer.layers_used == ("CONVOLUTIONAL", "DATA", "FULLY_CONNECTED", "POOLING")


@pytest.mark.parametrize("per_channel", [False, True])
def test_what_is_written_is_read_with_its_encodings(per_channel: bool) -> None:
    container = with_codes(chain(2), per_channel=per_channel)
    answer = info_of("m.dlc", container)
    read = Info.from_json(answer.to_json())
    assert read == answer
    assert any(layer.encodings for layer in read.layers)
    for layout in ("compact", "snpe"):
        assert info_text(read, layout=layout) == info_text(answer, layout=layout)
    assert info_csv(read) == info_csv(answer) == answer.to_csv()


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (999, "999"), (1000, "1k"), (3999, "3k"), (999_999, "999k"), (353_800_000, "353M")],
)
def test_counts(number: int, text: str) -> None:
    assert count(number) == text


def test_shares_have_three_digits() -> None:
    assert share(353_000_000, 8_190_000_000) == "353M (4.31%)"
    assert share(3_000, 6_211_180) == "3k (0.0483%)"
    assert share(7, 7) == "7 (100%)"


def test_dims() -> None:
    assert (dims((1, 32, 32, 1)), dims(())) == ("1x32x32x1", "scalar")


def test_offsets_are_not_positive_and_zero_for_signed_codes() -> None:
    assert str(Encoding.from_range(-5.1, 5.1)) == (
        "min -5.120000000000, max 5.080000000000, delta 0.040000000000, "
        "offset -128.000000000000 bitwidth 8"
    )
    assert "offset 0.000000000000 bitwidth 4" in str(Encoding.symmetric_of(0.7, 4))


def test_an_axis_encoding_shows_the_range_of_its_channels() -> None:
    axis = AxisEncoding((Encoding.symmetric_of(1.27), Encoding.symmetric_of(2.54)))
    assert str(axis) == (
        "axis: last, num_elements: 2, min -2.560000000000, max 2.540000000000, "
        "delta 0.010000000000 to 0.020000000000, offset 0.000000000000 bitwidth 8"
    )


LOSSES = (
    RescaledWeight(layer="c1", weight="c1.w", sqnr_db=45.0, max_error=0.5, steps=0.25),
    RescaledWeight(layer="c2", weight="c2.w", sqnr_db=40.04, max_error=0.001, steps=0.5),
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


def test_layers_reasons_and_runtimes() -> None:
    net = Sketch((1, 4, 4, 2))
    elu = net.add(Neuron, "in", function="elu")
    erf = net.add(Opaque, elu, op_type="Erf", node=b"", shapes=((1, 4, 4, 2),))
    network = net.network(net.pool(erf))
    done = Conversion(
        network="net", layers=3, macs=0, parameters=0, fallbacks=tuple(fallbacks(network))
    )
    rows = [" ".join(line.split()) for line in conversion_text(done).splitlines()[2:]]
    assert rows[0].startswith("neuron0 neuron fxp_cpu dsp aip SNPE 1.x has no neuron (elu)")
    assert rows[1].startswith(
        "opaque1 Erf fxp_cpu gpu gpu_fp16 dsp aip htp htp_fp16 the operator has no"
    )
    assert rows[-1].startswith("2 of 3 layers")
    assert [line.split(":")[0] for line in node_fallbacks(network)] == ["node 'opaque1' (Erf)"]
