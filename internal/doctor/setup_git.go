package doctor

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"stig/internal/beads"
	"stig/internal/git"
	"stig/internal/merge"
	"stig/internal/visible"
	"stig/internal/workspace"
)

const (
	driverName  = "merge issues by key, section and signal (stig)"
	replacedKey = "merge.stig.replaced" // the driver whose place stig took
)

// mergeDriver is the connection of git to stig merge, in one repository.
type mergeDriver struct {
	git        git.Client         // at the root
	store      string             // path of the store below the root, with slashes
	attributes workspace.HostFile // .gitattributes
	force      bool               // install takes the place of another program
}

// SetupGit connects git to stig merge: in the repository of the store, or for a user.
func SetupGit(ctx context.Context, a *workspace.Run, o SetupOptions) (*SetupResult, error) {
	if o.User && o.Force {
		return nil, workspace.Usage("--force and --user exclude each other", "leave one of them out")
	}
	if o.User {
		file, err := gitConfigFile(a)
		if err != nil {
			return nil, err
		}
		warnOffPath(a, o, "git merges the store by lines")
		return connect(ctx, &userDriver{a.GitIn("."), file}, o)
	}
	store, err := a.Discover()
	if err != nil {
		return nil, err
	}
	driver, err := DriverOf(ctx, a, store.Place())
	if err != nil {
		return nil, err
	}
	driver.force = o.Force
	warnOffPath(a, o, "git merges the store by lines")
	return connect(ctx, driver, o)
}

// DriverOf is the connection for a store that was found.
func DriverOf(ctx context.Context, a *workspace.Run, store beads.Place) (*mergeDriver, error) {
	repo, path, err := a.Git(store)
	if err != nil {
		return nil, err
	}
	result, err := repo.Run(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	if err := git.Foreign(result); err != nil {
		return nil, err
	}
	root := filepath.FromSlash(strings.TrimSpace(string(result.Stdout)))
	if result.Exit != 0 || root == "" {
		return nil, workspace.Usage(store.Path+": the store is in no git repository", "type git init")
	}
	below, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	repo.Dir = root
	return &mergeDriver{git: repo, store: filepath.ToSlash(below), attributes: workspace.HostFile{Path: filepath.Join(root, ".gitattributes"), Root: root}}, nil
}

func (d *mergeDriver) line() string { return attributePattern(d.store) + " merge=stig" }

func (d *mergeDriver) Preview() string {
	return fmt.Sprintf(".gitattributes: %s\ngit config merge.stig.name %q\ngit config merge.stig.driver %q\n",
		d.line(), driverName, merge.DriverCommand)
}

func (d *mergeDriver) Missing(ctx context.Context) (list []string, err error) {
	attribute, err := d.Attribute(ctx)
	if err != nil {
		return nil, err
	}
	if attribute != "stig" {
		list = append(list, ".gitattributes: "+d.line())
	}
	command, err := d.config(ctx, "merge.stig.driver")
	if err != nil {
		return nil, err
	}
	return append(list, driverLacks(command, "git config ")...), nil
}

// driverLacks says what a configured driver lacks. set is the command that
// configures one, up to the key.
func driverLacks(command, set string) []string {
	switch {
	case command == "":
		return []string{"git config merge.stig.driver"}
	case command == merge.PlainDriver:
		return []string{NoFallback}
	case !strings.Contains(command, "git merge-file"):
		return []string{NoFallback + "; type " + set + "merge.stig.driver " + visible.Quoted(command+merge.DriverFallback)}
	}
	return nil
}

const NoFallback = "git config merge.stig.driver: has no fallback for when stig does not run"

func (d *mergeDriver) Install(ctx context.Context) (steps []workspace.SetupStep, err error) {
	attribute, err := d.Attribute(ctx)
	if err != nil {
		return nil, err
	}
	if attribute != "stig" {
		if steps, err = d.claim(ctx, attribute); err != nil {
			return nil, err
		}
	}
	for _, c := range []struct{ key, value string }{{"merge.stig.name", driverName}, {"merge.stig.driver", merge.DriverCommand}} {
		now, err := d.config(ctx, c.key)
		if err != nil {
			return nil, err
		}
		if now == "" || now == merge.PlainDriver { // else perhaps with the path of stig, which somebody knows better
			steps = append(steps, d.configure(ctx, c.key, c.value))
		}
	}
	return steps, nil
}

// configure is the step that sets a key of this repository.
func (d *mergeDriver) configure(ctx context.Context, key, value string) workspace.SetupStep {
	return workspace.SetupStep{What: []string{"git config " + key}, Diff: "+git config " + key + " " + value + "\n", Do: func() error {
		_, err := d.git.Must(ctx, "config", key, value)
		return err
	}}
}

// claim gives the line for the store, and the note that says which line it replaces, which is
// written first.
func (d *mergeDriver) claim(ctx context.Context, present string) (steps []workspace.SetupStep, err error) {
	free := present == "unspecified"
	if !free && !d.force {
		return nil, workspace.Usage(fmt.Sprintf("%s: git merges it with %q already", d.store, present),
			"type stig setup git --force to put stig in its place")
	}
	text, err := d.attributes.Read()
	if err != nil {
		return nil, err
	}
	next := text
	if bytes.Equal(removeLine(text, d.line()), text) { // else the line is there, and something overrules it
		next = addLine(text, d.line())
	}
	if swapped, ok := swapDriver(string(text), d.store, present, "stig"); ok {
		next, steps = []byte(swapped), append(steps, d.configure(ctx, replacedKey, present))
	}
	steps = append(steps, d.attributes.Change(text, next, ".gitattributes: "+d.line())...)
	return append(steps, workspace.SetupStep{Do: func() error { return d.claimed(ctx) }}), nil
}

// claimed reports whether git does what the line says.
func (d *mergeDriver) claimed(ctx context.Context) error {
	now, err := d.Attribute(ctx)
	if err == nil && now != "stig" {
		err = workspace.Usage(fmt.Sprintf("%s: git still merges it with %q after the line in %s", d.store, now, d.attributes.Path),
			"see .git/info/attributes and the .gitattributes beside the store")
	}
	return err
}

func (d *mergeDriver) Remove(ctx context.Context) ([]workspace.SetupStep, error) {
	text, err := d.attributes.Read()
	if err != nil {
		return nil, err
	}
	replaced, err := d.config(ctx, replacedKey)
	if err != nil {
		return nil, err
	}
	next := text
	if replaced == "" {
		next = removeLine(text, d.line())
	} else if swapped, ok := swapDriver(string(text), d.store, "stig", replaced); ok {
		next = []byte(swapped)
	}
	steps := d.attributes.Change(text, next, ".gitattributes: "+d.line())
	result, err := d.git.Run(ctx, "config", "--local", "--get-regexp", `^merge\.stig\.`)
	if err != nil || result.Exit != 0 {
		return steps, err
	}
	diff := ""
	for line := range strings.Lines(string(result.Stdout)) {
		diff += "-git config " + line
	}
	return append(steps, workspace.SetupStep{What: []string{"git config merge.stig"}, Diff: diff, Do: func() error {
		_, err := d.git.Must(ctx, "config", "--local", "--remove-section", "merge.stig")
		return err
	}}), nil
}

// Attribute is what git merges the store with; "unspecified" for nothing.
func (d *mergeDriver) Attribute(ctx context.Context) (string, error) {
	text, err := d.git.Must(ctx, "check-attr", "-z", "merge", "--", d.store)
	if err != nil {
		return "", err
	}
	fields := strings.Split(text, "\x00")
	if len(fields) < 3 {
		return "", fmt.Errorf("git check-attr: expected three fields, found %q", text)
	}
	return fields[2], nil
}

func (d *mergeDriver) config(ctx context.Context, key string) (string, error) {
	result, err := d.git.Run(ctx, "config", "--get", key)
	return strings.TrimSpace(string(result.Stdout)), err
}
