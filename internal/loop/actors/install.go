package actors

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/store/jsonl"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// InstallRequest is the input of Install.
type InstallRequest struct {
	Name   string
	Print  bool // list the files and write nothing
	Remove bool
	DryRun bool
}

// Installed is the result of Install.
type Installed struct {
	Name    string      `json:"name"`
	Files   []Installee `json:"files"`
	Changed bool        `json:"changed"`
	Started bool        `json:"started"`
	DryRun  bool        `json:"dry_run"`
	Diff    string      `json:"diff,omitempty"` // if DryRun
	Hints   []string    `json:"-"`
}

// Installee is a file for a service manager.
type Installee struct {
	Path string `json:"path"`
	Text string `json:"text"` // "" if removed

	Written bool `json:"-"` // the file changed
}

// Install writes and starts the units of a worker's loop and its dreams; with Remove it stops
// and removes them. If the service manager fails, the files are written nonetheless and the
// error (fault.Found) has the commands to type.
func Install(ctx context.Context, a *workspace.Run, r InstallRequest) (*Installed, error) {
	p, _, err := actorHere(a, r.Name)
	if r.Remove && p == nil && clone.CheckName(r.Name) == nil {
		p, err = clone.DefaultProfile(r.Name), nil // its file may have been deleted
	}
	if err != nil {
		return nil, err
	}
	u, err := unitOf(a, p)
	if err != nil {
		return nil, err
	}
	files, err := u.placed(a)
	if err != nil {
		return nil, err
	}
	done := &Installed{Name: r.Name, Files: []Installee{}, DryRun: r.DryRun}
	if r.Remove {
		return done, done.remove(ctx, a, files)
	}
	if p.Command == "" {
		return nil, &fault.Error{Code: fault.Usage, ID: r.Name, Reason: "its file names no command", Hint: "add command: … to " + workspace.Shortest(p.Path)}
	}
	if err := u.Check(); err != nil {
		return nil, workspace.Usage(err.Error(), "move it to a path without those characters")
	}
	if err := done.write(files, r.Print); err != nil || r.Print || r.DryRun {
		return done, err
	}
	if runtime.GOOS != "darwin" {
		done.Hints = append(done.Hints, "its units stop when you log out; to keep them running, type loginctl enable-linger")
	}
	trust, err := a.TrustsActor(ctx, p)
	if err != nil {
		return nil, err
	}
	if !trust.Repository {
		done.Hints = append(done.Hints, "its command does not run until you trust it: type stig trust")
	} else if !trust.Agreed {
		done.Hints = append(done.Hints, "its command does not run until you trust it: type stig worker resume "+r.Name)
	}
	err = done.ask(ctx, a, done.starts()...)
	done.Started = err == nil
	return done, err
}

// unitOf returns the unit of a worker: the running stig executable, the current repository, and
// the environment variables needed to find its programs.
func unitOf(a *workspace.Run, p *clone.Profile) (u Unit, err error) {
	u = Unit{Actor: p.Name, Dream: p.Dream}
	if u.Repo, err = Root(a); err != nil {
		return u, err
	}
	if a.Store != "" || a.Getenv("BEADS_DIR") != "" {
		store, err := jsonl.Discover(a.Where())
		if err != nil {
			return u, err
		}
		here, err := filepath.Abs(cmp.Or(a.Dir, "."))
		if err != nil {
			return u, err
		}
		tree, err := git.CheckoutOf(here)
		if err != nil {
			return u, err
		}
		u.Repo, u.Store = cmp.Or(tree.Root, here), store.URL
		if !jsonl.IsURL(a.Store) {
			if u.Store, err = filepath.Abs(store.Path); err != nil {
				return u, err
			}
		}
	}
	for _, name := range []string{"PATH", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		if value := a.Getenv(name); value != "" {
			u.Env = append(u.Env, name+"="+value)
		}
	}
	u.Program, err = os.Executable()
	return u, err
}

// placed is a file of a worker at the path where this system's service manager reads it.
type placed struct {
	workspace.HostFile
	text string // "" if the file is not needed
}

func (u Unit) placed(a *workspace.Run) (list []placed, err error) {
	home, err := a.HomeDir()
	if err != nil {
		return nil, err
	}
	dir, root := "", home
	var files []UnitFile
	switch runtime.GOOS {
	case "windows":
		return nil, workspace.Usage("no supported service manager on this system", "start the loop yourself with stig work --actor "+u.Actor)
	case "darwin":
		dir, files = filepath.Join(home, "Library", "LaunchAgents"), u.Launchd()
	default:
		dir, err = a.ConfigDir()
		root = filepath.Dir(dir)
		dir, files = filepath.Join(dir, "systemd", "user"), u.Systemd()
	}
	for _, f := range files {
		list = append(list, placed{workspace.HostFile{Path: filepath.Join(dir, f.Name), Root: root}, f.Text})
	}
	return list, err
}

// installed returns the paths of a worker's existing unit files; none if the directory of the
// service manager is unknown.
func installed(a *workspace.Run, p *clone.Profile) (paths []string) {
	u, err := unitOf(a, p)
	if err != nil {
		return nil
	}
	files, err := u.placed(a)
	if err != nil {
		return nil
	}
	for _, f := range files {
		if workspace.Exists(f.Path) {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// write writes the needed files, or only lists them.
func (d *Installed) write(files []placed, list bool) error {
	var steps []workspace.SetupStep
	for _, f := range files {
		if f.text == "" {
			continue
		}
		before, err := f.Read()
		if err != nil {
			return err
		}
		change := f.Change(before, []byte(f.text))
		d.Files = append(d.Files, Installee{Path: f.Path, Text: f.text, Written: len(change) > 0})
		steps = append(steps, change...)
	}
	if list {
		return nil
	}
	return d.carryOut(steps)
}

func (d *Installed) carryOut(steps []workspace.SetupStep) error {
	for _, step := range steps {
		if d.DryRun {
			d.Diff += step.Diff
		} else if err := step.Do(); err != nil {
			return err
		}
		d.Changed = true
	}
	return nil
}

// remove stops the units and removes all existing files of the worker.
func (d *Installed) remove(ctx context.Context, a *workspace.Run, files []placed) error {
	var steps []workspace.SetupStep
	for _, f := range files {
		before, err := f.Read()
		if err != nil {
			return err
		}
		if before != nil {
			steps = append(steps, f.Change(before, nil)...)
			d.Files = append(d.Files, Installee{Path: f.Path})
		}
	}
	if d.DryRun || len(steps) == 0 {
		return d.carryOut(steps)
	}
	stopped := d.ask(ctx, a, d.stops())
	if err := d.carryOut(steps); err != nil || stopped != nil || runtime.GOOS == "darwin" {
		return errors.Join(stopped, err)
	}
	reloaded := d.ask(ctx, a, systemctl("daemon-reload"))
	// Failed units stay listed until they are reset. For units that did not fail, reset-failed
	// returns an error.
	_, _ = process.Run(ctx, process.Command{Argv: systemctl("reset-failed", d.units()...), Env: a.Environ()})
	return reloaded
}

// starts and stops return the service manager's commands for after the files were written and
// before they are removed. With systemd, a loop is restarted if its unit changed; the dream
// service is started only by its timer.
func (d *Installed) starts() [][]string {
	units := d.units()
	if runtime.GOOS == "darwin" {
		return [][]string{append([]string{"launchctl", "load", "-w"}, units...)}
	}
	list := [][]string{systemctl("daemon-reload")}
	if d.Changed {
		list = append(list, systemctl("restart", units[0]))
	}
	enabled := slices.DeleteFunc(units, func(unit string) bool {
		return strings.HasPrefix(unit, "stig-dream-") && strings.HasSuffix(unit, ".service")
	})
	return append(list, systemctl("enable --now", enabled...))
}

func (d *Installed) stops() []string {
	if runtime.GOOS == "darwin" {
		return append([]string{"launchctl", "unload", "-w"}, d.units()...)
	}
	return systemctl("disable --now", d.units()...)
}

// units returns the files as the service manager names them, the loop first.
func (d *Installed) units() (list []string) {
	for _, f := range d.Files {
		if runtime.GOOS == "darwin" {
			list = append(list, f.Path)
		} else {
			list = append(list, filepath.Base(f.Path))
		}
	}
	return list
}

func systemctl(words string, units ...string) []string {
	return append(strings.Fields("systemctl --user "+words), units...)
}

// ask runs commands of a service manager. If one fails, the error's hint has that command and
// the remaining ones.
func (d *Installed) ask(ctx context.Context, a *workspace.Run, commands ...[]string) error {
	for n, argv := range commands {
		result, err := process.Run(ctx, process.Command{Argv: argv, Env: a.Environ()})
		if err == nil && result.Exit == 0 {
			continue
		}
		why := visible.OneLine(string(result.Stderr))
		if errors.Is(err, process.ErrNotFound) {
			why = argv[0] + ": no such program"
		} else if err != nil {
			why = err.Error()
		}
		var left []string
		for _, argv := range commands[n:] {
			var words []string
			for _, word := range argv {
				words = append(words, visible.Quoted(word))
			}
			left = append(left, strings.Join(words, " "))
		}
		return &fault.Error{Code: fault.Found, ID: d.Name, Err: err, Reason: "the files are up to date, but the service manager failed: " + why,
			Hint: "type " + strings.Join(left, "; ")}
	}
	return nil
}
