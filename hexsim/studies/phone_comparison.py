"""The profile of a phone beside the simulation of its network."""

from collections.abc import Mapping

from msgspec.structs import replace

from hexsim.deployment.findings import findings_of
from hexsim.deployment.phone_profile.comparison import (
    compare_profile,
    selected_run,
    simulated_beside,
)
from hexsim.deployment.phone_profile.profile import PhoneProfile
from hexsim.deployment.platform import Platform
from hexsim.deployment.source_model import SourceModel
from hexsim.results.phone import CalibrationRow, LayerPair, PhoneComparison, shape_text
from hexsim.runtimes import Runtime
from hexsim.studies.inferences import anchor_fields
from hexsim.texts.fields import taken

_COLUMNS = {"cpu_us": ("cpu", ""), "gpu_us": ("gpu", ""), "dsp_us": ("dsp", "")} | {
    "dsp_tf8_buffers_us": ("dsp", "tf8")
}
"""Columns of rows for calibration: runtime and buffers."""


def beside_phone(
    profile: PhoneProfile,
    loaded: SourceModel,
    platform: Platform,
    runtime: Runtime | None,
    perf_profile: str | None,
    buffer: str | None,
    file: str,
) -> PhoneComparison:
    """Simulate a model, given on `platform`, beside the profile of a `file`, on its runtime.

    `runtime` says which, if the file has several.
    `perf_profile` and `buffer` replace those of the profile. Raises HexsimError if nothing in it
    fits the model or the chip.
    """
    run, here = selected_run(profile, platform.runtimes, runtime, buffer)
    deployment, timing, used = simulated_beside(
        profile, run, loaded, here, perf_profile=perf_profile, buffer=buffer
    )
    paired, *others = (
        compare_profile(profile, each, deployment, timing, used) for each in (run, *profile.runs)
    )
    answer = replace(
        paired,
        **anchor_fields(platform.anchor),
        software=platform.software,
        findings=findings_of(deployment, used),
    )
    by_run = {
        (each.runtime or here, each.buffer): {pair.name: pair for pair in other.layers}
        for each, other in zip(profile.runs, others, strict=True)
    }
    columns = {name: by_run.get(key, {}) for name, key in _COLUMNS.items()}
    source = f"{file}, {profile.format}"
    rows = tuple(_calibration_row(answer, pair, columns, source) for pair in answer.layers)
    return replace(answer, calibration=rows)


def _calibration_row(
    answer: PhoneComparison,
    pair: LayerPair,
    columns: Mapping[str, Mapping[str, LayerPair]],
    source: str,
) -> CalibrationRow:
    """Return a layer on all runtimes; a column that the phone did not measure stays empty."""
    measured = {name: layers[pair.name] for name, layers in columns.items() if pair.name in layers}
    dsp = measured.get("dsp_us")
    return taken(
        CalibrationRow,
        pair,
        network=answer.network,
        chip=answer.chip,
        stack=answer.stack,
        profile=answer.perf_profile,
        layer=pair.name,
        output_nchw=shape_text(pair.output_nchw),
        dsp_min_us=dsp and dsp.low_us,
        dsp_max_us=dsp and dsp.high_us,
        source=source,
        **{name: other.measured_us for name, other in measured.items()},
    )
