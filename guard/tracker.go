package guard

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// trackers are the programs that close issues. That of Gas Town gives what
// follows its close to bd.
var trackers = []string{"bd", "br", "beads", "gt"}

// Options of bd and br that are followed by their value.
const trackerWide = "actor db dolt-auto-commit lock-timeout directory C format rig "

// Options of bd close that give the reason; all but the first two are not in
// its help.
const trackerReason = "r reason m message resolution comment "

// trackerUpdate are the options of bd update and br update that are not.
const trackerUpdate = "claim ephemeral persistent history no-history stdin allow-empty-description help json quiet verbose " +
	"readonly sandbox global profile allow-stale no-daemon no-db no-auto-flush no-auto-import ignore-schema-skew robot force no-color"

// tracker goes through a command of bd or br. The verbs are those of bd 0.49
// and 1.0 and of br.
func (w *analyzer) tracker(program string, words []string) {
	verb, rest := trackerVerb(words)
	if verb == "" {
		return
	}
	l := takeApart(rest, valued(trackerWide+"r reason reason-file response session of with f file m message"))
	if l.has("help", "h", "dry-run") {
		return
	}
	if program == "gt" && verb != "close" { // a program for branches has that name too
		return
	}
	said := program + " " + verb
	switch verb {
	case "close", "done":
		ids, why := closeWords(verb, takeApart(rest, valued(trackerWide+trackerReason+"reason-file session")))
		w.closesFor(said, ids, why)
	case "update":
		l = takeApart(rest, allBut(trackerUpdate, "adepstC"))
		for _, status := range l.values("status", "s") {
			if over(status) {
				w.closes(said+" --status "+shown(status), l.operands)
			}
		}
	case "todo", "epic", "human":
		if len(l.operands) > 0 && slices.Contains([]string{"done", "close-eligible", "respond", "dismiss"}, l.operands[0]) {
			w.closes(said+" "+l.operands[0], l.operands[1:])
		}
	case "duplicate", "supersede":
		w.closes(said, l.operands)
	case "duplicates", "orphans":
		if l.has("auto-merge", "fix") {
			w.closes(said, nil)
		}
	case "batch":
		w.batch(said, l)
	case "import":
		if closedLine().MatchString(w.handed(append(l.operands, l.values("i", "input")...))) {
			w.closes(said, nil)
		}
	case "sql":
		w.sql(said, l.operands)
	}
}

// closeWords tells the issues that a close names, and the reason that it gives to
// all of them: of several reasons each is for one issue. Behind the issues of a
// done without any, the last word may be it; that no id holds a blank tells them
// apart.
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

// trackerVerb finds the verb behind the options that may stand before it. A
// word that only running can tell may be options too.
func trackerVerb(words []string) (verb string, rest []string) {
	takes := valued(trackerWide)
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch {
		case strings.HasPrefix(word, "-"):
			if !strings.Contains(word, "=") && takes(strings.TrimLeft(word, "-")) {
				i++
			}
		case strings.HasPrefix(word, unknown), word == "":
		default:
			return strings.ToLower(word), append(slices.Clone(words[:i]), words[i+1:]...)
		}
	}
	return "", nil
}

// over reports whether a status ends an issue, or may.
func over(status string) bool {
	status = strings.ToLower(strings.TrimSpace(status))
	return status == "closed" || status == "tombstone" || strings.Contains(status, unknown)
}

// shown is a text with an ellipsis for what only running can tell.
func shown(text string) string { return strings.ReplaceAll(text, unknown, "…") }

// batch goes through the lines that bd batch is given. Words in them may stand in
// double quotes, also in part.
func (w *analyzer) batch(said string, l commandLine) {
	text := w.handed(l.values("f", "file"))
	for line := range strings.Lines(text) {
		switch words := strings.Fields(strings.ReplaceAll(line, `"`, "")); {
		case strings.Contains(line, unknown):
			w.closes(said, nil)
		case len(words) > 1 && words[0] == "close":
			w.closes(said, words[1:2])
		case len(words) > 1 && words[0] == "update" && slices.ContainsFunc(words[2:], func(s string) bool { return strings.EqualFold(s, "status=closed") }):
			w.closes(said, words[1:2])
		}
	}
}

var closedLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"status"\s*:\s*"(?:closed|tombstone)"`)
})

var closingSQL = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)\bupdate\s+(?:or\s+\w+\s+)?(?:\W?\w+\W?\.)?\W?issues\b.*\bset\b.*\bstatus\W*=\s*\W?closed`)
})

// sql goes through statements for the database that bd keeps the issues in.
func (w *analyzer) sql(said string, words []string) {
	if closingSQL().MatchString(strings.Join(words, " ")) || closingSQL().MatchString(w.input) {
		w.closes(said, nil)
	}
}
