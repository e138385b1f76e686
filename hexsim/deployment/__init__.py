"""A model on a runtime of a platform: what is planned, executed and timed, decided in one place."""

from hexsim.deployment.at_load import AtLoad
from hexsim.deployment.deployment import Deployment, deploy

__all__ = ["AtLoad", "Deployment", "deploy"]
