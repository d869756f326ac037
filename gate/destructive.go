package gate

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// rule is a form of command that destroys, or that makes public what cannot
// be taken back. Its words must follow the program in order, the first one as
// the subcommand unless it is a flag; "|" separates alternatives.
type rule struct {
	programs string
	words    string
}

var rules = []rule{
	{"git", "push"},
	{"git", "reset --hard|--merge|--keep"},
	{"git", "clean -f|--force"},
	{"git", "checkout -f|--force|--|."},
	{"git", "restore"},
	{"git", "branch -D|-d|--delete"},
	{"git", "tag -d|--delete"},
	{"git", "stash drop|clear"},
	{"git", "filter-branch|filter-repo|update-ref"},
	{"git", "reflog expire|delete"},
	{"git", "gc --prune"},
	{"git", "worktree remove"},
	{"gh", "repo delete|archive"},
	{"gh", "release create|delete|upload"},
	{"gh", "pr merge|close"},
	{"kubectl oc", "delete|drain|replace"},
	{"helm", "uninstall|delete"},
	{"docker podman nerdctl", "prune|rm|rmi|push"},
	{"docker podman nerdctl", "volume|network|container|image|system|builder|buildx rm|prune"},
	{"docker podman nerdctl", "compose down -v|--volumes"},
	{"docker-compose", "down -v|--volumes"},
	{"terraform tofu terragrunt", "apply|destroy"},
	{"terraform tofu", "state rm"},
	{"pulumi", "up|destroy"},
	{"cdk serverless sam", "deploy|destroy|remove|delete"},
	{"aws", "s3 rm|rb"},
	{"gcloud az flyctl firebase", "delete|destroy|deploy"},
	{"npm yarn pnpm cargo poetry uv hatch", "publish|unpublish|yank"},
	{"gem twine", "push|upload"},
	{"brew apt apt-get dnf yum pacman", "remove|uninstall|purge|autoremove"},
	{"redis-cli", "FLUSHALL|FLUSHDB|flushall|flushdb"},
	{"crontab", "-r"},
	{"rails rake mix", "db:drop|db:reset|ecto.drop|ecto.reset"},
	{"systemctl", "stop|disable|mask|reboot|poweroff|halt"},
	{"find", "-delete"},
	{"bd br", "delete|purge"},
	{"dd mkfs fdisk sfdisk sgdisk parted wipefs shred blkdiscard dropdb", ""},
	{"shutdown reboot halt poweroff pkill killall truncate", ""},
}

// databases run the statements given to them; dropping is one that deletes.
var databases = []string{"psql", "mysql", "mariadb", "sqlite3", "mongosh", "duckdb"}

var dropping = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:drop|truncate)\s+(?:table|database|schema)\b|\bdelete\s+from\b|\.dropDatabase\(`)
})

// harmless flags make a command of the rules one that only tells.
var harmless = []string{"--dry-run", "--dry-run=client", "--dry-run=server", "--help"}

// wrappers are programs that run the command given to them.
var wrappers = map[string]bool{
	"sudo": true, "doas": true, "env": true, "nohup": true, "nice": true, "time": true, "timeout": true,
	"xargs": true, "command": true, "exec": true, "builtin": true, "stdbuf": true, "setsid": true, "ionice": true,
	"parallel": true, "watch": true, "caffeinate": true, "eval": true, "npx": true,
}

// writers write to the last of their arguments.
var writers = []string{"tee", "cp", "mv"}

// shells run the script that follows -c.
var shells = []string{"sh", "bash", "zsh", "dash", "ksh"}

// destroys says what in a script is destructive; "" when nothing is.
func (s *script) destroys() string {
	temporary := s.temporary()
	for _, words := range s.commands {
		if found := destructive(words, temporary); found != "" {
			return found
		}
	}
	return s.overwrites()
}

// temporary lists the variables that hold what mktemp gave.
func (s *script) temporary() map[string]bool {
	found := map[string]bool{"TMPDIR": true}
	syntax.Walk(s.file, func(node syntax.Node) bool {
		if assign, ok := node.(*syntax.Assign); ok && assign.Name != nil && assign.Value != nil {
			found[assign.Name.Value] = callsMktemp(assign.Value)
		}
		return true
	})
	return found
}

func callsMktemp(word *syntax.Word) (calls bool) {
	syntax.Walk(word, func(node syntax.Node) bool {
		if call, ok := node.(*syntax.CallExpr); ok && len(call.Args) > 0 && call.Args[0].Lit() == "mktemp" {
			calls = true
		}
		return true
	})
	return calls
}

// destructive names the words of a command that make it destructive.
func destructive(words []string, temporary map[string]bool) string {
	if len(words) == 0 {
		return ""
	}
	program, arguments := path.Base(words[0]), words[1:]
	if slices.Contains(shells, program) {
		return nested(arguments)
	}
	if wrappers[program] {
		// Options and their values stand between a wrapper and what it
		// runs, so every word may be the program.
		for i := range arguments {
			if found := destructive(arguments[i:], temporary); found != "" {
				return found
			}
		}
		if program == "eval" {
			return inner(strings.Join(arguments, " "))
		}
		return ""
	}
	if program == "rm" && removesTree(arguments, temporary) {
		return "rm -r outside a temporary directory"
	}
	if slices.Contains(writers, program) && len(arguments) > 0 && isDevice(arguments[len(arguments)-1]) {
		return "writes to " + arguments[len(arguments)-1]
	}
	if strings.HasPrefix(program, "mkfs.") {
		return program
	}
	if program == "find" {
		if i := slices.IndexFunc(arguments, func(w string) bool { return strings.HasPrefix(w, "-exec") || strings.HasPrefix(w, "-ok") }); i >= 0 {
			if found := destructive(arguments[i+1:], temporary); found != "" {
				return found
			}
		}
	}
	if slices.ContainsFunc(arguments, func(w string) bool { return slices.Contains(harmless, w) }) {
		return ""
	}
	for _, r := range rules {
		if !slices.Contains(strings.Fields(r.programs), program) {
			continue
		}
		if found, ok := r.match(arguments); ok {
			return strings.TrimSpace(program + " " + found)
		}
	}
	if slices.Contains(databases, program) && slices.ContainsFunc(arguments, dropping().MatchString) {
		return program + " with a statement that deletes"
	}
	return ""
}

// nested looks into the script of sh -c.
func nested(arguments []string) string {
	for i, word := range arguments[:max(0, len(arguments)-1)] {
		if strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.HasSuffix(word, "c") {
			return inner(arguments[i+1])
		}
	}
	return ""
}

func inner(text string) string {
	s, err := parse(text)
	if err != nil {
		return ""
	}
	return s.destroys()
}

// match finds the words of the rule in the arguments of its program.
func (r rule) match(arguments []string) (found string, ok bool) {
	var matched []string
	for i, alternatives := range strings.Fields(r.words) {
		within := len(arguments)
		if i == 0 && !strings.HasPrefix(alternatives, "-") {
			within = subcommand(arguments)
		}
		at := slices.IndexFunc(arguments[:within], func(w string) bool { return matches(w, alternatives) })
		if at < 0 {
			return "", false
		}
		matched = append(matched, arguments[at])
		arguments = arguments[at+1:]
	}
	return strings.Join(matched, " "), true
}

// subcommand is the number of leading arguments that may hold a subcommand:
// up to the first that is neither a flag nor possibly the value of one.
func subcommand(arguments []string) int {
	flag := false
	for i, word := range arguments {
		was := flag
		flag = strings.HasPrefix(word, "-") || strings.HasPrefix(word, "+")
		if !flag && !was {
			return i + 1
		}
	}
	return len(arguments)
}

// matches compares a word with alternatives; a short flag may stand among
// others, as in -fdx.
func matches(word, alternatives string) bool {
	for want := range strings.SplitSeq(alternatives, "|") {
		if word == want || strings.HasPrefix(want, "--") && len(want) > 2 && strings.HasPrefix(word, want+"=") {
			return true
		}
		short := len(want) == 2 && want[0] == '-' && want[1] != '-'
		if short && len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.IndexByte(word, want[1]) > 0 {
			return true
		}
	}
	return false
}

// removesTree tells whether the arguments of rm remove directories that are
// not temporary.
func removesTree(arguments []string, temporary map[string]bool) bool {
	var operands []string
	recursive := false
	for _, word := range arguments {
		if !strings.HasPrefix(word, "-") {
			operands = append(operands, word)
		} else if matches(word, "-r|-R|--recursive") {
			recursive = true
		}
	}
	return recursive && (len(operands) == 0 || slices.ContainsFunc(operands, func(w string) bool { return !isTemporary(w, temporary) }))
}

// isTemporary tells whether a path is below /tmp or a directory of mktemp.
func isTemporary(operand string, temporary map[string]bool) bool {
	if name, found := strings.CutPrefix(operand, "$"); found {
		name, rest, _ := strings.Cut(name, "/")
		return temporary[name] && !strings.Contains("/"+rest+"/", "/../")
	}
	clean := path.Clean(operand)
	return strings.HasPrefix(clean, "/tmp/") || strings.HasPrefix(clean, "/var/tmp/")
}

// overwrites finds a redirection to a block device.
func (s *script) overwrites() (found string) {
	syntax.Walk(s.file, func(node syntax.Node) bool {
		if redirect, ok := node.(*syntax.Redirect); ok && redirect.Word != nil && writes(redirect.Op) {
			if target := literal(redirect.Word.Parts); isDevice(target) {
				found = "writes to " + target
			}
		}
		return true
	})
	return found
}

func writes(op syntax.RedirOperator) bool {
	switch op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut:
		return true
	}
	return false
}

// isDevice tells whether a path is a block device, by the names that Linux,
// macOS and the BSDs give them.
func isDevice(target string) bool {
	name, found := strings.CutPrefix(target, "/dev/")
	return found && slices.ContainsFunc(
		[]string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "dm-", "md", "loop", "ada", "da"},
		func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
