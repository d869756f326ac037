//go:build !generate

// Command stig lets many workers share a codebase through the issues in its
// repository: it briefs them before they work and keeps what they learned.
//
// Package main binds flags, streams, the environment and the clock to the packages that do the
// work, and prints their results as text or JSON. No other package touches these. It contains
// no rules of the convention.
//
//	stig orient demo-1
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"stig/cmd/stig/cli"
	"stig/cue"
	"stig/internal/clone"
	"stig/internal/process"
	"stig/internal/service/traces"
	"stig/internal/workspace"
)

func main() { run(newApp()) }

func newApp() *cli.App {
	return cli.Front(os.Stdin, os.Stdout, os.Stderr, &workspace.Run{Getenv: os.Getenv, Env: os.Environ, HomeDir: os.UserHomeDir, ConfigDir: os.UserConfigDir, CacheDir: os.UserCacheDir, Now: time.Now, Schema: cue.Embedded(), Ancestors: process.Ancestors, Inbox: traces.CountInbox,
		Foreign: &clone.Observer{Now: time.Now}})
}

// run runs the command line of this process.
func run(a *cli.App) {
	if os.Getenv("GOGC") == "" {
		// A run is short and keeps its index to the end: collect half as often.
		debug.SetGCPercent(200)
	}
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	// Checks run without a terminal, so its hangup reaches them only through stig.
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx := interruptible(signals)
	args := os.Args[1:]
	if len(args) == 1 && args[0] == "--version" {
		args[0] = "version"
	}
	code := a.Execute(ctx, command(a), args)
	if by, ok := errors.AsType[*caughtError](context.Cause(ctx)); ok && code == workspace.ExitInterrupted {
		code = by.exit()
	}
	os.Exit(code)
}

// interruptible returns a context that the first of the signals cancels. A second SIGQUIT ends
// the process at once and prints the stacks.
func interruptible(signals []os.Signal) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, signals...)
	go func() {
		first := <-caught
		signal.Reset(syscall.SIGQUIT)
		cancel(&caughtError{first})
	}()
	return ctx
}

// caughtError is the signal that stopped the run.
type caughtError struct{ signal os.Signal }

func (e *caughtError) Error() string { return "stopped by a signal: " + e.signal.String() }
func (e *caughtError) Unwrap() error { return context.Canceled }

// exit returns the exit code by the shell's convention: 130 for an interrupt, 143 for a
// termination, 129 for a hangup, 131 for SIGQUIT.
func (e *caughtError) exit() int {
	if number, ok := e.signal.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return workspace.ExitInterrupted
}
