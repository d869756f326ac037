package doctor

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"stig/internal/git"
	"stig/internal/merge"
	"stig/internal/workspace"
)

// userDriver configures stig merge in the git configuration of a user. git then finds it in
// every repository whose .gitattributes asks for it. git itself writes that file.
type userDriver struct{ git git.Client }

// hasGlobalConfig returns an error unless the git configuration of the user has an absolute
// path.
func hasGlobalConfig(a *workspace.Run) error {
	named := a.Getenv("GIT_CONFIG_GLOBAL")
	if named == "" {
		_, err := homeDir(a)
		return err
	}
	if !filepath.IsAbs(named) {
		return workspace.Usage(fmt.Sprintf("GIT_CONFIG_GLOBAL: must be an absolute path; found %q", named), "")
	}
	return nil
}

const global = "git config --global "

// driverKeys are the keys of the driver, with the values that setup and an earlier stig write.
var driverKeys = []struct{ key, value, earlier string }{
	{"merge.stig.driver", merge.DriverCommand, merge.PlainDriver},
	{"merge.stig.name", driverName, driverName},
}

func (d *userDriver) Preview() (text string) {
	for _, k := range driverKeys {
		text += fmt.Sprintf("%s%s %q\n", global, k.key, k.value)
	}
	return text
}

func (d *userDriver) Missing(ctx context.Context) ([]string, error) {
	command, err := d.config(ctx, "merge.stig.driver")
	if err != nil {
		return nil, err
	}
	return driverLacks(command, global), nil
}

func (d *userDriver) config(ctx context.Context, key string) (string, error) {
	result, err := d.git.Run(ctx, "config", "--global", "--get", key)
	return strings.TrimSpace(string(result.Stdout)), err
}

func (d *userDriver) Install(ctx context.Context) (steps []workspace.SetupStep, err error) {
	for _, k := range driverKeys {
		now, err := d.config(ctx, k.key)
		if err != nil {
			return nil, err
		}
		switch {
		case now == "" || now == k.earlier && now != k.value:
			steps = append(steps, d.step(ctx, "+", k.key, k.value, k.key, k.value))
		case now != k.value: // it may contain a path to stig
			return steps, nil
		}
	}
	return steps, nil
}

// Remove removes what setup wrote. It keeps another driver and its name.
func (d *userDriver) Remove(ctx context.Context) (steps []workspace.SetupStep, err error) {
	for _, k := range driverKeys {
		now, err := d.config(ctx, k.key)
		if err != nil {
			return nil, err
		}
		if now != k.value && now != k.earlier {
			break
		}
		steps = append(steps, d.step(ctx, "-", k.key, now, "--unset", k.key))
	}
	if len(steps) == 0 {
		return nil, nil
	}
	return append(steps, workspace.SetupStep{Do: func() error { return d.removeEmpty(ctx) }}), nil
}

// removeEmpty removes the section if git kept its header for a comment in it.
func (d *userDriver) removeEmpty(ctx context.Context) error {
	left, err := d.git.Run(ctx, "config", "--global", "--get-regexp", `^merge\.stig\.`)
	if err == nil && left.Exit != 0 {
		_, err = d.git.Run(ctx, "config", "--global", "--remove-section", "merge.stig")
	}
	return err
}

// step returns the step in which git changes a key.
func (d *userDriver) step(ctx context.Context, sign, key, value string, argv ...string) workspace.SetupStep {
	return workspace.SetupStep{What: []string{global + key}, Diff: sign + global + key + " " + value + "\n", Do: func() error {
		_, err := d.git.Must(ctx, append([]string{"config", "--global"}, argv...)...)
		return err
	}}
}
