"""The figures of one network on one runtime, and the summary at the top of its page."""

import math
from collections import Counter
from collections.abc import Mapping

from hexsim.accuracy.scores import sqnr_label
from hexsim.reports.pages.figures.energy import energy_figure
from hexsim.reports.pages.figures.figure import Figure
from hexsim.reports.pages.figures.interval import interval_figures
from hexsim.reports.pages.figures.layer_times import layer_times
from hexsim.reports.pages.figures.memory import memory_figure
from hexsim.reports.pages.figures.roofline import roofline_figure
from hexsim.reports.pages.figures.timeline import timeline
from hexsim.reports.pages.figures.traffic import traffic_figure
from hexsim.results.benchmark import Inference
from hexsim.texts.figures import figure, size, span

Summary = tuple[tuple[str, str], ...]
_NAMED = 5
_COUNTS = ("no", "one", "two", "three", "four", "five")


def case_figures(case: Inference) -> list[Figure]:
    """Return all figures of a case; a timeline and a roofline only if it has them."""
    figures = [layer_times(case)]
    if case.timing is not None:
        figures.append(timeline(case.timing))
    if case.roofline is not None:
        figures.append(roofline_figure(case.roofline))
    traffic = traffic_figure(case)
    figures += [memory_figure(case.memory), *([traffic] if traffic else ())]
    return [*figures, energy_figure(case), *interval_figures(case)]


def most_time(case: Inference) -> str:
    """Return a sentence on the layers that take most of the time of a case."""
    times = {layer.name: layer.us for layer in case.layers}
    return most_of(times, case.total_inference_us, "of the inference")


def most_of(amounts: Mapping[str, float], total: float, whole: str, *, verb: str = "take") -> str:
    """Return `These five layers take 61 % of the inference: a, b, c, d, e.`"""
    largest = sorted(amounts, key=lambda name: -amounts[name])[:_NAMED]
    if not largest or not total:
        return ""
    share = f"{sum(amounts[name] for name in largest) / total:.0%} {whole}"
    if len(largest) == 1:
        return f"Layer {largest[0]} {verb}s {share}."
    return f"These {_COUNTS[len(largest)]} layers {verb} {share}: {', '.join(largest)}."


def summary(case: Inference) -> Summary:
    """Return the main figures of a case."""
    accuracy = case.accuracy
    engines = Counter(layer.engine for layer in case.layers)
    entries = [
        ("Total inference", total_text(case)),
        ("Forward propagate", f"{figure(case.forward_propagate_us / 1e3)} ms"),
        ("Initialisation", f"{figure(case.initialisation_total_us / 1e3)} ms"),
        ("Peak memory", size(case.memory.peak_bytes)),
        ("Energy", f"{figure(case.energy.mj)} mJ"),
        ("Layers", ", ".join(f"{count} on {engine.upper()}" for engine, count in engines.items())),
    ]
    if accuracy and accuracy.sqnr_db is not None and math.isfinite(accuracy.sqnr_db):
        db, count = figure(accuracy.sqnr_db), len(accuracy.outputs)
        text = f"{db} dB, the worst of {count}" if count > 1 else f"{db} dB"
        entries.append((sqnr_label(accuracy.sqnr_reference), text))
    if accuracy and accuracy.top1_agreement is not None:
        entries.append(("Same top-1 as float", f"{accuracy.top1_agreement} of {accuracy.inputs}"))
    if accuracy and accuracy.top1_right is not None:
        entries.append(("Right top-1", f"{accuracy.top1_right} of {accuracy.inputs}"))
    return tuple(entries)


def total_text(case: Inference) -> str:
    """Return the total inference time, with its interval if it has one."""
    total = f"{figure(case.total_inference_us / 1e3)} ms"
    if not case.uncertainty:
        return total
    low, high = case.uncertainty.total_inference_us
    return f"{total} ({span(low / 1e3, high / 1e3)})"


def source_of(case: Inference) -> str:
    """Return the platform and settings of a case as text."""
    return f"{case.chip}, {case.stack}, {case.perf_profile}, {case.buffer} buffers"
