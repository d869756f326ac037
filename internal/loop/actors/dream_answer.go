package actors

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

const (
	// learnedLimit is the maximum number of characters in ## Learned, which an actor reads
	// before each task.
	learnedLimit = 4000
	// mostDreams is how many dream lines ## Evolution keeps. Older ones are in git.
	mostDreams = 50
	// lineLimit is the maximum number of characters of a reason, and of a replaced text, in
	// such a line.
	lineLimit = 160

	reasonTitle   = "Reason"
	proposalTitle = "Proposal"
)

// dreamed is the parsed answer of a program.
type dreamed struct {
	learned, reason, proposal string
}

// readAnswer parses a program's answer for the file of an actor: a text for ## Learned, with or
// without that heading; ## Reason, or a last line "Reason: …"; and ## Proposal. An answer with
// another heading of the file must contain the whole body. The error (fault.Found) says why an
// answer is rejected.
func readAnswer(p *clone.Profile, text string) (d dreamed, err error) {
	text = strings.TrimSpace(text)
	parts := topParts(text)
	body := titles(topParts(p.Body()))
	if err := headings(p, parts, body); err != nil {
		return d, err
	}
	switch i := slices.IndexFunc(parts, func(part notes.Part) bool { return part.Level == 2 && part.Heading == clone.Learned }); {
	case i >= 0:
		d.learned = parts[i].Body
	case len(parts) > 0:
		d.learned = text[:parts[0].Start]
	default:
		d.learned = text
	}
	d.learned, d.reason = cutReason(d.learned)
	for _, part := range parts {
		switch {
		case part.Heading == clone.Learned, part.Level == 1:
		case part.Heading == reasonTitle:
			d.reason = part.Body
		case part.Heading == proposalTitle:
			d.proposal = strings.TrimSpace(part.Body + "\n\n" + d.proposal)
		case part.Heading == clone.Values && isShorter(p.Section(clone.Values), part.Body):
			return d, refusedAnswer(p.Name, "it shortens ## Values")
		case part.Body != p.Section(part.Heading):
			d.proposal = strings.TrimSpace(d.proposal + "\n\n## " + part.Heading + "\n\n" + part.Body)
		}
	}
	d.reason = visible.Clipped(visible.OneLine(d.reason), lineLimit)
	switch n := utf8.RuneCountInString(d.learned); {
	case n == 0:
		return d, refusedAnswer(p.Name, "it has no text for ## Learned")
	case n > learnedLimit:
		return d, refusedAnswer(p.Name, fmt.Sprintf("it has %d characters for ## Learned; at most %d are allowed", n, learnedLimit))
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return d, refusedAnswer(p.Name, "it must be UTF-8 text without NUL bytes")
	case visible.HoldsSecret(text):
		return d, refusedAnswer(p.Name, "it contains what looks like a credential")
	}
	return d, nil
}

func refusedAnswer(name, why string) error {
	return &fault.Error{Code: fault.Found, ID: name, Reason: "the answer was rejected, and nothing was written: " + why,
		Hint: "type stig dream " + name + " --print to see what is asked"}
}

// headings returns an error if an answer adds headings to those of the file, repeats one, or,
// if it contains the whole body, omits one.
func headings(p *clone.Profile, parts []notes.Part, body []string) error {
	given := titles(parts)
	own := []string{clone.Learned, reasonTitle, proposalTitle}
	whole := false
	for i, title := range given {
		inBody := slices.Contains(body, title)
		switch {
		case slices.Contains(given[:i], title):
			return refusedAnswer(p.Name, "it has the heading "+title+" twice")
		case !inBody && !slices.Contains(own, strings.TrimPrefix(title, "## ")):
			return refusedAnswer(p.Name, "it adds the heading "+title)
		}
		whole = whole || inBody && title != "## "+clone.Learned
	}
	if !whole {
		return nil
	}
	for _, title := range append(slices.Clone(body), "## "+clone.Learned) {
		if !slices.Contains(given, title) {
			return refusedAnswer(p.Name, "it drops the heading "+title)
		}
	}
	return nil
}

// topParts returns the parts of a text that have a heading of level 1 or 2.
func topParts(text string) []notes.Part {
	return slices.DeleteFunc(notes.Parts(text), func(p notes.Part) bool { return p.Level > 2 })
}

func titles(parts []notes.Part) (list []string) {
	for _, p := range parts {
		list = append(list, strings.Repeat("#", p.Level)+" "+p.Heading)
	}
	return list
}

// isShorter reports whether a text lacks a line of the earlier text.
func isShorter(was, is string) bool {
	rest := visible.OneLine(is) // lines may be wrapped differently
	for line := range strings.Lines(was) {
		if !strings.Contains(rest, visible.OneLine(line)) {
			return true
		}
	}
	return false
}

// cutReason removes a last line "Reason: …" from a text and returns both.
func cutReason(text string) (rest, reason string) {
	text = strings.TrimSpace(text)
	start := strings.LastIndexByte(text, '\n') + 1
	if reason, ok := strings.CutPrefix(text[start:], reasonTitle+": "); ok {
		return strings.TrimSpace(text[:start]), reason
	}
	return text, ""
}

// learn returns the file of an actor with what it learned and a new line in ## Evolution; the
// same text if nothing changed. unless is the reason used if the answer has none.
func learn(p *clone.Profile, d dreamed, unless string, now time.Time) ([]byte, error) {
	was := p.Section(clone.Learned)
	text, err := p.With(clone.Learned, d.learned)
	if err == nil && string(text) == p.Text() {
		return text, nil
	}
	var changed *clone.Profile
	if err == nil {
		changed, err = clone.ParseProfile(p.Path, string(text))
	}
	if err != nil {
		return nil, refusedAnswer(p.Name, err.Error())
	}
	line := fmt.Sprintf("- %s: dream: %s", signals.Day(now), cmp.Or(d.reason, unless))
	if first := visible.FirstLine(was); first != "" {
		line += fmt.Sprintf("; before: %q", visible.Clipped(visible.OneLine(first), lineLimit))
	}
	if text, err = changed.With(clone.Evolution, withDream(p.Section(clone.Evolution), line)); err != nil {
		return nil, refusedAnswer(p.Name, err.Error())
	}
	return text, nil
}

// withDream adds a line to ## Evolution and removes the oldest dream lines beyond mostDreams.
func withDream(was, line string) string {
	var lines []string
	if was != "" {
		lines = strings.Split(was, "\n")
	}
	lines = append(lines, line)
	dreams := 0
	for i := len(lines) - 1; i >= 0; i-- {
		if isDream(lines[i]) {
			if dreams++; dreams > mostDreams {
				lines = slices.Delete(lines, i, i+1)
			}
		}
	}
	return strings.Join(lines, "\n")
}

// isDream reports whether a line of ## Evolution is about a dream.
func isDream(line string) bool {
	rest, ok := strings.CutPrefix(line, "- ")
	_, what, found := strings.Cut(rest, " ")
	return ok && found && strings.HasPrefix(what, "dream: ")
}
