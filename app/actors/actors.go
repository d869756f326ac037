// Package actors holds the services about who works on a clone: the registry, the
// files of actors, their life from add to rm, and what they learn. Package profile knows
// the form of a file, package unit that of a service; this package starts no loop, which
// package app/working does.
//
//	added, err := actors.Add(ctx, a, actors.AddRequest{Name: "netty"})
package actors
