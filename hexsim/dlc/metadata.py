"""The entry `dlc.metadata`: the origin of a file, as `key=value` lines."""

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

    @property
    def had_overrides(self) -> bool:
        """True if the file was converted with a file of overrides, even if that was empty."""
        name = f" {self.converter_command} ".partition(" quantization_overrides=")[2]
        return bool(name) and not name.startswith("None ")

    def to_bytes(self) -> bytes:
        """Return one UTF-8 line per key; a line break inside a value becomes a space."""
        lines = (
            f"{item.name.replace('_', '-')}={getattr(self, item.name)}" for item in fields(self)
        )
        text = "".join(line.replace("\n", " ") + "\n" for line in lines)
        return text.encode("utf-8", "backslashreplace")

    @classmethod
    def from_bytes(cls, data: bytes) -> Metadata:
        """Parse the text of `to_bytes`; special characters in values become visible.

        Raises InvalidDataError for an invalid line.
        """
        field_names = {f.name.replace("_", "-"): f.name for f in fields(cls)}
        values: dict[str, str] = {}
        try:
            lines = data.decode("utf-8").split("\n")
        except UnicodeDecodeError:
            raise InvalidDataError("its metadata are no text in UTF-8") from None
        for number, line in enumerate(lines, start=1):
            key, sign, value = line.partition("=")
            if line and not (sign and key in field_names and field_names[key] not in values):
                raise InvalidDataError(f"line {number} of its metadata is {line[:40]!r}")
            if line:
                values[field_names[key]] = visible(value)
        return cls(**values)
