// Package profile reads and edits the files that say who an actor is:
// .stig/actors/NAME.md, in git, for people and for the actor itself.
//
// A file has front matter in YAML (schemas/actors/schema.cue, #Actor) and a body of
// sections: Seed, Values, Heartbeat, Learned, Evolution. What somebody wrote is
// spliced and never rendered anew.
//
// The package knows no store, no live state and no process.
package profile
