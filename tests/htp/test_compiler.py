"""The graph compiler: what it folds and what it spills."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.htp.compiler import compile_graph
from hexsim.llm.architecture import read_architecture
from hexsim.llm.network import Widths, decoder
from tests.llm.test_architecture import CONFIGS
from tests.tensor_graphs import calls_of, convolution, normalised

_VTCM = 8 << 20


def test_a_factor_and_then_a_summand_are_folded(tmp_path: Path) -> None:
    """Neither costs a vector of a shallow image."""
    network, calls = normalised(str(tmp_path / "m.onnx"), "Mul", "Sub")
    first, second, _ = compile_graph(calls, network, _VTCM)
    assert (first.folded, second.folded) == (True, True)
    assert first.cost.broadcast_vectors == second.cost.broadcast_vectors == 0


@pytest.mark.parametrize("second", ["Div", "Mul"])
def test_the_other_order_stays_two_operations(tmp_path: Path, second: str) -> None:
    """Each works on 64 x 64 pixels of 32 channels, though the image has three."""
    network, calls = normalised(str(tmp_path / "m.onnx"), "Sub", second)
    operations = compile_graph(calls, network, _VTCM)
    shallow = [operation.cost.broadcast_vectors for operation in operations]
    assert shallow == [64 * 64 * 32 / 128, 64 * 64 * 32 / 128, 0]
    assert not any(operation.folded for operation in operations)


def test_what_exceeds_half_of_vtcm_is_spilled(tmp_path: Path) -> None:
    """Operand and result are 128 KB each."""
    network, calls = convolution(str(tmp_path / "m.onnx"), 32, 64, 32)
    (fits,) = compile_graph(calls, network, 512 << 10)
    (small,) = compile_graph(calls, network, 256 << 10)
    assert fits.spill_bytes == 0
    assert small.spill_bytes == 128 << 10


def _two_convolutions(path: str, *, read_twice: bool) -> tuple[float, ...]:
    """The spilled bytes of two convolutions of 128 KB images, of which half a VTCM holds one."""
    names = ["x", "a", "b"]
    nodes = [
        helper.make_node("Conv", [source, "w"], [result], result, pads=[1] * 4)
        for source, result in pairwise(names)
    ]
    if read_twice:
        nodes.append(helper.make_node("Add", ["a", "b"], ["y"], "sum"))
    w = numpy_helper.from_array(np.full((32, 32, 3, 3), 0.01, "f"), "w")
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 32, 64, 64])
        for name in ("x", nodes[-1].output[0])
    )
    graph = helper.make_graph(nodes, "g", [x], [y], [w])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    network, calls = calls_of(path)
    return tuple(operation.spill_bytes for operation in compile_graph(calls, network, 256 << 10))


def test_what_is_inside_a_chain_is_not_spilled(tmp_path: Path) -> None:
    """Unless another operation reads it later."""
    path = str(tmp_path / "m.onnx")
    assert _two_convolutions(path, read_twice=False) == (0, 0)
    assert _two_convolutions(path, read_twice=True) == (128 << 10, 0, 128 << 10)


def test_weights_that_no_process_addresses_are_refused() -> None:
    """32 layers of an 8-billion model in 8 bits are 6.98 GB; in 4 bits they are 3.49 GB."""
    architecture = read_architecture(CONFIGS / "llama_v3_1_8b_instruct.json")
    platform = Platform.load("sd8gen4")
    fits = decoder(architecture, 1, 512, Widths(4), head=False)
    deploy(fits, platform, "htp")
    with pytest.raises(HexsimError, match=r"take 6\.98 GB, and .* addresses 4\.29 GB"):
        deploy(decoder(architecture, 1, 512, Widths(8), head=False), platform, "htp")
