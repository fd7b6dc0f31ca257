#!/usr/bin/env bash
# Two units at once that share a database, one killed in the middle of a session: over SQLite, and over PostgreSQL
# ($COOK_POSTGRES_URL, or a server that the test starts).
# shellcheck source=examples/job/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../job/lib.sh"

prepare() {
  command -v python3 >/dev/null || skip "Python 3 is not here"
  python3 -m venv "$1/venv" || skip "Python makes no virtual environment here"
  "$1/venv/bin/pip" install --quiet dbos psycopg-binary || skip "the package dbos cannot be installed"
  printf '%s' "${COOK_POSTGRES_URL:-}" >"$1/postgres-url"
}
begin "$@"
export COOK_WAIT=1

unit() { start "$1" env COOK_DATABASE="$database" "$WORK/venv/bin/python" "$here/worker.py" "$1" "$WORK/$1"; }
ended() { grep -q "^$1: cook run --once ended with 13" "$WORK/$1.out"; }

one_dies() {
  begin_job
  trusted_clone a
  trusted_clone b
  touch "$STATE/hang-implementer"
  unit a
  local a=$pid b
  unit b
  b=$pid
  kill_who_works "$a" "$b"
  sleep 2
  ! is_done && ! ended "$other" || surprise "the mission did not wait for its unit"
  echo "the mission waits for $victim"
  unit "$victim"
  wait_for "the mission's end in $victim" 240 ended "$victim"
  wait_for "the mission's end in $other" 60 ended "$other"
  check_done
}

database="sqlite:///$WORK/dbos.sqlite"
echo "SQLite"
one_dies

cd "$WORK"
end_hung
rm -rf remote.git first a b reader ./*.out
rm -rf "${STATE:?}"/*
database="$(cat "$WORK/postgres-url")"
if [[ -z "$database" ]]; then
  for dir in "$(dirname -- "$(command -v initdb || echo /none/none)")" /usr/lib/postgresql/*/bin; do
    [[ -x "$dir/initdb" ]] && programs="$dir"
  done
  [[ -n "${programs:-}" ]] || skip "SQLite passed; PostgreSQL is not here, and no \$COOK_POSTGRES_URL is given"
  as=()
  if ((EUID == 0)); then
    # It does not run as root.
    getent passwd postgres >/dev/null || skip "SQLite passed; PostgreSQL does not run as root, and there is no user postgres"
    as=(setpriv --reuid=postgres --regid=postgres --clear-groups)
  fi
  chmod 755 "$WORK"
  mkdir "$WORK/pg"
  ((EUID != 0)) || chown postgres "$WORK/pg"
  # From a directory that this user may enter.
  cd /
  "${as[@]}" "$programs/initdb" --auth=trust --encoding=UTF8 --username=cook -D "$WORK/pg/data" >"$WORK/initdb.log"
  "${as[@]}" "$programs/postgres" -D "$WORK/pg/data" -c listen_addresses= -c "unix_socket_directories=$WORK/pg" -c fsync=off \
    >"$WORK/postgres.log" 2>&1 &
  started+=("$!")
  wait_for "PostgreSQL" 60 psql -q -h "$WORK/pg" -U cook -d postgres -c 'create database cook'
  database="postgresql+psycopg://cook@/cook?host=$WORK/pg"
fi
echo "PostgreSQL"
one_dies
