//go:build !linux

package jsonl

import (
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
)

// hold is unsupported here: it assumes that nobody writes the file.
func hold(string) (unheld func() bool, release func()) {
	return func() bool { return true }, func() {}
}

// isWritten is unsupported here.
func isWritten(*os.File) bool { return false }

// beginWriting leaves it to Sync.
func beginWriting(*os.File, int64, int64) {}

// isNew is unsupported here.
func isNew(*os.File, fs.FileInfo) bool { return false }

// hostID identifies the system that assigns process ids.
func hostID() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(host)))
}

// startOf does not know when a process started.
func startOf(int) (start string, running bool) { return "0", true }
