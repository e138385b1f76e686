"""The graph compiler: what it folds and what it spills."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import hexsim
from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.htp.compiler import compile_graph, gates
from hexsim.llm.architecture import read_architecture
from hexsim.llm.network import Widths, decoder
from hexsim.memory.footprint import footprint_of
from hexsim.runtimes import Runtime
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


def _two_convolutions(path: str, *, read_twice: bool, vtcm_kb: int = 256) -> tuple[float, ...]:
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
    return tuple(
        operation.spill_bytes for operation in compile_graph(calls, network, vtcm_kb << 10)
    )


def test_what_is_inside_a_chain_is_not_spilled(tmp_path: Path) -> None:
    """Unless another operation reads it later."""
    path = str(tmp_path / "m.onnx")
    assert _two_convolutions(path, read_twice=False) == (0, 0)
    assert _two_convolutions(path, read_twice=True) == (128 << 10, 0, 128 << 10)


@pytest.mark.parametrize("vtcm_kb", [128, 64])
def test_images_whose_strips_fill_vtcm_are_moved_first(tmp_path: Path, vtcm_kb: int) -> None:
    """A strip of 8 x 64 pixels of 32 channels has 16 KB; two of them fill half of 64 KB."""
    network, calls = convolution(str(tmp_path / "m.onnx"), 32, 64, 32)
    (fits,) = compile_graph(calls, network, vtcm_kb << 10)
    (too_small,) = compile_graph(calls, network, 32 << 10)
    assert (fits.fills_vtcm, too_small.fills_vtcm) == (False, True)
    assert gates((fits, fits), vtcm_kb << 10) == (0, 0)
    assert gates((fits, too_small), 32 << 10) == (0, 1)


@pytest.mark.parametrize(
    ("vtcm_kb", "again_kb"),
    [(264, 0), (160, 216), (64, 256), (24, 256)],
)
def test_what_a_convolution_fetches_again(tmp_path: Path, vtcm_kb: int, again_kb: int) -> None:
    """An image of 128 KB, 16 KB a strip, and 216 KB of weights in three slices of output channels.

    Half of VTCM holds the image; strips alone, so that the weights come twice or, where that would
    be four times, the image thrice; not even a strip.
    """
    network, calls = convolution(str(tmp_path / "m.onnx"), 32, 64, 768)
    (operation,) = compile_graph(calls, network, vtcm_kb << 10)
    assert operation.cost.weight_bytes == (216 + again_kb) << 10


@pytest.mark.parametrize(("outputs", "again_kb"), [(256, 0), (257, 128), (1024, 3 * 128)])
def test_a_matrix_that_does_not_fit_is_fetched_for_each_slice_of_the_outputs(
    tmp_path: Path, outputs: int, again_kb: int
) -> None:
    """1024 rows of 64 half floats, which are one strip, beside 32 KB of weights or more."""
    _save(tmp_path / "m.onnx", _nodes_of(["MatMul x,w y"]), {"x": (1024, 64)}, {"w": (64, outputs)})
    plan = deploy(hexsim.load(tmp_path / "m.onnx"), Platform.load("sd8gen2"), "htp_fp16").plan
    fits, small = (compile_graph([*plan.calls()], plan.network, size << 10) for size in (256, 192))
    assert small[0].cost.weight_bytes - fits[0].cost.weight_bytes == again_kb << 10


def test_the_second_reader_of_what_exceeds_half_of_vtcm_fetches_all_of_it(tmp_path: Path) -> None:
    """Two products read 128 KB and leave 8 KB each; the sum of their results fits."""
    lines = ["MatMul x,v a", "MatMul x,w b", "Add a,b y"]
    shapes = {"x": (1024, 64)}, {"v": (64, 4), "w": (64, 4)}
    _save(tmp_path / "m.onnx", _nodes_of(lines), *shapes)
    plan = deploy(hexsim.load(tmp_path / "m.onnx"), Platform.load("sd8gen2"), "htp_fp16").plan
    fits, small = (compile_graph([*plan.calls()], plan.network, size << 10) for size in (512, 128))
    assert [operation.spill_bytes for operation in fits] == [0, 0, 0]
    assert [operation.spill_bytes for operation in small] == [72 << 10, 136 << 10, 0]


@pytest.mark.parametrize(
    ("line", "shapes", "spilled_kb"),
    [
        ("MatMul x,k y", {"x": (1, 2, 3, 64, 64), "k": (1, 2, 3, 64, 64)}, 6 * 8),
        ("Transpose x y", {"x": (64, 4, 64)}, 48),
    ],
)
def test_each_matrix_is_spilled_that_does_not_fit(
    tmp_path: Path, line: str, shapes: dict[str, tuple[int, ...]], spilled_kb: int
) -> None:
    """Six products of three matrices of 8 KB; one transposition that needs all of 32 KB twice."""
    nodes = _nodes_of([line])
    if nodes[0].op_type == "Transpose":
        nodes[0].attribute.append(helper.make_attribute("perm", [1, 0, 2]))
    _save(tmp_path / "m.onnx", nodes, shapes, {})
    plan = deploy(hexsim.load(tmp_path / "m.onnx"), Platform.load("sd8gen2"), "htp_fp16").plan
    (operation,) = compile_graph([*plan.calls()], plan.network, 32 << 10)
    assert operation.spill_bytes == spilled_kb << 10


def test_a_chain_ends_where_its_strips_fill_vtcm(tmp_path: Path) -> None:
    """Two convolutions hold three strips of 16 KB; half of 96 KB does, half of 80 not."""
    assert _two_convolutions(str(tmp_path / "m.onnx"), read_twice=False, vtcm_kb=96) == (
        80 << 10,
        80 << 10,
    )
    assert sum(_two_convolutions(str(tmp_path / "m.onnx"), read_twice=False, vtcm_kb=80)) == (
        2 * (256 - 40) << 10
    )


def test_weights_that_no_process_addresses_are_refused() -> None:
    """32 layers of an 8-billion model in 8 bits are 6.98 GB; in 4 bits they are 3.49 GB."""
    architecture = read_architecture(CONFIGS / "llama_v3_1_8b_instruct.json")
    platform = Platform.load("sd8gen4")
    fits = decoder(architecture, 1, 512, Widths(4), head=False)
    deploy(fits, platform, "htp")
    with pytest.raises(HexsimError, match=r"take 6\.98 GB, and .* addresses 4\.29 GB"):
        deploy(decoder(architecture, 1, 512, Widths(8), head=False), platform, "htp")


def _recurrent(folder: Path, op: str, steps: int, hidden: int = 256) -> Path:
    gates = {"LSTM": 4, "GRU": 3}[op] * hidden
    path = folder / f"{op}{steps}.onnx"
    _save(
        path,
        [helper.make_node(op, ["x", "w", "r"], ["s", "y"], hidden_size=hidden)],
        {"x": (steps, 1, hidden)},
        {"w": (1, gates, hidden), "r": (1, gates, hidden)},
    )
    return path


def _us(path: Path, runtime: Runtime) -> float:
    """The microseconds of all layers on sd8gen2."""
    model = hexsim.load(path)
    if runtime == "htp":
        shapes = {name: model.network.tensors[name].source_shape for name in model.network.inputs}
        model = hexsim.quantize(model, [{name: np.ones(shape) for name, shape in shapes.items()}])
    return sum(
        layer.us for layer in deploy(model, Platform.load("sd8gen2"), runtime).simulate().layers
    )


def _save(
    path: Path,
    nodes: list[onnx.NodeProto],
    inputs: dict[str, tuple[int, ...]],
    weights: dict[str, tuple[int, ...]],
) -> None:
    random = np.random.default_rng(0)
    info = helper.make_tensor_value_info
    constants = [
        numpy_helper.from_array(random.normal(0, 0.05, shape).astype("float32"), name)
        for name, shape in weights.items()
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [info("y", TensorProto.FLOAT, None)],
        constants,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)


@pytest.mark.parametrize("op", ["LSTM", "GRU"])
def test_the_steps_of_a_recurrent_layer_depend_on_each_other(tmp_path: Path, op: str) -> None:
    """Ninety more steps take nine times as long as ten more."""
    short, middle, long = (
        _us(_recurrent(tmp_path, op, steps), "htp_fp16") for steps in (10, 20, 110)
    )
    assert long - middle == pytest.approx(9 * (middle - short), rel=0.1)
    release = Platform.load("sd8gen2").stack.htp
    start_us = 1e6 * release.operator_clk / Platform.load("sd8gen2").chip.htp.clock_hz
    assert (middle - short) / 10 > 10 * start_us, "each step starts its operations"


def _gru_in_nodes(steps: int) -> list[onnx.NodeProto]:
    rows = ",".join(f"i{step}" for step in range(steps))
    lines = ["MatMul x,w i", f"Split i {rows}"]
    for step in range(steps):
        state, new = f"h{step}", "y" if step == steps - 1 else f"h{step + 1}"
        lines += [
            *(f"MatMul {state},r p", "Split p pz,pr,pn", f"Split i{step} iz,ir,in"),
            *("Add pz,iz az", "Sigmoid az z", "Add pr,ir ar", "Sigmoid ar q"),
            *("Mul q,pn m", "Add m,in am", "Tanh am n"),
            *(f"Sub {state},n d", "Mul z,d e", f"Add n,e {new}"),
        ]
    return _nodes_of(lines)


def _lstm_in_nodes(steps: int) -> list[onnx.NodeProto]:
    rows = ",".join(f"i{step}" for step in range(steps))
    lines = ["MatMul x,w i", f"Split i {rows}"]
    for step in range(steps):
        state, new = f"h{step}", "y" if step == steps - 1 else f"h{step + 1}"
        lines += [
            *(f"MatMul {state},r p", f"Add p,i{step} a", "Split a ai,ao,af,ag"),
            *("Sigmoid ai gi", "Sigmoid ao go", "Sigmoid af gf", "Tanh ag gg"),
            *(f"Mul gf,c{step} m", "Mul gi,gg k", f"Add m,k c{step + 1}"),
            *(f"Tanh c{step + 1} t", f"Mul go,t {new}"),
        ]
    return _nodes_of(lines)


def _nodes_of(lines: list[str]) -> list[onnx.NodeProto]:
    """Nodes of "operator inputs outputs"; a tensor that is written again gets a new name."""
    newest: dict[str, str] = {}
    nodes = []
    for line in lines:
        op, inputs, outputs = line.split()
        inputs = [newest.get(name, name) for name in inputs.split(",")]
        for name in outputs.split(","):
            newest[name] = f"{name}_{len(nodes)}" if name in newest else name
        axis = {"axis": 0 if inputs == ["i"] else 1} if op == "Split" else {}
        nodes.append(
            helper.make_node(op, inputs, [newest[name] for name in outputs.split(",")], **axis)
        )
    return nodes


@pytest.mark.parametrize(("runtime", "hidden"), [("htp", 64), ("htp_fp16", 160), ("htp_fp16", 512)])
@pytest.mark.parametrize("op", ["LSTM", "GRU"])
def test_a_step_costs_as_much_as_its_nodes(
    tmp_path: Path, op: str, runtime: Runtime, hidden: int
) -> None:
    path, gates = tmp_path / "steps.onnx", {"LSTM": 4, "GRU": 3}[op] * hidden
    written, whole = [], []
    for steps in (3, 9):
        nodes = {"LSTM": _lstm_in_nodes, "GRU": _gru_in_nodes}[op](steps)
        states = {name: (1, hidden) for name in ("h0", "c0")[: 2 if op == "LSTM" else 1]}
        weights = {"w": (hidden, gates), "r": (hidden, gates)}
        _save(path, nodes, {"x": (steps, hidden), **states}, weights)
        written.append(_us(path, runtime))
        whole.append(_us(_recurrent(tmp_path, op, steps, hidden), runtime))
    assert np.diff(written) == pytest.approx(np.diff(whole), rel=0.15)


def test_operations_that_share_weights_fetch_them_once(tmp_path: Path) -> None:
    """Unless so many bytes are fetched in between that VTCM holds them no longer."""
    lines = ["MatMul x,r a", "MatMul a,r b", "MatMul b,w c", "MatMul c,r y"]
    shapes = {"r": (256, 256), "w": (256, 256)}
    _save(tmp_path / "m.onnx", _nodes_of(lines), {"x": (1, 256)}, shapes)
    deployment = deploy(hexsim.load(tmp_path / "m.onnx"), Platform.load("sd8gen2"), "htp_fp16")
    calls, size = [*deployment.plan.calls()], 256 * 256 * 2
    network = deployment.model.network
    roomy, small = (
        [operation.cost.weight_bytes for operation in compile_graph(calls, network, vtcm)]
        for vtcm in (8 * size, 2 * size)
    )
    assert roomy == [size, 0, size, 0]
    assert small == [size, 0, size, size]
    chip, stack = deployment.platform.chip, deployment.platform.stack
    footprint = footprint_of(deployment.plan, chip, stack, stack.buffer())
    assert footprint.packed_bytes == 2 * size


def test_recurrent_weights_that_vtcm_cannot_hold_are_fetched_by_every_step(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    node = helper.make_node("LSTM", ["x", "w", "r"], ["s", "y"], hidden_size=256)
    shapes = {"w": (1, 1024, 256), "r": (1, 1024, 256)}
    _save(path, [node], {"x": (8, 1, 256)}, shapes)
    plan = deploy(hexsim.load(path), Platform.load("sd8gen2"), "htp_fp16").plan
    (call,) = (call for call in plan.calls() if call.layer.type == "recurrent")
    network = hexsim.load(path).network
    held, fetched = (compile_graph([call], network, size)[0].cost for size in (8 << 20, 1 << 19))
    assert held.step_bytes == fetched.step_bytes == 1024 * 256 * 2
    assert fetched.weight_bytes - held.weight_bytes == 7 * held.step_bytes


def test_a_scaled_input_may_be_an_output(tmp_path: Path) -> None:
    """A recurrent state that decays: nothing reads the product."""
    nodes = [helper.make_node("Mul", ["state", "k"], ["y"])]
    _save(tmp_path / "m.onnx", nodes, {"state": (1, 64)}, {"k": (1,)})
    deployment = deploy(hexsim.load(tmp_path / "m.onnx"), Platform.load("sd8gen2"), "htp_fp16")
    assert deployment.simulate().total_ps > 0
