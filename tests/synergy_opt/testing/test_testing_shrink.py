"""Shrinking: what is left shows the same, is valid, and can spare nothing."""

from __future__ import annotations

from hypothesis import given, settings

from synergy_opt.generate import mix
from synergy_opt.testing.shrink import _changed, _changes, shrink
from synergy_opt.testing.strategies import instances
from synergy_opt.tune import tune


def splits(instance):
    """Tell whether TUNE divides a job."""
    return bool(tune(instance).split_jobs)


def test_a_seeded_instance_becomes_one_job_on_two_servers():
    """Tests an instance of many jobs on six servers, of which one with two halves remains."""
    large = mix(servers=6, seed=5, gpu_demands={1: 1, 3: 2, 16: 1})
    assert splits(large)
    small = shrink(large, splits)
    assert splits(small)
    assert len(small.jobs) == 1
    assert small.cluster.server_count == 2
    assert all(size == 1 for size in small.profiles[0].throughput.shape)


@settings(max_examples=15)
@given(instances(max_jobs=4, max_points=2))
def test_nothing_more_can_be_left_out(instance):
    """Tests local minimality for a property of two jobs at once."""

    def shows(each):
        return len({job.gpus for job in each.jobs}) > 1

    if shows(instance):
        small = shrink(instance, shows)
        assert shows(small)
        smaller = [_changed(small, change) for change in _changes(small)]
        assert not any(shows(each) for each in smaller if each is not None)
