// Package traces contains the commands for what workers leave on issues. Each binds flags,
// calls one service, and prints the result. How a trace is written and where it is kept is
// known to package trace and the services.
//
//	root.AddCommand(traces.RecallCommand(a))
package traces
