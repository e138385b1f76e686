"""An inference in a line and in a block, and the fastest runtime of several.

The line has the layers by engine, the cuts, and what takes the largest part of the time. That may
be a layer, all layers that fell back to the CPU together, or an overhead of the call. Nothing else
can save more time.

The runtimes of several chips are ranked together, and named with their chips. They are ranked by
the middles of the intervals of their times. The rival is the best runtime on other hardware: the
times of runtimes on the same hardware are wrong together. All times are the simulated ones, unless
the user asks for the measured ones where there are any; a line says if those disagree.
Where answers were computed, a runtime that gives mostly noise is left out.
"""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hexsim.accuracy.output_errors import judged_db
from hexsim.accuracy.scores import LEAST_DB
from hexsim.dlc.inspection import LETTERS
from hexsim.dlc.loading import is_dlc
from hexsim.quantization.float_layers import refusal_in
from hexsim.quantization.model import Model
from hexsim.reports.inference import REPORTED_FACTOR
from hexsim.reports.text import number, short_name
from hexsim.results.benchmark import Inference, RuntimeOrder, place_names
from hexsim.results.costs import Figures
from hexsim.runtimes import FIXED_POINT, MAIN_ENGINE, LayerTarget
from hexsim.texts.figures import figure, given, size, span

if TYPE_CHECKING:
    from hexsim.results.benchmark import Inference
    from hexsim.results.costs import LayerCost


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
    cuts = "no cut" if case.subnets == 1 else f"{case.subnets} subnets"
    engines = engines_text(layers)
    return f"{case.network} on {case.runtime}: {engines}; {cuts}; {_largest_part(case)}"


def processor_lines(case: Inference) -> list[str]:
    """Return the share of time on a tensor processor, and the layers that it does not take.

    For the tensor engine of aip: which sections were chosen, where that was done here. Beside
    classes of layers that a profile has scaled: those that it has not.
    """
    lines = []
    if case.as_simulated:
        lines = [f"{case.runtime}: as simulated, without a factor: {', '.join(case.as_simulated)}"]
    if case.hta_choice is not None:
        return [f"{case.network} on aip: {case.hta_choice}", *lines]
    if MAIN_ENGINE[case.runtime] != "htp":
        return lines
    from hexsim.simulation.htp_call import CROSSINGS  # with the simulator, which `info` never uses

    on_cpu = [layer for layer in case.layers if layer.engine == "cpu"]
    crossings = [part for part in case.overheads if part.name in CROSSINGS]
    elsewhere_us = sum(layer.us for layer in on_cpu) + sum(part.us for part in crossings)
    share = 1 - elsewhere_us / (case.total_inference_us or 1.0)
    others = number(len(on_cpu), "layer") if on_cpu else "none"
    lines.append(f"{case.runtime}: npu {share:.0%}, {others} on cpu")
    reasons: dict[str, list[str]] = {}
    for layer in on_cpu:
        reasons.setdefault(case.refused.get(layer.name, ""), []).append(
            f"{short_name(layer.name)} ({layer.type})"
        )
    lines += [f"  on cpu: {', '.join(names)}: {reason}" for reason, names in reasons.items()]
    return lines


def fell_back(case: Inference) -> bool:
    """Return whether the runtime has an engine of its own but the CPU computes every layer."""
    engines = {layer.engine for layer in case.layers}
    return MAIN_ENGINE[case.runtime] != "cpu" and engines == {"cpu"}


def model_summary(model: Model) -> str:
    """Return the line of a model without a runtime: the share that each runtime supports."""
    network = model.network
    return supported_text(
        [
            (
                [each for each in LETTERS.values() if refusal_in(model, layer, each) is None],
                network.macs(layer),
            )
            for layer in network.layers
        ]
    )


def supported_text(layers: Sequence[tuple[Collection[LayerTarget], int]]) -> str:
    """Return the same of layers, each with the targets that take it and its MACs."""
    targets_by_share: dict[tuple[str, str], list[LayerTarget]] = {}
    for target in LETTERS.values():
        takes = [macs for targets, macs in layers if target in targets]
        share = _share(takes, len(layers), sum(macs for _, macs in layers))
        targets_by_share.setdefault(share, []).append(target)
    parts = (
        f"{count} on {', '.join(targets)}{macs}"
        for (count, macs), targets in targets_by_share.items()
    )
    return f"Of {number(len(layers), 'layer')}: {'; '.join(parts)}"


def _share(takes: Sequence[int], layers: int, total_macs: int) -> tuple[str, str]:
    """Return how many of the layers run, and their share of the MACs if not all do."""
    if len(takes) in (0, layers):
        return ("all run" if takes else "none runs"), ""
    share = f" ({sum(takes) / total_macs:.0%} of the MACs)" if total_macs else ""
    return f"{len(takes)} run{'s' if len(takes) == 1 else ''}", share


def engines_text(layers: Sequence[LayerCost]) -> str:
    """Return the layers on each engine, with their share of the MACs."""
    counts, macs = Counter[str](), Counter[str]()
    for layer in layers:
        counts[layer.engine] += 1
        macs[layer.engine] += layer.macs
    total = sum(macs.values())
    shares = (f" ({macs[engine] / total:.0%} of the MACs)" if total else "" for engine in counts)
    return ", ".join(
        f"{number(counts[engine], 'layer')} on {engine.upper()}{share}"
        for engine, share in zip(counts, shares, strict=True)
    )


def _largest_part(case: Inference) -> str:
    share, name = max(_candidates(case))
    return f"the largest part of the time, {share:.0%}, is spent on {name}"


def _candidates(case: Inference) -> Iterator[tuple[float, str]]:
    """Yield shares of the total time, each with the name of its cause."""
    total_us = case.total_inference_us or 1.0
    fallbacks = []
    for layer in case.layers:
        share = layer.us / total_us
        where = f"{layer.type} '{short_name(layer.name)}' on {layer.engine.upper()}"
        yield share, f"{where} (bound by {layer.bound})"
        if layer.engine == "cpu" != MAIN_ENGINE[case.runtime]:
            fallbacks.append((share, where))
    if len(fallbacks) > 1:
        longest = max(fallbacks)[1]
        yield (
            sum(share for share, _ in fallbacks),
            f"{len(fallbacks)} layers, first of all {longest}",
        )
    for part in case.overheads:
        yield part.us / total_us, f"{part.purpose} ({part.name})"


_MOST_LAYERS = 5
_SNPE_RUNTIMES = {"cpu": "", "gpu": " --use_gpu", "dsp": " --use_dsp", "aip": " --use_aip"}


def overview(case: Inference) -> str:
    """Return the block of one network on one runtime."""
    layers = case.layers
    latency = f"{figure(case.total_ms)} ms"
    if case.interval_us is not None:
        low, high = (us / 1e3 for us in case.interval_us)
        latency += f"; {span(low, high)} ms with a chance of about nine in ten"
    total_us = case.total_inference_us or 1.0
    longest = case.slowest(_MOST_LAYERS)
    parts = [f"{short_name(layer.name)} {layer.us / total_us:.0%}" for layer in longest]
    ours, theirs = _next_step(case)
    rows = {
        "latency": latency,
        "peak memory": size(case.memory.peak_bytes),
        "engines": engines_text(layers),
        "most time": ", ".join(parts),
        "not in layers": _outside_layers(case),
        "next step": ours,
        "with SNPE": theirs,
    }
    lines = [f"{name:15}{text}" for name, text in rows.items() if text]
    return "\n".join([f"{case.network} on {case.chip} {case.runtime}, {case.software}", "", *lines])


def _outside_layers(case: Inference) -> str:
    """Return the share of time outside layers, with its largest parts: `24%: calling ... 12%`."""
    times: dict[str, float] = {}
    for part in case.overheads:
        times[part.purpose] = times.get(part.purpose, 0.0) + part.us
    total_us = case.total_inference_us or 1.0
    most = sorted(times.items(), key=lambda item: -item[1])
    shares = [(name, f"{us / total_us:.0%}") for name, us in most]
    parts = ", ".join(f"{name} {share}" for name, share in shares if share != "0%")
    return f"{sum(times.values()) / total_us:.0%}{': ' if parts else ''}{parts}"


def _next_step(case: Inference) -> tuple[str, str]:
    """Return the command that brings the model nearer to the phone: hexsim's, and SNPE's."""
    name, stem = shlex.quote(case.source), shlex.quote(str(Path(case.source).with_suffix("")))
    if case.builtin:
        return f"hexsim models export {name} --output {name}.onnx", ""
    if not is_dlc(case.source):
        theirs = f"snpe-onnx-to-dlc --input_network {name} --output_path {stem}.dlc"
        return f"hexsim convert {name}", theirs if name.endswith(".onnx") else ""
    if case.given != "quantised file" and case.runtime in FIXED_POINT:
        return (
            f"hexsim quantize {name} --input-list list.txt",
            f"snpe-dlc-quantize --input_dlc {name} --input_list list.txt",
        )
    flag = _SNPE_RUNTIMES.get(case.runtime)
    theirs = "" if flag is None else f"snpe-net-run --container {name} --input_list list.txt{flag}"
    where = f"--chip {case.chip} --runtime {case.runtime}"
    return f"hexsim run {name} --input-list list.txt {where}", theirs


def recommendations(cases: Sequence[Inference], *, by_measured: bool = False) -> str:
    """Return a line per network that ran on more than one runtime.

    With `by_measured`, times measured on the device take the place of simulated ones.
    """
    return "\n".join(_lines(cases if by_measured else [*map(_simulated, cases)], cases))


def _simulated(case: Inference) -> Inference:
    """Return the case without what was measured on the device."""
    return replace(case, measured_ms=Figures())


def rank(case: Inference) -> tuple[bool, float]:
    """Return the key by which the recommended of several cases is the first."""
    return _db(case) < LEAST_DB, _expected_us(_simulated(case))


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


def _lines(cases: Sequence[Inference], measured: Sequence[Inference]) -> Iterator[str]:
    for network, group in groupby(cases, key=lambda case: case.network):
        ranked = sorted(group, key=_expected_us)
        if len(ranked) > 1:
            lines = [*_choice(network, ranked)]
            lines += _otherwise(ranked, [case for case in measured if case.network == network])
            yield "\n  ".join(lines)


def _otherwise(ranked: Sequence[Inference], measured: Sequence[Inference]) -> Iterator[str]:
    """Yield a line if all times were measured, did not rank, and have another first."""
    if any(case.measured_ms.total_inference for case in ranked) or not all(
        case.measured_ms.total_inference for case in measured
    ):
        return
    place, first = place_names(measured), min(measured, key=_known_us)
    if place(first) != place(ranked[0]):
        yield f"On the device {place(first)} was the fastest, {_times(first)}."


def _choice(network: str, ranked: Sequence[Inference]) -> Iterator[str]:
    """Yield the fastest of several cases with its rival, then what speaks against it."""
    place = place_names(ranked)
    usable = [case for case in ranked if _db(case) >= LEAST_DB]
    noisy = [case for case in ranked if case not in usable] if usable else []
    first, *others = usable or ranked
    elsewhere = [case for case in others if _hardware(case) != _hardware(first)]
    rival = next(iter(elsewhere or others), None)
    head = f"Fastest for {network}: {place(first)}, {_times(first)}"
    yield f"{head}; next {place(rival)}, {_times(rival)}" if rival else head
    doubtful = [case for case in others if _known_us(case) < _known_us(first)]
    for case in doubtful:
        times = "" if case is rival else f": {place(case)}, {_times(case)}"
        yield (
            f"{place(case)} would be faster than {place(first)} with the constants as stated, "
            f"but they are known less well{times}."
        )
    is_open = rival and rival not in doubtful and _interval_us(first)[1] > _interval_us(rival)[0]
    if is_open:
        yield f"Their intervals overlap, so {place(first)} is not surely the faster one."
    if rival and (text := _energy(first, rival, place)):
        yield text
    for case in noisy:
        if _expected_us(case) < _expected_us(first):
            yield (
                f"{place(case)}, {_times(case)} does not count: its outputs have "
                f"{figure(_db(case))} dB, under the {LEAST_DB:g} dB of an answer that can be used."
            )
    if not usable:
        yield f"The outputs of none have {LEAST_DB:g} dB, which an answer needs to be of use."


def _hardware(case: Inference) -> str:
    """Return the hardware whose constants a runtime's time depends on most."""
    return MAIN_ENGINE[case.runtime]


def _db(case: Inference) -> float:
    """Return the SQNR by which outputs are judged; infinite where none were computed."""
    accuracy = case.accuracy
    return math.inf if accuracy is None else judged_db(accuracy.sqnr_db, accuracy.outputs)


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


def _expected_us(case: Inference) -> float:
    """Return the time by which runtimes are ranked: the middle of the interval, in logarithms.

    Ends that are each a factor of two away are as likely as each other.
    """
    if case.measured_ms.total_inference:
        return _known_us(case)
    return math.sqrt(math.prod(_interval_us(case)))


def _times(case: Inference) -> str:
    if latencies := case.measured_ms.total_inference:
        times = "-".join(given(ms) for ms in dict.fromkeys((latencies[0], latencies[-1])))
        return f"{times} ms as measured"
    low, high = _interval_us(case)
    text = f"{figure(case.total_ms)} ms"
    return text if low == high else f"{text} ({span(low / 1e3, high / 1e3)})"
