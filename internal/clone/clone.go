// Package live keeps what holds for one clone of a repository and never goes
// into the store: the journal of edits, leases on issues, who is present, what was
// acknowledged, records of runs, dreams and swarms, the memory of watchers, counters of
// child ids, sessions of assistants, and how the store stood when stig left it. All work
// trees of the clone share it, in stig/ of git's common directory.
//
// Files are of mode 0600, and 0660 where a group may write git's directory. The journal and the records of runs are appended to and
// checksummed, the memory of a watcher is appended to, and all others are replaced whole.
// A file that cannot be read is passed over, and the error says so beside what the others
// hold; of its own memory a watcher gets the error alone.
//
// The package does not know issues, notes or signals: a change is a name with
// the text that stood there and the text that was written. It starts no
// program and reads no clock.
//
// Where a server keeps the store it keeps small documents that all machines have to see,
// too: see Documents.
//
//	p, err := clone.At(store.Path)
//	…
//	pending, err := p.Begin(clone.Record{At: now, Actor: "mara", Command: "checkpoint", Changes: changes})
//	… // replace the store
//	err = pending.End(clone.Written)
package clone
