"""Known vulnerabilities of the packages that LexFuse needs, by pip-audit: exits 1 if there are any, 3 if it cannot tell.

    python scripts/audit.py REQUIREMENTS [--service pypi|osv]

REQUIREMENTS is what scripts/locked_requirements.py prints. pip-audit asks a service on the internet. Where this cannot be
reached, or does not know a package, nothing is known about the package: that is said, and is not a success.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

UNKNOWN = 3


def main() -> int:
    """Audit the requirements and report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("requirements")
    parser.add_argument("--service", choices=["pypi", "osv"], default="pypi")
    arguments = parser.parse_args()
    command = [sys.executable, "-m", "pip_audit", "-s", arguments.service, "-r", arguments.requirements, "--disable-pip"]
    done = subprocess.run([*command, "--require-hashes", "-f", "json"], capture_output=True, text=True, check=False)
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (json.JSONDecodeError, KeyError):
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        print(f"not audited: pip-audit failed, most likely because {arguments.service} cannot be reached: {reason}")
        return UNKNOWN
    skipped = [package for package in packages if "skip_reason" in package]
    found = [(package, problem) for package in packages for problem in package.get("vulns", ())]
    for package, problem in found:
        fixed = ", ".join(problem["fix_versions"]) or "no release"
        print(f"{package['name']} {package['version']}: {problem['id']}, fixed in {fixed}")
    if skipped:
        print(f"not audited: {len(skipped)} of {len(packages)} packages; {arguments.service} is out of reach or lacks them")
        print(f"try again with a network, or with another --service; the first: {skipped[0]['skip_reason']}")
    else:
        print(f"{len(packages)} packages audited with {arguments.service}: {len(found)} known vulnerabilities")
    return 1 if found else UNKNOWN if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
