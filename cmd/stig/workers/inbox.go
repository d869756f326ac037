package workers

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop/actors"
	"stig/internal/service/traces"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// InboxCommand is stig inbox.
func InboxCommand(a *cli.App) *cobra.Command {
	var r traces.InboxRequest
	wait := false
	cmd := &cobra.Command{
		Use:   "inbox",
		Short: "list what concerns you and you did not acknowledge",
		Long: "List what concerns an actor since its first sign of life and was not acknowledged, the\n" +
			"oldest first, by issue, each with why and with the command that deals with it: traces\n" +
			"and mentions for it, its roles or its kind, answers, feedback on its issues, findings on\n" +
			"what they wait for, what became ready, what was closed or opened again, checks that\n" +
			"failed, and what it watches. Nothing of its own is listed. Of an actor that left no sign\n" +
			"of life in this clone it is the last seven days.\n\n" +
			"The list is made from the store each time; stig ack ITEM takes an item off it. With\n" +
			"--wait the command ends as soon as there is something.",
		GroupID: "workers",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig inbox\n  stig inbox --actor netty --role network --wait",
		RunE: func(cmd *cobra.Command, _ []string) error {
			look := traces.ReadInbox
			if wait {
				defer actors.Watching(cmd.Context(), a.Run)()
				look = traces.WaitInbox
			}
			return list(cmd.Context(), a, r, look)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&r.Roles, "role", nil, "serve `ROLE` too, besides the roles of the actor's file")
	flags.BoolVar(&wait, "wait", false, "wait until there is something")
	flags.BoolVar(&r.Acked, "acked", false, "also what was acknowledged")
	cli.Filters(cmd, "role")
	a.Acts(cmd)
	return cmd
}

func list(ctx context.Context, a *cli.App, r traces.InboxRequest, look func(context.Context, *workspace.Run, traces.InboxRequest) (*traces.Inbox, error)) error {
	in, err := look(ctx, a.Run, r)
	return a.Result("inbox", in, err, func() error { return printInbox(a, r, in) })
}

func printInbox(a *cli.App, r traces.InboxRequest, in *traces.Inbox) error {
	s := a.Sheet()
	issue := ""
	for _, item := range in.Items {
		if item.Issue != issue {
			issue = item.Issue
			s.Line(cli.Strong, cli.CutLine(issue+"  "+visible.OneLine(item.Title), cli.ListWidth))
		}
		s.Line(cli.Plain, cli.CutLine("  "+itemLine(item), cli.ListWidth))
		s.Line(cli.Typed, "    "+item.Command)
	}
	s.Line(cli.Plain, visible.Counted(len(in.Items), "item"))
	if err := a.Show(s); err != nil {
		return err
	}
	if at := slices.IndexFunc(in.Items, func(item traces.Item) bool { return !item.Acked }); at >= 0 {
		of := ownerFlags(a, r)
		a.Hint("type stig ack " + visible.Quoted(in.Items[at].ID) + of + " when it is dealt with, or stig ack --all" + of)
	}
	switch in.Questions {
	case 0:
	case 1:
		a.Hint("1 question waits for a person: stig escalations")
	default:
		a.Hint(visible.Counted(in.Questions, "question") + " wait for a person: stig escalations")
	}
	return nil
}

// ownerFlags are the flags with which another command finds the same inbox.
func ownerFlags(a *cli.App, r traces.InboxRequest) (flags string) {
	if a.Actor != "" {
		flags = " --actor " + visible.Quoted(a.Actor)
	}
	for _, role := range r.Roles {
		flags += " --role " + visible.Quoted(role)
	}
	return flags
}

// itemLine is an item on one line: its id, why it is there, when, who, and what.
func itemLine(item traces.Item) string {
	words := []string{item.ID}
	if _, _, isKey := strings.Cut(item.ID, "/"); !isKey {
		words = append(words, item.Why)
	}
	if item.Acked {
		words = append(words, "acknowledged")
	}
	words = append(words, visible.Moment(item.At))
	if item.By != "" {
		words = append(words, visible.OneLine(item.By))
	}
	text := visible.OneLine(item.Text)
	if item.Type != "" {
		text = item.Type + ": " + text
	}
	return strings.Join(append(words, text), "  ")
}
