#!/usr/bin/env bash
# Runs the tests on each version of Node that is supported, the image's last: `npm run test:nodes [-- arguments of npm test]`.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# These packages need no install script. npm runs only approved ones, and the package `node` has one.
platform=$(node --print 'process.platform + "-" + process.arch')
for version in 20 22 24; do
  npm install --prefix "$folder/$version" --no-audit --no-fund --loglevel=error "node-$platform@$version"
  found=$("$folder/$version/node_modules/.bin/node" --version)
  printf '\n== npm test on Node %s\n' "$found"
  PATH="$folder/$version/node_modules/.bin:$PATH" npm test -- "$@"
done
