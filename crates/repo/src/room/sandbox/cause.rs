//! Why bubblewrap does not work here: its own words, and what is behind them.

use crate::disk::{self, Links};
use std::path::Path;

/// What the system says about namespaces.
#[derive(Debug, Default, Clone, Copy)]
struct Kernel {
    /// `user.max_user_namespaces` is 0.
    none_at_all: bool,
    /// `kernel.unprivileged_userns_clone` is 0.
    none_for_users: bool,
    /// AppArmor takes the rights away that a namespace would give.
    apparmor: bool,
}

impl Kernel {
    fn read() -> Self {
        let is = |path: &str, value: &str| {
            disk::read_text(Path::new(path), 4096, Links::Refuse)
                .is_ok_and(|text| text.is_some_and(|text| text.trim() == value))
        };
        Self {
            none_at_all: is("/proc/sys/user/max_user_namespaces", "0"),
            none_for_users: is("/proc/sys/kernel/unprivileged_userns_clone", "0"),
            apparmor: is(
                "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
                "1",
            ),
        }
    }
}

/// What bubblewrap said, with the cause where it is a known one.
pub(super) fn explain(said: &str) -> String {
    match cause(said, Kernel::read()) {
        Some(cause) => format!("{said} ({cause})"),
        None => said.to_owned(),
    }
}

fn cause(said: &str, kernel: Kernel) -> Option<&'static str> {
    let says = |words: &[&str]| words.iter().any(|words| said.contains(words));
    // The namespace was made, and what it should allow is refused.
    let restricted = says(&["uid map", "RTM_NEWADDR", "Failed to make / slave"]);
    let no_namespace = says(&["new namespace", "unshare", "clone"]);
    Some(if says(&["mount proc"]) {
        "`/proc` is masked here, as in many containers: start the container with `--security-opt systempaths=unconfined`"
    } else if restricted && kernel.apparmor {
        "AppArmor restricts user namespaces: give bwrap a profile that says `userns,`"
    } else if restricted {
        "the user namespace was made and allows nothing, as a security module does that restricts them"
    } else if no_namespace && kernel.none_at_all {
        "no user namespaces: `sysctl user.max_user_namespaces` is 0"
    } else if no_namespace && kernel.none_for_users {
        "no user namespaces for ordinary users: `sysctl kernel.unprivileged_userns_clone` is 0"
    } else if no_namespace {
        "user namespaces are refused, as by the seccomp filter of a container: start it with a profile that allows them"
    } else {
        return None;
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_the_way_is_told_apart() {
        let open = Kernel::default();
        let apparmor = Kernel {
            apparmor: true,
            ..open
        };
        let none = Kernel {
            none_at_all: true,
            ..open
        };
        let users = Kernel {
            none_for_users: true,
            ..open
        };
        let refused = "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.";
        for (said, kernel, word) in [
            (refused, open, "seccomp"),
            (refused, users, "unprivileged_userns_clone"),
            (
                "bwrap: Creating new namespace failed: No space left on device",
                none,
                "max_user_namespaces",
            ),
            (
                "bwrap: Creating new namespace failed: Operation not permitted",
                apparmor,
                "seccomp",
            ),
            (
                "bwrap: setting up uid map: Permission denied",
                apparmor,
                "AppArmor",
            ),
            (
                "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
                apparmor,
                "AppArmor",
            ),
            (
                "bwrap: setting up uid map: Permission denied",
                open,
                "security module",
            ),
            (
                "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
                open,
                "masked",
            ),
        ] {
            let cause = cause(said, kernel).unwrap();
            assert!(cause.contains(word), "{said}: {cause}");
        }
        assert_eq!(cause("bwrap: Unknown option --size", open), None);
        assert_eq!(explain("bwrap: odd"), "bwrap: odd");
    }
}
