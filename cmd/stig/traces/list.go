package traces

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop/actors"
	"stig/internal/service/traces"
	"stig/internal/trace"
	"stig/internal/visible"
)

func listCommand(a *cli.App) *cobra.Command {
	var r traces.ListRequest
	follow := false
	cmd := &cobra.Command{
		Use:   "list [ID]",
		Short: "list the traces on an issue, or on all, oldest first",
		Long: "List the traces on an issue, or on all issues, oldest first. Comments without a type are\n" +
			"listed with the type comment. --follow keeps running and prints new traces, with --json one\n" +
			"a line.",
		Args:    cli.Takes(0, 1, "one issue at most"),
		Example: "  stig trace list demo-1\n  stig trace list --type error --since 1d --epic demo-4k2",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				r.Issue = args[0]
			}
			if follow {
				return followTraces(cmd.Context(), a, r)
			}
			list, err := traces.List(cmd.Context(), a.Run, r)
			return a.Result("traces", rows(list), err, func() error {
				s := a.Sheet()
				for _, l := range list {
					s.Line(cli.Plain, cli.CutLine(line(l), cli.ListWidth))
				}
				s.Line(cli.Plain, visible.Counted(len(list), "trace"))
				return a.Show(s)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&r.Types, "type", nil, "only this `TYPE`; separate several with commas")
	flags.StringSliceVar(&r.By, "by", nil, "only those left by `ACTOR`")
	flags.StringSliceVar(&r.To, "to", nil, "only those addressed `TO` an actor, a role, @all, @people or @agents")
	flags.StringVar(&r.Since, "since", "", "only since `WHEN`: a day, a time, or a span such as 3d")
	flags.StringVar(&r.Epic, "epic", "", "only on the epic `ID` and the issues within it")
	flags.BoolVarP(&follow, "follow", "f", false, "keep running and print new traces")
	cli.Filters(cmd, "type", "by", "to", "since", "epic")
	return cmd
}

// followTraces prints the existing traces, then each new one. After an event it lists the
// traces on the issue again, because the event has only their first lines.
func followTraces(ctx context.Context, a *cli.App, r traces.ListRequest) error {
	seen := map[string]bool{}
	tell := func(r traces.ListRequest) error {
		list, err := traces.List(ctx, a.Run, r)
		for _, l := range list {
			key := l.Issue + " " + l.Name
			if err != nil || seen[key] {
				continue
			}
			seen[key] = true
			if a.JSON {
				err = a.PrintJSON("trace", traces.RowOf(l))
			} else {
				err = a.Printf("%s\n", cli.CutLine(line(l), cli.ListWidth))
			}
		}
		return err
	}
	watched := traces.WatchRequest{Events: []string{traces.EventLeft}, Epic: r.Epic, Begun: func() error { return tell(r) }}
	if r.Issue != "" {
		watched.IDs = []string{r.Issue}
	}
	defer actors.Watching(ctx, a.Run)()
	return traces.Watch(ctx, a.Run, watched, func(e traces.Event) error {
		one := r
		one.Issue, one.Epic = e.ID, ""
		return tell(one)
	})
}

func showCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "show TRACE",
		Short: "show a whole trace, by its name",
		Long: "Show the trace of a name. The same words by the same author on several issues have one name,\n" +
			"and are shown one after the other.",
		Args:    cli.Takes(1, 1, "the name of one trace"),
		Example: "  stig trace show t-k2qhn5rzvw",
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := traces.Show(cmd.Context(), a.Run, args[0])
			return a.Result("traces", rows(list), err, func() error {
				var b strings.Builder
				for i, l := range list {
					if i > 0 {
						b.WriteString("\n")
					}
					fmt.Fprintf(&b, "%s\n\n%s\n", about(l), l.Whole())
				}
				return a.Print(b.String())
			})
		},
	}
}

// listed is traces as JSON.
type listed struct {
	Traces []traces.Row `json:"traces"`
}

func rows(list []trace.Entry) listed {
	rows := listed{[]traces.Row{}}
	for _, l := range list {
		rows.Traces = append(rows.Traces, traces.RowOf(l))
	}
	return rows
}

// line returns a trace on one line.
func line(l trace.Entry) string {
	said := l.Summary
	if !l.IsTrace() {
		said = l.Body
	}
	return about(l) + ": " + visible.OneLine(said)
}

// about returns a trace's name, issue, type, time and author.
func about(l trace.Entry) string {
	words := []string{l.Name, l.Issue, l.Type}
	if !l.At.IsZero() {
		words = append(words, visible.Moment(l.At))
	}
	if l.Source != "" {
		words = append(words, visible.OneLine(l.Source))
	}
	return strings.Join(words, "  ")
}
