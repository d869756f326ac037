package orient

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/visible"
	"stig/signals"
)

// Keyed is a value that has no place of its own in a briefing: metadata, or a key unknown to
// the format.
type Keyed struct {
	Key   string `json:"key"` // "metadata.NAME" for one of the metadata
	Value string `json:"value"`
}

// Limits of a line with such values.
const (
	mostKeys    = 8   // values
	widestValue = 120 // characters per value
	widestRef   = 300 // characters per reference
)

// KeysOf lists the metadata of an issue and the keys unknown to the format, pointers first.
func KeysOf(record *beads.Record) []Keyed {
	list := []Keyed{}
	add := func(key string, raw []byte) {
		if value := valueOf(raw); value != "" {
			list = append(list, Keyed{key, value})
		}
	}
	var metadata map[string]json.RawMessage
	if raw := record.Raw("metadata"); json.Unmarshal(raw, &metadata) == nil {
		for _, key := range slices.Sorted(maps.Keys(metadata)) {
			add("metadata."+key, metadata[key])
		}
	} else {
		add("metadata", raw)
	}
	for _, key := range record.Keys() {
		if !key.Known() && key != "content_hash" {
			add(string(key), record.Raw(key))
		}
	}
	slices.SortStableFunc(list, func(x, y Keyed) int { return strings.Count(y.Value, "://") - strings.Count(x.Value, "://") })
	return list
}

// valueOf returns a JSON value as text, "" for an empty one.
func valueOf(raw []byte) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return strings.TrimSpace(text)
	}
	var texts []string
	if json.Unmarshal(raw, &texts) == nil {
		return strings.TrimSpace(strings.Join(texts, "\n"))
	}
	switch value := string(raw); value {
	case "null", "{}", "[]", "false", "0":
		return ""
	default:
		return value
	}
}

// references shows the issue's references, due time and other values. They may be the only
// pointer to the work, so no budget cuts them.
func (b *Briefing) references(w *page) {
	var words []string
	add := func(name, value string) {
		if value != "" {
			words = append(words, name+" "+clip(visible.OneLine(value), widestRef))
		}
	}
	add("external", b.Issue.ExternalRef)
	add("spec", b.Issue.SpecID)
	add("due", b.Issue.due)
	if len(words) > 0 {
		w.line(strings.Join(words, " · "))
	}
	words = nil
	for k, v := range b.Issue.Keys {
		if slices.ContainsFunc(b.Acceptance.Beside, func(p Beside) bool { return p.Name == v.Key }) {
			continue // shown in full below
		}
		if k == mostKeys {
			words = append(words, fmt.Sprintf("%d more (`stig show %s`)", len(b.Issue.Keys)-k, b.Issue.ID))
			break
		}
		words = append(words, clip(visible.OneLine(v.Key), 40)+": "+clip(visible.OneLine(v.Value), widestValue))
	}
	if len(words) > 0 {
		w.line(strings.Join(words, " · "))
	}
}

// dueWords returns when an issue is due, and by how much it is overdue.
func dueWords(record *beads.Record, now time.Time) string {
	text := record.Text(beads.DueAt)
	due, ok := record.Time(beads.DueAt)
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		due, ok = day, true
	}
	switch {
	case text == "":
		return ""
	case !ok:
		return visible.OneLine(text) + " (not a valid time)"
	case due.Before(now) && !beads.IsClosed(record.Text(beads.Status)):
		return dayIn(due) + ", overdue by " + visible.Counted(max(1, int(now.Sub(due)/(24*time.Hour))), "day")
	}
	return dayIn(due)
}

// personLabels lists labels that say that somebody else must act first.
var personLabels = []string{
	"needs-decision", "decision-needed", "needs-approval", "needs-input", "needs-info", "needs-discussion", "needs-credentials", "needs-access",
	"awaiting-decision", "awaiting-approval", "external-dependency", "no-auto", "no-auto-claim", "no-agent", "do-not-claim", "was-role", "role",
}

// personWords lists words that say so in any label.
var personWords = []string{"human", "person", "hitl", "manual", "operator", "gated"}

// asksPerson reports whether a label says that somebody else must act first.
func asksPerson(label string) bool {
	bare := strings.NewReplacer("_", "-", " ", "-", ":", "-", "/", "-").Replace(strings.ToLower(strings.TrimSpace(label)))
	bare = strings.TrimPrefix(bare, "status-")
	return slices.Contains(personLabels, bare) ||
		slices.ContainsFunc(strings.Split(bare, "-"), func(word string) bool { return slices.Contains(personWords, word) })
}

// putOff lists phrases that say that work must not begin yet.
var putOff = []string{"do not start", "don't start", "do not begin", "do not claim", "don't claim", "must not be started"}

// contradicts reports whether a label implies a status other than the issue's own.
func contradicts(label, status string) bool {
	meant, _ := beads.LabelStatus(label)
	return beads.Contradicts(meant, status)
}

// Words that say that work is held up: one of waitWords, followed within a few words by one of
// waitedFor.
var (
	waitWords = []string{"needs", "need", "requires", "require", "awaits", "awaiting", "waits", "waiting", "pending", "blocked", "missing", "lacks"}
	waitedFor = []string{
		"human", "person", "credential", "credentials", "access", "decision", "approval", "permission", "permissions", "secrets", "password",
		"sign-off", "signoff", "api-key", "account", "login", "maintainer", "operator", "customer", "vendor", "stakeholder",
	}
	notWords = []string{"no", "not", "never", "without", "don't", "doesn't", "nobody", "longer"}
)

// between is the maximum number of words between the two.
const between = 3

// waits returns the words in which the beginning of a text says that work waits for a person or
// for something that a person provides; "" if it does not.
func waits(text string) string {
	text = beginning(text, 4000)
	for line := range strings.Lines(text) {
		lower := strings.ToLower(line)
		for _, phrase := range putOff {
			if strings.Contains(lower, phrase) {
				return phrase
			}
		}
		words := strings.Fields(line)
		for i, word := range words {
			if !slices.Contains(waitWords, plainWord(word)) || strings.HasSuffix(word, ":") || denies(words[max(0, i-2):i]) {
				continue
			}
			for k := i + 1; k < len(words) && k <= i+1+between && !denies(words[k:k+1]); k++ {
				is := plainWord(words[k])
				if is == "key" || is == "keys" {
					is = plainWord(words[k-1]) + "-key"
				}
				if slices.Contains(waitedFor, is) {
					return visible.OneLine(strings.Trim(strings.Join(words[i:k+1], " "), ".,;:!*_`()"))
				}
				if strings.ContainsAny(words[k], ".;:") {
					break
				}
			}
		}
	}
	return ""
}

func denies(words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(notWords, plainWord(word)) })
}

func plainWord(word string) string {
	return strings.ToLower(strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }))
}

// against is why an issue that can be taken is not the first to take, in a few words of
// its own; "" for nothing.
func against(record *beads.Record) string {
	for _, label := range record.Labels() {
		if contradicts(label, record.Text(beads.Status)) || asksPerson(label) {
			return "label " + clip(visible.OneLine(label), 40)
		}
	}
	for _, key := range []beads.Key{beads.Title, beads.Description, beads.Notes} {
		if words := waits(record.Text(key)); words != "" {
			return "says “" + clip(words, 60) + "”"
		}
	}
	return ""
}

// Advice is what an issue that can be taken says itself about being taken first.
type Advice struct {
	Priority int
	Against  string // why it is not the first to take, in its own words; "" for nothing
	Bare     bool   // it says nothing but its title
}

// MostWeighed is of how many issues that can be taken it is read what they say.
const MostWeighed = 30

// AdviceOf reads what an issue says.
func AdviceOf(issue *beads.Issue) (Advice, error) {
	record, err := issue.Record()
	if err != nil {
		return Advice{}, err
	}
	return Advice{issue.Priority, against(record), isBare(record)}, nil
}

// Advised takes the issues that can be claimed, in rank order, and returns their indices in the
// advised order: first the one to begin with, then the others by rank, then those that say they
// are waiting. An issue with only a title does not come before one that says more with the same
// priority or, unless it is P0, the next one.
func Advised(list []Advice) (order []int) {
	first := slices.IndexFunc(list, func(a Advice) bool { return a.Against == "" })
	if first >= 0 && list[first].Bare {
		near := list[first].Priority + min(1, list[first].Priority)
		if said := slices.IndexFunc(list, func(a Advice) bool { return a.Against == "" && !a.Bare && a.Priority <= near }); said >= 0 {
			first = said
		}
	}
	if first >= 0 {
		order = append(order, first)
	}
	for _, waits := range []bool{false, true} {
		for at, a := range list {
			if (a.Against != "") == waits && at != first {
				order = append(order, at)
			}
		}
	}
	return order
}

// isBare reports whether an issue says nothing but its title.
func isBare(record *beads.Record) bool {
	for _, key := range []beads.Key{beads.Description, beads.Design, beads.AcceptanceCriteria, beads.Notes, beads.ExternalRef, "spec_id"} {
		if strings.TrimSpace(record.Text(key)) != "" {
			return false
		}
	}
	return len(record.Comments()) == 0
}

// notices are contradictions and dead ends that somebody sees only who looks at several
// issues or at the files, a line each.
func (a assembly) notices(i int, record *beads.Record, b *Briefing) []string {
	list := []string{}
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	for _, label := range b.Issue.Labels {
		if contradicts(label, b.Issue.Status) {
			add("label %s, but the status is %s", visible.OneLine(label), b.Issue.Status)
		}
	}
	if !b.Assessed && strings.Contains(a.description, signals.PlanningDepth.String()) {
		add("the description holds a signal table, which counts in the notes alone")
	}
	if !b.over() && b.Issue.CloseReason != "" {
		add("it has a close reason, and is not closed")
	}
	if ring := a.graph.RingThrough(i); ring != nil {
		b.ring = true
		add("in a dependency cycle: %s", visible.Some(dag.Circle(ring, func(i int) string { return a.file.At(i).ID }), 4))
	}
	closed, all := a.graph.Progress(i)
	if b.over() && closed < all {
		add("closed, but %d of %s %s not", all-closed, visible.Counted(all, "child"), isOrAre(all-closed))
	}
	if at, ok := a.graph.Epic(i); ok && a.graph.Closed(at) && !b.over() {
		add("its epic %s is closed", a.file.At(at).ID)
	}
	same, unlinked := a.alike(i)
	if len(same) > 0 {
		add("same title: %s", visible.Some(same, 3))
	}
	if len(unlinked) > 0 {
		add("their ids read as its children, and no row links them: %s", visible.Some(unlinked, 3))
	}
	if at, ok := a.file.Index(beads.NumberedParent(b.Issue.ID)); ok && b.Epic == nil {
		add("its id reads as a child of %s %s, and no row links them", a.file.At(at).ID, clip(visible.OneLine(a.file.At(at).Title), 60))
	}
	if parents := a.graph.Parents(i); len(parents) > 1 {
		var names []string
		for _, at := range parents[1:] {
			names = append(names, a.file.At(at).ID)
		}
		add("also in %s", visible.Some(names, 5))
	}
	if done := a.closedNext(i, record); len(done) > 0 {
		add("named as next, and closed: %s", visible.Some(done, 3))
	}
	if gone := a.missingPaths(record); len(gone) > 0 {
		add("not in this work tree: %s", visible.Some(gone, 4))
	}
	return list
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// alike names the other issues that have the title of one, and the unclosed ones whose
// ids read as its children's though no row links them.
func (a assembly) alike(i int) (same, unlinked []string) {
	a.file.Need(i, beads.Beside)
	of := a.file.At(i)
	for k := range a.file.Len() {
		issue := a.file.At(k)
		if k == i || issue.Status == beads.StatusTombstone || issue.ID == of.ID {
			continue
		}
		if len(issue.Title) == len(of.Title) && of.Title != "" && strings.EqualFold(issue.Title, of.Title) {
			same = append(same, issue.ID+" ("+issue.Status+")")
		}
		if len(issue.ID) > len(of.ID) && strings.HasPrefix(issue.ID, of.ID) && beads.NumberedParent(issue.ID) == of.ID && !beads.IsClosed(issue.Status) {
			if _, linked := a.graph.Epic(k); !linked {
				unlinked = append(unlinked, issue.ID)
			}
		}
	}
	return same, unlinked
}

var nextSteps = topic{words: []string{"what remains", "next steps", "next step", "follow ups", "follow up"}, alone: []string{"next", "remains", "remaining", "todo"}}

// closedNext names the issues that the texts name as next steps and that are closed.
func (a assembly) closedNext(i int, record *beads.Record) (done []string) {
	var texts []string
	for _, text := range []string{a.description, a.design, record.Text(beads.Notes)} {
		for _, s := range sayings("", text) {
			if nextSteps.covers(s.label) {
				texts = append(texts, s.text())
			}
		}
	}
	seen := map[string]bool{a.file.At(i).ID: true}
	for word := range strings.FieldsFuncSeq(strings.Join(texts, "\n"), notOfID) {
		word = strings.Trim(word, ".-_")
		at, ok := a.file.Index(word)
		if !ok || seen[word] || a.file.At(at).Status != beads.StatusClosed {
			continue
		}
		seen[word] = true
		done = append(done, word+" "+clip(visible.OneLine(a.file.At(at).Title), 60))
	}
	return done
}

func notOfID(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
}

// missingPaths names the paths in the texts that are not among the files here.
func (a assembly) missingPaths(record *beads.Record) (gone []string) {
	if a.rules.Exists == nil || beads.IsClosed(record.Text(beads.Status)) {
		return nil
	}
	const most = 50 // that are looked up
	var paths []string
	for _, text := range []string{record.Text("spec_id"), withoutCriteria(record, a.description), withoutCriteria(record, a.design), a.otherNotes()} {
		for _, p := range pointers(text) {
			if isPath(p) && len(paths) < most {
				paths = append(paths, p)
			}
		}
	}
	slices.Sort(paths)
	for _, p := range slices.Compact(paths) {
		if !a.rules.Exists(p) {
			gone = append(gone, p)
		}
	}
	return gone
}
