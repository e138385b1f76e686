"""Makes names from files safe to print: no character acts on a terminal. Makes new names.

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


def new_name(names: set[str], wanted: str) -> str:
    """Return `wanted`, with a number if it is in `names`, and add it to `names`.

    Numbers are tried in doubling steps, since a file may want one name twenty thousand times. The
    result is the lowest free number if the taken ones have no gaps.
    """
    name, taken, free = wanted, 0, 1
    while name in names:
        name = f"{wanted}_{free}"
        taken, free = (free, 2 * free) if name in names else (taken, free)
    while free - taken > 1:
        middle = (taken + free) // 2
        is_taken = f"{wanted}_{middle}" in names
        taken, free = (middle, free) if is_taken else (taken, middle)
        name = f"{wanted}_{free}"
    names.add(name)
    return name


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
