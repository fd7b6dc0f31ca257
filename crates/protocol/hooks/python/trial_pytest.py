"""Records what pytest reports, test by test, beside all of its own reporters."""
import os

_names = {}
_path = os.path.join(os.path.dirname(__file__), "trial_record.py")
with open(_path, "rb") as _file:
    exec(compile(_file.read(), _path, "exec"), _names)


def install(config_module):
    """Every plugin manager gets ours where it looks at the environment, which no option turns off."""
    import functools

    manager = config_module.PytestPluginManager
    consider = manager.consider_env

    @functools.wraps(consider)
    def consider_env(self, *args, **kwargs):
        result = consider(self, *args, **kwargs)
        try:
            if not self.has_plugin("trial_records"):
                self.register(_make_plugin(), "trial_records")
        except Exception:
            pass
        return result

    manager.consider_env = consider_env


def _make_plugin():
    import pytest

    class Plugin(object):
        def __init__(self):
            self.records = None
            self.root = None
            self.hidden = None
            self.states = {}
            self.tries = {}
            self.unloaded = set()
            self.ran = set()

        def begin(self, config):
            if self.records or hasattr(config, "workerinput") or _running:
                return
            records = _names["open_records"]("pytest")
            root = str(getattr(config, "rootpath", None) or config.rootdir)
            if records is None or not records.holds(root):
                return
            self.records, self.root = records, root
            self.hidden = _names["hide"]()
            _running.append(self)

        @pytest.hookimpl(hookwrapper=True)
        def pytest_load_initial_conftests(self, early_config):
            outcome = yield
            try:
                if outcome.excinfo:
                    self.add_conftest(early_config, outcome.excinfo[1])
            except Exception:
                pass

        def add_conftest(self, config, error):
            path = getattr(error, "path", None) or (error.args or [None])[0]
            cause = getattr(error, "cause", None) or getattr(error, "excinfo", (0, None))[1]
            self.begin(config)
            try:
                if self.records and str(path).endswith("conftest.py"):
                    said = "%s: %s" % (type(cause).__name__, cause) if cause else error
                    name = self.records.relate(path) or str(path)
                    self.records.add(unloaded=name, message=_names["shorten"](said) or "")
                    self.records.add(ran=0)
            finally:
                self.end()

        @pytest.hookimpl(tryfirst=True)
        def pytest_configure(self, config):
            try:
                self.begin(config)
            except Exception:
                pass

        def pytest_collectreport(self, report):
            try:
                if self.records:
                    self.add_collected(report)
            except Exception:
                pass

        def add_collected(self, report):
            if report.nodeid in self.unloaded or report.outcome == "passed":
                return
            self.unloaded.add(report.nodeid)
            file = self.find(report.nodeid)
            if report.outcome == "skipped":
                self.records.add(name=report.nodeid, file=file, result="skipped")
            else:
                message = _find_line(report) or "it did not load"
                self.records.add(unloaded=file or report.nodeid, message=message)

        def pytest_runtest_logreport(self, report):
            try:
                if self.records:
                    self.add_phase(report)
            except Exception:
                pass

        def add_phase(self, report):
            """The worst of a test's phases, when the last one is over or the test is tried again."""
            name = report.nodeid
            attempt = getattr(report, "rerun", None)
            if attempt is not None and attempt < self.tries.get(name, 0):
                return  # The teardown of a try that was written already.
            result, message = _judge(report)
            state = self.states.setdefault(name, [None, None])
            if _RANKS[result] > _RANKS[state[0]]:
                state[:] = [result, message]
            again = report.outcome in ("rerun", "retried")
            if not again and report.when != "teardown":
                return
            del self.states[name]
            if state[0] != "skipped":
                self.ran.add(name)
            tries = self.tries.get(name, 0)
            self.records.add(
                name=name,
                file=self.find(name),
                result=state[0] or "passed",
                message=state[1],
                attempt=tries or None,
            )
            if again:
                self.tries[name] = tries + 1

        def find(self, name):
            return self.records.relate(os.path.join(self.root, name.split("::")[0]))

        def pytest_sessionfinish(self):
            try:
                if self.records:
                    for name, state in self.states.items():
                        # It began, and its end was not reported: its process died.
                        self.records.add(name=name, file=self.find(name), result="failed", message=state[1])
                    self.records.add(ran=len(self.ran))
            except Exception:
                pass

        def pytest_unconfigure(self):
            self.end()

        def end(self):
            if self in _running:
                _running.remove(self)
                _names["show"](self.hidden)
            self.records = None

    return Plugin()


# Only the outermost run of a process is one of the tree.
_running = []
_RANKS = {None: 0, "passed": 1, "skipped": 2, "failed": 3}


def _judge(report):
    """The result of one phase, as the runner counts it."""
    if report.outcome in ("failed", "rerun", "retried"):
        return "failed", _find_line(report)
    if type(report).__name__.lower() == "subtestreport":
        # A part of a test decides over the whole only where it fails.
        return None, None
    # Whether one that is expected to fail holds or not, it does not say that the code works.
    if report.outcome == "skipped" or hasattr(report, "wasxfail"):
        return "skipped", None
    return ("passed" if report.when == "call" else None), None


def _find_line(report):
    """The one line that a phase failed with."""
    said = report.longrepr
    crash = getattr(said, "reprcrash", None)
    if crash is not None:
        return _names["shorten"](crash.message)
    lines = [line for line in str(said or "").splitlines() if line.strip()]
    marked = [line[1:] for line in lines if line.startswith("E ")]
    return _names["shorten"](marked[-1] if marked else lines[-1]) if lines else None
