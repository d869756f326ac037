// Command stig lets many workers share a codebase through the issues in its
// repository: it briefs them before they work and keeps what they learned.
//
// This package binds flags, streams, the environment and the clock to the
// packages that do the work, and turns their results into text or JSON. It is
// the only one that touches any of them. It knows no rule of the convention.
//
//	stig orient demo-1
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"stig/cmd/stig/cli"
)

func main() { run(newApp()) }

// run runs the command line of this process.
func run(a *cli.App) {
	if os.Getenv("GOGC") == "" {
		// A run is short and its index stays to the end: collect half as often.
		debug.SetGCPercent(200)
	}
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	// Checks have no terminal, so that it closes reaches them through us alone.
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	code := a.Run(ctx, command(a), os.Args[1:])
	stop()
	os.Exit(code)
}
