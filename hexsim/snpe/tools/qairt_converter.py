"""`qairt-converter` and `qnn-onnx-converter`: the converters of SNPE by QAIRT's options."""

from hexsim.cli.convert import convert
from hexsim.snpe import converter_options as common
from hexsim.snpe.option import UDL, Anyway, Effect, Ignored, Option, RefusedOption
from hexsim.snpe.option_tables import tools

_TYPES = ("float32", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")
_NETWORK = common.network("File of ONNX or another framework")


def _types(name: str) -> Option:
    others = Ignored("the file says what numbers its inputs hold")
    effects: dict[str, Effect] = {"float32": Anyway(), **dict.fromkeys(_TYPES[1:], others)}
    return Option((name,), ("NAME", "DTYPE"), "Type of an input's numbers.", effects)


_SHARED = (
    common.OVERRIDES,
    common.DRY_RUN,
    common.FLOAT_BITWIDTH,
    common.COPYRIGHT,
    Option(("--op_package_lib", "--package_name"), ("TEXT",), "User-defined operators.",
        RefusedOption("define the operators in a Python file (--udl)"),
    ),
    UDL,
)  # fmt: skip

_QAIRT = (
    _NETWORK,
    common.output(),
    common.shape("--source_model_input_shape", "--desired_input_shape", "--input_dim", "-d", "-s"),
    common.ends("--out_tensor_node", "--out_tensor_name"),
    _types("--source_model_input_datatype"),
    common.layout_option(
        ("--source_model_input_layout", "--source_model_output_layout"),
        "Order of a tensor's axes in a file of ONNX or PyTorch.", common.CHANNELS_FIRST,
    ),
    common.layout_option(
        ("--desired_input_layout", "--desired_output_layout"),
        "Order of a tensor's axes in raw files.", common.CHANNELS_LAST,
    ),
    common.colours("--desired_input_color_encoding"),
    *common.TABLE["types"],
    common.symbol("--onnx_define_symbol"),
    common.simplification("--onnx_skip_simplification", "--onnx_no_simplification"),
    *common.TABLE["source"],
    *common.TABLE["targets"],
    *_SHARED,
)  # fmt: skip

_QNN = (
    _NETWORK,
    common.output(),
    common.shape("--input_dim", "-d"),
    common.ends("--out_node", "--out_name"),
    _types("--input_dtype"),
    common.layout_option(
        ("--input_layout",), "Order of an input's axes in the file.", common.CHANNELS_FIRST,
    ),
    common.symbol("--define_symbol", "-s"),
    common.SIMPLIFICATION,
    Option(
        ("--input_list",), ("FILE",), "Quantise on these inputs.",
        RefusedOption("the converter makes a float file; quantise it with qairt-quantizer"),
    ),
    common.SQUASH_BOX_DECODER,
    *common.IO_OPTIONS,
    *_SHARED,
)  # fmt: skip

TOOLS = tools(
    {
        "qairt-converter": (convert, _QAIRT),
        "qnn-onnx-converter": (convert, _QNN),
    }
)
