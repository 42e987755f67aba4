"""Optimistic profiling: a whole profile from few measurements (Synergy, §3.1).

Takes a function that measures throughput at full memory and what is known about the data, and
gives a `Profile` with what it cost; `fit_cache_model` goes the other way, from measured points to
the rates behind them.
"""

from synergy_opt.profiling.curve import CpuCurve as CpuCurve
from synergy_opt.profiling.curve import measure_curve as measure_curve
from synergy_opt.profiling.fit import Fit as Fit
from synergy_opt.profiling.fit import Point as Point
from synergy_opt.profiling.fit import fit_cache_model as fit_cache_model
from synergy_opt.profiling.optimistic import OptimisticProfile as OptimisticProfile
from synergy_opt.profiling.optimistic import optimistic_profile as optimistic_profile

__all__ = [
    "CpuCurve",
    "Fit",
    "OptimisticProfile",
    "Point",
    "fit_cache_model",
    "measure_curve",
    "optimistic_profile",
]
