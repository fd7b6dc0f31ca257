package Trial::Harness;

# Perl reads this at its start because PERL5OPT names it. It listens to the program that runs scripts
# and reads their TAP, and to no other.

use strict;

sub import {
    # The program sees the directories that it would have without us.
    (my $here = $INC{'Trial/Harness.pm'} || '') =~ s{/Trial/Harness\.pm$}{};
    @INC = grep { ref || $_ ne $here } @INC;
    return unless $ENV{TRIAL_RECORDS} && $ENV{TRIAL_ROOT};

    # `prove`, `make test` of ExtUtils::MakeMaker, and `Build test` of Module::Build.
    return unless $0 =~ m{(?:^|/)(?:prove[^/]*|Build)$} || ($0 eq '-e' && grep { /\.t$/ } @ARGV);
    eval { require TAP::Parser; require TAP::Parser::Aggregator; _listen(); };
    return;
}

sub _listen {
    require Cwd;
    my ($path, $root, $ran) = ($ENV{TRIAL_RECORDS}, Cwd::realpath($ENV{TRIAL_ROOT}), 0);
    my ($pid, $here) = ($$, Cwd::getcwd());
    return unless index("$here/", "$root/") == 0;

    # What the scripts start are parts of them.
    delete $ENV{TRIAL_RECORDS};
    my %results;
    no warnings 'redefine';
    my $next = \&TAP::Parser::next;
    *TAP::Parser::next = sub {
        my $result = $next->(@_);
        eval { push @{ $results{ $_[0] } }, $result if $result && $result->is_test; };
        return $result;
    };
    my $add = \&TAP::Parser::Aggregator::add;
    *TAP::Parser::Aggregator::add = sub {
        my ($self, $script, $parser) = @_;
        eval {
            my $file = Cwd::realpath($script);
            $file = defined $file && index($file, "$root/") == 0 ? substr($file, length($root) + 1) : $script;
            for my $test (@{ delete $results{$parser} || [] }) {
                (my $title = $test->description) =~ s/^- //;
                my $kind = $test->has_skip ? 'skipped' : $test->has_todo ? 'skipped' : $test->is_ok ? 'passed' : 'failed';
                $ran++ if $kind ne 'skipped';
                _write($path, name => "$file > $title", file => $file, result => $kind) if length $title;
            }
            my $bad = $parser->has_problems;
            my $kind = $parser->skip_all ? 'skipped' : $bad ? 'failed' : 'passed';
            my @why = $bad ? (message => 'exit code ' . ($parser->exit || 0) . ', failed: ' . (join(' ', $parser->failed) || 'none')) : ();
            if ($bad && !$parser->tests_run) {
                _write($path, unloaded => $file, message => $why[1]);
            } else {
                _write($path, name => $file, file => $file, result => $kind, @why);
            }
        };
        return $add->(@_);
    };
    eval 'END { Trial::Harness::_write($path, ran => $ran) if $$ == $pid }';
}

sub _write {
    my ($path, %record) = @_;
    my $line = join ',', map {
        my $value = $record{$_};
        if ($_ ne 'ran') {
            $value = substr($value, 0, 200) if $_ eq 'message';
            $value =~ s/([\\"])/\\$1/g;
            $value =~ s/([\x00-\x1f])/sprintf '\\u%04x', ord $1/ge;
            $value = "\"$value\"";
        }
        "\"$_\":$value";
    } sort keys %record;
    eval {
        local ($!, $@, $?);
        if (open my $file, '>>', $path) {
            syswrite $file, "{\"runner\":\"prove\",$line}\n";
        }
    };
}

1;
