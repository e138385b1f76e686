"""Pairs the layers of a phone's profile with those of a simulation, and sums both by class.

The names of nodes are compared as they are, then without the differences that the tools make:
slashes, colons, dots and underscores are equal, and those at the ends do not count. A layer is
also found by a node that it took over, and by a tensor that it writes. A name that means several
layers finds none. Where a profile has no names, the numbers of the layers count.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hexsim.datasheets.stacks import PROFILES
from hexsim.deployment import Deployment
from hexsim.deployment.phone_profile.profile import MeasuredLayer, MeasuredRun, PhoneProfile
from hexsim.deployment.source_model import SourceModel
from hexsim.errors import HexsimError
from hexsim.graph.ir import Layer, Network
from hexsim.results.phone import LayerPair, MeasuredOnly, Pair, PhoneComparison, SimulatedOnly
from hexsim.runtimes import RUNTIMES, Runtime
from hexsim.timing.results import Result

_OTHER = re.compile(r"[^0-9A-Za-z]+")


class LayerNames:
    """The names under which the layers of a network may be known to a phone."""

    def __init__(self, network: Network, profile: PhoneProfile) -> None:
        self._network = network
        self._exact = _unique((name, layer) for layer in network.layers for name in _nodes(layer))
        tensors = _unique((name, layer) for layer in network.layers for name in layer.outputs)
        self._normalised = [
            _unique((normalised(name), layer) for name, layer in names)
            for names in (
                [(name, layer) for layer in network.layers for name in _nodes(layer)],
                list(tensors.items()),
            )
        ]
        self.inputs = frozenset(map(normalised, network.inputs))
        layers = [layer for run in profile.runs for layer in run.layers]
        self._by_id: Mapping[int, Layer | None] = {}
        if not any(layer.name for layer in layers):
            self._by_id = _numbered(network, layers, profile)

    def layer(self, measured: MeasuredLayer) -> Layer | None:
        """Return the layer that `measured` means, or None."""
        if self._by_id:
            return None if measured.id is None else self._by_id.get(measured.id)
        if not measured.name:
            return None
        if exact := self._exact.get(measured.name):
            return exact
        key = normalised(measured.name)
        if key in self.inputs:
            return None
        return next((names[key] for names in self._normalised if key in names), None)


def normalised(name: str) -> str:
    """Return a name without what the tools change in it."""
    return _OTHER.sub("_", name).strip("_")


def _nodes(layer: Layer) -> tuple[str, ...]:
    return (layer.name, *layer.fused)


def _unique(pairs: Iterable[tuple[str, Layer]]) -> dict[str, Layer]:
    """Return the layers by name, without names that several layers have."""
    layers: dict[str, Layer] = {}
    several = set()
    for name, layer in pairs:
        if layers.setdefault(name, layer) is not layer:
            several.add(name)
    return {name: layer for name, layer in layers.items() if name and name not in several}


def _numbered(
    network: Network, measured: Sequence[MeasuredLayer], profile: PhoneProfile
) -> Mapping[int, Layer | None]:
    """Return the layers by number; raise HexsimError if the counts do not fit.

    A file converted here has a number per layer; one of the SNPE converter has one for each node
    that a layer took over too, such as an activation.
    """
    inputs: list[Layer | None] = [None] * (len(network.inputs) if profile.inputs_have_ids else 0)
    layers = [*inputs, *network.layers]
    nodes = [*inputs, *(layer for layer in network.layers for _ in _nodes(layer))]
    count = 1 + max((layer.id for layer in measured if layer.id is not None), default=-1)
    for numbered in (layers, nodes):
        if len(numbered) == count:
            return dict(enumerate(numbered))
    raise HexsimError(
        f"the {profile.format} gives numbers and no names, up to {count - 1}, and network "
        f"'{network.name}' has numbers up to {len(layers) - 1}, or to {len(nodes) - 1} with one "
        "for each fused node; give a profile with names, such as the benchmark's CSV"
    )


_MOST_NAMES = 3
_TOTALS = (
    (("Total Inference Time", "estimated inference time"), "total inference"),
    (("Forward Propagate Time", "Forward Propagate"), "forward propagate"),
)
"""The totals that both sides have, by the names in the files and by ours."""


def simulated_beside(
    profile: PhoneProfile,
    run: MeasuredRun,
    model: SourceModel,
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
    stated = profile.perf_profile if profile.perf_profile in PROFILES else None
    perf_profile = perf_profile or stated or stack.default_profile
    buffer = buffer or (run.buffer if run.buffer in stack.buffer_types else None)
    timing = deployment.simulate(perf_profile=perf_profile, buffer=stack.buffer(buffer))
    return deployment, timing, perf_profile


def compare_profile(
    profile: PhoneProfile,
    run: MeasuredRun,
    deployment: Deployment,
    timing: Result,
    perf_profile: str,
) -> PhoneComparison:
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
    pairs = tuple(_pairs(deployment, timing, rows))
    return PhoneComparison(
        network=network.name,
        chip=deployment.platform.chip.name,
        stack=deployment.platform.stack.name,
        runtime=deployment.runtime,
        perf_profile=perf_profile,
        format=profile.format,
        remark=profile.remark,
        layers=pairs,
        classes=_classes(pairs),
        totals=(_sum("all layers of both", pairs), *_totals(run.totals, timing)),
        only_measured=tuple(
            MeasuredOnly(name=row.name, id=row.id, type=row.type, measured_us=row.us)
            for row in only_measured
            if row.us
        ),
        only_simulated=tuple(
            SimulatedOnly(name=layer.name, simulated_us=layer.us)
            for layer in timing.layers
            if layer.name not in rows
        ),
    )


def _pairs(
    deployment: Deployment, timing: Result, rows: Mapping[str, Sequence[MeasuredLayer]]
) -> Iterator[LayerPair]:
    """Yield the layers that were measured, in network order, each with its rows."""
    network = deployment.network
    us = {layer.name: layer.us for layer in timing.layers}
    classes = {call.layer.name: call.layer_class for call in deployment.plan.calls()}
    for index, layer in enumerate(network.layers, start=len(network.inputs)):
        if measured := rows.get(layer.name):
            yield LayerPair(
                **_times(sum(row.us for row in measured), us.get(layer.name, 0.0)),
                name=layer.name,
                layer_class=classes[layer.name],
                type=layer.type,
                index=index,
                output_nchw=network.tensors[layer.output].source_shape,
                rows=tuple(row.name if row.name or row.id is None else row.id for row in measured),
                low_us=sum(row.us if row.low_us is None else row.low_us for row in measured),
                high_us=sum(row.us if row.high_us is None else row.high_us for row in measured),
            )


def _classes(pairs: Iterable[LayerPair]) -> tuple[Pair, ...]:
    members: dict[str, list[LayerPair]] = {}
    for pair in pairs:
        members.setdefault(pair.layer_class, []).append(pair)
    sums = (_sum(f"{name} ({len(of_class)})", of_class) for name, of_class in members.items())
    return tuple(sorted(sums, key=lambda pair: -pair.measured_us))


def _sum(name: str, pairs: Sequence[LayerPair]) -> Pair:
    measured_us = sum(pair.measured_us for pair in pairs)
    return Pair(name=name, **_times(measured_us, sum(pair.simulated_us for pair in pairs)))


def _totals(measured: Mapping[str, float], timing: Result) -> Iterable[Pair]:
    for (names, ours), us in zip(_TOTALS, (timing.total_us, timing.forward_us), strict=True):
        phone = next((measured[name] for name in names if name in measured), None)
        if phone is not None:
            yield Pair(name=ours, **_times(phone, us))


def _times(measured_us: float, simulated_us: float) -> dict[str, Any]:
    ratio = simulated_us / measured_us if measured_us else None
    return {"measured_us": measured_us, "simulated_us": simulated_us, "ratio": ratio}


def _nothing_matches(layers: Iterable[MeasuredLayer], network: str) -> HexsimError:
    names = [f"'{layer.name}'" for layer in layers if layer.name][:_MOST_NAMES]
    return HexsimError(
        f"no layer of the profile is one of network '{network}'; it has {', '.join(names)} and "
        "others: is it the profile of another network?"
    )


_ON_NEWER: dict[str, Runtime] = {"dsp": "htp", "aip": "htp"}
"""What the tools call DSP on chips whose processor is the HTP."""


def selected_run(
    profile: PhoneProfile,
    runtimes: tuple[Runtime, ...],
    runtime: Runtime | None,
    buffer: str | None,
) -> tuple[MeasuredRun, Runtime]:
    """Return the run of `runtime` and `buffer`, where they are given, and its runtime here.

    `runtimes` are those of the platform. Of several runs the first with the stated buffers counts,
    else the first without user buffers, else the first. Raises HexsimError if there is none.
    """
    named = [(run, runtime_here(run, runtimes, runtime)) for run in profile.runs]
    fitting = [(run, here) for run, here in named if here and runtime in (None, here)]
    exact = [pair for pair in fitting if buffer is None or pair[0].buffer in ("", buffer)]
    if not exact:
        there = ", ".join(
            dict.fromkeys(
                f"{run.runtime}{f' with {run.buffer} buffers' if run.buffer else ''}"
                for run in profile.runs
            )
        )
        asked = runtime or "a runtime of this chip"
        buffers = f" with {buffer} buffers" if buffer else ""
        raise HexsimError(
            f"the profile ({profile.format}) has no layers of {asked}{buffers}, only of {there}"
        )
    return min(exact, key=lambda pair: bool(pair[0].buffer) != bool(buffer))


def runtime_here(
    run: MeasuredRun, runtimes: tuple[Runtime, ...], runtime: Runtime | None
) -> Runtime | None:
    """Return the runtime that simulates a run; a run without a name is of the requested one."""
    if not run.runtime:
        return runtime or next((name for name in ("htp", "dsp", "cpu") if name in runtimes), None)
    name = _ON_NEWER.get(run.runtime, run.runtime) if "htp" in runtimes else run.runtime
    return next((known for known in RUNTIMES if known == name), None)
