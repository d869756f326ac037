package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
)

// text is how every command gets a longer text: -m TEXT, --file FILE, - for
// standard input, or, on a terminal and given none of them, the editor.
type text struct{ message, file string }

// takesText binds the flags of a command that takes a text. what names it.
func takesText(cmd *cobra.Command, t *text, what string) {
	cmd.Flags().StringVarP(&t.message, "message", "m", "", what+" as one `TEXT`")
	cmd.Flags().StringVar(&t.file, "file", "", "read it from `FILE` (- for standard input)")
}

// dash takes the argument - for --file -, and gives the other arguments.
func (t *text) dash(args []string) []string {
	at := slices.Index(args, "-")
	if at < 0 || t.file != "" {
		return args
	}
	t.file = "-"
	return slices.Delete(slices.Clone(args), at, at+1)
}

// given reports whether the command line says where the text is.
func (t text) given() bool { return t.message != "" || t.file != "" }

// read gives the text that the command line names; "" where it names none.
func (a *app) read(t text) (string, error) {
	switch {
	case t.message != "" && t.file != "":
		return "", usage("-m and --file exclude each other", "leave one of them out")
	case t.file == "-":
		read, err := io.ReadAll(a.in)
		return string(read), err
	case t.file != "":
		read, err := os.ReadFile(filepath.Join(a.dir, t.file))
		if err != nil {
			return "", usage("--file: "+placed(err).Error(), "")
		}
		return string(read), nil
	}
	return t.message, nil
}

// asks reports whether there is a person to ask: one who sits at a terminal and
// reads what is printed there.
func (a *app) asks() bool {
	return !a.json && !a.noInput && isTerminal(a.in) && isTerminal(a.out)
}

// textOrDraft is read, or where the command line names no text and a person
// sits at a terminal, what they write in the editor. The draft is to be kept
// until its text is written.
func (a *app) textOrDraft(ctx context.Context, t text, begin, seen string) (string, draft, error) {
	if t.given() || !a.asks() {
		text, err := a.read(t)
		return text, draft{}, err
	}
	d, err := a.compose(ctx, begin, seen)
	return d.text, d, err
}
