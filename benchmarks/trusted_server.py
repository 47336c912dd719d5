"""The scale of noise that one record behind a trusted server needs, against that of differential privacy.

Run: python benchmarks/trusted_server.py
For each share of the rarest answer and each level: both scales of a histogram, the factor of the variance, and the
level of differential privacy that the smaller scale has.
"""

from __future__ import annotations

from time import perf_counter

from pmlbook.additive_noise import histogram_scale, record_leakage_of_histogram


def main() -> None:
    """A line for each share and level."""
    print("rarest  nats  DP's scale   scale  variance  DP level  level kept       us")
    for share in (0.25, 0.1, 0.01, 0.001):
        for epsilon in (0.5, 1.0, 2.0):
            prior = [share, 1 - share]
            begin = perf_counter()
            scale = histogram_scale(prior, epsilon)
            seconds = perf_counter() - begin
            if not scale:
                print(f"{share:6g} {epsilon:5g}  the exact histogram keeps the level")
                continue
            kept = record_leakage_of_histogram(prior, scale)
            print(
                f"{share:6g} {epsilon:5g} {2 / epsilon:11.3f} {scale:7.3f} {(2 / epsilon / scale) ** 2:9.2f}"
                f" {2 / scale:9.3f} {kept:11.8f} {seconds * 1e6:8.0f}"
            )


if __name__ == "__main__":
    main()
