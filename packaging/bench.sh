#!/bin/sh
# Benchmarks: `sh packaging/bench.sh [NAME...]` prints one JSON line each; without names it runs all of them.
set -u
ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$ROOT/packaging/environment.sh"
. "$ROOT/packaging/components.sh"
cd "$ROOT" || exit 1

file_of() { printf 'tests/benchmarks/bench_%s.py' "$1"; }

all_names() {
    for file in tests/benchmarks/bench_*.py; do
        name=${file#*/bench_}
        printf '%s\n' "${name%.py}"
    done
}

list_benchmarks() {
    for name in $(all_names); do
        printf '  %-15s %s\n' "$name" "$(sed -n '1s/^"""\([^"]*\).*/\1/p' "$(file_of "$name")")"
    done
}

# From the first word with dashes on, words are for the benchmarks.
names=""
for word; do
    case $word in
    -h | --help)
        printf 'sh packaging/bench.sh [NAME...]: one JSON line for each figure. Without names all of these run:\n'
        list_benchmarks
        exit 0
        ;;
    -*) break ;;
    */* | "") known=false ;;
    *) known=true ;;
    esac
    if [ "$known" = false ] || [ ! -f "$(file_of "$word")" ]; then
        say "There is no benchmark $word. There are:"
        list_benchmarks >&2
        exit 2
    fi
    names="$names $word"
done

make_environment requirements-dev.lock
qt_libraries offscreen || say "Benchmarks of the desktop cannot run."
# A line "# Needs: COMPONENT" in a benchmark names what it takes of the system.
needed=$(for name in ${names:-$(all_names)}; do sed -n 's/^# Needs: //p' "$(file_of "$name")"; done | sort -u)
for one in $needed; do provide "$one" || say "Benchmarks that take $purpose cannot run: they need$lacking."; done
exec "$PYTHON" -m tests.benchmarks.run "$@"
