package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stig/checkpoint"
	"stig/internal/assistant"
	"stig/internal/beads"
	"stig/internal/lint"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/signals"
)

// Completion completes words from the store. Without a readable store it returns nothing, since
// a shell would print an error into the line.

// complete sets the completion of every command below root: arguments by their names in the
// usage, flags by their names.
func (a *App) complete(root *cobra.Command) {
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	for _, cmd := range root.Commands() {
		a.complete(cmd)
	}
	if words := strings.Fields(root.Use)[1:]; len(words) > 0 && root.ValidArgsFunction == nil {
		root.ValidArgsFunction = a.completeArgs(words)
	}
	each := func(f *pflag.Flag) {
		if _, taken := root.GetFlagCompletionFunc(f.Name); taken {
			return
		}
		if complete := a.completeFlag(f); complete != nil {
			_ = root.RegisterFlagCompletionFunc(f.Name, complete) // fails if the flag does not exist or is completed already
		}
	}
	root.LocalFlags().VisitAll(each)
	root.PersistentFlags().VisitAll(each)
}

// completer returns the completions of a word.
type completer func(cmd *cobra.Command, given []string, word string) []cobra.Completion

func (c completer) function() cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return c(cmd, args, word), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeArgs completes the arguments that a usage names: each by its own name, and further
// ones by the last name if that may repeat.
func (a *App) completeArgs(names []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		i := len(args)
		if last := len(names) - 1; i > last {
			if i = last; !strings.Contains(names[last], "…") {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
		}
		switch name := strings.Trim(names[i], "[]…"); name {
		case "ID":
			return completer(a.issues).function()(cmd, args, word)
		case "EPIC":
			return completer(a.epics).function()(cmd, args, word)
		case "SIGNAL":
			return completer(signalNames).function()(cmd, args, word)
		case "SIGNAL=VALUE":
			return signalValues(cmd, args, word)
		case "RULE":
			return completer(rules).function()(cmd, args, word)
		case "BASE", "OURS", "THEIRS", "FILE":
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFlag returns the completer for a flag's value; nil if there is none.
func (a *App) completeFlag(f *pflag.Flag) cobra.CompletionFunc {
	if s, ok := signals.Named(f.Name); ok && s.Domain() != nil {
		return fixed(s.Domain()...).function()
	}
	switch f.Name {
	case "on", "duplicate-of", "parent", "blocks":
		return completer(a.issues).function()
	case "to", "deps":
		if f.Value.Type() == "bool" {
			return nil
		}
		return listed(a.issues).function()
	case "actor", "assignee", "as":
		return listed(a.actors).function()
	case "label", "labels", "add-label", "remove-label":
		return listed(a.labels).function()
	case "type":
		return listed(a.types).function()
	case "status":
		return listed(a.statuses).function()
	case "priority":
		return listed(fixed("0\tmost urgent", "1", "2", "3", "4\tleast urgent")).function()
	case "depth":
		return fixed(signals.PlanningDepth.Domain()...).function()
	case "signal":
		return signalValues
	case "by":
		return fixed(service.GroupKeys()...).function()
	case "view":
		return completer(a.views).function()
	case "sort":
		return fixed(service.SortKeys()...).function()
	case "host":
		return completer(hosts).function()
	case "directory":
		return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
	case "store", "file", "from", "output":
		return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		}
	}
	return nil
}

// fixed completes from a constant list.
func fixed(values ...string) completer {
	return func(*cobra.Command, []string, string) []cobra.Completion { return values }
}

// listed completes the last of several comma-separated values.
func listed(c completer) completer {
	return func(cmd *cobra.Command, given []string, word string) []cobra.Completion {
		comma := strings.LastIndexByte(word, ',') + 1
		before, word := word[:comma], word[comma:]
		list := c(cmd, given, word)
		for i := range list {
			list[i] = before + list[i]
		}
		return list
	}
}

// issues completes ids, with their titles, unclosed issues first. A word that begins no id may
// be an id without its prefix. Issues whose state the command would reject are omitted.
func (a *App) issues(cmd *cobra.Command, given []string, word string) []cobra.Completion {
	return a.issuesThat(given, word, func(issue *beads.Issue) bool {
		closed := issue.Status == beads.StatusClosed
		switch cmd.Name() {
		case "reopen":
			return closed
		case "claim", "release", "checkpoint", "escalate", "resolve", "verify", "close", "propagate":
			return !closed
		}
		return true
	})
}

func (a *App) epics(_ *cobra.Command, given []string, word string) []cobra.Completion {
	return a.issuesThat(given, word, func(issue *beads.Issue) bool { return issue.Type == "epic" })
}

func (a *App) issuesThat(given []string, word string, fits func(*beads.Issue) bool) []cobra.Completion {
	file := a.OpenQuietly()
	if file == nil {
		return nil
	}
	defer file.Close()
	var open, closed []cobra.Completion
	for _, issue := range file.All() {
		id := issue.ID
		if !strings.HasPrefix(id, word) {
			_, id, _ = strings.Cut(id, "-")
		}
		if !strings.HasPrefix(id, word) || issue.Status == beads.StatusTombstone || slices.Contains(given, issue.ID) || slices.Contains(given, id) || !fits(issue) {
			continue
		}
		choice := cobra.CompletionWithDesc(id, workspace.Visible(visible.OneLine(issue.Title)))
		if issue.Status == beads.StatusClosed {
			closed = append(closed, choice)
		} else {
			open = append(open, choice)
		}
	}
	slices.Sort(open)
	slices.Sort(closed)
	return slices.Concat(open, closed)
}

// actors returns the assignees of issues, and the current actor.
func (a *App) actors(cmd *cobra.Command, _ []string, _ string) []cobra.Completion {
	names := a.values(func(issue *beads.Issue) []string { return []string{issue.Assignee} })
	if me, err := a.ActorName(cmd.Context()); err == nil && me != "" && !slices.Contains(names, me) {
		names = append(names, me)
	}
	if cmd.Name() == "list" {
		names = append(names, "@me\twho asks", "none\tnobody")
	}
	return names
}

// types returns the usual types of issues or dependencies, and those in the store.
func (a *App) types(cmd *cobra.Command, _ []string, _ string) []cobra.Completion {
	usual, of := checkpoint.Types(), func(issue *beads.Issue) []string { return []string{issue.Type} }
	if cmd.HasParent() && cmd.Parent().Name() == "dep" {
		usual, of = checkpoint.DepTypes(), func(issue *beads.Issue) (types []string) {
			for _, d := range issue.Deps {
				types = append(types, d.Type)
			}
			return types
		}
	}
	own := slices.DeleteFunc(a.values(of), func(t string) bool { return slices.Contains(usual, t) })
	return slices.Concat(usual, own)
}

func (a *App) statuses(*cobra.Command, []string, string) []cobra.Completion {
	usual := []string{beads.StatusOpen, beads.StatusInProgress, beads.StatusBlocked, beads.StatusDeferred, beads.StatusClosed}
	own := a.values(func(issue *beads.Issue) []string { return []string{issue.Status} })
	return slices.Concat(usual, slices.DeleteFunc(own, func(s string) bool { return slices.Contains(usual, s) }))
}

// values returns the distinct values that the store's issues have, sorted.
func (a *App) values(of func(*beads.Issue) []string) []string {
	file := a.OpenQuietly()
	if file == nil {
		return nil
	}
	defer file.Close()
	seen := map[string]bool{}
	for _, issue := range file.All() {
		for _, value := range of(issue) {
			seen[value] = true
		}
	}
	delete(seen, "")
	return slices.Sorted(maps.Keys(seen))
}

func (a *App) labels(*cobra.Command, []string, string) []cobra.Completion {
	file := a.OpenQuietly()
	if file == nil {
		return nil
	}
	defer file.Close()
	seen := map[string]bool{}
	reader := file.Reader()
	for _, issue := range file.All() {
		record, err := reader.Record(issue)
		if err != nil {
			return nil
		}
		for _, label := range record.Labels() {
			seen[label] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// views returns the names of the configured views.
func (a *App) views(*cobra.Command, []string, string) []cobra.Completion {
	file := a.OpenQuietly() // reads the configuration
	if file == nil {
		return nil
	}
	defer file.Close()
	return slices.Sorted(maps.Keys(a.Config.Views))
}

// signalValues completes NAME=VALUE: first the name, then its values.
func signalValues(_ *cobra.Command, _ []string, word string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	name, _, valued := strings.Cut(word, "=")
	if !valued {
		for _, s := range signalNames(nil, nil, "") {
			list = append(list, s+"=")
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveKeepOrder
	}
	if s, ok := signals.Named(name); ok {
		for _, value := range s.Domain() {
			list = append(list, name+"="+value)
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func signalNames(*cobra.Command, []string, string) (list []cobra.Completion) {
	for _, s := range signals.All() {
		if s != signals.SchemaVersion {
			list = append(list, s.String())
		}
	}
	return list
}

func rules(*cobra.Command, []string, string) (list []cobra.Completion) {
	for _, r := range lint.All() {
		list = append(list, cobra.CompletionWithDesc(r.ID, r.Summary))
	}
	return list
}

func hosts(*cobra.Command, []string, string) (list []cobra.Completion) {
	for _, h := range assistant.Hosts() {
		list = append(list, string(h))
	}
	return list
}
