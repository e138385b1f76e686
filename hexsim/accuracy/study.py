"""A study: all results about the accuracy of one network on one runtime."""

from dataclasses import dataclass

from hexsim.accuracy.diagnosis import Diagnosis
from hexsim.accuracy.distributions import Distribution
from hexsim.accuracy.remedies import RemedyTrial
from hexsim.accuracy.sensitivity import Sensitivity
from hexsim.accuracy.validation import Validation
from hexsim.quantization.finding import Finding
from hexsim.runtimes import Runtime


@dataclass(frozen=True)
class Study:
    """The results for one network; None where one was not requested.

    `notes` say where inputs, encodings and the float reference come from, a sentence each;
    `findings` are the losses that follow from the encodings alone, without any comparison.
    """

    network: str
    chip: str
    runtime: Runtime
    notes: tuple[str, ...]
    validation: Validation
    sensitivity: Sensitivity | None = None
    diagnoses: tuple[Diagnosis, ...] | None = None
    remedies: tuple[RemedyTrial, ...] | None = None
    distributions: tuple[Distribution, ...] | None = None
    findings: tuple[Finding, ...] = ()
