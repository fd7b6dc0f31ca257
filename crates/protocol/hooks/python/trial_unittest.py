"""Records what unittest runs, test by test. Nothing is done where pytest runs."""
import os
import sys

_names = {}
_path = os.path.join(os.path.dirname(__file__), "trial_record.py")
with open(_path, "rb") as _file:
    exec(compile(_file.read(), _path, "exec"), _names)


def install(suite_module):
    """The outermost suite of a process is the run; one that a test runs is a part of that test."""
    import functools

    suite = suite_module.TestSuite
    run_suite = suite.run
    running = []

    @functools.wraps(run_suite)
    def run(self, result, *args, **kwargs):
        recorder = None
        if not running and "_pytest.config" not in sys.modules:
            try:
                recorder = _begin(self, result)
            except Exception:
                recorder = None
        if recorder is None:
            return run_suite(self, result, *args, **kwargs)
        running.append(recorder)
        try:
            return run_suite(self, result, *args, **kwargs)
        finally:
            running.pop()
            recorder.end()

    suite.run = run


def _begin(suite, result):
    records = _names["open_records"]("unittest")
    if records is None or not records.holds(os.getcwd()):
        return None
    return Recorder(records, suite, result)


class Recorder(object):
    def __init__(self, records, suite, result):
        self.records = records
        self.result = result
        self.state = {}
        self.done = set()
        self.ran = 0
        # Their names, since a suite lets go of each test after it.
        self.tests = [(test.id(), _find_file(records, test)) for test in _list_tests(suite)]
        self.hidden = _names["hide"]()
        self.watched = []
        for name in _METHODS:
            self.watch(name, getattr(self, "on_" + name))

    def watch(self, name, note):
        method = getattr(self.result, name, None)
        if method is None:
            return

        def call(test, *args, **kwargs):
            if name == "stopTest":
                _try(note, test, *args)
                return method(test, *args, **kwargs)
            answer = method(test, *args, **kwargs)
            _try(note, test, *args)
            return answer

        setattr(self.result, name, call)
        self.watched.append(name)

    def on_startTest(self, test):
        self.state[test.id()] = (None, None)

    def on_addSuccess(self, test):
        self.mark(test, "passed")

    def on_addSkip(self, test, reason=None):
        self.mark(test, "skipped")

    # That it fails as expected does not say that the code works.
    on_addExpectedFailure = on_addSkip

    def on_addUnexpectedSuccess(self, test):
        self.mark(test, "failed", "unexpected success")

    def on_addFailure(self, test, error=None):
        self.mark(test, "failed", _find_line(error))

    on_addError = on_addFailure

    def on_addSubTest(self, test, part, error=None):
        if error is not None:
            self.mark(test, "failed", _find_line(error))

    def mark(self, test, result, message=None):
        name = test.id()
        if name not in self.state:
            return self.mark_fixture(test, name, result, message)
        if _RANKS[result] > _RANKS[self.state[name][0]]:
            self.state[name] = (result, message)

    def mark_fixture(self, test, name, result, message):
        """`setUpClass (module.Class)` and the like: its tests do not run, and are not named."""
        place = name[name.find("(") + 1 : -1] if name.endswith(")") else None
        if place and name.startswith("setUp"):
            for one, file in self.tests:
                if one.startswith(place + ".") and one not in self.done:
                    self.write(one, file, result, message)
        else:
            self.write(name, _find_file(self.records, test), result, message)

    def on_stopTest(self, test):
        name = test.id()
        result, message = self.state.pop(name, (None, None))
        if type(test).__name__ == "_FailedTest":
            module = name.split("_FailedTest.")[-1]
            error = getattr(test, "_exception", None)
            lines = [line for line in str(error).splitlines() if line.strip()]
            self.records.add(
                unloaded=_find_module(self.records, module),
                message=_names["shorten"](lines[-1] if lines else message) or "it did not load",
            )
            return
        if result is not None:
            self.ran += result != "skipped"
            self.write(name, _find_file(self.records, test), result, message)

    def write(self, name, file, result, message):
        self.done.add(name)
        self.records.add(name=name, file=file, result=result, message=message)

    def end(self):
        try:
            for name in self.watched:
                delattr(self.result, name)
            self.records.add(ran=self.ran)
            _names["show"](self.hidden)
        except Exception:
            pass


_METHODS = (
    "startTest",
    "addSuccess",
    "addExpectedFailure",
    "addSkip",
    "addUnexpectedSuccess",
    "addFailure",
    "addError",
    "addSubTest",
    "stopTest",
)
_RANKS = {None: 0, "passed": 1, "skipped": 2, "failed": 3}


def _try(note, *args):
    try:
        note(*args)
    except Exception:
        pass


def _list_tests(suite):
    for test in suite:
        try:
            parts = iter(test)
        except TypeError:
            if test is not None:
                yield test
        else:
            for part in _list_tests(parts):
                yield part


def _find_file(records, test):
    doctest = getattr(test, "_dt_test", None)
    module = sys.modules.get(type(test).__module__)
    path = getattr(doctest, "filename", None) or getattr(module, "__file__", None)
    return records.relate(path) if path else None


def _find_module(records, name):
    for start in [os.getcwd()] + sys.path:
        for end in (".py", os.sep + "__init__.py"):
            path = os.path.join(start or ".", name.replace(".", os.sep) + end)
            if os.path.isfile(path) and records.relate(path):
                return records.relate(path)
    return name


def _find_line(error):
    kind, value = error[0], error[1]
    said = _names["shorten"](value)
    return _names["shorten"]("%s: %s" % (kind.__name__, said) if said else kind.__name__)
