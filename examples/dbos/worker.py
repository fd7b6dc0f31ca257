"""A unit that works on one mission: worker.py UNIT CLONE

The mission's workflow is one for all units that share a database ($COOK_DATABASE), so one unit at a time works on it and
the others wait for what becomes of it. UNIT is its executor: always the same for the same clone, because the mission of a
unit that died waits until that unit is there again.
"""

import os
import subprocess
import sys

from dbos import DBOS, SetWorkflowID

UNIT, CLONE = sys.argv[1:]
WAIT = float(os.environ.get("COOK_WAIT", "60"))


@DBOS.step()
def step() -> int:
    return subprocess.run(["cook", "run", "--once", "--from", "origin"], cwd=CLONE).returncode


@DBOS.workflow()
def mission(remote: str, branch: str) -> int:
    while True:
        code = step()
        if code in (3, 5, 10, 11, 12):  # the remote, an agent or a person is waited for
            DBOS.sleep(WAIT)
        elif code not in (0, 7):
            return code


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=CLONE, check=True, capture_output=True, text=True).stdout.strip()


remote, branch = git("remote", "get-url", "origin"), git("branch", "--show-current")
DBOS(
    config={
        "name": "cook",
        "system_database_url": os.environ["COOK_DATABASE"],
        "executor_id": UNIT,
        "application_version": "1",  # another one would leave what is pending to the units of this one
    }
)
DBOS.launch()  # goes on with what this unit left
first = git("rev-list", "--max-parents=0", "HEAD").splitlines()[0]
with SetWorkflowID(f"cook {first} {remote} {branch}"):
    code = DBOS.start_workflow(mission, remote, branch).get_result()
print(f"{UNIT}: cook run --once ended with {code}", flush=True)
DBOS.destroy()
sys.exit(0 if code == 13 else code)
