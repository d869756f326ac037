package jsonl

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/testkit/sample"
)

// countEnv names the store for the test program rerun as a counting writer.
const countEnv = "STIG_TEST_COUNT"

const (
	writers = 8
	each    = 10
)

func TestMain(m *testing.M) {
	if path := os.Getenv(countEnv); path != "" {
		if err := count(beads.Place{Path: path, Dir: filepath.Dir(path)}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if how, path, ok := strings.Cut(os.Getenv(rewriteEnv), " "); ok {
		if err := rewrite(how, path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	sample.Overlap()
	sample.CollectLess() // only these: the tests are about the disk's behaviour
	os.Exit(m.Run())
}

// count increments the number in an issue's notes, several times.
func count(s beads.Place) error {
	for range each {
		if err := countOnce(s); err != nil {
			return err
		}
	}
	return nil
}

func countOnce(s beads.Place) error {
	_, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, func(tx *beads.Tx) error {
		r, err := tx.Record("h-1")
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(r.Text(beads.Notes))
		if err != nil {
			return err
		}
		return tx.Set("h-1", beads.Set{Key: beads.Notes, Text: strconv.Itoa(n + 1)})
	})
	return err
}

func counted(t *testing.T, s beads.Place) string {
	t.Helper()
	r, err := mustRead(t, s.Path).At(0).Record()
	if err != nil {
		t.Fatal(err)
	}
	return r.Text(beads.Notes)
}

// No update is lost, whether the writers are goroutines or processes; and concurrent readers
// always see a whole file.
func TestEditConcurrent(t *testing.T) {
	for name, write := range map[string]func(beads.Place) error{
		"goroutines": count,
		"processes": func(s beads.Place) error {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), countEnv+"="+s.Path)
			if out, err := c.CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := writeStore(t, strings.Replace(harbour, `"one"`, `"0"`, 1))
			var busy sync.WaitGroup
			for range writers {
				busy.Go(func() {
					if err := write(s); err != nil {
						t.Error(err)
					}
				})
			}
			done := make(chan struct{})
			go func() {
				busy.Wait()
				close(done)
			}()
			for reading := true; reading; {
				select {
				case <-done:
					reading = false
				case <-time.After(time.Millisecond):
				}
				f, err := Read(s)
				if err != nil {
					t.Error(err)
					break
				}
				if f.Len() != 2 || len(f.Problems()) != 0 {
					t.Errorf("read %d issues, %v", f.Len(), f.Problems())
				}
				f.Close()
			}
			<-done
			if got, want := counted(t, s), strconv.Itoa(writers*each); got != want {
				t.Errorf("counted %s, want %s", got, want)
			}
			checkClean(t, s, jsonlLock, "issues.jsonl")
		})
	}
}
