"""`snpe-dlc-quantize`, and `snpe-dlc-quant` of 2.x, quantise a float .dlc file."""

from dataclasses import replace

from hexsim.cli.quantize import quantize
from hexsim.snpe.converter_options import TABLE as CONVERTERS
from hexsim.snpe.option import CHIP, NO_UDO, STACK, UDL, UDO_PACKAGE, Ignored, Option
from hexsim.snpe.option_tables import option_table, tools

_TABLE = option_table("quantizer")
_NAMED = (*_TABLE["bits"], *_TABLE["ranges"])
OPTIONS = (
    *_TABLE["files"],
    *_NAMED,
    *_TABLE["offline"],
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
    *_TABLE["logging"],
)  # fmt: skip

_QAIRT = (
    *(
        replace(option, names=(option.name, short))
        for option, short in zip(_TABLE["files"], ("-i", "-l", "-o"), strict=True)
    ),
    *_NAMED,
    *CONVERTERS["targets"],
    Option(
        ("--preserve_io_datatype",), ("NAMES",), "Inputs and outputs that stay float.",
        Ignored("files of inputs and outputs hold floats anyway"),
    ),
    Option(("--op_package_lib",), ("TEXT",), "User-defined operators.", NO_UDO),
    UDL,
    *_TABLE["logging"][:1],
)  # fmt: skip

TOOLS = tools(
    {
        "snpe-dlc-quantize": (quantize, OPTIONS),
        "snpe-dlc-quant": (quantize, OPTIONS),
        "qairt-quantizer": (quantize, _QAIRT),
    }
)
