#!/bin/sh
# Creates and upgrades the two databases of Temporal's server on PostgreSQL. Idempotent.
# Takes POSTGRES_HOST, POSTGRES_PORT, POSTGRES_USER, POSTGRES_PASSWORD; needs temporal-sql-tool on the PATH.
set -eu

export SQL_PLUGIN=postgres12_pgx
export SQL_HOST="$POSTGRES_HOST" SQL_PORT="$POSTGRES_PORT" SQL_USER="$POSTGRES_USER" SQL_PASSWORD="$POSTGRES_PASSWORD"

set_up() {
  temporal-sql-tool --database "$1" create-database
  # Creates the version tables if they don't exist.
  temporal-sql-tool --database "$1" setup-schema --version 0.0
  temporal-sql-tool --database "$1" update-schema --schema-name "postgresql/v12/$2"
}

set_up temporal temporal
set_up temporal_visibility visibility
