package gate

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"stig/internal/process"
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
	{"git", "lfs prune"},
	{"gh", "repo delete|archive"},
	{"gh", "api DELETE|--method=DELETE|-XDELETE"},
	{"gh", "issue|run|secret|variable|cache|gist delete"},
	{"gh", "release create|delete|upload"},
	{"gh", "pr merge|close"},
	{"kubectl oc", "delete|drain|replace"},
	{"helm", "uninstall|delete|push"},
	{"flux argocd velero", "uninstall|delete"},
	{"argocd flux", "app|kustomization|source delete"},
	{"k3d kind minikube eksctl", "delete"},
	{"k3d kind eksctl", "cluster|nodegroup delete"},
	{"docker podman nerdctl", "prune|rm|rmi|push"},
	{"docker podman nerdctl", "volume|network|container|image|system|builder|buildx rm|prune"},
	{"docker podman nerdctl", "compose down -v|--volumes"},
	{"docker-compose", "down -v|--volumes"},
	{"terraform tofu terragrunt", "apply|destroy"},
	{"terraform tofu", "state rm"},
	{"pulumi", "up|destroy"},
	{"cdk cdktf serverless sam", "deploy|destroy|remove|delete"},
	{"aws", "s3 rm|rb"},
	{"aws", "s3 sync --delete"},
	{"flyctl fly firebase wrangler vercel netlify heroku", "delete|destroy|deploy|publish|remove"},
	{"npm yarn pnpm bun cargo poetry uv hatch flit pdm lerna vsce changeset", "publish|unpublish|yank|deprecate"},
	{"yarn npm", "npm|pkg publish"},
	{"dart flutter", "pub publish"},
	{"mix", "hex.publish|ecto.drop|ecto.reset"},
	{"mvn mvnw gradle gradlew", "deploy|publish|release:perform|uploadArchives"},
	{"mvn mvnw gradle gradlew", "clean deploy|publish"},
	{"dotnet", "nuget push|delete"},
	{"nuget gem twine oras crane skopeo", "push|upload|delete|yank"},
	{"goreleaser", "release"},
	{"nix-collect-garbage semantic-release rimraf", ""},
	{"nix", "store gc|delete"},
	{"nixos-rebuild darwin-rebuild home-manager colmena", "switch|boot|apply"},
	{"brew apt apt-get dnf yum pacman", "remove|uninstall|purge|autoremove"},
	{"redis-cli", "FLUSHALL|FLUSHDB|flushall|flushdb"},
	{"crontab", "-r"},
	{"rails rake", "db:drop|db:reset|db:purge|db:schema:load"},
	{"artisan", "migrate:fresh|migrate:reset|db:wipe"},
	{"php", "artisan migrate:fresh|migrate:reset|db:wipe"},
	{"prisma", "migrate reset"},
	{"prisma", "db push --force-reset|--accept-data-loss"},
	{"supabase", "db reset"},
	{"sqlx diesel", "database drop|reset"},
	{"mysqladmin", "drop"},
	{"rsync", "--delete|--delete-after|--delete-excluded|--remove-source-files"},
	{"zfs zpool", "destroy"},
	{"cryptsetup", "luksFormat|erase"},
	{"systemctl", "stop|disable|mask|reboot|poweroff|halt"},
	{"find", "-delete"},
	{"bd br", "delete|purge"},
	{"bd br", "cleanup --force"},
	{"gt", "polecat nuke"},
	{"dd mkfs newfs mkswap fdisk sfdisk sgdisk parted wipefs shred blkdiscard dropdb dropuser", ""},
	{"lvremove vgremove pvremove userdel groupdel", ""},
	{"shutdown reboot halt poweroff pkill killall truncate", ""},
}

// databases run the statements given to them; dropping is one that deletes.
var databases = []string{"psql", "mysql", "mariadb", "sqlite3", "mongosh", "duckdb"}

// clouds are programs of many services, of which the action is the last part
// of a name such as "ec2 terminate-instances" or "compute instances delete".
var clouds = []string{"aws", "gcloud", "az", "gsutil", "bq", "doctl", "hcloud", "oci", "ibmcloud", "linode-cli", "scw"}

var dropping = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:drop|truncate)\s+(?:table|database|schema)\b|\bdelete\s+from\b|\.dropDatabase\(`)
})

var removing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:delete|destroy|terminate|purge|remove|rb)(?:-|$)`)
})

// erasing is what removes trees in the code that an interpreter is given.
var erasing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\brmtree\b|\brmSync\b|\brm_rf\b|\brm_r\b|\brmdirSync\b|\bremove_tree\b|\bfs\.rm\(`)
})

// harmlessFlags flags make a command of the rules one that only tells.
var harmlessFlags = []string{"--dry-run", "--dry-run=client", "--dry-run=server", "--help"}

// isRunner reports whether a program runs the command given to it.
func isRunner(program string) bool {
	return IsRunner(program) || slices.Contains(otherRunners, program)
}

// otherRunners are a matter of criteria alone.
var otherRunners = []string{"xargs", "parallel", "unshare", "valgrind", "su", "runuser"}

// environments run the command that follows one of the words of handing.
var (
	environments = []string{"docker", "podman", "nerdctl", "kubectl", "oc", "poetry", "uv", "pdm", "hatch", "bundle", "npm", "pnpm", "yarn",
		"bun", "mise", "nix", "direnv", "devbox", "pixi", "conda", "rye", "pipenv", "docker-compose", "dotenv", "doppler"}
	handing = []string{"run", "exec", "dlx", "x", "-c", "--command", "--"}
)

// writers write to the last of their arguments, movers take the others away.
var (
	writers = []string{"tee", "cp", "mv", "ln", "install", "rsync", "scp"}
	movers  = []string{"rm", "mv", "unlink", "rmdir"}
)

// takesScript reports whether a program runs the script that follows -c.
func takesScript(program string) bool {
	return process.IsShell(program) || slices.Contains([]string{"su", "runuser", "script", "flock"}, program)
}

// destroys says what in a script is destructive; "" when nothing is.
func (s *script) destroys() string {
	return s.destroysWith(&scope{temporary: s.temporary(), left: mostNested})
}

// scope is what is known around a command.
type scope struct {
	temporary map[string]bool // variables: true for those that hold what mktemp gave
	left      int             // how many commands may still be looked into
}

// mostNested bounds the search for commands within commands: of "sudo sudo
// sudo …" every part is a command that runs another.
const mostNested = 1000

func (s *script) destroysWith(in *scope) string {
	held := s.held()
	for _, words := range s.commands {
		if text, found := held[words[0]]; found {
			words = append(strings.Fields(text), words[1:]...)
		}
		if found := destructive(words, in); found != "" {
			return found
		}
	}
	if found := s.fed(in); found != "" {
		return found
	}
	return s.overwrites(in)
}

// held gives the text of each variable that a script sets to one, as "$NAME":
// a command may be kept in one.
func (s *script) held() map[string]string {
	texts := map[string]string{}
	syntax.Walk(s.file, func(node syntax.Node) bool {
		if assign, ok := node.(*syntax.Assign); ok && assign.Name != nil && assign.Value != nil {
			texts["$"+assign.Name.Value] = WordText(assign.Value.Parts)
		}
		return true
	})
	return texts
}

// fed looks into the scripts that a shell is given on its standard input: a
// here-document, or what echo prints.
func (s *script) fed(in *scope) (found string) {
	look := func(text string) {
		if found == "" {
			found = inner(text, in)
		}
	}
	syntax.Walk(s.file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Stmt:
			for _, redirect := range node.Redirs {
				if redirect.Hdoc != nil && readsScript(node) {
					look(WordText(redirect.Hdoc.Parts))
				} else if redirect.Op == syntax.WordHdoc && readsScript(node) {
					look(WordText(redirect.Word.Parts))
				}
			}
		case *syntax.BinaryCmd:
			if from, ok := node.X.Cmd.(*syntax.CallExpr); ok && node.Op == syntax.Pipe && readsScript(node.Y) && len(from.Args) > 1 {
				if words := ShellWords(from.Args); words[0] == "echo" || words[0] == "printf" {
					look(strings.Join(words[1:], " "))
				}
			}
		}
		return true
	})
	return found
}

// readsScript reports whether a statement is a shell, or runs one elsewhere.
func readsScript(statement *syntax.Stmt) bool {
	call, ok := statement.Cmd.(*syntax.CallExpr)
	return ok && slices.ContainsFunc(ShellWords(call.Args), func(w string) bool {
		return takesScript(path.Base(w)) || w == "ssh"
	})
}

// temporary lists the variables that hold what mktemp gave, and never anything else.
func (s *script) temporary() map[string]bool {
	found := map[string]bool{"TMPDIR": true}
	syntax.Walk(s.file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Assign:
			if node.Name != nil && node.Value != nil {
				before, known := found[node.Name.Value]
				found[node.Name.Value] = (before || !known) && fromMktemp(node.Value)
			}
		case *syntax.WordIter:
			found[node.Name.Value] = false
		}
		return true
	})
	return found
}

// fromMktemp reports whether a word is what mktemp prints, or below it.
func fromMktemp(word *syntax.Word) bool {
	text := WordText(word.Parts)
	if !strings.HasPrefix(text, "$()") || strings.Contains(text, "..") {
		return false
	}
	calls := 0
	syntax.Walk(word, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.CmdSubst:
			calls++
		case *syntax.CallExpr:
			if len(node.Args) > 0 && node.Args[0].Lit() != "mktemp" {
				calls = 2
			}
		case *syntax.ParamExp:
			calls = 2
		}
		return true
	})
	return calls == 1
}

// destructive names the words of a command that make it destructive.
func destructive(words []string, in *scope) string {
	if len(words) == 0 {
		return ""
	}
	if in.left--; in.left < 0 {
		return "commands within commands, too many to judge"
	}
	program, arguments := path.Base(words[0]), words[1:]
	if found := runBy(program, arguments, in); found != "" {
		return found
	}
	switch {
	case isRunner(program):
		return ""
	case program == "rm" && removesTree(arguments, in):
		return "rm -r outside a temporary directory"
	case slices.Contains(movers, program) && slices.ContainsFunc(arguments, in.outside):
		return "removes " + arguments[slices.IndexFunc(arguments, in.outside)]
	case slices.Contains(writers, program) && len(arguments) > 0 && in.outside(arguments[len(arguments)-1]):
		return "writes to " + arguments[len(arguments)-1]
	case strings.HasPrefix(program, "mkfs."):
		return program
	case IsInterpreter(program) && slices.ContainsFunc(arguments, erasing().MatchString):
		return program + " removes a directory"
	case slices.ContainsFunc(arguments, func(w string) bool { return slices.Contains(harmlessFlags, w) }):
		return ""
	case slices.Contains(clouds, program) && slices.ContainsFunc(arguments, removing().MatchString):
		return program + " " + arguments[slices.IndexFunc(arguments, removing().MatchString)]
	case program == "curl" && deletes(arguments):
		return "curl with the method DELETE"
	case slices.Contains(databases, program) && slices.ContainsFunc(arguments, dropping().MatchString):
		return program + " with a statement that deletes"
	}
	for _, r := range rules {
		if !slices.Contains(strings.Fields(r.programs), program) {
			continue
		}
		if found, ok := r.match(arguments); ok {
			return strings.TrimSpace(program + " " + found)
		}
	}
	return ""
}

// deletes reports whether a request of curl deletes on another machine: what is
// served here is most often started for the check.
func deletes(arguments []string) bool {
	method := slices.IndexFunc(arguments, func(w string) bool { return strings.HasSuffix(w, "DELETE") })
	return method >= 0 && !slices.ContainsFunc(arguments, func(w string) bool {
		return strings.Contains(w, "localhost") || strings.Contains(w, "127.0.0.1") || strings.Contains(w, "[::1]")
	})
}

// runBy looks into what a program is given to run.
func runBy(program string, arguments []string, in *scope) string {
	starts := func(first func(word string) bool) string {
		if i := slices.IndexFunc(arguments, first); i >= 0 {
			return suffixes(arguments[i+1:], in)
		}
		return ""
	}
	if takesScript(program) {
		if found := nested(arguments, in); found != "" {
			return found
		}
	}
	switch {
	case isRunner(program):
		return suffixes(arguments, in)
	case program == "trap" && len(arguments) > 0:
		return inner(arguments[0], in)
	case program == "eval", program == "ssh":
		for i := range arguments { // flags and a host may stand before the command
			if found := inner(strings.Join(arguments[i:], " "), in); found != "" {
				return found
			}
		}
	case slices.Contains(environments, program):
		return starts(func(w string) bool { return slices.Contains(handing, w) })
	case program == "find":
		return starts(func(w string) bool { return strings.HasPrefix(w, "-exec") || strings.HasPrefix(w, "-ok") })
	}
	return ""
}

// suffixes looks for a command in the arguments of what runs one. Options and
// their values stand before it, so every word may be its program.
func suffixes(arguments []string, in *scope) string {
	for i := range arguments {
		if found := destructive(arguments[i:], in); found != "" {
			return found
		}
	}
	return ""
}

// nested looks into the script of sh -c.
func nested(arguments []string, in *scope) string {
	for i, word := range arguments[:max(0, len(arguments)-1)] {
		if strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.HasSuffix(word, "c") {
			return inner(arguments[i+1], in)
		}
	}
	return ""
}

// inner looks into a script within a script. The variables are those around it.
func inner(text string, in *scope) string {
	s, err := parse(text)
	if err != nil {
		return ""
	}
	for name, is := range s.temporary() {
		if _, known := in.temporary[name]; !known {
			in.temporary[name] = is
		}
	}
	return s.destroysWith(in)
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

// removesTree reports whether the arguments of rm remove directories that are
// not temporary.
func removesTree(arguments []string, in *scope) bool {
	var operands []string
	recursive := false
	for _, word := range arguments {
		if !strings.HasPrefix(word, "-") {
			operands = append(operands, word)
		} else if matches(word, "-r|-R|--recursive") {
			recursive = true
		}
	}
	return recursive && (len(operands) == 0 || slices.ContainsFunc(operands, func(w string) bool { return !isTemporary(w, in) }))
}

// isTemporary reports whether a path is below /tmp or a directory of mktemp.
func isTemporary(operand string, in *scope) bool {
	if name, found := strings.CutPrefix(operand, "$"); found {
		name, rest, _ := strings.Cut(name, "/")
		return in.temporary[name] && !strings.Contains("/"+rest+"/", "/../")
	}
	clean := path.Clean(operand)
	return strings.HasPrefix(clean, "/tmp/") || strings.HasPrefix(clean, "/var/tmp/")
}

// overwrites finds a redirection to what is outside.
func (s *script) overwrites(in *scope) (found string) {
	syntax.Walk(s.file, func(node syntax.Node) bool {
		if redirect, ok := node.(*syntax.Redirect); ok && redirect.Word != nil && writes(redirect.Op) {
			if target := WordText(redirect.Word.Parts); in.outside(target) {
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

// outside reports whether a path is neither in the repository, where criteria
// are run, nor temporary, nor a stream: the user's own files, the system's, and
// block devices.
func (in *scope) outside(target string) bool {
	switch {
	case strings.HasPrefix(target, "/dev/"):
		return isDevice(target)
	case strings.HasPrefix(target, "/"), strings.HasPrefix(target, "~"), target == "$HOME", strings.HasPrefix(target, "$HOME/"):
		return !isTemporary(target, in)
	}
	return false
}

// isDevice reports whether a path is a block device, by the names that Linux,
// macOS and the BSDs give them.
func isDevice(target string) bool {
	name, found := strings.CutPrefix(target, "/dev/")
	return found && slices.ContainsFunc(
		[]string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "dm-", "md", "loop", "ada", "da"},
		func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
