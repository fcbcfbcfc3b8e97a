"""Commands that are imported when they are used, so that ``lexfuse --help`` loads none of them."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from lexfuse.cli.options.flag_group import expand_flags
from lexfuse.dependencies import Extra

MARKUP: Final = "markdown"  # of help texts


class LazyCommand(TyperCommand):
    """The name, place and one-line help of a command; it becomes the command when it runs, completes or shows help.

    `target` is ``module:function`` below `lexfuse.cli`; `extra` has the optional packages that the module imports.

    >>> len(LazyCommand("fetch", "fetch:fetch", "Fetch models.").load().params)
    2
    """

    def __init__(self, name: str, target: str, help: str, *, extra: Extra | None = None) -> None:
        super().__init__(name, help=help, rich_markup_mode=MARKUP)
        self.target, self.extra = target, extra

    def load(self) -> Any:
        """Import the function; the command with its parameters."""
        module, _, function = self.target.partition(":")
        if self.extra:
            self.extra.require(f"lexfuse {self.name}")
        loaded = import_module(f"lexfuse.cli.{module}")
        single = typer.Typer(rich_markup_mode=MARKUP, add_completion=False)
        single.command(self.name)(expand_flags(getattr(loaded, function)))
        return get_command(single)

    def make_context(self, *arguments: Any, **settings: Any) -> Any:
        """The context of the loaded command: running, completing and showing help all ask for it first."""
        return self.load().make_context(*arguments, **settings)


def group(name: str, help: str, *commands: TyperCommand) -> TyperGroup:
    """Commands under one name.

    >>> list(group("keys", "Manage keys.", LazyCommand("add", "keys:add", "Make a key.")).commands)
    ['add']
    """
    return TyperGroup(name=name, help=help, commands=commands, no_args_is_help=True, rich_markup_mode=MARKUP)
