"""The files of deploy/ name commands, options, ports and versions that exist."""

import configparser
import re
import shlex
import subprocess
from importlib import import_module
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from lexfuse.cli.app import COMMANDS
from lexfuse.dependencies import Extra
from lexfuse.deployment.application import ClusterOptions
from lexfuse.service.settings import ServiceSettings

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Ray, when it is imported
ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


@pytest.fixture(scope="module")
def ray():
    return pytest.importorskip("ray")


@pytest.fixture(scope="module")
def read(ray):
    yaml = import_module("yaml")  # Ray needs it
    return lambda text: yaml.safe_load(text)


@pytest.fixture(scope="module")
def kubernetes(read):
    return read((DEPLOY / "kuberay.yaml").read_text("utf-8"))["spec"]


@pytest.fixture(scope="module")
def compose(read):
    return read((DEPLOY / "docker-compose.yml").read_text("utf-8"))


def ray_start(words):
    """The options of ``ray start``; an unknown one is an error."""
    command = import_module("ray.scripts.scripts").start
    return command.make_context("ray start", list(words)).params


def lexfuse(words):
    """The options of a command of ``lexfuse cluster``; an unknown one is an error."""
    cluster = next(command for command in COMMANDS if command.name == words[0])
    return cluster.commands[words[1]].load().make_context(words[1], list(words[2:])).params


def test_the_nodes_of_the_compose_file_start(compose):
    head, worker = (compose["services"][name] for name in ("head", "worker"))
    options = [ray_start(shlex.split(node["command"])[2:]) for node in (head, worker)]
    assert (options[0]["head"], options[0]["include_dashboard"]) == (True, False)
    assert options[1]["address"] == f"head:{options[0]['port']}"
    assert {node["environment"]["RAY_AUTH_MODE"] for node in (head, worker)} == {"token"}
    assert head["ports"] == [f"127.0.0.1:{ServiceSettings().port}:{ServiceSettings().port}"]
    mounted = {volume.split(":")[0] for volume in head["volumes"] if not volume.startswith(".")}
    assert mounted == set(compose["volumes"])


def test_the_commands_of_the_compose_file_exist(compose):
    text = (DEPLOY / "docker-compose.yml").read_text("utf-8").replace("\\\n#", "")
    commands = [shlex.split(line)[1:] for line in re.findall(r"lexfuse cluster .*", text)]
    assert [words[:2] for words in commands] == [["cluster", "index"], ["cluster", "serve"]]
    address = f"head:{ray_start(shlex.split(compose['services']['head']['command'])[2:])['port']}"
    mounts = {volume.split(":")[1] for volume in compose["services"]["head"]["volumes"]}
    for words in commands:
        assert lexfuse(words)["address"] == address
        assert {word for word in words if word.startswith("/")} <= mounts


def test_the_service_of_kubernetes_can_be_started(kubernetes, read, ray):
    schema = import_module("ray.serve.schema").ServeDeploySchema
    served = schema.model_validate(read(kubernetes["serveConfigV2"]))
    (application,) = served.applications
    module, _, name = application.import_path.partition(":")
    assert callable(getattr(import_module(module), name))
    options = ClusterOptions(**application.args)
    assert options.replicas_per_machine * kubernetes["rayClusterConfig"]["workerGroupSpecs"][0]["replicas"] >= options.replicas
    assert served.http_options.request_timeout_s >= ServiceSettings().timeout_seconds + 10
    assert kubernetes["rayClusterConfig"]["rayVersion"] == ray.__version__


def test_the_nodes_of_kubernetes_start(kubernetes):
    cluster = kubernetes["rayClusterConfig"]
    head, *workers = (one["rayStartParams"] for one in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]))
    for values, place in ((head, ["--head"]), *((one, ["--address", "head:6379"]) for one in workers)):
        ray_start([*place, *(f"--{name}={value}" for name, value in values.items())])
    assert head["dashboard-host"] == "0.0.0.0"  # noqa: S104 -- of the pod: the operator deploys through it
    assert cluster["authOptions"] == {"mode": "token"}


def test_the_image_has_what_a_cluster_needs(compose):
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    served, clustered = [{Extra(extra) for extra in found.split(",")} for found in re.findall(r"/src\[([\w,]+)\]", text)]
    assert served >= {Extra.MCP, Extra.PDF}  # the first brings what the service needs
    assert clustered == {Extra.CLUSTER}
    assert [(ROOT / place).is_file() for place in re.findall(r"/src/([\w./-]+\.lock)", text)] == [True]
    assert [(ROOT / place / "pyproject.toml").is_file() for place in re.findall(r"/src/(packages/[\w-]+)", text)] == [True]
    (made,) = re.findall(r"install --directory --owner lexfuse (.*)", text)
    stores = {volume.split(":")[1] for volume in compose["services"]["head"]["volumes"] if not volume.startswith(".")}
    assert stores <= set(made.split())  # a volume takes over the owner of the folder


def test_the_constraints_of_the_image_are_the_versions_of_the_lock_file():
    program = re.search(r"sed -E '(.*)' /src/requirements.lock", (DEPLOY / "Dockerfile").read_text("utf-8"))[1]
    command = ["sed", "-E", program, ROOT / "requirements.lock"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = [Requirement(line) for line in done.stdout.splitlines()]
    assert len(found) > 100
    assert all(len(one.specifier) == 1 and not one.extras for one in found)  # pip takes no extras in constraints


def test_the_unit_of_systemd_calls_the_service_as_it_is():
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str
    unit.read(DEPLOY / "lexfuse.service")
    service = dict(unit["Service"])
    known = {option for parameter in serve_command().params for option in (*parameter.opts, *parameter.secondary_opts)}
    for line in (service["ExecStartPre"], service["ExecStart"]):
        program, command, index, *words = line.split()
        assert (program, command) == ("/opt/lexfuse/bin/lexfuse", "serve")
        assert {word for word in words if word.startswith("--")} <= known
        assert index.startswith(f"/var/lib/{service['StateDirectory']}/")  # the only place that it can write
    assert service["Environment"] == f"LEXFUSE_CACHE=/var/cache/{service['CacheDirectory']}"
    assert "MemoryDenyWriteExecute" not in service  # compiled loops are executable memory


def serve_command():
    [command] = [command for command in COMMANDS if command.name == "serve"]
    return command.load()
