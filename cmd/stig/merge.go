package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"stig/merge"
)

// mergeOptions are the flags of one merge.
type mergeOptions struct {
	output  string // the file to write; "" is OURS, "-" the output stream
	resolve bool
	dryRun  bool
}

func (a *app) mergeCommand() *cobra.Command {
	var o mergeOptions
	cmd := &cobra.Command{
		Use:   "merge BASE OURS THEIRS | --resolve [ID KEY=SIDE…]",
		Short: "merge two versions of a store that come from one",
		Long: "merge brings the changes from BASE to THEIRS into OURS, by issue, key, section and\n" +
			"signal row, and writes OURS. git calls it as a merge driver: see stig setup git.\n" +
			"What it does not decide, such as two descriptions of one issue, becomes conflict\n" +
			"markers around that line alone.\n\n" +
			"--resolve lists the open questions in the store, or answers those of one issue:\n" +
			"KEY=ours or KEY=theirs for each key, all=ours or all=theirs for the whole line.\n" +
			"Both versions stay in the store until its last question is answered.\n\n" +
			"Exit codes: 0 merged, or answered; 1 there are conflicts, marked in the result, or\n" +
			"listed; above 128 a merge wrote nothing, which git then says itself.",
		GroupID: "store",
		Args: func(cmd *cobra.Command, args []string) error {
			if o.resolve {
				return nil
			}
			return takes(3, 3, "three files")(cmd, args)
		},
		Example: "  stig merge %O %A %B\n  stig merge base.jsonl ours.jsonl theirs.jsonl -o merged.jsonl\n" +
			"  stig merge --resolve\n  stig merge --resolve demo-1 title=ours priority=theirs",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.resolve && o.output != "":
				return usage("--resolve writes the store: it goes without --output", "")
			case o.resolve && len(args) == 0:
				return a.listConflicts()
			case o.resolve:
				return a.resolveConflict(cmd.Context(), args[0], args[1:], o.dryRun)
			}
			return a.mergeFiles(args, o)
		},
	}
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "write to `FILE` instead of OURS; - is the output stream")
	cmd.Flags().BoolVar(&o.resolve, "resolve", false, "list the open questions in the store, or answer those of an issue")
	a.writes(cmd, &o.dryRun)
	return cmd
}

func (a *app) mergeFiles(files []string, o mergeOptions) error {
	if o.dryRun && o.output == "-" {
		return usage("--dry-run and --output - ask for two things", "give one of them")
	}
	m, err := a.merge(files, cmp.Or(o.output, files[1]))
	if err == nil && !o.dryRun {
		err = m.write(a.out)
	}
	if err != nil {
		return &mergeError{err}
	}
	if err := a.printMerge(m, o.dryRun); err != nil {
		return err
	}
	if !a.json || o.output == "-" {
		a.reportMerge(m)
	}
	if len(m.Conflicts) > 0 {
		return foundError{}
	}
	return nil
}

// mergeError ends a merge that wrote nothing. git takes a lower exit code for
// a merge with conflicts, and ours for its result.
type mergeError struct{ error }

func (e *mergeError) Unwrap() error { return e.error }

// merged is what came of a merge, and where it goes.
type merged struct {
	merge.Result
	output string   // as it was given; "-" for the output stream
	file   hostFile // the same as a file
	ours   *string  // what that file said, where it is OURS
}

// merge works out what three files become, and writes nothing.
func (a *core) merge(files []string, output string) (*merged, error) {
	var texts [3]string
	for i, name := range files {
		text, err := readText(a.under(name))
		if err != nil {
			return nil, placed(err)
		}
		texts[i] = text
	}
	m := &merged{Result: merge.Options{Births: a.births()}.Stores(texts[0], texts[1], texts[2]), output: output, file: hostFile{path: a.under(output)}}
	if output == files[1] {
		m.ours = &texts[1]
	}
	return m, nil
}

// write writes the result, unless it is OURS as it stands.
func (m *merged) write(stream io.Writer) error {
	switch {
	case m.output == "-":
		_, err := io.WriteString(stream, m.Text)
		return err
	case m.ours != nil && *m.ours == m.Text:
		return nil
	}
	return replaceFile(m.file.path, m.Text)
}

// diff is what write would change in its file.
func (m *merged) diff() (string, error) {
	if m.ours != nil {
		return m.file.diff([]byte(*m.ours), []byte(m.Text)), nil
	}
	before, err := m.file.read()
	return m.file.diff(before, []byte(m.Text)), err
}

// readText reads a whole file into one string: stores may be large, and three
// of them are held at once.
func readText(path string) (string, error) {
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
func (a *core) under(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.dir, path)
}

// reportMerge says which lines a person must merge, and what else to look at.
func (a *app) reportMerge(m *merged) {
	for _, w := range m.Warnings {
		a.warn("%s: %s", w.ID, w.Message)
	}
	for _, c := range m.Conflicts {
		what := c.ID
		if what == "" {
			what = "a line that is no issue"
		}
		fmt.Fprintf(a.err, "stig: line %d: %s: %s\n", c.Line, visible(what), visible(c.Reason))
	}
	if len(m.Conflicts) > 0 {
		a.hint("type stig merge --resolve to see both values and how to choose, then git add the store")
	}
}

// printMerge prints a merge that was written, or its diff.
func (a *app) printMerge(m *merged, dryRun bool) error {
	data := map[string]any{
		"conflicts": append([]merge.Conflict{}, m.Conflicts...), "warnings": append([]merge.Warning{}, m.Warnings...),
		"written": m.output, "dry_run": dryRun,
	}
	if dryRun {
		diff, err := m.diff()
		if err != nil {
			return &mergeError{err}
		}
		if !a.json {
			return a.print(cmp.Or(diff, "nothing would change\n"))
		}
		data["written"], data["diff"] = "", diff
	}
	if a.json && m.output != "-" {
		return a.printJSON("merge", data)
	}
	return nil
}
