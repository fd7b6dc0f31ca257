# `cook demo`, in which nobody misbehaves.
unset COOK_TEST COOK_NOW COOK_WRITER
cook demo --dir "$ROOM/demo"
cd "$ROOM/demo" || exit
record "cook verify --strict, whether it passed" text sh -c 'cook verify --strict --json | jq .passed'
cook log -n 60
