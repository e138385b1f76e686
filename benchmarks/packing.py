"""What packing weights costs: bytes beside those of the codes, and CPU seconds, by algorithm.

python -m benchmarks.packing [--networks alexnet …] [--weights tensor channel …] [--models FOLDER]

Convolutions only, depthwise ones and fully connected layers left out, which have one way to be
packed. Each algorithm packs those that it admits; `automatic` packs each as it is chosen, which
includes counting the instructions of others. Bytes are those of everything a prepared convolution
holds (constants of the requantise and offsets too) over those of the codes of its weights. Seconds
are the least of three repeats, kernels loaded.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

from benchmarks.int8_against_onnxruntime import (
    INPUTS,
    NETWORKS,
    WEIGHTS,
    on_dsp,
    ours,
    shapes_of,
)
from benchmarks.memory import held
from hexsim.inputs.seeded import seeded_inputs
from hexsim.int8.autotuner import ALGORITHMS, prepare_convolution
from hexsim.lowering import lower
from hexsim.lowering.products import LoweredConvolution

_REPEATS = 3


def convolutions(network: str, weights: str, folder: Path) -> list[LoweredConvolution]:
    """Those of the network that are neither depthwise nor wide."""
    feeds = list(seeded_inputs(shapes_of(network, folder), INPUTS))
    deployment = on_dsp(ours(network, weights, folder, feeds), weights)
    return [
        call
        for subnet in deployment.plan.subnets
        if subnet.engine == "hvx"
        for call in lower(subnet, deployment.model, signed_kernels=deployment.signed_kernels)
        if isinstance(call, LoweredConvolution)
        and not call.groups == call.inputs[0].shape[-1] == call.output.shape[-1]
    ]


def packed(calls: Sequence[LoweredConvolution], kernels: str) -> str:
    """The cells of one algorithm: how many layers, the overhead, seconds."""
    seconds = []
    with patch.dict(os.environ, {"HEXSIM_KERNELS": kernels}):
        for _ in range(_REPEATS):
            start = time.process_time()
            prepared = [prepare_convolution(call) for call in calls]
            seconds.append(time.process_time() - start)
    codes = sum(call.weights.codes.nbytes for call in calls)
    overhead = held(prepared, set()) / codes if codes else 0.0
    return f"{len(calls):6} {overhead:9.2f} {min(seconds):9.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--weights", nargs="+", choices=WEIGHTS, default=list(WEIGHTS))
    parser.add_argument("--models", type=Path)
    given = parser.parse_args()
    print(f"{'network':<16} {'weights':<11} {'algorithm':<10} layers  overhead     CPU s")
    with contextlib.ExitStack() as stack:
        folder = given.models or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for network in given.networks:
            for weights in given.weights:
                calls = convolutions(network, weights, folder)
                rows = {
                    algorithm.name: [c for c in calls if algorithm.admits(c)]
                    for algorithm in ALGORITHMS
                }
                for name, admitted in {**rows, "automatic": calls}.items():
                    kernels = "" if name == "automatic" else name
                    if admitted:
                        cells = packed(admitted, kernels)
                        print(f"{network:<16} {weights:<11} {name:<10} {cells}", flush=True)


if __name__ == "__main__":
    main()
