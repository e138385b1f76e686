"""hexsim: how Qualcomm's Hexagon DSP runs a neural network, without the phone."""

__version__ = "0.1.0"
