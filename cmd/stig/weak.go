package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"stig/beads"
)

// warnOfWeak says, at the first write to a store, what its file system lacks.
func (a *core) warnOfWeak(s beads.Store) {
	if mark := a.weakMark(s); mark != "" {
		if _, err := os.Stat(mark); !errors.Is(err, fs.ErrNotExist) {
			return
		}
		if os.MkdirAll(filepath.Dir(mark), 0o700) == nil {
			_ = os.WriteFile(mark, nil, 0o600) // without it the next write says it again
		}
	}
	a.warn("%s", weakness(s))
}

// weakMark is the file that records that the user was told of a store; "" where
// nothing is kept for the user.
func (a *core) weakMark(s beads.Store) string {
	dir, err := realPath(s.Dir)
	if err != nil || a.stateDir() == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(a.stateDir(), "weak", hex.EncodeToString(sum[:8]))
}
