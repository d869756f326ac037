package cli

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/internal/file"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// OneLine returns the start of a text on one line, at most most characters.
func OneLine(text string, most int) string {
	words := visible.OneLine(text)
	if words == "" {
		return "nothing"
	}
	return visible.Clipped(words, most)
}

// Either joins names as in a flag's help: "a, b or c".
func Either[Name ~string](names []Name) string {
	text, last := string(names[0]), len(names)-1
	for _, name := range names[1:last] {
		text += ", " + string(name)
	}
	return text + " or " + string(names[last])
}

// ListWidth is the maximum width of a line in a list, in characters.
const ListWidth = 100

// CutLine truncates a text to one line of at most most characters and keeps its columns.
func CutLine(text string, most int) string {
	return visible.Clipped(strings.TrimRight(strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(text), " "), most)
}

// Text is the input of every command that takes a longer text: -m TEXT, --file FILE, - for
// standard input, or, on a terminal without any of these, the editor.
type Text struct{ Message, File string }

// Dash treats the argument - as --file -, and returns the other arguments.
func (t *Text) Dash(args []string) []string {
	at := slices.Index(args, "-")
	if at < 0 || t.File != "" {
		return args
	}
	t.File = "-"
	return slices.Delete(slices.Clone(args), at, at+1)
}

// Given reports whether the command line names the text.
func (t Text) Given() bool { return t.Message != "" || t.File != "" }

// TakesText binds the text flags of a command. what names the text in the help.
func TakesText(cmd *cobra.Command, t *Text, what string) {
	cmd.Flags().StringVarP(&t.Message, "message", "m", "", what+" as one `TEXT`")
	cmd.Flags().StringVar(&t.File, "file", "", "read it from `FILE` (- for standard input)")
}

// Read returns the text that the command line names; "" if it names none.
func (a *App) Read(t Text) (string, error) {
	switch {
	case t.Message != "" && t.File != "":
		return "", workspace.Usage("-m and --file cannot be used together", "omit one of them")
	case t.File == "-":
		return bounded("standard input", a.In)
	case t.File != "":
		from, err := os.Open(file.Under(a.Dir, t.File))
		if err != nil {
			return "", workspace.Usage(workspace.Placed(err).Error(), "")
		}
		defer from.Close()
		return bounded(t.File, from)
	}
	return t.Message, nil
}

// mostText is the maximum size of a text in bytes, so that an endless one, such as a device,
// does not exhaust memory.
const mostText = 64 << 20

func bounded(name string, from io.Reader) (string, error) {
	read, err := io.ReadAll(io.LimitReader(from, mostText+1))
	if err != nil {
		return "", workspace.Usage(workspace.Placed(err).Error(), "")
	}
	if len(read) > mostText {
		return "", workspace.Usage(name+": is larger than 64 MiB", "give a shorter text")
	}
	return string(read), nil
}

// Asks reports whether stig can prompt: input and output are a terminal, without --json and
// --no-input.
func (a *App) Asks() bool {
	return !a.JSON && !a.NoInput && IsTerminal(a.In) && IsTerminal(a.Out)
}

// TextOrDraft is Read, or, if the command line names no text and stig can prompt, the text from
// the editor. The caller must keep the draft until its text is in the store; see Keep.
func (a *App) TextOrDraft(ctx context.Context, t Text, seen string) (string, Draft, error) {
	if t.Given() || !a.Asks() {
		text, err := a.Read(t)
		return text, Draft{}, err
	}
	d, err := a.Compose(ctx, "", seen)
	return d.Text, d, err
}
