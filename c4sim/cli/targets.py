"""What is said when a budget of replications ends before the target is reached."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from c4sim.cli.messages import say
from c4sim.cli.output import is_share

if TYPE_CHECKING:
    from c4sim.experiment import Comparison, Missed

_NAMED = 8


def say_missed(found: "Sequence[Missed]", names: Sequence[str] = (), of: str = "") -> None:
    """One line on stderr, if anything was missed.

    names: of those that missed it, where there are several. of: what the interval is one of, if not the metric itself.
    """
    if not found:
        return
    first = found[0]
    widths = [missed.reached for missed in found if missed.reached is not None]
    reached = "no interval"
    if len(widths) == len(found):
        reached = f"a half width of {'up to ' if widths[1:] else ''}{_width(max(widths), first.metric)}"
    more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    where = f" ({'; '.join(names[:_NAMED])}{more})" if names else ""
    say(
        f"target: not reached: the budget of {first.replications} replications gives {of}{first.metric} {reached}"
        f"{where}, wanted is {_width(first.wanted, first.metric)}; budget=N sets a larger one"
    )


def say_missed_differences(comparison: "Comparison") -> None:
    """The same of the paired differences of a comparison."""
    missed = comparison.missed
    say_missed([found for _, found in missed], [f"with {label}" for label, _ in missed], "the difference in ")


def _width(value: float, metric: str) -> str:
    return f"{100 * value:.3g} pp" if is_share(metric) else f"{value:.3g}"
