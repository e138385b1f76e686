"""The tables of docs/concepts/peak-memory.md: what built-in networks need of memory.

python -m benchmarks.footprints --write    puts them into the page
"""

from __future__ import annotations

from benchmarks.pages import CONCEPTS, fenced, print_or_write, with_block
from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.reports.inference import memory_line
from hexsim.results.costs import Footprint
from hexsim.runtimes import Runtime

PAGE = CONCEPTS / "peak-memory.md"
NETWORKS = ("alexnet", "googlenet", "mobilenet_v1", "mobilenet_v2", "squeezenet1_1")
RUNTIMES: tuple[Runtime, ...] = ("cpu", "fxp_cpu", "gpu", "dsp")
_MIB = 2**20


def needed(network: str, runtime: Runtime) -> Footprint:
    """Memory of a built-in network on sd835, quantised where the runtime asks for it."""
    return Deployment(load(network), Platform.load("sd835"), runtime).memory()


def example() -> str:
    """Return the lines of `hexsim profile mobilenet_v1 --quantize` on memory."""
    return fenced(memory_line(needed("mobilenet_v1", "dsp")))


def parts() -> str:
    """Return a row per network and runtime, in MiB."""
    rows = [
        "| network | runtime | peak | weights | packed | activations | of them live | at layer |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for network in NETWORKS:
        for runtime in RUNTIMES:
            footprint = needed(network, runtime)
            sizes = (
                footprint.peak_bytes,
                footprint.weight_bytes,
                footprint.packed_bytes,
                footprint.activation_bytes,
                footprint.live_bytes,
            )
            cells = " | ".join(f"{size / _MIB:.2f}" for size in sizes)
            layer = footprint.largest_layer or ""
            rows.append(f"| `{network}` | {runtime} | {cells} | `{layer}` |")
    return "\n".join(rows)


def page() -> str:
    """Return the page with the tables of today."""
    text = with_block(PAGE.read_text(encoding="utf-8"), "example", example())
    return with_block(text, "parts", parts())


if __name__ == "__main__":
    print_or_write(PAGE, page)
