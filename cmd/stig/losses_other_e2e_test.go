//go:build e2e && unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Programs that replace the store with other versions while TestLosses writes it.

func lossScenarios() []lossScenario {
	list := []lossScenario{
		{name: "nobody else"},
		{name: "commits and switches of branches", setUp: branchesApart, disturb: commitNow, settle: switchBranches},
		{name: "stash and pop; what is in the way is thrown away", disturb: stashAndPop(throwAway), settle: popAll(throwAway), harms: true},
		{name: "stash and pop; what is in the way is committed", disturb: stashAndPop(commitFirst), settle: popAll(commitFirst), harms: true},
		{name: "the same, merged by stig", setUp: mergedByStig, disturb: stashAndPop(commitFirst), settle: popAll(commitFirst)},
		{name: "pull", setUp: cloned, disturb: pull("--no-rebase"), settle: finishPull, harms: true},
		{name: "pull, merged by stig", setUp: clonedAndMergedByStig, disturb: pull("--no-rebase"), settle: finishPull},
		{name: "pull --rebase", setUp: cloned, disturb: pull("--rebase"), settle: finishPull, harms: true},
		{name: "pull --rebase, merged by stig", setUp: clonedAndMergedByStig, disturb: pull("--rebase"), settle: finishPull},
		{name: "a program that writes in place", disturb: rewriteInPlace, harms: true, quick: true},
		{name: "a program that renames an old copy", disturb: renameOldCopy, harms: true, quick: true},
	}
	if os.Getenv("STIG_TEST_BD") != "" {
		list = append(list, lossScenario{name: "bd --no-db", setUp: withoutDatabase, disturb: updateByBD, harms: true})
	}
	return list
}

func mergedByStig(r *lossRun) error {
	if out, err := r.stig(r.work, "setup", "git").CombinedOutput(); err != nil {
		return fmt.Errorf("stig setup git: %w: %s", err, out)
	}
	return errors.Join(r.git("add", "-A"), r.git("commit", "-qm", "Merge by stig"))
}

func branchesApart(r *lossRun) error { return r.git("branch", "other") }

// commitNow commits the current state.
func commitNow(r *lossRun, n int) error {
	pause(100 * time.Millisecond)
	_ = r.git("commit", "-qam", fmt.Sprint("Step ", n))
	return nil
}

// switchBranches switches to a branch without the edits and back, also with HEAD detached.
// Nothing on the way may count as lost.
func switchBranches(r *lossRun) error {
	_ = r.git("commit", "-qam", "Last step") // there may be nothing to commit
	for _, branch := range []string{"other", "main", "--detach", "main"} {
		if err := r.git("switch", "-q", branch); err != nil {
			return err
		}
		if found, err := r.findings(r.work); err != nil || len(found.Lost) > 0 {
			return fmt.Errorf("on %s %d values count as lost: %v (%v)", branch, len(found.Lost), found.Lost[:min(3, len(found.Lost))], err)
		}
	}
	return nil
}

// stashAndPop stashes the store and pops it while others write.
func stashAndPop(pop func(*lossRun) error) func(*lossRun, int) error {
	return func(r *lossRun, _ int) error {
		pause(200 * time.Millisecond)
		if err := r.git("stash", "-q"); err != nil {
			return nil // git read a store that changed meanwhile; nothing happened
		}
		pause(100 * time.Millisecond)
		return pop(r)
	}
}

func popAll(pop func(*lossRun) error) func(*lossRun) error {
	return func(r *lossRun) error {
		for {
			out, err := r.gitSays(r.work, "stash", "list")
			if err != nil || out == "" {
				return err
			}
			if err := pop(r); err != nil {
				return err
			}
		}
	}
}

// throwAway pops the stash, and checks out the store if it is in the way.
func throwAway(r *lossRun) error {
	for range 10 {
		if out, _ := r.gitSays(r.work, "stash", "list"); out == "" || r.git("stash", "pop", "-q") == nil {
			return nil
		}
		if err := r.git("checkout", "-q", "HEAD", "--", ".beads"); err != nil {
			return err
		}
	}
	return nil // retried next time
}

// commitFirst pops the stash, and commits if something is in the way. In conflicts the stash
// wins.
func commitFirst(r *lossRun) error {
	for range 10 {
		if out, _ := r.gitSays(r.work, "stash", "list"); out == "" || r.git("stash", "pop", "-q") == nil {
			return nil
		}
		if r.unmerged() {
			return errors.Join(r.git("checkout", "-q", "--theirs", "--", ".beads"), r.git("reset", "-q"), r.git("stash", "drop", "-q"))
		}
		_ = r.git("commit", "-qam", "What is in the way") // it may be gone
	}
	return nil
}

func (r *lossRun) unmerged() bool {
	out, err := r.gitSays(r.work, "ls-files", "-u")
	return err == nil && out != ""
}

// cloned gives the clone an origin, and that origin a second clone that pushes.
func cloned(r *lossRun) error {
	other, origin := filepath.Join(r.dir, "other"), filepath.Join(r.dir, "origin")
	return errors.Join(r.gitIn(r.dir, "clone", "-q", "--bare", "work", "origin"), r.gitIn(r.dir, "clone", "-q", "origin", "other"),
		r.git("remote", "add", "origin", origin), r.git("fetch", "-q", "origin"), r.git("branch", "-q", "-u", "origin/main"),
		r.gitIn(other, "status", "-s"))
}

func clonedAndMergedByStig(r *lossRun) error { return errors.Join(mergedByStig(r), cloned(r)) }

// pull makes the other clone push an edit, and pulls it into a store that is being written;
// every third time it commits first.
func pull(how string) func(*lossRun, int) error {
	return func(r *lossRun, n int) error {
		other := filepath.Join(r.dir, "other")
		e := lossEdit{kind: "estimate", id: fmt.Sprintf("pier-%d", n%r.each), text: fmt.Sprintf("pile %d.", n)}
		if n >= r.each {
			return nil
		}
		if out, err := r.stig(other, "checkpoint", e.id, "--done", e.text).CombinedOutput(); err != nil {
			return fmt.Errorf("in the other clone: %w: %s", err, out)
		}
		if err := errors.Join(r.gitIn(other, "commit", "-qam", e.text), r.gitIn(other, "push", "-q")); err != nil {
			return err
		}
		if n%3 == 0 {
			_ = r.git("commit", "-qam", fmt.Sprint("Step ", n))
		}
		_ = r.git("pull", "-q", "--autostash", how)
		if err := finishPull(r); err != nil {
			return err
		}
		if r.git("merge-base", "--is-ancestor", "origin/main", "HEAD") == nil {
			r.wrote(e)
		}
		pause(100 * time.Millisecond)
		return nil
	}
}

// finishPull finishes a pull: in conflicts the pulled side wins, and a stash that does not
// apply is dropped. Local edits are left for recover. It may need many attempts, because git
// refuses to continue if a writer writes between two steps.
func finishPull(r *lossRun) error {
	for range 100 {
		dir := filepath.Join(r.work, ".git")
		rebasing, merging := isThere(filepath.Join(dir, "rebase-merge")), isThere(filepath.Join(dir, "MERGE_HEAD"))
		switch {
		case rebasing:
			_ = r.git("checkout", "-q", "--ours", "--", ".beads")
			_ = r.git("add", "-A")
			if r.git("rebase", "--continue") != nil {
				_ = r.git("rebase", "--skip")
			}
		case merging:
			_ = r.git("checkout", "-q", "--theirs", "--", ".beads")
			_ = errors.Join(r.git("add", "-A"), r.git("commit", "-q", "--no-edit"))
		case r.unmerged():
			_ = r.git("checkout", "-q", "--ours", "--", ".beads")
			_ = r.git("reset", "-q")
		default:
			if out, _ := r.gitSays(r.work, "stash", "list"); out == "" {
				return nil
			}
			_ = r.git("stash", "drop", "-q")
		}
	}
	said, err := r.gitSays(r.work, "status")
	return errors.Join(errors.New("the pull does not end: "+said), err)
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// retitled returns the store's text with a new title for one issue, after decoding and encoding
// each line.
func retitled(text []byte, id, title string) ([]byte, error) {
	var next bytes.Buffer
	for line := range bytes.Lines(text) {
		var issue map[string]any
		if err := json.Unmarshal(line, &issue); err != nil {
			return nil, err
		}
		if issue["id"] == id {
			issue["title"], issue["updated_at"] = title, time.Now().UTC()
		}
		again, err := json.Marshal(issue)
		if err != nil {
			return nil, err
		}
		next.Write(append(again, '\n'))
	}
	return next.Bytes(), nil
}

// rewriteInPlace acts as a program that reads the store, changes one issue and writes all of it
// over the file.
func rewriteInPlace(r *lossRun, n int) error {
	pause(50 * time.Millisecond)
	return rewrite(r, n, func(text []byte) error {
		pause(20 * time.Millisecond)
		return os.WriteFile(r.store, text, 0o644)
	})
}

// renameOldCopy acts as a program that renames an older copy over the store.
func renameOldCopy(r *lossRun, n int) error {
	pause(100 * time.Millisecond)
	return rewrite(r, n, func(text []byte) error {
		copied := filepath.Join(r.dir, "copy")
		if err := os.WriteFile(copied, text, 0o644); err != nil {
			return err
		}
		pause(200 * time.Millisecond)
		return os.Rename(copied, r.store)
	})
}

func rewrite(r *lossRun, n int, write func([]byte) error) error {
	if n >= r.each {
		return nil
	}
	text, err := os.ReadFile(r.store)
	if err != nil {
		return err
	}
	e := lossEdit{kind: "title", id: fmt.Sprintf("pier-%d", n), text: fmt.Sprintf("Drive pile %d.", n)}
	if text, err = retitled(text, e.id, e.text); err != nil {
		return err
	}
	if err := write(text); err != nil {
		return err
	}
	r.wrote(e)
	return nil
}

// withoutDatabase makes the store one of the bd that STIG_TEST_BD names, without its database.
func withoutDatabase(r *lossRun) error {
	return os.WriteFile(filepath.Join(filepath.Dir(r.store), "config.yaml"), []byte("no-db: true\nissue-prefix: mole\n"), 0o644)
}

// updateByBD sets a title with bd, which rewrites the whole store.
func updateByBD(r *lossRun, n int) error {
	if n >= r.each {
		return nil
	}
	e := lossEdit{kind: "title", id: fmt.Sprintf("pier-%d", n), text: fmt.Sprintf("Drive pile %d.", n)}
	c := exec.Command(os.Getenv("STIG_TEST_BD"), "--no-db", "update", e.id, "--title", e.text)
	c.Dir, c.Env = r.work, r.env("tove")
	if out, err := c.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "not found") {
			return nil
		}
		return fmt.Errorf("bd update: %w: %s", err, out)
	}
	r.wrote(e)
	return nil
}
