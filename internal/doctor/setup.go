package doctor

import (
	"context"
	"fmt"
	"path/filepath"

	"stig/internal/assistant"
	"stig/internal/process"
	"stig/internal/workspace"
)

// SetupOptions say what to do to a connection; not every one has User and Force.
type SetupOptions struct{ Check, Remove, Print, DryRun, User, Force bool }

// SetupResult is the result of a setup.
type SetupResult struct {
	Changed []string // what was written or removed, or would be
	Lines   []string // the same, a line for each file, with its use
	Diff    string   // the same as a dry run shows it
	Missing []string // what is not there now
	Text    string   // with Print what would be written where nothing is, and nothing else
	// Obstacles keep hooks that are installed from running.
	Obstacles []assistant.Obstacle
	Orders    []FoundOrder // lines that have an assistant type what stig does otherwise
	Next      string       // what to do then
}

// warnOffPath warns of what happens if other programs do not find stig on PATH.
func warnOffPath(a *workspace.Run, o SetupOptions, then string) {
	if !o.Remove && !o.Print && !process.Finder("", a.Getenv)("stig") {
		a.Warn("stig is not in PATH; where it is not, %s", then)
	}
}

// connection is something that stig can be connected to.
type connection interface {
	// Missing says what is not there that Install would write.
	Missing(ctx context.Context) ([]string, error)
	// Install and Remove give the steps to take, and take none.
	Install(ctx context.Context) ([]workspace.SetupStep, error)
	Remove(ctx context.Context) ([]workspace.SetupStep, error)
	// Preview is what Install would write where nothing is.
	Preview() string
}

// connect does what the options say to a connection.
func connect(ctx context.Context, c connection, o SetupOptions) (*SetupResult, error) {
	if err := o.contradict(); err != nil {
		return nil, err
	}
	var steps []workspace.SetupStep
	var err error
	switch {
	case o.Print:
		return &SetupResult{Text: c.Preview()}, nil
	case o.Remove:
		steps, err = c.Remove(ctx)
	case !o.Check:
		steps, err = c.Install(ctx)
	}
	if err != nil {
		return nil, err
	}
	r := &SetupResult{}
	for _, s := range steps {
		r.Changed, r.Diff = append(r.Changed, s.What...), r.Diff+s.Diff
		if s.Use != "" {
			r.Lines = append(r.Lines, s.Use)
		} else {
			r.Lines = append(r.Lines, s.What...)
		}
		if o.DryRun {
			continue
		}
		if err := s.Do(); err != nil {
			return nil, err
		}
	}
	r.Missing, err = c.Missing(ctx)
	return r, err
}

// contradict refuses flags that contradict each other.
func (o SetupOptions) contradict() error {
	flags := []struct {
		given bool
		name  string
	}{{o.Check, "--check"}, {o.Print, "--print"}, {o.Remove, "--remove"}, {o.Force, "--force"}, {o.DryRun, "--dry-run"}}
	for i, one := range flags[:2] { // the others go together
		for _, other := range flags[i+1:] {
			if one.given && other.given {
				return workspace.Usage(one.name+" and "+other.name+" ask for two things", "give one of them")
			}
		}
	}
	return nil
}

// homeDir is the home of the user, as --user needs it.
func homeDir(a *workspace.Run) (string, error) {
	home := a.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", workspace.Usage(fmt.Sprintf("HOME: must be an absolute path; found %q", home), "set it, or leave out --user")
	}
	return home, nil
}

// place is the directory that files for assistants are put below: the root of
// the project, or the home of the user.
func place(a *workspace.Run, o SetupOptions) (string, error) {
	if o.User {
		return homeDir(a)
	}
	dir, err := filepath.Abs(a.Dir) // of "" the working directory
	if err != nil {
		return "", err
	}
	if !workspace.Exists(dir) {
		return "", workspace.Usage(workspace.Shortest(dir)+": no such directory", "")
	}
	for root := dir; ; root = filepath.Dir(root) {
		if workspace.Exists(filepath.Join(root, ".git")) {
			return root, nil
		}
		if root == filepath.Dir(root) {
			return dir, nil
		}
	}
}
