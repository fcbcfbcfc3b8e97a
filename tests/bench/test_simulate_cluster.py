"""The simulation of a cluster against what queueing theory says in closed form."""

import json
from math import exp, log

import numpy as np
import pytest

from bench.simulate_cluster import WARM_UP, Cluster, Exponential, LogNormal, Measured, main, simulate

IDLE = 0.1  # requests a second: with services of a millisecond no request meets another
ONE = Exponential(1.0)


def test_mean_wait_of_one_server():
    """M/M/1: a request waits load / (1 - load) services."""
    found = simulate(Cluster(ONE, rate=500), requests=100_000)
    assert found.latency.mean() - 1 == pytest.approx(1.0, rel=0.06)
    assert found.utilisation == pytest.approx(0.5, rel=0.02)


def test_mean_wait_of_two_servers():
    """M/M/2, by Erlang's C: load² / (1 - load²) services, with the load of each server."""
    found = simulate(Cluster(ONE, rate=1400, workers=2), requests=100_000)
    assert found.latency.mean() - 1 == pytest.approx(0.49 / 0.51, rel=0.06)


def test_every_wait_follows_from_the_one_before():
    """Lindley's recursion over the same arrivals and services gives every latency, not only their mean."""
    cluster, requests = Cluster(LogNormal(1.0, 1.0), rate=400), 2000
    random = np.random.default_rng(3)
    gaps = random.exponential(1000 / cluster.rate, requests)
    random.standard_normal(requests)  # of the questions, which count with a correlation only
    services = cluster.service.from_normal(random.standard_normal((requests, 2)))[:, 0]
    wait, latencies = 0.0, [services[0]]
    for gap, before, own in zip(gaps[1:], services, services[1:], strict=False):
        wait = max(0.0, wait + before - gap)
        latencies.append(wait + own)
    np.testing.assert_allclose(simulate(cluster, requests, seed=3).latency, latencies[int(WARM_UP * requests) :], rtol=1e-9)


@pytest.mark.parametrize("shards", [1, 4, 16])
def test_the_slowest_of_all_shards(shards):
    """The maximum of S exponential times: the harmonic number is its mean, and every percentile is known."""
    found = simulate(Cluster(ONE, IDLE, shards, merge=0.25), requests=120_000 // (2 + shards))
    assert found.latency.mean() == pytest.approx(sum(1 / at for at in range(1, shards + 1)) + 0.25, rel=0.02)
    for percent in (50, 95, 99):
        assert found.percentile(percent) == pytest.approx(-log(1 - (percent / 100) ** (1 / shards)) + 0.25, rel=0.05)


@pytest.mark.parametrize("delay", [0.0, 0.5, 2.0])
def test_a_hedged_request_takes_the_first_of_two(delay):
    """Without load: the minimum of one time and of the delay with another."""
    found = simulate(Cluster(ONE, IDLE, replicas=2, hedge=delay), requests=60_000)
    assert found.second_copies == pytest.approx(exp(-delay), rel=0.03)
    assert found.latency.mean() == pytest.approx(1 - exp(-delay) / 2, rel=0.02)
    late = delay + 1.0
    assert np.mean(found.latency > late) == pytest.approx(exp(-late) * exp(-1.0), rel=0.1)
    assert found.extra_load > 0


def test_a_second_copy_of_a_slow_question_is_of_no_use():
    """If the time belongs to the question alone, hedging changes no latency, and only costs."""
    plain = Cluster(LogNormal(1.0, 1.0), IDLE, shards=3, replicas=2, correlation=1.0)
    hedged = Cluster(LogNormal(1.0, 1.0), IDLE, shards=3, replicas=2, correlation=1.0, hedge=1.0)
    one, other = simulate(plain, 3000), simulate(hedged, 3000)
    np.testing.assert_allclose(one.latency, other.latency, rtol=1e-6)
    assert (one.second_copies, one.extra_load) == (0, 0)
    assert other.second_copies == pytest.approx(0.5, abs=0.05)


def test_deadlines_leave_shards_out():
    """An answer is whole if all of S exponential times end before the deadline."""
    found = simulate(Cluster(ONE, IDLE, shards=8, deadline=3.0, merge=0.5), requests=20_000)
    assert found.partial == pytest.approx(1 - (1 - exp(-3.0)) ** 8, rel=0.05)
    assert found.latency.max() == 3.5
    assert found.extra_load > 0
    assert simulate(Cluster(ONE, IDLE, shards=8), requests=1000).partial == 0


def test_an_overloaded_cluster_with_a_deadline_stays_within_it():
    found = simulate(Cluster(ONE, rate=3000, deadline=5.0), requests=20_000)
    assert found.latency.max() <= 5.0 + 1e-9
    assert found.partial > 0.5
    assert found.utilisation == pytest.approx(1.0, abs=0.02)


def test_stragglers_are_slower_by_their_factor():
    """One of two replicas takes four times as long; each is asked for half of the requests."""
    found = simulate(Cluster(ONE, IDLE, replicas=2, stragglers=0.5, slowdown=4.0, least_busy=False), requests=40_000)
    assert found.latency.mean() == pytest.approx(2.5, rel=0.03)
    hedged = Cluster(LogNormal(1.0, 0.0), IDLE, replicas=2, stragglers=0.5, slowdown=4.0, hedge=1.5)
    assert sorted({round(one, 6) for one in simulate(hedged, 500).latency}) == [1.0, 2.5]


def test_the_replica_with_the_fewest_copies_is_better_than_any():
    """And neither does more or less work than arrives."""
    fewest, drawn = (simulate(Cluster(ONE, rate=1400, replicas=2, least_busy=how), 40_000) for how in (True, False))
    assert fewest.latency.mean() < drawn.latency.mean()
    assert drawn.latency.mean() - 1 == pytest.approx(0.7 / 0.3, rel=0.15)  # two M/M/1, with half of the requests each
    for found in (fewest, drawn):
        assert found.utilisation == pytest.approx(0.7, rel=0.03)


def test_copies_that_wait_in_vain_are_not_served():
    """With a delay of 0 every task has two copies; under load many of them never begin."""
    found = simulate(Cluster(ONE, rate=900, replicas=2, hedge=0.0), requests=20_000)
    assert found.second_copies == 1.0
    assert found.utilisation < 0.9


def test_measured_times_are_drawn_evenly():
    service = Measured([3.0, 1.0, 2.0])
    latency = simulate(Cluster(service, IDLE / 1000), requests=20_000).latency
    values, counts = np.unique(latency.round(3), return_counts=True)
    assert values.tolist() == [1.0, 2.0, 3.0]
    assert counts / len(latency) == pytest.approx([1 / 3] * 3, abs=0.02)
    assert service.mean == 2.0


def test_the_seed_decides():
    cluster = Cluster(LogNormal(1.0, 0.5), rate=300, shards=4, replicas=2, stragglers=0.25, slowdown=3.0, hedge=2.0, deadline=9.0)
    one, same, other = (simulate(cluster, 2000, seed) for seed in (1, 1, 2))
    assert one.record() == same.record()
    assert one.latency.tobytes() == same.latency.tobytes()
    assert one.record() != other.record()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": 1200}, "1.20 times what the replicas can do"),
        ({"rate": 1, "shards": 0}, "shards must be at least 1, got 0"),
        ({"rate": 0}, "the rate must be positive"),
        ({"rate": 1, "hedge": 1.0}, "needs a second replica"),
        ({"rate": 1, "correlation": 1.5}, "between 0 and 1"),
    ],
)
def test_what_has_no_answer_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Cluster(ONE, **options)


def test_the_command_prints_a_line_for_each_combination(capsys, tmp_path):
    file = tmp_path / "times.txt"
    file.write_text("4.0\n5.5\n21\n")
    main(["--samples", str(file), "--shards", "1,2", "--requests", "500", "--hedge", "none,p90,6", "--json"])
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["shards"], one["replicas"], one["hedge"]) for one in records] == [
        (1, 1, "none"), (1, 2, "none"), (1, 2, "p90"), (1, 2, "6"), (2, 1, "none"), (2, 2, "none"), (2, 2, "p90"), (2, 2, "6"),
    ]  # fmt: skip
    assert all(one["p50"] <= one["p95"] <= one["p99"] <= one["p99.9"] for one in records)
    assert records[0]["hedge_ms"] is None
    main(["--samples", str(file), "--shards", "2", "--requests", "500", "--deadline", "none,10"])
    assert len(capsys.readouterr().out.splitlines()) == 1 + 2 * 3


@pytest.mark.parametrize("text", ["", "4\nfast\n", "-1\n"])
def test_samples_that_are_no_times_end_the_command(text, tmp_path):
    file = tmp_path / "times.txt"
    file.write_text(text)
    with pytest.raises(SystemExit, match=r"times\.txt"):
        main(["--samples", str(file)])
