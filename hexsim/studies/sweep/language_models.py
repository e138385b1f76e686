"""Language models of a space: how each is deployed, and the results of a point."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field

from hexsim.deployment.platform import Platform
from hexsim.llm.architecture import Architecture
from hexsim.llm.network import Conditions, Widths
from hexsim.studies.language_model import read_decoder, speed_of
from hexsim.studies.sweep.space import LanguageModelDeployments

PARAMETERS = ("weights", "activations", "context", "block")
"""Columns of a deployment, which are empty for other networks."""
SPEEDS = ("tokens_per_s", "first_token_ms")
"""Columns of results that other networks do not have."""


@dataclass(frozen=True)
class DeployedLanguageModel:
    """A language model with its conditions."""

    architecture: Architecture = field(repr=False)
    conditions: Conditions

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """The values of PARAMETERS."""
        widths = self.conditions.widths
        values = (f"w{widths.weights}", widths.activations)
        return dict(
            zip(PARAMETERS, (*values, self.conditions.context, self.conditions.block), strict=True)
        )

    def numbers(self, platform: Platform) -> Mapping[str, float]:
        """Simulate a token and a block of the prompt; the latency is that of a token.

        Errors as in `hexsim.studies.language_model.speed_of`.
        """
        speed = speed_of(self.architecture, platform, self.conditions, shorter_contexts=False)
        energy = speed.token.energy
        return {
            "latency_ms": speed.token.ms,
            "tokens_per_s": speed.tokens_per_second,
            "first_token_ms": speed.first_token_ms[self.conditions.prompt],
            "peak_memory_bytes": speed.memory_bytes.peak,
            "energy_mj": energy.mj,
            "energy_low_mj": energy.mj_low,
            "energy_high_mj": energy.mj_high,
        }


def deployed_models(
    source: str, deployments: LanguageModelDeployments
) -> list[DeployedLanguageModel]:
    """Read a model, and combine it with all conditions; HexsimError for what does not fit."""
    architecture = read_decoder(source)
    lists = (
        deployments.weights or (None,),
        deployments.activations,
        deployments.contexts,
        deployments.blocks,
    )
    return [
        DeployedLanguageModel(
            architecture,
            Conditions(
                Widths.parse(weights, activations, architecture),
                context=context,
                prompt=deployments.prompt,
                generate=0,
                block=block,
            ),
        )
        for weights, activations, context, block in itertools.product(*lists)
    ]
