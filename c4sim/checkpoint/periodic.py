"""Timelines of any save schedule that repeats: tiers, asynchronous writing, overruns, slow nodes."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import partial
from math import inf
from typing import NamedTuple

from c4sim.checkpoint.facts import Progress, make_progress
from c4sim.checkpoint.schedule import Number, Piece, Save, Schedule
from c4sim.checkpoint.timeline import Cut, Entry, JobPhase


class _Row(NamedTuple):
    """A piece as floats, less the multiples of the period if it is part of the loop. standing: a stall (rate 0)."""

    start: float
    work: float
    stall: float
    slowdown: float
    saves: int
    rate: float
    due_in: float
    triggers: int
    standing: bool
    place: int


class _Period(NamedTuple):
    """What one turn of the loop adds to time, work, stall, slowdown and saves; `first` numbers its first turn."""

    wall: float
    work: float
    stall: float
    slowdown: float
    saves: int
    first: int


class _Point(NamedTuple):
    """A save, see `Save`: all but its `turns` less those of the turns that its end is nearest to, the loop's first one
    at 0.
    """

    turns: int
    begin: float
    end: float
    work: float
    stall: float
    slowdown: float
    saves: int


_CLOSE = 1e-9  # a save's end that is further off than this share of the wall time cannot round to the other side
_NEVER = _Point(0, inf, inf, inf, inf, inf, 0)


class _TierSaves(NamedTuple):
    """A tier's saves: those before the loop, those of one turn, and when they end (in the loop's first turn)."""

    before: int
    early: list[_Point]
    early_ends: list[float]
    turn: list[_Point]
    turn_ends: list[float]


class Periodic:
    """Timeline of a schedule. What turn q of the loop holds is q times the period plus a constant: multiples round
    once.

    persist: per tier, s from a save's end until it is durable; open_before: per tier, s until an earlier leg's save
    is durable.
    """

    __slots__ = (
        "_counts",
        "_early_starts",
        "_early_works",
        "_loop",
        "_open_before",
        "_period",
        "_persist",
        "_rows",
        "_saves",
        "_starts",
        "_works",
    )

    def __init__(self, schedule: Schedule[Number], persist: tuple[float, ...], open_before: tuple[float, ...]) -> None:
        loop = schedule.loop_piece
        first, end = schedule.pieces[loop], schedule.end
        assert end is not None
        wall, work = end.start - first.start, end.work - first.work
        stall, slowdown, saves = end.stall - first.stall, end.slowdown - first.slowdown, end.saves - first.saves
        turn = round(first.start / wall)
        self._period = _Period(float(wall), float(work), float(stall), float(slowdown), saves, turn)
        shift = Piece(turn * wall, turn * work, turn * stall, turn * slowdown, turn * saves, None, wall - wall, 0)
        still = Piece(wall - wall, wall - wall, wall - wall, wall - wall, 0, None, wall - wall, 0)
        self._rows = [
            _row(piece, shift if place >= loop else still, place) for place, piece in enumerate(schedule.pieces)
        ]
        self._loop = loop
        self._early_starts = [row.start for row in self._rows[:loop]]
        self._early_works = [row.work for row in self._rows[:loop]]
        self._starts = [row.start for row in self._rows[loop:]]
        self._works = [row.work for row in self._rows[loop:]]
        shift_of = partial(_point, wall=wall, work=work, stall=stall, slowdown=slowdown, saves=saves)
        early, later = schedule.saves[: schedule.loop_save], schedule.saves[schedule.loop_save :]
        self._saves = [_tier_saves(_of(early, tier), _of(later, tier), shift_of) for tier in range(len(persist))]
        # Counted, not compared: the ends of a save and the start of the piece after it may round differently.
        self._counts = _counts(schedule, len(persist))
        self._persist = persist
        self._open_before = open_before

    def _locate(self, wall: float) -> tuple[int, _Row]:
        """The last piece that starts at or before `wall`, and the loop's turn that it lies in (0 before the loop)."""
        period, starts = self._period, self._starts
        if wall < period.first * period.wall + starts[0]:
            return 0, self._rows[max(bisect_right(self._early_starts, wall) - 1, 0)]
        turn = int((wall - starts[0]) / period.wall)
        if (turn + 1) * period.wall + starts[0] <= wall:
            turn += 1
        elif turn * period.wall + starts[0] > wall:
            turn -= 1
        base = turn * period.wall
        place = max(bisect_right(starts, wall - base) - 1, 0)
        if place + 1 < len(starts) and base + starts[place + 1] <= wall:
            place += 1
        elif place and base + starts[place] > wall:
            place -= 1
        return turn, self._rows[self._loop + place]

    def _next(self, turn: int, row: _Row) -> tuple[int, _Row]:
        place = row.place + 1
        if place == len(self._rows):
            return turn + 1, self._rows[self._loop]
        return (self._period.first if place == self._loop else turn), self._rows[place]

    def progress(self, wall: float) -> Progress:
        """See Timeline."""
        turn, row = self._locate(wall)
        period = self._period
        work = turn * period.work + row.work
        stall = turn * period.stall + row.stall
        slowdown = turn * period.slowdown + row.slowdown
        since = wall - (turn * period.wall + row.start)
        if row.standing:
            stall += since
        else:
            work += row.rate * since
            slowdown += since - row.rate * since
        return make_progress((work, stall, slowdown, turn * period.saves + row.saves))

    def wall_of_work(self, work: float) -> float:
        """See Timeline."""
        if not work > 0.0:
            return 0.0
        turn, row = self._locate_work(work)
        while row.rate == 0.0:  # rounding took the end of a working piece for the standstill after it
            turn, row = self._next(turn, row)
        period = self._period
        return turn * period.wall + row.start + (work - (turn * period.work + row.work)) / row.rate

    def _locate_work(self, work: float) -> tuple[int, _Row]:
        """The last piece that starts with less than `work` done, and its turn."""
        period, works = self._period, self._works
        if work <= period.first * period.work + works[0]:
            return 0, self._rows[max(bisect_left(self._early_works, work) - 1, 0)]
        turn = int((work - works[0]) / period.work)
        if (turn + 1) * period.work + works[0] < work:
            turn += 1
        elif turn * period.work + works[0] >= work:
            turn -= 1
        base = turn * period.work
        place = max(bisect_left(works, work - base) - 1, 0)
        if place + 1 < len(works) and base + works[place + 1] < work:
            place += 1
        elif place and base + works[place] >= work:
            place -= 1
        return turn, self._rows[self._loop + place]

    def saved(self, tier: int, wall: float, lag: float) -> int:
        """See Timeline."""
        before, _, early_ends, _, ends = self._saves[tier]
        until = wall - lag
        if not ends or until < ends[0]:
            count = bisect_right(early_ends, until)
        else:
            per_turn = self._period[0]
            turn = int((until - ends[0]) / per_turn)
            rest = until - turn * per_turn
            place = bisect_right(ends, rest)
            count = before + turn * len(ends) + place
            following = ends[place] if place < len(ends) else ends[0] + per_turn
            if place and following - rest > _CLOSE * wall < rest - ends[place - 1]:
                return count
        save_end = self.save_end
        while save_end(tier, count) + lag <= wall:
            count += 1
        while count and save_end(tier, count - 1) + lag > wall:
            count -= 1
        return count

    def begun(self, tier: int, wall: float) -> int:
        """See Timeline."""
        count = self.saved(tier, wall, 0.0)
        turns, save = self._save(tier, count)
        return count + (turns * self._period.wall + save.begin <= wall)

    def _save(self, tier: int, index: int) -> tuple[int, _Point]:
        """The tier's save `index`, and the turns to add to its times and work."""
        saves = self._saves[tier]
        later = index - saves.before
        if later < 0:
            save = saves.early[index]
            return save.turns, save
        if not saves.turn:
            return 0, _NEVER
        turn, place = divmod(later, len(saves.turn))
        save = saves.turn[place]
        return save.turns + turn, save

    def save_end(self, tier: int, index: int) -> float:
        """See Timeline. inf if the tier takes no such save."""
        before, early, _, turn, _ = self._saves[tier]
        if index < before:
            save = early[index]
            return save[0] * self._period[0] + save[2]
        if not turn:
            return inf
        turns, place = divmod(index - before, len(turn))
        save = turn[place]
        return (save[0] + turns) * self._period[0] + save[2]

    def held(self, tier: int, index: int) -> Progress:
        """See Timeline."""
        turns, (_, _, _, work, stall, slowdown, saves) = self._save(tier, index)
        _, per_work, per_stall, per_slowdown, per_turn, _ = self._period
        before = turns * per_work, turns * per_stall, turns * per_slowdown, turns * per_turn
        return make_progress((before[0] + work, before[1] + stall, before[2] + slowdown, before[3] + saves))

    def cut(self, wall: float) -> Cut:
        """See Timeline."""
        turn, row = self._locate(wall)
        while row.standing:
            turn, row = self._next(turn, row)
            wall = turn * self._period.wall + row.start
        since = wall - (turn * self._period.wall + row.start)
        turns = turn - self._period.first if row.place >= self._loop else 0
        saved = tuple(
            count + turns * len(saves.turn) for count, saves in zip(self._counts[row.place], self._saves, strict=True)
        )
        still_open = tuple(self._still_open(tier, count, wall) for tier, count in enumerate(saved))
        entry = Entry(max(row.due_in - row.rate * since, 0.0), row.triggers, still_open)
        return Cut(wall, self.progress(wall), saved, entry)

    def _still_open(self, tier: int, count: int, wall: float) -> float:
        durable = self.save_end(tier, count - 1) + self._persist[tier] if count else self._open_before[tier]
        return max(durable - wall, 0.0)

    def written(self, wall: float) -> float:
        """See Timeline."""
        return wall

    def phase_at(self, wall: float) -> JobPhase | None:
        """See Timeline."""
        return "save" if self._locate(wall)[1].standing else None


def _row(piece: Piece[Number], shift: Piece[Number], place: int) -> _Row:
    return _Row(
        float(piece.start - shift.start),
        float(piece.work - shift.work),
        float(piece.stall - shift.stall),
        float(piece.slowdown - shift.slowdown),
        piece.saves - shift.saves,
        0.0 if piece.rate is None else float(piece.rate),
        float(piece.due_in),
        piece.triggers,
        piece.rate is None,
        place,
    )


def _of(saves: list[Save[Number]], tier: int) -> list[Save[Number]]:
    return [save for save in saves if tier in save.tiers]


def _tier_saves(
    early: list[Save[Number]], later: list[Save[Number]], point: Callable[[Save[Number]], _Point]
) -> _TierSaves:
    before, turn = [point(save) for save in early], [point(save) for save in later]
    return _TierSaves(len(before), before, [float(s.end) for s in early], turn, [float(s.end) for s in later])


def _point(save: Save[Number], *, wall: Number, work: Number, stall: Number, slowdown: Number, saves: int) -> _Point:
    turns = round(save.end / wall)
    return _Point(
        turns,
        float(save.begin - turns * wall),
        float(save.end - turns * wall),
        float(save.work - turns * work),
        float(save.stall - turns * stall),
        float(save.slowdown - turns * slowdown),
        save.count - turns * saves,
    )


def _counts(schedule: Schedule[Number], tiers: int) -> list[tuple[int, ...]]:
    """Per piece: saves of each tier before it."""
    counts = [0] * tiers
    done = 0
    before = []
    for piece in schedule.pieces:
        for save in schedule.saves[done : piece.saves]:
            for tier in save.tiers:
                counts[tier] += 1
        done = piece.saves
        before.append(tuple(counts))
    return before
