"""The entry `dlc.metadata`: where a file came from, as `key=value` lines."""

from __future__ import annotations

from dataclasses import dataclass, fields


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
        """Read what `to_bytes` wrote; raise ValueError for an unknown key."""
        pairs = dict(line.split("=", 1) for line in data.decode("utf-8").split("\n") if line)
        try:
            return cls(**{key.replace("-", "_"): value for key, value in pairs.items()})
        except TypeError as error:
            raise ValueError(f"metadata that cannot be read ({error})") from None
