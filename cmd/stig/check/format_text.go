package check

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stig/cmd/stig/cli"
	"stig/internal/lint"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// print writes an outcome as text or JSON for a command without --format, and returns ending.
func (r outcome) print(a *cli.App) error {
	render := asText
	if a.JSON {
		render = asJSON
	}
	text, err := render(a, r)
	if err == nil {
		_, err = io.WriteString(a.Out, text)
	}
	if err != nil {
		return err
	}
	return r.ending()
}

func asText(a *cli.App, r outcome) (string, error) {
	var text strings.Builder
	written{&text, map[[2]string]bool{}, a.Quiet, r.fold}.all(r.Found)
	writeProven(&text, r.Proven)
	writeCounts(&text, lint.Count(r.Found), r.Issues)
	return workspace.Visible(text.String()), nil
}

// written writes diagnostics as text.
type written struct {
	text  *strings.Builder
	given map[[2]string]bool // the hints already printed, by rule
	quiet bool               // omit hints
	fold  bool               // see outcome.fold
}

// The limits for folding. If one rule has warnings about more issues than mostWarned, or more
// than mostLines warnings, those about the first fewWarned issues are printed, at most
// mostLines, and one line for the rest. More than mostInfos infos become a single line. A
// folded line names at most mostNamed ids.
const (
	mostWarned = 5
	fewWarned  = 3
	mostLines  = 12
	mostInfos  = 2
	mostNamed  = 5
)

// all writes the findings, worst first. Errors are never folded.
func (w written) all(found []lint.Diagnostic) {
	for _, group := range lint.ByRule(found) {
		whole := len(group)
		switch {
		case !w.fold || group[0].Severity == lint.Error:
		case group[0].Severity == lint.Info && whole > mostInfos:
			whole = 0
		case group[0].Severity == lint.Warning && (ofFirst(group, mostWarned) < whole || whole > mostLines):
			whole = min(ofFirst(group, fewWarned), mostLines)
		}
		for _, d := range group[:whole] {
			w.one(d)
		}
		w.folded(group[whole:], whole > 0)
	}
}

// ofFirst returns how many diagnostics are about the first few issues.
func ofFirst(group []lint.Diagnostic, issues int) int {
	for at, d := range group {
		if at == 0 || d.Place() != group[at-1].Place() && (d.ID == "" || d.ID != group[at-1].ID) {
			issues--
		}
		if issues < 0 {
			return at
		}
	}
	return len(group)
}

// one writes a diagnostic, and its hint on its first occurrence, since repeated hints would
// bury the findings. With fold, that is once a rule for warnings, always for errors, and never
// for infos.
func (w written) one(d lint.Diagnostic) {
	fmt.Fprintf(w.text, "%s: %s: %s [%s]\n", d.Severity, d.Place(), d.Message, d.Rule)
	said := [2]string{d.Rule, d.Hint}
	if w.fold && d.Severity != lint.Error {
		said[1] = ""
	}
	if d.Hint != "" && !w.quiet && !w.given[said] && !(w.fold && d.Severity == lint.Info) {
		w.given[said] = true
		fmt.Fprintf(w.text, "  hint: %s\n", strings.ReplaceAll(d.Hint, "\n", "\n  "))
	}
}

// folded writes several findings of one rule as one line.
func (w written) folded(group []lint.Diagnostic, more bool) {
	if len(group) == 0 {
		return
	}
	rule, _ := lint.Named(group[0].Rule)
	count, ids := fmt.Sprint(len(group)), []string{}
	if more {
		count += " more"
	}
	for _, d := range group {
		if place := cmp.Or(d.ID, d.Place()); !slices.Contains(ids, place) {
			ids = append(ids, place)
		}
		if len(ids) > mostNamed {
			ids[mostNamed] = "…"
			break
		}
	}
	fmt.Fprintf(w.text, "%s: %s × %s: %s: %s (stig check --all)\n", group[0].Severity, count, rule.ID, rule.Summary, strings.Join(ids, ", "))
}

// writeProven prints how many of the closed issues passed again.
func writeProven(text *strings.Builder, proofs []service.Proof) {
	if proofs == nil {
		return
	}
	passed, reused := 0, 0
	for _, p := range proofs {
		if p.Passed {
			passed++
		}
		if p.Reused {
			reused++
		}
	}
	fmt.Fprintf(text, "verified again: %d of %s pass", passed, visible.Counted(len(proofs), "issue"))
	if reused > 0 {
		fmt.Fprintf(text, ", %d already verified on this tree", reused)
	}
	text.WriteString("\n")
}

func writeCounts(text *strings.Builder, counts lint.Counts, issues int) {
	fmt.Fprintf(text, "%s, %s, %s", visible.Counted(issues, "issue"), visible.Counted(counts.Error, "error"), visible.Counted(counts.Warning, "warning"))
	if counts.Info > 0 {
		fmt.Fprintf(text, ", %d info", counts.Info)
	}
	if counts.Waived > 0 {
		fmt.Fprintf(text, ", %s", visible.Counted(counts.Waived, "waiver"))
	}
	text.WriteString("\n")
}

func asJSON(_ *cli.App, r outcome) (string, error) {
	text, err := r.Output().JSON()
	return string(text) + "\n", err
}

// inRepository returns a file name as CI reports use it: relative to the root of the checkout,
// with slashes.
func inRepository(a *cli.App, path string) string {
	full, err := filepath.Abs(path)
	if err != nil {
		return filepath.ToSlash(path)
	}
	root := a.Getenv("GITHUB_WORKSPACE")
	if root == "" {
		root, err = os.Getwd()
	}
	below, errRel := filepath.Rel(root, full)
	if err != nil || errRel != nil || !filepath.IsLocal(below) {
		return filepath.ToSlash(full)
	}
	return filepath.ToSlash(below)
}

// asURI returns a path in SARIF's form: relative if it is below the root.
func asURI(path string) string {
	if strings.HasPrefix(path, "/") {
		return (&url.URL{Scheme: "file", Path: path}).String()
	}
	return (&url.URL{Path: path}).String()
}

// indented returns indented JSON, for files that people open.
func indented(body any) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(body)
	return text.String(), err
}
