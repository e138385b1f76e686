"""`qairt-converter` and `qnn-onnx-converter`: the converters of SNPE by QAIRT's options."""

from __future__ import annotations

from hexsim.cli.convert import convert
from hexsim.snpe.converter_options import (
    CHANNELS_FIRST,
    CHANNELS_LAST,
    COPYRIGHT,
    DRY_RUN,
    FLOAT_BITWIDTH,
    IO_OPTIONS,
    OVERRIDES,
    SIMPLIFICATION,
    SQUASH_BOX_DECODER,
    STORED_ORDER,
    colours,
    ends,
    layout_option,
    network,
    output,
    shape,
    simplification,
    symbol,
)
from hexsim.snpe.option import UDL, Anyway, Effect, Ignored, Option, RefusedOption, Tool

_ANY_CHIP = Ignored("the file is for every chip; the chip is named when it runs")
_TYPES = ("float32", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")
_NETWORK = network("File of ONNX or another framework")


def _types(name: str) -> Option:
    others = Ignored("the file says what numbers its inputs hold")
    effects: dict[str, Effect] = {"float32": Anyway(), **dict.fromkeys(_TYPES[1:], others)}
    return Option((name,), ("NAME", "DTYPE"), "Type of an input's numbers.", effects)


_SHARED = (
    OVERRIDES,
    DRY_RUN,
    FLOAT_BITWIDTH,
    COPYRIGHT,
    Option(("--op_package_lib", "--package_name"), ("TEXT",), "User-defined operators.",
        RefusedOption("define the operators in a Python file (--udl)"),
    ),
    UDL,
)  # fmt: skip

_QAIRT = (
    _NETWORK,
    output(),
    shape("--source_model_input_shape", "--desired_input_shape", "--input_dim", "-d", "-s"),
    ends("--out_tensor_node", "--out_tensor_name"),
    _types("--source_model_input_datatype"),
    layout_option(
        ("--source_model_input_layout", "--source_model_output_layout"),
        "Order of a tensor's axes in a file of ONNX or PyTorch.", CHANNELS_FIRST,
    ),
    layout_option(
        ("--desired_input_layout", "--desired_output_layout"),
        "Order of a tensor's axes in raw files.", CHANNELS_LAST,
    ),
    colours("--desired_input_color_encoding"),
    Option(
        ("--preserve_io_datatype",), ("NAMES",), "Inputs and outputs of the file's types.",
        Ignored("files of inputs and outputs hold floats anyway"),
    ),
    Option(
        ("--config", "--io_config"), ("FILE",), "Layout, types and encodings of tensors.",
        RefusedOption(STORED_ORDER),
    ),
    symbol("--onnx_define_symbol"),
    simplification("--onnx_skip_simplification", "--onnx_no_simplification"),
    Option(
        ("--onnx_override_batch", "--onnx_batch"), ("N",), "Another batch.",
        RefusedOption("give the whole shape with --source_model_input_shape"),
    ),
    Option(
        ("--export_format",), ("FORMAT",), "What becomes of encodings in the source.",
        {
            "DLC_DEFAULT": Anyway(),
            "DLC_STRIP_QUANT": RefusedOption(
                "encodings of the source stay in the file; quantise with --ignore_encodings instead"
            ),
        },
    ),
    Option(("--remove_unused_inputs",), (), "Leave inputs out that nothing reads.",
        RefusedOption("inputs are those of the source; leave it out"),
    ),
    Option(("--target_backend",), ("NAME",), "Backend that is meant.", _ANY_CHIP),
    Option(("--target_soc_model",), ("NAME",), "Chip that is meant.", _ANY_CHIP),
    *_SHARED,
)  # fmt: skip

_QNN = (
    _NETWORK,
    output(),
    shape("--input_dim", "-d"),
    ends("--out_node", "--out_name"),
    _types("--input_dtype"),
    layout_option(("--input_layout",), "Order of an input's axes in the file.", CHANNELS_FIRST),
    symbol("--define_symbol", "-s"),
    SIMPLIFICATION,
    Option(
        ("--input_list",), ("FILE",), "Quantise on these inputs.",
        RefusedOption("the converter makes a float file; quantise it with qairt-quantizer"),
    ),
    SQUASH_BOX_DECODER,
    *IO_OPTIONS,
    *_SHARED,
)  # fmt: skip

TOOLS = {
    "qairt-converter": Tool(
        "qairt-converter",
        "Convert a file of ONNX, TensorFlow, TensorFlow Lite or PyTorch to a float .dlc file.",
        convert, _QAIRT, release="2.39",
    ),
    "qnn-onnx-converter": Tool(
        "qnn-onnx-converter", "Convert an ONNX file to a float .dlc file.", convert, _QNN,
        release="2.39",
        notes=(
            "The real tool writes C++ that calls QNN. Here the file is a .dlc file, whatever its "
            "name, and qnn-net-run takes it as --dlc_path.",
        ),
    ),
}  # fmt: skip
