package gate

// Attempt is one thing that a command line would do to issues past the gate.
type Attempt struct {
	Verb  string   // what would do it, as typed without its arguments: "bd close", "sed -i", ">"
	IDs   []string // the issues that it would close, as typed
	Open  bool     // it may close others, which only running it can tell
	Files []string // the files that it would write, which may be a store: see Overwrites
}

// Closes lists what a command line would close, and the files it would write
// that may be a store.
func Closes(command string) []Attempt { return nil }

// Overwrites tells whether the attempt writes a store. dir is where the
// command runs; both are absolute.
func (a Attempt) Overwrites(dir, store string) bool { return false }
