package beads

import "os"

// Mode says whose store it is (beads-format §10 rule 1).
type Mode int

const (
	Plain  Mode = iota // JSONL only, no-db, br
	SQLite             // bd keeps a SQLite database beside it
	Dolt               // the JSONL is an export
)

// Store is a store that was found.
type Store struct {
	Path string // the JSONL file, symlinks not resolved
	Dir  string // its .beads directory
	Mode Mode
	BR   bool // beads_rust works here: its .write.lock is taken too
	NoDB bool // config.yaml says no-db: bd works on the file itself
}

// Where tells Discover where to look; the fields are the flags and variables.
// A relative File or BeadsDir counts from Dir.
type Where struct {
	Dir      string // working directory (-C)
	File     string // --store
	BeadsDir string // BEADS_DIR
}

// HardLinks is how many names the store's file has; all but the one that a write
// replaces keep what was. It is 1 where the system does not say.
func (s Store) HardLinks() (int, error) {
	info, err := os.Stat(s.Path)
	if err != nil {
		return 0, unreadable(s.Path, err)
	}
	return linksOf(info), nil
}
