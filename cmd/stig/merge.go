package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"stig/merge"
)

func (a *app) mergeCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "merge BASE OURS THEIRS",
		Short: "merge two versions of a store that come from one",
		Long: "merge brings the changes from BASE to THEIRS into OURS, by issue, key, section and\n" +
			"signal row, and writes OURS. git calls it as a merge driver: see stig setup git.\n" +
			"What may not be guessed, such as two descriptions of one issue, becomes conflict\n" +
			"markers around that line alone.\n\n" +
			"Exit codes: 0 merged; 1 there are conflicts, marked in the result; above 128 nothing\n" +
			"was written, which git then says itself.",
		GroupID: "store",
		Args:    takes(3, 3, "three files"),
		Example: "  stig merge %O %A %B\n  stig merge base.jsonl ours.jsonl theirs.jsonl -o merged.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				output = args[1]
			}
			r, err := a.merge(args, output)
			if err != nil {
				return &mergeError{err}
			}
			if a.json && output != "-" {
				err = a.printJSON("merge", map[string]any{
					"conflicts": append([]merge.Conflict{}, r.Conflicts...), "warnings": append([]merge.Warning{}, r.Warnings...), "written": output,
				})
			} else {
				a.reportMerge(r)
			}
			if err == nil && len(r.Conflicts) > 0 {
				return foundError{}
			}
			return err
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to `FILE` instead of OURS; - is the output stream")
	return cmd
}

// mergeError ends a merge that wrote nothing. git takes a lower exit code for
// a merge with conflicts, and ours for its result.
type mergeError struct{ error }

func (e *mergeError) Unwrap() error { return e.error }

// merge merges three files into a fourth.
func (a *app) merge(files []string, output string) (merge.Result, error) {
	var texts [3]string
	for i, name := range files {
		text, err := readText(a.under(name))
		if err != nil {
			return merge.Result{}, placed(err)
		}
		texts[i] = text
	}
	r := merge.Stores(texts[0], texts[1], texts[2])
	switch {
	case output == "-":
		_, err := a.out.Write([]byte(r.Text))
		return r, err
	case r.Text == texts[1] && output == files[1]:
		return r, nil
	}
	return r, replaceFile(a.under(output), r.Text)
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
func (a *app) under(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.dir, path)
}

// reportMerge says which lines a person must merge, and what else to look at.
func (a *app) reportMerge(r merge.Result) {
	for _, w := range r.Warnings {
		a.warn("%s: %s", w.ID, w.Message)
	}
	for _, c := range r.Conflicts {
		what := c.ID
		if what == "" {
			what = "a line that is no issue"
		}
		fmt.Fprintf(a.err, "stig: line %d: %s: %s\n", c.Line, visible(what), visible(c.Reason))
	}
	if len(r.Conflicts) > 0 {
		a.hint("make one line of the two between each pair of markers, then git add the store")
	}
}
