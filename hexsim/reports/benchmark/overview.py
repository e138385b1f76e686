"""The answer on a model in one block: latency, memory, the longest layers, the next step."""

import shlex
from pathlib import Path

from hexsim.dlc.loading import is_dlc
from hexsim.reports.benchmark.summary import engines_text
from hexsim.reports.fitting import short_name
from hexsim.results.benchmark import Inference
from hexsim.runtimes import FIXED_POINT
from hexsim.texts.figures import figure, size, span

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
