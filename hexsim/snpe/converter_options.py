"""The options that the converters of SNPE, QAIRT and QNN share."""

from hexsim.snpe.option import Anyway, Effect, Ignored, Option, Ours, RefusedOption
from hexsim.snpe.option_tables import option_table

_LAYOUTS = (
    *("NCDHW", "NDHWC", "NCHW", "NHWC", "NFC", "NCF", "NTF", "TNF", "NF", "NC", "F"),
    "NONTRIVIAL",
)


CHANNELS_FIRST = ("NCHW", "NCDHW", "NCF")
CHANNELS_LAST = ("NHWC", "NDHWC", "NFC")


def layout_option(names: tuple[str, ...], help_: str, assumed: tuple[str, ...]) -> Option:
    """Return an option for the order of axes: it may say what is `assumed` anyway, and no more.

    Two axes have one order, the batch first.
    """
    other = RefusedOption(
        f"the order of axes follows from the file: images are {assumed[0]}; leave it out"
    )
    known = (*assumed, "NF", "NC", "F")
    effects: dict[str, Effect] = {n: Anyway() if n in known else other for n in _LAYOUTS}
    return Option(names, ("NAME", "LAYOUT"), help_, effects)


def network(what: str, *old: str) -> Option:
    """Return the option for the source file, which also has `old` names."""
    return Option(("--input_network", "-i", *old), ("FILE",), f"{what}.", Ours(), is_required=True)


def output(*old: str) -> Option:
    """Return the option for the file to write, which also has `old` names."""
    return Option(
        ("--output_path", "-o", *old), ("FILE",),
        "The .dlc file; default: the model's name with .dlc.", Ours("--output"),
    )  # fmt: skip


def shape(*names: str) -> Option:
    """Return the option for the shape of an input."""
    return Option(
        names, ("NAME", "DIMS"),
        "Shape of an input, as 1,3,224,224 in the order of the file; repeatable.",
        Ours("--input-dim"),
    )  # fmt: skip


def ends(*names: str) -> Option:
    """Return the option for tensors at which the network ends."""
    return Option(
        names, ("NAME",), "Tensor at which the network ends, instead of its outputs; repeatable.",
        Ours("--out-name"),
    )  # fmt: skip


def colours(name: str, *short: str, choices: tuple[str, ...] = ()) -> Option:
    """Return the option for the colours of an input."""
    return Option(
        (name, *short), ("NAME", "ENCODING"),
        "How an input holds colours; other than bgr adds a layer that converts them; repeatable.",
        Ours("--input-encoding"), choices=choices,
    )  # fmt: skip


def symbol(*names: str) -> Option:
    """Return the option for a size that has a name."""
    return Option(
        names, ("NAME", "SIZE"),
        "Size that a name in the shapes of the inputs stands for; repeatable.",
        Ours("--define-symbol"),
    )  # fmt: skip


TABLE = option_table("converters")
OVERRIDES, DRY_RUN, COPYRIGHT, FLOAT_BITWIDTH, SQUASH_BOX_DECODER = TABLE["alone"]

_SIMPLIFY = Ignored("constants are folded and layers fused in any case, without a change of values")


def simplification(*names: str) -> Option:
    """Return the option to leave the graph of the source as it is."""
    return Option(names, (), "Leave the graph as it is.", _SIMPLIFY)


SIMPLIFICATION = simplification("--no_simplification", "-n")


IO_OPTIONS = TABLE["io"]
