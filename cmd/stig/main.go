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
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := newApp().run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
