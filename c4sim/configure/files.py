"""The YAML groups: where they lie, what they offer, and which of them a choice of options brings in, in which order.

The order (defaults lists, `override`, packages) is Hydra's. Its loader is internal API, so hydra-core is pinned below
1.4 and everything taken from it is in this module. It is used without the global state that a user's own Hydra
application holds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from hydra._internal.config_repository import ConfigRepository
from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra._internal.defaults_list import create_defaults_list
from hydra.core.default_element import ResultDefault
from hydra.core.override_parser.types import Override, OverrideType, ValueType
from hydra.errors import HydraException
from hydra.plugins.config_source import ConfigResult
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from c4sim.configure.errors import ConfigError
from c4sim.scenario import Problem

PRIMARY = "c4sim"
SCENARIO_GROUP = "scenario"
LARGEST_FILE = 262_144
MOST_NODES = 50_000
_YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Layer:
    """One YAML file's content as a nested mapping, and its name when it is the user's own."""

    content: dict[str, Any]
    user_file: str | None


def shipped_folder() -> Path:
    """The folder of c4sim's own configurations: in the wheel, or in the checkout of an editable install."""
    package = Path(__file__).resolve().parents[1]
    in_wheel = package / "configs"
    return in_wheel if in_wheel.is_dir() else package.parent / "configs"


class Library(ConfigRepository):
    """The YAML files of the user's folder (first) and of c4sim's own."""

    def __init__(self, config_dir: str | Path | None = None) -> None:
        # Not calling the base class: it looks sources up in a registry that imports every installed Hydra plugin.
        self.user_folder = None if config_dir is None else _existing(Path(config_dir))
        folders = [shipped_folder()] if self.user_folder is None else [self.user_folder, shipped_folder()]
        self._read: dict[str, ConfigResult | None] = {}
        self._folders = [folder.resolve() for folder in folders]
        self.sources = [FileConfigSource("c4sim", f"file://{folder}") for folder in self._folders]

    def options(self, group: str) -> list[str]:
        """The options of a group; an empty list when there is no such group."""
        return self.get_group_options(group) if group and self.group_exists(group) else []

    def groups(self) -> list[str]:
        """The groups at the top of the folders."""
        return sorted({path.name for folder in self._folders for path in folder.iterdir() if any(path.glob("*.yaml"))})

    def load_config(self, config_path: str) -> ConfigResult | None:
        # Hydra asks for each file several times.
        if config_path not in self._read:
            self._read[config_path] = self._load_checked(config_path)
        return self._read[config_path]

    def _load_checked(self, config_path: str) -> ConfigResult | None:
        relative = f"{config_path.removesuffix('.yaml')}.yaml"
        path = next((folder / relative for folder in self._folders if (folder / relative).is_file()), None)
        if path is not None:
            self._check(path, relative)
        try:
            return super().load_config(config_path)
        except (OmegaConfBaseException, yaml.YAMLError, ValueError) as error:
            raise ConfigError([Problem(relative, f"is not taken: {_on_one_line(error)}")]) from error

    def layers(self, choices: Mapping[str, str]) -> list[Layer]:
        """The files that `choices` (group -> option) bring in, later ones over earlier ones.

        The options chosen here come last, so that nothing in a scenario's body leaks into a group that was swapped.
        Raises ConfigError when a file cannot be read or a group is not part of the scenario.
        """
        overrides = [_choice(group, option) for group, option in choices.items()]
        try:
            found = create_defaults_list(self, PRIMARY, overrides, prepend_hydra=False, skip_missing=False)
            swapped = [d for d in found.defaults if d.override_key in choices and d.override_key != SCENARIO_GROUP]
            kept = [d for d in found.defaults if d not in swapped]
            return [self._layer(default) for default in [*kept, *swapped]]
        except RecursionError as error:
            names = ", ".join(f"{group}/{option}.yaml" for group, option in choices.items())
            message = "the defaults lead back to a file that they come from (itself, or two files each other)"
            raise ConfigError([Problem(names, message)]) from error
        except (HydraException, OmegaConfBaseException, yaml.YAMLError, ValueError, OSError) as error:
            if isinstance(error, ConfigError):
                raise
            raise ConfigError([Problem("configuration", _on_one_line(error))]) from error

    def _layer(self, default: ResultDefault) -> Layer:
        assert default.config_path is not None
        result = self.load_config(default.config_path)
        assert result is not None
        content: Any = _with_text_keys(OmegaConf.to_container(result.config, resolve=False))
        if not isinstance(content, dict) or not isinstance(content.get("provenance") or {}, dict):
            raise ConfigError([Problem(f"{default.config_path}.yaml", "must be a mapping, and so must provenance")])
        package = result.header["package"] if default.package is None else default.package
        parts = [part for part in (package or "").split(".") if part and part != "_global_"]
        if parts and (parts[0] == SCENARIO_GROUP or parts[0] in content):
            message = (
                f"must begin with the line '# @package _global_': without it all its keys are put below {parts[0]}"
            )
            raise ConfigError([Problem(f"{default.config_path}.yaml", message)])
        for part in reversed(parts):
            content = {part: content}
        own = self.user_folder is not None and result.path == f"file://{self._folders[0]}"
        return Layer(content, f"{default.config_path}.yaml" if own else None)

    def _check(self, path: Path, name: str) -> None:
        """Refuse what lies outside the folders, what is no YAML, and what would not fit into memory once read."""
        if not any(path.resolve().is_relative_to(folder) for folder in self._folders):
            raise ConfigError([Problem(name, "lies outside the configuration folders")])
        if path.stat().st_size > LARGEST_FILE:
            raise ConfigError([Problem(name, f"is larger than {LARGEST_FILE:,} bytes; give long fault lists as CSV")])
        root = _composed(path, name)
        if root is not None and _expanded_size(root, {}) > MOST_NODES:
            raise ConfigError([Problem(name, f"holds more than {MOST_NODES:,} values")])


def _composed(path: Path, name: str) -> yaml.Node | None:
    try:
        text = path.read_text(encoding="utf-8")
        if text.startswith("\ufeff"):
            raise ConfigError([Problem(name, "begins with a byte order mark; save it as UTF-8 without one")])
        root: yaml.Node | None = yaml.compose(text, Loader=_YAML_LOADER)
    except UnicodeDecodeError as error:
        raise ConfigError([Problem(name, f"is not UTF-8 text: {error.reason} at byte {error.start}")]) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        at = "" if mark is None else f" at line {mark.line + 1}, column {mark.column + 1}"
        raise ConfigError([Problem(name, f"is no YAML: {error.problem}{at}")]) from error
    except yaml.YAMLError as error:
        raise ConfigError([Problem(name, f"is no YAML: {_on_one_line(error)}")]) from error
    return root


def scenario_names(config_dir: str | Path | None = None) -> list[str]:
    """The scenarios that can be loaded by name."""
    return Library(config_dir).options(SCENARIO_GROUP)


def _existing(folder: Path) -> Path:
    if not folder.is_dir():
        raise ConfigError([Problem("--config-dir", "no such folder", str(folder))])
    return folder


def _choice(group: str, option: str) -> Override:
    return Override(OverrideType.CHANGE, group, ValueType.ELEMENT, option, input_line=f"{group}={option}")


def _with_text_keys(value: Any) -> Any:
    """YAML reads a bare 1, true or null as a key of another kind; here every key is a name."""
    if isinstance(value, dict):
        return {str(key): _with_text_keys(item) for key, item in value.items()}
    return [_with_text_keys(item) for item in value] if isinstance(value, list) else value


def _on_one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _expanded_size(node: yaml.Node, known: dict[int, int]) -> int:
    """Values in `node` with every alias written out, counted without writing it out."""
    if id(node) not in known:
        known[id(node)] = MOST_NODES + 1  # an alias to a node that holds it never ends
        children: list[yaml.Node] = []
        if isinstance(node, yaml.MappingNode):
            children = [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            children = node.value
        known[id(node)] = 1 + sum(_expanded_size(child, known) for child in children)
    return known[id(node)]
