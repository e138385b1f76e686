"""The entry `dlc.metadata`: where a file came from, as `key=value` lines."""

from __future__ import annotations

from dataclasses import dataclass, fields

from hexsim.errors import InvalidDataError
from hexsim.texts.names import visible


@dataclass(frozen=True)
class Metadata:
    """The keys of the real container, with underscores for its hyphens."""

    model_version: str = "N/A"
    converter_command: str = "N/A"
    converter_version: str = "N/A"
    quantizer_command: str = "N/A"

    def to_bytes(self) -> bytes:
        """Return one UTF-8 line per key; a line break inside a value becomes a space."""
        lines = (f"{f.name.replace('_', '-')}={getattr(self, f.name)}" for f in fields(self))
        text = "".join(line.replace("\n", " ") + "\n" for line in lines)
        return text.encode("utf-8", "backslashreplace")

    @classmethod
    def from_bytes(cls, data: bytes) -> Metadata:
        """Read what `to_bytes` wrote, values as they may be shown.

        Raises InvalidDataError for a line that is none of ours.
        """
        known = {f.name.replace("_", "-"): f.name for f in fields(cls)}
        values: dict[str, str] = {}
        try:
            lines = data.decode("utf-8").split("\n")
        except UnicodeDecodeError:
            raise InvalidDataError("its metadata are no text in UTF-8") from None
        for number, line in enumerate(lines, start=1):
            key, sign, value = line.partition("=")
            if line and not (sign and key in known and known[key] not in values):
                raise InvalidDataError(f"line {number} of its metadata is {line[:40]!r}")
            if line:
                values[known[key]] = visible(value)
        return cls(**values)
