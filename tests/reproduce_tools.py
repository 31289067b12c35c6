"""A small reproduction that several test modules share, and its document as results.json holds it."""

import functools
import json
from typing import Any

from c4sim.studies.reproduce import Reproduction, reproduce
from c4sim.studies.reproduce_files import as_document, json_text

SMALL = 20


@functools.cache
def small() -> Reproduction:
    """The whole study with as few months as its parts allow."""
    return reproduce(SMALL, seed=0)


@functools.cache
def document_text() -> str:
    """results.json of the small reproduction."""
    return json_text(as_document(small()))


def document() -> dict[str, Any]:
    """results.json of the small reproduction, read back."""
    content: dict[str, Any] = json.loads(document_text())
    return content
