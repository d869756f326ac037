package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"stig/gate"
)

// userDriver names stig merge in the configuration of a user: in every
// repository whose .gitattributes asks for it, git then finds it.
type userDriver struct {
	git  gate.Git
	file hostFile
}

// gitConfigFile is the configuration of a user that git writes to. What names it
// must mean the same file from everywhere.
func (a *app) gitConfigFile() (hostFile, error) {
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

const driverSection = "[merge \"stig\"]\n\tname = " + driverName + "\n\tdriver = " + driverCommand

func (d *userDriver) preview() string { return shortest(d.file.path) + ":\n" + driverSection + "\n" }

func (d *userDriver) missing(ctx context.Context) ([]string, error) {
	result, err := d.git.Run(ctx, "config", "--global", "--get", "merge.stig.driver")
	if err != nil || result.Exit == 0 {
		return nil, err
	}
	return d.changed(), nil
}

func (d *userDriver) changed() []string {
	return []string{shortest(d.file.path) + ": merge.stig.driver"}
}

func (d *userDriver) install(ctx context.Context) ([]setupStep, error) {
	missing, err := d.missing(ctx)
	if err != nil || len(missing) == 0 {
		return nil, err
	}
	text, err := d.file.read()
	if err != nil {
		return nil, err
	}
	return d.file.change(text, addLine(text, driverSection), missing...), nil
}

func (d *userDriver) remove(context.Context) ([]setupStep, error) {
	source, err := d.file.read()
	if err != nil {
		return nil, err
	}
	text := string(source)
	before, after, found := strings.Cut(text, driverSection)
	switch {
	case !found:
		return nil, nil
	case text == driverSection+"\n":
		return d.file.change(source, nil, d.changed()...), nil
	case after == "":
		before = strings.TrimSuffix(strings.TrimSuffix(before, "\n"), "\r")
	}
	after = strings.TrimPrefix(strings.TrimPrefix(after, "\r"), "\n")
	return d.file.change(source, []byte(before+after), d.changed()...), nil
}
