"""Pages from templates that ship with the package."""

from collections.abc import Mapping
from typing import Any


def render(template: str, content: Mapping[str, Any]) -> str:
    """A template of the package's `templates` folder, filled; a name that it does not find is an error."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("c4sim.report"),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 - Markdown, not HTML, from numbers and names of this package
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(content)
