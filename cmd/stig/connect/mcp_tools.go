package connect

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"unicode/utf8"

	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/internal/lint"
	"stig/internal/service"
	"stig/internal/service/night"
	"stig/internal/service/traces"
	"stig/internal/workspace"
	"stig/orient"
	"stig/signals"
)

// tools returns the tools that an assistant needs to work, each named after its command. What
// only a person may do (waive, trust, answer) is not among them.
func tools() []tool {
	return []tool{{
		name: "orient", title: "Read before working", effect: reads,
		about: "What to read before working: with an id the briefing of that issue, as deep as it is uncertain; without, the " +
			"survey of all issues with one recommended next step.",
		params: []param{
			{"id", text, "issue to read about; leave out for the survey of all", false},
			{"depth", text, cli.Either(signals.PlanningDepth.Domain()) + " instead of the issue's own", false},
			{"budget", integer, "maximum number of characters, 2000 to 8000", false},
		},
		gives: slices.Concat(surveyKeys(), briefingKeys()), answer: orientTool,
	}, {
		name: "ready", title: "What can be started", effect: reads,
		about:  "Issues that nothing blocks, those you can take first, by priority and by how many issues wait for them.",
		params: []param{{"limit", integer, "maximum number of issues; default 20", false}},
		gives:  []param{{"ready", rows, "", false}, {"total", integer, "", false}, {"can_take", integer, "", false}, {"waiting", rows, "issues that wait for something other than an issue", false}}, answer: readyTool,
	}, {
		name: "claim", title: "Take an issue", effect: writes,
		about:  "Claim an issue before you work on it: it becomes yours and in progress. Refused if somebody else holds it or a question on it is unanswered. Without an id, the first issue that you can take.",
		params: []param{{"id", text, "issue to take", false}},
		gives: slices.Concat(edited(), []param{{"id", text, "", false}, {"title", text, "", false}, {"assignee", text, "", false}, {"status", text, "", false},
			{"changed", boolean, "false: it was yours already", false}, {"until", text, "when the claim ends unless you write to the issue", false},
			{"upon", text, "the request for review that work on it is stacked upon, and the branch to begin at", false}}), answer: claimTool,
	}, {
		name: "checkpoint", title: "Leave the state of an issue", effect: writes,
		about: "Leave the state of an issue for whoever comes next: signals, and the parts of the state estimate. " +
			"A part given replaces that part only; changed names the texts that disappear. Give only what you know.",
		params: checkpointParams(),
		gives: slices.Concat(edited(), []param{{"id", text, "", false}, {"changed", rows, "signals and parts, with old and new values", false}, {"sections", texts, "", false},
			{"alerts", rows, "", false}, {"dependents", rows, "", false}, {"asked", text, "", false}, {"findings", rows, "problems that remain", false}, {"folded", rows, "", false}}), answer: checkpointTool,
	}, {
		name: "escalate", title: "Ask a person", effect: writes,
		about: "Ask a person for a decision that neither the issues nor the code settle. The question is kept with the " +
			"issue and blocks it: nobody can claim or close it before the answer. Go on with other work.",
		params: []param{
			{"id", text, "", true}, {"question", text, "what needs a decision, and which information is missing", true},
			{"options", texts, "the alternatives, each with the reasons for it", false},
			{"process", boolean, "ask whether the way of working should change", false},
		},
		gives: slices.Concat(edited(), []param{{"id", text, "", false}, {"changed", rows, "", false}, {"sections", texts, "", false}, {"alerts", rows, "", false},
			{"dependents", rows, "", false}, {"asked", text, "the hash of the question", false}, {"ready", rows, "what you can take meanwhile", false}}), answer: escalateTool,
	}, {
		name: "verify", title: "Run the acceptance checks", effect: runs,
		about:  "Run the commands in an issue's acceptance criteria and report each result. It closes nothing.",
		params: []param{{"id", text, "", true}, {"plan", boolean, "only report what would run, and why the rest would not", false}},
		gives:  verdictKeys(), answer: verifyTool,
	}, {
		name: "close", title: "Close issues whose checks pass", effect: runs,
		about: "Close issues whose acceptance criteria pass; the commands in them are run first. Refused, and the issue stays open, if one " +
			"fails, if there is nothing to run, or while a question on it is unanswered.",
		params: []param{{"ids", texts, "issues to close", true}, {"reason", text, "what exists now that did not before, and how you know that it works", false},
			{"not_planned", text, "instead of a reason: why nobody will do them; nothing is run", false}},
		gives: append(verdictKeys(), param{"verdicts", rows, "of several issues", false}), answer: closeTool,
	}, {
		name: "create", title: "Add an issue", effect: writes,
		about: "Add an issue. Put the commands that prove it done into acceptance, in a block marked verify.", params: []param{
			{"title", text, "", true}, {"description", text, "what to do, and why", false},
			{"acceptance", text, "how to tell that it works, with the commands that prove it", false},
			{"type", text, cli.Either(checkpoint.Types()) + "; default task", false}, {"priority", integer, "0 (most urgent) to 4; default 2", false},
			{"parent", text, "id of the epic it belongs to", false}, {"deps", texts, "ids that it waits for, or TYPE:ID", false},
			{"labels", texts, "", false}, {"cynefin", text, "clear, complicated, complex or chaotic", false},
		},
		gives: slices.Concat(edited(), []param{{"id", text, "", false}, {"title", text, "", false}, {"after", texts, "what it waits for", false}, {"earlier", boolean, "", false}}), answer: createTool,
	}, {
		name: "trace", title: "Leave a finding, an error, a request or an answer", effect: writes,
		about: "Leave a message on an issue, which others find there and in briefings: finding (fields url or file), error (traceback), " +
			"log, code_snippet (file_name, code), request_for_help, completion; request, query, result, feedback to others.",
		params: []param{
			{"id", text, "issue to leave it on", true}, {"type", text, "one of these, or another from stig schema traces", true},
			{"message", text, "what it says, in one line", true}, {"body", text, "more of it, as Markdown", false},
			{"fields", texts, "NAME=VALUE, such as url=https://example.org", false},
			{"to", texts, "for whom: actors, roles, @all, @people or @agents", false}, {"re", text, "name of the trace that it answers", false},
		},
		gives: slices.Concat(edited(), []param{{"traces", rows, "name of each, and whether you had left it before", false}, {"warnings", texts, "", false}}), answer: traceTool,
	}, {
		name: "check", title: "Find problems in the issues", effect: reads,
		about: "Problems in the issues, the worst first: lines, signals, dependency cycles, links, criteria, credentials.",
		params: []param{{"against", text, "a git revision: also report what happened since the branch left it", false},
			{"id", text, "only this issue", false}},
		gives: []param{{"diagnostics", rows, "", false}, {"counts", object, "of all problems", false}, {"issues", integer, "how many were checked", false}}, answer: checkTool,
	}, {
		name: "recall", title: "Find what is known", effect: reads,
		about: "What the whole store knows about words, or about the subject of an issue: closed issues, checkpoints, findings and memories, the best first. Ask before you split or begin work.",
		params: []param{{"words", text, "what to look for; or use like", false}, {"like", text, "id of an issue, to search with its text", false},
			{"limit", integer, "maximum number of answers; default 5", false}},
		gives: []param{{"known", rows, "each with the best passage", false}, {"total", integer, "", false}, {"unread", rows, "places of the store that could not be read", false}}, answer: recallTool,
	}, {
		name: "inbox", title: "What others want from you", effect: reads,
		about:  "What concerns you and is not acknowledged: requests, mentions, answers, feedback, what became ready. Look here before you choose work.",
		params: []param{{"acked", boolean, "also acknowledged items", false}},
		gives:  []param{{"actor", text, "", false}, {"since", text, "", false}, {"items", rows, "each with why, and what to call", false}}, answer: inboxTool,
	}, {
		name: "ack", title: "Acknowledge inbox items", effect: writes,
		about:  "Take items off your inbox once they are dealt with. A trace that answers one, with re, does so itself.",
		params: []param{{"items", texts, "ids of items", true}},
		gives:  []param{{"actor", text, "", false}, {"acked", texts, "", false}, {"there", texts, "acknowledged before", false}, {"dry_run", boolean, "", false}}, answer: ackTool,
	}, {
		name: "morning", title: "What worker loops did", effect: reads,
		about:  "What worker loops did lately: done, waiting, failed, to land.",
		params: []param{{"since", text, "since when, such as 8h", false}},
		gives: []param{{"since", text, "", false}, {"until", text, "", false}, {"done", rows, "", false}, {"waits", rows, "questions to a person, each with the command that answers", false}, {"failed", rows, "", false},
			{"loops", rows, "", false}, {"in_review", rows, "issues with a request for review", false}, {"to_land", object, "", false}, {"cost", object, "", false}, {"outcomes", object, "number of runs by outcome", false}}, answer: morningTool,
	}, {
		name: "land", title: "Finished work that is not landed", effect: reads,
		about:  "Work that loops finished and that a person has yet to land.",
		params: []param{{"onto", text, "its branch", false}},
		gives:  []param{{"branch", text, "the branch that is checked out", false}, {"head", text, "", false}, {"issues", rows, "each with how much it changes, and what it is built on", false}}, answer: landTool,
	}}
}

func morningTool(ctx context.Context, a *workspace.Run, g args) (workspace.Output, bool, error) {
	m, err := night.ReadMorning(ctx, a, g.text("since"))
	if err == nil {
		night.HideStrangers(m.InReview)
	}
	return workspace.NewOutput("morning", m), false, err
}

func landTool(ctx context.Context, a *workspace.Run, g args) (workspace.Output, bool, error) {
	u, err := night.ToLand(ctx, a, g.text("onto"))
	return workspace.NewOutput("unlanded", u), false, err
}

func checkpointParams() []param {
	return []param{
		{"id", text, "", true},
		{"surprise", number, "0.0 exactly as described, 0.1-0.3 minor, 0.4-0.6 moderate, 0.7-0.9 major differences, 1.0 nothing as described", false},
		{"progress", text, "not-started, exploring, implementing, verifying or blocked", false},
		{"cynefin", text, "clear, complicated, complex or chaotic", false},
		{"confidence", text, "how well it is verified, such as locally-verified", false},
		{"evidence", text, "what was run to show that it works, and its output", false},
		{"done", text, "what was done; a part that is left out stays as it is", false}, {"learned", text, "what was learned", false},
		{"remains", text, "what remains", false}, {"downstream", text, "what issues that depend on this one should know", false},
		{"hypothesis", text, "", false}, {"intervention", text, "", false}, {"feedback", text, "", false}, {"stabilised", text, "", false},
		{"question", text, "what is uncertain", false},
		{"replace", boolean, "the parts given replace the whole estimate", false},
		{"fold", boolean, "return and remove the estimates of other branches that merges kept", false},
	}
}

// edited returns the keys of every edit.
func edited() []param {
	return []param{{"issues", texts, "issues that were written", false}, {"dry_run", boolean, "", false}}
}

// orientTool lowers the budget until the object is short enough: a budget counts the text of a
// briefing, and the keys come on top.
func orientTool(ctx context.Context, a *workspace.Run, g args) (workspace.Output, bool, error) {
	budget := cmp.Or(g.whole("budget"), resultLimit)
	r := service.OrientRequest{ID: g.text("id"), Depth: g.text("depth"), Budget: budget}
	most := min(max(budget, orient.MinBudget), resultLimit)
	for range 3 {
		found, err := service.Orient(ctx, a, r)
		if err != nil {
			return workspace.Output{}, false, err
		}
		out := found.Output()
		object, err := out.JSON()
		if err != nil || r.Budget <= orient.MinBudget || utf8.RuneCount(object) <= most {
			return out, false, err
		}
		r.Budget = max(orient.MinBudget, r.Budget*most/utf8.RuneCount(object)*7/8)
	}
	found, err := service.Orient(ctx, a, r)
	if err != nil {
		return workspace.Output{}, false, err
	}
	return found.Output(), false, nil
}

func readyTool(ctx context.Context, a *workspace.Run, g args) (workspace.Output, bool, error) {
	found, err := service.Ready(ctx, a, "")
	if err != nil {
		return workspace.Output{}, false, err
	}
	return found.Output(cmp.Or(g.whole("limit"), 20)), false, nil
}

func claimTool(ctx context.Context, a *workspace.Run, g args) (workspace.Output, bool, error) {
	var claimed *checkpoint.Claimed
	var err error
	_, named := g["id"]
	switch id := g.text("id"); {
	case named && id == "": // the caller may have meant a certain issue: do not take another instead
		err = workspace.Usage("the id of the issue is empty", "leave it out to take the first that is ready")
	case named:
		claimed, err = service.Claim(ctx, a, service.ClaimRequest{ID: id})
	default:
		if claimed, err = service.ClaimNext(ctx, a, false); err == nil && claimed == nil {
			err = workspace.Usage("nothing can be taken now", "call orient to see what waits, and for whom")
		}
	}
	if err != nil {
		return workspace.Output{}, false, err
	}
	out, err := workspace.EditOutput("claim", claimed, claimed.Lines, false)
	return out, false, err
}

func traceTool(ctx context.Context, a *workspace.Run, g args) (workspace.Output, bool, error) {
	said := traces.Said{Message: g.text("message"), Body: g.text("body"), Fields: g.list("fields"), To: g.list("to"), Re: g.text("re")}
	draft, err := said.Draft(g.text("id"), g.text("type"))
	if err != nil {
		return workspace.Output{}, false, err
	}
	added, err := traces.Add(ctx, a, traces.AddRequest{Drafts: []traces.Draft{draft}})
	if err != nil {
		return workspace.Output{}, false, err
	}
	out, err := workspace.EditOutput("trace-added", added, added.Changes, false)
	return out, false, err
}

func checkpointTool(ctx context.Context, a *workspace.Run, g args) (workspace.Output, bool, error) {
	r := service.CheckpointRequest{
		ID: g.text("id"), Signals: map[signals.Signal]string{}, Replace: g.flag("replace"), Fold: g.flag("fold"),
		Estimate: signals.Estimate{Done: g.text("done"), Learned: g.text("learned"), Remains: g.text("remains"), Downstream: g.text("downstream"),
			Hypothesis: g.text("hypothesis"), Intervention: g.text("intervention"), Feedback: g.text("feedback"), Stabilised: g.text("stabilised"), Questions: g.text("question")},
	}
	if surprise, given := g["surprise"].(float64); given {
		r.Signals[signals.Surprise] = strconv.FormatFloat(surprise, 'f', -1, 64)
	}
	for _, s := range []signals.Signal{signals.Progress, signals.Cynefin, signals.Confidence} {
		if value := g.text(s.String()); value != "" {
			r.Signals[s] = value
		}
	}
	if evidence := g.text("evidence"); evidence != "" {
		r.Evidence = &evidence
	}
	report, err := service.Checkpoint(ctx, a, r)
	if err != nil {
		return workspace.Output{}, false, err
	}
	out, err := workspace.EditOutput("checkpoint", report, report.Lines, false)
	return out, false, err
}

func escalateTool(ctx context.Context, a *workspace.Run, g args) (workspace.Output, bool, error) {
	q := checkpoint.Question{Text: g.text("question"), Options: g.list("options"), Process: g.flag("process")}
	asked, err := service.Escalate(ctx, a, service.EscalateRequest{ID: g.text("id"), Question: q})
	if err != nil {
		return workspace.Output{}, false, err
	}
	out, err := workspace.EditOutput("escalate", asked, asked.Lines, false)
	return out, false, err
}

func verifyTool(ctx context.Context, a *workspace.Run, g args) (workspace.Output, bool, error) {
	found, err := service.Verify(ctx, a, service.VerifyRequest{ID: g.text("id"), Plan: g.flag("plan")})
	if err != nil {
		return workspace.Output{}, false, err
	}
	out, err := service.VerdictOutput([]service.Finding{found})
	return out, found.Err != nil, err
}

func closeTool(ctx context.Context, a *workspace.Run, g args) (workspace.Output, bool, error) {
	found, err := service.Close(ctx, a, g.ids("ids"), service.CloseOptions{Reason: g.text("reason"), NotPlanned: g.text("not_planned")}, func(service.Finding) error { return nil })
	if err != nil {
		return workspace.Output{}, false, err
	}
	out, err := service.VerdictOutput(found)
	return out, slices.ContainsFunc(found, func(f service.Finding) bool { return f.Closed == nil }), err
}

func createTool(ctx context.Context, a *workspace.Run, g args) (workspace.Output, bool, error) {
	d := checkpoint.Draft{
		Title: g.text("title"), Description: g.text("description"), Acceptance: g.text("acceptance"), Type: cmp.Or(g.text("type"), "task"),
		Priority: 2, Parent: g.text("parent"), Labels: g.list("labels"), Cynefin: g.text("cynefin"),
	}
	if priority, given := g["priority"].(float64); given {
		var err error
		if d.Priority, err = checkpoint.ParsePriority(strconv.Itoa(int(priority))); err != nil {
			return workspace.Output{}, false, err
		}
	}
	for _, dep := range g.ids("deps") {
		d.Deps = append(d.Deps, checkpoint.ParseDep(dep))
	}
	created, err := service.Create(ctx, a, service.CreateRequest{Draft: d})
	if err != nil {
		return workspace.Output{}, false, err
	}
	out, err := workspace.EditOutput("created", created, created.Lines, false)
	return out, false, service.Printed(a, created.ID, err)
}

func checkTool(ctx context.Context, a *workspace.Run, g args) (workspace.Output, bool, error) {
	checked, err := service.Check(ctx, a, service.CheckRequest{Command: "check", Against: g.text("against")})
	if err != nil {
		return workspace.Output{}, false, err
	}
	if id := g.text("id"); id != "" {
		file, at, missing := service.OpenIssue(a, id)
		if missing == nil {
			id = file.At(at).ID
			_ = file.Close()
		}
		checked.Found = slices.DeleteFunc(checked.Found, func(d lint.Diagnostic) bool { return d.ID != id })
		if missing != nil && len(checked.Found) == 0 { // findings may be about an issue that vanished from the store
			return workspace.Output{}, false, missing
		}
	}
	checked.Found = lint.WorstFirst(checked.Found)
	return checked.Output(), false, nil
}

// recallTool searches the whole store.
func recallTool(_ context.Context, a *workspace.Run, g args) (workspace.Output, bool, error) {
	known, err := traces.Recall(a, traces.RecallRequest{Words: g.text("words"), Like: g.text("like"), Limit: cmp.Or(g.whole("limit"), traces.RecallLimit)})
	return workspace.NewOutput("recall", known), false, err
}
