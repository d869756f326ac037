// Package trace reads and writes traces: comments of issues that contain a typed message and
// that any tool shows as text.
//
//	finding: The office publishes a month at a time
//
//	There is no feed.
//
//	url: https://example.org/tides
//	stig: finding/1
//
// The first line has the type and the summary. The last paragraph has the trailers, one a line;
// the last trailer repeats the type. Between them is any Markdown. A comment without that last
// trailer is a plain comment. The grammar differs from git's trailers, which allow no "_" in a
// key.
//
// The package knows types and their fields (kinds.go), and of issues only their comments. It
// opens no store and reads no clock.
//
//	t, err := trace.Draft{Type: "finding", Content: map[string]any{"summary": "no feed"}}.Trace()
//	text := t.Text()
package trace

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stig/internal/visible"
)

// Trace is the message in a comment.
type Trace struct {
	Type     string // as in the first and the last line
	Version  string // what follows the type in the last line
	Summary  string // one line
	Body     string // between the first line and the trailers, trimmed
	Trailers []Trailer
}

// Trailer is a line of the last paragraph, except the last.
type Trailer struct{ Key, Value string }

// IsOfSwarm reports whether a swarm left the trace: the record of a round, or a finding of an
// agent.
func (t Trace) IsOfSwarm() bool {
	return t.Type == SwarmRound || t.Type == Finding && slices.ContainsFunc(t.Trailers, func(t Trailer) bool { return t.Key == "swarm" })
}

// MaxBytes limits the text of a trace. Longer content belongs in a file.
const MaxBytes = 8 << 10

// mark is the key of the last line.
const mark = "stig"

// version is the format version that this package writes.
const version = "1"

var (
	trailerLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([a-z][a-z0-9_-]*): (.*)$`) })
	named       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^t-[a-z2-7]{10}$`) })
)

// ErrComment reports that a text is a plain comment.
var ErrComment = errors.New("a comment")

// normal normalizes a comment for names and comparisons: trimmed, with LF line endings.
func normal(text string) string {
	return strings.TrimSpace(visible.LF(text))
}

// Name names an author's comment. It does not depend on its number, which other programs
// change, nor on the issue, whose id a merge may change.
func Name(author, text string) string {
	sum := sha256.Sum256([]byte(author + "\x00" + normal(text)))
	return "t-" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:10])
}

// IsName reports whether a text has the form of a name.
func IsName(text string) bool { return named().MatchString(text) }

// Parse reads the text of a comment. The error is ErrComment if it does not end like a trace;
// another error says why one that does is not a trace.
func Parse(text string) (Trace, error) {
	text = normal(text)
	last := text[strings.LastIndexByte(text, '\n')+1:]
	value, ok := strings.CutPrefix(last, mark+": ")
	if !ok || last == text {
		return Trace{}, ErrComment
	}
	at := strings.LastIndexByte(value, '/')
	if at <= 0 || at == len(value)-1 {
		return Trace{}, ErrComment
	}
	t := Trace{Type: value[:at], Version: value[at+1:]}
	lines := strings.Split(text, "\n")
	head, summary, _ := strings.Cut(lines[0], ":")
	if head != t.Type {
		return Trace{}, fmt.Errorf("must begin with %q, as its last line says; found %.40q", t.Type+": ", lines[0])
	}
	t.Summary = strings.TrimSpace(summary)
	from := trailersFrom(lines[1 : len(lines)-1])
	t.Body = strings.Trim(strings.Join(lines[1:1+from], "\n"), "\n")
	t.Trailers = trailersOf(lines[1+from : len(lines)-1])
	return t, nil
}

// trailersFrom returns the index of the first trailer at the end of lines.
func trailersFrom(lines []string) int {
	from := len(lines)
	for i := len(lines) - 1; i >= 0; i-- {
		switch {
		case trailerLine().MatchString(lines[i]):
			from = i
		case !continues(lines[i]):
			return from
		}
	}
	return from
}

// continues reports whether a line continues the value of the previous one.
func continues(line string) bool {
	return strings.HasPrefix(line, " ") && strings.TrimSpace(line) != ""
}

func trailersOf(lines []string) (list []Trailer) {
	for _, line := range lines {
		if match := trailerLine().FindStringSubmatch(line); match != nil {
			list = append(list, Trailer{match[1], strings.TrimSpace(match[2])})
		} else {
			list[len(list)-1].Value += " " + strings.TrimSpace(line)
		}
	}
	return list
}

// Text formats the trace as a comment; Parse reverses it.
func (t Trace) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", t.Type, t.Summary)
	if t.Body != "" {
		b.WriteString(t.Body + "\n\n")
	}
	for _, trailer := range t.Trailers {
		fmt.Fprintf(&b, "%s: %s\n", trailer.Key, trailer.Value)
	}
	fmt.Fprintf(&b, "%s: %s/%s", mark, t.Type, t.Version)
	return b.String()
}

// Values lists the trailer values of a key, in order.
func (t Trace) Values(key string) (values []string) {
	for _, trailer := range t.Trailers {
		if trailer.Key == key {
			values = append(values, trailer.Value)
		}
	}
	return values
}
