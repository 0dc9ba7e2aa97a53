#!/bin/sh
# Builds a Temporal program from the Go module pinned in this folder and prints the path of the binary.
#
#   tools/temporal/build.sh [--existing] [temporal|temporal-server|temporal-sql-tool]
#
# The binary stays in the user's cache, where all clones find it. A first build downloads 400 MB of Go modules and takes
# two to four minutes. With --existing the script fails instead of building.
set -eu
cd "$(dirname "$0")"

existing_only=false
if [ "${1-}" = --existing ]; then
  existing_only=true
  shift
fi
program=${1-temporal}
case $program in
  temporal) package=github.com/temporalio/cli/cmd/temporal ;;
  temporal-server) package=go.temporal.io/server/cmd/server ;;
  temporal-sql-tool) package=go.temporal.io/server/cmd/tools/sql ;;
  *) echo "Unknown program $program." >&2 && exit 2 ;;
esac

version=$(sed -n 's|.*github.com/temporalio/cli v\([^ ]*\).*|\1|p' go.mod)
hash=$(cat go.mod go.sum | { sha256sum 2>/dev/null || shasum -a 256; } | cut -c1-12)
folder=${XDG_CACHE_HOME:-$HOME/.cache}/order-screening/temporal-$version-$hash
binary=$folder/$program

if [ ! -e "$binary" ]; then
  if $existing_only; then exit 1; fi
  command -v go >/dev/null || { echo 'Go is not installed' >&2 && exit 1; }
  # In a folder of its own until it is complete: other processes look for the binary, and Go adds to its copy of go.mod.
  unfinished=$binary.$$
  log=$unfinished/log
  trap 'rm -rf "$unfinished"' EXIT
  mkdir -p "$unfinished"
  cp go.mod go.sum "$unfinished"
  started=$(date +%s)
  echo "Building $program from source with Go. The first build takes a few minutes." >&2
  : >"$log"
  while sleep 15 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
    echo "  $(wc -l <"$log") modules and packages done, $(($(date +%s) - started)) s" >&2
  done &
  ticker=$!
  # Recording the state of the checkout in the binary fails in a checkout that belongs to another user.
  if go -C "$unfinished" build -mod=mod -v -buildvcs=false -ldflags='-s -w' -o "$unfinished/$program" "$package" 2>"$log"; then
    kill "$ticker"
    # Go adds missing sums to its copy without an error.
    if ! cmp -s go.sum "$unfinished/go.sum"; then
      mv "$unfinished/go.sum" "$folder/go.sum"
      echo "go.sum lacks sums of modules, which are therefore not pinned. Add them and commit: cp $folder/go.sum $PWD/go.sum" >&2
      exit 1
    fi
    mv "$unfinished/$program" "$binary"
  else
    kill "$ticker"
    tail -n 5 "$log" >&2
    exit 1
  fi
  echo "Built $program in $(($(date +%s) - started)) s." >&2
fi
echo "$binary"
