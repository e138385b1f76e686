"""What calibration costs beside the float engine that it watches.

python -m benchmarks.calibration_speed [--networks mobilenet_v2 ...] [--inputs 8] [--rounds 5]

Ours is `observe`: ranges of all activations over the inputs. Beside it the same float engine runs
the same inputs and returns the same activations, of which nobody looks at one. CPU seconds; the two
take turns within each round.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import hexsim
from hexsim.inputs.seeded import seeded_calibration
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.calibration import observe
from hexsim.quantization.model import require_float

NETWORKS = ["alexnet", "googlenet", "mobilenet_v1", "mobilenet_v2", "resnet50", "squeezenet1_1"]


def cpu_s(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def compare(name: str, inputs: int, rounds: int) -> str:
    """One row: CPU milliseconds per input of both, and the ratio's spread over the rounds."""
    network = require_float(hexsim.load(name))
    feeds = seeded_calibration(network, inputs)
    written = [n for n in network.tensors if n not in network.inputs]

    def engine_alone() -> None:
        engine = FloatEngine(network, outputs=written)
        for feed in feeds:
            engine.run(feed)

    pairs = [(cpu_s(lambda: observe(network, feeds)), cpu_s(engine_alone)) for _ in range(rounds)]
    ours, theirs = (statistics.median(column) / inputs * 1e3 for column in zip(*pairs, strict=True))
    ratios = sorted(mine / other for mine, other in pairs)
    spread = f"{ratios[0]:.2f} / {statistics.median(ratios):.2f} / {ratios[-1]:.2f}"
    return f"{name:<16} {ours:>9.1f} {theirs:>9.1f}   {spread}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--inputs", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    print("network            ours ms engine ms   ratio min / median / max")
    for name in given.networks:
        print(compare(name, given.inputs, given.rounds), flush=True)


if __name__ == "__main__":
    main()
