#!/usr/bin/env bash
# Makes docs/demo.svg from a real run of `cook demo`: one line for each transition, as the run said it.
#   docs/demo.sh [COOK]   COOK: the program; without it, it is built.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

cook="${1:-}"
if [[ -z "$cook" ]]; then
  cargo build --release --quiet
  cook="target/release/cook"
fi
said="$(mktemp)"
trap 'rm -f "$said"' EXIT
# Without the markers of an agent, which would close the user's commands.
env -i PATH="$PATH" HOME="${HOME:-/}" "$cook" demo >"$said" 2>&1

perl - "$said" >docs/demo.svg <<'PERL'
use strict;
use warnings;
my ($role, $number, @rows, $end) = ('', '');
while (<>) {
  chomp;
  if (/^completion-([a-z-]+) \(scripted\), rule/) { $role = $1; }
  elsif (/^  recorded #(\d+)/) { $number = $1; }
  elsif (/^    (\S.*)/ && $number ne '') { push @rows, [$number, $role, $1]; $number = ''; }
  elsif (/^ended\s+(.*)/) { $end = $1; }
}
die "the demo did not end as it should\n" unless @rows && $end && $end =~ /^done at/;

my $columns = 118;
sub escape {
  my ($text) = @_;
  $text =~ s/&/&amp;/g; $text =~ s/</&lt;/g; $text =~ s/>/&gt;/g;
  return $text;
}
sub cut {
  my ($text, $most) = @_;
  return $text if length $text <= $most;
  $text = substr $text, 0, $most - 1;
  $text =~ s/[\s,;:]*\S*$//;
  return "$text …";
}
my ($step, $left, $top) = (19, 22, 64);
my $lines = '';
my $at = $top;
my $line = sub {
  my ($body) = @_;
  $lines .= qq{<text x="$left" y="$at">$body</text>\n};
  $at += $step;
};
$line->('<tspan class="p">$</tspan> cargo run --release -- demo');
for my $row (@rows) {
  my ($number, $role, $what) = @$row;
  my $class = $what =~ /\bno[,:]|^no\b|^a no\b|rejection/ ? 'n' : $what =~ /\byes\b|green|done/ ? 'y' : 't';
  my $text = escape(cut($what, $columns - 17));
  $line->(qq{<tspan class="r">#$number</tspan><tspan class="r" x="56">$role</tspan><tspan class="$class" x="152">$text</tspan>});
}
$line->('<tspan class="y">' . escape($end) . '</tspan>');
my ($width, $height) = (22 + $columns * 7.85 + 22, $at + 6);
print <<"SVG";
<svg xmlns="http://www.w3.org/2000/svg" width="$width" height="$height" viewBox="0 0 $width $height" role="img" aria-labelledby="t">
<title id="t">A run of cook demo, line by line: a review says no, a judge says no, then all judges agree and the work is done</title>
<style>
rect { fill: #ffffff; stroke: #d0d7de; }
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2328; }
circle { fill: #d0d7de; }
.p, .r { fill: #59636e; } .n { fill: #b3261e; } .y { fill: #11652c; }
\@media (prefers-color-scheme: dark) {
rect { fill: #0d1117; stroke: #30363d; }
text { fill: #e6edf3; } circle { fill: #30363d; }
.p, .r { fill: #9198a1; } .n { fill: #ff8a80; } .y { fill: #56d364; } }
</style>
<rect x="0.5" y="0.5" width="@{[$width - 1]}" height="@{[$height - 1]}" rx="8"/>
<circle cx="24" cy="22" r="6"/><circle cx="44" cy="22" r="6"/><circle cx="64" cy="22" r="6"/>
$lines</svg>
SVG
PERL
printf 'docs/demo.svg: %s lines\n' "$(grep -c '<text' docs/demo.svg)"
