"""The tools that a command of hexsim does as it is: it converts, quantises or shows a file."""

from hexsim.cli._say import log, say
from hexsim.cli.convert import converter
from hexsim.cli.diff import diff
from hexsim.cli.info import info
from hexsim.cli.quantize import quantize
from hexsim.cli.view import view
from hexsim.results.conversion import Conversion
from hexsim.snpe.option import Tool, read_table, tools

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
