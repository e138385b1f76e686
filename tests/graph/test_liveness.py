"""How many elements exist at once: a slow twin, and a network with many tensors, two at once."""

import itertools

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hexsim
from hexsim import budget
from hexsim.graph.ir import Network, Tensor
from hexsim.graph.liveness import elements_at_once
from hexsim.layers import Elementwise


def _graph(sizes: list[int], reads: list[int]) -> Network:
    """Return sums of the tensor before and any earlier one; only their number matters here."""
    tensors = {f"t{i}": Tensor(f"t{i}", (size,)) for i, size in enumerate(sizes)}
    layers = tuple(
        Elementwise(f"l{i}", (f"t{i}", f"t{reads[i] % (i + 1)}"), (f"t{i + 1}",), kind="sum")
        for i in range(len(sizes) - 1)
    )
    return Network("n", layers, tensors, {}, ("t0",), (f"t{len(sizes) - 1}",))


@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 20)), min_size=2, max_size=9), st.data()
)
def test_a_tensor_counts_while_something_may_read_it(
    drawn: list[tuple[int, int]], data: st.DataObject
) -> None:
    network = _graph([size for size, _ in drawn], [read for _, read in drawn])
    kept = data.draw(st.sets(st.sampled_from(sorted(network.tensors))))
    kept |= set(network.outputs)
    written, most = set(network.inputs), 0
    for at, layer in enumerate(network.layers):
        written |= set(layer.outputs)
        needed = kept | {n for later in network.layers[at:] for n in later.inputs}
        there = written & (needed | set(layer.outputs))
        most = max(most, sum(network.tensors[name].elements for name in there))
    assert elements_at_once(network, kept) == most


def _deep() -> onnx.ModelProto:
    """Return twelve tangents one after the other, of 128 elements each."""
    node = onnx.helper.make_node
    names = ["x", *(f"t{i}" for i in range(11)), "y"]
    nodes = [node("Tanh", [x], [y]) for x, y in itertools.pairwise(names)]
    ends = [
        [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 8, 4, 4])]
        for name in ("x", "y")
    ]
    return onnx.helper.make_model(onnx.helper.make_graph(nodes, "deep", *ends), ir_version=8)


def test_a_run_needs_what_exists_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = hexsim.load(_deep())
    picture = np.random.default_rng(0).normal(size=(1, 8, 4, 4)).astype(np.float32)
    codes = hexsim.quantize(model, [picture])
    monkeypatch.setattr(budget, "VALUES", budget.Limit(256, "elements"))
    for made, runtime in ((model, "cpu"), (model, "gpu"), (codes, "htp")):
        (out,) = hexsim.run(made, [picture], chip="sd8gen4", runtime=runtime)
        assert out["y"].shape == picture.shape
