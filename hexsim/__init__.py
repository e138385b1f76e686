"""hexsim: how Qualcomm's Hexagon DSP runs a neural network, without the phone.

    model = hexsim.load("m.onnx")
    q = hexsim.quantize(model, inputs)
    r = hexsim.simulate(q, chip="sd835", runtime="dsp", inputs=x)

The names below are the public API; they are imported when first used, so that the command line
starts fast.
"""

from __future__ import annotations

__version__ = "0.2.0.dev0"

TYPE_CHECKING = (
    False  # as that of typing, whose import takes half of the time until Ctrl-C is heard
)

if TYPE_CHECKING:
    from typing import Any

    from hexsim.api.always_on import always_on
    from hexsim.api.benchmark import benchmark
    from hexsim.api.calibrate import calibrate
    from hexsim.api.compare import compare, compare_measured
    from hexsim.api.convert import convert
    from hexsim.api.decide import decide, decide_files, sweep
    from hexsim.api.info import info
    from hexsim.api.kernel import kernel
    from hexsim.api.model import (
        Simulation,
        compile_hta,
        prepare_graph,
        quantize,
        read_overrides,
        run,
        save,
        simulate,
    )
    from hexsim.api.networks import diff, partition
    from hexsim.api.overview import overview
    from hexsim.api.pictures import pictures
    from hexsim.api.profile import profile
    from hexsim.api.throughput import simulate_llm, throughput
    from hexsim.api.validate import validate
    from hexsim.dlc.loading import import_report, load
    from hexsim.errors import HexsimError
    from hexsim.quantization.model import Model
    from hexsim.quantization.options import QuantizationOptions
    from hexsim.udl import use_layers

__all__ = [
    "HexsimError",
    "Model",
    "QuantizationOptions",
    "Simulation",
    "__version__",
    "always_on",
    "benchmark",
    "calibrate",
    "compare",
    "compare_measured",
    "compile_hta",
    "convert",
    "decide",
    "decide_files",
    "diff",
    "import_report",
    "info",
    "kernel",
    "load",
    "overview",
    "partition",
    "pictures",
    "prepare_graph",
    "profile",
    "quantize",
    "read_overrides",
    "run",
    "save",
    "simulate",
    "simulate_llm",
    "sweep",
    "throughput",
    "use_layers",
    "validate",
]


_MODULES = {
    "HexsimError": "errors",
    "Model": "quantization.model",
    "QuantizationOptions": "quantization.options",
    "compare_measured": "api.compare",
    "decide_files": "api.decide",
    "diff": "api.networks",
    "import_report": "dlc.loading",
    "load": "dlc.loading",
    "partition": "api.networks",
    "simulate_llm": "api.throughput",
    "sweep": "api.decide",
    "use_layers": "udl",
}
"""Modules of names that have no module of that name in `hexsim.api`, and are not in `api.model`."""

_ELSEWHERE = {
    "bench": "hexsim.benchmark(...)",
    "report": "hexsim.profile(...).html(path)",
    "roofline": "hexsim.profile(...).roofline",
    "tradeoff": "hexsim.decide_files(...)",
    "llm": "hexsim.simulate_llm(...)",
    "quantise": "hexsim.quantize(...)",
    "chips": "the command 'hexsim chips list'",
    "stacks": "the command 'hexsim stacks list'",
    "models": "the command 'hexsim models list'",
    "view": "the command 'hexsim view'",
    "prepare": "the command 'hexsim prepare'",
    "detections": "the command 'hexsim detections'",
}
"""Commands, and names that people guess, whose answers are elsewhere."""


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    from importlib import import_module, util

    if name not in __all__:
        raise AttributeError(f"module 'hexsim' has no attribute '{name}'{_hint(name)}")
    own = name if util.find_spec(f"hexsim.api.{name}") else "model"
    return getattr(import_module(f"hexsim.{_MODULES.get(name, f'api.{own}')}"), name)


def _hint(name: str) -> str:
    """Return what a name most likely means: one of its words is known, or it is near to another."""
    from hexsim.errors import nearest

    for word in (name, *name.split("_")):
        if word in _ELSEWHERE:
            return f"; its answer is in {_ELSEWHERE[word]}"
        if word in __all__:
            return f"; did you mean hexsim.{word}?"
    return "" if name.startswith("_") else f"; {nearest(name, __all__)}"
