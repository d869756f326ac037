// Package decide has the commands around questions to people: escalate, await,
// escalations, resolve, and retro, which asks whether the way of working should
// change. The rules are those of package checkpoint.
//
//	root.AddCommand(decide.ResolveCommand(a))
package decide
