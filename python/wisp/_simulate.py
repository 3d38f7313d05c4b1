"""async functions on a simulated cluster."""

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

from ._core import Comm, _simulate


@dataclass(frozen=True)
class Report:
    """What a simulated program took."""

    seconds: float  #: virtual, until the last rank is done
    messages: int
    bytes: int
    messages_between_nodes: int
    rounds: int  #: the longest chain of messages each of which waited for the one before
    results: list[Any]  #: what the function gave, by rank


def simulate(
    function: Callable[[Comm], Awaitable[Any]],
    ranks: int,
    *,
    latency: float = 2e-6,
    overhead: float = 0.5e-6,
    bandwidth: float = 10e9,
    jitter: float = 0,
    seed: int = 0,
    rendezvous: bool = False,
    nodes: Sequence[int] = (),
) -> Report:
    """Runs an async function on every rank of a simulated cluster, in this process, under the LogGP model; it awaits
    requests of wisp (`await comm.Ibcast(...)`), for nothing can block. Seconds and bytes per second; each message takes
    up to `jitter` longer, drawn from `seed`; `nodes` has the node of each rank. The same arguments give the same run.

    What a rank raises is raised; so is an Error if no message can move, that says who waits for whom."""
    for name, value in [("latency", latency), ("overhead", overhead), ("jitter", jitter), ("bandwidth", bandwidth)]:
        if not (0 <= value < math.inf) or (name == "bandwidth" and value == 0):
            raise ValueError(f"wisp.simulate: {name} = {value} is none")
    if index(ranks) < 1:
        raise ValueError(f"wisp.simulate: ranks = {ranks} is less than 1")
    if index(seed) < 0:
        raise ValueError(f"wisp.simulate: seed = {seed} is negative")
    return Report(
        **_simulate(function, ranks, latency, overhead, bandwidth, jitter, seed, rendezvous, list(nodes))
    )
