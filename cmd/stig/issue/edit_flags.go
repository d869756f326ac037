package issue

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/internal/beads"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// read builds the request from the command line, a file, or the editor. The caller keeps the
// editor's draft until the edit is written.
func (f *editFlags) read(ctx context.Context, a *cli.App, cmd *cobra.Command, r *service.AmendRequest) (cli.Draft, error) {
	now, err := a.Clock()
	if err != nil {
		return cli.Draft{}, err
	}
	m, err := f.amendment(a, cmd, now)
	if err != nil {
		return cli.Draft{}, err
	}
	if r.Claim, err = f.claims(&m); err != nil {
		return cli.Draft{}, err
	}
	if f.fromProse {
		if !m.IsEmpty() || r.Claim || f.from != "" {
			return cli.Draft{}, workspace.Usage("--acceptance-from-prose: cannot be combined with other changes", "leave the others out")
		}
		var shown []string
		if r.Each, shown, err = service.FromProse(a.Run, r.IDs); err == nil && !a.JSON {
			err = a.Print(strings.Join(shown, ""))
		}
		return cli.Draft{}, err
	}
	if f.from != "" {
		if !m.IsEmpty() || r.Claim || len(r.IDs) > 0 {
			return cli.Draft{}, workspace.Usage("--from: the file names the issues and the fields; found more on the command line", "leave them out")
		}
		text, err := lines(a, f.from)
		if err == nil {
			r.IDs, r.Each, err = checkpoint.ParseAmendments(text, now)
		}
		return cli.Draft{}, err
	}
	if m.IsEmpty() && !r.Claim && len(r.IDs) == 1 && a.Asks() {
		draft, m, err := composeAmendment(ctx, a, r.IDs[0], now)
		r.Each = []checkpoint.Amendment{m}
		return draft, err
	}
	r.Each = []checkpoint.Amendment{m}
	return cli.Draft{}, nil
}

// claims reports whether to claim the issue: because of --claim, or of the status in_progress,
// which only a claim sets. It removes that status from the amendment.
func (f *editFlags) claims(m *checkpoint.Amendment) (bool, error) {
	if m.Status != nil && *m.Status == beads.StatusInProgress {
		f.claim, m.Status = true, nil
	}
	switch {
	case !f.claim:
		return false, nil
	case m.Status != nil:
		return false, workspace.Usage("--claim sets the status in_progress; found --status "+visible.Quoted(*m.Status), "omit one of them")
	case m.Assignee != nil && *m.Assignee != "@me":
		return false, workspace.Usage("a claim assigns the issue to you; found --assignee "+visible.Quoted(*m.Assignee), "leave --assignee out")
	}
	m.Assignee = nil
	return true, nil
}

// amendment reads the fields given on the command line, including empty ones.
func (f *editFlags) amendment(a *cli.App, cmd *cobra.Command, now time.Time) (m checkpoint.Amendment, err error) {
	input := ""
	for _, field := range []struct {
		name string
		to   **string
	}{
		{"title", &m.Title}, {"description", &m.Description}, {"design", &m.Design}, {"acceptance", &m.Acceptance},
		{"type", &m.Type}, {"assignee", &m.Assignee}, {"parent", &m.Parent}, {"external-ref", &m.ExternalRef},
		{"status", &m.Status}, {"notes", &m.Notes}, {"append-notes", &m.Append},
	} {
		text := given(cmd, field.name)
		if text == nil {
			continue
		}
		if *text == "-" {
			if input != "" {
				return m, workspace.Usage("--"+input+" and --"+field.name+" both read standard input", "give one of them as text")
			}
			input = field.name
			read, err := io.ReadAll(a.In)
			if err != nil {
				return m, err
			}
			*text = strings.TrimRight(string(read), "\n")
		}
		*field.to = text
	}
	m.AddLabels, m.RemoveLabels = f.add, f.remove
	if cmd.Flags().Changed("set-labels") {
		m.Labels = &f.set
	}
	return m, parsed(cmd, now, &m)
}

// parsed reads the fields that are not plain texts.
func parsed(cmd *cobra.Command, now time.Time, m *checkpoint.Amendment) error {
	if text := given(cmd, "priority"); text != nil {
		n, err := checkpoint.ParsePriority(*text)
		if err != nil {
			return err
		}
		m.Priority = &n
	}
	if text := given(cmd, "estimate"); text != nil {
		n, err := checkpoint.ParseEstimate(*text)
		if err != nil {
			return err
		}
		m.Estimate = &n
	}
	for _, day := range []struct {
		name string
		to   **time.Time
	}{{"defer", &m.Defer}, {"due", &m.Due}} {
		if text := given(cmd, day.name); text != nil {
			t, err := checkpoint.ParseDay(day.name, *text, now)
			if err != nil {
				return err
			}
			*day.to = &t
		}
	}
	return nil
}

// composeAmendment opens the fields of an issue in the editor.
func composeAmendment(ctx context.Context, a *cli.App, id string, now time.Time) (cli.Draft, checkpoint.Amendment, error) {
	form, err := service.OpenForm(a.Run, id)
	if err != nil {
		return cli.Draft{}, checkpoint.Amendment{}, err
	}
	draft, err := a.Compose(ctx, form.Text, "The fields of "+form.ID+". An empty field is removed.\n")
	if err != nil {
		return draft, checkpoint.Amendment{}, err
	}
	m, err := form.Read(draft.Text, now)
	return draft, m, err
}
