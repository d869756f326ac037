// Package graph has the commands that show issues in relation: what is ready, the
// order of work, pictures, how signals changed over time.
//
//	root.AddCommand(graph.ReadyCommand(a))
package graph
