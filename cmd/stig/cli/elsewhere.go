package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// oldName is the former name of a command; it works for one more version.
type oldName struct {
	old, now string // what to type now: a command, and the flag that makes it do the same
	of, flag string // a flag of the old command, and its new name; "" if none
}

var oldNames = []oldName{
	{old: "await", now: "escalate --wait"},
	{old: "escalations", now: "resolve --list"},
	{old: "ack", now: "inbox --ack"},
	{old: "duplicate", now: "close --duplicate-of=", of: "--of", flag: "--duplicate-of"},
}

// AddOldNames adds the old names of commands to root, hidden from help.
func AddOldNames(root *cobra.Command) {
	for _, n := range oldNames {
		root.AddCommand(&cobra.Command{Use: n.old, Hidden: true})
	}
}

// Modernize replaces the old name of a command in a command line, and prints the new one.
func (a *App) Modernize(root *cobra.Command, args []string) []string {
	cmd, rest, err := root.Find(args)
	at := slices.IndexFunc(oldNames, func(n oldName) bool { return err == nil && cmd.Parent() == root && cmd.Name() == n.old })
	if at < 0 {
		return args
	}
	n := oldNames[at]
	fmt.Fprintf(a.Err, "stig %s is now stig %s\n", n.old, strings.TrimSuffix(n.now, "="))
	line := strings.Fields(n.now)
	for _, arg := range rest {
		if name, _, _ := strings.Cut(arg, "="); n.of != "" && name == n.of {
			arg = n.flag + strings.TrimPrefix(arg, name)
		}
		line = append(line, arg)
	}
	return line
}

const (
	addTitle    = "stig create TITLE"
	showIssue   = "stig show ID"
	survey      = "stig orient"
	changeLabel = "stig edit ID --add-label LABEL"
	addRow      = "stig dep add ID --on ID"
	removeRow   = "stig dep rm ID --on ID"
	addComment  = "stig comment ID -m TEXT"
	past        = "stig trajectory ID, or stig log"
	gitKeeps    = ", since the store is in git; for a store on a server: stig store sync"
	inBrowser   = "stig board"
)

// Elsewhere returns what to type for a command or flag that stig does not have but gh, git, bd
// or another tracker does. A key is the path of the command before the word, and the word. The
// word * stands for any unknown word that resembles no command. A flag after * is one of any
// command; its value lists the flags that may be meant, of which a command has at most one.
func Elsewhere() map[string]string {
	return map[string]string{
		"new": addTitle, "add": addTitle, "q": addTitle, "quick": addTitle,
		"view": showIssue, "info": showIssue, "get": showIssue, "cat": showIssue, "deps": "stig show ID --deps",
		"ls": "stig list", "issues": "stig list", "issue": "stig list, stig show ID or stig create TITLE",
		"status": survey, "st": survey, "prime": survey, "onboard": survey, "quickstart": survey, "stale": survey,
		"todo": "stig ready", "where": "stig doctor",
		"start": "stig claim ID", "take": "stig claim ID", "pick": "stig next --claim", "unclaim": "stig release ID",
		"assign": "stig edit ID --assignee NAME",
		"done":   "stig close ID --reason TEXT", "finish": "stig close ID --reason TEXT", "complete": "stig close ID --reason TEXT",
		"open": "stig show ID, or stig reopen ID --reason TEXT for a closed issue",
		"rm":   "stig delete ID", "remove": "stig delete ID", "drop": "stig delete ID",
		"dup": "stig close ID --duplicate-of ID", "dupe": "stig close ID --duplicate-of ID",
		"set":   "stig edit ID, or stig signals set ID",
		"amend": "stig edit ID", "modify": "stig edit ID", "rename": "stig edit ID --title TITLE",
		"labels": changeLabel, "tag": changeLabel,
		"defer": "stig edit ID --defer WHEN", "undefer": "stig edit ID --defer none", "move": "stig edit ID --parent ID",
		"link": addRow, "relate": addRow + " --type related", "block": addRow, "depend": addRow, "depends": addRow, "unlink": removeRow,
		"epic": "stig list --type epic", "epics": "stig list --type epic", "children": "stig list --parent ID", "tree": "stig graph",
		"find": "stig search WORDS", "grep": "stig search WORDS", "memories": "stig recall WORDS", "memory": "stig recall WORDS",
		"note": addComment + ", or stig checkpoint ID", "notes": "stig show ID --notes, or stig checkpoint ID",
		"reply": addComment, "remember": "stig checkpoint ID --learned TEXT",
		"history": past, "blame": past, "revert": "stig undo", "reset": "stig undo", "restore": "stig recover",
		"commit": "git commit" + gitKeeps, "push": "git push" + gitKeeps, "pull": "git pull" + gitKeeps, "sync": "git pull" + gitKeeps,
		"import": "stig create --from FILE", "export": "stig list --all --format bd", "config": "stig help configuration", "env": "stig help environment", "environment": "stig help environment", "configuration": "stig help configuration", "convention": "stig help convention", "exit-codes": "stig help exit-codes",
		"ask": "stig escalate ID -m QUESTION", "human": "stig resolve --list", "gate": "stig escalate ID -m QUESTION", "answer": "stig resolve ID -m ANSWER",
		"mail": "stig inbox", "messages": "stig inbox", "acknowledge": "stig inbox --ack --all", "questions": "stig resolve --list", "traces": "stig trace list", "pheromone": "stig trace add",
		"hive": "stig swarm", "bees": "stig swarm", "explore": "stig swarm",
		"who": "stig actor list", "whoami": "stig doctor", "actors": "stig actor list", "agents": "stig actor list", "users": "stig actor list",
		"run": "stig work -- CMD", "loop": "stig work -- CMD", "workers": "stig actor list",
		"web": inBrowser, "ui": inBrowser, "serve": inBrowser, "server": inBrowser, "dashboard": inBrowser, "kanban": inBrowser,
		"man": "stig help COMMAND", "hooks": "stig setup --help", "install": "stig setup --help", "uninstall": "stig setup claude --remove, or another target",
		"test": "stig verify ID", "validate": "stig check", "audit": "stig check",

		"dep delete": removeRow, "dep list": "stig show ID --deps", "dep show": "stig show ID --deps",
		"dep cycles": "stig cycles", "dep *": addRow,
		"signals list": "stig signals get ID", "signals show": "stig signals get ID", "signals *": "stig signals get ID",
		"trace ls": "stig trace list", "trace *": "stig trace list ID",
		"actor ls": "stig actor list", "actor status": "stig actor list, or stig actor show NAME", "actor *": "stig actor show NAME",
		"worker ls": "stig actor list", "worker list": "stig actor list", "worker stop": "stig worker drain NAME",
		"worker start": "stig worker resume NAME", "worker remove": "stig worker rm NAME", "worker delete": "stig worker rm NAME",
		"swarm list": "stig list --all", "swarm show": "stig swarm status ID", "swarm *": "stig swarm status ID",
		"completion pwsh": "stig completion powershell",

		"label *": changeLabel, "label rm": "stig label remove ID LABEL", "comments *": "stig show ID",
		"create --epic": "stig create TITLE --type epic",
		"list --ready":  "stig ready", "list --mine": "stig list --assignee @me", "list --open": "stig list",
		"list --blocked": "stig blocked", "ready --blocked": "stig blocked",
		"list --unassigned": "stig list --assignee none", "list --no-assignee": "stig list --assignee none",
		"list --closed": "stig list --status closed", "list --search": "stig search WORDS", "list -S": "stig search WORDS",
		"orient --actor": "stig orient --as NAME", "ready --actor": "stig ready --as NAME",
		"claim --next": "stig next --claim", "check --rule": "stig explain RULE", "check --fix": "stig vet --fix",
		"close --force": "stig close ID --waive WHY, or stig close ID --not-planned WHY", "claim --force": "stig release ID --force, then stig claim ID",
		"stig -v": "stig version", "stig -V": "stig version", "stig --all": "stig help --all", "help --list": "stig help --all", "help -a": "stig help --all",

		"* --body": "--description --message", "* --body-file": "--file", "* -F": "--file", "* -b": "--description --message",
		"* -m": "--message --description --reason", "* -r": "--reason", "* -c": "--message --reason", "* --comment": "--message --reason",
		"* -a": "--assignee", "* --add-assignee": "--assignee",
		"* -l": "--label --labels --add-label", "* --label": "--labels --add-label", "* --labels": "--label --set-labels", "* --add-labels": "--add-label",
		"* --depends-on": "--deps --on", "* --blocked-by": "--deps --on", "* --depends": "--deps --on",
		"* -s": "--status", "* --state": "--status", "* -L": "--limit", "* -n": "--limit", "* --epic": "--parent", "* --milestone": "--parent",
		"* --since": "--against", "* --base": "--against", "* --format": "--json", "* --output": "--format --json", "* -o": "--format --json",
		"* --silent": "--quiet", "* -v": "--json", "* --verbose": "--json", "* --uninstall": "--remove", "* --assignee": "--as", "* --mine": "--as",
		"* --port": "--addr", "* --listen": "--addr", "* --bind": "--addr", "* -p": "--addr --priority",
	}
}
