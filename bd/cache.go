package bd

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/textfile"
)

// cache keeps, in a file for each store, the lines that were read last and the version
// of the database that they are of. It is never trusted: what does not have the sum
// that its first line names is not there.
type cache struct{ dir string }

const (
	cacheEnd    = ".lines"
	mostCached  = 64 << 20 // bytes of one store; more is read each time
	cachedAtAll = 24       // stores; the ones read longest ago go first
)

func (c cache) path(store string) string {
	sum := sha256.Sum256([]byte(store))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:12])+cacheEnd)
}

// head is the first line of a cached text.
func head(version string, text []byte) string {
	sum := sha256.Sum256(text)
	return fmt.Sprintf("stig bd 1 %s %d %s\n", hex.EncodeToString(sum[:]), len(text), version)
}

// get gives the lines of a store in that version.
func (c cache) get(store, version string) (text []byte, ok bool) {
	if c.dir == "" || version == "" {
		return nil, false
	}
	kept, err := os.ReadFile(c.path(store))
	if err != nil {
		return nil, false
	}
	first, text, ok := bytes.Cut(kept, []byte("\n"))
	if !ok || !strings.HasSuffix(string(first), " "+version) || string(first)+"\n" != head(version, text) {
		return nil, false
	}
	return text, true
}

// put keeps the lines of a store. A cache that cannot be written keeps nothing.
func (c cache) put(store, version string, text []byte) {
	if c.dir == "" || version == "" || len(text) > mostCached || os.MkdirAll(c.dir, 0o700) != nil {
		return
	}
	if textfile.Replace(c.path(store), append([]byte(head(version, text)), text...)) == nil {
		c.trim()
	}
}

// trim removes the files that were written longest ago, and what a run left that was
// ended while it wrote.
func (c cache) trim() {
	entries, err := os.ReadDir(c.dir)
	if err != nil || len(entries) <= cachedAtAll {
		return
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return age(b).Compare(age(a)) })
	for _, old := range entries[cachedAtAll:] {
		_ = os.Remove(filepath.Join(c.dir, old.Name())) // else the next run tries
	}
}

// age is when a file was written; the zero time for one that is gone.
func age(e os.DirEntry) (written time.Time) {
	if info, err := e.Info(); err == nil {
		written = info.ModTime()
	}
	return written
}
