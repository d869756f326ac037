// Package trace reads and writes traces: comments of issues that hold a known
// type of message, which any tool shows as text.
//
//	finding: The office publishes a month at a time
//
//	There is no feed.
//
//	url: https://example.org/tides
//	stig: finding/1
//
// The first line has the type and the summary. The last paragraph has the
// trailers, one a line; the last of them names the type again. Between them is any
// Markdown. A comment without that last line is a comment. The grammar is not that
// of git's trailers, which takes no "_" in a key.
//
// The package knows types and their fields (kinds.go), and no issue but for the
// comments of its record. It opens no store and reads no clock.
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
	"strings"
	"sync"

	"stig/internal/visible"
)

// Trace is the message of a comment.
type Trace struct {
	Type     string // as in the first line and the last
	Version  string // what follows the type in the last line
	Summary  string // one line
	Body     string // between the first line and the trailers, trimmed
	Trailers []Trailer
}

// Trailer is a line of the last paragraph, without the last.
type Trailer struct{ Key, Value string }

// MaxBytes is the longest text of a trace. What is longer belongs in a file.
const MaxBytes = 8 << 10

// mark is the key of the last line.
const mark = "stig"

// version is that of the traces that this package writes.
const version = "1"

var (
	trailerLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([a-z][a-z0-9_-]*): (.*)$`) })
	named       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^t-[a-z2-7]{10}$`) })
)

// ErrComment says that a text is a comment and no trace.
var ErrComment = errors.New("a comment")

// normal is the text of a comment as its name and its comparison see it: with LF
// line ends, and trimmed.
func normal(text string) string {
	return strings.TrimSpace(visible.LF(text))
}

// Name names the comment of an author. It depends neither on its number, which
// other programs give anew, nor on the issue, whose id a merge may change.
func Name(author, text string) string {
	sum := sha256.Sum256([]byte(author + "\x00" + normal(text)))
	return "t-" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:10])
}

// IsName reports whether a text has the form of a name.
func IsName(text string) bool { return named().MatchString(text) }

// Parse reads the text of a comment. The error is ErrComment for one that does not
// end as a trace does; another error says why one that does is no trace.
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

// trailersFrom gives the index of the first of the trailers at the end of lines.
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

// continues reports whether a line goes on with the value of the one before.
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

// Text is the trace as the text of a comment. Parse gives the trace again.
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

// Values lists what the trailers of a key say, in their order.
func (t Trace) Values(key string) (values []string) {
	for _, trailer := range t.Trailers {
		if trailer.Key == key {
			values = append(values, trailer.Value)
		}
	}
	return values
}
