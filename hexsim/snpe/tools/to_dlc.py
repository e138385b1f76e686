"""`snpe-onnx-to-dlc` and similar tools convert the file of a framework to a float .dlc file."""

from hexsim.cli.convert import convert
from hexsim.graph.input_format import INPUT_ENCODINGS, INPUT_TYPES
from hexsim.snpe import converter_options as common
from hexsim.snpe.option import (
    NO_UDO,
    UDL,
    Anyway,
    Effect,
    Ignored,
    Option,
    Ours,
    RefusedOption,
    Tool,
)
from hexsim.snpe.option_tables import option_table, read_table

_TABLE = option_table("to_dlc")
_RELAY = _TABLE["relay"]
_SHARED = (
    common.output("--dlc"),
    common.shape("--input_dim", "-d"),
    common.ends("--out_node", "--out_name"),
    Option(
        ("--input_type", "-t"), ("NAME", "TYPE"), "Type of an input; repeatable.",
        Ours("--input-type"), choices=tuple(INPUT_TYPES),
    ),
    common.colours("--input_encoding", "-e", choices=tuple(INPUT_ENCODINGS)),
    Option(
        ("--disable_batchnorm_folding",), (), "Keep batch norms as layers.",
        Ours("--keep-batch-norm"),
    ),
    common.OVERRIDES,
    *_TABLE["kept"],
    common.COPYRIGHT,
    *_TABLE["checks"],
    common.SQUASH_BOX_DECODER,
    *common.IO_OPTIONS,
    UDL,
    Option(("--udo_config_paths", "-udo"), ("FILE",), "User-defined operators.", NO_UDO),
)  # fmt: skip

_OTHER_NUMBERS = ("float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "bool")
_OF_THE_FILE = Ignored("the file says what numbers its inputs hold")
_OF_A_SCRIPT = RefusedOption(
    "a TorchScript module does not say what numbers it takes, and is given float32; save other "
    "networks with torch.export.save, and leave it out"
)


def _input_dtype(others: Effect) -> Option:
    effects = {"float32": Anyway(), **dict.fromkeys(_OTHER_NUMBERS, others)}
    return Option(("--input_dtype",), ("NAME", "DTYPE"), "Type of an input's numbers.", effects)


_WITH_CHANNELS_LAST = ("tensorflow", "tflite")


def _input_layout(framework: str) -> Option:
    assumed = common.CHANNELS_LAST if framework in _WITH_CHANNELS_LAST else common.CHANNELS_FIRST
    return common.layout_option(("--input_layout",), "Order of an input's axes.", assumed)


def _converter(framework: str, what: str, *options: Option) -> Tool:
    summary = f"Convert {what[0].lower()}{what[1:]} to a float .dlc file."
    dtype = _input_dtype(_OF_A_SCRIPT if framework == "pytorch" else _OF_THE_FILE)
    layout = _input_layout(framework)
    return Tool(f"snpe-{framework}-to-dlc", summary, convert, (*options, *_SHARED, layout, dtype))


TOOLS = {
    tool.name: tool
    for tool in (
        _converter(
            "onnx", "An ONNX file",
            common.network("The ONNX file", "--model_path", "-m", "--graph"),
            common.DRY_RUN, common.symbol("--define_symbol", "-s"),
            common.SIMPLIFICATION, common.FLOAT_BITWIDTH,
        ),
        _converter(
            "caffe", "A prototxt of Caffe",
            common.network("The prototxt", "-c"), *_TABLE["caffe"],
        ),
        _converter(
            "tensorflow", "A graph, a SavedModel or a Keras file of TensorFlow",
            common.network("The .pb, .meta, .keras or .h5 file, or the folder", "--graph"),
            *_TABLE["tensorflow"],
        ),
        _converter("tflite", "A TensorFlow Lite file", common.network("The .tflite file"), *_RELAY),
        _converter(
            "pytorch", "A program of PyTorch",
            common.network("The .pt2 or TorchScript file"), *_RELAY,
        ),
        *(
            Tool(
                name, "Only tells what to do instead.", convert, (),
                notes=(f"{why[0].upper()}{why[1:]}.",), refusal=why,
            )
            for name, why in read_table("instead").items()
        ),
    )
}  # fmt: skip
