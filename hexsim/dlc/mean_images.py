"""Mean images of inputs, whose numbers are in entries of their own, not in the JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from hexsim.dlc.directory import MEAN_PREFIX
from hexsim.graph.input_format import InputFormat


def entry_name(index: int) -> str:
    """Return the name of the entry for the mean image of an input."""
    return f"{MEAN_PREFIX}{index}"


def mean_entries(
    inputs: tuple[str, ...], formats: Mapping[str, InputFormat]
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of each entry, in the order of `inputs`."""
    for index, name in enumerate(inputs):
        steps = formats[name].pictures if name in formats else None
        if steps is not None and steps.mean_image is not None:
            yield entry_name(index), steps.mean_image.data


def with_mean_images(
    inputs: tuple[str, ...], formats: Mapping[str, InputFormat], entries: Mapping[str, bytes]
) -> dict[str, InputFormat]:
    """Return `formats` with the bytes of mean images from `entries`; none where one is missing."""
    filled = dict(formats)
    for index, name in enumerate(inputs):
        form = formats.get(name)
        if form is not None and form.pictures is not None and form.pictures.mean_image is not None:
            data = entries.get(entry_name(index), b"")
            image = replace(form.pictures.mean_image, data=data)
            filled[name] = replace(form, pictures=replace(form.pictures, mean_image=image))
    return filled
