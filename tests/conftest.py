"""Hypothesis without surprises: the same examples every time, and no deadline on a busy machine."""

from hypothesis import settings

settings.register_profile("pmlbook", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("pmlbook")
