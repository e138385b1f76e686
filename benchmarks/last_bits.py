"""How far the benchmark's answers move with the last bit of a float (docs/results/benchmark.md).

python -m benchmarks.last_bits [--draws 11] [--write]

CPUs with other vector instructions add floats up in another order. So sums differ in their last
bits: those of the float network, and through calibration the ranges of codes. Here every weight
goes to its next float instead, up or down by chance, which any CPU can do. Each draw is quantised,
and compared with itself in float; the first is the network as it is. What differs between draws is
no property of the network.

Left out: inputs, which stay as they are.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.pages import RESULTS, with_block
from hexsim.accuracy.agreement import Agreements
from hexsim.cli.bench import DEFAULT_MODELS
from hexsim.deployment.platform import Platform
from hexsim.deployment.source_model import Preparation, SourceModel
from hexsim.dlc.loading import load_container
from hexsim.files.atomic_write import write_text
from hexsim.graph.ir import Constant, FloatArray, Network
from hexsim.inputs.seeded import EVALUATION_INPUTS, EVALUATION_SEED, seeded_calibration
from hexsim.results.accuracy import Accuracy, as_db
from hexsim.runtimes import Runtime

RUNTIMES: tuple[Runtime, ...] = ("gpu", "gpu_fp16", "dsp")
PAGE = RESULTS / "benchmark.md"


def next_floats(values: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the float above or below each of `values`, by chance."""
    ends = np.where(rng.random(values.shape) < 0.5, -np.inf, np.inf).astype(np.float32)
    return np.nextafter(values, ends)


def shaken(network: Network, seed: int) -> Network:
    """Return the network with the last bits of its weights as `seed` has them; 0 leaves them."""
    rng = np.random.default_rng(seed)

    def moved(constant: Constant) -> Constant:
        if constant.dtype != "float32" or not seed:
            return constant
        values = next_floats(constant.value(), rng)
        return constant.derive(constant.shape, lambda _: values)

    return replace(network, constants={n: moved(c) for n, c in network.constants.items()})


def agreements(name: str, draws: int) -> Iterator[list[Accuracy]]:
    """Yield how near the runtimes come to float, for each draw of a network."""
    platform = Platform.load("sd835")
    for seed in range(draws):
        read = load_container(name)
        network = shaken(read.model.network, seed)
        given = SourceModel(
            name,
            replace(read, model=replace(read.model, network=network)),
            platform,
            Preparation(),
        )
        feeds = seeded_calibration(network, EVALUATION_INPUTS, EVALUATION_SEED)
        to_float = Agreements(network, lambda feeds=feeds: feeds)
        yield [to_float.of(given.deployment(runtime)) for runtime in RUNTIMES]


def row(name: str, agreements: Sequence[Sequence[Accuracy]]) -> str:
    """Return a row of the table: the lowest and highest figure of each runtime."""
    cells = [name]
    for draws in zip(*agreements, strict=True):
        low, high = (f"{end(as_db(each.sqnr_db) for each in draws):.1f}" for end in (min, max))
        cells.append(f"{low} to {high}")
    dsp = [each[-1] for each in agreements]
    counts = sorted({each.top1_agreement for each in dsp})
    cells.append(" or ".join(f"{count}/{dsp[0].inputs}" for count in counts))
    low, high = (f"{end(each.top1_margin_ratio for each in dsp):.0%}" for end in (min, max))
    cells.append(f"{low} to {high}")
    return f"| {' | '.join(cells)} |"


def table(draws: int) -> str:
    """Return the table of all networks of the benchmark."""
    columns = [*(f"{name}, dB" for name in RUNTIMES), "dsp, same top-1", "dsp, margin kept"]
    lines = [f"| {draws} draws | {' | '.join(columns)} |", "| --- " * (len(columns) + 1) + "|"]
    lines += [row(name, list(agreements(name, draws))) for name in DEFAULT_MODELS]
    return "\n".join(lines)


def main() -> None:
    """Print the table, or write it into its page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=11)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    lines = table(asked.draws)
    if asked.write:
        write_text(PAGE, with_block(PAGE.read_text(encoding="utf-8"), "last bits", lines))
    else:
        print(lines)


if __name__ == "__main__":
    main()
