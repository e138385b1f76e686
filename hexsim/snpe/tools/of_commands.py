"""The tools that do what a command of hexsim does: convert, quantise or show a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hexsim.cli._say import log, say
from hexsim.cli.convert import converter
from hexsim.cli.diff import diff
from hexsim.cli.info import info
from hexsim.cli.quantize import print_log, quantizer
from hexsim.cli.view import view
from hexsim.snpe.option import Tool, read_table, tools

if TYPE_CHECKING:
    from pathlib import Path

    from hexsim.results.conversion import Conversion
    from hexsim.studies.quantization import Quantized

_FRAMEWORKS = ("onnx", "caffe", "tensorflow", "tflite", "pytorch")
_CONVERTERS = (*(f"snpe-{name}-to-dlc" for name in _FRAMEWORKS), "qairt-converter")


@converter
def convert(done: Conversion, _: float) -> None:
    """Print the end of a converter's log, or what a dry run finds."""
    if done.file is None:
        say(f"{done}")
        return
    log("INFO", f"INFO_DLC_SAVE_LOCATION: Saving model at {done.file}")
    log("INFO", "INFO_CONVERSION_SUCCESS: Conversion completed successfully")


def _log_of_quantizer(done: Quantized, file: Path, _: float) -> None:
    """Print the log of a quantiser, with each encoding."""
    from hexsim.reports.quantizer_log import hta_log, quantized_log, quantizer_log

    print_log(quantized_log(done), quantizer_log(done.model, file), hta_log(done))


quantize = quantizer(_log_of_quantizer, ["input_list"], snpe=True)

TOOLS = {
    **tools(dict.fromkeys((*_CONVERTERS, "qnn-onnx-converter"), convert), "{level} - {text}"),
    **tools(dict.fromkeys(("snpe-dlc-quantize", "snpe-dlc-quant", "qairt-quantizer"), quantize)),
    **tools({"snpe-dlc-info": info, "qairt-dlc-info": info}),
    **tools({"snpe-dlc-viewer": view, "snpe-dlc-diff": diff}),
    **{
        name: Tool(
            name,
            "Only tells what to do instead.",
            convert,
            (),
            notes=(f"{why[0].upper()}{why[1:]}.",),
            refusal=why,
        )
        for name, why in read_table("instead").items()
    },
}
