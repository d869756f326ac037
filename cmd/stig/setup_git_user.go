package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"stig/git"
)

// userDriver names stig merge in the configuration of a user: in every
// repository whose .gitattributes asks for it, git then finds it.
type userDriver struct {
	git  git.Client
	file hostFile
}

// gitConfigFile is the configuration of a user that git writes to. What names it
// must mean the same file from everywhere.
func (a *core) gitConfigFile() (hostFile, error) {
	if named := a.getenv("GIT_CONFIG_GLOBAL"); named != "" {
		if !filepath.IsAbs(named) {
			return hostFile{}, usage(fmt.Sprintf("GIT_CONFIG_GLOBAL: must be an absolute path; found %q", named), "")
		}
		return hostFile{named, filepath.Dir(named)}, nil
	}
	home, err := a.homeDir()
	if err != nil {
		return hostFile{}, err
	}
	config := a.getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(home, ".config")
	}
	own, other := filepath.Join(home, ".gitconfig"), filepath.Join(config, "git", "config")
	if !exists(own) && exists(other) {
		own = other
	}
	return hostFile{own, filepath.Dir(own)}, nil
}

// driverSection is the text that setup writes. git takes an unquoted ; for the
// beginning of a comment.
const driverSection = sectionStart + `"` + driverCommand + `"`

// plainSection is the text that setup wrote before there was a fallback.
const plainSection = sectionStart + plainDriver

const sectionStart = "[merge \"stig\"]\n\tname = " + driverName + "\n\tdriver = "

func (d *userDriver) preview() string { return shortest(d.file.path) + ":\n" + driverSection + "\n" }

func (d *userDriver) missing(ctx context.Context) ([]string, error) {
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
	result, err := d.git.Run(ctx, "config", "--global", "--get", "merge.stig.driver")
	return strings.TrimSpace(string(result.Stdout)), err
}

func (d *userDriver) changed() []string {
	return []string{shortest(d.file.path) + ": merge.stig.driver"}
}

func (d *userDriver) install(ctx context.Context) ([]setupStep, error) {
	command, err := d.command(ctx)
	if err != nil || command != "" && command != plainDriver {
		return nil, err
	}
	text, err := d.file.read()
	if err != nil {
		return nil, err
	}
	next := addLine(text, driverSection)
	if command == plainDriver {
		next = bytes.Replace(text, []byte(plainSection), []byte(driverSection), 1)
	}
	if bytes.Equal(next, text) { // the old driver, in a section that somebody else wrote
		return []setupStep{d.configure(ctx)}, nil
	}
	return d.file.change(text, next, d.changed()...), nil
}

// configure is the step that has git itself write the driver.
func (d *userDriver) configure(ctx context.Context) setupStep {
	return setupStep{d.changed(), "+git config --global merge.stig.driver " + driverCommand + "\n", func() error {
		_, err := d.git.Must(ctx, "config", "--global", "merge.stig.driver", driverCommand)
		return err
	}}
}

func (d *userDriver) remove(context.Context) ([]setupStep, error) {
	source, err := d.file.read()
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
		return nil, nil
	case text == section+"\n":
		return d.file.change(source, nil, d.changed()...), nil
	case after == "":
		before = strings.TrimSuffix(strings.TrimSuffix(before, "\n"), "\r")
	}
	after = strings.TrimPrefix(strings.TrimPrefix(after, "\r"), "\n")
	return d.file.change(source, []byte(before+after), d.changed()...), nil
}
