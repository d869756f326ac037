package workers

import (
	"cmp"
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

// inboxOptions are the flags of stig inbox.
type inboxOptions struct {
	read             traces.InboxRequest
	wait             bool
	ack, all, dryRun bool
}

// InboxCommand returns stig inbox.
func InboxCommand(a *cli.App) *cobra.Command {
	var o inboxOptions
	cmd := &cobra.Command{
		Use:   "inbox [--ack ITEM…]",
		Short: "list what concerns you, or acknowledge items",
		Long: "List what concerns an actor and is not acknowledged, by issue, oldest first: traces and\n" +
			"mentions for it, its roles or its kind, answers, feedback on its issues, findings on issues\n" +
			"that they wait for, issues that became ready, were closed or reopened, failed checks, and\n" +
			"what it watches. Its own changes are left out. The list begins with the actor's first sign of\n" +
			"life in this clone, or without one seven days ago.\n\n" +
			"--ack acknowledges the given items, or none of them if one is not in the inbox. A trace that\n" +
			"answers another one, with --re, acknowledges that.",
		Args:    cli.Takes(0, -1, "items"),
		Example: "  stig inbox\n  stig inbox --actor netty --role network --wait\n  stig inbox --ack --all",
		RunE:    func(cmd *cobra.Command, args []string) error { return inbox(cmd.Context(), a, args, o) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&o.read.Roles, "role", nil, "also serve `ROLE`, besides the roles of the actor's file")
	flags.BoolVar(&o.wait, "wait", false, "wait until there is an item")
	flags.BoolVar(&o.read.Acked, "acked", false, "also list acknowledged items")
	flags.BoolVar(&o.ack, "ack", false, "acknowledge the given items")
	flags.BoolVar(&o.all, "all", false, "list the items of all projects; with --ack, acknowledge all items")
	cli.Filters(cmd, "role")
	a.Writes(cmd, &o.dryRun)
	cli.Exclude(cmd, "ack", "wait", "acked")
	cli.Exclude(cmd, "all", "wait")
	cli.Needs(cmd, "ack", "dry-run")
	return cmd
}

func inbox(ctx context.Context, a *cli.App, items []string, o inboxOptions) error {
	look := traces.ReadInbox
	switch {
	case o.ack:
		return acknowledge(ctx, a, traces.AckRequest{Items: items, All: o.all, Roles: o.read.Roles, DryRun: o.dryRun})
	case len(items) > 0:
		return workspace.Usage("inbox: takes items with --ack only; found "+visible.Quoted(items[0]), "type stig inbox --ack "+visible.Quoted(items[0]))
	case o.wait:
		defer actors.Watching(ctx, a.Run)()
		look = traces.WaitInbox
	case o.all:
		look = traces.ReadInboxes
	}
	return list(ctx, a, o.read, look)
}

func list(ctx context.Context, a *cli.App, r traces.InboxRequest, look func(context.Context, *workspace.Run, traces.InboxRequest) (*traces.Inbox, error)) error {
	in, err := look(ctx, a.Run, r)
	return a.Result("inbox", in, err, func() error { return printInbox(a, r, in) })
}

func printInbox(a *cli.App, r traces.InboxRequest, in *traces.Inbox) error {
	s := a.Sheet()
	for i, item := range in.Items {
		if i == 0 || !item.IsBeside(in.Items[i-1]) {
			title := item.Issue + "  " + visible.OneLine(item.Title)
			if item.Project != "" {
				title = item.Project + "  " + title
			}
			s.Line(cli.Strong, cli.CutLine(title, cli.ListWidth))
		}
		s.Line(cli.Plain, cli.CutLine("  "+itemLine(item), cli.ListWidth))
		s.Line(cli.Typed, "    "+item.Command)
	}
	s.Line(cli.Plain, visible.Counted(len(in.Items), "item"))
	s.Unread(in.Unreadable)
	if err := a.Show(s); err != nil {
		return err
	}
	if at := slices.IndexFunc(in.Items, func(item traces.Item) bool { return !item.Acked }); at >= 0 {
		of := ownerFlags(a, r)
		hint := "type " + cmp.Or(in.Items[at].Stig, "stig ") + "inbox --ack " + visible.Quoted(in.Items[at].ID) + of + " when it is dealt with"
		if !in.All {
			hint += ", or stig inbox --ack --all" + of
		}
		a.Hint(hint)
	}
	list := "stig resolve --list"
	if in.All {
		list += " --all"
	}
	switch in.Questions {
	case 0:
	case 1:
		a.Hint("1 question waits for a person: " + list)
	default:
		a.Hint(visible.Counted(in.Questions, "question") + " wait for a person: " + list)
	}
	return nil
}

// ownerFlags returns the flags that select the same inbox in another command.
func ownerFlags(a *cli.App, r traces.InboxRequest) (flags string) {
	if a.Actor != "" {
		flags = " --actor " + visible.Quoted(a.Actor)
	}
	for _, role := range r.Roles {
		flags += " --role " + visible.Quoted(role)
	}
	return flags
}

// itemLine formats an item as a line: its id, why it is there, when, who, and what.
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
