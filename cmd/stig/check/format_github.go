package check

import (
	"fmt"
	"os"
	"strings"

	"stig/cmd/stig/cli"
	"stig/internal/lint"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// asGitHub writes workflow commands, which become annotations of a pull request; worst first,
// because GitHub shows only some of each kind. If the run has a summary page, asGitHub writes a
// table to it.
func asGitHub(a *cli.App, r outcome) (string, error) {
	var text strings.Builder
	for _, d := range lint.WorstFirst(r.Found) {
		message := d.Place() + ": " + d.Message
		if d.Hint != "" {
			message += "\nhint: " + d.Hint
		}
		fmt.Fprintf(&text, "::%s file=%s,line=%d,title=%s::%s\n", githubLevel(d.Severity),
			commandProperty(inRepository(a, d.File)), max(1, d.Line), commandProperty(d.Rule), commandData(message))
	}
	if page := a.Getenv("GITHUB_STEP_SUMMARY"); page != "" {
		if err := appendTo(page, summaryPage(r)); err != nil {
			return "", err
		}
	}
	return workspace.Visible(text.String()), nil
}

func githubLevel(s lint.Severity) string {
	if s == lint.Info {
		return "notice"
	}
	return string(s)
}

// commandData and commandProperty escape characters that would end a workflow command or one of
// its properties.
func commandData(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

func commandProperty(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(text)
}

// summaryPage returns the outcome as Markdown. GitHub cuts long pages, so it lists only the
// worst.
func summaryPage(r outcome) string {
	const most = 50
	c := lint.Count(r.Found)
	var text strings.Builder
	fmt.Fprintf(&text, "### stig %s\n\n%s: %s, %s, %d info\n", r.Command,
		visible.Counted(r.Issues, "issue"), visible.Counted(c.Error, "error"), visible.Counted(c.Warning, "warning"), c.Info)
	if len(r.Found) == 0 {
		return text.String() + "\n"
	}
	text.WriteString("\n| | place | rule | what |\n|---|---|---|---|\n")
	for i, d := range lint.WorstFirst(r.Found) {
		if i == most {
			fmt.Fprintf(&text, "\nand %d more\n", len(r.Found)-most)
			break
		}
		fmt.Fprintf(&text, "| %s | %s | %s | %s |\n", d.Severity, markdownCell(d.Place()), d.Rule, markdownCell(d.Message))
	}
	return text.String() + "\n"
}

// markdownCell escapes text so that it can neither end the cell nor be markup.
func markdownCell(text string) string {
	return strings.NewReplacer("\n", " ", `\`, `\\`, "|", `\|`, "<", "&lt;", "&", "&amp;", "`", "\\`", "*", `\*`, "_", `\_`,
		"[", `\[`, "!", `\!`, "@", "@\u200b").Replace(workspace.Visible(text))
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
