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

// OneLine is the beginning of a text on one line, of so many characters at most.
func OneLine(text string, most int) string {
	words := visible.OneLine(text)
	if words == "" {
		return "nothing"
	}
	return visible.Clipped(words, most)
}

// Either is names as the help of a flag says them: "a, b or c".
func Either[Name ~string](names []Name) string {
	text, last := string(names[0]), len(names)-1
	for _, name := range names[1:last] {
		text += ", " + string(name)
	}
	return text + " or " + string(names[last])
}

// ListWidth is the widest line of a list, in characters.
const ListWidth = 100

// CutLine keeps a text on one line of so many characters, its columns as they are.
func CutLine(text string, most int) string {
	return visible.Clipped(strings.TrimRight(strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(text), " "), most)
}

// Text is how every command gets a longer text: -m TEXT, --file FILE, - for
// standard input, or, on a terminal and given none of them, the editor.
type Text struct{ Message, File string }

// Dash takes the argument - for --file -, and gives the other arguments.
func (t *Text) Dash(args []string) []string {
	at := slices.Index(args, "-")
	if at < 0 || t.File != "" {
		return args
	}
	t.File = "-"
	return slices.Delete(slices.Clone(args), at, at+1)
}

// Given reports whether the command line says where the text is.
func (t Text) Given() bool { return t.Message != "" || t.File != "" }

// TakesText binds the flags of a command that takes a text. what names it.
func TakesText(cmd *cobra.Command, t *Text, what string) {
	cmd.Flags().StringVarP(&t.Message, "message", "m", "", what+" as one `TEXT`")
	cmd.Flags().StringVar(&t.File, "file", "", "read it from `FILE` (- for standard input)")
}

// Read gives the text that the command line names; "" where it names none.
func (a *App) Read(t Text) (string, error) {
	switch {
	case t.Message != "" && t.File != "":
		return "", workspace.Usage("-m and --file exclude each other", "leave one of them out")
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

// mostText is how many bytes a text may have: one without end, such as that of a device, is
// refused while there is memory left.
const mostText = 64 << 20

func bounded(name string, from io.Reader) (string, error) {
	read, err := io.ReadAll(io.LimitReader(from, mostText+1))
	if err != nil {
		return "", workspace.Usage(workspace.Placed(err).Error(), "")
	}
	if len(read) > mostText {
		return "", workspace.Usage(name+": has more than 64 MiB", "give a shorter text")
	}
	return string(read), nil
}

// Asks reports whether there is a person to ask: one who sits at a terminal and
// reads what is printed there.
func (a *App) Asks() bool {
	return !a.JSON && !a.NoInput && IsTerminal(a.In) && IsTerminal(a.Out)
}

// TextOrDraft is read, or where the command line names no text and a person
// sits at a terminal, what they write in the editor. The draft is to be kept
// until its text is written.
func (a *App) TextOrDraft(ctx context.Context, t Text, seen string) (string, Draft, error) {
	if t.Given() || !a.Asks() {
		text, err := a.Read(t)
		return text, Draft{}, err
	}
	d, err := a.Compose(ctx, "", seen)
	return d.Text, d, err
}
