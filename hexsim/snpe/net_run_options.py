"""The options of snpe-net-run."""

from collections.abc import Mapping

from hexsim.snpe.option import SIMULATED, UDO_PACKAGE, Effect, Option, Ours
from hexsim.snpe.option_tables import option_table

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


def thread_runtimes(help_: str) -> tuple[Option, ...]:
    """Return the options for the runtime of a thread; its name takes the place of {} in `help_`."""
    return tuple(
        Option((f"--use_{name}",), (), help_.format(name), Ours("--runtime", name))
        for name in ("cpu", "gpu", "gpu_fp16", "dsp", "htp", "aip", "fxp_cpu")
    )


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


_TABLE = option_table("net_run")
OPTIONS = (
    *_TABLE["files"],
    Option(
        ("--enable_cpu_fallback",), (),
        f"Run layers that the runtime refuses on the CPU. {FALLBACK}", Ours("--cpu-fallback"),
    ),
    *_TABLE["outputs"],
    *buffer_options(),
    profile_option(),
    *_TABLE["settings"],
    UDO_PACKAGE,
    *SIMULATED,
)  # fmt: skip
