"""The public names of the library: the modules that have them, and each name with what it stands for."""

from inspect import ismodule

import pmlbook

MODULES = [
    pmlbook,
    *(vars(pmlbook)[name] for name in pmlbook.__all__ if ismodule(getattr(pmlbook, name))),
]
NAMES = [(m, name) for m in MODULES for name in m.__all__ if not ismodule(getattr(m, name))]
PUBLIC = {name: getattr(module, name) for module, name in NAMES}
