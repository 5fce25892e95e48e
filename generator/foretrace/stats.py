"""Samples to what may be said of them: the median, an interval that holds it, and the change between two medians.

No distribution is assumed: GPU step times are skewed and have outliers, so intervals come from order statistics.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CONFIDENCE = 0.95
_RESAMPLES = 2000
_FEWEST = 6  # samples of which an interval with this confidence exists


Rounds = tuple[tuple[float, ...], ...]
"""Samples by the process that took them, in order; an empty one took none. Two processes differ by more than their
samples do."""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What a set of samples says, in the samples' own unit.

    `low … high` is the interval that holds the median with at least 95 % confidence (binomial order statistics); of
    fewer than six samples there is none, and it is the whole range. Over several processes, the medians of the
    processes are the samples; of fewer than six processes it reaches from the lowest to the highest of their intervals.
    """

    count: int
    median: float
    low: float
    high: float
    minimum: float
    maximum: float
    mean: float

    @property
    def spread(self) -> float:
        """Half the interval's width over the median: 0.02 reads as ± 2 %. 0 for a median of 0."""
        return (self.high - self.low) / 2 / self.median if self.median else 0.0


def exact(value: float) -> Summary:
    """A quantity that was counted or computed, not sampled."""
    return Summary(count=1, median=value, low=value, high=value, minimum=value, maximum=value, mean=value)


def summarise(samples: Iterable[float]) -> Summary:
    """The summary of finite samples; `ValueError` where there is none."""
    values = np.sort(np.asarray([value for value in samples if math.isfinite(value)], dtype=np.float64))
    if not len(values):
        msg = "no finite sample"
        raise ValueError(msg)
    below, above = _median_ranks(len(values))
    return Summary(
        count=len(values),
        median=float(np.median(values)),
        low=float(values[below]),
        high=float(values[above]),
        minimum=float(values[0]),
        maximum=float(values[-1]),
        mean=float(values.mean()),
    )


def across(rounds: Rounds) -> Summary:
    """The summary of samples from several processes: the median of their medians, the interval as `Summary` says.

    `ValueError` where there is no finite sample.
    """
    return _combined([summarise(samples) for samples in rounds if any(map(math.isfinite, samples))])


def apart(rounds: Rounds) -> float | None:
    """How far the rounds' medians lie apart, largest over smallest; None with fewer than two or with a 0."""
    medians = [float(np.median(samples)) for samples in rounds if samples]
    return max(medians) / min(medians) if len(medians) > 1 and min(medians) > 0 else None


def ratio_across(over: Rounds, under: Rounds) -> Summary:
    """The ratio of two quantities that were measured in turns, round by round, so that a drift cancels out.

    A round in which a side has no sample is left out. Where one side was measured in a single round and the other in
    several, nothing was in turns: see `quotient`. `ValueError` as for `ratio`.
    """
    measured = {sum(map(bool, over)), sum(map(bool, under))}
    if 1 in measured and len(measured) == 2:
        return quotient(across(over), across(under))
    pairs = zip(over, under, strict=False)
    return _combined([ratio(top, bottom) for top, bottom in pairs if top and bottom])


def difference_across(first: Rounds, second: Rounds) -> Summary:
    """How much larger the median of the first quantity is than that of the second, round by round.

    A round in which a side has no sample is left out; `ValueError` where none is left.
    """
    pairs = zip(first, second, strict=False)
    return summarise(float(np.median(one) - np.median(other)) for one, other in pairs if one and other)


def quotient(over: Summary, under: Summary) -> Summary:
    """The ratio of two quantities that are known by their summaries: its interval takes in all that both allow.

    `ValueError` where the lower interval reaches 0.
    """
    if under.low <= 0:
        msg = "a ratio needs a lower side above 0"
        raise ValueError(msg)
    return Summary(
        count=min(over.count, under.count),
        median=over.median / under.median,
        low=over.low / under.high,
        high=over.high / under.low,
        minimum=over.minimum / under.maximum,
        maximum=over.maximum / under.minimum if under.minimum > 0 else math.inf,
        mean=over.mean / under.mean,
    )


def ratio(over: Iterable[float], under: Iterable[float]) -> Summary:
    """median(over) / median(under), with its 95 % interval from a bootstrap with a fixed seed.

    With fewer than five samples a side no interval holds that much: of three it is nine in ten. `minimum` and `maximum`
    are the smallest and largest resampled ratio. `ValueError` where a side has no sample or the lower median is 0.
    """
    top = np.asarray([value for value in over if math.isfinite(value)], dtype=np.float64)
    bottom = np.asarray([value for value in under if math.isfinite(value)], dtype=np.float64)
    if not len(top) or not len(bottom) or np.median(bottom) == 0:
        msg = "a ratio needs samples on both sides and a lower median that is not 0"
        raise ValueError(msg)
    generator = np.random.default_rng(0)
    tops = np.median(generator.choice(top, (_RESAMPLES, len(top))), axis=1)
    bottoms = np.median(generator.choice(bottom, (_RESAMPLES, len(bottom))), axis=1)
    ratios = tops[bottoms != 0] / bottoms[bottoms != 0]
    low, high = np.quantile(ratios, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2))
    return Summary(
        count=min(len(top), len(bottom)),
        median=float(np.median(top) / np.median(bottom)),
        low=float(low),
        high=float(high),
        minimum=float(ratios.min()),
        maximum=float(ratios.max()),
        mean=float(top.mean() / bottom.mean()) if bottom.mean() else float(ratios.mean()),
    )


def _combined(parts: Sequence[Summary]) -> Summary:
    """One summary of those of several processes."""
    if not parts:
        msg = "no finite sample"
        raise ValueError(msg)
    medians = sorted(part.median for part in parts)
    if len(parts) < _FEWEST:
        low, high = min(part.low for part in parts), max(part.high for part in parts)
    else:
        low, high = (medians[rank] for rank in _median_ranks(len(medians)))
    count = sum(part.count for part in parts)
    return Summary(
        count=count,
        median=float(np.median(medians)),
        low=low,
        high=high,
        minimum=min(part.minimum for part in parts),
        maximum=max(part.maximum for part in parts),
        mean=sum(part.mean * part.count for part in parts) / count,
    )


def _median_ranks(count: int) -> tuple[int, int]:
    """The 0-based ranks of the order statistics that enclose the median with the confidence asked for."""
    tail = (1 - CONFIDENCE) / 2
    cumulated, rank = 0.0, 0
    while rank < count // 2:
        cumulated += math.exp(
            math.lgamma(count + 1) - math.lgamma(rank + 1) - math.lgamma(count - rank + 1) - count * math.log(2)
        )
        if cumulated > tail:
            break
        rank += 1
    below = max(rank - 1, 0)
    return below, count - 1 - below
