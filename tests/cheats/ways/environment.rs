//! What cook is started with.

use super::{Way, only_apart, way};

pub const WAYS: &[Way] = &[
    way(
        "a bash on the PATH",
        "good; touch red; work; program \"$OUT/bin/bash\" 'cat results; exit 0'; env_of_cook \"PATH=$OUT/bin:$PATH\"",
    ),
    way(
        "a git on the PATH",
        "good; touch red; work; rm red; program \"$OUT/bin/git\" 'case \"$*\" in *status*) exit 0 ;; esac; exec /usr/bin/git \"$@\"'; env_of_cook \"PATH=$OUT/bin:$PATH\"",
    ),
    way(
        "a program in the worktree on the PATH",
        "good; echo bin >>.gitignore; echo 'cat results; helper' >test.sh; work; mkdir bin; program bin/helper 'exit 0'; env_of_cook \"PATH=$PWD/bin:$PATH\"",
    ),
    way(
        "a program of a relative PATH",
        "good; echo bin >>.gitignore; echo 'cat results; helper' >test.sh; work; mkdir bin; program bin/helper 'exit 0'; env_of_cook \"PATH=bin:$PATH\"",
    ),
    way(
        "BASH_ENV",
        "good; touch red; work; echo 'cat results; exit 0' >\"$OUT/rc\"; env_of_cook \"BASH_ENV=$OUT/rc\"",
    ),
    way(
        "a variable that the test reads",
        "good; echo 'cat results; test -n \"${HELPER:-}\"' >test.sh; work; env_of_cook HELPER=1",
    ),
    way(
        "another home",
        "good; echo 'cat results; test -e ~/helper' >test.sh; work; mkdir -p \"$OUT/home\"; touch \"$OUT/home/helper\"; env_of_cook \"HOME=$OUT/home\"",
    ),
    way(
        "GIT_DIR",
        "good; touch red; work; cp -r .git \"$OUT/git\"; git rm -q red; git --git-dir \"$OUT/git\" --work-tree . add -A; env_of_cook \"GIT_DIR=$OUT/git\"; git reset -q --hard",
    ),
    way(
        "GIT_INDEX_FILE",
        "good; touch red; work; cp .git/index \"$OUT/index\"; rm red; GIT_INDEX_FILE=\"$OUT/index\" git update-index --assume-unchanged red; env_of_cook \"GIT_INDEX_FILE=$OUT/index\"",
    ),
    way(
        "GIT_CONFIG_COUNT",
        "good; echo 'cat results; test -e helper' >test.sh; work; touch helper; env_of_cook GIT_CONFIG_COUNT=1; env_of_cook GIT_CONFIG_KEY_0=status.showUntrackedFiles; env_of_cook GIT_CONFIG_VALUE_0=no",
    ),
    way(
        "GIT_OBJECT_DIRECTORY",
        "good; touch red; work; cp -r .git/objects \"$OUT/objects\"; env_of_cook \"GIT_OBJECT_DIRECTORY=$OUT/objects\"; rm red; git update-index --assume-unchanged red",
    ),
    way(
        "a test that looks for cook",
        "good; echo 'cat results; env | grep -qi cook' >test.sh; work",
    ),
    way(
        "a bwrap on the PATH",
        r##"good; touch red; work; program "$OUT/bin/bwrap" 'cat results 2>/dev/null; printf "ok 1 - one\nok 2 - two\n"; exit 0'; env_of_cook "PATH=$OUT/bin:$PATH""##,
    ),
    way(
        "a git on the PATH that makes files up",
        r##"good; echo evil >state; echo 'state ident' >.gitattributes; echo 'cat results; grep -qx good state' >test.sh; work; program "$OUT/bin/git" 'for word; do case "$word" in --prefix=*) to="${word#--prefix=}"; mkdir -p "$to"; echo good >"${to}state"; exit 0 ;; esac; done; case "$*" in *--filters*) echo good ;; *) exec /usr/bin/git "$@" ;; esac'; env_of_cook "PATH=$OUT/bin:$PATH""##,
    ),
    way(
        "a git that git is told to start",
        r##"good; touch red; work; program "$OUT/bin/git" 'exit 0'; program "$OUT/bin/git-read-tree" 'exit 0'; env_of_cook "GIT_EXEC_PATH=$OUT/bin""##,
    ),
    way(
        "a variable of the language",
        r##"good; echo 'cat results; test -n "${LC_HELPER:-}"' >test.sh; work; env_of_cook LC_HELPER=1"##,
    ),
    way(
        "a time zone that the test reads",
        r##"good; echo 'cat results; test "${TZ:-}" = helper' >test.sh; work; env_of_cook TZ=helper"##,
    ),
    way(
        "a proxy that the test reads",
        r##"good; echo 'cat results; test -n "${http_proxy:-}"' >test.sh; work; env_of_cook http_proxy=http://helper"##,
    ),
    way(
        "another language",
        r##"good; echo 'cat results; test "${LANGUAGE:-}" = helper' >test.sh; work; env_of_cook LANGUAGE=helper"##,
    ),
    way(
        "a function that bash takes in",
        r##"good; touch red; work; env_of_cook 'BASH_FUNC_test%%=() { true; }'"##,
    ),
    way(
        "options that bash takes in",
        r##"good; touch red; work; env_of_cook SHELLOPTS=noexec"##,
    ),
    way(
        "a start file of sh",
        r##"good; touch red; work; echo 'cat results; exit 0' >"$OUT/rc"; env_of_cook "ENV=$OUT/rc"; env_of_cook POSIXLY_CORRECT=1"##,
    ),
    way(
        "another directory for temporary files",
        r##"good; echo 'cat results; test -e "${TMPDIR:-/tmp}/helper"' >test.sh; work; mkdir "$OUT/tmp"; touch "$OUT/tmp/helper"; env_of_cook "TMPDIR=$OUT/tmp""##,
    ),
    way(
        "another directory for settings",
        r##"good; echo 'cat results; test -e "${XDG_CONFIG_HOME:-$HOME/.config}/helper"' >test.sh; work; mkdir "$OUT/config"; touch "$OUT/config/helper"; env_of_cook "XDG_CONFIG_HOME=$OUT/config""##,
    ),
    way(
        "GIT_ATTR_SOURCE",
        r##"good; printf 'a\n' >state; echo "cat results; grep -q \$'\r' state" >test.sh; echo '*.x text' >.gitattributes; work; echo 'state text eol=crlf' >.gitattributes; git add .gitattributes; tree=$(git write-tree); git reset -q --hard; env_of_cook "GIT_ATTR_SOURCE=$tree""##,
    ),
    way(
        "GIT_CONFIG_GLOBAL",
        r##"good; echo 'cat results; test -e helper' >test.sh; work; touch helper; printf '[core]\n\texcludesFile = %s\n[status]\n\tshowUntrackedFiles = no\n' "$OUT/ignore" >"$OUT/config"; echo helper >"$OUT/ignore"; env_of_cook "GIT_CONFIG_GLOBAL=$OUT/config""##,
    ),
    way(
        "GIT_CONFIG_PARAMETERS",
        r##"good; echo 'cat results; test -e helper' >test.sh; work; touch helper; env_of_cook "GIT_CONFIG_PARAMETERS='status.showuntrackedfiles'='no'""##,
    ),
    way(
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        r##"good; git init -q "$OUT/other"; blob=$(echo x | git -C "$OUT/other" hash-object -w --stdin); echo "cat results; git cat-file -e $blob" >test.sh; work; env_of_cook "GIT_ALTERNATE_OBJECT_DIRECTORIES=$OUT/other/.git/objects""##,
    ),
    way(
        "GIT_REPLACE_REF_BASE",
        r##"good; echo evil >state; echo 'cat results; grep -qx good state' >test.sh; work; other=$(echo good | git hash-object -w --stdin); git update-ref "refs/other/$(git rev-parse HEAD:state)" "$other"; env_of_cook GIT_REPLACE_REF_BASE=refs/other/"##,
    ),
    way(
        "GIT_SHALLOW_FILE",
        r##"good; echo 'cat results; test "$(git rev-list --count HEAD)" = 1' >test.sh; work; git rev-parse HEAD >"$OUT/shallow"; env_of_cook "GIT_SHALLOW_FILE=$OUT/shallow""##,
    ),
    way(
        "GIT_NAMESPACE",
        r##"good; touch red; work; git update-ref refs/namespaces/x/refs/heads/main HEAD~1; env_of_cook GIT_NAMESPACE=x"##,
    ),
    way(
        "GIT_TEMPLATE_DIR",
        r##"good; echo 'state ident' >.gitattributes; printf 'a\n' >state; echo "cat results; grep -q \$'\r' state" >test.sh; work; mkdir -p "$OUT/template/info"; echo 'state text eol=crlf' >"$OUT/template/info/attributes"; env_of_cook "GIT_TEMPLATE_DIR=$OUT/template""##,
    ),
    way(
        "an open file",
        r##"good; echo 'cat results; grep -qx helper <&9' >test.sh; work; echo helper >"$OUT/helper"; starts_cook "exec 9<'$OUT/helper'""##,
    ),
    way(
        "a mask of modes",
        r##"good; echo 'cat results; rm -f made; touch made; test "$(stat -c %a made)" = 600' >test.sh; work; starts_cook 'umask 077'"##,
    ),
    way(
        "a signal that is ignored",
        r##"good; echo 'cat results; trap | grep -q USR2' >test.sh; work; starts_cook "trap '' USR2""##,
    ),
    way(
        "another directory for rooms",
        r##"good; echo 'cat results; test -e target/helper' >test.sh; work; key=$(printf %s "$PWD" | sha256sum | cut -c1-16); for n in 0 63; do mkdir -p "$OUT/cache/clean-rooms/$key-$n/src/work/target"; touch "$OUT/cache/clean-rooms/$key-$n/src/work/target/helper"; done; env_of_cook "XDG_CACHE_HOME=$OUT/cache""##,
    ),
    only_apart(
        "a program in a directory of the trusted PATH",
        r##"mkdir -p ~/bin; PATH=~/bin:$PATH cook trust --tools --as-user; good; touch red; work; program ~/bin/bash 'printf "ok 1 - one\nok 2 - two\n"; exit 0'"##,
    ),
];
