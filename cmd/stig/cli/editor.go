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

// cutHere parts what is written in the editor from what is shown there.
const cutHere = "<!-- ------ what stands below this line is left out ------ -->"

// Draft is what somebody wrote in the editor. It is kept in its file until it
// is written to the store: nobody has to write it twice.
type Draft struct{ path, Text string }

// discard removes the file once its text is safe.
func (d Draft) discard() error { return os.Remove(d.path) }

// Compose opens the editor on a text to begin with, above what is to be seen
// while writing. A text that is left empty, or as it was, is refused.
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
		return Draft{}, cmp.Or(d.discard(), workspace.Usage("nothing was written: the text is empty or as it was", ""))
	}
	return d, nil
}

// edit runs the editor on a file.
func (a *App) edit(ctx context.Context, path string) error {
	editor := cmp.Or(a.Getenv("VISUAL"), a.Getenv("EDITOR"), "vi")
	argv := []string{"sh", "-c", editor + ` "$@"`, editor, path} // as git does: it may have arguments
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
		return workspace.Usage(fmt.Sprintf("the editor %q ended with exit code %d, and nothing was written", editor, exit),
			"set EDITOR, or give the text with -m, --file, or - for standard input")
	}
	return nil
}

// Keep tells where a text is that did not get into the store.
func (a *App) Keep(d Draft, err error) error {
	if d.path == "" {
		return err
	}
	if err == nil {
		return d.discard()
	}
	a.Note("what you wrote is kept in %s", d.path)
	return err
}
