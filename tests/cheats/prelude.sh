# shellcheck shell=bash
# What the scripts of tests/cheats/ways/ begin with.
set -u
OUT="$PWD/../outside"
mkdir -p "$OUT/bin" 2>/dev/null
export GIT_CONFIG_GLOBAL="$HOME/.gitconfig"

# Commits what is there.
work() { git add -A && git commit -q -m "work" -m "Cook-Slice: a"; }
# What an honest agent would do.
good() { printf 'ok 1 - one\nok 2 - two\n' >results; printf 'one\ntwo\n' >a.txt; }
# What cook is called with from now on.
env_of_cook() { printf '%s\n' "$1" >>"$OUT/env"; }
starts_cook() { printf '%s\n' "$1" >>"$OUT/before"; }
program() { printf '#!/bin/sh\n%s\n' "$2" >"$1"; chmod +x "$1"; }
daemon() { "$@" >/dev/null 2>&1 </dev/null & echo $! >>"$OUT/pids"; }
# Does something as soon as the log says that the work is done.
once_done() { daemon bash -c "until cook next --json 2>/dev/null | grep -q '\"policy\": *\"done\"'; do sleep 0.05; done; $1"; }

# forge ID BYTES: other bytes in a loose object.
forge() {
  local file=".git/objects/${1:0:2}/${1:2}"
  mkdir -p "${file%/*}"
  chmod -f u+w "$file"
  printf "$2" | perl -MCompress::Zlib -e 'local $/; print compress(<STDIN>)' >"$file"
}
# lie FILE ID ID: one object's bytes for another's.
lie() {
  chmod u+w "$1"
  perl -e 'my ($f, $a, $b) = @ARGV; ($a, $b) = (pack("H*", $a), pack("H*", $b)); open F, "+<:raw", $f; local $/; my $d = <F>; $d =~ s/\Q$a\E/$b/g; seek F, 0, 0; print F $d' "$1" "$2" "$3"
}
# lead_astray ID ID: the pack's index says of the first what it says of the second.
lead_astray() {
  local index
  for index in .git/objects/pack/*.idx; do
    chmod u+w "$index"
    perl -e '
      my ($f, $a, $b) = @ARGV; open F, "+<:raw", $f; local $/; my $d = <F>;
      my $n = unpack("N", substr($d, 8 + 255 * 4, 4)); my $ids = 8 + 1024; my %at;
      $at{unpack("H*", substr($d, $ids + 20 * $_, 20))} = $_ for 0 .. $n - 1;
      exit unless exists $at{$a} && exists $at{$b};
      for my $table ($ids + 20 * $n, $ids + 24 * $n) {
        substr($d, $table + 4 * $at{$a}, 4) = substr($d, $table + 4 * $at{$b}, 4);
      }
      seek F, 0, 0; print F $d' "$index" "$1" "$2"
  done
}
# The same in the index of many packs.
lead_astray_in_many() {
  local index=.git/objects/pack/multi-pack-index
  chmod u+w "$index"
  perl -e '
    my ($f, $a, $b) = @ARGV; open F, "+<:raw", $f; local $/; my $d = <F>; my %chunk;
    for my $i (0 .. unpack("C", substr($d, 6, 1)) - 1) {
      my ($id, $high, $low) = unpack("a4NN", substr($d, 12 + 12 * $i, 12)); $chunk{$id} = $low;
    }
    my $n = unpack("N", substr($d, $chunk{OIDF} + 255 * 4, 4)); my %at;
    $at{unpack("H*", substr($d, $chunk{OIDL} + 20 * $_, 20))} = $_ for 0 .. $n - 1;
    substr($d, $chunk{OOFF} + 8 * $at{$a}, 8) = substr($d, $chunk{OOFF} + 8 * $at{$b}, 8);
    seek F, 0, 0; print F $d' "$index" "$1" "$2"
}
# The bitmaps of packs say of the first of their commits what holds of the last, and the other way about.
lie_in_bitmaps() {
  chmod u+w .git/objects/pack/*.bitmap
  perl -MDigest::SHA=sha1 -e '
    my ($f) = @ARGV; open F, "+<:raw", $f; local $/; my $d = <F>; my $at = 32;
    my $past = sub { $_[0] + 12 + 8 * unpack("N", substr($d, $_[0] + 4, 4)) };
    $at = $past->($at) for 1 .. 4;
    my @commits; for (1 .. unpack("N", substr($d, 8, 4))) { push @commits, $at; $at = $past->($at + 6) }
    my ($first, $last) = map { substr($d, $commits[$_], 4) } 0, -1;
    (substr($d, $commits[0], 4), substr($d, $commits[-1], 4)) = ($last, $first);
    $d = substr($d, 0, -20); seek F, 0, 0; print F $d . sha1($d)' .git/objects/pack/*.bitmap
}
# Each red receipt as a green one, with the id that its content has.
forge_receipts() {
  local file
  for file in .git/cook/receipts/*.json; do
    perl -MJSON::PP -MDigest::SHA=sha256_hex -e '
      my ($f) = @ARGV; open F, "<", $f; local $/; my $r = decode_json(<F>); close F;
      my $was = delete $r->{id}; $r->{exit_code} = 0;
      my $json = JSON::PP->new->canonical->utf8; my $id = sha256_hex($json->encode($r)); $r->{id} = $id;
      open F, ">", ($f =~ s/\Q$was\E/$id/r); print F $json->encode($r); close F;
      for my $key (glob(".git/cook/receipts/index/*")) {
        open K, "<", $key; my $has = <K>; close K;
        if ($has eq $was) { open K, ">", $key; print K $id; close K }
      }' "$file"
  done
}
