"""A list of inputs gives what its inputs give one by one, for any number of threads."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator, Sequence
from unittest.mock import patch

import numpy as np
import onnx
import pytest
from onnx import helper

import hexsim
from hexsim import budget
from hexsim.deployment import Deployment
from hexsim.errors import HexsimError
from hexsim.execution import plan_executor
from hexsim.execution.executors import contexts_for
from hexsim.execution.plan_executor import PlanExecutor
from hexsim.graph.ir import FloatArray, Network
from hexsim.graph.liveness import elements_at_once
from hexsim.inputs.seeded import seeded_inputs
from hexsim.inputs.stored import stored_inputs
from hexsim.onnx_io.read.reader import read
from hexsim.passes import optimize
from hexsim.quantization.quantizer import quantize
from hexsim.udl import use_layers
from tests import mixed, own_layers
from tests.deployed import deployed
from tests.entry_points.examples import Example, examples
from tests.entry_points.places import PLACES, Place, deployment, feed, model
from tests.execution.test_plan_executor import _feeds, _with_constant_operands
from tests.execution.test_plan_executor import network as fallback_network  # noqa: F401
from tests.thorough import paired

Feed = dict[str, FloatArray]


@pytest.fixture(autouse=True)
def _always_dealt_out() -> Iterator[None]:
    """However small the network is."""
    with patch.object(plan_executor, "_LEAST", 0):
        yield


def _equal(actual: list[Feed], expected: list[Feed]) -> None:
    assert len(actual) == len(expected)
    for outputs, other in zip(actual, expected, strict=True):
        assert outputs.keys() == other.keys()
        for name, array in other.items():
            assert outputs[name].dtype == array.dtype
            assert outputs[name].tobytes() == array.tobytes(), name


def _varied(x: Feed, count: int) -> list[Feed]:
    """Inputs like one, each a bit other."""
    return [
        {n: (a * (1 + at / 8)).astype(a.dtype) if at else a for n, a in x.items()}
        for at in range(count)
    ]


def _check(
    deployed_: Deployment, feeds: list[Feed], threads_of_each: Sequence[int] = (1, 2, 3)
) -> None:
    """Lists of several lengths, again, and with all made and forgotten in between."""
    runner = deployed_.executor(1)
    expected = [runner.run(x) for x in feeds]
    for threads in threads_of_each:
        executor = deployed_.executor(threads)
        for length in (len(feeds), 1, 2, 0, len(feeds)):
            _equal(list(executor.run_each(feeds[:length])), expected[:length])
        _equal([executor.run(x) for x in feeds], expected)


@pytest.mark.parametrize(("example", "place"), paired(examples(), PLACES, 1), ids=str)
def test_every_layer_type(example: Example, place: Place) -> None:
    """Several inputs and outputs, constants as operands and layers of users among them."""
    _check(deployment(model(example, place), place), _varied(feed(example), 3), (1, 2))


@pytest.mark.parametrize("signed_weights", [False, True])
@pytest.mark.parametrize("name", ["ds_cnn_s", "squeezenet1_1"])
def test_built_in_networks(name: str, signed_weights: bool) -> None:
    network = hexsim.load(name).network
    feeds = _feeds(network, 6)
    _check(
        deployed(quantize(network, feeds[:1]), chip="sd855" if signed_weights else "sd835"), feeds
    )


def test_with_a_fallback(fallback_network: Network) -> None:  # noqa: F811
    feeds = _feeds(fallback_network, 7)
    deployment = deployed(quantize(fallback_network, feeds))
    assert [subnet.runtime for subnet in deployment.plan.subnets] == ["dsp", "cpu", "dsp"]
    _check(deployment, feeds)


def test_with_constant_operands() -> None:
    network = _with_constant_operands()
    feeds = _feeds(network, 5)
    _check(deployed(quantize(network, feeds)), feeds)


@pytest.mark.parametrize("bits", [16, 32])
def test_with_float_layers_among_integer_ones(bits: int) -> None:
    _check(deployed(mixed.mixed(bits)), mixed.feeds(7))


def test_in_floats(fallback_network: Network) -> None:  # noqa: F811
    _check(deployed(fallback_network, "cpu"), _feeds(fallback_network, 4))


def _brought() -> Deployment:
    use_layers(own_layers.FILE)
    network = optimize(read(own_layers.model()))
    return deployed(quantize(network, [stored_inputs(network, {"x": own_layers.feed()})]))


def _drawing() -> Network:
    """A node that draws, whose sums are those of the runs so far."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], "conv"),
        helper.make_node("RandomNormalLike", ["a"], ["r"], "drawn", seed=1.0),
        helper.make_node("Add", ["a", "r"], ["y"], "sum"),
    ]
    graph = helper.make_graph(
        nodes,
        "drawing",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 3, 4, 4])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(np.ones((4, 3, 1, 1), np.float32), "w")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return optimize(read(made))


def test_what_depends_on_the_order_is_done_in_order(fallback_network: Network) -> None:  # noqa: F811
    for network, contexts in ((fallback_network, 3), (_brought().network, 1), (_drawing(), 1)):
        assert contexts_for(network, 3, least=0, visits=1) == contexts


def test_contexts_fit_the_budget(fallback_network: Network) -> None:  # noqa: F811
    """With the result that waits; without execution contexts for two there are none."""
    elements = elements_at_once(fallback_network, fallback_network.outputs)
    for inferences, contexts in ((1, 1), (2, 1), (3, 2), (4, 3), (9, 3)):
        limit = budget.Limit(inferences * elements, budget.VALUES.unit)
        with patch.object(budget, "VALUES", limit):
            assert contexts_for(fallback_network, 3, least=0, visits=1) == contexts


def test_small_networks_are_done_in_order() -> None:
    network = hexsim.load("ds_cnn_s").network
    assert contexts_for(network, 2, least=1 << 19, visits=1) == 1
    assert contexts_for(hexsim.load("mobilenet_v2").network, 2, least=1 << 19, visits=1) == 2
    assert contexts_for(hexsim.load("mobilenet_v2").network, 2, least=1 << 19, visits=100) == 1


@pytest.fixture(scope="module")
def executor() -> PlanExecutor:
    return deployed(mixed.mixed()).executor(2)


def test_an_error_comes_in_its_place(executor: PlanExecutor) -> None:
    feeds = mixed.feeds(6)
    expected = [executor.run(x) for x in feeds]
    feeds[3] = {"in": feeds[3]["in"][:, :2]}
    results = []
    with pytest.raises(HexsimError, match="'in' has shape"):
        results += [results.append(result) for result in executor.run_each(feeds)]
    _equal([result for result in results if result], expected[:3])
    _equal(list(executor.run_each(mixed.feeds(6))), expected)


@pytest.mark.slow
def test_who_asks_no_more_leaves_nothing_running(executor: PlanExecutor) -> None:
    before = threading.active_count()
    for wanted in range(4):
        each = executor.run_each(mixed.feeds(6))
        results = [next(each) for _ in range(wanted)]
        del each
        gc.collect()
        assert threading.active_count() <= before
        _equal(results, [executor.run(x) for x in mixed.feeds(6)[:wanted]])


@pytest.mark.slow
def test_results_outlive_all_that_made_them() -> None:
    made = deployed(mixed.mixed()).executor(3)
    expected = [made.run(x) for x in mixed.feeds(8)]
    each = made.run_each(mixed.feeds(8))
    results = [next(each)]
    del made
    gc.collect()
    churned = [np.full(2 << at, 255, np.uint8) for at in range(6, 20) for _ in range(20)]
    results += each
    del each
    gc.collect()
    churned += [np.full(2 << at, 170, np.uint8) for at in range(6, 20) for _ in range(20)]
    _equal(results, expected)
    assert len(churned) == 28 * 20


def test_two_lists_at_once(executor: PlanExecutor) -> None:
    lists = [mixed.feeds(24), mixed.feeds(24)[::-1]]
    expected = [[executor.run(x) for x in feeds] for feeds in lists]
    results: list[list[Feed]] = [[], []]

    def go(number: int) -> None:
        results[number] = list(executor.run_each(lists[number]))

    threads = [threading.Thread(target=go, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for actual, wanted in zip(results, expected, strict=True):
        _equal(actual, wanted)


def test_the_api_reads_nothing_ahead_of_an_iterator() -> None:
    """The next input may follow from the last answer."""
    model_ = hexsim.load("ds_cnn_s")
    shapes = {n: model_.network.tensors[n].source_shape for n in model_.network.inputs}
    (x,) = seeded_inputs(shapes, 1)
    quantized = hexsim.quantize(model_, [x])
    read_: list[int] = []

    def one_by_one() -> Iterator[Feed]:
        for at in range(4):
            read_.append(at)
            yield x

    for at, _ in enumerate(hexsim.run(quantized, one_by_one(), chip="sd835")):
        assert len(read_) == at + 1
    listed = list(hexsim.run(quantized, [x] * 4, chip="sd835"))
    _equal(listed, list(hexsim.run(quantized, iter([x] * 4), chip="sd835")))
