"""The options of snpe-net-run."""

from collections.abc import Mapping
from typing import get_args

from hexsim.snpe.log import Level
from hexsim.snpe.option import (
    CHIP,
    OUTPUT_DIR,
    STACK,
    UDL,
    UDO_PACKAGE,
    Effect,
    Ignored,
    Option,
    Ours,
    RefusedOption,
)

_ONE_RUN = Ignored("every run of an input gives the same values and times, so each runs once")
_ONLY_DEVICE = Ignored("it is about the device and its operating system")

PROFILES = (
    *("default", "balanced", "high_performance", "sustained_high_performance", "burst"),
    *("power_saver", "low_power_saver", "high_power_saver", "low_balanced", "system_settings"),
)
"""Performance profiles by SNPE's names."""

FALLBACK = (
    "Off unless given, as the guides say of the tools (1.43 to 2.5). The runtime engine itself, "
    "which applications call, has it on (setCPUFallbackMode; documented from 1.23 on), and so have "
    "Session, hexsim run and hexsim bench."
)
"""Which side has CPU fallback by default."""
_PROFILE_EFFECTS: Mapping[str, Effect] = {
    **{name: Ours("--perf-profile", name) for name in PROFILES},
    "extreme_power_saver": Ours("--perf-profile", "low_power_saver"),
}


def profile_option(of: str = "") -> Option:
    """Return the option for the performance profile; `of` says whose profile it is."""
    return Option(
        ("--perf_profile",), ("PROFILE",),
        f"Performance profile{of}; default: default. extreme_power_saver of 2.x is simulated as "
        "low_power_saver, which has the lowest clocks that are known.",
        _PROFILE_EFFECTS,
    )  # fmt: skip


USE_HTP = Option(
    ("--use_htp",), (), "Run on the tensor processor (HTP), as --use_dsp does on chips that have "
    "one.", Ours("--runtime", "htp"),
)  # fmt: skip


def buffer_options() -> tuple[Option, ...]:
    """User buffers: of both sides, and of the outputs alone."""
    sides = (
        ("", "--input-buffers", "inputs and outputs"),
        ("_output", "--output-buffers", "outputs"),
    )
    return tuple(
        option
        for end, ours, what in sides
        for option in (
            Option((f"--userbuffer_float{end}",), (), f"Float {what}.", Ours(ours, "float")),
            Option((f"--userbuffer_tf8{end}",), (), f"8-bit codes: {what}.", Ours(ours, "tf8")),
            Option((f"--userbuffer_tf16{end}",), (), f"16-bit codes: {what}.", Ours(ours, "tf16")),
            Option(
                (f"--userbuffer_tfN{end}",), ("BITS",), f"Codes as {what}.",
                {"8": Ours(ours, "tf8"), "16": Ours(ours, "tf16")},
            ),
            Option(
                (f"--userbuffer_floatN{end}",), ("BITS",), f"Floats as {what}.",
                {"16": Ours(ours, "float16"), "32": Ours(ours, "float")},
            ),
            Option(
                (f"--userbuffer_auto{end}",), (),
                f"Codes as {what} where the model has an encoding, else floats.",
                Ours(ours, "auto"),
            ),
        )
    )  # fmt: skip


_FILES = (
    Option(("--container",), ("FILE",), "The .dlc file.", Ours(), is_required=True),
    Option(
        ("--input_list",), ("FILE",),
        "Text file that names raw inputs, a set per line; # and % lines name outputs.",
        Ours("--input-list"), is_required=True,
    ),
    OUTPUT_DIR,
    Option(("--use_gpu",), (), "Run on the GPU.", Ours("--runtime", "gpu")),
    Option(
        ("--use_dsp",), (), "Run on the DSP; from V68 on, on the tensor processor (HTP).",
        Ours("--runtime", "dsp"),
    ),
    USE_HTP,
    Option(("--use_aip",), (), "Run on the DSP with its tensor engine.", Ours("--runtime", "aip")),
    Option(
        ("--use_fxp_cpu", "--enable_cpu_fxp"), (), "Run on the CPU in integers.",
        Ours("--runtime", "fxp_cpu"),
    ),
    Option(
        ("--gpu_mode",), ("MODE",), "What --use_gpu computes in: default is fp16 and fp32.",
        Ours("--gpu-mode"), choices=("default", "float16"),
    ),
    Option(
        ("--runtime_order",), ("LIST",),
        "Runtimes with commas, as dsp,cpu: the first that there is, and the CPU if it is in.",
        Ours("--runtime-order"),
    ),
    Option(
        ("--enable_cpu_fallback",), (),
        f"Run layers that the runtime refuses on the CPU. {FALLBACK}", Ours("--cpu-fallback"),
    ),
)  # fmt: skip

_OUTPUTS = (
    Option(("--debug",), (), "Write the output of every layer (not on AIP).", Ours("--debug")),
    Option(
        ("--set_output_tensors",), ("LIST",), "Tensors to write, with commas.",
        Ours("--set-output-tensors"),
    ),
    Option(
        ("--set_unconsumed_as_output",), (), "Also write tensors that no layer reads.",
        Ours("--unconsumed"),
    ),
    Option(
        ("--input_name",), ("NAME",), "Input of another shape; in pairs with the next.",
        Ours("--input-name"),
    ),
    Option(
        ("--input_dimensions",), ("DIMS",), "Its shape, as 1,224,224,3.",
        Ours("--input-dimensions"),
    ),
    Option(
        ("--static_min_max",), (), "Codes of inputs have the model's range, not one of their own.",
        Ours("--static-min-max"),
    ),
    Option(
        ("--use_native_input_files",), (),
        "Input files hold the buffers' own numbers; codes have the model's range.",
        Ours("--native-inputs"),
    ),
    Option(
        ("--use_native_output_files",), (), "So do output files.", Ours("--native-outputs"),
    ),
    Option(
        ("--userbuffer_uintN_output",), ("BITS",), "Whole numbers as outputs.",
        RefusedOption("outputs are floats or codes; take --userbuffer_tfN_output"),
    ),
    Option(("--userbuffer_memorymapped",), (), "Buffers that are mapped.", _ONLY_DEVICE),
    Option(
        ("--userbuffer_glbuffer",), (), "Buffers of the GPU.",
        RefusedOption("buffers of OpenGL are not simulated; take --userbuffer_float"),
    ),
    Option(
        ("--encoding_type",), ("TYPE",), "Format of pictures.",
        RefusedOption("the format belongs to the model; convert with --input_encoding NAME nv21"),
    ),
    Option(
        ("--data_type_map", "--tensor_mode", "--resizable_dim"), ("TEXT",), "Types of buffers.",
        RefusedOption("buffers are of one type on each side; take --userbuffer_..."),
    ),
)  # fmt: skip

_SETTINGS = (
    profile_option(),
    Option(
        ("--profiling_level",), ("LEVEL",), "Rows of the log; default: detailed.",
        {
            **{level: Ours("--profiling-level", level) for level in get_args(Level)},
            "linting": RefusedOption(
                "times of the tensor processor are those of whole layers; take detailed"
            ),
        },
    ),
    Option(
        ("--priority_hint",), ("HINT",), "How urgent the run is.",
        Ignored("the network runs alone; snpe-throughput-net-run lets several run at once"),
        choices=("low", "normal", "normal_high", "high"),
    ),
    Option(
        ("--storage_dir",), ("FOLDER",), "Where compiled kernels are kept.",
        Ignored("compiling kernels of the GPU is not simulated"),
    ),
    Option(
        ("--enable_init_cache",), (), "Keep the prepared graph.",
        Ignored("every initialisation is reported as the first one"),
    ),
    Option(("--platform_options",), ("TEXT",), "Settings of the platform.", _ONLY_DEVICE),
    Option(("--userlogs",), ("TEXT",), "Contents of the log.", _ONLY_DEVICE),
    Option(("--duration",), ("S",), "Run for so long.", _ONE_RUN, number="real"),
    Option(("--inferences_per_duration",), ("N,S",), "Run so often.", _ONE_RUN),
    Option(
        ("--timeout",), ("US",), "Give up after so long.",
        Ignored("a simulated run always ends; compare its time"), number="real",
    ),
    UDO_PACKAGE,
    UDL,
    CHIP,
    STACK,
)  # fmt: skip

OPTIONS = (*_FILES, *_OUTPUTS, *buffer_options(), *_SETTINGS)
