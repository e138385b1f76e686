"""The quantiser's log of HTA sections that it compiled or could not compile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hexsim.planning.sections.described import hta_sections
from hexsim.quantization.model import Model


def hta_log(model: Model, failures: Sequence[str]) -> Iterator[str]:
    """Yield a line per section, and one per chip for which there is none."""
    for section in hta_sections(model):
        yield (
            f"[INFO] Compiled HTA section for {section.chip}: layer ids {section.ids}, "
            f"{section.mac_share:.1%} of the MACs"
        )
    for failure in failures:
        yield f"[ERROR] {failure}; the .dlc has no HTA section for that chip and aip runs on HVX"
