package traces

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"stig/internal/fault"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// addressed returns the project that a draft is for, as PROJECT:NAME in its addressees, and that
// name; nil if it is for this project.
func addressed(ctx context.Context, a *workspace.Run, d Draft) (in *workspace.Run, name string, err error) {
	to := texts(d.Content["to"])
	for _, whom := range to {
		project, name, ok := strings.Cut(whom, ":")
		if !ok {
			continue
		}
		in, err = a.InProject(ctx, project)
		switch {
		case err != nil:
			return nil, "", err
		case in == nil: // a role may contain a colon
		case len(to) > 1:
			return nil, "", workspace.Usage(fmt.Sprintf("to: %s is in another project; found %d addressees", whom, len(to)), "give it alone")
		case strings.TrimSpace(name) == "":
			return nil, "", workspace.Usage(fmt.Sprintf("to: must be PROJECT:NAME, an issue or an addressee there; found %q", whom), "")
		default:
			return in, strings.TrimSpace(name), nil
		}
	}
	return nil, "", nil
}

// addThere leaves a trace in another project. If name is an issue there, the trace is left on it,
// and says which issue here it comes from. Otherwise the trace is for name, and its issue is there.
func addThere(ctx context.Context, a, in *workspace.Run, name string, d Draft, dryRun bool) (*Added, error) {
	var err error
	if in.Actor, err = a.MustActor(ctx); err != nil {
		return nil, err
	}
	file, err := in.Open()
	if err != nil {
		return nil, in.Located(err)
	}
	_, isIssue := file.Index(name)
	_, hasIssue := file.Index(d.Issue)
	_ = file.Close()
	content := maps.Clone(d.Content)
	if content["to"] = name; isIssue {
		delete(content, "to")
		if d.Issue != name {
			if err := isHere(a, d.Issue); err != nil {
				return nil, err
			}
			d.Body = strings.TrimSpace(d.Body + "\n\nFrom " + d.Issue + " of project " + a.Project + ".")
		}
		d.Issue = name
	} else if !hasIssue {
		return nil, in.Located(&fault.Error{Code: fault.NotFound, Reason: fmt.Sprintf("no issue %s; a trace for an actor of that name is left on an issue there, and %s is none", visible.OneLine(name), d.Issue), Hint: "type " + in.Typed("stig list")})
	}
	d.Content = content
	added, err := Add(ctx, in, AddRequest{Drafts: []Draft{d}, DryRun: dryRun})
	if err != nil {
		return nil, in.Located(err)
	}
	added.Project = in.Project
	return added, nil
}

// isHere returns an error unless this project has an issue.
func isHere(a *workspace.Run, id string) error {
	file, err := a.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.Find(id)
	return err
}
