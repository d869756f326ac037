package doctor

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/git"
	"stig/internal/merge"
	"stig/internal/workspace"
)

// userDriver names stig merge in the configuration of a user: in every
// repository whose .gitattributes asks for it, git then finds it.
type userDriver struct {
	git  git.Client
	file workspace.HostFile
}

// gitConfigFile is the configuration of a user that git writes to. What names it
// must mean the same file from everywhere.
func gitConfigFile(a *workspace.Run) (workspace.HostFile, error) {
	if named := a.Getenv("GIT_CONFIG_GLOBAL"); named != "" {
		if !filepath.IsAbs(named) {
			return workspace.HostFile{}, workspace.Usage(fmt.Sprintf("GIT_CONFIG_GLOBAL: must be an absolute path; found %q", named), "")
		}
		return workspace.HostFile{Path: named, Root: filepath.Dir(named)}, nil
	}
	home, err := homeDir(a)
	if err != nil {
		return workspace.HostFile{}, err
	}
	config := a.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(home, ".config")
	}
	own, other := filepath.Join(home, ".gitconfig"), filepath.Join(config, "git", "config")
	if !workspace.Exists(own) && workspace.Exists(other) {
		own = other
	}
	return workspace.HostFile{Path: own, Root: filepath.Dir(own)}, nil
}

// driverSection is the text that setup writes. git takes an unquoted ; for the
// beginning of a comment.
const driverSection = sectionStart + `"` + merge.DriverCommand + `"`

// plainSection is the text that setup wrote before there was a fallback.
const plainSection = sectionStart + merge.PlainDriver

const sectionStart = "[merge \"stig\"]\n\tname = " + driverName + "\n\tdriver = "

func (d *userDriver) Preview() string {
	return workspace.Shortest(d.file.Path) + ":\n" + driverSection + "\n"
}

func (d *userDriver) Missing(ctx context.Context) ([]string, error) {
	command, err := d.command(ctx)
	if err != nil {
		return nil, err
	}
	if command == "" {
		return d.changed(), nil
	}
	return driverLacks(command, "git config --global "), nil
}

// command is the driver that git reads in the file, or "".
func (d *userDriver) command(ctx context.Context) (string, error) {
	return d.config(ctx, "merge.stig.driver")
}

func (d *userDriver) config(ctx context.Context, key string) (string, error) {
	result, err := d.git.Run(ctx, "config", "--global", "--get", key)
	return strings.TrimSpace(string(result.Stdout)), err
}

func (d *userDriver) changed() []string {
	return []string{workspace.Shortest(d.file.Path) + ": merge.stig.driver"}
}

func (d *userDriver) Install(ctx context.Context) ([]workspace.SetupStep, error) {
	command, err := d.command(ctx)
	if err != nil || command != "" && command != merge.PlainDriver {
		return nil, err
	}
	text, err := d.file.Read()
	if err != nil {
		return nil, err
	}
	next := addLine(text, driverSection)
	if command == merge.PlainDriver {
		next = bytes.Replace(text, []byte(plainSection), []byte(driverSection), 1)
	}
	if bytes.Equal(next, text) { // the old driver, in a section that somebody else wrote
		return []workspace.SetupStep{d.configure(ctx)}, nil
	}
	return d.file.Change(text, next, d.changed()...), nil
}

// configure is the step that has git itself write the driver.
func (d *userDriver) configure(ctx context.Context) workspace.SetupStep {
	return workspace.SetupStep{What: d.changed(), Diff: "+git config --global merge.stig.driver " + merge.DriverCommand + "\n", Do: func() error {
		_, err := d.git.Must(ctx, "config", "--global", "merge.stig.driver", merge.DriverCommand)
		return err
	}}
}

func (d *userDriver) Remove(ctx context.Context) ([]workspace.SetupStep, error) {
	source, err := d.file.Read()
	if err != nil {
		return nil, err
	}
	text, section := string(source), driverSection
	before, after, found := strings.Cut(text, section)
	if !found {
		section = plainSection
		before, after, found = strings.Cut(text, section)
	}
	switch {
	case !found:
		return d.unset(ctx)
	case text == section+"\n":
		return d.file.Change(source, nil, d.changed()...), nil
	case after == "":
		before = strings.TrimSuffix(strings.TrimSuffix(before, "\n"), "\r")
	}
	after = strings.TrimPrefix(strings.TrimPrefix(after, "\r"), "\n")
	return d.file.Change(source, []byte(before+after), d.changed()...), nil
}

// unset gives the steps that have git itself take out what stig set in a section that
// somebody else wrote.
func (d *userDriver) unset(ctx context.Context) (steps []workspace.SetupStep, err error) {
	for _, c := range []struct {
		key  string
		ours []string
	}{
		{"merge.stig.driver", []string{merge.DriverCommand, merge.PlainDriver}},
		{"merge.stig.name", []string{driverName}},
	} {
		value, err := d.config(ctx, c.key)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(c.ours, value) {
			break // the name of a driver that is not ours stays with it
		}
		steps = append(steps, workspace.SetupStep{What: []string{workspace.Shortest(d.file.Path) + ": " + c.key}, Diff: "-git config --global " + c.key + " " + value + "\n", Do: func() error {
			_, err := d.git.Must(ctx, "config", "--global", "--unset", c.key)
			return err
		}})
	}
	return steps, nil
}
