package guard

import (
	"slices"
	"strings"

	"stig/beads"
)

// trackers are the programs that close issues. That of Gas Town gives what
// follows its close to bd.
var trackers = []string{"bd", "br", "beads", "gt"}

// Options of bd and br that are followed by their value.
const trackerWide = "actor db dolt-auto-commit lock-timeout directory C format rig "

// Options of bd close that give the reason; all but the first two are not in
// its help.
const trackerReason = "r reason m message resolution comment "

// trackerUpdate are options with a value of bd update and br update.
const trackerUpdate = "status s notes append-notes title description d body design acceptance acceptance-criteria a assignee " +
	"p priority t type e estimate parent external-ref spec-id add-label remove-label set-labels labels due defer session " +
	"body-file design-file metadata set-metadata unset-metadata await-id owner "

// valued are the options of a verb that are followed by their value, besides trackerWide.
// A value may begin with a hyphen, as a list in notes does: it is no option.
func valued(verb string) string {
	switch verb {
	case "update":
		return trackerUpdate
	case "close", "done":
		return trackerReason + "reason-file session"
	}
	return trackerReason + "reason-file response session of with f file"
}

// tracker judges a command of bd or br. The verbs are those of bd 0.49 and 1.0
// and of br.
func (w *analyzer) tracker(program string, words []string, input func() string) {
	verb, rest := trackerVerb(words)
	l := takeApart(rest, trackerWide+valued(verb))
	if verb == "" || l.has("help", "h", "dry-run") || program == "gt" && verb != "close" { // a program for branches has that name too
		return
	}
	if dirs := l.values("C", "directory"); len(dirs) > 0 {
		defer func(dir string) { w.dir = dir }(w.dir)
		w.dir = w.place(dirs[0])
	}
	said := program + " " + verb
	switch verb {
	case "close", "done":
		ids, why := closeWords(verb, l)
		w.closes(said, ids, why)
	case "update":
		w.update(said, l)
	case "todo", "epic", "human":
		if len(l.operands) > 0 && slices.Contains([]string{"done", "close-eligible", "respond", "dismiss"}, l.operands[0]) {
			w.closes(said+" "+l.operands[0], l.operands[1:], "")
		}
	case "duplicate", "supersede":
		w.closes(said, l.operands, "")
	case "duplicates", "orphans":
		if l.has("auto-merge", "fix") {
			w.closes(said, nil, "")
		}
	case "batch":
		w.batch(said, input())
	}
}

// update judges bd update, which closes issues by their status, and replaces notes.
func (w *analyzer) update(said string, l commandLine) {
	for _, status := range l.values("status", "s") {
		status = strings.ToLower(strings.TrimSpace(status))
		if strings.Contains(status, "$") {
			w.closes(said+" --status …", l.operands, "")
		} else if beads.IsClosed(status) {
			w.closes(said+" --status "+status, l.operands, "")
		}
	}
	if l.has("notes") {
		w.add(w.about(Attempt{Verb: said + " --notes", Notes: true}, l.operands))
	}
}

// closeWords gives the issues that a close names, and the reason that it gives to
// all of them: of several reasons each is for one issue. Behind the issues of a
// done without any, the last word may be it; that no id holds a blank separates
// them.
func closeWords(verb string, l commandLine) (ids []string, why string) {
	given := l.values(strings.Fields(trackerReason)...)
	ids = l.operands
	if last := len(ids) - 1; verb == "done" && len(given) == 0 && last > 0 && strings.Contains(ids[last], " ") {
		ids, given = ids[:last], ids[last:]
	}
	if len(given) == 1 {
		why = given[0]
	}
	return ids, why
}

// trackerVerb finds the verb behind the options that may stand before it.
func trackerVerb(words []string) (verb string, rest []string) {
	takes := strings.Fields(trackerWide)
	for i := 0; i < len(words); i++ {
		switch word := words[i]; {
		case strings.HasPrefix(word, "-"):
			if slices.Contains(takes, strings.TrimLeft(word, "-")) {
				i++
			}
		case word != "":
			return strings.ToLower(word), append(slices.Clone(words[:i]), words[i+1:]...)
		}
	}
	return "", nil
}

// batch judges the lines that bd batch reads. Words in them may stand in double
// quotes, also in part.
func (w *analyzer) batch(said, text string) {
	for line := range strings.Lines(text) {
		words := strings.Fields(strings.ReplaceAll(line, `"`, ""))
		if len(words) > 1 && (words[0] == "close" || words[0] == "update" && slices.Contains(words[2:], "status=closed")) {
			w.closes(said, words[1:2], "")
		}
	}
}
