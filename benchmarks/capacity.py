"""How much sooner Newton's steps bracket a capacity than the iteration of Blahut and Arimoto."""

from time import process_time

import numpy as np

from pmlbook.foundations import channel_capacity
from pmlbook.foundations.capacity import divergences
from pmlbook.foundations.probability import random_channel

GAP, PATIENCE = 1e-6, 20.0  # nats, and seconds for the slow one


def blahut_arimoto(channel):
    """Seconds until the gap is reached, and the gap; the iteration is stopped when patience ends."""
    start, distribution = process_time(), np.full(len(channel), 1 / len(channel))
    while True:
        divergence = divergences(channel, distribution)
        gap, seconds = divergence.max() - distribution @ divergence, process_time() - start
        if gap <= GAP or seconds > PATIENCE:
            return seconds, gap
        distribution = distribution * np.exp(divergence)
        distribution /= distribution.sum()


if __name__ == "__main__":
    print("secrets  Newton, gap          Blahut and Arimoto, gap   ratio")
    for n in (10, 50, 200):
        channel = random_channel(n, n, np.random.default_rng(n))
        start = process_time()
        found = channel_capacity(channel)
        ours = process_time() - start
        theirs, gap = blahut_arimoto(channel)
        print(
            f"{n:7}  {ours:.4f} s, {found.gap:.0e}      {theirs:8.3f} s, {gap:.0e}        {theirs / ours:6.0f}"
        )
