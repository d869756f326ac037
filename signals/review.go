package signals

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/internal/visible"
	"stig/notes"
)

// ReviewSection is the name of the section with the request for review of an issue's work. It
// is replaced whole.
const ReviewSection = "review"

// ReviewState says whose turn it is.
type ReviewState string

const (
	ReviewDraft    ReviewState = "draft"    // the checks of the forge run
	ReviewOpen     ReviewState = "open"     // reviewers read it
	ReviewFeedback ReviewState = "feedback" // a worker has to answer reviewers
	ReviewClosed   ReviewState = "closed"   // it was closed without a merge; a person decides
	ReviewLanded   ReviewState = "landed"   // its change is on the default branch
	ReviewReverted ReviewState = "reverted" // and was taken back there
)

// Review is a request for review.
type Review struct {
	Date   string // YYYY-MM-DD
	Forge  string
	Number int
	URL    string
	Branch string
	Upon   string // the branch of the request that it is stacked upon; "" for the default branch
	Base   string // commit of that branch that Head contains
	Head   string // commit that was sent
	Sent   string // when, RFC 3339
	State  ReviewState
	Rounds int      // how many batches of feedback were given to workers
	Fed    string   // the head whose feedback was given
	Seen   []string // keys of the remarks that were given
	Open   []string // keys of the threads that the next head answers
	Landed []string // commits that brought the change to the default branch
}

// Waits reports whether an issue waits for reviewers rather than a worker.
func (r Review) Waits() bool { return r.State == ReviewDraft || r.State == ReviewOpen }

// IsRequested reports whether the request is open on the forge, as far as stig knows.
func (r Review) IsRequested() bool { return r.Waits() || r.State == ReviewFeedback }

// Words describes the request in a list.
func (r Review) Words() string {
	text := fmt.Sprintf("in review: %s #%d", r.Forge, r.Number)
	if r.State == ReviewDraft {
		text += ", a draft"
	}
	return text
}

// InReview describes the request that an issue waits for; "" for none.
func InReview(d *notes.Doc) string {
	if r, ok := LastReview(d); ok && r.Waits() {
		return r.Words()
	}
	return ""
}

// SentAt returns when the head was sent; the zero time if unknown.
func (r Review) SentAt() time.Time {
	t, _ := time.Parse(time.RFC3339, r.Sent)
	return t
}

// fields are the lines of a section, in order.
func (r *Review) fields() []reviewField {
	return []reviewField{
		{"forge", &r.Forge, nil, nil}, {"request", nil, &r.Number, nil}, {"url", &r.URL, nil, nil}, {"branch", &r.Branch, nil, nil}, {"upon", &r.Upon, nil, nil},
		{"base", &r.Base, nil, nil}, {"head", &r.Head, nil, nil}, {"sent", &r.Sent, nil, nil}, {"state", (*string)(&r.State), nil, nil}, {"rounds", nil, &r.Rounds, nil},
		{"fed", &r.Fed, nil, nil}, {"given", nil, nil, &r.Seen}, {"threads", nil, nil, &r.Open}, {"landed", nil, nil, &r.Landed},
	}
}

// reviewField is a line of a section: a text, a number or a list.
type reviewField struct {
	key  string
	text *string
	n    *int
	list *[]string
}

func (f reviewField) value() string {
	switch {
	case f.text != nil:
		return visible.OneLine(*f.text)
	case f.n != nil && *f.n != 0:
		return strconv.Itoa(*f.n)
	case f.list != nil:
		return strings.Join(*f.list, ", ")
	}
	return ""
}

func (f reviewField) read(value string) {
	switch {
	case f.text != nil:
		*f.text = value
	case f.n != nil:
		*f.n, _ = strconv.Atoi(value) // 0 if a person broke it
	case f.list != nil:
		*f.list = strings.Split(value, ", ")
	}
}

// LastReview reads the request of an issue.
func LastReview(d *notes.Doc) (r Review, ok bool) {
	live, there := d.Live(ReviewSection)
	if !there {
		return r, false
	}
	heading, text, _ := cutHeading(strings.TrimSpace(d.Body(live)))
	r.Date = dateIn(heading)
	fields := r.fields()
	for line := range strings.Lines(text) {
		key, value, found := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "- "), ": ")
		if at := slices.IndexFunc(fields, func(f reviewField) bool { return f.key == key }); found && at >= 0 {
			fields[at].read(value)
		}
	}
	return r, r.State != ""
}

// SetReview replaces the request of an issue.
func SetReview(d *notes.Doc, r Review) (*notes.Doc, error) {
	text := "## Review (" + cmp.Or(r.Date, undated) + ")\n\n"
	for _, f := range r.fields() {
		if value := f.value(); value != "" {
			text += "- " + f.key + ": " + value + "\n"
		}
	}
	return d.Replace(ReviewSection, strings.TrimSpace(text))
}

func reviewDate(d *notes.Doc) string {
	r, _ := LastReview(d)
	return r.Date
}
