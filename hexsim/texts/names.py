"""Names that come from files, as they may be shown: no character of them acts on a terminal.

A name may hold anything. A line feed in it forges a line of a report, an escape sequence commands
the terminal, a mark of direction turns the text around it. So names become visible where they
come in, and nothing that prints them need think of it: what is shown is what may be typed.
"""

from __future__ import annotations


def visible(text: str) -> str:
    r"""Return `text` with every character that is not printed written out: `a\x1b[2J`, `b\u202ec`.

    Printed are letters, marks, digits, signs and the plain space, of any script (as by
    `str.isprintable`).
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else _written_out(one) for one in text)


def _written_out(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
