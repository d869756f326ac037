package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/project"
	"stig/internal/store/jsonl"
	"stig/internal/visible"
)

// edgesOf returns the dependencies of a store on other projects.
func (a *Run) edgesOf(p beads.Place) *project.Edges {
	a.cached.Lock()
	defer a.cached.Unlock()
	if a.cached.edges == nil {
		a.cached.edges = map[string]*project.Edges{}
	}
	if a.cached.edges[p.Dir] == nil {
		a.cached.edges[p.Dir] = project.NewEdges(project.Host{
			Ctx: a.context, Now: a.Now, Open: a.uncached, Git: func(dir string) git.Client { return a.GitIn(dir) },
			Projects: func() map[string]project.Setting { return a.Config.Projects },
			Command:  func(edge string) string { return a.Config.Gate.External[edge] },
			Prove:    func(ctx context.Context, id, command string) (bool, error) { return a.prove(ctx, p, id, command) },
			Requests: func() func(*beads.Issue) (int, bool) { return a.Config.requestOf() },
		}, p)
	}
	return a.cached.edges[p.Dir]
}

func (a *Run) context() context.Context {
	if a.Ctx == nil {
		return context.Background()
	}
	return a.Ctx
}

// uncached returns the store of another project: the cache is for the store of this run.
func (a *Run) uncached(p beads.Place) beads.Store {
	store := a.Bare(p)
	if s, ok := store.(*jsonl.Store); ok {
		s.Cache = nil
	}
	return store
}

// Unread is a project that cannot be read, or only in part.
type Unread struct {
	Project string `json:"project"`
	Path    string `json:"path"`
	Why     string `json:"why"`
}

// Projects returns a run in this project and in each configured one, each with its name, and the
// projects that are not on this machine. The error is that of this project.
func (a *Run) Projects(ctx context.Context) (runs []*Run, unread []Unread, err error) {
	store, err := a.DiscoverToRead()
	if err != nil {
		return nil, nil, err
	}
	here, others := project.Around(a.Config.Projects, store.Place())
	a.Project, a.Alone = here.Name, len(others) == 0
	runs = []*Run{a}
	for _, p := range others {
		in := a.inProject(ctx, p)
		if err := project.Here(p.Path); err != nil {
			unread = append(unread, in.unread(err.Error()))
		} else {
			runs = append(runs, in)
		}
	}
	return runs, unread, nil
}

// Everywhere calls read with a run in this project and in each configured one, and returns the
// projects of which anything could not be read. The error is that of this project. Runs in other
// projects write nothing there, and their warnings name the project.
func (a *Run) Everywhere(ctx context.Context, read func(in *Run) error) (unread []Unread, err error) {
	runs, unread, err := a.Projects(ctx)
	for _, in := range runs {
		in.ReadOnly = in != a
		switch err := read(in); {
		case err != nil && in == a:
			return nil, err
		case err != nil:
			in.damage = Classify(err).Message
		}
		if in.damage != "" {
			unread = append(unread, in.unread(in.damage))
		}
	}
	slices.SortFunc(unread, func(a, b Unread) int { return strings.Compare(a.Project, b.Project) })
	return unread, err
}

// InProject returns a run in a configured project, to write there; nil if none has that name. An
// error says that the project is not on this machine.
func (a *Run) InProject(ctx context.Context, name string) (*Run, error) {
	store, err := a.DiscoverToRead()
	if err != nil {
		return nil, err
	}
	here, others := project.Around(a.Config.Projects, store.Place())
	a.Project = here.Name
	for _, p := range others {
		if p.Name != name {
			continue
		}
		in := a.inProject(ctx, p)
		if err := project.Here(p.Path); err != nil {
			return nil, in.Located(err)
		}
		return in, nil
	}
	return nil, nil
}

// Located returns an error in another project as one that names the project and its directory.
func (a *Run) Located(err error) error {
	if err == nil {
		return nil
	}
	f := Classify(err)
	code := fault.Store
	if e, ok := errors.AsType[*fault.Error](err); ok {
		code = e.Code
	}
	return &fault.Error{Code: code, Reason: fmt.Sprintf("project %s (%s): %s", a.Project, a.Dir, a.unread(f.Message).Why),
		Hint: strings.ReplaceAll(f.Hint, "stig ", "stig -C "+visible.Quoted(a.Dir)+" "), Err: err}
}

// unread returns the project of a run as one that cannot be read. Paths in why are cut to those in
// the project.
func (a *Run) unread(why string) Unread {
	dir := cmp.Or(a.Dir, ".")
	why = strings.ReplaceAll(why, git.RealPath(dir)+string(filepath.Separator), "")
	return Unread{a.Project, dir, visible.OneLine(strings.TrimPrefix(why, dir+string(filepath.Separator)))}
}

// inProject returns a run in another project.
func (a *Run) inProject(ctx context.Context, p project.Project) *Run {
	in := a.Fresh(ctx, a.Running)
	in.Project, in.Dir, in.Store, in.Cache = p.Name, nearest(p.Path), "", nil
	in.Getenv = func(name string) string {
		if name == beadsDir {
			return ""
		}
		return a.Getenv(name)
	}
	in.Env = func() []string {
		return slices.DeleteFunc(slices.Clone(a.Env()), func(v string) bool { return strings.HasPrefix(v, beadsDir+"=") })
	}
	in.Say = func(l Level, text string) {
		if l == Warning && in.damage == "" {
			a.Say(l, p.Name+": "+text)
		}
	}
	return in
}

// beadsDir is a variable that names the store of this project.
const beadsDir = "BEADS_DIR"

// nearest returns a path relative to the working directory if that is shorter.
func nearest(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if below, err := filepath.Rel(here, path); err == nil && len(below) < len(path) {
		return below
	}
	return path
}

// Typed returns a command as it is typed in this project: with -C for a run in another one.
func (a *Run) Typed(command string) string {
	if rest, ok := strings.CutPrefix(command, "stig "); ok && a.ReadOnly {
		return "stig -C " + visible.Quoted(a.Dir) + " " + rest
	}
	return command
}

// externalTimeout limits a command of gate.external.
const externalTimeout = 30 * time.Second

// prove runs the command that proves a dependency of a store on another project, as checks run.
func (a *Run) prove(ctx context.Context, store beads.Place, id, command string) (bool, error) {
	code, err := a.Code(ctx, store)
	if err != nil {
		return false, err
	}
	if trusted, err := a.Trusted(ctx, code); err != nil || !trusted {
		return false, errors.New("its command in gate.external is not run, since this repository is not trusted; read .stig.cue, then type stig trust")
	}
	now, err := a.Clock()
	if err != nil {
		return false, err
	}
	return gate.Passes(ctx, gate.Job{
		Issue: id, Criteria: command, Checks: []gate.Check{{Text: command, Class: gate.Runnable}}, Root: code.Root,
		Env: a.Environ(), Pass: a.Config.Gate.Env, Sandbox: a.Config.Gate.Sandbox, Timeout: externalTimeout, Time: now, Now: a.Now,
	})
}
