"""The list of layers as snpe-dlc-info lays it out."""

from hexsim.dlc import Container, Metadata
from hexsim.dlc.inspection import inspect
from hexsim.quantization.model import Model
from hexsim.reports.network.table import info_table, layers_used
from tests.dlc.made import small_network, with_encodings


def test_heading_rows_and_footer() -> None:
    metadata = Metadata("7", "hexsim convert a=b", "0.1.0", "hexsim quantize c=d")
    text = info_table("no/such.dlc", Container(with_encodings(small_network()), metadata))
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
    rows = inspect(Model(small_network()))
    assert layers_used([*rows, *rows]) == layers_used(rows)
