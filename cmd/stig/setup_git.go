package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/git"
)

func (a *app) setupGit() *cobra.Command {
	var o setupOptions
	cmd := &cobra.Command{
		Use:   "git",
		Short: "have git merge the store with stig merge",
		Long: "setup git has git merge the store line by line and key by key when branches come\n" +
			"together. It writes a line for the store to .gitattributes, which is to be committed,\n" +
			"and names the program in the configuration of this repository, which git does not\n" +
			"share: everybody who clones it types stig setup git once, or, for all repositories,\n" +
			"stig setup git --user. Where stig is not in PATH when git merges, or is killed, git\n" +
			"merges by lines instead, with conflict markers, and always ends with a conflict, so\n" +
			"that a person looks at the store before it is committed.\n\n" +
			"When another program merges the store already, such as that of bd, nothing is\n" +
			"written; --force puts stig in its place, and --remove gives it back.",
		Args:    takes(0, 0, "no arguments"),
		Example: "  stig setup git\n  stig setup git --check",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.user && o.force {
				return usage("--force and --user exclude each other", "leave one of them out")
			}
			if o.user {
				file, err := a.gitConfigFile()
				if err != nil {
					return err
				}
				return a.setup(cmd.Context(), "git", &userDriver{a.gitIn("."), file}, o)
			}
			driver, err := a.mergeDriver(cmd.Context())
			if err != nil {
				return err
			}
			driver.force = o.force
			return a.setup(cmd.Context(), "git", driver, o)
		},
	}
	a.setupFlags(cmd, &o)
	userFlag(cmd, &o)
	forceFlag(cmd, &o, "put stig in the place of another program")
	return cmd
}

// The merge driver, which git runs in a shell at the top of the work tree. stig
// writes %A in one step, so that a stig that ends without 0 has left there either a
// result with conflict markers or our side untouched. Of the latter git merge-file
// makes a merge by lines. That one may hold an id twice without a conflict, so the
// driver never calls it merged.
const (
	plainDriver    = "stig merge %O %A %B" // what setup wrote before there was a fallback
	driverFallback = " || { grep -q ^======= %A || git merge-file --diff3 -L ours -L base -L theirs %A %O %B; exit 1; }"
	driverCommand  = plainDriver + driverFallback
)

const (
	driverName  = "merge issues by key, section and signal (stig)"
	replacedKey = "merge.stig.replaced" // the driver whose place stig took
)

// mergeDriver is the connection of git to stig merge, in one repository.
type mergeDriver struct {
	git        git.Client // at the root
	store      string     // path of the store below the root, with slashes
	attributes hostFile   // .gitattributes
	force      bool       // install takes the place of another program
}

func (a *core) mergeDriver(ctx context.Context) (*mergeDriver, error) {
	store, err := a.discover()
	if err != nil {
		return nil, err
	}
	return a.driverOf(ctx, store)
}

// driverOf is the connection for a store that was found.
func (a *core) driverOf(ctx context.Context, store beads.Store) (*mergeDriver, error) {
	repo, path, err := a.git(store)
	if err != nil {
		return nil, err
	}
	result, err := repo.Run(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	root := filepath.FromSlash(strings.TrimSpace(string(result.Stdout)))
	if result.Exit != 0 || root == "" {
		return nil, usage(store.Path+": the store is in no git repository", "type git init")
	}
	below, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	repo.Dir = root
	return &mergeDriver{git: repo, store: filepath.ToSlash(below), attributes: hostFile{filepath.Join(root, ".gitattributes"), root}}, nil
}

func (d *mergeDriver) line() string { return attributePattern(d.store) + " merge=stig" }

func (d *mergeDriver) preview() string {
	return fmt.Sprintf(".gitattributes: %s\ngit config merge.stig.name %q\ngit config merge.stig.driver %q\n",
		d.line(), driverName, driverCommand)
}

func (d *mergeDriver) missing(ctx context.Context) (list []string, err error) {
	attribute, err := d.attribute(ctx)
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
	case command == plainDriver:
		return []string{noFallback}
	case !strings.Contains(command, "git merge-file"):
		return []string{noFallback + "; type " + set + "merge.stig.driver " + shellQuoted(command+driverFallback)}
	}
	return nil
}

const noFallback = "git config merge.stig.driver: has no fallback for when stig does not run"

// shellQuoted is one word of a shell.
func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func (d *mergeDriver) install(ctx context.Context) (steps []setupStep, err error) {
	attribute, err := d.attribute(ctx)
	if err != nil {
		return nil, err
	}
	if attribute != "stig" {
		if steps, err = d.claim(ctx, attribute); err != nil {
			return nil, err
		}
	}
	for _, c := range []struct{ key, value string }{{"merge.stig.name", driverName}, {"merge.stig.driver", driverCommand}} {
		now, err := d.config(ctx, c.key)
		if err != nil {
			return nil, err
		}
		if now == "" || now == plainDriver { // else perhaps with the path of stig, which somebody knows better
			steps = append(steps, d.configure(ctx, c.key, c.value))
		}
	}
	return steps, nil
}

// configure is the step that sets a key of this repository.
func (d *mergeDriver) configure(ctx context.Context, key, value string) setupStep {
	return setupStep{[]string{"git config " + key}, "+git config " + key + " " + value + "\n", func() error {
		_, err := d.git.Must(ctx, "config", key, value)
		return err
	}}
}

// claim works out the line for the store, and the note of whose place it takes,
// which is there first.
func (d *mergeDriver) claim(ctx context.Context, present string) (steps []setupStep, err error) {
	free := present == "unspecified"
	if !free && !d.force {
		return nil, usage(fmt.Sprintf("%s: git merges it with %q already", d.store, present),
			"type stig setup git --force to put stig in its place")
	}
	text, err := d.attributes.read()
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
	steps = append(steps, d.attributes.change(text, next, ".gitattributes: "+d.line())...)
	return append(steps, setupStep{do: func() error { return d.claimed(ctx) }}), nil
}

// claimed reports whether git does what the line says.
func (d *mergeDriver) claimed(ctx context.Context) error {
	now, err := d.attribute(ctx)
	if err == nil && now != "stig" {
		err = usage(fmt.Sprintf("%s: git still merges it with %q after the line in %s", d.store, now, d.attributes.path),
			"see .git/info/attributes and the .gitattributes beside the store")
	}
	return err
}

func (d *mergeDriver) remove(ctx context.Context) ([]setupStep, error) {
	text, err := d.attributes.read()
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
	steps := d.attributes.change(text, next, ".gitattributes: "+d.line())
	result, err := d.git.Run(ctx, "config", "--local", "--get-regexp", `^merge\.stig\.`)
	if err != nil || result.Exit != 0 {
		return steps, err
	}
	diff := ""
	for line := range strings.Lines(string(result.Stdout)) {
		diff += "-git config " + line
	}
	return append(steps, setupStep{[]string{"git config merge.stig"}, diff, func() error {
		_, err := d.git.Must(ctx, "config", "--local", "--remove-section", "merge.stig")
		return err
	}}), nil
}

// attribute is what git merges the store with; "unspecified" for nothing.
func (d *mergeDriver) attribute(ctx context.Context) (string, error) {
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
