// Package actors holds the services about who works on a clone: the registry, the
// files of actors, their life from add to rm, and what they learn.
package actors
