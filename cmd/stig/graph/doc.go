// Package graph contains the commands that show how issues relate: what is ready, the order of
// work, drawings, how signals changed over time.
//
//	root.AddCommand(graph.ReadyCommand(a))
package graph
