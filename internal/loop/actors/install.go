package actors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"

	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/store/jsonl"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// InstallRequest has the service manager of the machine start a worker.
type InstallRequest struct {
	Name   string
	RunAs  string // a user of its own, under which a unit of the whole machine runs; "" for a unit of the present user
	Print  bool   // give the files, and write nothing
	Remove bool
	DryRun bool
}

// Installed says what became of the files of a service manager.
type Installed struct {
	Name    string      `json:"name"`
	Files   []Installee `json:"files"`
	Changed bool        `json:"changed"`
	Started bool        `json:"started"`
	DryRun  bool        `json:"dry_run"`
	Diff    string      `json:"diff,omitempty"` // of a dry run
	Hints   []string    `json:"-"`
}

// Installee is a file of a service manager.
type Installee struct {
	Path string `json:"path"`
	Text string `json:"text"` // "" of one that was removed

	Written bool `json:"-"` // it was not so before
}

// systemUnits is where units of the whole machine are; tests put them elsewhere.
var systemUnits = "/etc/systemd/system"

// installation is where the units of a worker go.
type installation struct {
	worker  Unit
	profile *clone.Profile
	dir     string
	names   []string // of all files that there may be
	write   func() ([]UnitFile, error)
}

// installations lists where a worker may have units: of the user, and of the machine.
func installations(a *workspace.Run, p *clone.Profile) (list []installation) {
	for _, as := range []string{"", "root"} { // the name of the user is in no path
		if i, err := installationOf(a, p, as); err == nil {
			list = append(list, i)
		}
	}
	return list
}

// installationOf gives where the units of a worker go.
func installationOf(a *workspace.Run, p *clone.Profile, runAs string) (i installation, err error) {
	i.profile = p
	if i.worker, err = workerOf(a, p); err != nil {
		return i, err
	}
	i.worker.User = runAs
	home, err := a.HomeDir()
	switch {
	case runtime.GOOS == "windows" || runtime.GOOS == "darwin" && runAs != "":
		return i, workspace.Usage("no service manager here that stig writes units for", "start the loop yourself: stig work --actor "+p.Name)
	case runtime.GOOS == "darwin":
		i.dir, i.names, i.write = filepath.Join(home, "Library", "LaunchAgents"), i.worker.LaunchdNames(), i.worker.Launchd
		return i, err
	case runAs != "":
		i.dir, err = systemUnits, nil
		i.worker.EnvFile = "/etc/stig/worker.env"
	default:
		var config string
		config, err = a.ConfigDir()
		i.dir, i.worker.EnvFile = filepath.Join(config, "systemd", "user"), filepath.Join(config, "stig", "worker.env")
	}
	i.names, i.write = i.worker.Names(), i.worker.Systemd
	return i, err
}

// workerOf is a worker as its units have it: stig as it runs now, in the repository that
// it was started in, with what of the environment its programs are found by.
func workerOf(a *workspace.Run, p *clone.Profile) (w Unit, err error) {
	w = Unit{Actor: p.Name, Dream: p.Dream}
	here, err := filepath.Abs(cmp.Or(a.Dir, "."))
	if err != nil {
		return w, err
	}
	tree, err := git.CheckoutOf(here)
	if err != nil {
		return w, err
	}
	root, err := Root(a)
	if err != nil {
		return w, err
	}
	if w.Repo = root; a.Store != "" || a.Getenv("BEADS_DIR") != "" {
		store, err := jsonl.Discover(a.Where())
		if err != nil {
			return w, err
		}
		if w.Store, err = filepath.Abs(store.Path); err != nil {
			return w, err
		}
		if jsonl.IsURL(a.Store) {
			w.Store = store.URL
		}
		w.Repo = cmp.Or(tree.Root, here)
	}
	if tree.Root != "" {
		w.Writes = append(w.Writes, tree.Root, tree.Common)
	}
	if w.Program, err = os.Executable(); err != nil {
		return w, err
	}
	for _, name := range []string{"PATH", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		if value := a.Getenv(name); value != "" {
			w.Env = append(w.Env, name+"="+value)
		}
	}
	return w, nil
}

// there lists the files of the worker that are installed, by path.
func (i installation) there() (list []string) {
	for _, name := range i.names {
		if path := filepath.Join(i.dir, name); workspace.Exists(path) {
			list = append(list, path)
		}
	}
	return list
}

// Install writes the units that start a worker's loop and its dreams, and has them
// started; with Remove it takes them away. Where the service manager cannot be asked it
// says what to type (fault.Found), and the files are written all the same.
func Install(ctx context.Context, a *workspace.Run, r InstallRequest) (*Installed, error) {
	i, err := r.installation(a)
	if err != nil {
		return nil, err
	}
	done := &Installed{Name: r.Name, Files: []Installee{}, DryRun: r.DryRun}
	if r.Remove {
		return done, i.remove(ctx, a, r, done)
	}
	files, err := i.write()
	if err != nil {
		return nil, workspace.Usage(err.Error(), "move it to a path without that")
	}
	var steps []workspace.SetupStep
	for _, f := range files {
		path := filepath.Join(i.dir, f.Name)
		done.Files = append(done.Files, Installee{Path: path, Text: f.Text})
		if r.Print {
			continue
		}
		file := workspace.HostFile{Path: path, Root: i.root(a)}
		before, err := file.Read()
		if err != nil {
			return nil, err
		}
		change := file.Change(before, []byte(f.Text))
		done.Files[len(done.Files)-1].Written = len(change) > 0
		steps = append(steps, change...)
	}
	if err := carryOut(steps, r.DryRun, done); err != nil || r.Print || r.DryRun {
		return done, writable(err, r)
	}
	if r.RunAs != "" {
		done.Hints = append(done.Hints, r.RunAs+" must own the repository and trust it: type sudo -u "+r.RunAs+" -H stig trust there")
	} else if runtime.GOOS != "darwin" {
		done.Hints = append(done.Hints, "its units end when you log out, unless you typed loginctl enable-linger")
	}
	if trust, err := a.TrustsActor(ctx, i.profile); err != nil {
		return nil, err
	} else if r.RunAs == "" && !trust.Agreed { // that of another user only that user sees
		done.Hints = append(done.Hints, "it runs what its file names when you trust that: type "+agreeing(trust, r.Name))
	}
	if err := i.control(ctx, a, i.starts(files, done.Changed)); err != nil {
		return done, err
	}
	done.Started = true
	return done, nil
}

// agreeing is what to type so that a worker's loop runs what its file names.
func agreeing(t workspace.ActorTrust, name string) string {
	if !t.Repository {
		return "stig trust"
	}
	return "stig worker resume " + name
}

// installation checks the request, and gives where the units go.
func (r InstallRequest) installation(a *workspace.Run) (installation, error) {
	p, _, err := actorHere(a, r.Name)
	if r.Remove && clone.CheckName(r.Name) == nil && p == nil {
		p, err = clone.DefaultProfile(r.Name), nil // its file may be gone
	}
	if err != nil {
		return installation{}, err
	}
	if !r.Remove && p.Command == "" {
		return installation{}, &fault.Error{Code: fault.Usage, ID: r.Name, Reason: "its file names no command", Hint: "write command: … into " + workspace.Shortest(p.Path)}
	}
	i, err := installationOf(a, p, r.RunAs)
	if err == nil && r.Remove && r.RunAs == "" && len(i.there()) == 0 { // those of the machine say no more than this
		if machine, err := installationOf(a, p, "root"); err == nil && len(machine.there()) > 0 {
			return machine, nil
		}
	}
	if err != nil || r.RunAs == "" {
		return i, err
	}
	as, err := user.Lookup(r.RunAs)
	switch {
	case err != nil && !r.Remove:
		return i, workspace.Usage("--run-as: "+r.RunAs+": no such user", "type useradd --create-home "+visible.Quoted(r.RunAs))
	case err == nil && as.Uid == "0":
		return i, workspace.Usage("--run-as: root may do everything, and so may what it runs", "give a user of its own, that owns the repository")
	case err == nil:
		i.worker.Writes = append(i.worker.Writes, as.HomeDir)
		i.worker.Env = i.worker.Env[:min(1, len(i.worker.Env))] // PATH; the rest is of another user
		i.write = i.worker.Systemd
	}
	return i, nil
}

// root is below what directories that are left empty go too.
func (i installation) root(a *workspace.Run) string {
	if home, err := a.HomeDir(); err == nil && strings.HasPrefix(i.dir, home) {
		return home
	}
	return i.dir
}

func carryOut(steps []workspace.SetupStep, dryRun bool, done *Installed) error {
	for _, step := range steps {
		if dryRun {
			done.Diff += step.Diff
		} else if err := step.Do(); err != nil {
			return err
		}
		done.Changed = true
	}
	return nil
}

// writable says what to type where the units of the machine cannot be written.
func writable(err error, r InstallRequest) error {
	if err == nil || r.RunAs == "" && !r.Remove || !errors.Is(err, os.ErrPermission) {
		return err
	}
	how := " --run-as " + r.RunAs
	if r.Remove {
		how = " --remove"
	}
	return &fault.Error{Code: fault.Usage, Reason: systemUnits + ": may only be written by root", Err: err, Hint: "type sudo stig worker install " + r.Name + how}
}

// remove stops the units, and removes all files that there may be of the worker.
func (i installation) remove(ctx context.Context, a *workspace.Run, r InstallRequest, done *Installed) error {
	var steps []workspace.SetupStep
	var units []string
	there := i.there()
	for _, path := range there {
		file := workspace.HostFile{Path: path, Root: i.root(a)}
		before, err := file.Read()
		if err != nil {
			return err
		}
		steps = append(steps, file.Change(before, nil)...)
		done.Files, units = append(done.Files, Installee{Path: path}), append(units, filepath.Base(path))
	}
	if r.DryRun || r.Print || len(there) == 0 {
		return carryOut(steps, true, done)
	}
	stopped := i.control(ctx, a, i.stops(units)) // which removes the links of the manager
	err := carryOut(steps, false, done)
	if err != nil {
		return writable(err, r)
	}
	if stopped != nil || runtime.GOOS == "darwin" {
		return stopped
	}
	if err := i.control(ctx, a, [][]string{i.systemctl("daemon-reload")}); err != nil {
		return err
	}
	for _, name := range units { // what failed is listed until then; what did not is an error
		_, _ = process.Run(ctx, process.Command{Argv: i.systemctl("reset-failed", name), Env: a.Environ()})
	}
	return nil
}

// starts and stops are the commands of a service manager after files were written and
// before they are removed. A loop whose unit changed is started again.
func (i installation) starts(files []UnitFile, changed bool) (list [][]string) {
	if runtime.GOOS == "darwin" {
		for _, f := range files {
			list = append(list, []string{"launchctl", "load", "-w", filepath.Join(i.dir, f.Name)})
		}
		return list
	}
	list = append(list, i.systemctl("daemon-reload"), i.systemctl("enable", i.worker.Service()), i.systemctl("enable", "--now", i.worker.Daily()))
	if changed {
		list = append(list, i.systemctl("restart", i.worker.Service()))
	} else {
		list = append(list, i.systemctl("start", i.worker.Service()))
	}
	if i.worker.Dream > 0 {
		list = append(list, i.systemctl("enable", "--now", i.worker.Timer()))
	}
	return list
}

func (i installation) stops(units []string) (list [][]string) {
	if runtime.GOOS == "darwin" {
		for _, name := range units {
			list = append(list, []string{"launchctl", "unload", "-w", filepath.Join(i.dir, name)})
		}
		return list
	}
	return [][]string{i.systemctl(append([]string{"disable", "--now"}, units...)...)}
}

func (i installation) systemctl(args ...string) []string {
	if i.worker.User == "" {
		return append([]string{"systemctl", "--user"}, args...)
	}
	return append([]string{"systemctl"}, args...)
}

// control runs commands of a service manager, and says what to type where one fails.
func (i installation) control(ctx context.Context, a *workspace.Run, commands [][]string) error {
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
			for _, word := range argv { // systemd's names have backslashes
				words = append(words, visible.Quoted(word))
			}
			left = append(left, strings.Join(words, " "))
		}
		return &fault.Error{Code: fault.Found, ID: i.worker.Actor, Err: err, Reason: fmt.Sprintf("the files are as they should be, and the service manager could not be asked: %s", why),
			Hint: "type " + strings.Join(left, "; ")}
	}
	return nil
}
