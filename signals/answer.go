package signals

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"stig/internal/visible"
	"stig/notes"
)

// Several questions on one issue can be answered separately. Older readers take an answer to
// cover all questions before it, so for them the other questions are asked again, in parts
// whose headings say so:
//
//	## Pending (2026-11-20) by mara
//	Which quay first?
//
//	## Pending (2026-11-20) by mara
//	Which crane?
//
//	## Resolved (2026-11-22, question 0b1f2a9c) by ines
//	North.
//
//	## Pending (2026-11-22, asked 2026-11-20, after 0b1f2a9c) by mara
//	Which crane?

// partNotes parses what follows the date in the heading of a part.
var partNotes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\(\d{4}-\d{2}-\d{2}, *([^()]*)\)`)
})

func partNote(heading string) string {
	if found := partNotes().FindStringSubmatch(heading); found != nil {
		return strings.TrimSpace(found[1])
	}
	return ""
}

// Hash names a question by its text, in 8 hex digits, since its position changes when branches
// are merged.
func (p Part) Hash() string {
	sum := sha256.Sum256([]byte(visible.OneLine(p.Text)))
	return hex.EncodeToString(sum[:4])
}

// shortestName is the minimum number of hash digits that name a question.
const shortestName = 4

// Choose returns the hash of the named question: by its number, counted from 1, or by at least
// 4 digits of its hash.
func Choose(questions []Part, name string) (hash string, ok bool) {
	if number, err := strconv.Atoi(name); err == nil && number >= 1 && number <= len(questions) {
		return questions[number-1].Hash(), true
	}
	for _, q := range questions {
		if len(name) < shortestName || !strings.HasPrefix(q.Hash(), strings.ToLower(name)) || q.Hash() == hash {
			continue
		}
		if hash != "" {
			return "", false // means two
		}
		hash = q.Hash()
	}
	return hash, hash != ""
}

// Again reports whether a question was asked before, and is repeated because another one was
// answered.
func (p Part) Again() bool { return p.Kind.Asks() && strings.HasPrefix(p.Note, "asked") }

// Asked is the day on which a question was first asked, "" if unknown.
func (p Part) Asked() string {
	if p.Again() {
		return dateIn(p.Note)
	}
	return p.Date
}

// to is the hash of the one question that an answer names, "" if it answers all.
func (p Part) to() string {
	name, one := strings.CutPrefix(p.Note, "question ")
	hash, _, _ := strings.Cut(name, " ")
	if sum, err := hex.DecodeString(hash); p.Kind.Asks() || !one || err != nil || len(sum) != 4 {
		return ""
	}
	return hash
}

// Withdraws reports whether an answer withdraws the question instead of answering it.
func (p Part) Withdraws() bool { return p.Kind == Resolved && strings.HasSuffix(p.Note, "withdrawn") }

// Exchange is a question and its answer, nil while it waits for one. The question is the part
// in which it was first asked.
type Exchange struct {
	Question Part
	Answer   *Part
}

// Exchanges pairs the questions of a trail with their answers, in the order in which they were
// asked. An answer that names a question answers that one, any other answers all open ones. A
// repeated question is the original one: if that has been answered, as in the other branch of a
// merge, it stays answered.
func Exchanges(parts []Part) (list []Exchange) {
	for i, p := range parts {
		switch known := slices.ContainsFunc(list, func(e Exchange) bool { return e.Question.Hash() == p.Hash() }); {
		case p.Kind.Asks() && (!known || !p.Again()):
			list = append(list, Exchange{Question: p})
		case p.Kind.Asks():
		default:
			for k, e := range list {
				if e.Answer == nil && (p.to() == "" || p.to() == e.Question.Hash()) {
					list[k].Answer = &parts[i]
				}
			}
		}
	}
	return list
}

// Questions lists the unanswered questions, each as first asked.
func Questions(parts []Part) (waiting []Part) {
	for _, e := range Exchanges(parts) {
		if e.Answer == nil {
			waiting = append(waiting, e.Question)
		}
	}
	return waiting
}

// AddAnswer appends an answer to the open questions of a document: to the one with the hash, or
// to all if it is "". The part gives its author, time and text; withdrawn marks it as a
// withdrawal. The other open questions are repeated.
func AddAnswer(d *notes.Doc, answer Part, hash string, withdrawn bool) (*notes.Doc, error) {
	questions := Questions(Escalations(d))
	answer.Kind, answer.Note = Resolved, ""
	switch {
	case withdrawn:
		answer.Note = "question " + hash + " withdrawn"
	case hash != "" && len(questions) > 1:
		answer.Note = "question " + hash
	case len(questions) > 1:
		answer.Note = fmt.Sprintf("all %d questions", len(questions))
	}
	d, err := AddPart(d, answer)
	if err != nil || hash == "" {
		return d, err
	}
	for _, q := range questions {
		if q.Hash() == hash {
			continue
		}
		q.Note = "asked " + cmp.Or(q.Asked(), "before") + ", after " + hash
		q.Date = answer.Date
		if d, err = AddPart(d, q); err != nil {
			return nil, err
		}
	}
	return d, nil
}
