package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"stig/checkpoint"
	"stig/criteria"
	"stig/notes"
	"stig/signals"
	"stig/verify"
)

// finding is what became of one issue before the gate.
type finding struct {
	id        string
	trial     *trial             // nil when it did not come so far
	closed    *checkpoint.Closed // nil when it was not asked for, or refused
	escalated bool               // the failure was put to a person
	dryRun    bool
	err       error // why it went no further
}

// code is the exit code for this issue alone.
func (f finding) code() int {
	switch {
	case f.err != nil:
		return classify(f.err).code
	case f.failed(), f.closed != nil && f.closed.Unkept != "":
		return exitFound
	}
	return exitDone
}

// failed reports whether its checks ran and did not all pass.
func (f finding) failed() bool {
	return f.trial != nil && f.trial.verdict != nil && !f.trial.verdict.Passed()
}

// object is the finding as data.
func (f finding) object() map[string]any {
	o := map[string]any{
		"id": f.id, "passed": false, "reused": false, "checks": []criteria.Check{}, "criteria_hash": "",
		"criteria_changed": false, "tree": nil, "closed": false, "close_reason": "", "unblocked": []string{},
		"escalated": f.escalated, "dry_run": f.dryRun,
	}
	if t := f.trial; t != nil {
		o["checks"], o["criteria_hash"], o["reused"] = t.plan, verify.Hash(t.criteria), t.reused
		if t.edited != nil {
			o["criteria_changed"], o["criteria_edited"] = true, t.edited
		}
		if v := t.verdict; v != nil {
			o["passed"], o["checks"], o["tree"] = v.Passed(), v.Outcomes(), v.Tree()
		}
	}
	if c := f.closed; c != nil {
		var ids []string
		for _, ref := range c.Unblocked {
			ids = append(ids, ref.ID)
		}
		o["closed"], o["already"], o["close_reason"] = !f.dryRun || c.Already, c.Already, c.Reason
		if c.Unkept != "" {
			o["reason_not_kept"] = c.Unkept
		}
		o["unblocked"], o["nearer"], o["epic"] = append([]string{}, ids...), c.Nearer, c.Epic
		o["alerts"], o["warnings"] = append([]checkpoint.Alert{}, c.Alerts...), append([]string{}, c.Warnings...)
	}
	if f.err != nil {
		said := classify(f.err)
		o["error"] = map[string]any{"code": said.code, "message": said.message, "hint": said.hint}
	}
	return o
}

// tell prints a finding for a reader as soon as it is there; data waits for the end.
func (a *app) tell(f finding) error {
	if a.json {
		return nil
	}
	return a.printFinding(f)
}

// conclude prints what was found as data, one issue by itself and several as a
// list, and ends with the worst of their exit codes.
func (a *app) conclude(findings []finding) error {
	worst := exitDone
	list := []map[string]any{}
	for _, f := range findings {
		worst = max(worst, f.code())
		object := f.object()
		if f.dryRun && f.closed != nil {
			diff, err := diffText(f.closed.Lines)
			if err != nil {
				return err
			}
			object["diff"] = diff
		}
		list = append(list, object)
	}
	var err error
	switch {
	case a.json && len(findings) == 1 && findings[0].trial == nil && findings[0].err != nil:
		return findings[0].err
	case a.json && len(findings) == 1:
		err = a.printJSON("verdict", list[0])
	case a.json:
		err = a.printJSON("verdicts", map[string]any{"verdicts": list})
	}
	if err == nil && worst != exitDone {
		err = &endedError{worst}
	}
	return err
}

// printFinding prints a finding for a reader.
func (a *app) printFinding(f finding) error {
	t := f.trial
	if t != nil && t.edited != nil {
		a.warnOfEdited(t)
	}
	if _, refused := errors.AsType[*refusalError](f.err); refused {
		text := planText(t)
		if !t.asks() {
			text += "what could show it:\n" + t.fence()
		}
		if err := a.print(text); err != nil {
			return err
		}
	}
	if f.err != nil {
		said := classify(f.err)
		a.complain(said.message, said.hint)
		return nil
	}
	if t != nil && t.reused {
		a.note("%s: its checks passed on this very tree before, and are not run again", t.id)
	}
	if t != nil && t.verdict != nil && f.closed == nil {
		if err := a.printVerdict(t); err != nil {
			return err
		}
	}
	switch {
	case f.escalated:
		return a.printf("%s: put to a person, escalation is pending\n", f.id)
	case f.closed == nil && f.dryRun && !f.failed():
		return a.printf("%sonce they pass it is closed, with the reason\n  Verified: … All acceptance criteria pass: …\n", planText(t))
	case f.closed == nil:
		return nil
	case f.dryRun && !f.closed.Already:
		return a.printDiff(f.closed.Lines)
	}
	return a.printClosed(f.closed)
}

func (a *core) warnOfEdited(t *trial) {
	a.warn("%s: %s", t.id, t.edited)
	for _, text := range t.edited.Gone {
		a.warn("%s: no longer among them: %s", t.id, firstLine(text))
	}
}

// printVerdict says how the checks went: in one line when they passed, with
// command, exit code and last lines of those that did not.
func (a *app) printVerdict(t *trial) error {
	v := t.verdict
	if v.Passed() {
		return a.printf("%s: %s\n", t.id, v.Summary())
	}
	var text strings.Builder
	failed := 0
	for _, o := range v.Outcomes() {
		if o.Passed() {
			continue
		}
		failed++
		outcomeText(&text, o)
	}
	return a.printf("%s: %d of %d checks did not pass\n%s", t.id, failed, len(v.Outcomes()), text.String())
}

func outcomeText(text *strings.Builder, o verify.Outcome) {
	if o.Exit == verify.ExitNotRun {
		fmt.Fprintf(text, "not run: %s\n", firstLine(o.Text))
		return
	}
	fmt.Fprintf(text, "exit %d after %.1fs: %s\n", o.Exit, o.Seconds, firstLine(o.Text))
	if o.Reason != "" {
		fmt.Fprintf(text, "  %s\n", o.Reason)
	}
	text.WriteString(setIn(o.Tail))
	if o.Log != "" {
		fmt.Fprintf(text, "  whole output: %s\n", shortest(o.Log))
	}
}

// planText says what of the criteria would run, and why the rest would not.
func planText(t *trial) string {
	var text strings.Builder
	would := 0
	for _, c := range t.plan {
		if c.Class == criteria.Runnable {
			would++
		}
	}
	fmt.Fprintf(&text, "%s: %s\n", t.id, counted(would, "command")+" would run")
	for _, c := range t.plan {
		fmt.Fprintf(&text, "%s (%s, line %d)", c.Class, c.Origin, c.Line)
		if c.Reason != "" {
			text.WriteString(": " + c.Reason)
		}
		text.WriteString("\n" + setIn(c.Text))
	}
	return text.String()
}

// setIn is a text with each line set in, and a newline at its end.
func setIn(text string) string {
	if text == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ") + "\n"
}

// firstLine is a command by its first line.
func firstLine(command string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(command), "\n")
	if rest != "" {
		return first + " …"
	}
	return first
}

// printClosed says how the issue was closed and what follows.
func (a *app) printClosed(c *checkpoint.Closed) error {
	if c.Already {
		if err := a.printf("%s: closed already, nothing changed\n  %s\n", c.ID, c.Reason); err != nil || c.Unkept == "" {
			return err
		}
		a.complain(fmt.Sprintf("%s: the reason given now was not kept", c.ID),
			"to keep it too: stig checkpoint "+c.ID+" --learned …")
		return nil
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s: closed\n  %s\n", c.ID, c.Reason)
	for _, ref := range c.Unblocked {
		fmt.Fprintf(&text, "ready now: %s %s\n", ref.ID, ref.Title)
	}
	if c.Nearer > 0 {
		fmt.Fprintf(&text, "nearer: %s\n", counted(c.Nearer, "more issue"))
	}
	if e := c.Epic; e != nil {
		fmt.Fprintf(&text, "epic %s %s: %d of %d closed\n", e.ID, e.Title, e.Closed, e.Total)
	}
	for _, alert := range c.Alerts {
		fmt.Fprintf(&text, "alert %s: %s\n", alert.Rule, alert.Message)
	}
	if c.Epic.Complete() && !a.quiet {
		fmt.Fprintf(&text, "next: stig close %s --reason …\n", c.Epic.ID)
	}
	if err := a.print(text.String()); err != nil {
		return err
	}
	a.warnOfEdit(c.ID, c.Warnings, c.Lines)
	a.hintOfEstimate(c)
	return nil
}

// hintOfEstimate says when those who wait for a closed issue get no state estimate
// of it.
func (a *app) hintOfEstimate(c *checkpoint.Closed) {
	if len(c.Unblocked)+c.Nearer == 0 {
		return
	}
	for _, line := range c.Lines {
		var issue struct {
			Notes string `json:"notes"`
		}
		if line.ID != c.ID || json.Unmarshal(line.After, &issue) != nil {
			continue
		}
		if _, left := signals.LastEstimate(notes.Parse(issue.Notes)); !left {
			a.hint("for those who wait for it: stig checkpoint " + c.ID + " --done … --learned … --downstream …")
		}
	}
}
