"""Proofs of leakage about one record: how near, of which kind, how long as a file, and the time to find and to check it.

Run: python benchmarks/leakage_proof.py [--seconds 10] [--only count]

The settings are those of `frontier.py`. The last column is the time of a check as a part of the time that
`per_record_leakage` takes for its own bound, to the same tolerance; python-flint comes with the extra `proof`.
"""

from __future__ import annotations

import argparse
from time import process_time

import numpy as np
from frontier import ENOUGH, record_measured, record_settings

import pmlbook as pb


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="time limit of a search")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    asked = parser.parse_args()
    print(f"{'setting':<46}{'gap':>9}  {'kind':<10}{'kB':>7}{'found s':>9}{'check s':>9}{'x':>7}")
    for name, query, channel, share in record_settings():
        if asked.only not in name:
            continue
        begin = process_time()
        b = share * sum(np.log(size) for size in query.shape)
        proof = pb.records.leakage_proof(query, channel, b, ENOUGH, asked.seconds)
        found, text = process_time(), proof.to_json()
        read = process_time()
        pb.records.LeakageProof.from_json(text).check(query, channel)
        check = process_time() - read
        searched, _ = record_measured(query, channel, share, asked.seconds)
        kind, gap = type(proof.arguments[0]).__name__, proof.bound - proof.value
        times = f"{found - begin:9.1f}{check:9.1f}{check / searched:7.2g}"
        print(
            f"{name}, {share:.1%}".ljust(46)
            + f"{gap:9.1e}  {kind:<10}{len(text) / 1e3:7.0f}{times}",
            flush=True,
        )


if __name__ == "__main__":
    main()
