"""What preparing the graphs of a plan for a tensor processor takes."""

from dataclasses import dataclass

from hexsim.datasheets.estimate import Estimate


@dataclass(frozen=True)
class PreparedGraph:
    """What preparing the graphs of a network takes.

    `binary_bytes` is the size of the context binary, `prepare_s` the time of a CPU, and
    `prepare_bytes` the least memory: the network as its file has it, beside the binary.
    `initialise_s` is the initialisation on the phone if it prepares the graph then, `load_s` if it
    loads the binary. `process_bytes` is the memory of the process while it runs.
    """

    binary_bytes: Estimate
    prepare_s: Estimate
    prepare_bytes: Estimate
    initialise_s: Estimate
    load_s: Estimate
    process_bytes: Estimate
