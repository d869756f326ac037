package journal

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/merge"
	"stig/internal/visible"
)

// most limits how many issues a report names.
const most = 10

// Report says what was lost and what was closed, and what to type; "" for nothing.
func Report(s beads.Place, lost []Finding, closed []Closed) string {
	var text strings.Builder
	gone := slices.DeleteFunc(slices.Clone(lost), func(f Finding) bool { return f.Shown != "" })
	list(&text, filepath.Base(s.Path)+": another program wrote it and lost something", gone)
	replaced := slices.DeleteFunc(slices.Clone(lost), func(f Finding) bool { return f.Shown == "" })
	list(&text, filepath.Base(s.Path)+": older values replaced what stig wrote", replaced)
	if len(lost) > 0 {
		text.WriteString("hint: type " + putBack(s, lost) + "\n")
	}
	if len(closed) > 0 {
		var ids []string
		for _, c := range closed[:min(len(closed), most)] {
			ids = append(ids, c.ID)
		}
		text.WriteString(strings.Join(ids, ", "))
		if more := len(closed) - most; more > 0 {
			fmt.Fprintf(&text, " and %d more", more)
		}
		text.WriteString(": closed without stig close and a verdict\nhint: type " + openAgain(s, ids) + "\n")
	}
	return text.String()
}

// list formats what is gone of each issue, below a title.
func list(text *strings.Builder, title string, gone []Finding) {
	if len(gone) == 0 {
		return
	}
	ids, what := goneByIssue(gone)
	text.WriteString(title + "\n")
	for i, id := range ids[:min(len(ids), most)] {
		fmt.Fprintf(text, "  %s: %s\n", id, short(what[i]))
	}
	if more := len(ids) - most; more > 0 {
		fmt.Fprintf(text, "  and something of %d more\n", more)
	}
}

// short truncates a long list of names.
func short(names string) string {
	const most = 300
	if r := []rune(names); len(r) > most {
		return string(r[:most]) + " …"
	}
	return names
}

// goneByIssue lists issues and what is gone of each.
func goneByIssue(gone []Finding) (ids, what []string) {
	at, last := map[string]int{}, map[string]merge.Kind{}
	for _, g := range gone {
		i, known := at[g.ID]
		switch {
		case known && (last[g.ID] == merge.KindIssue || g.Kind == merge.KindIssue):
			what[i] = "the issue" // whatever else of it went with it
			g.Kind = merge.KindIssue
		case !known:
			at[g.ID] = len(ids)
			ids, what = append(ids, g.ID), append(what, named(g))
		case g.Kind == merge.Signal && last[g.ID] == merge.Signal:
			what[i] += ", " + g.Name
		default:
			what[i] += ", " + named(g)
		}
		last[g.ID] = g.Kind
	}
	return ids, what
}

func named(g Finding) string {
	name := nameOf(g)
	if g.Hidden {
		name += " with a credential, which stig does not keep"
	}
	return name
}

func nameOf(g Finding) string {
	switch g.Kind {
	case merge.KindIssue:
		return "the issue"
	case merge.Section:
		return fmt.Sprintf("section %q", g.Name)
	case merge.Comment:
		author, _, _ := strings.Cut(g.Name, " ")
		return strings.TrimSpace("a comment by " + author)
	case merge.Key, merge.KindProse:
		return g.Name
	}
	return fmt.Sprintf("%s %s", g.Kind, g.Name)
}

// putBack is the command that restores what is gone. stig does not write issues in a Dolt
// database, and stores no credentials.
func putBack(s beads.Place, gone []Finding) string {
	kept, _ := goneByIssue(slices.DeleteFunc(slices.Clone(gone), func(f Finding) bool { return f.Hidden }))
	switch {
	case len(kept) == 0:
		return fmt.Sprintf("git log -p -- %s to see what it was", s.Path)
	case s.Mode == beads.Export:
		return fmt.Sprintf("stig recover %s to see what it was; bd update restores it", kept[0])
	case len(kept) == 1:
		return fmt.Sprintf("stig recover %s --apply", kept[0])
	}
	return "stig recover --apply"
}

// openAgain is the command that reopens issues closed without a verdict.
func openAgain(s beads.Place, ids []string) string {
	var open []string
	for _, id := range ids {
		if s.Mode == beads.Export {
			open = append(open, "bd reopen "+id)
			continue
		}
		open = append(open, fmt.Sprintf("stig reopen %s --reason \"closed without a verdict\"", id))
	}
	return strings.Join(open, " && ")
}

// Vanished names stores that a session saw in the work tree around a directory and that are
// gone, and how to restore them; each once.
func Vanished(dir, session string) string {
	var text strings.Builder
	for _, gone := range clone.Vanished(dir, session) {
		fmt.Fprintf(&text, "%s: the store is gone\nhint: type git checkout HEAD -- %s to restore the committed version, then stig recover --apply for what was written since\n",
			gone.Store, visible.InQuotes(gone.Store))
	}
	return text.String()
}
