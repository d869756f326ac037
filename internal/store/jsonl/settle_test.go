package jsonl

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/internal/beads"
)

// writeInPlace writes a store as careless programs do: it truncates the file and then writes it
// in pieces, maybe closing it in between.
func writeInPlace(path, text string, closing bool, pieces ...int) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	for _, n := range append(slices.Clone(pieces), len(text)) {
		n = min(n, len(text))
		if closing {
			if err := f.Close(); err != nil {
				return err
			}
		}
		time.Sleep(30 * time.Millisecond)
		if closing {
			if f, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err != nil {
				return err
			}
		}
		if _, err := f.WriteString(text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return f.Close()
}

// standing is a store rewritten after its creation, according to the system's clock for files,
// which advances in steps of some milliseconds or more.
func standing(t *testing.T, text string) beads.Place {
	t.Helper()
	s := writeStore(t, text)
	for {
		f, err := os.Open(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		fresh := err == nil && isNew(f, info)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if !fresh {
			return s
		}
		time.Sleep(time.Millisecond)
		if err := os.WriteFile(s.Path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A reader beside a program that writes in place sees the store as before or after, never empty
// or partial, unless the program takes longer than readers wait.
func TestReadInPlace(t *testing.T) {
	for _, c := range []struct {
		name    string
		closing bool
		pieces  []int
	}{
		{"empty at first", false, nil},
		{"cut short at first", false, []int{20}},
		{"a line at a time", false, []int{len(strings.SplitAfter(harbour, "\n")[0]), 1}},
		{"empty and closed", true, nil},
		{"cut short and closed", true, []int{20}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := standing(t, harbour)
			written := make(chan error)
			for range 3 {
				began := time.Now()
				go func() { written <- writeInPlace(s.Path, harbour, c.closing, c.pieces...) }()
				for done := false; !done; {
					f, err := Read(s)
					if err != nil {
						t.Fatal(err)
					}
					if (f.Len() != 2 || len(f.Problems()) != 0) && time.Since(began) < settleTime {
						t.Fatalf("read %d issues, %v", f.Len(), f.Problems())
					}
					if err := f.Close(); err != nil {
						t.Fatal(err)
					}
					select {
					case err := <-written:
						if done = true; err != nil {
							t.Fatal(err)
						}
					default:
					}
				}
			}
		})
	}
}

// A store that has been empty or truncated for longer is accepted at once, a recent one after a
// second at most.
func TestReadShort(t *testing.T) {
	for _, c := range []struct {
		text string
		age  time.Duration
		most time.Duration
	}{
		{"", time.Hour, settleTime},
		{`{"id":"a","ti`, time.Hour, settleTime},
		{"", 0, 20 * settleTime}, // on a busy machine
		{harbour, 0, settleTime},
	} {
		s := writeStore(t, c.text)
		took := c.most
		for try := 0; try < 3 && took >= c.most; try++ { // the machine may stall
			at := time.Now().Add(-c.age)
			if err := errors.Join(os.WriteFile(s.Path, []byte(c.text), 0o644), os.Chtimes(s.Path, at, at)); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			mustRead(t, s.Path)
			took = time.Since(began)
		}
		if took >= c.most {
			t.Errorf("%q of %v ago took %v", c.text, c.age, took)
		}
	}
}
