package connect

import (
	"context"
	"fmt"

	"stig/app"
	"stig/checkpoint"
	"stig/signals"
)

// The arguments of the tools. A pointer is an argument that may be left out
// where "" would say something.
type (
	orientCall struct {
		ID     string `json:"id,omitempty" jsonschema:"issue to be briefed on; leave out for the survey of all"`
		Depth  string `json:"depth,omitempty" jsonschema:"shallow, standard, deep or probe instead of the issue's own"`
		Budget int    `json:"budget,omitempty" jsonschema:"at most so many characters of text, 2000 at least"`
	}
	checkpointCall struct {
		ID         string   `json:"id"`
		Surprise   *float64 `json:"surprise,omitempty" jsonschema:"0.0 exactly as described, 0.1-0.3 minor, 0.4-0.6 moderate, 0.7-0.9 major differences, 1.0 nothing as described"`
		Progress   string   `json:"progress,omitempty" jsonschema:"not-started, exploring, implementing, verifying or blocked"`
		Cynefin    string   `json:"cynefin,omitempty" jsonschema:"clear, complicated, complex or chaotic"`
		Confidence string   `json:"confidence,omitempty" jsonschema:"how well it is shown to hold, such as locally-verified"`
		Done       string   `json:"done,omitempty" jsonschema:"what was done; a part that is left out stays as it is"`
		Learned    string   `json:"learned,omitempty" jsonschema:"what was learned"`
		Remains    string   `json:"remains,omitempty" jsonschema:"what remains"`
		Downstream string   `json:"downstream,omitempty" jsonschema:"what issues that depend on this one should know"`
		Replace    bool     `json:"replace,omitempty" jsonschema:"the parts given replace the whole estimate"`
		Fold       bool     `json:"fold,omitempty" jsonschema:"give back what merged branches also learned, and take it away"`
	}
	escalateCall struct {
		ID       string   `json:"id"`
		Question string   `json:"question" jsonschema:"what has to be decided, and why the issues do not hold enough to choose"`
		Options  []string `json:"options,omitempty" jsonschema:"the alternatives, each with what speaks for it"`
		Process  bool     `json:"process,omitempty" jsonschema:"ask whether the way of working should change"`
	}
	verifyCall struct {
		ID   string `json:"id"`
		Plan bool   `json:"plan,omitempty" jsonschema:"only report what would run, and why the rest would not"`
	}
	closeCall struct {
		IDs    []string `json:"ids" jsonschema:"issues to close"`
		Reason string   `json:"reason" jsonschema:"what exists now that did not before, and how you know that it works"`
	}
	checkCall struct {
		Against string `json:"against,omitempty" jsonschema:"a git revision: also what happened since the branch left it"`
	}
)

func orientTool(ctx context.Context, a *app.App, c orientCall) (app.Output, error) {
	found, err := a.Orient(ctx, app.OrientRequest{ID: c.ID, Depth: c.Depth, Budget: c.Budget, Whole: true, StaleDays: signals.ThresholdStaleDays})
	if err != nil {
		return app.Output{}, err
	}
	return found.Output(), nil
}

func checkpointTool(ctx context.Context, a *app.App, c checkpointCall) (app.Output, error) {
	r := app.CheckpointRequest{
		ID: c.ID, Signals: map[signals.Signal]string{}, Replace: c.Replace, Fold: c.Fold,
		Estimate: signals.Estimate{Done: c.Done, Learned: c.Learned, Remains: c.Remains, Downstream: c.Downstream},
	}
	if c.Surprise != nil {
		r.Signals[signals.Surprise] = fmt.Sprint(*c.Surprise)
	}
	for s, value := range map[signals.Signal]string{signals.Progress: c.Progress, signals.Cynefin: c.Cynefin, signals.Confidence: c.Confidence} {
		if value != "" {
			r.Signals[s] = value
		}
	}
	report, err := a.Checkpoint(ctx, r)
	if err != nil {
		return app.Output{}, err
	}
	return app.CheckpointOutput(report, r.DryRun)
}

func escalateTool(ctx context.Context, a *app.App, c escalateCall) (app.Output, error) {
	r := app.EscalateRequest{ID: c.ID, Question: checkpoint.Question{Text: c.Question, Options: c.Options, Process: c.Process}}
	asked, err := a.Escalate(ctx, r)
	if err != nil {
		return app.Output{}, err
	}
	return app.EscalateOutput(asked, r.DryRun)
}

func verifyTool(ctx context.Context, a *app.App, c verifyCall) (app.Output, error) {
	found, err := a.Verify(ctx, app.VerifyRequest{ID: c.ID, Plan: c.Plan})
	if err != nil {
		return app.Output{}, err
	}
	return app.VerdictOutput([]app.Finding{found})
}

func closeTool(ctx context.Context, a *app.App, c closeCall) (app.Output, error) {
	found, err := a.Close(ctx, c.IDs, app.CloseOptions{Reason: c.Reason}, func(app.Finding) error { return nil })
	if err != nil {
		return app.Output{}, err
	}
	return app.VerdictOutput(found)
}

func checkTool(ctx context.Context, a *app.App, c checkCall) (app.Output, error) {
	checked, err := a.Check(ctx, app.CheckRequest{Command: "check", Against: c.Against})
	if err != nil {
		return app.Output{}, err
	}
	return checked.Output(), nil
}
