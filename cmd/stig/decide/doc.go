// Package decide contains the commands for questions to people: escalate, await, escalations,
// resolve, and retro, which asks whether the way of working should change. The rules are in
// package checkpoint.
//
//	root.AddCommand(decide.ResolveCommand(a))
package decide
