"""Names of classes: a text with one name per line, in the order of the classes.

Source: the label files of SNPE's tutorials, such as ilsvrc_2012_labels.txt (documented); AlexNet's
has 1000 lines, Inception's one more at the beginning. Blank lines at the end are ignored.
"""

import io
from pathlib import Path

from hexsim.accuracy.labels import count_classes
from hexsim.errors import HexsimError, InvalidDataError
from hexsim.graph.ir import Network
from hexsim.texts.names import visible
from hexsim.texts.text import read_text


def read_class_names(path: Path, network: Network, batch: int = 1) -> tuple[str, ...]:
    """Read the names of the classes that the first output of `network` scores.

    Raises HexsimError unless there is one name per class, or if the output has no classes.
    """
    classes = count_classes(network, batch)
    try:
        text = read_text(path, "class names", "give one name per line", by_line=True)
    except InvalidDataError as error:
        raise HexsimError(str(error)) from None
    names = tuple(visible(line.strip()) for line in io.StringIO(text.rstrip(), newline=None))
    if len(names) != classes:
        raise HexsimError(
            f"class names '{path}' has {len(names)} names for the {classes} classes of output "
            f"'{network.outputs[0]}'; give one per line, in their order"
        )
    return names
