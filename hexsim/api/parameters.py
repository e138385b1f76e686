"""What public functions read of their parameters: models, runtimes, whole numbers, truth values."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from hexsim.dlc.loading import ModelInMemory
from hexsim.errors import note, warn_caller
from hexsim.quantization.evidence import Loss, sentences
from hexsim.quantization.model import Model
from hexsim.quantization.overrides import OverrideUse
from hexsim.runtimes import Runtime


def source_name(model: Model | str | Path) -> str:
    """Return what the studies load a model from."""
    return ModelInMemory(model) if isinstance(model, Model) else str(model)


def runtimes_of(runtime: Runtime | Sequence[Runtime] | None) -> tuple[Runtime, ...] | None:
    """Return the runtimes that are asked for."""
    if runtime is None:
        return None
    return (runtime,) if isinstance(runtime, str) else tuple(dict.fromkeys(runtime))


def warn_of(*named: tuple[str, Iterable[Loss]]) -> None:
    """Warn of the losses of networks, the worst first; with their names if they are several."""
    by_network: dict[str, list[Loss]] = {}
    for network, findings in named:
        by_network.setdefault(network, []).extend(findings)
    for network, losses in by_network.items():
        for sentence in sentences(losses):
            warn_caller(f"{network}: {sentence}" if len(by_network) > 1 else sentence)


def tell_overrides(network: str, use: OverrideUse | None) -> None:
    """Say what became of the overrides of a file, if it has any: a warning if none is applied."""
    if use is not None:
        (note if use.applied else warn_caller)(f"{network}: {use}")
