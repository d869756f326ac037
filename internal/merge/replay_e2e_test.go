//go:build e2e

package merge

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/testkit/sample"
)

// TestReplay repeats the merges in real histories: no value, label, row or comment may be lost
// that one parent had, and neither the merge base nor the other parent. STIG_CORPUS has the
// repositories, bare or not.
func TestReplay(t *testing.T) {
	repositories := repositoriesIn(t, sample.CorpusDir(t))
	if len(repositories) == 0 {
		t.Log("STIG_CORPUS holds no git repository: nothing is replayed")
	}
	for _, dir := range repositories {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			h := openHistory(t, dir)
			for _, m := range h.merges() {
				h.replay(m)
			}
			t.Logf("%d merges, %d lines left to a person, %d lost: %v", h.merged, h.asked, h.count(), h.lost)
			if h.count() > 0 {
				t.Errorf("lost: %v; such as %s", h.lost, strings.Join(h.such, "\n"))
			}
		})
	}
}

// repositoriesIn lists git directories at most two levels below a directory.
func repositoriesIn(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if d.Name() == "objects" {
			list = append(list, filepath.Dir(path))
			return fs.SkipDir
		}
		if rest, _ := filepath.Rel(dir, path); strings.Count(rest, string(filepath.Separator)) > 2 {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// history is a repository whose merges are replayed.
type history struct {
	t             *testing.T
	dir           string
	ask           io.Writer
	answers       *bufio.Reader
	merged, asked int
	lost          map[string]int // by key
	such          []string
}

func openHistory(t *testing.T, dir string) *history {
	t.Helper()
	h := &history{t: t, dir: dir, lost: map[string]int{}}
	batch := exec.Command("git", "-C", dir, "cat-file", "--batch")
	batch.Env = append(batch.Environ(), "GIT_NO_LAZY_FETCH=1") // missing from a partial clone
	ask, err := batch.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := batch.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := batch.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = ask.Close()
		_ = batch.Wait()
	})
	h.ask, h.answers = ask, bufio.NewReader(out)
	return h
}

func (h *history) git(args ...string) string {
	out, err := exec.Command("git", append([]string{"-C", h.dir}, args...)...).Output()
	if err != nil {
		return "" // such as two commits without a common ancestor
	}
	return strings.TrimSpace(string(out))
}

// merges lists the merges of two commits, by their parents.
func (h *history) merges() (list [][2]string) {
	for line := range strings.Lines(h.git("rev-list", "--all", "--min-parents=2", "--max-parents=2", "--parents")) {
		commits := strings.Fields(line)
		list = append(list, [2]string{commits[1], commits[2]})
	}
	return list
}

// text is the store in a commit, "" if there is none.
func (h *history) text(commit string) string {
	for _, path := range []string{".beads/issues.jsonl", ".beads/beads.jsonl"} {
		if _, err := fmt.Fprintf(h.ask, "%s:%s\n", commit, path); err != nil {
			h.t.Fatal(err)
		}
		head, err := h.answers.ReadString('\n')
		if err != nil {
			h.t.Fatal(err)
		}
		var size int
		if _, err := fmt.Sscanf(head[strings.LastIndex(head, " ")+1:], "%d", &size); err != nil {
			continue // it is missing
		}
		text := make([]byte, size+1)
		if _, err := io.ReadFull(h.answers, text); err != nil {
			h.t.Fatal(err)
		}
		return string(bytes.TrimSuffix(text, []byte("\n"))) + "\n"
	}
	return ""
}

func (h *history) replay(parents [2]string) {
	ours, theirs := h.text(parents[0]), h.text(parents[1])
	if ours == "" || theirs == "" || ours == theirs {
		return
	}
	base := ""
	if commit := h.git("merge-base", parents[0], parents[1]); commit != "" {
		base = h.text(commit)
	}
	if base == "" || base == ours || base == theirs {
		return
	}
	h.merged++
	for i, sides := range [][2]string{{ours, theirs}, {theirs, ours}} {
		r := Options{}.Stores(base, sides[0], sides[1])
		if i == 0 {
			h.asked += len(r.Conflicts)
		}
		h.compare(parents, base, sides[0], sides[1], r)
	}
}

// compare counts what only ours had and the result lacks.
func (h *history) compare(parents [2]string, base, ours, theirs string, r Result) {
	keys := map[string]key{}
	b, o, t, out := split(base, keys), split(ours, keys), split(theirs, keys), split(r.Text, keys)
	left := map[string]bool{}
	for _, c := range r.Conflicts {
		left[c.ID] = true
	}
	for i := range o.lines {
		l := &o.lines[i]
		mine := parsed(l)
		if mine == nil || l.id == "" || left[l.id] || o.marked || t.marked || b.marked {
			continue
		}
		was, yours := parsed(b.line(l.name)), parsed(t.line(l.name))
		if was != nil && yours == nil || was != nil && !was.Origin().Together(mine.Origin()) {
			continue // deleted there, or another issue
		}
		if yours != nil && !yours.Origin().Together(mine.Origin()) {
			continue // two issues, one of which gets another id
		}
		result := parsed(out.line(l.name))
		if result == nil {
			h.lose(parents, l.id, "id", string(mine.Bytes()))
			continue
		}
		for _, k := range mine.Keys() {
			if k == beads.Comments || k == beads.Dependencies || k == "labels" {
				for _, e := range alone(k, was, mine, yours, result) {
					h.lose(parents, l.id, string(k), e)
				}
			} else if lost := lostOf(result, k, rawOf(was, k), string(mine.Raw(k)), rawOf(yours, k)); lost != "" && k != beads.UpdatedAt && !(slices.Contains(prose, k) && strings.Contains(nameless(result.Text(k)), nameless(mine.Text(k)))) {
				h.lose(parents, l.id, string(k), lost)
			}
		}
	}
}

// nameless is a text without its ids, which may change if two issues had one.
func nameless(text string) string {
	return beads.ReplaceIDs(text, func(string, string) string { return "-" })
}

func rawOf(r *beads.Record, k beads.Key) string {
	if r == nil {
		return ""
	}
	return string(r.Raw(k))
}

// alone lists the elements of a list that one side has, and base, the other side and the result
// lack. Times of comments do not count: bd redates a comment when it imports one.
func alone(k beads.Key, was, mine, yours, result *beads.Record) (lost []string) {
	names := func(r *beads.Record) map[string]int {
		times := map[string]int{}
		if r == nil {
			return times
		}
		for _, raw := range r.Elements(k) {
			name := beads.Meaning(raw)
			if e, err := beads.ParseRecord(raw); err == nil {
				name = e.Text("depends_on_id") + e.Text("type") + e.Text("author") + strings.TrimSpace(e.Text("text"))
			}
			times[name]++
		}
		return times
	}
	before, other, kept := names(was), names(yours), names(result)
	for name, times := range names(mine) {
		if times > before[name] && times > other[name] && times > kept[name] {
			lost = append(lost, name)
		}
	}
	return lost
}

func (h *history) lose(parents [2]string, id, k, value string) {
	h.lost[k]++
	if len(h.such) < 10 {
		h.such = append(h.such, fmt.Sprintf("%s of %s in %.10s %.10s: %.200s", k, id, parents[0], parents[1], value))
	}
}

func (h *history) count() (n int) {
	for _, times := range h.lost {
		n += times
	}
	return n
}
