package setup

import (
	"context"
	"fmt"
	"path/filepath"

	"stig/app"
)

// SetupOptions are the flags of the targets; not every one has user and force.
type SetupOptions struct{ Check, Remove, Print, DryRun, User, Force bool }

// Connection is something that stig can be connected to.
type Connection interface {
	// missing says what is not there that install would write.
	Missing(ctx context.Context) ([]string, error)
	// install and remove work out what is to be done, and do nothing of it.
	Install(ctx context.Context) ([]app.SetupStep, error)
	Remove(ctx context.Context) ([]app.SetupStep, error)
	// preview is what install would write where nothing is.
	Preview() string
}

// Contradict refuses flags that ask for two things.
func (o SetupOptions) Contradict() error {
	flags := []struct {
		given bool
		name  string
	}{{o.Check, "--check"}, {o.Print, "--print"}, {o.Remove, "--remove"}, {o.Force, "--force"}, {o.DryRun, "--dry-run"}}
	for i, one := range flags[:2] { // the others go together
		for _, other := range flags[i+1:] {
			if one.given && other.given {
				return app.Usage(one.name+" and "+other.name+" ask for two things", "give one of them")
			}
		}
	}
	return nil
}

func SetupReport(name string, o SetupOptions, changed, missing []string) string {
	text, list := "", changed
	switch {
	case o.Check && len(missing) == 0:
		text = name + ": all is there\n"
	case o.Check:
		text, list = name+": missing\n", missing
	case len(changed) == 0:
		text = name + ": nothing to do\n"
	case o.Remove:
		text = name + ": removed\n"
	default:
		text = name + ": written\n"
	}
	for _, line := range list {
		text += "  " + line + "\n"
	}
	return text
}

// homeDir is the home of the user, as --user needs it.
func homeDir(a *app.App) (string, error) {
	home := a.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", app.Usage(fmt.Sprintf("HOME: must be an absolute path; found %q", home), "set it, or leave out --user")
	}
	return home, nil
}

// place is the directory that files for assistants are put below: the root of
// the project, or the home of the user.
func place(a *app.App, o SetupOptions) (string, error) {
	if o.User {
		return homeDir(a)
	}
	dir, err := filepath.Abs(a.Dir) // of "" the working directory
	if err != nil {
		return "", err
	}
	if !app.Exists(dir) {
		return "", app.Usage(app.Shortest(dir)+": no such directory", "")
	}
	for root := dir; ; root = filepath.Dir(root) {
		if app.Exists(filepath.Join(root, ".git")) {
			return root, nil
		}
		if root == filepath.Dir(root) {
			return dir, nil
		}
	}
}
