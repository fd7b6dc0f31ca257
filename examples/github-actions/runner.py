"""Runs jobs of a workflow file as a runner's shell would: runner.py WORKFLOW NAME JOB...

Just what cook.yml needs: `actions/checkout` becomes a clone of $REMOTE, `run` a script for `bash -e`, `if` a list of
comparisons, `needs` the outputs of jobs before. Anything else in the file is an error, never passed over.
"""

import os
import pathlib
import re
import subprocess
import sys

import yaml

PLAIN = {"id", "run", "uses", "with", "env", "name"}
JOB = {"runs-on", "timeout-minutes", "permissions", "outputs", "steps", "needs", "if"}


def fill(text, known):
    """The text with each `${{ name }}` filled in."""
    return re.sub(r"\$\{\{ *(.*?) *\}\}", lambda found: known[found[1]], str(text))


def is_so(condition, known):
    """Whether one of the comparisons joined by `||` holds."""
    pairs = [re.fullmatch(r"(\S+) == '(.*)'", part.strip()) for part in condition.split("||")]
    return any(known[pair[1]] == pair[2] for pair in pairs)


def play(workflow, name, work, known):
    job = workflow["jobs"][name]
    assert set(job) <= JOB, set(job) - JOB
    if "if" in job and not is_so(job["if"], known):
        print(f"{name}: not due", flush=True)
        return
    place = work / name
    (place / "temp").mkdir(parents=True)
    (place / "files").mkdir()
    tree, path = place / "tree", os.environ["PATH"]
    for number, step in enumerate(job["steps"]):
        assert set(step) <= PLAIN, set(step) - PLAIN
        if "uses" in step:
            assert step["uses"].startswith("actions/checkout@"), step
            ref = fill(step["with"]["ref"], known)
            subprocess.run(["git", "clone", "-q", "--branch", ref, os.environ["REMOTE"], tree], check=True)
            continue
        output, more = place / "files" / f"output{number}", place / "files" / f"path{number}"
        output.touch(), more.touch()
        script = place / "temp" / f"{number}.sh"
        script.write_text(fill(step["run"], known))
        env = {**os.environ, "PATH": path, "CI": "true", "GITHUB_ACTIONS": "true", "RUNNER_TEMP": str(place / "temp"),
               "GITHUB_OUTPUT": str(output), "GITHUB_PATH": str(more), "GITHUB_REF_NAME": known["github.ref_name"],
               "GITHUB_REPOSITORY": "owner/name"}
        for table in (workflow.get("env", {}), step.get("env", {})):
            env.update({key: fill(value, known) for key, value in table.items()})
        subprocess.run(["bash", "-e", script], cwd=tree if tree.exists() else place, env=env, check=True)
        path = os.pathsep.join([*more.read_text().split(), path])
        for line in output.read_text().splitlines():
            key, value = line.split("=", 1)
            known[f"steps.{step['id']}.outputs.{key}"] = value
    for key, value in job.get("outputs", {}).items():
        known[f"needs.{name}.outputs.{key}"] = fill(value, known)
    print(f"{name}: ended", flush=True)


def main():
    file, name, *jobs = sys.argv[1:]
    workflow = yaml.safe_load(pathlib.Path(file).read_text())
    known = {"github.ref_name": "main", "github.ref": "refs/heads/main", "github.token": "none",
             "vars.COOK_URL": os.environ["COOK_URL"], "vars.COOK_SHA256": os.environ["COOK_SHA256"]}
    for job in jobs:
        play(workflow, job, pathlib.Path(os.environ["WORK"]) / name, known)


main()
