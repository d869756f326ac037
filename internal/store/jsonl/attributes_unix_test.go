//go:build linux || darwin

package jsonl

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"stig/internal/beads"
)

// A write keeps the store's extended attributes, if the test's file system has them.
func TestEditKeepsAttributes(t *testing.T) {
	s := writeStore(t, harbour)
	err := unix.Setxattr(s.Path, "user.stig.test", []byte("kept"), 0)
	if err != nil && !errors.Is(err, unix.ENOTSUP) && !errors.Is(err, unix.EOPNOTSUPP) {
		t.Fatal(err)
	}
	has := err == nil
	if _, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-1", "two")); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := string(attribute(f, "user.stig.test")); has && got != "kept" {
		t.Errorf("the attribute is %q", got)
	}
	if unkept, err := UnkeptAttributes(s); err != nil || len(unkept) != 0 {
		t.Errorf("unkept: %v, %v", unkept, err)
	}
	checkClean(t, s, jsonlLock, "issues.jsonl")
}
