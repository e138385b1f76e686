"""Examines a model on each runtime for `hexsim report`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hexsim.runtimes import FIXED_POINT

if TYPE_CHECKING:
    from hexsim.deployment import Deployment
    from hexsim.deployment.given import GivenModel
    from hexsim.deployment.platform import Platform
    from hexsim.inputs.split import InputRoles
    from hexsim.reports.pages.model_page import OnRuntime
    from hexsim.results.benchmark import Inference
    from hexsim.results.partition import Partition
    from hexsim.results.validation import Validation


@dataclass(frozen=True)
class Examination:
    """A model to examine; without `inputs` no values are computed."""

    given: GivenModel
    platform: Platform
    inputs: InputRoles | None
    progress: Callable[[str], None]

    def of(self, cases: Sequence[Inference]) -> Iterator[OnRuntime]:
        """Add its cut and its errors to each case, if there are any."""
        from hexsim.reports.pages.model_page import OnRuntime

        for case in cases:
            deployment = self.given.deployment(case.runtime)
            study = self._study(deployment, case)
            cut = self._cut(deployment, case) if case.runtime == "aip" else None
            yield OnRuntime(case, study, cut)

    def _study(self, deployment: Deployment, case: Inference) -> Validation | None:
        from msgspec.structs import replace

        from hexsim.accuracy.distributions import distributions
        from hexsim.accuracy.validation import validate
        from hexsim.deployment.findings import findings_of
        from hexsim.results.costs import Loss
        from hexsim.results.fields import taken
        from hexsim.studies.validation import distribution_of, document_of

        if self.inputs is None or (runtime := case.runtime) not in FIXED_POINT:
            return None
        source = self.inputs.judging
        self.progress(f"comparing {runtime} with float")
        batch, items = source.batch, source.items
        compared = validate(deployment, source.feeds(), batch=batch, items=items)
        network = deployment.network
        counts = distributions(network, compared.layers, source.feeds(), batch=batch, items=items)
        quantised = (f"quantised on {self.inputs.calibration}",) if self.inputs.calibrating else ()
        notes = (source.description, *quantised)
        losses = findings_of(deployment, case.perf_profile, at_load=True)
        return replace(
            document_of(deployment, compared, notes),
            distributions=tuple(map(distribution_of, counts)),
            findings=tuple(taken(Loss, loss) for loss in losses),
        )

    def _cut(self, deployment: Deployment, case: Inference) -> Partition:
        from hexsim.studies.cuts import LayerTimes, Prices, compiled_sections, survey

        self.progress("explaining the cuts of aip")
        prices = Prices(LayerTimes(deployment, case.perf_profile))
        return survey(prices, compiled_sections(deployment))
