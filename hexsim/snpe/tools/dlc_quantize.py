"""`snpe-dlc-quantize`, and `snpe-dlc-quant` of 2.x, quantise a float .dlc file."""

from dataclasses import replace

from hexsim.cli.quantize import quantize
from hexsim.snpe.option import (
    CHIP,
    INPUTS,
    NO_UDO,
    STACK,
    UDL,
    UDO_PACKAGE,
    Ignored,
    Option,
    Ours,
    RefusedOption,
    Tool,
)
from hexsim.snpe.quantizer_options import CALIBRATION_OPTIONS, LEGACY_OPTIONS, not_adjusted

_NO_HTP = Ignored("graphs are compiled for a tensor processor when they are simulated on htp")
_LOG = Ignored("the log goes to stderr, as it is")

_FILES = (
    Option(
        ("--input_dlc",), ("FILE",), "The float .dlc file.", Ours(), is_required=True,
    ),
    INPUTS,
    Option(
        ("--output_dlc",), ("FILE",), "The file to write; default: INPUT_quantized.dlc.",
        Ours("--output"),
    ),
)  # fmt: skip

_BITS = (
    Option(
        ("--act_bitwidth",), ("BITS",), "Bits of activations: 8 (default) or 16.",
        Ours("--act-bitwidth"), choices=("8", "16"),
    ),
    Option(
        ("--weights_bitwidth",), ("BITS",), "Bits of weights: 4, 8 (default) or 16.",
        Ours("--weights-bitwidth"), choices=("4", "8", "16"),
    ),
    Option(
        ("--bias_bitwidth",), ("BITS",), "Bits of biases: 8 (default) or 32.",
        Ours("--bias-bitwidth"), choices=("8", "32"),
    ),
    Option(
        ("--bitwidth",), ("BITS",), "All at once; not with the three above.",
        Ours("--bitwidth"), choices=("8", "16"),
    ),
    Option(
        ("--float_bitwidth",), ("BITS",), "Bits of tensors that overrides keep float: 16 or 32.",
        Ours("--float-bitwidth"), choices=("16", "32"),
    ),
    Option(
        ("--float_bias_bitwidth",), ("BITS",), "Bits of the biases of float layers: 16 or 32.",
        Ours("--float-bias-bitwidth"), choices=("16", "32"),
    ),
    Option(
        ("--pack_4_bit_weights",), (), "Store two 4-bit weights in a byte.",
        Ours("--pack-4-bit-weights"),
    ),
)  # fmt: skip

_RANGES = (
    Option(
        ("--use_enhanced_quantizer",), ("WHERE",),
        "Search for ranges with less error; alone for weights and activations.",
        Ours("--use-enhanced-quantizer"), choices=("weights", "activations", "both"), alone="both",
    ),
    Option(
        ("--use_adjusted_weights_quantizer",), (), "Widen the range of 8-bit weights.",
        Ours("--use-adjusted-weights-quantizer"), gives_way_to=not_adjusted(),
    ),
    Option(
        ("--use_symmetric_quantize_weights",), (), "Signed weights around zero.",
        Ours("--use-symmetric-quantize-weights"),
    ),
    Option(
        ("--axis_quant", "--use_per_channel_quantization"), (),
        "Symmetric weights, a step per output channel.", Ours("--axis-quant"),
    ),
    Option(
        ("--optimizations", "--algorithms", "--apply_algorithms"), ("WHICH",),
        "cle: equalise weights across layers; bc: correct biases; repeatable.",
        Ours("--optimizations"),
    ),
    Option(
        ("--override_params",), (),
        "Take the encodings that the file holds: those of --quantization_overrides, and those of "
        "FakeQuant or Q/DQ nodes. Without it all ranges are those of the inputs. A file without "
        "encodings is quantised with a warning.",
        Ours("--override-params", "--overrides-optional"), otherwise=("--no-override-params",),
    ),
    Option(
        ("--no_weight_quantization",), (), "Store weights as floats beside their encodings.",
        Ours("--no-weight-quantization"),
    ),
    Option(
        ("--float_fallback",), (), "Leave tensors without encoding float.",
        RefusedOption("tensors without encoding are calibrated on --input_list; leave it out"),
    ),
    *LEGACY_OPTIONS,
    *CALIBRATION_OPTIONS,
    Option(
        ("--use_encoding_optimizations",), (), "Deprecated.",
        Ignored("releases since 2.0 do nothing with it either"),
    ),
)  # fmt: skip

_OFFLINE = (
    Option(
        ("--enable_hta",), (), "Compile sections for the tensor engine of AIP.",
        Ours("--enable-hta"),
    ),
    Option(
        ("--hta_partitions", "--enable_partitions"), ("IDS",),
        "Layer ids of the sections: 0-11,15-20, or sm8150:0-20 for one chip; repeatable.",
        Ours("--hta-partitions"),
    ),
    Option(("--enable_htp",), (), "Prepare the graph for an HTP.", _NO_HTP),
    Option(("--htp_socs",), ("CHIPS",), "Chips whose HTP is meant.", _NO_HTP),
    Option(("--overwrite_cache_records",), (), "Prepare the graph again.", _NO_HTP),
    Option(("--use_float_io",), (), "Float buffers of an HTP's graph.", _NO_HTP),
    Option(("--buffer_data_type",), ("TYPES",), "Buffers of an HTP's graph.", _NO_HTP),
    UDO_PACKAGE,
    UDL,
    replace(
        CHIP, help="The chip for --enable_hta, and whose stack gives the minimum range; "
        "default: sd855.",
    ),
    replace(
        STACK, help="Its software; default: the chip's own. It gives the minimum range of an "
        "encoding: 0.01 in releases 1.x, 0.0001 in those of 2.x that are simulated.",
    ),
)  # fmt: skip

_LOGGING = (
    *(
        Option((name,), (), "How much is logged.", _LOG)
        for name in ("--verbose", "--quiet", "--silent", "--debug1", "--debug2", "--debug3")
    ),
    Option(("--debug",), ("N",), "How much is logged.", _LOG, choices=tuple("0123"), alone="1"),
    Option(("--log-mask",), ("MASK",), "Which parts are logged.", _LOG),
    Option(("--log-file",), ("FILE",), "Where the log goes.", _LOG),
    Option(("--log-dir",), ("FOLDER",), "Where the log goes.", _LOG),
    Option(("--log-file-include-hostname",), (), "Name of the log.", _LOG),
)

OPTIONS = (*_FILES, *_BITS, *_RANGES, *_OFFLINE, *_LOGGING)

_QAIRT_FILES = (
    Option(
        ("--input_dlc", "-i"), ("FILE",), "The float .dlc file.", Ours(), is_required=True,
    ),
    Option(
        ("--input_list", "-l"), ("FILE",), "Text file that names raw inputs, a set per line.",
        Ours("--input-list"), is_required=True,
    ),
    Option(
        ("--output_dlc", "-o"), ("FILE",), "The file to write; default: INPUT_quantized.dlc.",
        Ours("--output"),
    ),
)  # fmt: skip
_ANY_CHIP = Ignored("the file is for every chip; the chip is named when it runs")
_QAIRT = (
    *_QAIRT_FILES,
    *_BITS,
    *_RANGES,
    Option(("--target_backend",), ("NAME",), "Backend that is meant.", _ANY_CHIP),
    Option(("--target_soc_model",), ("NAME",), "Chip that is meant.", _ANY_CHIP),
    Option(
        ("--preserve_io_datatype",), ("NAMES",), "Inputs and outputs that stay float.",
        Ignored("files of inputs and outputs hold floats anyway"),
    ),
    Option(("--op_package_lib",), ("TEXT",), "User-defined operators.", NO_UDO),
    UDL,
    *_LOGGING[:1],
)  # fmt: skip

TOOLS = {
    name: Tool(name, "Quantise a float .dlc file, calibrating on raw inputs.", quantize, OPTIONS)
    for name in ("snpe-dlc-quantize", "snpe-dlc-quant")
} | {
    "qairt-quantizer": Tool(
        "qairt-quantizer",
        "Quantise a float .dlc file, calibrating on raw inputs.",
        quantize,
        _QAIRT,
        release="2.39",
        notes=(
            "It does what snpe-dlc-quant does: the file is the same, with the encodings that the "
            "converter kept left out unless --override_params takes them.",
        ),
    )
}
