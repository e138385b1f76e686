"""One damaged ONNX file through the library: what came out, and whether anything broke."""

from __future__ import annotations

import contextlib
import random
import zlib
from pathlib import Path

import numpy as np

import hexsim
from benchmarks.conformity_commands import COMMANDS, run, write_inputs
from hexsim.dlc.loading import load_container
from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.inputs.seeded import seeded_inputs
from hexsim.reports.info import imports_table, info_csv, info_table
from hexsim.studies.model_info import info_of
from tests.fuzz.onnx_mutations import mutated
from tests.fuzz.onnx_seeds import seeds
from tests.fuzz.watch import another_call


def file_of(number: int) -> bytes:
    """The file of a case."""
    rng = random.Random(number)
    return mutated(rng, rng.choice(seeds()))


def judge(data: bytes, folder: Path) -> str:
    """The sentence by which a file was refused, or nothing: then it gave an answer.

    Anything else that it raises is a fault, and so is a command that ends with exit code 70.
    """
    with contextlib.chdir(folder):
        path = Path("m.onnx")
        path.write_bytes(data)
        try:
            read = load_container(path)
            answer = info_of(str(path), read)
            info_table(answer)
            info_csv(answer)
            imports_table(read.imports)
            hexsim.simulate(read.model, chip="sd835")
            hexsim.simulate(
                read.model, runtime="cpu", inputs=_inputs(read.model.network), chip="sd835"
            )
            another_call()
            feed = _inputs(read.model.network)
            hexsim.simulate(hexsim.quantize(read.model, [feed]), inputs=feed, chip="sd835")
            number = zlib.crc32(data)
            if number % 4 == 0:  # the way of commands takes longer
                another_call()
                write_inputs(path)
                effect, said = run(list(COMMANDS.values())[number // 4 % len(COMMANDS)])
                if effect == "failed":
                    raise RuntimeError(said)
                return said
        except HexsimError as error:
            return str(error)
    return ""


def _inputs(network: Network) -> dict[str, np.ndarray]:
    shapes = {name: network.tensors[name].source_shape for name in network.inputs}
    return dict(seeded_inputs(shapes, 1)[0])


def judged(number: int, folder: Path) -> str:
    """The sentence by which the file of a case was refused, or nothing."""
    return judge(file_of(number), folder)
