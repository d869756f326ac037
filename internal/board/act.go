package board

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/checkpoint"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/loop/actors"
	"stig/internal/service"
	"stig/internal/service/night"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/signals"
)

// outcome is the result of a form.
type outcome struct {
	alert  alert
	status int
	typed  url.Values // what was typed into it, to be filled in again
}

// act is what a form does, through the same service as its command. do returns the message to
// show.
type act struct {
	all bool // allowed only if Options.Local
	do  func(ctx context.Context, a *workspace.Run, name string, form url.Values) (said string, err error)
}

// issueActs returns what forms do with an issue, by the last element of their path.
func issueActs() map[string]act {
	return map[string]act{
		"resolve":    {false, resolve},
		"comment":    {false, comment},
		"checkpoint": {true, leave},
		"claim": {true, func(ctx context.Context, a *workspace.Run, id string, _ url.Values) (string, error) {
			_, err := service.Claim(ctx, a, service.ClaimRequest{ID: id})
			return "claimed", err
		}},
		"release": {true, func(ctx context.Context, a *workspace.Run, id string, _ url.Values) (string, error) {
			_, err := service.Release(ctx, a, service.ReleaseRequest{ID: id})
			return "released", err
		}},
		"reopen": {true, func(ctx context.Context, a *workspace.Run, id string, form url.Values) (string, error) {
			if strings.TrimSpace(form.Get("text")) == "" {
				return "", workspace.Usage("a reason is missing", "describe the problem in the form")
			}
			reopened, err := service.Reopen(ctx, a, service.ReopenRequest{ID: id, Reason: form.Get("text")})
			if err != nil {
				return "", err
			}
			if !reopened.Changed { // the reason was not written
				return "", &fault.Error{Code: fault.Conflict, ID: reopened.ID, Reason: "is not closed (status " + reopened.Status + "), nothing changed", Hint: "leave a comment instead"}
			}
			a.WarnOfEdit(reopened.ID, reopened.Warnings, reopened.Lines)
			return "reopened", nil
		}},
		"verify": {true, runChecks},
		"undo":   {false, undo},
		"take":   {true, take},
		"return": {true, sendBack},
		"edit":   {true, edit},
	}
}

// storeActs returns what forms do with no issue or worker, by the last element of their path.
func storeActs() map[string]act {
	return map[string]act{"seen": {true, seen}, "create": {true, create}, "save": {true, save}, "forget": {true, forget}, "land": {true, takeAll}}
}

// announced are the acts whose result is not seen on the page of their form.
var announced = []string{"take", "land", "return", "stop"}

// actsOf returns what forms do below the path of a request, the name of the issue or the worker
// there, and the page to show in place of a form.
func actsOf(r *http.Request) (acts map[string]act, name, page string) {
	if id := r.PathValue("id"); id != "" {
		return issueActs(), id, "/issues/" + url.PathEscape(id)
	}
	if name := r.PathValue("name"); name != "" {
		return actorActs(), name, "/actors/" + url.PathEscape(name)
	}
	return storeActs(), "", "/issues"
}

// actorActs returns what forms do with a worker, by the last element of their path.
func actorActs() map[string]act {
	change := func(said string, do func(context.Context, *workspace.Run, actors.WorkerRequest) (*actors.Worker, error)) act {
		return act{true, func(ctx context.Context, a *workspace.Run, name string, form url.Values) (string, error) {
			_, err := do(ctx, a, actors.WorkerRequest{Name: name, Why: form.Get("text")})
			return said, err
		}}
	}
	return map[string]act{"pause": change("paused", actors.Pause), "resume": change("resumed", actors.Resume), "drain": change("will stop after its current run", actors.Drain), "stop": change("stopped", actors.Kill)}
}

// post carries out a form and redirects to the page of the form.
func (b *Board) post(w http.ResponseWriter, r *http.Request) {
	acts, name, _ := actsOf(r)
	verb, ok := acts[r.PathValue("verb")]
	if !ok || verb.all && !b.options.Local {
		b.missing(w, r)
		return
	}
	a := b.options.Run.Fresh(r.Context(), "board "+r.PathValue("verb"))
	a.Terminal, a.Progress = false, nil
	var warnings []string
	a.Say = func(level workspace.Level, text string) {
		if level == workspace.Warning {
			warnings = append(warnings, text)
		}
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // the form has been read, and checks may take long
	said, err := verb.do(r.Context(), a, name, r.PostForm)
	for _, old := range []string{searchWork, searchLandings, searchLog, searchMorning} {
		b.keeper.forget(old)
	}
	b.hub.changed()
	back := b.backOf(r, "back")
	if err != nil {
		f := workspace.Classify(err)
		b.show(w, r, back, &outcome{alert{Bad: true, Text: f.Message, Hint: f.Hint, Lost: written(r.PostForm)}, statusOf(err), r.PostForm})
		return
	}
	if r.PostForm.Get("then") != "" {
		back = b.backOf(r, "then")
	}
	if len(warnings) > 0 || slices.Contains(announced, r.PathValue("verb")) {
		if name != "" {
			said = name + ": " + said
		}
		b.show(w, r, back, &outcome{alert{Text: said, Hint: strings.Join(warnings, "; ")}, http.StatusOK, nil})
		return
	}
	b.door.patient(w)
	http.Redirect(w, r, back, http.StatusSeeOther)
}

// written returns the texts that were typed into a form.
func written(form url.Values) string {
	var all []string
	for _, field := range []string{"text", "done", "learned", "remains", "downstream", "title", "description", "criteria"} {
		if text := strings.TrimSpace(form.Get(field)); text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, "\n\n")
}

// backOf returns the page that a field of a form names: "back" is that of the form, "then" that
// after its success. It returns "/" if that is not a page of this board.
func (b *Board) backOf(r *http.Request, field string) string {
	back := r.PostForm.Get(field)
	if u, err := url.Parse(back); err == nil && u.Host == "" && u.Scheme == "" && strings.HasPrefix(u.Path, "/") && !strings.HasPrefix(back, "//") && !strings.Contains(back, "\\") {
		if _, _, err := b.look(r.Context(), back); err == nil {
			return back
		}
	}
	return "/"
}

// resolve answers the question of the form. It returns an error if the question has changed.
func resolve(ctx context.Context, a *workspace.Run, id string, form url.Values) (string, error) {
	hash := form.Get("question")
	if hash == "" {
		return "", workspace.Usage("the form names no question", "reload the page")
	}
	option := 0
	if text := form.Get("option"); text != "" {
		var err error
		if option, err = strconv.Atoi(text); err != nil || option < 1 {
			return "", workspace.Usage("option: must be the number of an option; found "+strconv.Quote(text), "reload the page")
		}
	}
	text := strings.TrimSpace(form.Get("text"))
	if option == 0 && text == "" {
		return "", workspace.Usage("the answer is empty", "choose an option, or enter an answer in the form")
	}
	answering, err := service.OpenQuestion(ctx, a, id, false)
	if err != nil {
		return "", err
	}
	answered, err := answering.Resolve(ctx, checkpoint.Answer{Question: hash, Option: option, Text: text, Self: form.Get("self") != ""})
	if err != nil {
		return "", err
	}
	fresh := clone.FreshAnswer{Issue: answered.ID, Question: hash, Words: visible.ClippedBytes(visible.OneLine(strings.Replace(answered.Answer, "\n\n", " · ", 1)), 200), By: answering.By}
	if err := service.RememberAnswer(a, fresh); err != nil {
		a.Warn("the answer cannot be undone here: %v", err)
	}
	a.WarnOfEdit(answered.ID, answered.Warnings, answered.Lines)
	return "answered", nil
}

// seen records that the viewer has read what was done, as stig morning does.
func seen(_ context.Context, a *workspace.Run, _ string, _ url.Values) (string, error) {
	now, err := a.Clock()
	if err != nil {
		return "", err
	}
	return "seen", night.MorningRead(a, &night.Morning{Until: now})
}

func comment(ctx context.Context, a *workspace.Run, id string, form url.Values) (string, error) {
	if strings.TrimSpace(form.Get("text")) == "" {
		return "", workspace.Usage("the comment is empty", "enter a comment in the form")
	}
	_, err := service.Comment(ctx, a, service.CommentRequest{ID: id, Text: form.Get("text")})
	return "commented", err
}

// leave writes a checkpoint. It warns of what its command prints: replaced texts, which the
// form does not show, alerts and findings.
func leave(ctx context.Context, a *workspace.Run, id string, form url.Values) (string, error) {
	r := service.CheckpointRequest{ID: id, Signals: map[signals.Signal]string{}, Estimate: signals.Estimate{
		Done: strings.TrimSpace(form.Get("done")), Learned: strings.TrimSpace(form.Get("learned")),
		Remains: strings.TrimSpace(form.Get("remains")), Downstream: strings.TrimSpace(form.Get("downstream")),
	}}
	for name, s := range map[string]signals.Signal{"surprise": signals.Surprise, "progress": signals.Progress} {
		if value := strings.TrimSpace(form.Get(name)); value != "" {
			r.Signals[s] = value
		}
	}
	if len(r.Signals) == 0 && r.Estimate == (signals.Estimate{}) {
		return "", workspace.Usage("nothing to write", "fill in at least one field of the form")
	}
	report, err := service.Checkpoint(ctx, a, r)
	if err != nil {
		return "", err
	}
	for _, c := range report.Changed {
		if _, is := signals.Named(c.Signal); !is && c.From != "" {
			a.Warn("%s: replaced; was %s", c.Signal, short(c.From, 200))
		}
	}
	for _, alert := range report.Alerts {
		a.Warn("alert %s: %s", alert.Rule, alert.Message)
	}
	for _, f := range report.Findings {
		a.Warn("finding %s: %s; %s", f.Rule, f.Message, f.Hint)
	}
	a.WarnOfEdit(report.ID, report.Warnings, report.Lines)
	return "checkpoint written", nil
}

// runChecks runs the checks of an issue if they are trusted.
func runChecks(ctx context.Context, a *workspace.Run, id string, _ url.Values) (string, error) {
	found, err := service.Verify(ctx, a, service.VerifyRequest{ID: id})
	if err != nil {
		return "", err
	}
	switch {
	case found.Err != nil:
		return "", found.Err
	case found.Failed():
		return "", &fault.Error{Code: fault.Found, ID: id, Reason: "did not pass: " + found.GateRun.Verdict.Summary(), Hint: "see the output of the checks under Proof"}
	}
	return "passed", nil
}
