"""A learner that suits the data: the default for its kind, or any learner of the catalog made to take it."""

import os
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from inspect import isclass, isroutine
from typing import Any

from spanwise import catalog
from spanwise.errors import SettingError
from spanwise.learner import Learner

READY = "spanwise.adapters.ready_files"
DEEP = "spanwise.deep.ready"
"""Imported when they are needed: scikit-learn and torch are both optional."""


def find(
    name: str | None,
    kind: str,
    *,
    text: str | None = None,
    classes: int = 2,
    encoder: str | None = None,
    device: str | None = None,
) -> Any:
    """The learner of that name, made to take this kind of data; else the default for it.

    Args:
        name: of the catalog, or "module:name" of your own.
        kind: array, text, images or columns.
        text: the column of text beside others, if there is one.
        classes: how many there will be.
        encoder: folder of a pretrained encoder of texts.
        device: of networks.
    """
    mine = name is not None and ":" in name
    if encoder is not None and (kind != "text" or mine):
        raise SettingError(
            "an encoder is for texts alone: name their column with --text, and leave out --feature and a --learner "
            "of your own"
        )
    if device is not None and (mine or (encoder is None and kind != "images")):
        raise SettingError("--device is for networks on images or on an encoder: leave it out, or add --encoder")
    if name is not None and mine:
        return own(name, kind, text)
    if encoder is not None:
        return for_encoded_text(name, encoder, device)
    made: dict[str, Callable[[str | None], Any]] = {
        "array": for_array,
        "images": partial(for_images, device=device),
        "text": partial(for_text, classes=classes),
        "columns": partial(for_columns, text=text, classes=classes),
    }
    return made[kind](name)


def default(kind: str, *, encoded: bool = False) -> str:
    """What learns where no learner is named, in words."""
    if encoded:
        return "a linear layer on the frozen encoder"
    return {
        "array": "averaged-linear",
        "images": "ft, a small CNN",
        "text": "a linear model of hashed words",
        "columns": "a linear model",
    }[kind]


def for_array(name: str | None) -> Any:
    return catalog.learner(name or "averaged-linear")


def for_images(name: str | None, device: str | None = None) -> Any:
    """One of the five deep learners around a small CNN."""
    return import_module(DEEP).for_images(name or "ft", device=device)


def for_text(name: str | None, classes: int = 2) -> Any:
    """On hashed words."""
    ready = import_module(READY)
    return ready.words_linear(classes) if name in (None, "linear") else ready.for_text(catalog.learner(str(name)))


def for_encoded_text(name: str | None, folder: str, device: str | None = None) -> Any:
    """On a pretrained encoder: frozen under a linear layer, or fine-tuned whole by one of the five deep learners."""
    deep = import_module(DEEP)
    return deep.encoded(folder, device=device) if name is None else deep.fine_tuned(folder, name, device=device)


def for_columns(name: str | None, text: str | None = None, classes: int = 2) -> Any:
    """On numbers and hashed categories, and on the hashed words of one column."""
    ready = import_module(READY)
    if name in (None, "linear"):
        return ready.columns_linear(text, classes)
    return ready.columns_mlp(text) if name == "mlp" else ready.for_columns(catalog.learner(str(name)), text)


def source(name: str) -> str | None:
    """The file of a learner of your own, given as "module:name" and found; None for one of the catalog."""
    module, mine, _ = name.partition(":")
    return getattr(sys.modules.get(module), "__file__", None) if mine else None


def own(name: str, kind: str, text: str | None = None) -> Any:
    """What "module:name" stands for: a learner, or what is called to make one; modules of this folder count too.

    A learner by our own contract takes rows as the stream has them, and so does any learner of texts or images;
    a classifier of another library is given columns as an array.

    Args:
        name: where to find it.
        kind: of the data.
        text: the column of text beside others, if there is one.
    """
    module, _, attribute = name.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found = getattr(import_module(module), attribute)
        made = found() if isclass(found) or isroutine(found) or isinstance(found, partial) else found
    except Exception as error:  # code that is not ours may raise anything
        said = str(error).partition("\n")[0]
        raise SettingError(f"--learner {name} cannot be used: {type(error).__name__}: {said}") from error
    return import_module(READY).for_columns(made, text) if kind == "columns" and not isinstance(made, Learner) else made
