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

// What puts other versions of the store in place while TestLosses writes it.

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

// commitNow commits what is there.
func commitNow(r *lossRun, n int) error {
	pause(100 * time.Millisecond)
	_ = r.git("commit", "-qam", fmt.Sprint("Step ", n))
	return nil
}

// switchBranches goes to a branch that lacks the edits and back, also with HEAD
// detached. Nothing may count as lost on the way.
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

// throwAway pops the stash, and checks the store out where that is in the way.
func throwAway(r *lossRun) error {
	for range 10 {
		if out, _ := r.gitSays(r.work, "stash", "list"); out == "" || r.git("stash", "pop", "-q") == nil {
			return nil
		}
		if err := r.git("checkout", "-q", "HEAD", "--", ".beads"); err != nil {
			return err
		}
	}
	return nil // tried again next time
}

// commitFirst pops the stash, and commits where something is in the way. Of
// conflicts the stash wins.
func commitFirst(r *lossRun) error {
	for range 10 {
		if out, _ := r.gitSays(r.work, "stash", "list"); out == "" || r.git("stash", "pop", "-q") == nil {
			return nil
		}
		if r.unmerged() {
			return errors.Join(r.git("checkout", "-q", "--theirs", "--", ".beads"), r.git("reset", "-q"), r.git("stash", "drop", "-q"))
		}
		_ = r.git("commit", "-qam", "What is in the way") // it may be there no more
	}
	return nil
}

func (r *lossRun) unmerged() bool {
	out, err := r.gitSays(r.work, "ls-files", "-u")
	return err == nil && out != ""
}

// cloned gives the clone an origin, and that another clone that pushes.
func cloned(r *lossRun) error {
	other, origin := filepath.Join(r.dir, "other"), filepath.Join(r.dir, "origin")
	return errors.Join(r.gitIn(r.dir, "clone", "-q", "--bare", "work", "origin"), r.gitIn(r.dir, "clone", "-q", "origin", "other"),
		r.git("remote", "add", "origin", origin), r.git("fetch", "-q", "origin"), r.git("branch", "-q", "-u", "origin/main"),
		r.gitIn(other, "status", "-s"))
}

func clonedAndMergedByStig(r *lossRun) error { return errors.Join(mergedByStig(r), cloned(r)) }

// pull has another clone push an edit, and pulls it into a store that is being
// written; every third time what was written is committed first.
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

// finishPull ends what a pull left: of conflicts what was pulled wins, and what
// was stashed and does not fit is dropped. What was written here is for recover. A writer
// between two steps has git refuse to go on, so that many may be needed.
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

// retitled gives the text of a store with another title for one issue, by
// decoding each line and encoding it again.
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

// rewriteInPlace is a program that reads the store, changes one issue and
// writes all of it over the file.
func rewriteInPlace(r *lossRun, n int) error {
	pause(50 * time.Millisecond)
	return rewrite(r, n, func(text []byte) error {
		pause(20 * time.Millisecond)
		return os.WriteFile(r.store, text, 0o644)
	})
}

// renameOldCopy is a program that renames a copy over the store, which was made
// some time before.
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

// withoutDatabase makes the store one of the bd that STIG_TEST_BD names, without its
// database.
func withoutDatabase(r *lossRun) error {
	return os.WriteFile(filepath.Join(filepath.Dir(r.store), "config.yaml"), []byte("no-db: true\nissue-prefix: mole\n"), 0o644)
}

// updateByBD has bd set a title, which makes it write the whole store.
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
