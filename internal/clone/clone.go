// Package clone keeps what holds for one clone of a repository and never goes into the
// store: the journal of edits, leases on issues, who is present, sessions of assistants,
// what was acknowledged, records of runs and swarms, the memory of watchers, counters of
// child ids, and how the store stood when stig left it. All work trees of the clone share
// it, in stig/ of git's common directory. The files that say who an actor is
// (.stig/actors/NAME.md) are read and edited here too, but are in git.
//
// Files have mode 0600, or 0660 where a group may write git's directory. The journal, the
// records of runs and the memory of watchers are appended to; all other files are replaced
// whole. A file that cannot be read is skipped: the error names it, and the other files
// are still given. A watcher whose memory cannot be read gets the error alone.
//
// Where a server keeps the store, it also keeps the small documents that all machines have
// to see: see Documents.
//
// The package does not know notes, signals or the graph of issues: a change is a name with
// the text before and the text after. It opens no store, starts no program and reads no
// clock.
//
//	p, err := clone.At(store.Path)
//	…
//	pending, err := p.Begin(clone.Record{At: now, Actor: "mara", Command: "checkpoint", Changes: changes})
//	… // replace the store
//	err = pending.End(clone.Written)
package clone
