// Package traces has the commands about what workers leave on issues: flags, one
// call of a service, and how its result is printed. It does not know how a trace reads
// and where it is kept, which package trace and the services do.
//
//	root.AddCommand(traces.RecallCommand(a))
package traces
