"""`hexsim.compare`: what changed between two results."""

from pathlib import Path

from hexsim.errors import HexsimError, keywords_checked
from hexsim.results.comparison import Comparison
from hexsim.results.document import Document
from hexsim.studies import comparison


@keywords_checked
def compare(before: Document | str | Path, after: Document | str | Path) -> Comparison:
    """Return the changes between two results, as `hexsim compare` does.

    A result is what a function of hexsim returned, or the file that `save` or a command wrote as
    JSON. Raises HexsimError if a file holds no result.
    """
    return comparison.compare(_written("before", before), _written("after", after))


def _written(name: str, result: Document | str | Path) -> comparison.Written:
    if isinstance(result, Document):
        return comparison.Written(result)
    if isinstance(result, str | Path):
        return comparison.read_result(Path(result))
    raise HexsimError(f"{name} is a result or the file of one, not {type(result).__name__}")
