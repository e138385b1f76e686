"""Reads a profile of a phone, in whichever of the known formats its content is."""

from pathlib import Path

from hexsim.deployment.phone_profile.ai_hub import is_ai_hub, read_ai_hub
from hexsim.deployment.phone_profile.csv_profiles import (
    is_benchmark_csv,
    is_qnn_csv,
    read_benchmark_csv,
    read_qnn_csv,
)
from hexsim.deployment.phone_profile.diagview import is_diagview, read_diagview
from hexsim.deployment.phone_profile.profile import PhoneProfile, require_time
from hexsim.errors import HexsimError, spelled
from hexsim.texts.text import read_text
from hexsim.texts.trees import parse_json

_KNOWN = (
    "the CSV of snpe_bench.py or of qnn-profile-viewer, the text of snpe-diagview, or the JSON of "
    "a profile job of AI Hub"
)


def read_profile(path: Path) -> PhoneProfile:
    """Read the profile at `path`; raise HexsimError for a file that is none or has no layers."""
    where = f"profile '{path}'"
    profile = _read(read_text(path, "profile", f"give {_KNOWN}", by_line=True), where)
    for run in profile.runs:
        for name, total_us in run.totals.items():
            require_time(name, total_us, where)
        for layer in run.layers:
            require_time(f"layer '{layer.name or layer.id}'", layer.us, where)
    if not profile.runs:
        raise HexsimError(
            f"{where} ({profile.format}) has no times of layers; measure with the profiling level "
            "'detailed'"
        )
    return profile


def _read(text: str, where: str) -> PhoneProfile:
    if is_benchmark_csv(text):
        return read_benchmark_csv(text, where)
    if is_qnn_csv(text):
        return read_qnn_csv(text, where)
    if text.lstrip().startswith(("{", "[")):
        tree = parse_json(text, where)
        if is_ai_hub(tree):
            return read_ai_hub(tree, where)
        if isinstance(tree, dict) and "hexsim_version" in tree:
            raise HexsimError(
                f"{where} is a result of hexsim, not of a phone; compare two results without "
                f"{spelled('measured')}"
            )
    elif is_diagview(text):
        return read_diagview(text, where)
    raise HexsimError(f"{where} is in no known format; give {_KNOWN}")
