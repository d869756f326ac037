package live

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Seen is what one work tree remembers of its store between two commands.
type Seen struct {
	Left   string   `json:"left"`   // the stamp of the store as stig last wrote it, or found nothing lost
	Looked string   `json:"looked"` // the stamp of the store when Lost was worked out
	Lost   []string `json:"lost"`   // what was lost then, by name
	Told   []string `json:"told"`   // what of it was reported
}

// Seen reads what this work tree remembers. What cannot be read is nothing.
func (p Place) Seen() (s Seen) {
	for _, dir := range p.dirs() {
		if readJSON(p.seenFile(dir), &s) == nil && s.Left+s.Looked != "" {
			return s
		}
	}
	return Seen{}
}

// Remember keeps what is to be remembered.
func (p Place) Remember(s Seen) error {
	return p.inDir(func(dir string) error { return replaceJSON(p.seenFile(dir), s) })
}

// seenFile is named after the work tree and the store in it.
func (p Place) seenFile(dir string) string {
	sum := sha256.Sum256([]byte(p.Worktree + "\x00" + p.Store))
	return filepath.Join(dir, "seen-"+hex.EncodeToString(sum[:8])+".json")
}

// Stamp tells one state of a file from another at a glance: its size and when
// it was changed.
func Stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return strings.Join([]string{info.ModTime().UTC().Format(time.RFC3339Nano), strconv.FormatInt(info.Size(), 10)}, " ")
}
