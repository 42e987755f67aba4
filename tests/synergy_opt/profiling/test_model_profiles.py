"""The twelve synthetic models keep each fact that the Synergy paper states, one test a fact."""

from fractions import Fraction
from pathlib import Path

import pytest

from synergy_opt.io.shipped import shipped
from synergy_opt.profiling.cache_model import MODELS, CacheModel

SHARE = Fraction(3), Fraction("62.5")  # cores, GB: a GPU's share of the paper's servers
ALL = Fraction(24), Fraction(500)  # a whole server
LANGUAGE = [m for m in MODELS.values() if m.task == "language"]
SENSITIVE = [m for m in MODELS.values() if m.task != "language"]
PAGE = Path(__file__).resolve().parents[3] / "docs" / "model-profiles.md"


def cores_wanted(model: CacheModel) -> int:
    """Give the fewest cores with which the model is as fast as with 24, data in memory."""
    best = model.rate(*ALL)
    return next(c for c in range(1, 25) if model.rate(Fraction(c), ALL[1]) == best)


def speed_up(model: CacheModel, cpu: int, memory: int = 500) -> Fraction:
    """Give the throughput with these amounts over that at the share."""
    return model.rate(Fraction(cpu), Fraction(memory)) / model.rate(*SHARE)


@pytest.mark.parametrize("name", ["shufflenet", "resnet18"])
def test_small_image_models_want_9_to_24_cores(name: str):
    """Tests §2.1: "ShuffleNet and ResNet18 require 9–24 CPU cores per GPU"."""
    assert 9 <= cores_wanted(MODELS[name]) <= 24


def test_a_transformer_wants_one_core():
    """Tests §2.1: Transformers need as few as one core a GPU for their full speed."""
    assert cores_wanted(MODELS["transformer"]) == 1


def test_most_image_and_speech_models_are_sensitive_to_cores():
    """Tests §2.1, Fig. 2a(i): more than half of them gain from more than three cores."""
    gaining = [m.name for m in SENSITIVE if m.rate(ALL[0], ALL[1]) > m.rate(SHARE[0], ALL[1])]
    assert len(gaining) > len(SENSITIVE) / 2
    assert set(gaining) == {m.name for m in SENSITIVE} - {"deepspeech"}


@pytest.mark.parametrize("model", LANGUAGE, ids=lambda m: m.name)
def test_language_models_are_insensitive(model: CacheModel):
    """Tests §2.1, Fig. 2a(ii): one core and 20 GB give what a whole server gives."""
    assert model.rate(Fraction(1), Fraction(20)) == model.rate(*SHARE) == model.rate(*ALL)


def test_gnmt_needs_no_more_than_its_process_memory():
    """Tests §2.1: GNMT at 20 GB, what its process needs, is as fast as with 62 GB."""
    gnmt = MODELS["gnmt"]
    assert gnmt.process == 20
    assert gnmt.rate(Fraction(3), Fraction(20)) == gnmt.rate(*SHARE)


def test_resnet18_is_almost_twice_as_fast_with_all_memory():
    """Tests §2.1: from 62 GB to 500 GB, cores enough, ResNet18 is "almost 2×" as fast."""
    model = MODELS["resnet18"]
    faster = model.rate(*ALL) / model.rate(ALL[0], SHARE[1])
    assert Fraction("1.9") < faster < 2


def test_image_models_gain_up_to_about_three_times():
    """Tests §1: "up to 3×" beyond the share; our largest is 10/3, with 10 cores."""
    gains = {m.name: speed_up(m, 24) for m in MODELS.values()}
    assert max(gains.values()) == Fraction(10, 3)
    assert {name for name, gain in gains.items() if gain >= 3} == {
        "resnet18",
        "shufflenet",
        "alexnet",
    }


@pytest.mark.parametrize(
    ("name", "nine", "twelve"),
    [
        ("resnet18", "3", "3"),
        ("shufflenet", "3", "10/3"),
        ("alexnet", "3", "10/3"),
        ("mobilenet", "2", "2"),
        ("resnet50", "4/3", "4/3"),
        ("wavenet", "8/3", "8/3"),
        ("deepspeech", "1", "1"),
    ],
)
def test_speed_ups_from_3_to_9_and_12_cores(name: str, nine: str, twelve: str):
    """Tests the speed-ups that the page lists, with all data in memory."""
    assert speed_up(MODELS[name], 9) == Fraction(nine)
    assert speed_up(MODELS[name], 12) == Fraction(twelve)


def test_the_audio_model_wants_its_data_in_memory():
    """Tests §2.1: speech models gain from cache; M5 gains nothing from cores alone."""
    m5 = MODELS["m5"]
    assert m5.rate(Fraction(24), SHARE[1]) == m5.rate(*SHARE)
    assert speed_up(m5, 6, 120) > 2


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda m: m.name)
def test_gains_shrink_as_the_share_grows_from_3_to_6_cores(model: CacheModel):
    """Tests §5.5: with more cores a GPU the share itself is faster, so less is left to gain."""
    gains = [
        model.rate(Fraction(8 * ratio), ALL[1]) / model.rate(Fraction(ratio), SHARE[1])
        for ratio in (3, 4, 5, 6)
    ]
    assert gains == sorted(gains, reverse=True)


def test_the_published_split_of_70_percent_language_leaves_cores_to_give_away():
    """Tests §2.1's takeaway on averages: (20, 70, 10) wants fewer cores than 3 a GPU."""
    weights = {"image": 20, "language": 70, "speech": 10}
    wanted = sum(
        Fraction(weight, 100) * Fraction(sum(cores_wanted(m) for m in group), len(group))
        for task, weight in weights.items()
        for group in [[m for m in MODELS.values() if m.task == task]]
    )
    assert 2 < wanted < Fraction("3.3")


def test_the_page_lists_every_model_with_its_parameters():
    """Tests that docs/model-profiles.md and the code say the same."""
    text = PAGE.read_text("utf-8")
    for m in MODELS.values():
        numbers = (m.core_rate, m.gpu_rate, float(m.item), float(m.dataset))
        row = " | ".join(f"{value:g}" for value in numbers)
        assert f"| {m.name} | {m.task} | {row} | {cores_wanted(m)} |" in text
    assert "worked-example" in text
    assert shipped("worked-example").profiles[0].name == "resnet18"
