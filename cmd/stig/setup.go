package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"stig/host"
)

// setupCommand has a subcommand for each thing that stig can be connected to.
func (a *app) setupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "setup TARGET",
		Short: "connect stig to git and to the programs of assistants",
		Long: "setup puts stig's own entries into files that others read, and keeps every other\n" +
			"byte of them. --remove takes the entries out again and leaves the files as they were.\n" +
			"It stages nothing, and never touches another program's hooks.",
		GroupID: "connect",
		Args:    a.unknownCommand,
		RunE:    a.helpAlone,
	}
	for _, settings := range host.AllSettings() {
		cmd.AddCommand(a.setupHost(settings))
	}
	cmd.AddCommand(a.setupGit(), a.setupInstructions())
	return cmd
}

// setupOptions are the flags of the targets; not every one has user and force.
type setupOptions struct{ check, remove, print, dryRun, user, force bool }

// connection is something that stig can be connected to.
type connection interface {
	// missing says what is not there that install would write.
	missing(ctx context.Context) ([]string, error)
	// install and remove work out what is to be done, and do nothing of it.
	install(ctx context.Context) ([]setupStep, error)
	remove(ctx context.Context) ([]setupStep, error)
	// preview is what install would write where nothing is.
	preview() string
}

// setupStep is one thing that setup does.
type setupStep struct {
	what []string // what it changes, as it is reported
	diff string   // the same as a dry run shows it
	do   func() error
}

// setupFlags binds the flags that all targets have.
func (a *app) setupFlags(cmd *cobra.Command, o *setupOptions) {
	cmd.Flags().BoolVar(&o.check, "check", false, "exit with 1 when something is missing, write nothing")
	cmd.Flags().BoolVar(&o.remove, "remove", false, "take out what setup put in, and nothing else")
	cmd.Flags().BoolVar(&o.print, "print", false, "print what would be written, write nothing")
	a.writes(cmd, &o.dryRun)
}

// userFlag binds the flag of targets that a home has too.
func userFlag(cmd *cobra.Command, o *setupOptions) {
	cmd.Flags().BoolVar(&o.user, "user", false, "for all projects of this user instead of this one")
}

// forceFlag binds the flag of targets where something may stand in the way.
func forceFlag(cmd *cobra.Command, o *setupOptions, usage string) {
	cmd.Flags().BoolVar(&o.force, "force", false, usage)
}

// setup does what the flags say to a target.
func (a *app) setup(ctx context.Context, name string, t connection, o setupOptions) error {
	if err := o.contradict(); err != nil {
		return err
	}
	var steps []setupStep
	var err error
	switch {
	case o.print && a.json:
		return a.printJSON("setup", map[string]any{"target": name, "text": t.preview()})
	case o.print:
		return a.print(t.preview())
	case o.remove:
		steps, err = t.remove(ctx)
	case !o.check:
		steps, err = t.install(ctx)
	}
	if err != nil {
		return err
	}
	for _, s := range steps {
		if o.dryRun {
			break
		}
		if err := s.do(); err != nil {
			return err
		}
	}
	missing, err := t.missing(ctx)
	if err != nil {
		return err
	}
	if err := a.printSetup(name, o, steps, missing); err != nil {
		return err
	}
	if o.check && len(missing) > 0 {
		return foundError{}
	}
	return nil
}

// printSetup says what was done, or would be, and what is missing now.
func (a *app) printSetup(name string, o setupOptions, steps []setupStep, missing []string) error {
	changed, diff := []string{}, ""
	for _, s := range steps {
		changed, diff = append(changed, s.what...), diff+s.diff
	}
	switch {
	case a.json:
		data := map[string]any{
			"target": name, "installed": len(missing) == 0,
			"missing": append([]string{}, missing...), "changed": changed, "dry_run": o.dryRun,
		}
		if o.dryRun {
			data["diff"] = diff
		}
		return a.printJSON("setup", data)
	case o.dryRun:
		return a.print(cmp.Or(diff, "nothing would change\n"))
	}
	return a.print(setupReport(name, o, changed, missing))
}

// contradict refuses flags that ask for two things.
func (o setupOptions) contradict() error {
	flags := []struct {
		given bool
		name  string
	}{{o.check, "--check"}, {o.print, "--print"}, {o.remove, "--remove"}, {o.force, "--force"}, {o.dryRun, "--dry-run"}}
	for i, one := range flags[:2] { // the others go together
		for _, other := range flags[i+1:] {
			if one.given && other.given {
				return usage(one.name+" and "+other.name+" ask for two things", "give one of them")
			}
		}
	}
	return nil
}

func setupReport(name string, o setupOptions, changed, missing []string) string {
	text, list := "", changed
	switch {
	case o.check && len(missing) == 0:
		text = name + ": all is there\n"
	case o.check:
		text, list = name+": missing\n", missing
	case len(changed) == 0:
		text = name + ": nothing to do\n"
	case o.remove:
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
func (a *core) homeDir() (string, error) {
	home := a.getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", usage(fmt.Sprintf("HOME: must be an absolute path; found %q", home), "set it, or leave out --user")
	}
	return home, nil
}

// place is the directory that files for assistants are put below: the root of
// the project, or the home of the user.
func (a *core) place(o setupOptions) (string, error) {
	if o.user {
		return a.homeDir()
	}
	dir, err := filepath.Abs(a.dir) // of "" the working directory
	if err != nil {
		return "", err
	}
	if !exists(dir) {
		return "", usage(shortest(dir)+": no such directory", "")
	}
	for root := dir; ; root = filepath.Dir(root) {
		if exists(filepath.Join(root, ".git")) {
			return root, nil
		}
		if root == filepath.Dir(root) {
			return dir, nil
		}
	}
}
