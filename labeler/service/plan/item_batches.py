"""Find out which items of a study were drawn at random, and which were chosen because they are informative.

This matters in a study that is planned in batches: only random items are a sample of all items.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from labeler.model import ItemRole
from labeler.service.plan import assigning
from labeler.store import Database, events, items

NEXT_ITEMS = "next items"


@dataclass(frozen=True)
class Sampled:
    """The items of a plan that was created in batches: random items, and items chosen because they are informative."""

    order: tuple[str, ...]  # all items in the random order of the plan's seed
    n_random: int  # the first `n_random` items of this order are a random sample of all items
    # For each batch, the new random items and the chosen items. The first batch is the original plan.
    batches: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]

    @property
    def planned(self) -> frozenset[str]:
        """The items that are in the plan."""
        return frozenset(name for random, chosen in self.batches for name in (*random, *chosen))

    @property
    def chosen(self) -> frozenset[str]:
        """The items of the plan that are not in the random sample.

        Agreement and the share of dissimilar items do not use the labels of these items.
        """
        return self.planned - frozenset(self.order[: self.n_random])

    @property
    def waiting(self) -> tuple[str, ...]:
        """The items that are not in the plan yet, in random order."""
        planned = self.planned
        return tuple(name for name in self.order if name not in planned)


def sampled(db: Database) -> Sampled | None:
    """Return which items of the plan are random and which were chosen.

    Return None if there is no plan, or if the plan was created for all items at once.
    """
    log = events.of_actions(db, {"draw plan", NEXT_ITEMS})
    drawn_at = max((n for n, event in enumerate(log) if event.action == "draw plan"), default=None)
    if drawn_at is None or "first" not in log[drawn_at].details:
        return None
    details = log[drawn_at].details
    seed = assigning.seed_of(db)
    names = [item.name for item in items.all_items(db) if item.n_runs]
    order = assigning.random_order(names, seed)
    batches: list[tuple[Sequence[str], Sequence[str]]] = [(details["items"], ())]
    n_random = _reach(order, details["items"])
    for event in log[drawn_at + 1 :]:
        batches.append((event.details["random"], event.details["chosen"]))
        n_random = int(event.details["n_random"])
    return Sampled(tuple(order), n_random, tuple((tuple(a), tuple(b)) for a, b in batches))


def chosen_items(db: Database) -> frozenset[str]:
    """Return the items that were chosen because they are informative.

    Return an empty set if the plan was created for all items at once.
    """
    known = sampled(db)
    return known.chosen if known else frozenset()


def roles(db: Database) -> dict[str, ItemRole]:
    """Return how the results use each item, in order of name."""
    return items.roles(db, chosen_items(db))


def not_counted(db: Database) -> frozenset[str]:
    """Return the names of the items that no result uses, except for learning and weighted estimates."""
    return frozenset(name for name, role in roles(db).items() if role is not ItemRole.COUNTED)


def _reach(order: Sequence[str], names: Sequence[str]) -> int:
    """Return the smallest n so that the first n items of the random order include all these items.

    Other items among the first n were excluded when the plan was created.
    """
    wanted = set(names)
    return max((n + 1 for n, name in enumerate(order) if name in wanted), default=0)
