#!/usr/bin/env bash
# Plans as OpenSpec 1.13.2, spec-kit 1.2.3 and task-master 0.43.1 write and read them: proofs/plans.sh
#
# tests/cli/taken_plans.rs takes the plans in tests/data/plans in, has them worked on by scripted agents, and ticks them back.
# Here the tools themselves, installed below a temporary directory from npm and PyPI, say that these plans are theirs: OpenSpec
# validates its change and counts its boxes, before and after the ticks; spec-kit's templates still have the lines that cook
# reads; task-master makes its list anew from a scripted model on loopback, and takes the command that cook prints. Exits with 1
# where one of them disagrees, and with 77 where a program is missing or a registry cannot be reached.
set -euo pipefail
root="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)"
skip() {
  echo "proofs/plans.sh was skipped: $1" >&2
  exit 77
}
for program in git npm node python3 timeout; do
  command -v "$program" >/dev/null || skip "$program is missing"
done
work="$(mktemp -d)"
model=""
finish() {
  [[ -z "$model" ]] || kill "$model" 2>/dev/null || true
  rm -rf -- "$work"
}
trap finish EXIT
export HOME="$work/home" OPENSPEC_TELEMETRY=0 DO_NOT_TRACK=1 OPENAI_COMPATIBLE_API_KEY=none
mkdir "$HOME"
npm install --silent --no-audit --no-fund --prefix "$work" @fission-ai/openspec@1.13.2 task-master-ai@0.43.1 >/dev/null 2>&1 ||
  skip "npm did not give OpenSpec and task-master"
python3 -m venv "$work/python" && "$work/python/bin/pip" install --quiet --disable-pip-version-check specify-cli==1.2.3 ||
  skip "pip did not give spec-kit"
PATH="$work/node_modules/.bin:$work/python/bin:$PATH"

# begin TOOL: a repository with the recorded plan of that tool.
begin() {
  mkdir "$work/$1" && cd -- "$work/$1"
  git init --quiet
  cp -R -- "$root/tests/data/plans/$1/." .
}

# expect WHAT TEXT COMMAND...: the command ends well and prints that text.
expect() {
  local what="$1" text="$2" answer
  shift 2
  answer="$(timeout 120 "$@" </dev/null 2>&1)" && [[ "$answer" == *"$text"* ]] || {
    printf '%s: `%s` does not say `%s`:\n%s\n' "$what" "$*" "$text" "$answer" >&2
    exit 1
  }
  echo "ok - $what"
}

begin openspec
expect "OpenSpec takes the recorded change" "is valid" openspec validate add-dark-mode --strict
expect "OpenSpec reads a padded box as ticked and an empty one as open" "1/5 tasks" openspec list
sed -i 's/- \[\( \|\)\]/- [x]/' openspec/changes/add-dark-mode/tasks.md
expect "OpenSpec takes the ticked change" "is valid" openspec validate add-dark-mode --strict
expect "OpenSpec finds nothing left to do in it" "Complete" openspec list

mkdir "$work/spec-kit" && cd -- "$work/spec-kit"
git init --quiet
expect "spec-kit sets a repository up" "Next Steps" specify init --here --force --integration claude --script sh --ignore-agent-tools
expect "spec-kit names the directory of a feature" "001-greet-people-name/spec.md" \
  bash .specify/scripts/bash/create-new-feature.sh --json "Greet people by name"
for line in '# Feature Specification: [FEATURE NAME]' '**Input**: User description: "$ARGUMENTS"' '**Acceptance Scenarios**:' \
  '### User Story 1 - [Brief Title] (Priority: P1)' '1. **Given** [initial state], **When** [action], **Then** [expected outcome]'; do
  expect "spec-kit's specification has \`$line\`" "$line" cat .specify/templates/spec-template.md
done
for line in '## Phase 1: Setup (Shared Infrastructure)' '- [ ] T001 Create' '- [ ] T010 [P] [US1] Contract test' '- [ ] T016 [US1] Add'; do
  expect "spec-kit's task list has \`$line\`" "$line" cat .specify/templates/tasks-template.md
done

begin task-master
cp -R .taskmaster recorded && rm -rf .taskmaster/tasks
expect "task-master sets a repository up" "Workflow" task-master init --yes --no-aliases --no-git
python3 - recorded/tasks/tasks.json >port <<'MODEL' &
import http.server, json, sys
tasks = json.load(open(sys.argv[1]))["master"]["tasks"]
for task in tasks:
    task.update(id=int(task["id"]), status="pending", dependencies=[int(id) for id in task["dependencies"]])
    task.pop("subtasks"), task.pop("updatedAt")
class Model(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        message = {"role": "assistant", "content": json.dumps({"tasks": tasks, "metadata": None})}
        answer = json.dumps({"id": "1", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(server.server_port, flush=True)
server.serve_forever()
MODEL
model=$!
for _ in {1..100}; do [[ -s port ]] && break || sleep 0.1; done
expect "task-master takes a model on loopback" "main model" \
  task-master models --set-main m --openai-compatible --baseURL "http://127.0.0.1:$(cat port)/v1"
expect "task-master makes a list of the words in prd.txt" "" task-master parse-prd .taskmaster/docs/prd.txt --num-tasks=3 --force
expect "task-master adds a part" "" task-master add-subtask --parent=2 --title="Parse arguments" --description="One argument"
expect "task-master adds another" "" task-master add-subtask --parent=2 --title="Refuse none" --description="Exit 1 without a name" --details=D
expect "task-master marks" "" task-master set-status --id=1,2.1 --status=done
expect "task-master defers" "" task-master set-status --id=3 --status=deferred
same() {
  python3 -c '
import json, sys
def bare(value):
    if isinstance(value, dict):
        return {key: bare(it) for key, it in value.items() if key not in ("updatedAt", "metadata")}
    return [bare(it) for it in value] if isinstance(value, list) else value
recorded, made = (bare(json.load(open(path))) for path in sys.argv[1:])
sys.exit(recorded != made)' "$@"
}
same recorded/tasks/tasks.json .taskmaster/tasks/tasks.json || {
  echo "task-master makes another list than the recorded one:" >&2
  cat .taskmaster/tasks/tasks.json >&2
  exit 1
}
echo "ok - task-master makes the recorded list"
expect "task-master takes the command that cook prints" "done" task-master set-status --id=1,2 --status=done
expect "task-master finds its list sound" "All Dependencies Are Valid" task-master validate-dependencies
