"""Intervals hold what they promise, chance is called chance, and what cannot be compared is refused."""

from random import Random

import pytest

from prove.benchmarks.statistics import compare, detectable, estimate, pass_hat, rate


def test_nothing_of_two_hundred_is_not_known_to_be_nothing():
    assert (rate([0.0] * 200).mean, rate([0.0] * 200).low) == (0.0, 0.0)
    assert 0.015 < rate([0.0] * 200).high < 0.02
    assert rate([0.5, 1.0, 0.0]) == estimate([0.5, 1.0, 0.0])


@pytest.mark.parametrize("truth", [0.05, 0.4])
def test_an_interval_holds_the_truth_nineteen_times_in_twenty(truth):
    chance, hits = Random(3), 0
    for _ in range(400):
        found = rate([float(chance.random() < truth) for _ in range(100)])
        hits += found.low <= truth <= found.high
    assert 0.92 < hits / 400 < 0.98


def test_mcnemar_counts_only_tasks_that_differ():
    found = compare([1.0] * 9 + [0.0] + [1.0] * 90, [0.0] * 9 + [1.0] + [1.0] * 90)
    assert found.p == pytest.approx(2 * 11 / 2**10)  # nine of ten, by the binomial
    assert not found.within_noise
    assert compare([1.0, 0.0] * 50, [0.0, 1.0] * 50).within_noise
    assert "within noise" in str(compare([1.0] + [0.0] * 99, [0.0] * 100))


def test_two_runs_of_one_policy_differ_by_chance_one_time_in_twenty():
    chance = Random(5)
    draw = lambda: [float(chance.random() < 0.3) for _ in range(80)]
    assert sum(not compare(draw(), draw()).within_noise for _ in range(100)) <= 9


def test_scores_between_nothing_and_all_are_compared_too():
    better = compare([0.5 + i / 100 for i in range(30)], [0.4 + i / 100 for i in range(30)])
    assert better.mean == pytest.approx(0.1)
    assert not better.within_noise
    with pytest.raises(ValueError, match="cannot be paired"):
        compare([1.0], [1.0, 0.0])


def test_a_difference_that_is_called_detectable_is_detected_four_times_in_five():
    chance, n, share = Random(7), 200, 0.3  # of tasks whose outcome differs
    gain, seen = detectable(n, share**0.5), 0
    for _ in range(200):
        kinds = [chance.random() for _ in range(n)]
        after = [float(k < (share + gain) / 2) for k in kinds]
        before = [float((share + gain) / 2 <= k < share) for k in kinds]
        seen += not compare(after, before).within_noise
    assert 0.7 < seen / 200 < 0.9
    assert detectable(10, 0.0) == 0.1  # no less than a task


def test_pass_hat_is_the_chance_that_all_trials_succeed():
    assert pass_hat([[1, 1, 0, 0], [1, 1, 1, 1]], 1) == pytest.approx(0.75)
    assert pass_hat([[1, 1, 0, 0], [1, 1, 1, 1]], 2) == pytest.approx((1 / 6 + 1) / 2)
    with pytest.raises(ValueError, match="needs 3 trials"):
        pass_hat([[1, 1]], 3)
