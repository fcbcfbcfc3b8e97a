"""Tasks of a machine that vanished without closing its connections are done again, on another one."""

import pytest

from lexfuse.cluster.build import task_places, task_runner
from lexfuse.cluster.build.task_places import TaskPlaces
from lexfuse.cluster.build.task_runner import RETRIES, RayTasks
from lexfuse.errors import FetchError

NEVER = object()


class Reference(list):
    """Ray's references can be keys."""

    __hash__ = object.__hash__


class Call:
    """A method of a remote object, which runs at once."""

    def __init__(self, function):
        self.remote = function


class Actor:
    def __init__(self, kept):
        self.note, self.nodes = Call(kept.note), Call(kept.nodes)


class VanishingRay:
    """A Ray cluster: tasks on a node that vanishes never end, and Ray says that the node is gone."""

    class exceptions:  # noqa: N801 -- as Ray calls it
        RayError = RuntimeError

    def __init__(self, *nodes):
        self.order, self.gone, self.cancelled, self.killed, self.here = list(nodes), set(), [], [], "head"

    def remote(self, **needs):
        return lambda what: Call(self._actor if what is TaskPlaces else self._task)

    def _actor(self):
        return Actor(TaskPlaces())

    def _task(self, function, item, places, number):
        self.here = self.order.pop(0)
        ended = None, function(item)
        places.note.remote(number, self.here)
        return Reference([NEVER if self.here == "vanishing" else ended])

    def wait(self, running, timeout):
        done = [one for one in running if one[0] is not NEVER][:1]
        if not done:
            self.gone = {"vanishing"}
        return done, [one for one in running if one not in done]

    def get(self, result):
        return result[0] if isinstance(result, Reference) else result

    def nodes(self):
        return [
            {"NodeID": name, "Alive": name not in self.gone, "Resources": {"CPU": 8.0}} for name in ("head", "vanishing", "third")
        ]

    def get_runtime_context(self):
        return self

    def get_node_id(self):
        return self.here

    def cancel(self, one, force):
        self.cancelled.append(one)

    def kill(self, actor):
        self.killed.append(actor)


@pytest.fixture
def vanishing(monkeypatch):
    def made(*nodes):
        ray = VanishingRay(*nodes)
        monkeypatch.setattr(task_runner, "ray_package", lambda: ray)
        monkeypatch.setattr(task_runner, "start_places", lambda ray: ray.remote()(TaskPlaces).remote())
        return ray

    return made


def test_the_tasks_of_a_node_that_is_gone_are_done_again(vanishing):
    ray = vanishing("head", "vanishing", "third", "head")
    assert sorted(RayTasks(3).run(len, ["a", "bb", "ccc"])) == [1, 2, 3]
    assert (len(ray.cancelled), len(ray.killed)) == (1, 1)  # the one that never ends, and the actor


def test_a_task_whose_machines_all_vanish_is_given_up(vanishing):
    ray = vanishing(*["vanishing"] * (RETRIES + 1))
    with pytest.raises(FetchError, match="a worker of the Ray cluster was lost: its machines are gone; run the command again"):
        list(RayTasks(1).run(len, ["a"]))
    assert len(ray.cancelled) == RETRIES + 1


def test_a_task_that_has_not_begun_is_not_lost(vanishing):
    ray = vanishing()
    ray.gone = {"vanishing"}
    assert not task_places.lost_tasks(ray, ray._actor())(0)
