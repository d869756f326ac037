package traces

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service/traces"
	"stig/internal/trace"
)

// addFlags are the flags of one trace.
type addFlags struct {
	text   cli.Text
	body   string
	fields []string
	to     []string
	re     string
	from   string
}

func addCommand(a *cli.App) *cobra.Command {
	var r traces.AddRequest
	var f addFlags
	cmd := &cobra.Command{
		Use:   "add ID TYPE",
		Short: "leave a trace on an issue, and print its name",
		Long: "Leave a trace on an issue, closed ones too, and print its name. The same trace by the same\n" +
			"actor is left once. The types, and what each needs:\n\n" + typesHelp() + "\n" +
			"The message is the first line; further lines go before the body. --field sets the other\n" +
			"fields by name, and may be repeated; code, traceback and result become a fenced block. With\n" +
			"--from, each line of a file is a JSON object with issue, type, content, summary and body, and\n" +
			"all are left or none.\n\n" +
			"--to PROJECT:NAME leaves it in a project of the configuration. If NAME is an issue there, the\n" +
			"trace is left on that issue, and says that it comes from ID here. Otherwise NAME is an actor\n" +
			"or a role there, and ID is an issue there.",
		Args: func(cmd *cobra.Command, args []string) error {
			if f.from != "" {
				return cli.Takes(0, 0, "nothing besides --from")(cmd, args)
			}
			return cli.Takes(2, 2, "an issue and a type")(cmd, f.dash(args))
		},
		Example: "  stig trace add demo-1 finding -m 'the office publishes a month at a time' --field url=https://example.org/tides\n" +
			"  go test ./... 2>&1 | tail -20 | stig trace add demo-1 error -m 'go test' --field traceback=-\n" +
			"  stig trace add demo-1 request --to network -m 'is the gauge reachable from outside?'\n" +
			"  stig trace add demo-1 finding --to api:api-7 -m 'the token lasts an hour, not a day'",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			var draft cli.Draft
			if f.from != "" {
				r.Drafts, err = fromLines(a, f.from)
			} else {
				args = f.dash(args)
				r.Drafts = make([]traces.Draft, 1)
				r.Drafts[0], draft, err = f.draft(cmd.Context(), a, args[0], args[1])
			}
			if err != nil {
				return err
			}
			added, err := traces.Add(cmd.Context(), a.Run, r)
			if err = a.Keep(draft, err); err != nil {
				return err
			}
			return printAdded(a, added, r.DryRun)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.text.Message, "message", "m", "", "the first line, as `TEXT`")
	flags.StringVar(&f.body, "body", "", "read the body from `FILE` (- for standard input)")
	flags.StringArrayVar(&f.fields, "field", nil, "a field as `NAME=VALUE`; NAME=- reads it from standard input")
	flags.StringSliceVar(&f.to, "to", nil, "address it to `WHOM`: an actor, a role, @all, @people, @agents, or PROJECT:NAME")
	flags.StringVar(&f.re, "re", "", "the `TRACE` that it answers")
	flags.StringVar(&f.from, "from", "", "read traces from `FILE`, one JSON object a line (- for standard input)")
	a.Writes(cmd, &r.DryRun)
	cli.Exclude(cmd, "from", "message", "body", "field", "to", "re")
	return cmd
}

// typesHelp returns a line of help for each type.
func typesHelp() string {
	var b strings.Builder
	for _, k := range trace.Kinds() {
		if k.Own != "" {
			continue
		}
		fmt.Fprintf(&b, "  %-17s %s; needs %s\n", k.Type, k.For, k.Needs())
	}
	return b.String()
}

// dash takes the argument - as --body -.
func (f *addFlags) dash(args []string) []string {
	t := cli.Text{File: f.body}
	args = t.Dash(args)
	f.body = t.File
	return args
}

// draft returns the trace that the flags describe or, if none is given at a terminal, what the
// person writes in the editor.
func (f *addFlags) draft(ctx context.Context, a *cli.App, id, kind string) (d traces.Draft, kept cli.Draft, err error) {
	if f.text.Message == "" && f.body == "" && len(f.fields) == 0 && a.Asks() {
		if kept, err = a.Compose(ctx, traces.Form(kind), "A trace on "+id+". The text between the first line and the last paragraph is Markdown.\n"); err != nil {
			return d, kept, err
		}
		d, err = traces.Composed(id, kind, kept.Text)
		return d, kept, err
	}
	said := traces.Said{Message: f.text.Message, To: f.to, Re: f.re, Fields: slices.Clone(f.fields)}
	if said.Body, err = a.Read(cli.Text{File: f.body}); err != nil {
		return d, kept, err
	}
	for i, field := range said.Fields {
		key, read := strings.CutSuffix(field, "=-")
		if !read {
			continue
		}
		text, err := a.Read(cli.Text{File: "-"})
		if err != nil {
			return d, kept, err
		}
		said.Fields[i] = key + "=" + text
	}
	d, err = said.Draft(id, kind)
	return d, kept, err
}

func fromLines(a *cli.App, from string) ([]traces.Draft, error) {
	text, err := a.Read(cli.Text{File: from})
	if err != nil {
		return nil, err
	}
	return traces.ReadDrafts([]byte(text))
}
