"""Programs under QEMU: each packet that they execute, with the scalar registers before it.

QEMU logs the registers before each packet (`-d exec,cpu,nochain`, one packet at a time), which
gives the addresses of accesses without a plugin. The log is read from a pipe while the program
runs, and nothing of it is kept.

The program runs as a child without network (where namespaces are permitted), with limits on time,
memory and the size of files. Its standard input is empty.
"""

import contextlib
import os
import re
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hexsim.errors import HexsimError
from hexsim.texts.text import visible

MOST_PACKETS = 10_000_000
_MOST_SECONDS = 300
_MEMORY_BYTES, _FILE_BYTES = 2 << 30, 1 << 30
_LIMITS = ("prlimit", f"--as={2 * _MEMORY_BYTES}", f"--fsize={_FILE_BYTES}", "--core=0")
_ALONE = ("unshare", "--map-root-user", "--net")
_MODELS = ("v73", "v71", "v69", "v68", "v67")
"""Processors of QEMU's releases, each of which executes what the release knows."""
_READ_BYTES, _KEPT_BYTES = 1 << 20, 1 << 16
_PLACE = re.compile(rb"\n  (\w++) = 0x(?=[0-9a-f]{8}\n)")


class Registers:
    """The scalar registers before a packet, as QEMU writes them: values of eight digits."""

    _places: dict[str, int] | None = None

    def __init__(self, text: bytes) -> None:
        self._text = text

    def __getitem__(self, name: str) -> int:
        begin = self._text.index(b"{")
        if Registers._places is None:  # the same places in every record
            Registers._places = {
                match[1].decode(): match.end() - begin for match in _PLACE.finditer(self._text)
            }
        place = begin + Registers._places[name]
        return int(self._text[place : place + 8], 16)


@dataclass
class Emulation:
    """A run of a program; how it ended is known when all of `packets` have been read.

    `stopped` says after what hexsim has stopped it, "" if it ended. `bounds` are addresses: packets
    from the first up to the second are logged.
    """

    program: Path
    arguments: Sequence[str] = ()
    bounds: tuple[int, int] | None = None
    printed: str = ""
    status: int | None = None
    stopped: str = ""
    remarks: list[str] = field(default_factory=list)

    def packets(self) -> Iterator[tuple[bytes, int, Registers]]:
        """Yield thread, address and registers for each packet that is executed.

        Raises HexsimError if QEMU is not installed or does not take the program, if it meets an
        instruction that it does not know, or if the program ends by a signal.
        """
        qemu = shutil.which("qemu-hexagon")
        if qemu is None:
            raise HexsimError(
                "qemu-hexagon is not installed, which runs programs for Hexagon; install it, on "
                "Debian and Ubuntu: apt install qemu-user"
            )
        address = None
        for model in _MODELS:
            command = self._command(qemu, model)
            for thread, address, registers in self._records(command):
                yield thread, address, registers
            if address is not None or "find CPU model" not in self.printed:
                break
        self._check(address)

    def _command(self, qemu: str, model: str) -> list[str]:
        options = [qemu, "-cpu", model, "-R", f"{_MEMORY_BYTES:#x}", "-d", "exec,cpu,nochain"]
        said = subprocess.run([qemu, "-help"], capture_output=True, text=True, check=False).stdout
        options.append("-one-insn-per-tb" if "one-insn-per-tb" in said else "-singlestep")
        if self.bounds:
            options += ["-dfilter", f"{self.bounds[0]:#x}..{self.bounds[1] - 1:#x}"]
        limits = _LIMITS if shutil.which(_LIMITS[0]) else ()
        tried = shutil.which(_ALONE[0]) and subprocess.run(
            [*_ALONE, "true"], capture_output=True, check=False
        )
        permitted = tried and not tried.returncode
        self.remarks = [] if permitted else ["namespaces are not permitted: it had the network"]
        return [*(_ALONE if permitted else ()), *limits, *options]

    def _records(self, command: Sequence[str]) -> Iterator[tuple[bytes, int, Registers]]:
        """Run the program, and yield a record for each packet until it ends or is stopped."""
        log, end = os.pipe()
        with subprocess.Popen(
            [*command, "-D", f"/dev/fd/{end}", str(self.program.resolve()), *self.arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[end],
            start_new_session=True,
        ) as process:
            os.close(end)
            count, rest = 0, b""
            try:
                for chunk in self._chunks(log, process):
                    *records, rest = (rest + chunk).split(b"Trace ")
                    yield from map(_read, filter(None, records))
                    count += len(records)
                    if count > MOST_PACKETS:
                        self.stopped = f"{count} packets"
                        break
                else:
                    if rest.endswith(b"}\n"):  # not if it was stopped within a record
                        yield _read(rest)
            finally:
                os.close(log)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # also what the program has started
        self.status = process.returncode

    def _chunks(self, log: int, process: subprocess.Popen[bytes]) -> Iterator[bytes]:
        """Yield the log as it comes, and keep the beginning of what the program prints."""
        deadline = time.monotonic() + _MOST_SECONDS
        assert process.stdout is not None
        printed = b""
        with selectors.DefaultSelector() as both:
            both.register(log, selectors.EVENT_READ)
            both.register(process.stdout, selectors.EVENT_READ)
            while both.get_map():
                ready = both.select(deadline - time.monotonic())
                if not ready or time.monotonic() > deadline:
                    self.stopped = f"{_MOST_SECONDS} seconds"
                    break
                for key, _ in ready:
                    data = os.read(key.fd, _READ_BYTES)
                    if not data:
                        both.unregister(key.fileobj)
                    elif key.fd == log:
                        yield data
                    else:
                        printed = (printed + data)[:_KEPT_BYTES]
        self.printed = printed.decode(errors="replace")

    def _check(self, address: int | None) -> None:
        """Raise an error if the program did not begin, or ended by an unknown instruction."""
        name = visible(str(self.program))
        said = " ".join(visible(self.printed).split())[-200:]
        if address is None and not self.bounds:
            raise HexsimError(
                f"QEMU does not run {name}: {said or f'status {self.status}'}; give a program "
                "that is linked for Linux (ld.lld -static), not an object"
            )
        if self.stopped:
            return
        place = "" if address is None else f" behind address {address:x}"
        unknown = self.status in (-signal.SIGILL, -signal.SIGABRT) or "decode_packet" in said
        if unknown and place:
            raise HexsimError(
                f"{name} ended{place}: QEMU does not know the next instruction (no HMX, not all of "
                "HVX since V68), or the program gave up; look at it without running it"
            )
        if (self.status or 0) < 0:
            raise HexsimError(
                f"{name} was ended by {signal.Signals(-(self.status or 0)).name}{place}, so that "
                "its clocks are not those of a whole run; correct the program"
            )


def _read(record: bytes) -> tuple[bytes, int, Registers]:
    """Read `0: 0x7f.. [00000000/000200e0/...] name`, and the registers in the lines after it."""
    begin = record.index(b"/") + 1
    return record[: record.index(b":")], int(record[begin : begin + 8], 16), Registers(record)
