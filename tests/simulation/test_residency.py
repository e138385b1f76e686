from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from hexsim.graph.ir import Network, Tensor
from hexsim.hvx.layout import tensor_sizes
from hexsim.layers import Elementwise, Neuron
from hexsim.planning.plan import PlannedSubnet
from hexsim.simulation.residency import SubnetTraffic, subnet_traffic
from hexsim.timing.memory import Traffic
from tests.deployed import planned
from tests.small_networks import networks, plan
from tests.thorough import examples

MANY = examples(100)


def subnet() -> PlannedSubnet:
    """In -> a -> b -> c, and c is b + a."""
    shape = (1, 8, 8, 32)
    names = ("in", "a", "b", "c")
    layers = (
        Neuron(name="first", inputs=("in",), outputs=("a",), function="tanh"),
        Neuron(name="second", inputs=("a",), outputs=("b",), function="tanh"),
        Elementwise(name="third", inputs=("b", "a"), outputs=("c",), kind="sum"),
    )
    network = Network("n", layers, {n: Tensor(n, shape) for n in names}, {}, ("in",), ("c",))
    return planned(network, "dsp").subnets[0]


def traffic(l2_bytes: int, **sizes: int) -> SubnetTraffic:
    return shared(l2_bytes, [l2_bytes] * 3, **sizes)


def shared(l2_bytes: int, shares: Sequence[int], **sizes: int) -> SubnetTraffic:
    all_sizes = {"in": 100, "a": 100, "b": 100, "c": 100, **sizes}
    return subnet_traffic(subnet(), l2_bytes, shares, all_sizes)


def test_what_fits_in_l2_moves_nothing() -> None:
    nothing = (Traffic(),)
    assert traffic(300) == SubnetTraffic(nothing, nothing * 3, nothing)


def test_half_a_tensor_in_l2_costs_half() -> None:
    """`b` pushes half of `a` out, which is read again by the last layer."""
    moved = traffic(250, b=200).calls
    assert moved[1] == Traffic(0, 50)
    assert moved[2].read_bytes == 50


def test_a_tensor_larger_than_l2_streams_past() -> None:
    moved = traffic(1000, **{"in": 2000})
    assert moved.inputs == (Traffic(0, 2000),)
    assert moved.calls[0] == Traffic(2000, 0, 2000)
    moved = traffic(300, a=1000)
    assert moved.calls[0] == Traffic(0, 1000)
    assert moved.calls[1] == Traffic(1000, 0, 1000)
    assert moved.calls[2] == Traffic(1000, 0, 1000)


def test_the_least_recently_used_bytes_leave_and_come_back() -> None:
    assert traffic(300, b=250).calls == (
        Traffic(0, 0),
        Traffic(0, 50),  # 200 of 300 bytes are free once `in` is dead, so `b` displaces 50 of `a`
        Traffic(50, 150, 0),  # `a` comes back, at the cost of 50 of `b`; `c` displaces 100 more
    )


def test_nothing_is_kept_without_a_cache() -> None:
    moved = traffic(0)
    assert moved.inputs == (Traffic(0, 100),)
    assert moved.calls == (*(Traffic(100, 100, 100),) * 2, Traffic(200, 100, 200))
    assert moved.outputs == (Traffic(100, 0, 100),)


def test_weights_take_their_share_while_their_layer_runs() -> None:
    """The second layer leaves 50 bytes to activations: half of `a` goes, the rest streams past."""
    moved = shared(300, [300, 50, 300])
    assert moved.calls[0] == Traffic()
    assert moved.calls[1] == Traffic(50, 50 + 100, 100)  # half of `a` goes, all of `b`
    assert moved.calls[2] == Traffic(50 + 100, 0)


class ByteByByte:
    """A cache of single bytes in the order of their last use; a tensor spares its own."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.order: list[str] = []  # one entry per byte held, least recently used first
        self.read_bytes = 0

    def limit(self, capacity: int) -> None:
        self.capacity = capacity
        del self.order[: max(0, len(self.order) - capacity)]

    def use(self, name: str, size: int, *, reading: bool) -> None:
        held = self.order.count(name)
        if size > self.capacity:  # streams past
            self.read_bytes += (size - held) * reading
            return
        others = [byte for byte in self.order if byte != name]
        for _ in range(size - held):
            self.read_bytes += reading
            if len(others) + held == self.capacity and others:
                others.pop(0)
            if len(others) + held < self.capacity:
                held += 1
        self.order = [*others, *[name] * held]


@given(networks(), st.integers(0, 2000), st.randoms(use_true_random=False))
def test_reads_agree_with_a_cache_of_single_bytes(
    network: Network, capacity: int, random: Random
) -> None:
    """In units of 128 bytes, so that stepping is quick."""
    for part in plan(network, "dsp").subnets:
        if part.engine != "hvx":
            continue
        sizes = {name: -(-size // 128) for name, size in tensor_sizes(part).items()}
        shares = [random.randint(0, capacity) for _ in part.calls]
        slow, fast = ByteByByte(capacity), subnet_traffic(part, capacity, shares, sizes)
        for name in part.inputs:
            slow.use(name, sizes[name], reading=False)
        for index, (layer, moved) in enumerate(zip(part.layers, fast.calls, strict=True)):
            slow.limit(shares[index])
            slow.read_bytes = 0
            for name in dict.fromkeys(layer.inputs):
                slow.use(name, sizes[name], reading=True)
            for name in layer.outputs:
                slow.use(name, sizes[name], reading=False)
            assert moved.read_bytes == slow.read_bytes
            later = {name for after in part.layers[index + 1 :] for name in after.inputs}
            dead = set(layer.inputs) - later - set(part.outputs)
            slow.order = [name for name in slow.order if name not in dead]


@MANY
@given(networks(), st.integers(0, 10**6))
def test_what_is_written_back_was_made_once_and_what_is_read_was_written(
    network: Network, capacity: int
) -> None:
    for part in plan(network, "dsp").subnets:
        if part.engine != "hvx":
            continue
        sizes = tensor_sizes(part)
        moved = subnet_traffic(part, capacity, [capacity // 2] * len(part.calls), sizes)
        made = [*part.inputs, *(name for layer in part.layers for name in layer.outputs)]
        written = sum(t.write_bytes for t in (*moved.inputs, *moved.calls, *moved.outputs))
        assert 0 <= written <= sum(sizes[name] for name in made)
        for layer, call in zip(part.layers, moved.calls, strict=True):
            assert 0 <= call.reread_bytes <= sum(sizes[name] for name in set(layer.inputs))
        if not written:
            assert not any(t.read_bytes for t in (*moved.calls, *moved.outputs))


@MANY
@given(networks(), st.integers(0, 10**5), st.integers(1, 10**5))
def test_more_l2_never_reads_more(network: Network, capacity: int, more: int) -> None:
    def read(l2_bytes: int) -> int:
        shares = [l2_bytes - l2_bytes // 3] * len(part.calls)
        moved = subnet_traffic(part, l2_bytes, shares, tensor_sizes(part))
        return sum(t.read_bytes + t.reread_bytes for t in (*moved.calls, *moved.outputs))

    for part in plan(network, "dsp").subnets:
        if part.engine == "hvx":
            assert read(capacity + more) <= read(capacity)
