"""Long computations beside the event loop, so that one big history does not hold up the others.

Rules: only pure functions of their arguments go here. Small work stays on the loop: a thread costs more than it.
A cancelled caller is answered at once; what was computed for it is thrown away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

SMALL = 300
"""So many entries are worked on faster on the loop than handed to a thread."""


async def compute(size: int, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Return `function(*args, **kwargs)`; `size` is how many entries it looks at."""
    if size <= SMALL:
        return function(*args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(None, partial(function, *args, **kwargs))
