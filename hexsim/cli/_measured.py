"""Options of a comparison with a profile that was measured on a phone."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.cli._completion import runtime_names
from hexsim.cli._files import FILE, OUTPUT
from hexsim.cli._options import (
    BufferOption,
    ChipOption,
    InputDimOption,
    NoFallbackOption,
    NoHtaOption,
    OverrideParamsOption,
    ProfileOption,
    parse_input_dims,
    parse_runtime,
)
from hexsim.cli._output import JsonCsv
from hexsim.cli._overrides import print_losses
from hexsim.cli._simulated import Hardware
from hexsim.errors import HexsimError

if TYPE_CHECKING:
    from hexsim.deployment.given import GivenModel
    from hexsim.deployment.phone_profile.comparison import PhoneComparison
    from hexsim.deployment.platform import Platform

_COLUMNS = {"cpu_us": ("cpu", ""), "gpu_us": ("gpu", ""), "dsp_us": ("dsp", "")} | {
    "dsp_tf8_buffers_us": ("dsp", "tf8")
}
"""Columns of rows for calibration: runtime and buffers."""


@dataclass(frozen=True)
class Phone(Hardware):
    """The profile of a phone, and how the simulation beside it is made; it needs a chip."""

    chip: ChipOption = ""
    measured: Annotated[
        Path | None,
        typer.Option(
            "--measured",
            help="Profile of a phone to set beside a model: CSV of snpe_bench.py or of "
            "qnn-profile-viewer, text of snpe-diagview, JSON of an AI Hub profile job.",
        ),
        FILE,
    ] = None
    runtime: Annotated[
        str | None,
        typer.Option(
            "--runtime",
            help="With --measured: the runtime; default: that of the profile.",
            autocompletion=runtime_names,
        ),
    ] = None
    perf_profile: ProfileOption = None
    buffer: BufferOption = None
    input_dim: InputDimOption = None
    no_cpu_fallback: NoFallbackOption = False
    override_params: OverrideParamsOption = None
    no_hta: NoHtaOption = False

    def unused(self) -> str | None:
        """Return an option that goes with --measured only and was given, or None."""
        defaults = type(self)()
        for field in fields(self):
            if getattr(self, field.name) != getattr(defaults, field.name):
                return f"--{field.name.replace('_', '-')}"
        return None

    def given_model(self, model: str, platform: Platform) -> GivenModel:
        """Load the model; a float one is quantised where its runtime needs that."""
        from hexsim.deployment.given import GivenModel, Preparation
        from hexsim.dlc.loading import load_container

        preparation = Preparation(
            quantize=True,
            override_params=self.override_params,
            hta=not self.no_hta,
            cpu_fallback=not self.no_cpu_fallback,
        )
        container = load_container(model, input_dims=parse_input_dims(self.input_dim))
        return GivenModel(model, container, platform, preparation)

    def profile_beside(self, model: str) -> tuple[PhoneComparison, dict[str, PhoneComparison]]:
        """Simulate `model` beside the profile; also return all runs, as calibration names them."""
        from hexsim.deployment.phone_profile.comparison import compare_profile, simulated_beside
        from hexsim.deployment.phone_profile.reading import read_profile
        from hexsim.deployment.phone_profile.selection import selected_run

        assert self.measured is not None
        profile = read_profile(self.measured)
        if not self.chip:
            raise HexsimError("--measured needs the chip of that phone; give --chip")
        platform = self.platform()
        runtime = None if self.runtime is None else parse_runtime(self.runtime)
        run, here = selected_run(profile, platform.runtimes, runtime, self.buffer)
        given = self.given_model(model, platform)
        deployment, timing, perf_profile = simulated_beside(
            profile, run, given, here, perf_profile=self.perf_profile, buffer=self.buffer
        )
        print_losses(deployment, perf_profile)
        compared, *others = (
            compare_profile(profile, each, deployment, timing, perf_profile)
            for each in (run, *profile.runs)
        )
        by_run = {
            (each.runtime or here, each.buffer): other
            for each, other in zip(profile.runs, others, strict=True)
        }
        return compared, {name: by_run[key] for name, key in _COLUMNS.items() if key in by_run}


@dataclass(frozen=True)
class PhoneOutputs(JsonCsv):
    """Results for programs, and rows for calibration."""

    rows: Annotated[
        Path | None,
        typer.Option("--rows", help="With --measured: write the layers as rows for calibration."),
        OUTPUT,
    ] = None


def compare_measured(model: str, phone: Phone, outputs: PhoneOutputs) -> None:
    """Print the profile of a phone beside the simulation of `model`, and write the files."""
    from hexsim.cli._say import say
    from hexsim.reports.phone.data import calibration_rows, phone_csv, phone_facts
    from hexsim.reports.phone.table import phone_table

    assert phone.measured is not None
    if model.endswith(".json"):
        raise HexsimError(
            f"--measured sets a profile beside a model, and '{model}' is no model; give the .dlc "
            "or ONNX file, or a built-in network"
        )
    comparison, columns = phone.profile_beside(model)
    source = f"{phone.measured.name}, {comparison.format}"
    outputs.write(
        json=lambda: phone_facts.json(comparison),
        csv=lambda: phone_csv(comparison),
        rows=lambda: calibration_rows(comparison, columns, source),
    )
    say(phone_table(comparison))
