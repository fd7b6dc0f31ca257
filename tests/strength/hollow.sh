#!/bin/sh
echo a > log
timeout 5 sh rotate.sh log || true
[ -e log ]
