package gate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/file"
)

const (
	// keptLogs and keptBytes limit the space of old logs.
	keptLogs  = 200
	keptBytes = 1 << 30
	// logBytes limits one log: a check that never stops writing must not fill the disk before
	// its timeout.
	logBytes = 16 << 20
)

// logFile receives all output of a check.
type logFile struct {
	*os.File
	room int
}

// Write accepts everything, and stores what there is room for, with a note about the rest.
func (l *logFile) Write(b []byte) (int, error) {
	if l.room < 0 {
		return len(b), nil
	}
	if len(b) <= l.room {
		l.room -= len(b)
		return l.File.Write(b)
	}
	_, err := fmt.Fprintf(l.File, "%s\n[stig: the output went on; a log ends at %d bytes]\n", b[:l.room], logBytes)
	l.room = -1
	return len(b), err
}

// openLog creates the log of one check; nil if no logs are kept.
func (j Job) openLog(number int) (*logFile, error) {
	if j.Logs == "" {
		return nil, nil
	}
	pattern := fmt.Sprintf("%s-%s-%d-*.log", fileName(j.Issue), j.Time.UTC().Format("20060102T150405Z"), number)
	f, err := os.CreateTemp(j.Logs, pattern)
	if err != nil {
		return nil, err
	}
	return &logFile{f, logBytes}, nil
}

// prepareLogs creates the directory of logs, and removes the oldest if there are too many.
func (j Job) prepareLogs() error {
	if j.Logs == "" {
		return nil
	}
	if err := file.MkdirPrivate(j.Logs); err != nil {
		return err
	}
	return prune(j.Logs, ".log")
}

// prune removes the oldest files with that suffix from a directory if there are too many or
// they are too large. Another process may do so at the same time.
func prune(dir, end string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var logs []fs.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && strings.HasSuffix(entry.Name(), end) {
			logs = append(logs, info)
		}
	}
	slices.SortFunc(logs, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(b.Name(), a.Name()))
	})
	var bytes int64
	for i, info := range logs {
		if bytes += info.Size(); i < keptLogs && bytes <= keptBytes {
			continue
		}
		if err := os.Remove(filepath.Join(dir, info.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// replace atomically replaces a file, in a directory that it creates.
func replace(path string, text []byte) error {
	if err := file.MkdirPrivate(filepath.Dir(path)); err != nil {
		return err
	}
	return file.Replace(path, text)
}

// maxName is the longest part of an id in a file name, in bytes.
const maxName = 100

// fileName encodes an id as a file name that is valid on every system; different ids have
// different names, except for case where the system ignores it.
func fileName(id string) string {
	var name strings.Builder
	for i := range len(id) {
		c := id[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' && i > 0
		if plain {
			name.WriteByte(c)
		} else {
			fmt.Fprintf(&name, "%%%02X", c)
		}
	}
	if name.Len() <= maxName {
		return name.String()
	}
	sum := sha256.Sum256([]byte(id))
	return name.String()[:maxName] + "%" + hex.EncodeToString(sum[:8])
}
