"""What qemu-hexagon answered: committed, so that kernels are judged where it is not installed."""

import hashlib
from pathlib import Path

import numpy as np

from tests.oracle.int8 import primitives, qemu
from tests.oracle.int8.cases import CASES, drawn
from tests.oracle.int8.jobs import job

FOLDER = Path(__file__).parent / "answers"
VERSION = 60
COUNT = 24  # of each kernel's cases, the first ones


def golden_cases(kernel):
    """The cases whose answers are committed."""
    return drawn(kernel)[:COUNT]


def judged(cases, version):
    """Output codes of every case, as qemu computes them."""
    jobs = [job(call, inputs) for call, inputs in cases]
    (program,) = {job.program for job in jobs}
    results = iter(qemu.run(program, version, [r for job in jobs for r in job.records]))
    return [job.codes([next(results) for _ in job.records]) for job in jobs]


def digest(cases):
    """Identifies the cases by all that their programs are given."""
    hashed = hashlib.sha256()
    for call, inputs in cases:
        for record in job(call, inputs).records:
            hashed.update(record.bytes)
    return np.frombuffer(hashed.digest(), np.uint8)


def path(kernel):
    return FOLDER / f"{kernel}.npz"


def write(folder):
    """Ask qemu anew and write one file per kernel."""
    for kernel in CASES:
        cases = golden_cases(kernel)
        codes = np.concatenate([c.reshape(-1) for c in judged(cases, VERSION)])
        np.savez_compressed(folder / path(kernel).name, cases=digest(cases), codes=codes)
    stages = primitives.codes(VERSION, *primitives.tail_cases(), 0, 255)
    np.savez_compressed(folder / path("tail").name, codes=stages)
