#!/bin/sh
# Runs a command as a child of a process that has the name of the link to this file.
"$@"
exit $?
