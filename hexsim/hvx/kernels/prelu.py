"""Prelu, shared by all workers. Source: Hexagon NN, prelu_d32.S."""

from hexsim.hvx.kernels._model import Models
from hexsim.hvx.kernels._per_vector import per_vector_model
from hexsim.hvx.streams import elementwise
from hexsim.layers import Prelu

MODELS: Models = {Prelu: per_vector_model(lambda _, target: elementwise.prelu(target.machine))}
