"""The blocks of docs/cluster.md that build and change a cluster run as they are, on a real Ray cluster."""

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

from stand_ins import make_stand_ins

from lexfuse.cluster.store import ClusterStore

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
BLOCK = re.compile(r"^```console no-run\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_commands_that_build_and_change_a_cluster(ray_nodes, tmp_path):
    """Those of the sections before the service; what builds has the address of the tests' cluster."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    make_stand_ins(tmp_path)
    (tmp_path / "upstream" / "legalize-fr").rename(tmp_path / "legalize-fr")
    page = (ROOT / "docs" / "cluster.md").read_text("utf-8").partition("## Serve a cluster")[0]
    commands = ["lexfuse import examples/articles.csv library", *"".join(BLOCK.findall(page)).splitlines()]
    assert len(commands) == 7
    for line in commands:
        words = shlex.split(line, comments=True)
        on_ray = ["--address", ray_nodes.address] if words[1:3] == ["cluster", "index"] else []
        ray_nodes.run("sh", "-c", 'cd "$0" && exec "$@"', tmp_path, BIN / words[0], *words[1:], *on_ray)
    built = ray_nodes.lexfuse("cluster", "status", tmp_path / "library.cluster", "--json")
    assert json.loads(built.stdout)["documents"] == 5
    assert ClusterStore(str(tmp_path / "civil.cluster")).manifest().documents == 1
