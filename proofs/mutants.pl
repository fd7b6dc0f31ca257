# Rewrites one source file so that each of its guards can be switched off at run time.
#
#   perl mutants.pl FILE NAME FIRST LIST < list-of-changed-decisions
#
# FILE is rewritten in place. NAME is how it is called in the list of mutants, to which LIST is
# appended: number, place, what was there. FIRST is the last number that is taken already. Standard
# input: lines of proofs/mutants.list that name this file.
use strict;
use warnings;

my ( $file, $name, $number, $list ) = @ARGV;
open my $in, '<', $file or die "$file: $!\n";
my $text = do { local $/; <$in> };
close $in;
open my $out, '>>', $list or die "$list: $!\n";

sub note {
    my ( $line, $what ) = @_;
    $what =~ s/\s+/ /g;
    $what =~ s/^ | $//g;
    $number++;
    print {$out} "$number\t$name:$line\t$what\n";
    return $number;
}

my @source = split /\n/, $text, -1;

# Changed decisions: a text that stands there once, and what stands in its place. A replacement
# that holds MUTATED is taken as it is; any other is chosen by `if`.
while (<STDIN>) {
    chomp;
    my ( undef, $from, $to ) = split /\t/;
    my $times = () = $text =~ /\Q$from\E/g;
    die "$name holds $times times and not once: $from\n" if $times != 1;
    my $at = 1 + ( substr( $text, 0, index( $text, $from ) ) =~ tr/\n// );
    my $mutated = 'crate::mutant::is(' . note( $at, "$from => $to" ) . ')';
    $to = "(if MUTATED { $to } else { $from })" if $to !~ /MUTATED/;
    $to   =~ s/MUTATED/$mutated/g;
    $text =~ s/\Q$from\E/$to/;
}

# Refusals and causes, by the shape rustfmt gives them.
my @lines = split /\n/, $text, -1;
my ( $before, $value, $function ) = ( '', '', '' );
for my $at ( 0 .. $#lines ) {
    my $line = $lines[$at];
    last if $line =~ /^#\[cfg\(test\)\]/;
    $value = $1 if $line =~ /-> (.*?) (?:\{|where)$/;
    $function = $1 if $line =~ /^ *(?:pub(?:\([\w: ]+\))? )?fn (\w+)/;
    my $what = "$function: $source[$at]";
    for my $after ( 1 .. 3 ) {
        last if $what =~ /;$/ || $at + $after > $#lines;
        $what .= " $source[ $at + $after ]";
    }
    my $lets_go = $before =~ /else \{$/ && $before !~ /\} else \{$/;
    # What a function answers whose refusal is switched off, when it has nothing better.
    my $default = $value =~ /^Result<(?:\(\)|bool|String|Vec<.*>|Option<.*>|\(String, .*\)|Merged|Lost), Refusal>$/;
    if ( $line =~ /^\s*return Err\(/ || $line =~ /=> return Err\(/ ) {
        if ( !$lets_go ) {
            $lines[$at] =~ s/return Err\(/'guard!(' . note($at + 1, $what) . ', '/e;
        }
        elsif ($default) {
            $lines[$at] =~ s/return Err\(/'return refuse!(' . note($at + 1, $what) . ', '/e;
        }
    }
    elsif ( $line =~ /^\s*Err\(|=> Err\(/ && $line !~ /=> \{?$/ && $default ) {
        $lines[$at] =~ s/\bErr\(/'refuse!(' . note($at + 1, $what) . ', '/e;
    }
    elsif ( $line =~ /\b(drift\.cause|(?:found|wrong|lost\.gone|lost\.changed)\.push)\(/ ) {
        my $keeps = $1;
        $lines[$at] =~ s/\b\Q$keeps\E\(/'keep!(' . note($at + 1, $what) . ", $keeps, "/e;
    }
    elsif ( $line =~ /^\s*(?:[a-z_]+::)*[a-z_]+\(.*\)\?;$/ || $line =~ /^\s*contradiction\(.*\);$/ ) {
        $lines[$at] = 'if !crate::mutant::is(' . note( $at + 1, $what ) . ") { $line }";
    }
    $before = $line if $line =~ /\S/;
}
open my $new, '>', $file or die "$file: $!\n";
print {$new} join "\n", @lines;
close $new or die "$file: $!\n";
