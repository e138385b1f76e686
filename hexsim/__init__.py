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
        Model,
        QuantizationOptions,
        Simulation,
        compile_hta,
        import_report,
        load,
        prepare_graph,
        quantize,
        read_overrides,
        run,
        save,
        simulate,
        use_layers,
    )
    from hexsim.api.networks import diff, partition
    from hexsim.api.overview import overview
    from hexsim.api.pictures import pictures
    from hexsim.api.profile import profile
    from hexsim.api.throughput import simulate_llm, throughput
    from hexsim.api.validate import validate
    from hexsim.errors import HexsimError

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
    name: module
    for module, names in {
        "always_on": ("always_on",),
        "benchmark": ("benchmark",),
        "calibrate": ("calibrate",),
        "compare": ("compare", "compare_measured"),
        "convert": ("convert",),
        "kernel": ("kernel",),
        "decide": ("decide", "decide_files", "sweep"),
        "info": ("info",),
        "networks": ("diff", "partition"),
        "overview": ("overview",),
        "pictures": ("pictures",),
        "profile": ("profile",),
        "throughput": ("simulate_llm", "throughput"),
        "validate": ("validate",),
    }.items()
    for name in names
}
"""The modules of `hexsim.api` that have a function; the others are in `model`."""


_MOVED = {
    "bench": "benchmark(...)",
    "report": "profile(...).html(path)",
    "roofline": "profile(...).roofline",
    "tradeoff": "decide_files(...)",
}
"""Commands, of earlier versions too, whose answers a function of another name has."""


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in __all__:
        moved = f"; its answer is in hexsim.{_MOVED[name]}" if name in _MOVED else ""
        raise AttributeError(f"module 'hexsim' has no attribute '{name}'{moved}")
    from importlib import import_module

    if name == "HexsimError":
        return getattr(import_module("hexsim.errors"), name)
    return getattr(import_module(f"hexsim.api.{_MODULES.get(name, 'model')}"), name)
