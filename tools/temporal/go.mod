module order-screening/tools/temporal

go 1.26.0

tool (
	github.com/temporalio/cli/cmd/temporal
	go.temporal.io/server/cmd/server
	go.temporal.io/server/cmd/tools/sql
)

// What differs from the requirements of the CLI and the server. Go adds the rest when it builds.
require (
	github.com/temporalio/cli v1.5.1
	go.temporal.io/server v1.29.7
	golang.org/x/term v0.43.0
)

// An SQLite driver that survives a canceled statement, and what it requires.
require (
	github.com/ncruces/go-strftime v1.0.0
	modernc.org/gc/v3 v3.1.2
	modernc.org/libc v1.72.3
	modernc.org/memory v1.11.0
	modernc.org/sqlite v1.51.0
)
