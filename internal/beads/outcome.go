package beads

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Outcome is what an issue's close reason says about its end.
type Outcome struct {
	End    End
	Failed bool // it says that the attempt failed, so work that depends on failure can start
}

// End is how an issue ended.
type End int

// The ends of an issue. All but Done leave the work undone, or to another issue.
const (
	EndDone       End = iota // also if the reason says nothing
	EndDuplicate             // duplicate of another issue
	EndNotPlanned            // nobody will do it
	EndFailed
	EndUnknown // the line is unreadable now
)

// String returns the end as in "closed as …".
func (e End) String() string {
	return [...]string{"done", "duplicate", "not planned", "failed", "unknown"}[e]
}

// Outcome returns how the issue at an index ended, read from its line.
func (f *Snapshot) Outcome(i int) Outcome {
	type name struct{}
	if known, ok := f.At(i).Remembered(name{}).(Outcome); ok {
		return known
	}
	record, err := f.At(i).Record()
	if err != nil {
		return Outcome{End: EndUnknown}
	}
	found := OutcomeOf(record.Text(CloseReason))
	if slices.ContainsFunc(f.At(i).Deps, func(d Dep) bool { return d.Type == "duplicates" }) {
		found.End = EndDuplicate
	}
	f.At(i).Remember(name{}, found)
	return found
}

// External is how a dependency on an issue of another store stands.
type External struct {
	Project, Issue string // whose issue it is, and its id there; "" if there is none
	Done           bool   // it is proved done, or was recorded so and the project cannot be read
	Stale          bool   // it was recorded as done, and is no longer
	Recorded       bool   // the record has this proof already
	Why            string // why it is not done, to follow the dependency and a colon
	Commit         string // the proof, abbreviated; "" if a command is
	Title, Status  string
	CloseReason    string
	Checkpoint     string // the last state estimate of the issue there
}

// NotShown is the External.Why of a store that cannot be asked.
const NotShown = "nothing shows that it is done"

// IsExternal reports whether an id names an issue in another store.
func IsExternal(id string) bool {
	const prefix = "external:"
	return len(id) >= len(prefix) && strings.EqualFold(id[:len(prefix)], prefix)
}

// ParseExternal splits the id of an issue in another store into its project and the issue or
// capability there.
func ParseExternal(id string) (project, of string, err error) {
	_, rest, _ := strings.Cut(id, ":")
	project, of, _ = strings.Cut(rest, ":")
	if project, of = strings.TrimSpace(project), strings.TrimSpace(of); project == "" || of == "" {
		return "", "", errors.New("it must be external:PROJECT:ID or external:PROJECT:CAPABILITY")
	}
	return project, of, nil
}

// External returns how the dependency of the issue at i on another store stands.
func (f *Snapshot) External(i int, id string) External {
	if f.external == nil {
		return External{Why: NotShown}
	}
	return f.external(f.issues[i], id)
}

// Requests returns the function that tells the number of the open request for review of the issue
// at i, and whether it waits for reviewers; 0 for none. It is nil where no work is stacked upon
// requests.
func (f *Snapshot) Requests() func(i int) (number int, waits bool) {
	if f.request == nil {
		return nil
	}
	return func(i int) (int, bool) { return f.request(f.issues[i]) }
}

// Asking returns the snapshot with functions that answer External and Requests; request may be
// nil.
func (f *Snapshot) Asking(external func(issue *Issue, id string) External, request func(issue *Issue) (number int, waits bool)) *Snapshot {
	asking := *f
	asking.external, asking.request = external, request
	return &asking
}

// Ask makes the snapshot of the edit answer External and Requests by functions.
func (tx *Tx) Ask(external func(issue *Issue, id string) External, request func(issue *Issue) (number int, waits bool)) {
	tx.snapshot = tx.snapshot.Asking(external, request)
}

// ends are the first words of close reasons for issues that were not done.
var ends = []struct {
	end   End
	words []string
}{
	{EndDuplicate, []string{"duplicate", "duplicates", "duplicated", "dup", "dupe", "superseded", "supersedes", "superceded", "replaced by", "merged into", "same as", "moved to", "tracked in", "covered by"}},
	{EndNotPlanned, []string{"not planned", "not-planned", "not_planned", "wontfix", "won't fix", "won't do", "wont fix", "wont do", "will not fix", "will not do",
		"obsolete", "no longer needed", "no longer relevant", "no longer necessary", "not needed", "not applicable", "n/a", "out of scope", "descoped", "invalid", "irrelevant",
		"canceled", "cancelled", "abandoned", "declined", "rejected", "dropped", "stale", "by design", "not a bug", "works as intended", "cannot reproduce", "can't reproduce"}},
	{EndFailed, []string{"failed", "failure", "aborted", "gave up", "impossible", "not done", "could not", "blocked"}},
}

// fillers are words that may precede those.
var fillers = []string{"unverified", "waived", "closed", "closing", "close", "resolved", "resolution", "status", "marked", "marking", "reason", "as", "this", "it", "issue", "is", "was", "a", "an", "the", "because"}

// failures are the words that bd takes for a failed issue.
var failures = []string{"failed", "rejected", "wontfix", "won't fix", "canceled", "cancelled", "abandoned", "blocked", "error", "timeout", "aborted"}

// OutcomeOf classifies a close reason. One that begins with Verified or Done is done, whatever
// follows.
func OutcomeOf(reason string) Outcome {
	const most = 2_000 // bytes of a reason that are examined
	words := wordsOf(reason[:min(len(reason), most)])
	for len(words) > 0 && slices.Contains(fillers, words[0].text) {
		words = words[1:]
	}
	var found Outcome
	if len(words) > 0 && slices.Contains([]string{"verified", "done", "fixed", "implemented", "completed", "shipped"}, words[0].text) {
		return found
	}
	for _, e := range ends {
		if slices.ContainsFunc(e.words, func(phrase string) bool { return begins(words, phrase) && isVerdict(words, phrase) }) {
			found.End = e.end
			break
		}
	}
	for i := range words {
		denied := i > 0 && slices.Contains([]string{"no", "not", "without", "zero", "0", "never"}, words[i-1].text)
		found.Failed = found.Failed || !denied && slices.ContainsFunc(failures, func(phrase string) bool { return begins(words[i:], phrase) })
	}
	return found
}

// word is a word of a reason in lower case; stop is true if punctuation follows.
type word struct {
	text string
	stop bool
}

func wordsOf(text string) (words []word) {
	const marks = ".,:;!?()[]{}\"`*|–—-"
	for _, field := range strings.Fields(strings.ToLower(text)) {
		bare := strings.TrimRight(field, marks)
		stop := bare != field
		if bare = strings.TrimLeft(bare, marks); bare != "" {
			words = append(words, word{bare, stop})
		} else if len(words) > 0 {
			words[len(words)-1].stop = true
		}
	}
	return words
}

// begins reports whether words begin with those of a phrase.
func begins(words []word, phrase string) bool {
	of := strings.Fields(phrase)
	if len(words) < len(of) {
		return false
	}
	for i, text := range of {
		if words[i].text != text {
			return false
		}
	}
	return true
}

// isVerdict tells "duplicate of demo-7" from "duplicate keys are refused": after one word
// alone the reason ends, pauses, or goes on to say of what or why.
func isVerdict(words []word, phrase string) bool {
	if strings.Contains(phrase, " ") || len(words) == 1 || words[0].stop {
		return true
	}
	next := words[1].text
	return slices.Contains([]string{"of", "by", "see", "per", "since", "because", "due", "as", "and", "issue", "bead", "task"}, next) ||
		strings.ContainsAny(next, "0123456789") && strings.ContainsAny(next, "-#")
}

// statusWords are words of other trackers, and the status that they mean.
var statusWords = map[string][]string{
	StatusClosed: {
		"closed", "done", "complete", "completed", "finished", "resolved", "fixed", "shipped", "merged", "implemented",
		"wontfix", "wontdo", "canceled", "cancelled", "obsolete", "invalid", "duplicate",
	},
	StatusInProgress: {"inprogress", "wip", "doing", "started", "active"},
	StatusBlocked:    {"blocked", "onhold", "hold", "waiting", "stalled", "paused"},
	StatusDeferred:   {"deferred", "postponed"},
	StatusOpen:       {"open", "todo", "new", "reopened"},
}

// statusOf are the words with the status of each.
var statusOf = sync.OnceValue(func() map[string]string {
	of := map[string]string{}
	for status, words := range statusWords {
		for _, word := range words {
			of[word] = status
		}
	}
	return of
})

// StatusMeant is the status that a word means, such as in_progress for WIP; "" for none.
func StatusMeant(word string) string {
	return statusOf()[strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_ '", r) {
			return -1
		}
		return unicode.ToLower(r)
	}, word)]
}

// LabelStatus is the status that a label means, "" for none: status:WORD, or a word alone,
// which may mean something else.
func LabelStatus(label string) (status string, alone bool) {
	at := strings.IndexAny(label, ":/=")
	if at < 0 {
		return StatusMeant(label), true
	}
	switch strings.ToLower(strings.TrimSpace(label[:at])) {
	case "status", "state", "workflow":
		return StatusMeant(strings.TrimLeft(label[at+1:], ":/= ")), false
	}
	return "", false
}

// Contradicts reports whether an issue has another status than a label means. Whether it
// waits for an issue or for a day, or who drives it, makes no difference.
func Contradicts(meant, status string) bool {
	kind := func(s string) string {
		switch s {
		case StatusDeferred:
			return StatusBlocked
		case StatusHooked:
			return StatusInProgress
		}
		return s
	}
	switch {
	case meant == "" || status == StatusTombstone:
		return false
	case meant == StatusOpen:
		return status == StatusClosed
	}
	return kind(meant) != kind(status)
}
