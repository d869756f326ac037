package doctor

import (
	"context"
	"fmt"
	"path/filepath"

	"stig/internal/assistant"
	"stig/internal/process"
	"stig/internal/workspace"
)

// SetupOptions are the flags of a setup; not every connection supports User and Force.
type SetupOptions struct{ Check, Remove, Print, DryRun, User, Force bool }

// SetupResult is the result of a setup.
type SetupResult struct {
	Changed []string // what was written or removed, or would be
	Lines   []string // the same, one line for each file, with its use
	Diff    string   // the same as a dry run shows it
	Missing []string // what is missing now
	Text    string   // with Print, what Install would write from scratch; the other fields are then empty
	// Obstacles keep installed hooks from running.
	Obstacles []assistant.Obstacle
	Orders    []FoundOrder // lines that make an assistant type commands for which stig has another way
	Next      string       // what to do next
}

// warnOffPath warns what happens until stig is on PATH, if it is not.
func warnOffPath(a *workspace.Run, o SetupOptions, then string) {
	if !o.Remove && !o.Print && !process.Finder("", a.Getenv)("stig") {
		a.Warn("stig is not on PATH; until it is, %s", then)
	}
}

// connection is something that stig can be connected to.
type connection interface {
	// Missing returns what Install would add.
	Missing(ctx context.Context) ([]string, error)
	// Install and Remove return the steps to take; they take none.
	Install(ctx context.Context) ([]workspace.SetupStep, error)
	Remove(ctx context.Context) ([]workspace.SetupStep, error)
	// Preview returns what Install would write from scratch.
	Preview() string
}

// connect applies the options to a connection.
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

// contradict returns an error if two flags contradict each other.
func (o SetupOptions) contradict() error {
	flags := []struct {
		given bool
		name  string
	}{{o.Check, "--check"}, {o.Print, "--print"}, {o.Remove, "--remove"}, {o.Force, "--force"}, {o.DryRun, "--dry-run"}}
	for i, one := range flags[:2] { // the other flags can be combined
		for _, other := range flags[i+1:] {
			if one.given && other.given {
				return workspace.Usage(one.name+" and "+other.name+" cannot be used together", "give one of them")
			}
		}
	}
	return nil
}

// homeDir returns the home directory of the user, for --user.
func homeDir(a *workspace.Run) (string, error) {
	home := a.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", workspace.Usage(fmt.Sprintf("HOME: must be an absolute path; found %q", home), "set it, or leave out --user")
	}
	return home, nil
}

// place returns the directory below which files for assistants are put: the root of the
// project, or the home of the user.
func place(a *workspace.Run, o SetupOptions) (string, error) {
	if o.User {
		return homeDir(a)
	}
	dir, err := filepath.Abs(a.Dir) // "" is the working directory
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
