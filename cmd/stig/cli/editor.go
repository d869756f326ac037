package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"

	"stig/internal/process"
	"stig/internal/workspace"
)

// cutHere separates the edited text from the context shown below it.
const cutHere = "<!-- ------ everything below this line is ignored ------ -->"

// Draft is text written in the editor. Its file is kept until the text is in the store, so that
// nothing has to be written twice.
type Draft struct{ path, Text string }

// discard removes the file.
func (d Draft) discard() error { return os.Remove(d.path) }

// Compose opens the editor on an initial text, with seen shown below it. It returns an error if
// the text is empty or unchanged.
func (a *App) Compose(ctx context.Context, begin, seen string) (Draft, error) {
	file, err := os.CreateTemp("", "stig-*.md")
	if err != nil {
		return Draft{}, err
	}
	d := Draft{path: file.Name()}
	_, err = file.WriteString(begin + "\n\n" + cutHere + "\n" + workspace.Visible(seen))
	if err = cmp.Or(err, file.Close()); err == nil {
		err = a.edit(ctx, d.path)
	}
	if err != nil {
		return Draft{}, cmp.Or(d.discard(), err)
	}
	written, err := os.ReadFile(d.path)
	if err != nil {
		return d, err
	}
	above, _, _ := strings.Cut(string(written), cutHere)
	d.Text = strings.TrimSpace(above)
	if d.Text == "" || d.Text == strings.TrimSpace(begin) {
		return Draft{}, cmp.Or(d.discard(), workspace.Usage("nothing written: the text is empty or unchanged", ""))
	}
	return d, nil
}

// edit runs the editor on a file.
func (a *App) edit(ctx context.Context, path string) error {
	editor := cmp.Or(a.Getenv("VISUAL"), a.Getenv("EDITOR"), "vi")
	argv := []string{"sh", "-c", editor + ` "$@"`, editor, path} // as git does: the editor may have arguments
	if runtime.GOOS == "windows" {
		argv = append(strings.Fields(editor), path)
	}
	in, _ := a.In.(*os.File)
	out, _ := a.Out.(*os.File)
	errs, _ := a.Err.(*os.File)
	exit, err := process.Foreground(ctx, process.Command{Argv: argv}, process.Terminal{In: in, Out: out, Err: errs})
	if err != nil {
		return err
	}
	if exit != 0 {
		return workspace.Usage(fmt.Sprintf("editor %q exited with code %d; nothing written", editor, exit),
			"set EDITOR, or pass the text with -m, --file, or - for standard input")
	}
	return nil
}

// Keep discards the draft if err is nil. Otherwise it keeps the draft and prints where it is.
func (a *App) Keep(d Draft, err error) error {
	if d.path == "" {
		return err
	}
	if err == nil {
		return d.discard()
	}
	a.Note("your text is kept in %s", d.path)
	return err
}
