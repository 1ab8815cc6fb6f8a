"""Define how a report resamples: the numbers of draws and the random seed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

MIN_MISFIT = 19  # the smallest number of draws with which p = 0.05 is possible


@dataclass(frozen=True)
class Resampling:
    """The numbers of draws and the random seed. The same settings and data give the same report.

    Attributes
    ----------
    seed : int
    n_bootstrap : int
        Bootstrap draws of items; 0 for none.
    n_sweeps : int
        Sweeps of the Gibbs sampler of the latent class model; if 0, the model is not fitted.
    n_misfit : int
        Data sets drawn for the misfit test, at least 19 if the model is fitted.

    Raises
    ------
    ValueError
        If a number is negative, or if `n_misfit` is too small.
    """

    seed: int = 1
    n_bootstrap: int = 2000
    n_sweeps: int = 1500
    n_misfit: int = 199

    def __post_init__(self) -> None:
        """Check the numbers of draws; raise ValueError if a number is invalid."""
        for name, value in asdict(self).items():
            if value < 0:
                raise ValueError(f"{name} must not be negative, got {value}")
        if self.n_sweeps and self.n_misfit < MIN_MISFIT:
            raise ValueError(f"n_misfit must be at least {MIN_MISFIT}, got {self.n_misfit}")

    @classmethod
    def none(cls, seed: int = 1) -> Self:
        """Return settings that turn off all resampling."""
        return cls(seed, 0, 0, 0)

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """Read the settings from a report; raise ValueError if they are invalid."""
        try:
            return cls(**{name: int(value) for name, value in settings.items()})
        except (AttributeError, OverflowError, TypeError) as error:
            raise ValueError(f"resampling: {error}") from None

    def rng(self, part: str) -> np.random.Generator:
        """Return the random generator for one part of the report.

        Each part has its own generator, independent of all others.
        """
        return np.random.default_rng([self.seed, *part.encode()])
