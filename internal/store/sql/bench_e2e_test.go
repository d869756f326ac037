//go:build e2e

package sql_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"stig/internal/beads"
	"stig/internal/store/jsonl"
	"stig/internal/testkit/sample"
	"stig/internal/testkit/servers"
)

// BenchmarkUnchanged reads a store of 10,000 issues that did not change, as a command
// does that was just started: from the file, and from a server with a copy.
func BenchmarkUnchanged(b *testing.B) {
	for _, issues := range []int{10_000} {
		var text bytes.Buffer
		if err := sample.Write(&text, issues, 1); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%d/file", issues), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "issues.jsonl")
			if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				f, err := jsonl.Read(beads.Place{Path: path, Dir: filepath.Dir(path)})
				if err != nil || f.Len() != issues {
					b.Fatal(f.Len(), err)
				}
				_ = f.Close()
			}
		})
		for _, kind := range []string{servers.MariaDB, servers.Dolt} {
			b.Run(fmt.Sprintf("%d/%s", issues, kind), func(b *testing.B) { onServer(b, kind, text.Bytes()) })
		}
	}
}

func onServer(b *testing.B, kind string, text []byte) {
	c := servers.Need(b, kind).Database(b.Name())
	create(b, c, string(text))
	cache := b.TempDir()
	textOf(b, open(b, c, cache))
	read := func(b *testing.B, cache string) {
		s := open(b, c, cache)
		if _, err := s.Snapshot(); err != nil {
			b.Fatal(err)
		}
		_ = s.Close()
	}
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			read(b, cache)
		}
	})
	b.Run("one line is newer", func(b *testing.B) {
		s, n := open(b, c, ""), 0
		for b.Loop() {
			n++
			b.StopTimer()
			edit(b, s, setNotes(sample.ID(7), fmt.Sprint(n)))
			b.StartTimer()
			read(b, cache)
		}
	})
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			read(b, b.TempDir())
		}
	})
	b.Run("fill", func(b *testing.B) {
		for b.Loop() {
			wipe(b, c)
			if err := open(b, c, "").Fill(b.Context(), text, "", nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
