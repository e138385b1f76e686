"""A process that dies when it asks for a socket of a network or listens, whoever in it asks.

The kernel holds the filter (seccomp), so that it also sees the threads of compiled libraries,
which no hook of Python's sees, and all processes that are started. Sockets within the machine
(AF_UNIX) are allowed, since they call nobody, but none may listen.
Run as a program, it takes command lines of hexsim from standard input and runs one after another.
"""

import contextlib
import ctypes
import os
import platform
import shlex
import socket
import struct
import sys

_SOCKET_CALL = {"x86_64": 41, "aarch64": 198}
_LISTEN_CALL = {"x86_64": 50, "aarch64": 201}
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_CALL, _FIRST_ARGUMENT = 0, 16  # bytes into struct seccomp_data (linux/seccomp.h)
_ALLOW, _KILL_PROCESS = 0x7FFF0000, 0x80000000
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2  # linux/prctl.h, linux/seccomp.h


class _Program(ctypes.Structure):
    """struct sock_fprog of linux/filter.h."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def forbid_network() -> None:
    """Install the filter in this process and all it starts; it cannot be taken back."""
    instructions = (
        (_LOAD, 0, 0, _CALL),
        (_JUMP_IF_EQUAL, 4, 0, _LISTEN_CALL[platform.machine()]),
        (_JUMP_IF_EQUAL, 0, 2, _SOCKET_CALL[platform.machine()]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_JUMP_IF_EQUAL, 0, 1, socket.AF_UNIX),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _KILL_PROCESS),
    )
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in instructions)
    program = _Program(len(instructions), code)
    libc = ctypes.CDLL(None, use_errno=True)
    for call in ((_NO_NEW_PRIVILEGES, 1, 0, 0, 0), (_SET_SECCOMP, _FILTER, ctypes.byref(program))):
        if libc.prctl(*call) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _run(line: str) -> int:
    from hexsim.cli import main

    sys.argv = ["hexsim", *shlex.split(line)]
    try:
        with contextlib.redirect_stdout(open(os.devnull, "w")):
            main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


if __name__ == "__main__":
    forbid_network()
    if sys.argv[1:] == ["call"]:
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    if sys.argv[1:] == ["listen"]:
        socket.socket(socket.AF_UNIX).listen()
    for line in sys.stdin:
        print(_run(line), line, end="", flush=True)
