"""Plain YAML files of a group that is no part of a scenario, such as what published clusters have reported."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from c4sim.configure.errors import ConfigError
from c4sim.configure.files import Library
from c4sim.configure.refused import take_out_refused
from c4sim.scenario import Problem


@dataclass(frozen=True)
class GroupFile:
    """One file of a group: its name without suffix, and its content as plain nested data."""

    name: str
    content: dict[str, Any]


def read_group(group: str, config_dir: str | Path | None = None) -> list[GroupFile]:
    """Every file of a group by name; a file of the user's folder stands for c4sim's own of the same name.

    Raises ConfigError with what cannot be read in any of them: no mapping, an interpolation, a name to instantiate.
    """
    library = Library(config_dir)
    problems: list[Problem] = []
    found = [GroupFile(name, _content(library, group, name, problems)) for name in library.options(group)]
    if problems:
        raise ConfigError(problems)
    return found


def _content(library: Library, group: str, name: str, problems: list[Problem]) -> dict[str, Any]:
    at = f"{group}/{name}.yaml"
    try:
        result = library.load_config(f"{group}/{name}")
        content: Any = None if result is None else OmegaConf.to_container(result.config, resolve=False)
    except (OmegaConfBaseException, yaml.YAMLError, ValueError, OSError) as error:
        if isinstance(error, ConfigError):
            problems += error.problems
        else:
            problems.append(Problem(at, " ".join(str(error).split())))
        return {}
    if not isinstance(content, dict):
        problems.append(Problem(at, "must be a mapping"))
        return {}
    problems += [Problem(f"{at}: {p.path}", p.message, p.value) for p in take_out_refused(content)]
    return content
