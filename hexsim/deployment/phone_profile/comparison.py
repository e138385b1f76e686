"""Pairs the layers of a profile with those of a simulation, and sums both by class of layer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hexsim.datasheets.stacks.stack import Profiles
from hexsim.deployment import Deployment
from hexsim.deployment.given import GivenModel
from hexsim.deployment.phone_profile.names import LayerNames
from hexsim.deployment.phone_profile.profile import MeasuredLayer, MeasuredRun, PhoneProfile
from hexsim.errors import HexsimError
from hexsim.graph.ir import Shape
from hexsim.runtimes import Runtime
from hexsim.timing.results import Result

_MOST_NAMES = 3
_TOTALS = (
    (("Total Inference Time", "estimated inference time"), "total inference"),
    (("Forward Propagate Time", "Forward Propagate"), "forward propagate"),
)
"""The totals that both sides have, by the names in the files and by ours."""


@dataclass(frozen=True)
class Pair:
    """A figure of the phone and of the simulation in microseconds; the simulation's name."""

    name: str
    measured_us: float
    simulated_us: float

    @property
    def ratio(self) -> float | None:
        """Simulated over measured time; None where the phone has none."""
        return self.simulated_us / self.measured_us if self.measured_us else None


@dataclass(frozen=True)
class LayerPair(Pair):
    """A layer of both sides; `rows` are the phone's, several if it splits what is one layer here.

    `index` counts from the inputs, as snpe-dlc-info does; `shape` is its output's, as in the ONNX
    file.
    """

    layer_class: str
    type: str
    index: int
    shape: Shape
    rows: tuple[MeasuredLayer, ...]


@dataclass(frozen=True)
class PairedLayers:
    """A profile beside a simulation. Classes and totals are sums of what both sides have."""

    layers: tuple[LayerPair, ...]
    classes: tuple[Pair, ...]
    totals: tuple[Pair, ...]
    only_measured: tuple[MeasuredLayer, ...]
    only_simulated: tuple[Pair, ...]


def simulated_beside(
    profile: PhoneProfile,
    run: MeasuredRun,
    model: GivenModel,
    runtime: Runtime,
    *,
    perf_profile: str | None = None,
    buffer: str | None = None,
) -> tuple[Deployment, Result, str]:
    """Simulate a model as `run` was measured; also return its deployment and performance profile.

    `perf_profile` and `buffer` replace those of the file, for which the stack's defaults stand
    where it says nothing. Raises HexsimError if the runtime refuses the model.
    """
    deployment = model.deployment(runtime)
    stack = deployment.platform.stack
    stated = profile.perf_profile if profile.perf_profile in Profiles.model_fields else None
    perf_profile = perf_profile or stated or stack.default_profile
    buffer = buffer or (run.buffer if run.buffer in stack.buffer_types else None)
    timing = deployment.simulate(perf_profile=perf_profile, buffer=stack.buffer(buffer))
    return deployment, timing, perf_profile


def compare_profile(
    profile: PhoneProfile, run: MeasuredRun, deployment: Deployment, timing: Result
) -> PairedLayers:
    """Pair `run` of `profile` with `timing`, the simulation of `deployment`.

    Raises HexsimError if no layer of the profile is one of the network.
    """
    network = deployment.network
    names = LayerNames(network, profile)
    rows: dict[str, list[MeasuredLayer]] = {}
    only_measured = []
    for measured in run.layers:
        layer = names.layer(measured)
        if layer is None:
            only_measured.append(measured)
        else:
            rows.setdefault(layer.name, []).append(measured)
    if not rows:
        raise _nothing_matches(run.layers, network.name)
    us = {layer.name: layer.us for layer in timing.layers}
    classes = {call.layer.name: call.layer_class for call in deployment.plan.calls()}
    pairs = tuple(
        LayerPair(
            name=layer.name,
            measured_us=sum(row.us for row in rows[layer.name]),
            simulated_us=us.get(layer.name, 0.0),
            layer_class=classes[layer.name],
            type=layer.type,
            index=index,
            shape=network.tensors[layer.output].source_shape,
            rows=tuple(rows[layer.name]),
        )
        for index, layer in enumerate(network.layers, start=len(network.inputs))
        if layer.name in rows
    )
    return PairedLayers(
        layers=pairs,
        classes=_classes(pairs),
        totals=(_sum("all layers of both", pairs), *_totals(run.totals, timing)),
        only_measured=tuple(row for row in only_measured if row.us),
        only_simulated=tuple(
            Pair(layer.name, 0.0, layer.us) for layer in timing.layers if layer.name not in rows
        ),
    )


def _classes(pairs: Iterable[LayerPair]) -> tuple[Pair, ...]:
    """Return the sums by class, the class that the phone spends most on first."""
    members: dict[str, list[LayerPair]] = {}
    for pair in pairs:
        members.setdefault(pair.layer_class, []).append(pair)
    sums = (_sum(f"{name} ({len(of_class)})", of_class) for name, of_class in members.items())
    return tuple(sorted(sums, key=lambda pair: -pair.measured_us))


def _sum(name: str, pairs: Iterable[LayerPair]) -> Pair:
    both = [(pair.measured_us, pair.simulated_us) for pair in pairs]
    return Pair(name, sum(phone for phone, _ in both), sum(ours for _, ours in both))


def _totals(measured: Mapping[str, float], timing: Result) -> Iterable[Pair]:
    for (names, ours), us in zip(_TOTALS, (timing.total_us, timing.forward_us), strict=True):
        phone = next((measured[name] for name in names if name in measured), None)
        if phone is not None:
            yield Pair(ours, phone, us)


def _nothing_matches(layers: Iterable[MeasuredLayer], network: str) -> HexsimError:
    names = [f"'{layer.name}'" for layer in layers if layer.name][:_MOST_NAMES]
    return HexsimError(
        f"no layer of the profile is one of network '{network}'; it has {', '.join(names)} and "
        "others: is it the profile of another network?"
    )
