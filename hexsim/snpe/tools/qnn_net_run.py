"""`qnn-net-run` and `qnn-profile-viewer`: snpe-net-run and snpe-diagview by QNN's options."""

from __future__ import annotations

from hexsim.snpe.net_run_options import profile_option
from hexsim.snpe.option import (
    CHIP,
    INPUTS,
    OP_PACKAGES,
    OUTPUT_DIR,
    STACK,
    UDL,
    Anyway,
    Ignored,
    Option,
    Ours,
    RefusedOption,
    Tool,
)
from hexsim.snpe.qnn_options import CONFIG_FILE, LIBRARIES, MODEL_LIBRARY
from hexsim.snpe.tools.diagview import diagview
from hexsim.snpe.tools.net_run import net_run

_ONE_RUN = Ignored("every run of an input gives the same values and times, so each runs once")
_DEVICE = Ignored("it is about the device and its operating system")


def _data_type(side: str) -> Option:
    return Option(
        (f"--{side}_data_type",), ("TYPE",), f"Numbers in files of {side}s; default: float.",
        {
            "float": Anyway(),
            "native": Ours(f"--native-{side}s"),
            "float_and_native": RefusedOption("files are of one kind; take float or native"),
        },
    )  # fmt: skip


_RUN = (
    Option(
        ("--dlc_path", "--retrieve_context"), ("FILE",),
        "The .dlc file, or that of qnn-context-binary-generator.", Ours(), is_required=True,
    ),
    Option(
        ("--backend",), ("FILE",),
        f"Library of the backend, in any folder; it is not read, its name says the runtime: "
        f"{', '.join(LIBRARIES)}.",
        Ours("--runtime"), is_required=True,
    ),
    INPUTS,
    MODEL_LIBRARY,
    OUTPUT_DIR,
    profile_option(),
    Option(
        ("--profiling_level",), ("LEVEL",), "Rows of the log; default: detailed.",
        {
            "basic": Ours("--profiling-level", "basic"),
            "detailed": Ours("--profiling-level", "detailed"),
            "backend": RefusedOption("what a backend records beyond layers is not known"),
        },
    ),
    Option(("--debug",), (), "Write the output of every layer.", Ours("--debug")),
    Option(
        ("--set_output_tensors",), ("LIST",), "Tensors to write, with commas.",
        Ours("--set-output-tensors"),
    ),
    Option(
        ("--use_native_input_files",), (), "Input files hold the model's own numbers.",
        Ours("--native-inputs"),
    ),
    Option(
        ("--use_native_output_files",), (), "So do output files.", Ours("--native-outputs")
    ),
    _data_type("input"),
    _data_type("output"),
    CONFIG_FILE,
    Option(("--num_inferences",), ("N",), "Run so often.", _ONE_RUN, number="whole"),
    Option(("--duration",), ("S",), "Run for so long.", _ONE_RUN, number="real"),
    Option(("--keep_num_outputs",), ("N",), "Keep so many outputs.", _ONE_RUN, number="whole"),
    Option(
        ("--batch_multiplier",), ("N",), "Run so many batches at once.",
        RefusedOption("the batch belongs to the network; convert with a larger one"),
    ),
    Option(("--shared_buffer",), (), "Buffers shared with the processor.", _DEVICE),
    Option(("--synchronous",), (), "Wait for each run.", _ONE_RUN),
    Option(("--log_level",), ("LEVEL",), "How much is logged.", _DEVICE),
    Option(("--system_library",), ("FILE",), "Library of the system.", _DEVICE),
    OP_PACKAGES,
    UDL,
    CHIP,
    STACK,
)  # fmt: skip

_VIEW = (
    Option(
        ("--input_log",), ("FILE",), "The SNPEDiag_0.log of the run.", Ours(), is_required=True
    ),
    Option(("--output",), ("FILE",), "Write the rows as CSV.", Ours("--output")),
    Option(
        ("--reader", "--config"), ("FILE",), "Library that reads a backend's records.",
        Ignored("the log is text, and is read without it"),
    ),
)  # fmt: skip

TOOLS = {
    "qnn-net-run": Tool(
        "qnn-net-run",
        "Run a network on every input of a list. Writes Result_0, Result_1, ... and "
        "SNPEDiag_0.log, which qnn-profile-viewer prints.",
        net_run,
        _RUN,
        release="2.39",
        notes=(
            "It does what snpe-net-run does. Files of inputs and outputs are in stored order, an "
            "image NHWC.",
        ),
    ),
    "qnn-profile-viewer": Tool(
        "qnn-profile-viewer",
        "Print the log of qnn-net-run, as snpe-diagview does.",
        diagview,
        _VIEW,
        release="2.39",
    ),
}
