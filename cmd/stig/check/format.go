package check

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/lint"
	"stig/internal/service"
	"stig/internal/workspace"
)

// outcome is the result of a check, as passed to every format.
type outcome struct {
	*service.Checked
	strict bool
	fold   bool // fold repeated findings of one rule in text output
}

// fails reports whether a diagnostic of this severity causes exit code 1.
func (r outcome) fails(s lint.Severity) bool {
	return s == lint.Error || r.strict && s == lint.Warning
}

// ending returns the error with which the command exits; nil if the check passed.
func (r outcome) ending() error {
	if slices.ContainsFunc(r.Found, func(d lint.Diagnostic) bool { return r.fails(d.Severity) }) {
		return workspace.Found()
	}
	return nil
}

// outputs are the flags of a check.
type outputs struct {
	strict  bool
	all     bool // check only: do not fold findings
	formats []string
}

func (o *outputs) bind(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.strict, "strict", false, "fail on warnings too")
	cmd.Flags().StringArrayVar(&o.formats, "format", nil,
		"print as `F`: "+cli.Either(formatNames())+"; F=FILE writes a file instead; may be repeated")
}

// format renders an outcome.
type format struct {
	name   string
	render func(*cli.App, outcome) (string, error)
}

var formats = []format{
	{"text", asText}, {"json", asJSON}, {"github", asGitHub},
	{"sarif", asSARIF}, {"junit", asJUnit},
}

func formatNames() (names []string) {
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// destination is a format and the file it goes to; "" is standard output.
type destination struct {
	format
	file string
}

// destinations parses the flags. Standard output takes one format, text by default; each other
// format needs a file.
func destinations(a *cli.App, o outputs) ([]destination, error) {
	var all []destination
	var printed string
	if a.JSON {
		o.formats = append([]string{"json"}, o.formats...)
	}
	for _, text := range o.formats {
		name, file, toFile := strings.Cut(text, "=")
		at := slices.IndexFunc(formats, func(f format) bool { return f.name == name })
		if at < 0 {
			return nil, workspace.Usage(fmt.Sprintf("--format: must be one of %s; found %q", strings.Join(formatNames(), ", "), name), "")
		}
		if toFile && file == "" {
			return nil, workspace.Usage(fmt.Sprintf("--format %s: no file after the =", text), "")
		}
		if !toFile && printed != "" && printed != name {
			return nil, workspace.Usage(fmt.Sprintf("--format: %s and %s both write to standard output", printed, name), "write one to a file: --format "+name+"=FILE")
		}
		if !toFile && printed == name {
			continue
		}
		if !toFile {
			printed = name
		}
		all = append(all, destination{formats[at], file})
	}
	if printed == "" {
		all = append(all, destination{formats[0], ""})
	}
	return all, nil
}

// keepStore returns an error if a report would overwrite the store.
func keepStore(store string, to []destination) error {
	kept, err := os.Stat(store)
	if workspace.IsAbsent(err) { // a store on a server may have no file
		return nil
	}
	if err != nil {
		return err
	}
	for _, t := range to {
		if at, err := os.Stat(t.file); t.file != "" && err == nil && os.SameFile(at, kept) {
			return workspace.Usage(fmt.Sprintf("--format %s=%s: this file is the store", t.name, t.file), "name another file")
		}
	}
	return nil
}

// deliver writes an outcome in every requested format, and returns ending.
func deliver(a *cli.App, r outcome, to []destination) error {
	for _, t := range to {
		text, err := t.render(a, r)
		if err != nil {
			return err
		}
		if t.file == "" {
			_, err = io.WriteString(a.Out, text)
		} else if err = os.WriteFile(t.file, []byte(text), 0o644); err != nil {
			err = workspace.Usage("--format: "+workspace.Placed(err).Error(), "name a writable file")
		}
		if err != nil {
			return err
		}
	}
	if len(r.Found) > 0 && slices.ContainsFunc(to, func(t destination) bool { return t.name == "text" && t.file == "" }) {
		a.Hint(fmt.Sprintf("stig explain %s shows why this rule exists", lint.WorstFirst(r.Found)[0].Rule))
	}
	return r.ending()
}
