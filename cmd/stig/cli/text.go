package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"stig/app"
)

// OneLine is the beginning of a text on one line, of so many characters at most.
func OneLine(text string, most int) string {
	words := strings.Join(strings.Fields(text), " ")
	if words == "" {
		return "nothing"
	}
	if utf8.RuneCountInString(words) <= most {
		return words
	}
	return string([]rune(words)[:most-1]) + "…"
}

// ListWidth is the widest line of a list, in characters.
const ListWidth = 100

// CutLine keeps a text on one line of so many characters, its columns as they are.
func CutLine(text string, most int) string {
	line := strings.TrimRight(strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(text), " ")
	if utf8.RuneCountInString(line) <= most {
		return line
	}
	return string([]rune(line)[:most-1]) + "…"
}

// TakesText binds the flags of a command that takes a text. what names it.
func TakesText(cmd *cobra.Command, t *app.Text, what string) {
	cmd.Flags().StringVarP(&t.Message, "message", "m", "", what+" as one `TEXT`")
	cmd.Flags().StringVar(&t.File, "file", "", "read it from `FILE` (- for standard input)")
}

// Read gives the text that the command line names; "" where it names none.
func (a *App) Read(t app.Text) (string, error) {
	switch {
	case t.Message != "" && t.File != "":
		return "", app.Usage("-m and --file exclude each other", "leave one of them out")
	case t.File == "-":
		read, err := io.ReadAll(a.In)
		return string(read), err
	case t.File != "":
		read, err := os.ReadFile(filepath.Join(a.Dir, t.File))
		if err != nil {
			return "", app.Usage("--file: "+app.Placed(err).Error(), "")
		}
		return string(read), nil
	}
	return t.Message, nil
}

// Asks reports whether there is a person to ask: one who sits at a terminal and
// reads what is printed there.
func (a *App) Asks() bool {
	return !a.JSON && !a.NoInput && IsTerminal(a.In) && IsTerminal(a.Out)
}

// TextOrDraft is read, or where the command line names no text and a person
// sits at a terminal, what they write in the editor. The draft is to be kept
// until its text is written.
func (a *App) TextOrDraft(ctx context.Context, t app.Text, begin, seen string) (string, Draft, error) {
	if t.Given() || !a.Asks() {
		text, err := a.Read(t)
		return text, Draft{}, err
	}
	d, err := a.Compose(ctx, begin, seen)
	return d.Text, d, err
}

// TimeOf reads a point in time: a day, a time with its offset, or an age such
// as 24h, 7d, 2w, 1d12h. "" is the beginning of time.
func TimeOf(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	age, err := SpanOf(text)
	if err != nil {
		return time.Time{}, app.Usage(fmt.Sprintf("must be a day, a time or an age; found %q", text), "type for example 2026-11-20, 2026-11-20T09:00:00Z, 24h or 7d")
	}
	return now.Add(-age), nil
}

// SpanOf reads a span of time as time.ParseDuration does, with days (d) and
// weeks (w) before the rest.
func SpanOf(text string) (time.Duration, error) {
	total, rest := time.Duration(0), text
	for _, unit := range []struct {
		name   string
		length time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		number, after, ok := strings.Cut(rest, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("must be a span such as 90m, 24h, 7d or 2w; found %q", text)
		}
		total, rest = total+time.Duration(n*float64(unit.length)), after
	}
	if rest == "" && rest != text {
		return total, nil
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 {
		return 0, fmt.Errorf("must be a span such as 90m, 24h, 7d or 2w; found %q", text)
	}
	return total + more, nil
}
