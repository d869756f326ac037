package main

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/diff"
)

func (a *app) diffCommand() *cobra.Command {
	var files, exitCode bool
	cmd := &cobra.Command{
		Use:   "diff [REV]",
		Short: "what vanished, changed and was added since a revision",
		Long: "diff compares the store at a revision (default HEAD) with the store as it is,\n" +
			"by issue, section, signal, criterion, edge, comment and key. What vanished comes\n" +
			"first. How lines are spelled and ordered, and updated_at, do not count.",
		GroupID: "store",
		Args:    takes(0, 2, "one revision, or with --files two files"),
		Example: "  stig diff\n  stig diff main~3 --json\n  stig diff --files before.jsonl after.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			before, after, since, closeBoth, err := a.openBoth(cmd.Context(), args, files)
			if err != nil {
				return err
			}
			defer closeBoth()
			d, err := diff.Stores(before, after)
			if err != nil {
				return err
			}
			if a.json {
				err = a.printJSON("diff", d)
			} else {
				err = a.print(diffReport(d, since))
			}
			if err == nil && exitCode && len(d.Vanished) > 0 {
				return foundError{}
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&files, "files", false, "compare the two files that are named")
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "exit with 1 when something vanished")
	return cmd
}

// openBoth opens the two stores to compare, and names the first.
func (a *core) openBoth(ctx context.Context, args []string, files bool) (before, after *beads.File, since string, closeBoth func(), err error) {
	fail := func(err error) (*beads.File, *beads.File, string, func(), error) { return nil, nil, "", nil, err }
	if files {
		if len(args) != 2 {
			return fail(usage("--files takes two files", "type stig diff --files BEFORE AFTER"))
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
		return fail(usage("diff takes one revision", "type stig diff --files BEFORE AFTER to compare two files"))
	}
	since = strings.Join(append(args, "HEAD")[:1], "")
	if after, err = a.open(); err != nil {
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
func (a *core) openFile(path string) (*beads.File, error) {
	dir := a.dir
	if dir == "" {
		dir = "."
	}
	store, err := beads.Discover(beads.Where{Dir: dir, File: path})
	if err != nil {
		return nil, err
	}
	store.Path = shortest(store.Path)
	file, err := beads.Read(store)
	if err != nil {
		return nil, err
	}
	a.warnOfStore(file)
	return file, nil
}

// diffReport shows what vanished first, each issue with its own things.
func diffReport(d diff.Diff, since string) string {
	if d.Empty() {
		return "nothing differs from " + since + "\n"
	}
	var vanished, changed, added grouped
	for _, v := range d.Vanished {
		vanished.add(v.ID, "%s", named(v.Kind, v.ID, v.Name, v.Was))
	}
	for _, c := range d.Changed {
		changed.add(c.ID, "%s %s: %s → %s", c.Kind, c.Name, oneLine(c.From, 40), oneLine(c.To, 40))
	}
	for _, n := range d.Added {
		added.add(n.ID, "%s", named(n.Kind, n.ID, n.Name, ""))
	}
	var b strings.Builder
	vanished.write(&b, "VANISHED since "+since)
	changed.write(&b, "changed since "+since)
	added.write(&b, "added since "+since)
	return b.String()
}

// named is a thing with the beginning of its text.
func named(kind diff.Kind, id, name, text string) string {
	line := string(kind)
	if name != id {
		line += " " + oneLine(name, 60)
	}
	if text != "" && text != name {
		line += ": " + oneLine(text, 60)
	}
	return line
}

// grouped is a list of things by issue, in the order in which they came.
type grouped struct {
	count int
	ids   []string
	lines map[string][]string
}

func (g *grouped) add(id, format string, args ...any) {
	if g.lines == nil {
		g.lines = map[string][]string{}
	}
	if g.lines[id] == nil {
		g.ids = append(g.ids, id)
	}
	g.lines[id] = append(g.lines[id], fmt.Sprintf(format, args...))
	g.count++
}

func (g *grouped) write(b *strings.Builder, title string) {
	if g.count == 0 {
		return
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "%s (%d in %s):\n", title, g.count, counted(len(g.ids), "issue"))
	for _, id := range g.ids {
		fmt.Fprintf(b, "%s\n", id)
		for _, line := range g.lines[id] {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
}

// oneLine is the beginning of a text on one line, of so many characters at most.
func oneLine(text string, most int) string {
	words := strings.Join(strings.Fields(text), " ")
	if words == "" {
		return "nothing"
	}
	if utf8.RuneCountInString(words) <= most {
		return words
	}
	return string([]rune(words)[:most-1]) + "…"
}
