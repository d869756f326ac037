// Package clone stores what belongs to one clone of a repository and never goes into the store:
// the journal of edits, leases on issues, presence of actors, sessions of assistants,
// acknowledgements, records of runs and swarms, the memory of watchers, counters of child ids,
// and how stig last left the store. All work trees of the clone share it, in stig/ of git's
// common directory. The package also reads and edits the files of actors
// (.stig/actors/NAME.md), which are in git.
//
// Files have mode 0600, or 0660 if a group may write git's directory. The journal, the records
// of runs and the memory of watchers are append-only; other files are replaced atomically. An
// unreadable file is skipped: the error names it, and the content of the others is returned.
// Only for the memory of a watcher there is just the error.
//
// If a server has the store, it also has the small documents that all machines need; see
// Documents.
//
// The package knows neither notes nor signals nor the graph of issues: a change is a name with
// the text before and after. It opens no store, starts no program and reads no clock.
//
//	p, err := clone.At(store.Path)
//	…
//	pending, err := p.Begin(clone.Record{At: now, Actor: "mara", Command: "checkpoint", Changes: changes})
//	… // replace the store
//	err = pending.End(clone.Written)
package clone
