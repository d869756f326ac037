package workspace

import (
	"context"
	"errors"
	"time"

	"stig/internal/beads"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/project"
	"stig/internal/store/jsonl"
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
