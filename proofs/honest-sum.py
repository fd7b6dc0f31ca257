#!/usr/bin/env python3
"""Sums up what proofs/honest.sh measured, and compares it with the list that is kept.

usage: honest-sum.py REPOSITORIES KEPT RESULTS [--keep] [--gates]
"""
import collections
import os
import sys

HEADER = "name\tcommit\ttouches\tgate\texit\tcodes\treason"
# What the figures may be at most (docs/check.md): false accusations, and answers that are not known.
MOST_ACCUSED, MOST_UNKNOWN = 0.01, 0.10


def rows(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file]
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def main():
    repositories, kept_path, results = sys.argv[1:4]
    options = sys.argv[4:]
    language = {row[0]: row[1] for row in rows(repositories)}
    kept = {(row[0], row[1]): row for row in rows(kept_path)[1:]}
    measured = rows(results)
    if "--gates" in options:
        for name, commit, said, _, _ in measured:
            kept[name, commit][3] = "green" if said == "0" else f"red:{said}"
        red = [row for row in measured if row[2] != "0"]
        print(f"{len(measured) - len(red)} of {len(measured)} gates are green")
        write(kept_path, kept, options)
        return 0

    sums = collections.defaultdict(collections.Counter)
    times = collections.defaultdict(list)
    bad = []
    for name, commit, said, codes, seconds in measured:
        row = kept[name, commit]
        for group in (language[name], "all"):
            sums[group]["commits"] += 1
            sums[group][said if said in ("0", "1", "3") else "other"] += 1
            times[group].append(float(seconds))
        if "--keep" in options:
            if row[4] != said:
                row[6] = "-"
            row[4], row[5] = said, codes
        elif row[4] == "-":
            bad.append(f"{name} {commit[:12]}: exit {said} {codes}; no verdict is kept")
        elif row[4] != said:
            bad.append(f"{name} {commit[:12]}: exit {said} {codes}; kept is {row[4]} {row[5]}")
        if said != "0" and row[6] == "-":
            bad.append(f"{name} {commit[:12]}: exit {said} {codes}; no reason is kept")

    print(f"\n{'language':12} commits  true false not-known other  accused  not known  median s")
    for group in sorted(sums, key=lambda group: (group == "all", group)):
        count = sums[group]
        share = [count[code] / count["commits"] for code in ("1", "3")]
        median = sorted(times[group])[len(times[group]) // 2]
        print(
            f"{group:12} {count['commits']:7} {count['0']:5} {count['1']:5} {count['3']:9} {count['other']:5}"
            f"  {share[0]:6.1%}  {share[1]:8.1%}  {median:8.1f}"
        )
    # A named test that the commit really broke, and a gate that was red, are no false accusation: the
    # reason says so by its first word.
    explained = sum(
        1 for name, commit, said, _, _ in measured if said == "1" and kept[name, commit][6].startswith("true:")
    )
    count = sums["all"]
    if count["commits"]:
        accused = (count["1"] - explained) / count["commits"]
        print(f"exit 1 without what the reasons call true: {count['1'] - explained}, {accused:.1%}"
              f" (at most {MOST_ACCUSED:.0%}); not known: {count['3'] / count['commits']:.1%}"
              f" (at most {MOST_UNKNOWN:.0%})")
    for line in bad:
        print(line)
    write(kept_path, kept, options)
    return 1 if bad else 0


def write(path, kept, options):
    if "--keep" not in options:
        return
    with open(path + ".new", "w", encoding="utf-8") as file:
        print(HEADER, file=file)
        for row in kept.values():
            print("\t".join(row), file=file)
    os.replace(path + ".new", path)


sys.exit(main())
