"""The figures of one network on one runtime, and what stands on top of its page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.reports.benchmark_json import case_facts
from hexsim.reports.pages.figures.energy import energy_figure
from hexsim.reports.pages.figures.figure import Figure
from hexsim.reports.pages.figures.interval import interval_figure
from hexsim.reports.pages.figures.layer_times import layer_times
from hexsim.reports.pages.figures.memory import memory_figure
from hexsim.reports.pages.figures.roofline import roofline_figure
from hexsim.reports.pages.figures.timeline import timeline
from hexsim.reports.pages.figures.traffic import traffic_figure
from hexsim.reports.roofline_facts import roofline_facts
from hexsim.reports.text import quantity
from hexsim.studies.benchmark import Case
from hexsim.studies.roofline import roofline

Summary = tuple[tuple[str, str], ...]


def case_figures(case: Case, platform: Platform) -> list[Figure]:
    """Return all figures of a case; a roofline only where a layer has a place in it."""
    facts = case_facts(case)
    figures = [layer_times(facts), timeline(case.timing)]
    with suppress(HexsimError):
        figures.append(roofline_figure(roofline_facts(roofline(case, platform))))
    figures += [memory_figure(facts["memory"]), *_traffic(facts), energy_figure(facts)]
    if facts["uncertainty"]:
        figures.append(interval_figure(facts))
    return figures


def _traffic(facts: Mapping[str, Any]) -> list[Figure]:
    found = traffic_figure(facts)
    return [] if found is None else [found]


def summary(facts: Mapping[str, Any]) -> Summary:
    """Return the figures of a case in short, from what JSON has of it."""
    found, accuracy = facts["uncertainty"], facts["accuracy"]
    total = f"{facts['total_inference_us'] / 1e3:.2f} ms"
    if found:
        low, high = found["total_inference_us"]
        total += f" ({low / 1e3:.2f} .. {high / 1e3:.2f})"
    engines = Counter(layer["engine"] for layer in facts["layers"])
    told = [
        ("Total inference", total),
        ("Forward propagate", f"{facts['forward_propagate_us'] / 1e3:.2f} ms"),
        ("Initialisation", f"{facts['initialisation_total_us'] / 1e3:.1f} ms"),
        ("Peak memory", quantity(facts["memory"]["peak_bytes"], "B")),
        ("Energy", f"{facts['energy']['mj']:.3g} mJ"),
        ("Layers", ", ".join(f"{count} on {engine.upper()}" for engine, count in engines.items())),
    ]
    if accuracy and accuracy["sqnr_db"] is not None:
        told.append(("SQNR of the outputs", f"{accuracy['sqnr_db']:.1f} dB"))
    if accuracy and accuracy["top1_agreement"] is not None:
        told.append(
            ("Same top-1 as float", f"{accuracy['top1_agreement']} of {accuracy['inputs']}")
        )
    return tuple(told)


def source_of(case: Case) -> str:
    """Return on what a case ran, in words."""
    return f"{case.chip}, {case.stack}, {case.perf_profile}, {case.buffer} buffers"
