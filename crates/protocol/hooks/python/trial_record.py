"""Appends records of tests, one write each. What fails in here is said to nobody."""
import json
import os


def _resolve(path):
    return os.path.realpath(path)


class Records(object):
    def __init__(self, runner, path, root):
        self.runner = runner
        self.path = path
        self.root = _resolve(root)

    def holds(self, directory):
        """Whether a directory lies in the tree."""
        directory = _resolve(str(directory))
        return directory == self.root or directory.startswith(self.root + os.sep)

    def relate(self, path):
        """A path from the root of the tree, or nothing for one outside."""
        path = _resolve(str(path))
        if not path.startswith(self.root + os.sep):
            return None
        return path[len(self.root) + 1 :].replace(os.sep, "/")

    def add(self, **record):
        try:
            record["runner"] = self.runner
            line = {key: value for key, value in record.items() if value is not None}
            data = (json.dumps(line) + "\n").encode("utf-8")
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                os.write(file, data)
            finally:
                os.close(file)
        except Exception:
            pass


def shorten(text):
    """The first line that says something, at most 200 characters long."""
    for line in str(text or "").splitlines():
        line = line.strip()
        if line:
            return line[:200]
    return None


def open_records(runner):
    """The records of this process; a program that it starts has none, and is a part of a test."""
    path = os.environ.get("TRIAL_RECORDS")
    root = os.environ.get("TRIAL_ROOT")
    return Records(runner, path, root) if path and root else None


def hide():
    return os.environ.pop("TRIAL_RECORDS", None)


def show(path):
    if path is not None:
        os.environ.setdefault("TRIAL_RECORDS", path)
