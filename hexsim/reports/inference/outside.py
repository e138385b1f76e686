"""What an inference does outside its layers, in words: the parts of the call by their purpose."""

from collections import Counter
from collections.abc import Mapping

from hexsim.timing.results import Overhead, Result, Scope

_BY_NAME: Mapping[str, str] = {
    "input_conversion": "converting inputs to codes",
    "output_conversion": "converting outputs to floats",
    "input_copy": "copying inputs and outputs",
    "output_copy": "copying inputs and outputs",
    "gpu_launches": "launching kernels on the GPU",
    "from_cpu": "going to the CPU and back",
    "to_cpu": "going to the CPU and back",
}
_BY_SCOPE: Mapping[Scope, str] = {
    "runtime": "the runtime on the CPU",
    "rpc": "calling the DSP and returning",
    "executor": "the executor on the DSP",
    "graph": "starting the graph and changing layouts",
}


def purpose(part: Overhead) -> str:
    """Return what an overhead is for."""
    return _BY_NAME.get(part.name) or _BY_SCOPE[part.scope]


def outside_layers(timing: Result) -> str:
    """Return the share of time outside layers, with its largest parts: `24%: calling ... 12%`."""
    total_ps = max(1, timing.total_ps)
    times = Counter[str]()
    for part in timing.overheads:
        times[purpose(part)] += part.duration_ps
    shares = [(name, f"{duration_ps / total_ps:.0%}") for name, duration_ps in times.most_common()]
    parts = ", ".join(f"{name} {share}" for name, share in shares if share != "0%")
    return f"{times.total() / total_ps:.0%}{': ' if parts else ''}{parts}"
