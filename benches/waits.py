#!/usr/bin/env python3
"""Where people wait: ratios of processor time (user and system, children included), from one run.

    benches/waits.py COOK [--before OTHER] [ROW...]     rows: reading session stop brief memory; all without one

Each figure is the least of several runs by turns. With `--before` the same repositories are measured with another build too.
"""
import json, os, re, shutil, subprocess, sys, tempfile
from pathlib import Path

MISSION = "scale"


class Place:
    """A git repository in a temporary directory, with a home of its own."""

    def __init__(self, files=10):
        self.dir = Path(tempfile.mkdtemp(prefix="waits-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
        self.root = self.dir / "work"
        (self.dir / "home").mkdir()
        self.root.mkdir()
        self.env = {
            "PATH": os.environ["PATH"], "HOME": str(self.dir / "home"), "TERM": "dumb", "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
        }
        for who in ("AUTHOR", "COMMITTER"):
            self.env[f"GIT_{who}_NAME"], self.env[f"GIT_{who}_EMAIL"] = "Scale", "scale@example.org"
        self.git("init", "-q", "-b", "main")
        for number in range(files):
            path = self.root / f"src/d{number // 100:04}/f{number:06}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"file {number}\n")
        self.commit("files")

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def run(self, *words, check=True, stdin=None, cwd=None, env=None):
        done = subprocess.run(words, cwd=cwd or self.root, env=env or self.env, input=stdin, text=True, capture_output=True)
        if check and done.returncode:
            sys.exit(f"{words}: {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done

    def git(self, *words):
        return self.run("git", *words)

    def cook(self, *words, **more):
        return self.run(cooks[0][1], *words, **more)

    def settle(self):
        """An index younger than the files by a whole second: git reads files again otherwise."""
        subprocess.run(["sleep", "1.1"])
        self.git("read-tree", "HEAD")
        self.git("update-index", "-q", "--refresh")

    def drop(self):
        subprocess.run(["chmod", "-R", "u+w", self.dir])
        shutil.rmtree(self.dir, ignore_errors=True)


def cost(place, words, stdin=None, cwd=None, codes=(0,)):
    """Milliseconds of processor time, and KiB at most."""
    read = subprocess.DEVNULL if stdin is None else open(stdin)
    child = subprocess.Popen(words, cwd=cwd or place.root, env=place.env, stdin=read, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in codes:
        sys.exit(f"{words}: {child.returncode} {said.decode()[-3000:]}")
    return 1000 * (usage.ru_utime + usage.ru_stime), usage.ru_maxrss


def by_turns(place, runs, *commands, **more):
    least = [float("inf")] * len(commands)
    for _ in range(runs):
        for at, command in enumerate(commands):
            words = command() if callable(command) else command
            least[at] = min(least[at], cost(place, words, **more)[0])
    return least


def row(what, name, figures):
    print(f"| {what} | {name} | {figures} |", flush=True)


def report_of(slices, select):
    plan = [{
        "slice_id": f"s{n}", "goal": f"thing {n}", "acceptance_criteria": [f"file {n} holds another number", f"and the test of {n} says so"],
        "priority": 1, "status": "planned", "why_now": "it is one of many", "blocked_on": [],
        "implementation_surfaces": ["src"], "verification_commands": [], "locked_notes": [],
    } for n in range(slices)]
    body = {"plan": {"plan_basis": "the files", "candidate_slices": plan}}
    if select:
        body["select"] = "s0"
    return f"""MISSION ANCHOR: {MISSION}
Remaining contract IDs: none
Canonical re-ground applied (yes/no): yes
Acceptance criteria revalidated (yes/no): yes
Tracked and unignored worktree is clean (yes/no): yes
Reopened slices:
- none
Reconciliation decision (accepted/reopened/none): none
Reconciled slice ID: none
Current selected slice: {'s0' if select else 'none'}
Next role to invoke: {'completion-implementer' if select else 'completion-regrounder'}
Exact handoff payload: none
Canonical blockers or deviations:
- none

```json
{json.dumps(body, indent=1)}
```
"""


def initialise(files=10, slices=None, select=False, profile=()):
    place = Place(files)
    place.settle()
    place.cook("init", "--mission", MISSION, "--commit", *profile)
    if slices:
        path = place.dir / "report.txt"
        path.write_text(report_of(slices, select))
        place.cook("record", "regrounder", str(path))
    return place


def reading():
    between, working = initialise(1000, 1), initialise(1000, 1, True)
    status = ["git", "status", "--porcelain"]
    for place, state in ((between, "cleanliness decides"), (working, "a slice in work")):
        place.settle()
        for name, cook in cooks:
            git, next_, told, prompt, version, gits = by_turns(
                place, 60, status, [cook, "next"], [cook, "status"], [cook, "next", "--prompt"], [cook, "--version"],
                ["git", "--version"])
            row(f"1,000 files, {state}", name,
                f"git status {git:.2f} ms; next {next_:.2f} = {next_ / git:.2f}; status {told:.2f} = {told / next_:.2f} of next; "
                f"next --prompt {prompt:.2f} = {prompt / git:.2f}; --version {version:.2f} = {version / gits:.2f} of git's {gits:.2f}")
        place.drop()


def calls(place, words, stdin=None):
    """Processes of git and flushes, under strace."""
    out = place.dir / "trace"
    read = subprocess.DEVNULL if stdin is None else open(stdin)
    subprocess.run(["strace", "-f", "-qq", "-o", out, "-e", "trace=execve,fsync,fdatasync,syncfs,sync_file_range", *words],
                   cwd=place.root, env=place.env, stdin=read, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    lines = out.read_text().splitlines()
    git = [line for line in lines if re.search(r'execve\("[^"]*/git"', line) and line.endswith("= 0")]
    flushes = [line for line in lines if re.search(r" (fsync|fdatasync|syncfs|sync_file_range)\(", line)]
    return git, flushes


def planners(files=1000):
    """Two agents who re-ground by turns, each with another reason."""
    # Under another profile cook re-grounds itself.
    place = initialise(files, 1, profile=("--assurance", "strict", "--as-user"))
    text = (place.dir / "report.txt").read_text()
    settings = place.root / ".agent/cook.toml"
    for name in ("one", "two"):
        # In the repository: the sandbox shows agents nothing else of a temporary directory.
        (place.root / f"{name}.txt").write_text(text.replace("it is one of many", f"it is one of many, as {name} says"))
        with settings.open("a") as file:
            file.write(f'\n[agents.{name}]\nbin = "/bin/cat"\nstart = ["{name}.txt"]\nevents = "text"\n')
    place.commit("settings")
    place.cook("init", "--as-user")
    for name in ("one", "two"):
        refused = place.cook("run", "--once", "--yes", "--agent", name, check=False).stderr
        place.cook("trust", refused.split("cook trust '")[1].split("'")[0], "--as-user")
    place.settle()
    return place


def session():
    place = planners()
    turn = [0]

    def step(cook):
        turn[0] += 1
        return [cook, "run", "--once", "--yes", "--agent", ("one", "two")[turn[0] % 2]]

    for name, cook in cooks:
        (took,) = by_turns(place, 12, lambda: step(cook))
        git, flushes = calls(place, step(cook))
        if os.environ.get("SHOW"):
            print("\n".join(git + flushes))
        row("`cook run --once`, 1,000 files", name, f"{len(git)} processes of git, {len(flushes)} flushes, {took:.1f} ms")
    place.drop()


def hook(place, event, count, **fields):
    count[0] += 1
    path = place.dir / "event.json"
    path.write_text(json.dumps({"hook_event_name": event, "session_id": "s", "cwd": str(place.root), "tool_use_id": str(count[0]),
                                **fields}))
    return path


def stop():
    count = [0]
    for what in ("workflow", "check"):
        place = initialise(1000, 1, True) if what == "workflow" else Place(1000)
        for name, cook in cooks:
            least = float("inf")
            if what == "workflow":
                words = [cook, "hook", "claude"]
                cost(place, words, stdin=hook(place, "SessionStart", count, source="startup"))
                place.cook("hooks", "attach", "s")
            else:
                words = [cook, "hook", "claude", "--check"]
                place.settle()
            for _ in range(20):
                least = min(least, cost(place, words, stdin=hook(place, "Stop", count))[0])
            row(f"a stop hook without a new commit ({what}), 1,000 files", name, f"{least:.1f} ms")
        place.drop()


def brief():
    for slices in (1, 50, 200):
        place = initialise(10, slices, True)
        for name, cook in cooks:
            took, check = by_turns(place, 10, [cook, "brief"], [cook, "brief", "check"])
            row(f"`cook brief`, a plan of {slices}", name, f"{took:.1f} ms; `brief check` {check:.1f} ms")
        place.drop()


def memory():
    for slices in (1000, 5000):
        place = Place(10)
        item = "- [ ] thing {0}\n  - [ ] file {0} holds another number\n  - [ ] and the test of {0} says so\n"
        (place.root / "PLAN.md").write_text("# Scale\n\n" + "".join(item.format(n) for n in range(slices)))
        place.commit("plan")
        place.cook("init", "--from", "PLAN.md", "--mission", MISSION, "--commit")
        for name, cook in cooks:
            peaks = {word: max(cost(place, [cook, *word.split()])[1] for _ in range(2)) for word in ("next", "status", "next --prompt", "brief", "verify control-plane")}
            row(f"memory at a plan of {slices}", name, "; ".join(f"{word} {peak / 1024:.0f} MiB" for word, peak in peaks.items()))
        place.drop()


ROWS = {"reading": reading, "session": session, "stop": stop, "brief": brief, "memory": memory}

if __name__ == "__main__":
    words = sys.argv[1:]
    if not words or words[0] == "--help":
        sys.exit(__doc__)
    cooks = [("this build", os.path.abspath(words.pop(0)))]
    if words[:1] == ["--before"]:
        cooks.append(("before", os.path.abspath(words[1])))
        words = words[2:]
    print("| measured | build | |\n|---|---|---|")
    for name in words or ROWS:
        ROWS[name]()
