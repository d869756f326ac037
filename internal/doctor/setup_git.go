package doctor

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/git"
	"stig/internal/merge"
	"stig/internal/process"
	"stig/internal/store/jsonl"
	"stig/internal/visible"
	"stig/internal/workspace"
)

const (
	driverName = "merge issues by key, section and signal (stig)"
	// replacedKey names the driver that an earlier stig replaced with its own.
	replacedKey = "merge.stig.replaced"
)

// mergeDriver connects git to stig merge in one repository.
type mergeDriver struct {
	git   git.Client // at the root of the work tree
	store string     // path of the store relative to the root, with slashes
	// attributes is .gitattributes; own applies to this clone only and overrides it.
	attributes, own, exclude workspace.HostFile
	locks                    []string // lock files of the store, absolute
	force                    bool     // Install replaces another program
	have                     func(program string) bool
}

// SetupGit connects git to stig merge, in the repository of the store or for a user.
func SetupGit(ctx context.Context, a *workspace.Run, o SetupOptions) (*SetupResult, error) {
	if o.User && o.Force {
		return nil, workspace.Usage("--force and --user cannot be used together", "omit one of them")
	}
	if o.User {
		if err := hasGlobalConfig(a); err != nil {
			return nil, err
		}
		warnOffPath(a, o, "git merges the store line by line")
		return connect(ctx, &userDriver{a.GitIn(".")}, o)
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
	warnOffPath(a, o, "git merges the store line by line")
	r, err := connect(ctx, driver, o)
	shared := workspace.Shortest(driver.attributes.Path)
	if err == nil && !o.Remove && slices.Contains(r.Changed, shared+": "+driver.line()) {
		r.Next = "git add " + visible.Quoted(shared) + " && git commit -m \"merge issues with stig\""
	}
	return r, err
}

// DriverOf returns the connection for a store.
func DriverOf(ctx context.Context, a *workspace.Run, store beads.Place) (*mergeDriver, error) {
	repo, path, err := a.Git(store)
	if err != nil {
		return nil, err
	}
	result, err := repo.Run(ctx, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-path", "info")
	if err != nil {
		return nil, err
	}
	if err := git.Foreign(result); err != nil {
		return nil, err
	}
	root, info, _ := strings.Cut(strings.TrimSpace(string(result.Stdout)), "\n")
	if result.Exit != 0 || root == "" {
		return nil, workspace.Usage(store.Path+": not in a git repository", "type git init")
	}
	root, info = filepath.FromSlash(root), filepath.FromSlash(info)
	below, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	touched, err := jsonl.Touched(store)
	if err != nil {
		return nil, err
	}
	repo.Dir = root
	return &mergeDriver{
		git: repo, store: filepath.ToSlash(below), locks: touched[min(1, len(touched)):],
		attributes: workspace.HostFile{Path: filepath.Join(root, ".gitattributes"), Root: root},
		own:        workspace.HostFile{Path: filepath.Join(info, "attributes"), Root: info},
		exclude:    workspace.HostFile{Path: filepath.Join(info, "exclude"), Root: info},
		have:       process.Finder(root, a.Getenv),
	}, nil
}

func (d *mergeDriver) line() string { return attributePattern(d.store) + " merge=stig" }

func (d *mergeDriver) Preview() string {
	return fmt.Sprintf(".gitattributes: %s\ngit config merge.stig.name %q\ngit config merge.stig.driver %q\n",
		d.line(), driverName, merge.DriverCommand)
}

func (d *mergeDriver) Missing(ctx context.Context) (list []string, err error) {
	now, err := d.Merging(ctx)
	if err != nil {
		return nil, err
	}
	if now.attribute != "stig" {
		list = append(list, ".gitattributes: "+d.line())
	}
	command, err := d.config(ctx, "merge.stig.driver")
	if err != nil {
		return nil, err
	}
	return append(list, driverLacks(command, "git config ")...), nil
}

// driverLacks returns what a configured driver lacks. set is the command that configures one,
// up to the key.
func driverLacks(command, set string) []string {
	switch {
	case command == "":
		return []string{set + "merge.stig.driver"}
	case command == merge.PlainDriver:
		return []string{NoFallback}
	case !strings.Contains(command, "git merge-file"):
		return []string{NoFallback + "; type " + set + "merge.stig.driver " + visible.Quoted(command+merge.DriverFallback)}
	}
	return nil
}

const NoFallback = "git config merge.stig.driver: no fallback if stig cannot run"

func (d *mergeDriver) Install(ctx context.Context) (steps []workspace.SetupStep, err error) {
	now, err := d.Merging(ctx)
	if err != nil {
		return nil, err
	}
	if now.attribute != "stig" {
		if steps, err = d.claim(ctx); err != nil {
			return nil, err
		}
	}
	for _, c := range driverKeys {
		now, err := d.config(ctx, c.key)
		if err != nil {
			return nil, err
		}
		if now == "" || now == c.earlier && now != c.value { // any other command is kept: it may contain a path to stig
			steps = append(steps, d.configure(ctx, c.key, c.value))
		}
	}
	return steps, nil
}

// configure returns the step that sets a key of this repository.
func (d *mergeDriver) configure(ctx context.Context, key, value string) workspace.SetupStep {
	return workspace.SetupStep{What: []string{"git config " + key}, Diff: "+git config " + key + " " + value + "\n", Do: func() error {
		_, err := d.git.Must(ctx, "config", key, value)
		return err
	}}
}

// claim returns the steps that add the line for the store at the end of the deciding file.
func (d *mergeDriver) claim(ctx context.Context) (steps []workspace.SetupStep, err error) {
	now, err := d.Merging(ctx)
	if err != nil {
		return nil, err
	}
	if now.command != "" && !d.force {
		return nil, workspace.Usage(d.store+": "+now.String(), "type stig setup git --force to replace it with stig")
	}
	file, err := d.deciding()
	if err != nil {
		return nil, err
	}
	text, err := file.Read()
	if err != nil {
		return nil, err
	}
	what := workspace.Shortest(file.Path) + ": " + d.line()
	steps = file.Change(text, addLine(removeLine(text, d.line()), d.line()), what)
	for i := range steps {
		if now.attribute != unspecified {
			steps[i].Use = what + "\n    before: " + now.String()
		}
	}
	return append(steps, workspace.SetupStep{Do: func() error { return d.claimed(ctx) }}), nil
}

// deciding returns the file whose last line decides: .gitattributes, unless a file that git
// prefers has a line for the store.
func (d *mergeDriver) deciding() (workspace.HostFile, error) {
	beside := workspace.HostFile{Path: filepath.Join(filepath.Dir(d.attributes.Path), filepath.FromSlash(path.Dir(d.store)), ".gitattributes")}
	for _, file := range []workspace.HostFile{d.own, beside} {
		text, err := file.Read()
		if err != nil {
			return file, err
		}
		if file.Path != d.attributes.Path && setsMerge(string(text), d.store) {
			return d.own, nil
		}
	}
	return d.attributes, nil
}

// claimed returns an error if git does not do what the line says.
func (d *mergeDriver) claimed(ctx context.Context) error {
	now, err := d.Merging(ctx)
	if err == nil && now.attribute != "stig" {
		err = workspace.Usage(fmt.Sprintf("%s: %s, despite the line in %s", d.store, now, d.attributes.Path), "see gitattributes(5) for the order of precedence")
	}
	return err
}

func (d *mergeDriver) Remove(ctx context.Context) (steps []workspace.SetupStep, err error) {
	replaced, err := d.config(ctx, replacedKey)
	if err != nil {
		return nil, err
	}
	others := false
	for _, file := range []workspace.HostFile{d.attributes, d.own} {
		text, err := file.Read()
		if err != nil {
			return nil, err
		}
		next := removeLine(text, d.line())
		if replaced != "" && bytes.Contains(text, []byte(" merge=stig")) {
			next, replaced = bytes.Replace(text, []byte("merge=stig"), []byte("merge="+replaced), 1), ""
		}
		others = others || bytes.Contains(next, []byte(" merge=stig"))
		steps = append(steps, file.Change(text, next, workspace.Shortest(file.Path)+": "+d.line())...)
	}
	text, err := d.exclude.Read()
	if err != nil {
		return nil, err
	}
	next := text
	for _, lock := range d.locks {
		if line, err := workspace.ExcludeLine(d.git.Dir, lock); err == nil {
			next = removeLine(next, line)
		}
	}
	steps = append(steps, d.exclude.Change(text, next, workspace.Shortest(d.exclude.Path)+": the lock files of the store")...)
	result, err := d.git.Run(ctx, "config", "--local", "--get-regexp", `^merge\.stig\.`)
	if err != nil || result.Exit != 0 || others { // they still need the driver
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

func (d *mergeDriver) config(ctx context.Context, key string) (string, error) {
	result, err := d.git.Run(ctx, "config", "--get", key)
	return strings.TrimSpace(string(result.Stdout)), err
}
