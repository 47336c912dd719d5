"""Hypothesis without surprises: the same examples every time, and no deadline on a busy machine."""

from hypothesis import settings

from pmlbook.extremal.polytope import keep_rounding

with keep_rounding():  # the oracles import it too, wherever they run first
    import ppl  # noqa: F401

settings.register_profile("pmlbook", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("pmlbook")
