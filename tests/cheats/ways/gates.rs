//! Gates, their rooms, and what they reach.

use super::{Way, outside, way};

pub const WAYS: &[Way] = &[
    way(
        "a cache of an earlier commit",
        "good; echo 'cat results; mkdir -p target; touch target/helper' >test.sh; work; cook gate --clean >/dev/null; echo 'cat results; test -e target/helper' >test.sh; work",
    ),
    way(
        "a home that a gate filled",
        "good; echo 'cat results; touch ~/helper' >test.sh; work; cook gate --clean >/dev/null; echo 'cat results; test -e ~/helper' >test.sh; work",
    ),
    way(
        "a gate that commits",
        "good; touch red; work; echo 'cat results; test ! -e red || { git rm -q red; git commit -q -m x; }' >test.sh; work",
    ),
    way(
        "a gate that reaches into the worktree",
        "good; echo \"cat results; git -C $PWD rm -q red; git -C $PWD commit -q -m x; test ! -e red\" >test.sh; touch red; work",
    ),
    way(
        "a daemon that takes the file away",
        "good; touch red; work; (while :; do rm -f red; sleep 0.01; done) >/dev/null 2>&1 & echo $! >>\"$OUT/pids\"; sleep 0.05; git update-index --assume-unchanged red",
    ),
    way(
        "a daemon in the clean rooms",
        "good; touch red; work; (while :; do rm -f ~/.cache/clean-rooms/*/src/work/red; done) >/dev/null 2>&1 & echo $! >>\"$OUT/pids\"; git update-index --assume-unchanged red; rm red",
    ),
    way(
        "other settings in the worktree",
        "good; touch red; work; git update-index --assume-unchanged .agent/cook.toml; printf '[gates.test]\\nrun = \"true\"\\n' >.agent/cook.toml",
    ),
    way(
        "a verifier that is not the commit's",
        "good; touch red; work; git update-index --assume-unchanged .agent/verify_completion_stop.sh; printf 'exit 0\\n' >.agent/verify_completion_stop.sh",
    ),
    way(
        "a cache that somebody poisoned",
        r##"good; echo 'cat results; test -e target/helper' >test.sh; work; cook gate --clean >/dev/null; for room in ~/.cache/clean-rooms/*/src/work; do mkdir -p "$room/target"; touch "$room/target/helper"; done"##,
    ),
    way(
        "a home of the room that somebody filled",
        r##"good; echo 'cat results; test -e ~/helper' >test.sh; work; cook gate --clean >/dev/null; for room in ~/.cache/clean-rooms/*/home; do touch "$room/helper"; done"##,
    ),
    way(
        "a list of the room that lies",
        r##"good; echo good >state; echo 'cat results; grep -qx good state' >test.sh; work; cook gate --clean >/dev/null; was=$(git rev-parse HEAD:state); echo evil >state; work; for list in ~/.cache/clean-rooms/*/manifest; do lie "$list" "$was" "$(git rev-parse HEAD:state)"; done"##,
    ),
    way(
        "a room that is a link",
        r##"good; echo 'cat results; test -e ~/helper' >test.sh; work; key=$(printf %s "$PWD" | sha256sum | cut -c1-16); mkdir -p ~/.cache/clean-rooms "$OUT/room/home" "$OUT/room/src"; touch "$OUT/room/home/helper"; for n in 0 1 62 63; do rm -rf ~/.cache/clean-rooms/$key-$n; ln -s "$OUT/room" ~/.cache/clean-rooms/$key-$n; done"##,
    ),
    way(
        "rooms that are a link",
        r##"good; echo 'cat results; test -e ~/helper' >test.sh; work; key=$(printf %s "$PWD" | sha256sum | cut -c1-16); rm -rf ~/.cache/clean-rooms; mkdir -p ~/.cache "$OUT/rooms/$key-0/home" "$OUT/rooms/$key-63/home"; touch "$OUT/rooms/$key-0/home/helper" "$OUT/rooms/$key-63/home/helper"; ln -s "$OUT/rooms" ~/.cache/clean-rooms"##,
    ),
    way(
        "a git directory of the room with a hook",
        r##"good; touch red; work; cook gate --clean >/dev/null; for room in ~/.cache/clean-rooms/*/src/work/.git; do mkdir -p "$room/hooks"; program "$room/hooks/post-index-change" "rm -f '$room/../red'"; done"##,
    ),
    way(
        "attributes beside the room",
        r##"good; printf 'a\n' >state; echo 'results text' >.gitattributes; echo "cat results; grep -q \$'\r' state" >test.sh; work; cook gate --clean >/dev/null; for dir in ~/.cache/clean-rooms/*/attributes-0.git; do mkdir -p "$dir/info"; echo 'state text eol=crlf' >"$dir/info/attributes"; done"##,
    ),
    way(
        "a daemon that an earlier gate left",
        r##"good; echo 'cat results; (setsid sh -c "while :; do rm -f red; done" >/dev/null 2>&1 &)' >test.sh; work; cook gate --clean >/dev/null; touch red; echo 'cat results; sleep 0.05; test ! -e red' >test.sh; work; git update-index --assume-unchanged red; rm red"##,
    ),
    way(
        "a verifier that is committed too",
        r##"good; touch red; printf '#!/bin/sh\nexit 0\n' >.agent/verify_completion_stop.sh; work"##,
    ),
    way(
        "gates that are committed away",
        r##"good; touch red; sed -i '/gates/,$d' .agent/cook.toml; work"##,
    ),
    way(
        "a gate for the worktree",
        r##"good; echo helper >>.gitignore; echo 'cat results; test -e helper' >test.sh; echo 'place = "worktree"' >>.agent/cook.toml; work; touch helper"##,
    ),
    way(
        "a gate that is not required",
        r##"good; touch red; echo 'required = false' >>.agent/cook.toml; work"##,
    ),
    way(
        "a cache over files of the commit",
        r##"good; mkdir -p target; echo evil >target/state; echo 'cat results; grep -qx good target/state' >test.sh; work; cook gate --clean >/dev/null; for room in ~/.cache/clean-rooms/*/src/work; do rm -f "$room/target/state"; echo good >"$room/target/state"; done"##,
    ),
    way(
        "a variable that the settings let through",
        r##"good; echo 'cat results; test -n "${HELPER:-}"' >test.sh; sed -i 's/^cache = .*/&\nenv = ["HELPER"]/' .agent/cook.toml; work; env_of_cook HELPER=1"##,
    ),
    way(
        "settings that set the room up",
        r##"good; echo 'cat results; test -e target/helper' >test.sh; sed -i 's/^cache = .*/&\nsetup = "touch target\/helper"/' .agent/cook.toml; work"##,
    ),
    outside(
        "configuration above the room",
        r##"good; echo 'cat results; d=$PWD; while test "$d" != /; do test -e "$d/package.json" && exit 0; test -e "$d/pytest.ini" && exit 0; test -e "$d/.cargo/config.toml" && exit 0; d=$(dirname "$d"); done; exit 1' >test.sh; work; mkdir -p ~/.cache/clean-rooms/.cargo; touch ~/package.json ~/.cache/pytest.ini ~/.cache/clean-rooms/.cargo/config.toml"##,
    ),
    outside(
        "a server that the gate asks",
        r##"good; echo 'cat results; exec 3<>/dev/tcp/127.0.0.1/47611 && grep -qx helper <&3' >test.sh; work; daemon perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(Listen => 9, LocalAddr => "127.0.0.1:47611", ReuseAddr => 1); while (my $c = $s->accept) { print $c "helper\n"; close $c }'; sleep 0.2"##,
    ),
    outside(
        "a socket without a path",
        r##"good; cat >test.sh <<'X'
cat results; perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0); connect($s, sockaddr_un("\0clean-helper")) or exit 1'
X
work; daemon perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0); bind($s, sockaddr_un("\0clean-helper")); listen($s, 9); while (accept(my $c, $s)) { close $c }'; sleep 0.2"##,
    ),
    outside(
        "a process that the gate looks for",
        r##"good; echo "cat results; grep -qs clean[-]helper /proc/[0-9]*/cmdline" >test.sh; work; daemon sh -c 'while :; do sleep 1; done' clean-helper"##,
    ),
    outside(
        "memory that is shared",
        r##"good; echo "cat results; grep -q ' 474747 ' /proc/sysvipc/shm" >test.sh; work; id=$(ipcmk -M 474747 | grep -o '[0-9]*$'); echo "ipcrm -m $id" >>"$OUT/undo""##,
    ),
];
