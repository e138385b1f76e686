"""Makes names from files safe to print: no character acts on a terminal.

A name may contain anything. A line feed could forge a line of a report, an escape sequence could
control the terminal, a mark of direction could reverse text. So special characters in names become
visible when they are read, and code that prints names need not handle them.
"""


def visible(text: str) -> str:
    r"""Return `text` with every character that is not printable escaped: `a\x1b[2J`, `b\u202ec`.

    Letters, marks, digits, signs and the plain space of any script are printable (as by
    `str.isprintable`).
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else _escaped(letter) for letter in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
