"""`qnn-net-run` and `qnn-profile-viewer`: snpe-net-run and snpe-diagview by QNN's options."""

from hexsim.snpe.backend_config import CONFIG_FILE
from hexsim.snpe.net_run_options import profile_option
from hexsim.snpe.option import (
    INPUTS,
    OP_PACKAGES,
    OUTPUT_DIR,
    SIMULATED,
    Anyway,
    Option,
    Ours,
    RefusedOption,
)
from hexsim.snpe.option_tables import option_table, tools
from hexsim.snpe.qnn_options import LIBRARIES, MODEL_LIBRARY
from hexsim.snpe.tools.diagview import diagview
from hexsim.snpe.tools.net_run import net_run


def _data_type(side: str) -> Option:
    return Option(
        (f"--{side}_data_type",), ("TYPE",), f"Numbers in files of {side}s; default: float.",
        {
            "float": Anyway(),
            "native": Ours(f"--native-{side}s"),
            "float_and_native": RefusedOption("files are of one kind; take float or native"),
        },
    )  # fmt: skip


_TABLE = option_table("qnn_net_run")
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
    *_TABLE["outputs"],
    _data_type("input"),
    _data_type("output"),
    CONFIG_FILE,
    *_TABLE["runs"],
    OP_PACKAGES,
    *SIMULATED,
)  # fmt: skip


TOOLS = tools(
    {
        "qnn-net-run": (net_run, _RUN),
        "qnn-profile-viewer": (diagview, _TABLE["view"]),
    }
)
