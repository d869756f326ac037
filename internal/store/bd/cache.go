package bd

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/file"
	"stig/internal/store/jsonl"
)

// metadata is what bd's metadata.json says about its database.
type metadata struct {
	Mode     string `json:"dolt_mode"`
	Database string `json:"dolt_database"`
}

func metadataOf(p beads.Place) (m metadata, err error) {
	err = jsonl.Metadata(p.Dir, &m)
	return m, err
}

// fingerprint identifies the state of a Dolt database in .beads/embeddeddolt, which each bd
// opens itself: the manifest of its storage, with the root hash, and the file sizes, since the
// journal grows with every write. It starts no program, and ignores times, since bd touches the
// files when it reads. It is "" (unknown) for a database on a server, for SQLite, and if bd
// might use another database.
func (b Program) fingerprint(p beads.Place) string {
	if m, err := metadataOf(p); err != nil || m.Mode != "embedded" || b.elsewhere(p) {
		return ""
	}
	sum, manifests := sha256.New(), 0
	err := filepath.WalkDir(filepath.Join(p.Dir, "embeddeddolt"), func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || e.IsDir():
			return err
		case e.Name() == "LOCK" || e.Name() == "journal.idx": // recreated by readers
			return nil
		case e.Name() == "manifest":
			text, err := os.ReadFile(path)
			manifests++
			fmt.Fprintf(sum, "%s %q\n", path, text)
			return err
		}
		info, err := e.Info()
		if err == nil {
			fmt.Fprintf(sum, "%s %d\n", path, info.Size())
		}
		return err
	})
	if err != nil || manifests == 0 { // bd creates and removes files while it works
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// elsewhere reports whether a variable, a file of variables or a setting might make bd use
// another database than its directory's.
func (b Program) elsewhere(p beads.Place) bool {
	set, err := jsonl.ReadTrackerSettings(p.Dir)
	for key := range set {
		if strings.HasPrefix(key, "dolt.") && key != "dolt.auto-commit" {
			return true
		}
	}
	_, none := os.Lstat(filepath.Join(p.Dir, ".env"))
	return err != nil || none == nil || slices.ContainsFunc(b.Env, func(variable string) bool {
		return strings.HasPrefix(variable, "BEADS_DOLT_") || strings.HasPrefix(variable, "BEADS_DB=")
	})
}

// cache keeps, in a file per store, the lines of the last reading and the version of the
// database they came from. It is verified on every use: an entry whose checksum differs from
// its first line does not exist.
type cache struct{ dir string }

// mostCached limits the size of a cached store, in bytes.
const mostCached = 64 << 20

func (c cache) path(store string) string {
	sum := sha256.Sum256([]byte(store))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:12])+".lines")
}

// head is the first line of a cached text.
func head(version string, text []byte) string {
	sum := sha256.Sum256(text)
	return fmt.Sprintf("stig bd 1 %s %d %s\n", hex.EncodeToString(sum[:]), len(text), version)
}

// get returns the lines of a store in that version.
func (c cache) get(store, version string) (text []byte, ok bool) {
	if c.dir == "" || version == "" {
		return nil, false
	}
	kept, err := os.ReadFile(c.path(store))
	if err != nil {
		return nil, false
	}
	first, text, ok := bytes.Cut(kept, []byte("\n"))
	if !ok || string(first)+"\n" != head(version, text) {
		return nil, false
	}
	return text, true
}

// put caches the lines of a store. If the cache cannot be written, nothing is cached.
func (c cache) put(store, version string, text []byte) {
	if c.dir == "" || version == "" || len(text) > mostCached || os.MkdirAll(c.dir, 0o700) != nil {
		return
	}
	_ = file.Replace(c.path(store), append([]byte(head(version, text)), text...)) // if it fails, the next run reads again
}
