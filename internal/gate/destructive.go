package gate

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// rule matches commands that destroy, publish or change the machine. Its words must follow the
// program in order, the first as the subcommand unless it is a flag; "|" separates
// alternatives. The program may be the name of a list in words.txt.
type rule struct{ programs, words string }

// rules are a seat belt, not a wall: the walls are trust and a sandbox.
var rules = []rule{
	{"tools", "self update|upgrade|uninstall"},
	{"git", "push|checkout|switch|stash|commit|merge|rebase|restore|pull|revert|cherry-pick|am|filter-branch|filter-repo|update-ref"},
	{"git", "reset|clean|branch|tag|gc|worktree|reflog|lfs --hard|--merge|--keep|-f|--force|-d|-D|--delete|--prune|remove|expire|delete|prune"},
	{"gh", "pr|repo|issue|release|run|secret|variable|cache|gist|workflow checkout|merge|close|create|edit|delete|archive|upload|run"},
	{"gh curl", "-XDELETE|--method=DELETE|DELETE"},
	{"docker podman nerdctl", "rm|rmi"},
	{"docker podman nerdctl", "volume|network|container|image|system rm"},
	{"docker podman nerdctl", "compose down -v|--volumes"},
	{"docker-compose", "down -v|--volumes"},
	{"terraform tofu terragrunt pulumi cdk kubectl oc", "apply|up|state|replace"},
	{"installers", "install|remove|uninstall|upgrade|update|purge|autoremove|add|tap|default|-S|-Syu"},
	{"npm pnpm yarn bun pip pip3", "install|i|add|remove|uninstall -g|--global|--user|--break-system-packages"},
	{"cargo go gem pipx deno", "install|upgrade"},
	{"uv", "tool install|upgrade|uninstall"},
	{"nixos-rebuild darwin-rebuild home-manager colmena", "switch|boot|apply"},
	{"rails rake artisan mix", "db:reset|db:schema:load|ecto.reset|migrate:fresh|migrate:reset"},
	{"prisma supabase sqlx diesel", "migrate|db|database reset|drop|push"},
	{"nix", "store gc"},
	{"redis-cli", "FLUSHALL|FLUSHDB|flushall|flushdb"},
	{"rsync", "--delete|--delete-after|--delete-excluded|--remove-source-files"},
	{"find", "-delete"},
	{"crontab", "-r"},
	{"systemctl", "stop|disable|mask|reboot|poweroff|halt"},
	{"wreckers", ""},
}

// destroys names what in a script is destructive; "" if nothing is.
func (s *script) destroys() string {
	return destroys(s.text, s.temporary(), 3)
}

// destroys searches the commands of a text, and texts that those run, up to a depth.
func destroys(text string, temporary map[string]bool, depth int) string {
	if depth == 0 {
		return "commands nested too deeply to judge"
	}
	for _, c := range Commands(text) {
		for _, file := range c.Writes {
			if outside(file, temporary) {
				return "writes to " + file
			}
		}
		found := destructive(c.Words, temporary)
		for i := 1; i < len(c.Words) && hands(c.Words[0]) && found == ""; i++ {
			if found = destructive(c.Words[i:min(len(c.Words), i+longest)], temporary); found == "" && strings.ContainsAny(c.Words[i], " \n;") {
				found = destroys(c.Words[i], temporary, depth-1)
			}
			if i == longest {
				break
			}
		}
		if found != "" {
			return found
		}
	}
	return ""
}

// longest limits how many words of a command are examined.
const longest = 24

// hands reports whether a program runs a command given as arguments.
func hands(program string) bool {
	program = path.Base(program)
	return IsRunner(program) || listed("handing", program) || listed("environments", program)
}

// destructive names the words of a command that make it destructive.
func destructive(words []string, temporary map[string]bool) string {
	if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return listed("harmless", w) }) {
		return ""
	}
	program, arguments := path.Base(words[0]), words[1:]
	isOutside := func(w string) bool { return outside(w, temporary) }
	switch {
	case program == "rm" && removesTree(arguments, temporary):
		return "rm -r outside a temporary directory"
	case listed("movers", program) && slices.ContainsFunc(arguments, isOutside):
		return program + " " + arguments[slices.IndexFunc(arguments, isOutside)]
	case listed("writers", program) && len(arguments) > 0 && isOutside(arguments[len(arguments)-1]):
		return "writes to " + arguments[len(arguments)-1]
	case listed("databases", program) && slices.ContainsFunc(arguments, drops):
		return program + " with a statement that deletes"
	case listed("trackers", program) && !reads(arguments):
		return program + " " + arguments[0] + ", which may write to the store"
	case program == "curl" && slices.ContainsFunc(arguments, func(w string) bool { return strings.Contains(w, "localhost") || strings.Contains(w, "127.0.0.1") }):
		return "" // what is served here is most often started for the check
	}
	if verb := destroying(program, arguments); verb != "" {
		return program + " " + verb
	}
	for _, r := range rules {
		if !slices.Contains(strings.Fields(r.programs), program) && !listed(r.programs, program) {
			continue
		}
		if found, ok := r.match(arguments); ok {
			return strings.TrimSpace(program + " " + found)
		}
	}
	return ""
}

// destroying returns the subcommand by which a program destroys or publishes.
func destroying(program string, arguments []string) string {
	const deep = 3 // subcommands, as in "compute instances delete"
	isCloud := listed("clouds", program)
	if !isCloud && !listed("tools", program) {
		return ""
	}
	rest := slices.DeleteFunc(slices.Clone(arguments), func(w string) bool { return strings.HasPrefix(w, "-") })
	for i, argument := range rest[:min(deep, len(rest))] {
		if i == 0 && listed("peaceful", argument) {
			break
		}
		for verb := range strings.FieldsFuncSeq(argument, func(r rune) bool { return r == ':' || r == '.' }) {
			verb, _, _ = strings.Cut(verb, "-")
			if listed("destroying", argument) || listed("destroying", verb) || isCloud && listed("removing", verb) {
				return strings.Join(rest[:i+1], " ")
			}
		}
	}
	return ""
}

// reads reports whether arguments of a tracker name a read-only subcommand.
func reads(arguments []string) bool {
	rest := slices.DeleteFunc(slices.Clone(arguments), func(w string) bool { return strings.HasPrefix(w, "-") })
	return len(rest) == 0 || listed("reads", rest[0]) || len(rest) > 1 && listed("reads", rest[0]+" "+rest[1])
}

// drops reports whether a text contains a deleting SQL statement.
func drops(text string) bool {
	text = " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" \n\t;'\"", r) }), " ")
	return slices.ContainsFunc([]string{" drop table", " drop database", " drop schema", " truncate ", " delete from ", ".dropdatabase("}, func(statement string) bool {
		return strings.Contains(text, statement)
	})
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

// subcommand is the number of leading arguments that may contain a subcommand: up to the first
// that is neither a flag nor possibly a flag's value.
func subcommand(arguments []string) int {
	flag := false
	for i, word := range arguments {
		was := flag
		if flag = strings.HasPrefix(word, "-"); !flag && !was {
			return i + 1
		}
	}
	return len(arguments)
}

// matches compares a word with alternatives; short flags may be combined, as in -fdx.
func matches(word, alternatives string) bool {
	for want := range strings.SplitSeq(alternatives, "|") {
		short := len(want) == 2 && want[0] == '-' && len(word) > 1 && word[0] == '-' && word[1] != '-'
		if word == want || strings.HasPrefix(want, "--") && strings.HasPrefix(word, want+"=") || short && strings.IndexByte(word, want[1]) > 0 {
			return true
		}
	}
	return false
}

// removesTree reports whether the arguments of rm remove directories that are not temporary.
func removesTree(arguments []string, temporary map[string]bool) bool {
	recursive := slices.ContainsFunc(arguments, func(w string) bool { return matches(w, "-r|-R|--recursive") })
	operands := slices.DeleteFunc(slices.Clone(arguments), func(w string) bool { return strings.HasPrefix(w, "-") })
	return recursive && (len(operands) == 0 || slices.ContainsFunc(operands, func(w string) bool { return !isTemporary(w, temporary) }))
}

// temporary lists the variables that only ever contain a result of mktemp.
func (s *script) temporary() map[string]bool {
	found := map[string]bool{"TMPDIR": true}
	syntax.Walk(s.file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Assign:
			if node.Name != nil && node.Value != nil {
				before, known := found[node.Name.Value]
				found[node.Name.Value] = (before || !known) && fromMktemp(node.Value.Parts)
			}
		case *syntax.WordIter:
			found[node.Name.Value] = false
		}
		return true
	})
	return found
}

// fromMktemp reports whether a word is the output of mktemp, or a path below it.
func fromMktemp(parts []syntax.WordPart) bool {
	if len(parts) == 0 || strings.Contains(WordText(parts), "..") {
		return false
	}
	switch part := parts[0].(type) {
	case *syntax.DblQuoted:
		return fromMktemp(part.Parts)
	case *syntax.CmdSubst:
		if len(part.Stmts) == 1 {
			call, ok := part.Stmts[0].Cmd.(*syntax.CallExpr)
			return ok && len(call.Args) > 0 && call.Args[0].Lit() == "mktemp"
		}
	}
	return false
}

// isTemporary reports whether a path is below /tmp or a directory from mktemp.
func isTemporary(operand string, temporary map[string]bool) bool {
	if name, found := strings.CutPrefix(operand, "$"); found {
		name, rest, _ := strings.Cut(name, "/")
		return temporary[name] && !strings.Contains("/"+rest+"/", "/../")
	}
	clean := path.Clean(operand)
	return strings.HasPrefix(clean, "/tmp/") || strings.HasPrefix(clean, "/var/tmp/")
}

// outside reports whether a path is outside the repository, where criteria run, and neither
// temporary nor a stream: the user's own files, system files, and block devices by their names
// on Linux, macOS and the BSDs.
func outside(target string, temporary map[string]bool) bool {
	if device, found := strings.CutPrefix(target, "/dev/"); found {
		return slices.ContainsFunc([]string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "dm-", "md", "loop", "ada", "da"},
			func(prefix string) bool { return strings.HasPrefix(device, prefix) })
	}
	home := target == "$HOME" || strings.HasPrefix(target, "$HOME/") || strings.HasPrefix(target, "~")
	return home || strings.HasPrefix(target, "/") && !isTemporary(target, temporary)
}
