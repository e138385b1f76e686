"""The built-in trained networks in each mode: a table of docs/results/accuracy.md.

python -m benchmarks.trained_networks [--write]
"""

from __future__ import annotations

import warnings

import hexsim
from benchmarks.pages import RESULTS, print_or_write, with_block
from hexsim import models

PAGE = RESULTS / "accuracy.md"

MODES: dict[str, dict[str, object]] = {
    "default": {},
    "enhanced": {"enhanced": "both"},
    "symmetric": {"symmetric_weights": True},
    "per channel": {"axis_weights": True},
    "cle": {"optimizations": ["cle"]},
    "cle, bc": {"optimizations": ["cle", "bc"]},
}


def table() -> str:
    """Right answers of 200 pictures on the DSP of the Snapdragon 835, and the SQNR."""
    lines = [["mode", *models.TRAINED], ["---"] * (1 + len(models.TRAINED))]
    cells = {name: _cells(name) for name in models.TRAINED}
    lines += [[mode, *(cells[name][mode] for name in models.TRAINED)] for mode in ("float", *MODES)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cells(name: str) -> dict[str, str]:
    cells: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of dead channels, which are what is shown
        for mode, how in MODES.items():
            keywords = dict(how)
            steps = keywords.pop("optimizations", ())
            options = hexsim.QuantizationOptions(**keywords)  # type: ignore[arg-type]
            model = hexsim.quantize(name, options=options, optimizations=steps)  # type: ignore[arg-type]
            (case,) = hexsim.benchmark(model, "sd835", "dsp").results
            assert case.accuracy is not None
            cells["float"] = f"{case.accuracy.float_top1_right} of {case.accuracy.inputs}"
            db = case.accuracy.sqnr_db
            cells[mode] = f"{case.accuracy.top1_right}, {db:.1f} dB"
    return cells


def page(text: str = "") -> str:
    """The page with the table."""
    return with_block(PAGE.read_text(encoding="utf-8"), "built-in networks", text or table())


if __name__ == "__main__":
    print_or_write(PAGE, page, table)
