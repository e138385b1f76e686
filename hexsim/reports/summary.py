"""An inference in a line and in a block, and the fastest runtime of several.

The line has the layers by engine, the cuts, and what takes the largest part of the time. That may
be the layers of a type, all layers that fell back to the CPU with the crossings to it, or an
overhead of the call. Nothing else can save more time.

The runtimes of several chips are ranked together, and named with their chips. They are ranked by
the times that the table beside shows, so that the two never contradict each other; times that are
shown with the same figure are a tie. All times are the simulated ones, unless the user asks for the
measured ones where there are any; a line says if those disagree. The rival is the best runtime on
other hardware: the times of runtimes on the same hardware are wrong together. A runtime whose
program crashed on the device is not ranked. Where answers were computed, one that gives mostly
noise is left out.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hexsim.dlc.loading import is_dlc
from hexsim.reports.inference import (
    REPORTED_FACTOR,
    background_tables,
    profile_table,
    slowdown_table,
    uncertainty_table,
)
from hexsim.reports.text import number, short_names
from hexsim.results.accuracy import LEAST_DB
from hexsim.results.benchmark import Inference, RuntimeOrder, place_names
from hexsim.results.costs import Figures
from hexsim.runtimes import FIXED_POINT, MAIN_ENGINE, LayerTarget, placed
from hexsim.texts.figures import figure, given, size, span

if TYPE_CHECKING:
    from hexsim.results.costs import LayerCost
    from hexsim.results.overview import Overview


def summary(case: Inference) -> str:
    """Return the line of one network on one runtime."""
    layers = case.layers
    if not layers:
        return f"{case.network} on {case.runtime} has no layers: nothing is computed"
    if fell_back(case):
        return (
            f"{case.network} on {case.runtime} falls back to the CPU as a whole: none of its "
            f"{number(len(layers), 'layer')} runs on {MAIN_ENGINE[case.runtime].upper()}"
        )
    uncut = case.subnets == 1 or {layer.engine for layer in layers} == {"htp"}  # one graph of parts
    cuts = "no cut" if uncut else f"{case.subnets} subnets"
    engines = engines_text(layers)
    return f"{case.network} on {case.runtime}: {engines}; {cuts}; {largest_part(case)}"


MOST_NAMED = 5
"""Layers that a line names; `hexsim partition` has them all."""


def processor_lines(case: Inference) -> list[str]:
    """Return the layers that an engine leaves to the CPU, and why; the share of time on an HTP.

    For the tensor engine of aip: which sections were chosen, where that was done here. Beside
    classes of layers that a profile has scaled: those that it has not.
    """
    lines, engine = [], MAIN_ENGINE[case.runtime]
    if case.hta_choice is not None:
        lines = [f"{case.network} on aip: {case.hta_choice}"]
    if case.as_simulated:
        lines.append(
            f"{case.runtime}: as simulated, without a factor: {', '.join(case.as_simulated)}"
        )
    on_cpu = [layer for layer in case.layers if layer.engine == "cpu" != engine]
    others = f"{number(len(on_cpu), 'layer') if on_cpu else 'none'} on cpu"
    if engine == "htp":
        from hexsim.simulation.htp_call import CROSSINGS  # with the simulator, not for `info`

        crossings = [part for part in case.overheads if part.name in CROSSINGS]
        elsewhere_us = sum(layer.us for layer in on_cpu) + sum(part.us for part in crossings)
        share = 1 - elsewhere_us / (case.total_inference_us or 1.0)
        lines.append(f"{case.runtime}: npu {share:.0%}, {others}")
    elif on_cpu:
        lines.append(f"{case.runtime}: {others}")
    return [*lines, *(f"  on cpu: {text}" for text in fallbacks(case))]


def fallbacks(case: Inference) -> Iterator[str]:
    """Yield which layers an engine leaves to the CPU: why, their cost, and what would keep them."""
    alike: dict[tuple[str, str], list[LayerCost]] = {}
    for layer in case.layers:
        if layer.cpu_reason:
            alike.setdefault((layer.cpu_reason, layer.instead), []).append(layer)
    for (reason, instead), layers in alike.items():
        names = short_names([layer.name for layer in layers])
        typed = [f"{name} ({layer.type})" for name, layer in zip(names, layers, strict=True)]
        own_us = sum(layer.us for layer in layers)
        crossing_us = sum(layer.to_cpu_us + layer.from_cpu_us for layer in layers)
        yield (
            f"{first_of(typed)}: {reason}; takes {figure(own_us / 1e3)} ms, and "
            f"{figure(crossing_us / 1e3)} ms to the CPU and back; what would keep it on the "
            f"engine: {instead or 'no change is known'}"
        )


def first_of(names: Sequence[str]) -> str:
    """Return the first names in a line, and how many others there are."""
    others = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {others} others" if others > 0 else "")


def fell_back(case: Inference) -> bool:
    """Return whether the runtime has an engine of its own but the CPU computes every layer."""
    engines = {layer.engine for layer in case.layers}
    return MAIN_ENGINE[case.runtime] != "cpu" and engines == {"cpu"}


def supported_text(
    layers: Sequence[tuple[Collection[LayerTarget], int]], among: Sequence[LayerTarget]
) -> str:
    """Return the share of layers that each target takes; they have those that do, and MACs."""
    targets_by_share: dict[tuple[str, str], list[LayerTarget]] = {}
    for target in among:
        takes = [macs for targets, macs in layers if target in targets]
        share = _share(takes, len(layers), sum(macs for _, macs in layers))
        targets_by_share.setdefault(share, []).append(target)
    parts = (
        f"{count} on {', '.join(targets)}{macs}"
        for (count, macs), targets in targets_by_share.items()
    )
    return f"Of {number(len(layers), 'layer')}: {'; '.join(parts)}"


def _share(takes: Sequence[int], layers: int, total_macs: int) -> tuple[str, str]:
    if len(takes) in (0, layers):
        return ("all run" if takes else "none runs"), ""
    share = f" ({sum(takes) / total_macs:.0%} of the MACs)" if total_macs else ""
    return f"{len(takes)} run{'s' if len(takes) == 1 else ''}", share


def engines_text(layers: Sequence[LayerCost]) -> str:
    """Return the layers on each engine with their share of the MACs, the largest first."""
    counts, macs = Counter[str](), Counter[str]()
    for layer in layers:
        counts[layer.engine] += 1
        macs[layer.engine] += layer.macs
    total = sum(macs.values())
    ranked = sorted(counts, key=lambda engine: (-macs[engine], -counts[engine]))
    shares = (f" ({macs[engine] / total:.0%} of the MACs)" if total else "" for engine in ranked)
    return ", ".join(
        f"{number(counts[engine], 'layer')} on {engine.upper()}{share}"
        for engine, share in zip(ranked, shares, strict=True)
    )


def largest_part(case: Inference) -> str:
    """Return what takes most of the time, as a part of a sentence."""
    share, name = max(_candidates(case))
    return f"the largest part of the time, {share:.0%}, is spent on {name}"


def _candidates(case: Inference) -> Iterator[tuple[float, str]]:
    """Yield shares of the total time, each with the name of its cause.

    These are layers of one type, those of the CPU with the crossings there, and the purposes of the
    call. Crossings are parts of the purposes, which are left out where crossings are most of them.
    """
    total_us = case.total_inference_us or 1.0
    alike: dict[str, list[LayerCost]] = {}
    for layer in case.layers:
        left = layer.engine == "cpu" != MAIN_ENGINE[case.runtime]
        alike.setdefault("" if left else layer.type, []).append(layer)
    crossings_us = sum(layer.to_cpu_us + layer.from_cpu_us for layer in case.layers)
    for kind, layers in alike.items():
        us = sum(layer.us for layer in layers) + (0.0 if kind else crossings_us)
        yield us / total_us, _layers_text(kind, layers, total_us, crossed=crossings_us > 0)
    purposes = _by_purpose(case)
    if 2 * crossings_us <= sum(purposes.values()):
        yield from ((us / total_us, purpose) for purpose, us in purposes.items())


def _by_purpose(case: Inference) -> dict[str, float]:
    """Return the time outside layers in us, by what it is for."""
    times: dict[str, float] = {}
    for part in case.overheads:
        times[part.purpose] = times.get(part.purpose, 0.0) + part.us
    return times


def _layers_text(kind: str, layers: list[LayerCost], total_us: float, *, crossed: bool) -> str:
    """Return layers of a type, or "" for those that fell back, and the longest of them."""
    longest = max(layers, key=lambda layer: layer.us)
    names = short_names([layer.name for layer in layers])
    name, engine = names[layers.index(longest)], longest.engine.upper()
    back = "" if kind or not crossed else " and the crossings there and back"
    if len(layers) == 1:
        return f"{longest.type} '{name}' on {engine} (bound by {longest.bound}){back}"
    share = f"{longest.us / total_us:.0%}"
    first = f", first of all '{name}' ({share}, bound by {longest.bound})" if share != "0%" else ""
    return f"{len(layers)} {kind + ' ' if kind else ''}layers on {engine}{back}{first}"


_MOST_LAYERS = 5
_SNPE_RUNTIMES = {"cpu": "", "gpu": " --use_gpu", "dsp": " --use_dsp", "aip": " --use_aip"}


def profile_text(case: Inference, *, roofs: bool = False, every: bool = False) -> str:
    """Return the report of one inference: sums by type and the longest layers, or `every` layer.

    With `roofs` it has the layers under the roofs of the chip.
    """
    parts = [
        placed(case.network, case.runtime, case.chip, case.precision),
        "\n".join(
            (
                f"{case.software}, {case.perf_profile}, {case.buffer} buffers",
                summary(case),
                *([f"error of such times: {error}"] if (error := case.expected_error) else ()),
                *processor_lines(case),
            )
        ),
        profile_table(case, every=every),
        case.graph_note or "",
    ]
    if case.background is not None:
        parts += background_tables([case]), slowdown_table(case.background)
    if case.uncertainty is not None:
        parts.append(uncertainty_table(case))
    if roofs and case.roofline is not None:
        from hexsim.reports.roofline import roofline_table

        parts.append(roofline_table(case.roofline))
    return "\n\n".join(filter(None, parts))


def one_sided(cases: Sequence[Inference]) -> Iterator[str]:
    """Yield a sentence on the times that are at the fast ends of their intervals, if any are."""
    place = place_names(cases)
    intervals = [(case, *case.interval_us) for case in cases if case.interval_us]
    fast = [place(case) for case, low, high in intervals if case.total_inference_us <= low < high]
    if fast:
        yield (
            f"{', '.join(dict.fromkeys(fast))}: the constants that matter most are stated at the "
            "fast ends of their bounds, so the time may be much longer, but hardly shorter."
        )


def overview_text(overview: Overview) -> str:
    """Return a block for each runtime, and why others do not take the model."""
    refused = (f"{refusal.runtime}: {refusal.reason}" for refusal in overview.refused)
    return "\n\n".join((*map(overview_block, overview.results), *refused))


def overview_block(case: Inference) -> str:
    """Return the block of one network on one runtime."""
    layers = case.layers
    latency = f"{figure(case.total_ms)} ms"
    if case.interval_us is not None:
        low, high = (us / 1e3 for us in case.interval_us)
        latency += f"; {span(low, high)} ms with a chance of about nine in ten"
    total_us = case.total_inference_us or 1.0
    longest = case.slowest(_MOST_LAYERS)
    names = short_names([layer.name for layer in longest])
    parts = [
        f"{name} ({layer.type}) {layer.us / total_us:.0%}"
        for name, layer in zip(names, longest, strict=True)
        if layer.us >= 0.005 * total_us
    ]
    kinds = [*case.by_type().items()][:_MOST_LAYERS]
    ours, theirs = _next_step(case)
    rows = {
        "latency": latency,
        "its error": "" if case.expected_error is None else str(case.expected_error),
        "peak memory": size(case.memory.peak_bytes),
        "engines": engines_text(layers),
        "on the CPU": f"\n{'':15}".join(fallbacks(case)),
        "types": ", ".join(f"{kind} {us / total_us:.0%}" for kind, us in kinds),
        "most time": ", ".join(parts),
        "not in layers": _outside_layers(case),
        "software": case.software,
        "next step": ours,
        "with SNPE": theirs,
    }
    lines = [f"{name:15}{text}" for name, text in rows.items() if text]
    return "\n".join([placed(case.network, case.runtime, case.chip, case.precision), "", *lines])


def _outside_layers(case: Inference) -> str:
    """Return the share of time outside layers, with its largest parts: `24%: calling ... 12%`."""
    times = _by_purpose(case)
    total_us = case.total_inference_us or 1.0
    most = sorted(times.items(), key=lambda item: -item[1])
    shares = [(name, f"{us / total_us:.0%}") for name, us in most]
    parts = ", ".join(f"{name} {share}" for name, share in shares if share != "0%")
    return f"{sum(times.values()) / total_us:.0%}{': ' if parts else ''}{parts}"


def _next_step(case: Inference) -> tuple[str, str]:
    """Return the command that brings the model nearer to the phone: hexsim's, and SNPE's."""
    name, stem = shlex.quote(case.source), shlex.quote(str(Path(case.source).with_suffix("")))
    where = f"--chip {case.chip} --runtime {case.runtime}"
    sizes = [(shlex.quote(of), ",".join(map(str, dims))) for of, dims in case.input_dims.items()]
    shaped = name + "".join(f" --input-dim {of} {dims}" for of, dims in sizes)
    if any(layer.cpu_reason for layer in case.layers):
        return f"hexsim partition {shaped} {where}", ""
    if case.builtin:
        return f"hexsim models export {name} --output {name}.onnx", ""
    convert = f"snpe-onnx-to-dlc --input_network {name} --output_path {stem}.dlc"
    convert += "".join(f" --input_dim {of} {dims}" for of, dims in sizes)
    theirs = [convert] if name.endswith(".onnx") else []
    if case.given != "quantised file" and case.runtime in FIXED_POINT:
        theirs.append(f"snpe-dlc-quantize --input_dlc {stem}.dlc --input_list list.txt")
        first, made = (f"hexsim convert {shaped}, then ", f"{stem}.dlc") if sizes else ("", name)
        return f"{first}hexsim quantize {made} --input-list list.txt", ", then ".join(theirs)
    if not is_dlc(case.source):
        return f"hexsim convert {shaped}", "".join(theirs)
    flag = _SNPE_RUNTIMES.get(case.runtime)
    run = "" if flag is None else f"snpe-net-run --container {name} --input_list list.txt{flag}"
    return f"hexsim run {name} --input-list list.txt {where}", run


def recommendations(cases: Sequence[Inference], *, by_measured: bool = False) -> str:
    """Return the verdict on each network that ran on several chips; tables have the others.

    With `by_measured`, times measured on the device take the place of simulated ones, for all
    networks.
    """
    chips = Counter(network for network, _ in {(case.network, case.chip) for case in cases})
    ranked = [case for case in cases if by_measured or chips[case.network] > 1]
    return verdicts(ranked, by_measured=by_measured)


def verdicts(cases: Sequence[Inference], *, by_measured: bool = False) -> str:
    """Return the verdict on each network, all chips together."""
    groups = groupby(cases, key=lambda case: case.network)
    lines = (verdict(list(group), by_measured=by_measured) for _, group in groups)
    return "\n".join(filter(None, lines))


def verdict(cases: Sequence[Inference], *, by_measured: bool = False) -> str:
    """Return which of the cases of one network is the fastest; "" for a single one.

    With `by_measured`, times measured on the device take the place of simulated ones.
    """
    shown = cases if by_measured else [replace(each, measured_ms=Figures()) for each in cases]
    ranked = sorted((case for case in shown if not case.crashed), key=_known_us)
    if len(ranked) < 2:
        return ""
    place = place_names(cases)
    lines = [*_choice(ranked, place), *_otherwise(ranked, cases)]
    lines += (
        f"{place(case)} is not ranked: its program crashed on the device, as measured_answers.csv "
        "has it."
        for case in cases
        if case.crashed
    )
    return "\n  ".join(lines)


def orders_text(orders: Sequence[RuntimeOrder]) -> str:
    """Return a line per network and chip that ran on several runtimes with drawn constants."""
    lines = []
    several = len({order.chip for order in orders}) > 1
    for (network, chip), group in groupby(orders, key=lambda o: (o.network, o.chip)):
        where = f" on {chip}" if several else ""
        lines.append(f"{network}{where}: {', '.join(map(_order_text, group))}")
    return "\n".join(lines)


def _order_text(order: RuntimeOrder) -> str:
    text = f"{order.first} before {order.second} in {order.share:.0%} of draws"
    return f"{text} (measured the other way round)" if order.contradicted else text


def _otherwise(ranked: Sequence[Inference], measured: Sequence[Inference]) -> Iterator[str]:
    """Yield a line if all times were measured, did not rank, and have another first."""
    if any(case.measured_ms.total_inference for case in ranked):
        return
    others = [case for case in measured if not case.crashed]
    if not all(case.measured_ms.total_inference for case in others):
        return
    place, first = place_names(measured), min(others, key=_known_us)
    if place(first) != place(ranked[0]):
        yield f"On the device {place(first)} was the fastest, {_times(first)}."


def _choice(ranked: Sequence[Inference], place: Callable[[Inference], str]) -> Iterator[str]:
    """Yield the fastest of several cases with its rival, then what speaks against it."""
    usable = [case for case in ranked if case.judged_db >= LEAST_DB]
    noisy = [case for case in ranked if case not in usable] if usable else []
    first, *others = usable or ranked
    tied = [case for case in others if _shown(case) == _shown(first)]
    hardware = MAIN_ENGINE[first.runtime]  # the constants that a time depends on most are its own
    elsewhere = [case for case in others if MAIN_ENGINE[case.runtime] != hardware]
    rival = next(iter(elsewhere or others), None)
    if tied:
        names = " and ".join(f"{place(case)}, {_times(case)}" for case in (first, *tied))
        after = [f"; next {place(case)}, {_times(case)}" for case in others if case not in tied]
        yield f"A tie for {first.network}: {names}{''.join(after[:1])}"
        rival = tied[0]
    else:
        chips = {case.chip for case in ranked}
        where = "" if len(chips) > 1 else f" on {first.chip}"
        ranks = [f"Fastest for {first.network}{where}: {place(first)}, {_times(first)}"]
        ranks += [f"next {place(case)}, {_times(case)}" for case in others[:1]]
        if rival and rival is not others[0]:
            ranks.append(f"on other hardware {place(rival)}, {_times(rival)}")
        yield "; ".join(ranks)
    if rival and not tied and _interval_us(first)[1] > _interval_us(rival)[0]:
        yield (
            f"The intervals of {place(first)} and {place(rival)} overlap, so {place(first)} is not "
            "surely the faster one."
        )
    if rival and (text := _energy(first, rival, place)):
        yield text
    for case in noisy:
        if _known_us(case) < _known_us(first):
            yield (
                f"{place(case)}, {_times(case)} does not count: its outputs have "
                f"{figure(case.judged_db)} dB, under the {LEAST_DB:g} dB of an answer that can be "
                "used."
            )
    if not usable:
        yield f"The outputs of none have {LEAST_DB:g} dB, which an answer needs to be of use."


def _energy(first: Inference, rival: Inference, place: Callable[[Inference], str]) -> str | None:
    """Return a sentence on the energy of two cases, if it differs by a factor."""
    less, more = sorted((first, rival), key=lambda case: case.energy.mj)
    factor = more.energy.mj / max(less.energy.mj, 1e-12)
    if factor < REPORTED_FACTOR:
        return None
    mj = [figure(case.energy.mj) for case in (more, less)]
    return (
        f"{place(more)} takes {figure(factor)} times the energy of {place(less)}: {mj[0]} and "
        f"{mj[1]} mJ."
    )


def _known_us(case: Inference) -> float:
    """Return the total inference time in us: as measured (mean of a range), else as simulated."""
    times = case.measured_ms.total_inference
    return 1e3 * sum(times) / len(times) if times else case.total_inference_us


def _interval_us(case: Inference) -> tuple[float, float]:
    """Return the ends of the total time in us: as measured, else as simulated."""
    if times := case.measured_ms.total_inference:
        return 1e3 * times[0], 1e3 * times[-1]
    return case.interval_us or (case.total_inference_us, case.total_inference_us)


def _shown(case: Inference) -> str:
    """Return the time as it is shown, without its interval."""
    return figure(_known_us(case) / 1e3)


def _times(case: Inference) -> str:
    if latencies := case.measured_ms.total_inference:
        times = "-".join(given(ms) for ms in dict.fromkeys((latencies[0], latencies[-1])))
        return f"{times} ms as measured"
    return total_text(case)


def total_text(case: Inference) -> str:
    """Return the total inference time, with its interval if it has one."""
    low, high = case.interval_us or (0.0, 0.0)
    text = f"{figure(case.total_ms)} ms"
    return text if low == high else f"{text} ({span(low / 1e3, high / 1e3)})"
