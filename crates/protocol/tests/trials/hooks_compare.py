"""Compares two runs and the records of the second: DIRECTORY CODE CODE [ignore the console]."""
import json
import re
import sys
from pathlib import Path

directory, plain, hooked = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
wrong = []


def read(name):
    path = directory / name
    return path.read_text(errors="replace") if path.is_file() else ""


def settle(text):
    """Without times, process numbers, seeds and the like."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    text = re.sub(r"\d+:\d+:\d+|seed \S+|gw\d+|0x[0-9a-f]+|\(node:\d+\)", "X", text)
    text = re.sub(r"\b\d+(\.\d+)? ?(ms|s|seconds?|milliseconds?)\b|duration_ms:? [\d.]+", "T", text)
    text = re.sub(r", estimated T|T[, ]+\S+ runs/s.*|\(\d+%\)|[\d.]+ wallclock.*|, [\d.]+ runs/T.*", "", text)
    text = re.sub(r"\s*[(\[]?\s*T\s*[)\]]?", " ", text)
    return sorted(line.strip() for line in text.splitlines() if line.strip())


if plain != hooked:
    wrong.append(f"ended with {plain} without the hooks and with {hooked} with them")
if not sys.argv[4]:
    before, after = settle(read("plain")), settle(read("hooked"))
    for line in before:
        if line in after:
            after.remove(line)
        else:
            wrong.append(f"not printed any more: {line}")
    wrong.extend(f"printed now: {line}" for line in after)

said = []
for line in read("records").splitlines():
    record = json.loads(line)
    if "unloaded" in record:
        said.append(f"unloaded {record['unloaded']}")
        if not record["message"]:
            wrong.append(f"no message: {line}")
    elif "ran" in record:
        said.append(f"ran {record['ran']}")
    else:
        attempt = record.get("attempt", 0)
        said.append(record["result"] + (f"@{attempt}" if attempt else "") + " " + record["name"])
        if record.get("file") and not (directory / "tree" / record["file"]).is_file():
            wrong.append(f"no such file: {line}")
        if len(record.get("message", "")) > 200 or "\n" in record.get("message", ""):
            wrong.append(f"not one short line: {line}")
expected = [line.strip() for line in read("expected").splitlines() if line.strip()]
for line in expected:
    if line in said:
        said.remove(line)
    else:
        wrong.append(f"not recorded: {line}")
wrong.extend(f"recorded: {line}" for line in said)

for line in wrong:
    print("  " + line)
sys.exit(bool(wrong))
