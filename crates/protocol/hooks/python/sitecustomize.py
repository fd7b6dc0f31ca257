"""Python reads this file at its start because its directory stands in PYTHONPATH.

It waits for a test runner to be imported and costs next to nothing where none is. An error in here
is never one of the program that starts.
"""


def _start():
    import os
    import sys

    here = os.path.dirname(os.path.abspath(__file__))
    # The program sees the path that it would have without us.
    sys.path[:] = [p for p in sys.path if not p or os.path.abspath(p) != here]
    if os.environ.get("TRIAL_RECORDS") and sys.version_info[0] >= 3:
        _wait(sys, os, here)


def _wait(sys, os, here):
    def load(name):
        path = os.path.join(here, name)
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec")
        names = {"__name__": "trial_hook", "__file__": path}
        exec(code, names)
        return names

    hooks = {"_pytest.config": "trial_pytest.py", "unittest.suite": "trial_unittest.py"}

    class Finder(object):
        """Finds nothing itself: it lets the others find and adds to what is loaded."""

        @staticmethod
        def find_spec(name, path=None, target=None):
            if name not in hooks:
                return None
            hook = hooks.pop(name)
            if not hooks:
                sys.meta_path.remove(Finder)
            try:
                return _add(name, path, target, hook)
            except Exception:
                return None

    def _add(name, path, target, hook):
        spec = None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is not Finder and find is not None:
                spec = find(name, path, target)
                if spec is not None:
                    break
        if spec is None or spec.loader is None:
            return spec
        loader = spec.loader
        run = loader.exec_module

        def exec_module(module):
            try:
                # A later import of the module, and a reload, are as without us.
                del loader.exec_module
            except Exception:
                pass
            run(module)
            try:
                load(hook)["install"](module)
            except Exception:
                pass

        loader.exec_module = exec_module
        return spec

    sys.meta_path.insert(0, Finder)


def _load_next():
    """Another `sitecustomize` that ours would hide. What it raises Python says as ever."""
    import sys

    ours = sys.modules.pop("sitecustomize", None)
    try:
        __import__("sitecustomize")
    except ImportError as error:
        if getattr(error, "name", "sitecustomize") != "sitecustomize":
            raise
        if ours is not None:
            sys.modules["sitecustomize"] = ours


try:
    _start()
except Exception:
    pass
_load_next()
