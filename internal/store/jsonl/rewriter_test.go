package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"stig/internal/beads"
)

// rewriteEnv makes the test program, when rerun, rewrite a store without its lock for a while:
// "mv PATH" or "truncate PATH".
const rewriteEnv = "STIG_TEST_REWRITE"

// rewriteFor is how long a rewriter runs.
func rewriteFor() time.Duration { return 300 * time.Millisecond }

// bell is text that only a rewriter writes; the number after it counts up.
const bell = `"title": "Ring the bell `

// rewrite increments the number in a title as a program without locks does: read, change, write
// the whole file. Only it writes the number, so finding a lower one twice means that its write
// was overwritten.
func rewrite(how, path string) error {
	last, lost := 0, 0
	for end := time.Now().Add(rewriteFor()); time.Now().Before(end); {
		n, before, after, err := bellIn(path)
		for wait := time.Millisecond; err == nil && n < last && wait < 300*time.Millisecond; wait *= 2 {
			time.Sleep(wait)
			n, before, after, err = bellIn(path)
		}
		if err != nil {
			return err
		}
		if n < last {
			lost++
		}
		last = n + 1
		text := fmt.Appendf(nil, "%s%s%d\"%s", before, bell, last, after)
		if how == "mv" {
			err = errors.Join(os.WriteFile(path+".x", text, 0o644), os.Rename(path+".x", path))
		} else {
			err = os.WriteFile(path, text, 0o644)
		}
		if err != nil {
			return err
		}
		time.Sleep(time.Duration(last%5) * time.Millisecond)
	}
	fmt.Printf("%d %d", last, lost)
	return nil
}

// bellIn returns the number, and the text before and after it.
func bellIn(path string) (n int, before, after []byte, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, nil, nil, err
	}
	before, rest, _ := bytes.Cut(text, []byte(bell))
	digits, after, found := bytes.Cut(rest, []byte(`"`))
	n, err = strconv.Atoi(string(digits))
	if !found || err != nil {
		err = fmt.Errorf("the file was torn: %q", text)
	}
	return n, before, after, err
}

// What a program without locks writes between our reading and our writing is never overwritten;
// in the worst case, when it writes twice within one exchange, its first version is kept beside
// the store and named. A cache does not change that.
func TestEditAgainstRewriter(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mv", "truncate", "mv cached", "truncate cached"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			how, kind, _ := strings.Cut(name, " ")
			s := writeStore(t, strings.Replace(harbour, "Ring the bell", "Ring the bell 0", 1))
			store := Open(s)
			if kind != "" {
				store.Cache = NewCache(time.Now)
			}
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), rewriteEnv+"="+how+" "+s.Path)
			var out, said bytes.Buffer
			c.Stdout, c.Stderr = &out, &said
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- c.Wait() }()
			written, refused := 0, map[string]int{}
			for running := true; running; {
				_, err := store.Edit(ctx, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-1", strconv.Itoa(written)))
				if err == nil {
					written++
				} else {
					refused[fmt.Sprintf("%T", err)]++
				}
				select {
				case err := <-ended:
					running = false
					if err != nil {
						t.Fatalf("%v: %s", err, said.String())
					}
				default:
				}
			}
			var rewritten, lost int
			if _, err := fmt.Sscan(out.String(), &rewritten, &lost); err != nil {
				t.Fatal(err, out.String())
			}
			t.Logf("%d times rewritten, %d edits written, refused: %v", rewritten, written, refused)
			kept, err := filepath.Glob(filepath.Join(s.Dir, "*"+keptAs+"*"))
			if err != nil || lost > len(kept) || len(kept) > refused["*fault.Error"] {
				t.Errorf("%d of %d were written over, %d kept: %v", lost, rewritten, len(kept), err)
			}
			if rewritten == 0 {
				t.Error("they did not meet")
			}
			for _, name := range kept {
				if err := os.Remove(name); err != nil {
					t.Error(err)
				}
			}
			checkClean(t, s, jsonlLock, "issues.jsonl")
		})
	}
}
