//! The words by which programs say what they lack, and the variables that nobody lacks.

/// What stands before and after a program's name in a line that says it is not there.
pub(super) const NO_PROGRAM: [(&str, &str); 8] = [
    ("", ": command not found"),
    ("", ": not found"),
    ("spawn ", " ENOENT"),
    ("make: ", ": No such file or directory"),
    ("env: ", ": No such file or directory"),
    ("bwrap: execvp ", ": No such file or directory"),
    ("exec: ", ": executable file not found"),
    ("No such file or directory: ", ""),
];
/// Words of a line that names a file which is not there.
pub(super) const NO_FILE: [&str; 13] = [
    "no such file",
    "not found",
    "cannot find",
    "could not find",
    "can't find",
    "can't open",
    "cannot open",
    "unable to open",
    "couldn't read",
    "enoent",
    "does not exist",
    "no rule to make target",
    "to create the module",
];
/// Words of a line that names a package which is not there.
pub(super) const NO_PACKAGE: [&str; 11] = [
    "cannot find module",
    "cannot find package",
    "no module named",
    "can't find crate",
    "no matching package named",
    "failed to get `",
    "no required module provides package",
    "missing go.sum entry",
    "could not find gem",
    "autoload.php",
    "unchecked dependencies",
];
/// Words of a line of a program that reached no network.
pub(super) const NO_NETWORK: [&str; 12] = [
    "could not resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "nodename nor servname",
    "getaddrinfo",
    "eai_again",
    "network is unreachable",
    "enetunreach",
    "no such host",
    "dns error",
    "could not connect to server",
    "failed to establish a new connection",
];
/// Words of a line of a program that reached nobody where somebody listens outside of a sandbox.
pub(super) const NO_SERVICE: [&str; 2] = ["connection refused", "econnrefused"];
/// Words of a line, and what is meant by it.
pub(super) const SURROUNDINGS: [(&str, &str); 3] = [
    (
        "please tell me who you are",
        "an identity for git, which the room has for nobody: let the test set its own, or pass one on: `[clean_room] env = [\"GIT_AUTHOR_NAME\", …]`",
    ),
    (
        "read-only file system",
        "a place to write: the room, `$HOME` and `$TMPDIR` are, the rest of the machine is not",
    ),
    (
        "docker.sock",
        "a service of this machine, which no sandbox shows: `place = \"worktree\"` runs the gate outside, where it proves nothing",
    ),
];
/// Variables by which a terminal, and nobody's tests, knows itself.
pub(super) const TERMINAL: [&str; 32] = [
    "_",
    "BROWSER",
    "COLORTERM",
    "COLUMNS",
    "DBUS_SESSION_BUS_ADDRESS",
    "DEBIAN_FRONTEND",
    "DESKTOP_SESSION",
    "DISPLAY",
    "EDITOR",
    "GPG_TTY",
    "HISTFILE",
    "HISTSIZE",
    "HOME",
    "HOSTNAME",
    "INFOPATH",
    "INVOCATION_ID",
    "LESS",
    "LESSCLOSE",
    "LESSOPEN",
    "LINES",
    "LS_COLORS",
    "MAIL",
    "MANPATH",
    "OLDPWD",
    "PS1",
    "PWD",
    "SHLVL",
    "STY",
    "TMUX",
    "TMUX_PANE",
    "VISUAL",
    "WINDOWID",
];
pub(super) const TERMINAL_PREFIXES: [&str; 11] = [
    "COOK_", "GNOME_", "GTK_", "KDE_", "QT_", "SSH_", "SUDO_", "TERM_", "VTE_", "WAYLAND_", "XDG_",
];
