package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf16"

	"stig/beads"
)

// What stig says is lower case, begins with the place and has no full stop; a
// hint says what to type. Data goes to the output stream, all else to the
// error stream. A message is one line, which grep finds; it is not wrapped, and
// short data leaves it within 100 columns.

// level is what a message is beside a result.
type level int

const (
	warning level = iota
	aside         // what happened; left out with --quiet
	advice        // what to type; left out with --quiet
)

func (a *core) warn(format string, args ...any) { a.say(warning, fmt.Sprintf(format, args...)) }
func (a *core) note(format string, args ...any) { a.say(aside, fmt.Sprintf(format, args...)) }

// hint says what to type, and nothing for "".
func (a *core) hint(text string) {
	if text != "" {
		a.say(advice, text)
	}
}

// complaint prints a message on the error stream.
func (a *app) complaint(l level, text string) {
	switch {
	case l == warning:
		fmt.Fprintf(a.err, "warning: %s\n", visible(text))
	case a.quiet:
	case l == advice:
		fmt.Fprintf(a.err, "hint: %s\n", visible(text))
	default:
		fmt.Fprintln(a.err, visible(text))
	}
}

// complain prints an error and its hint.
func (a *app) complain(message, hint string) {
	fmt.Fprintf(a.err, "stig: %s\n", visible(message))
	a.hint(hint)
}

// print writes a result for a reader. Control characters of somebody's text
// must not reach a terminal, where they would act.
func (a *app) print(text string) error {
	_, err := io.WriteString(a.out, visible(text))
	return err
}

// data writes what another program is to read byte for byte.
func (a *app) data(text string) error {
	if a.toTerminal() {
		return a.print(text)
	}
	_, err := io.WriteString(a.out, text)
	return err
}

// toTerminal reports whether the output goes to a terminal.
func (a *app) toTerminal() bool {
	file, ok := a.out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (a *app) printf(format string, args ...any) error { return a.print(fmt.Sprintf(format, args...)) }

// printJSON writes one object: schema_version and kind first, then the keys of body.
func (a *app) printJSON(kind string, body any) error { return writeJSON(a.out, kind, body) }

// writeJSON is printJSON to any stream.
func writeJSON(w io.Writer, kind string, body any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return err
	}
	inner := strings.TrimPrefix(strings.TrimSpace(text.String()), "{")
	head := fmt.Sprintf(`{"schema_version":1,"kind":%q`, kind)
	if inner != "}" {
		head += ","
	}
	_, err := io.WriteString(w, head+inert(inner)+"\n")
	return err
}

// visible shows what acts on a terminal, or hides or moves the text around it,
// as escapes: who reads a command before they trust it must see what would run.
func visible(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if !strings.ContainsFunc(text, acts) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !acts(r):
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, "\\x%02x", r)
		default:
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}

// acts tells of control characters other than line ends and tabs, of those
// that change the direction of writing, of line ends that only some programs
// take for such, and of tags, which nobody sees and programs read.
func acts(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\n' && r != '\t'
	case r < 0x7f:
		return false
	}
	return r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0xe0000 && r <= 0xe007f || unicode.Is(unicode.Bidi_Control, r)
}

// inert is JSON that says the same without characters that act.
func inert(text string) string {
	if !strings.ContainsFunc(text, acts) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch high, low := utf16.EncodeRune(r); {
		case !acts(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// warnOfStore names the places that cannot be read: reading goes on without them.
func (a *core) warnOfStore(f *beads.File) {
	if f.Store().Mode == beads.Dolt {
		a.warn("%s: an export of a Dolt database, where the issues may have changed since", f.Store().Path)
	}
	problems := f.Problems()
	const shown = 3
	for i, p := range problems {
		if i == shown {
			a.warn("%s: %d more places; type stig vet to see them all", f.Store().Path, len(problems)-shown)
			break
		}
		a.warn("%s:%d: %s", f.Store().Path, p.Line, p.Message)
	}
}
