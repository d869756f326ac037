package jsonl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/fault"
)

func TestReadErrors(t *testing.T) {
	s := writeStore(t, "")
	secret := filepath.Join(s.Dir, "secret.jsonl")
	if err := os.WriteFile(secret, nil, 0); err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{
		s.Dir:                              s.Dir + ": is a directory",
		filepath.Join(s.Dir, "gone.jsonl"): "gone.jsonl: cannot be read: no such file or directory",
		os.DevNull:                         os.DevNull + ": is not a regular file",
	}
	if os.Geteuid() != 0 {
		cases[secret] = "secret.jsonl: cannot be read: permission denied"
	}
	for path, want := range cases {
		_, err := Read(beads.Place{Path: path, Dir: s.Dir})
		e, ok := fault.As(err, fault.Store)
		if !ok || !strings.HasSuffix(err.Error(), want) || e.Hint == "" {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}
