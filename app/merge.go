package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stig/beads"
	"stig/lint"
	"stig/merge"
)

// OpenBoth opens the two stores to compare, and names the first.
func (a *App) OpenBoth(ctx context.Context, args []string, files bool) (before, after *beads.File, since string, closeBoth func(), err error) {
	fail := func(err error) (*beads.File, *beads.File, string, func(), error) { return nil, nil, "", nil, err }
	if files {
		if len(args) != 2 {
			return fail(Usage("--files takes two files", "type stig diff --files BEFORE AFTER"))
		}
		if before, err = a.openFile(args[0]); err != nil {
			return fail(err)
		}
		if after, err = a.openFile(args[1]); err != nil {
			_ = before.Close()
			return fail(err)
		}
		return before, after, args[0], func() { _, _ = before.Close(), after.Close() }, nil
	}
	if len(args) > 1 {
		return fail(Usage("diff takes one revision", "type stig diff --files BEFORE AFTER to compare two files"))
	}
	since = strings.Join(append(args, "HEAD")[:1], "")
	if after, err = a.Open(); err != nil {
		return fail(err)
	}
	before, closeBefore, err := a.openAt(ctx, after.Store(), since)
	if err != nil {
		_ = after.Close()
		return fail(unknownRevision(err, after.Store()))
	}
	return before, after, since, func() { closeBefore(); _ = after.Close() }, nil
}

// openFile reads a store that is named by its file.
func (a *App) openFile(path string) (*beads.File, error) {
	dir := a.Dir
	if dir == "" {
		dir = "."
	}
	store, err := beads.Discover(beads.Where{Dir: dir, File: path})
	if err != nil {
		return nil, err
	}
	store.Path = Shortest(store.Path)
	file, err := beads.Read(store)
	if err != nil {
		return nil, err
	}
	a.warnOfStore(file)
	return file, nil
}

// MergeError ends a merge that wrote nothing. git takes a lower exit code for
// a merge with conflicts, and ours for its result.
type MergeError struct{ Err error }

func (e *MergeError) Error() string { return e.Err.Error() }

func (e *MergeError) Unwrap() error { return e.Err }

// Merged is what came of a merge, and where it goes.
type Merged struct {
	merge.Result
	Output string   // as it was given; "-" for the output stream
	file   HostFile // the same as a file
	ours   *string  // what that file said, where it is OURS
}

// Merge works out what three files become, and writes nothing.
func (a *App) Merge(files []string, output string) (*Merged, error) {
	var texts [3]string
	for i, name := range files {
		text, err := ReadText(a.under(name))
		if err != nil {
			return nil, Placed(err)
		}
		texts[i] = text
	}
	m := &Merged{Result: merge.Options{Births: a.births()}.Stores(texts[0], texts[1], texts[2]), Output: output, file: HostFile{Path: a.under(output)}}
	if output == files[1] {
		m.ours = &texts[1]
	}
	return m, nil
}

// Write writes the result, unless it is OURS as it stands.
func (m *Merged) Write(stream io.Writer) error {
	switch {
	case m.Output == "-":
		_, err := io.WriteString(stream, m.Text)
		return err
	case m.ours != nil && *m.ours == m.Text:
		return nil
	}
	return replaceFile(m.file.Path, m.Text)
}

// Diff is what write would change in its file.
func (m *Merged) Diff() (string, error) {
	if m.ours != nil {
		return m.file.Diff([]byte(*m.ours), []byte(m.Text)), nil
	}
	before, err := m.file.Read()
	return m.file.Diff(before, []byte(m.Text)), err
}

// ReadText reads a whole file into one string: stores may be large, and three
// of them are held at once.
func ReadText(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	text.Grow(int(info.Size()))
	_, err = io.Copy(&text, file)
	return text.String(), err
}

// under is a path as -C has it.
func (a *App) under(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.Dir, path)
}

// Briefly is a value in one line.
func Briefly(text string, most int) string {
	if text == "" {
		return "(none)"
	}
	return clipped(Folded(text), most)
}

// AnswerHint says what to type about a conflict.
func AnswerHint(c merge.Conflict) string {
	switch {
	case c.ID == "":
		return "make one line of those between the markers by hand"
	case len(c.Questions) == 0:
		return "type stig merge --resolve " + c.ID
	}
	var answers []string
	for _, q := range c.Questions {
		answer := q.Key + "=" + string(merge.Ours)
		if strings.ContainsAny(answer, " \t*?'\"$&;|<>(){}[]!#~`\\") {
			answer = "'" + strings.ReplaceAll(answer, "'", `'\''`) + "'"
		}
		answers = append(answers, answer)
	}
	return "type stig merge --resolve " + c.ID + " " + strings.Join(answers, " ") + ", or theirs in place of ours"
}

// openQuestions puts, in place of what was found about conflict markers, a
// diagnostic of each issue between them with what is to be decided.
func (a *App) openQuestions(found []lint.Diagnostic, store beads.Store) ([]lint.Diagnostic, error) {
	marker := func(d lint.Diagnostic) bool { return d.Rule == beads.ConflictMarker }
	if !slices.ContainsFunc(found, marker) {
		return found, nil
	}
	text, err := ReadText(store.Path)
	if err != nil {
		return nil, Placed(err)
	}
	open := merge.Open(text)
	var all []lint.Diagnostic
	for _, d := range found {
		of := []merge.Conflict{}
		if marker(d) {
			of = slices.DeleteFunc(slices.Clone(open), func(c merge.Conflict) bool { return c.Line != d.Line })
			d.Hint = "take the marker out by hand: it belongs to no conflict that is whole"
		}
		if len(of) == 0 {
			all = append(all, d)
		}
		for _, c := range of {
			d.ID, d.Message, d.Hint = c.ID, "in conflict: "+c.Reason+valuesText(c.Questions), AnswerHint(c)
			all = append(all, d)
		}
	}
	return all, nil
}

// valuesText names the keys in question with both values.
func valuesText(questions []merge.Question) string {
	var text strings.Builder
	for _, q := range questions {
		fmt.Fprintf(&text, "; %s: ours %s, theirs %s", q.Key, Briefly(q.Ours, 30), Briefly(q.Theirs, 30))
	}
	return text.String()
}
