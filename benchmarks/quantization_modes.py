"""What every mode does to small trained networks: the tables of docs/results/equalisation.md.

python -m benchmarks.quantization_modes            prints them, in about three minutes
python -m benchmarks.quantization_modes --write    puts them into the page
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.pages import RESULTS, with_block
from hexsim.accuracy.output_errors import Distance
from hexsim.graph.ir import Network
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.equalization import equalize, without_relu6
from hexsim.quantization.options import QuantizationOptions
from tests.digits.architecture import KINDS, SEEDS
from tests.digits.networks import load, spoilt, widest
from tests.digits.scores import MODES, Mode, float_scores, held_out, int8_scores, points

PAGE = RESULTS / "equalisation.md"
EVERY = 8
"""Of the 64 expansion channels every so manieth is spoilt in turn."""

ALL_MODES = {
    **MODES,
    "per channel, 32-bit biases": Mode(QuantizationOptions(axis_weights=True, bias_bits=32)),
    "cle, 32-bit biases": Mode(QuantizationOptions(bias_bits=32), ("cle",)),
    "cle, bc, 32-bit biases": Mode(QuantizationOptions(bias_bits=32), ("cle", "bc")),
}


def tables() -> Iterator[str]:
    """Yield the lines of all tables."""
    yield "### One channel spoilt\n"
    yield from _spoilt()
    yield "\n### What a block does to int8\n"
    yield from _blocks()
    yield "\n### Relu6 becomes Relu\n"
    yield from _relu6()


def _spoilt() -> Iterator[str]:
    yield "Percent right, the channel of the widest depthwise filter spoilt.\n"
    yield from _head("seed (channel)", "float", *MODES)
    for seed in SEEDS:
        network = load("relu", seed)
        channel = widest(network)
        broken = spoilt(network, channel)
        cells = [points(float_scores(broken)), *_points(broken, list(MODES.values()))]
        yield _row(f"{seed} ({channel})", *(f"{cell:.1f}" for cell in cells))
    yield f"\nPoints lost against float, every {EVERY}th of the 64 channels spoilt, all seeds.\n"
    yield from _head("mode", "median", "nine of ten below", "most")
    lost: dict[str, list[float]] = {name: [] for name in MODES}
    for seed in SEEDS:
        network = load("relu", seed)
        reference = points(float_scores(network))
        for channel in range(0, 64, EVERY):
            scores = _points(spoilt(network, channel), list(MODES.values()))
            for name, cell in zip(MODES, scores, strict=True):
                lost[name].append(reference - cell)
    for name, losses in lost.items():
        middle, high = np.quantile(losses, (0.5, 0.9))
        yield _row(name, f"{middle:.1f}", f"{high:.1f}", f"{max(losses):.1f}")


def _blocks() -> Iterator[str]:
    yield "Percent right, mean of five seeds (worst), and mean SQNR of the scores against float.\n"
    yield from _head("mode", *(f"{kind}" for kind in KINDS))
    networks = {kind: [load(kind, seed) for seed in SEEDS] for kind in KINDS}
    floats = {kind: [float_scores(net) for net in nets] for kind, nets in networks.items()}
    yield _row("float", *(_mean([points(answers) for answers in floats[kind]]) for kind in KINDS))
    for name, mode in ALL_MODES.items():
        cells = []
        for kind in KINDS:
            scores = [int8_scores(network, mode) for network in networks[kind]]
            ratios = [
                Distance.between(a, b).sqnr_db for a, b in zip(floats[kind], scores, strict=True)
            ]
            cells.append(
                f"{_mean([points(answers) for answers in scores])}, {np.mean(ratios):.1f} dB"
            )
        yield _row(name, *cells)


def _relu6() -> Iterator[str]:
    yield from _head(
        "seed",
        "values at 6",
        "percent right, Relu6",
        "with Relu",
        "SQNR of the scores",
        "int8, default",
        "int8, cle",
    )
    for seed in SEEDS:
        network = load("relu6", seed)
        bounded = equalize(network).without_relu6
        replaced = without_relu6(network, bounded)
        before, after = float_scores(network), float_scores(replaced)
        sqnr_db = Distance.between(before, after).sqnr_db
        yield _row(
            str(seed),
            f"{_share_at_six(network, bounded):.3%}",
            f"{points(before):.1f}",
            f"{points(after):.1f}",
            "equal" if np.array_equal(before, after) else f"{sqnr_db:.1f} dB",
            *(f"{cell:.1f}" for cell in _points(network, [MODES["default"], MODES["cle"]])),
        )


def _share_at_six(network: Network, names: Sequence[str]) -> float:
    """Share of the values of the bounded layers that the bound holds back."""
    outputs = [layer.output for layer in network.layers if layer.name in names]
    engine = FloatEngine(network, outputs)
    runs = [engine.run(feed) for feed in held_out()]
    return float(np.mean(np.concatenate([run[n].ravel() >= 6 for run in runs for n in outputs])))


def _points(network: Network, modes: Sequence[Mode]) -> list[float]:
    return [points(int8_scores(network, mode)) for mode in modes]


def _mean(cells: Sequence[float]) -> str:
    return f"{np.mean(cells):.1f} ({min(cells):.1f})"


def _head(*cells: str) -> Iterator[str]:
    yield _row(*cells)
    yield _row(*("---" for _ in cells))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def page_with(text: str) -> str:
    """Return the page with `text` as its tables."""
    return with_block(PAGE.read_text(encoding="utf-8"), "tables", text)


if __name__ == "__main__":
    block = "\n".join(tables()) + "\n"
    if "--write" in sys.argv:
        PAGE.write_text(page_with(block), encoding="utf-8")
    else:
        print(block, end="")
