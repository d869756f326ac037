package gate

import (
	"slices"
	"strings"
)

// startup are variables that change what a shell, the loader of programs or git
// does before or while it runs a script, by their whole name or, with a * at the
// end, by how it begins: a check means the same for everybody. BASH_FUNC_ begins
// the names of functions that hide programs.
var startup = []string{"BASH_ENV", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "BASH_FUNC_*", "LD_*", "DYLD_*", "GIT_*"}

// identity are variables of git that say who commits, and start nothing.
var identity = []string{"GIT_AUTHOR_*", "GIT_COMMITTER_*"}

// named reports whether a name is one of names, or begins as one that ends in *.
func named(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		start, open := strings.CutSuffix(n, "*")
		return name == n || open && strings.HasPrefix(name, start)
	})
}

// Variables of our own: the issue for the checks to see, the issues whose
// checks are running around us, and the clock, which is no business of theirs.
const (
	issueVariable  = "STIG_ISSUE"
	aroundVariable = "STIG_VERIFYING"
	clockVariable  = "STIG_NOW"
)

// environ is the environment of the checks, and the names of the credentials
// that were left out of it. Pass names credentials that are inherited all the same,
// and nothing else: what starts programs of its own is never inherited.
func (j Job) environ() (env, withheld []string) {
	env = []string{}
	around := j.Issue
	for _, variable := range j.Env {
		name, value, _ := strings.Cut(variable, "=")
		switch {
		case name == aroundVariable:
			around = value + " " + j.Issue
		case name == issueVariable, name == clockVariable:
		case named(startup, name) && !named(identity, name):
		case isCredential(name) && !slices.Contains(j.Pass, name):
			withheld = append(withheld, name)
		default:
			env = append(env, variable)
		}
	}
	return append(env, issueVariable+"="+j.Issue, aroundVariable+"="+around), withheld
}

// within reports whether the checks of the issue are running around us.
func (j Job) within() bool {
	for _, variable := range j.Env {
		if value, ok := strings.CutPrefix(variable, aroundVariable+"="); ok {
			return slices.Contains(strings.Fields(value), j.Issue)
		}
	}
	return false
}

// What the names of credentials contain or are, end with, and have between two _.
// Names are compared in capitals.
var (
	credentialParts = []string{"TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "PASSWD", "PASSFILE", "CREDENTIAL", "WEBHOOK", "APIKEY", "CONNECTION_STRING"}
	credentialEnds  = []string{"KEY", "PASS", "PWD", "DATABASE_URL", "_DSN"}
	credentialWords = []string{"PAT", "PASS", "AUTH"}
	// sessionNames are no credentials themselves, and lead to some: the agent of ssh,
	// the files of docker and npm.
	sessionNames = []string{"SSH_AUTH_SOCK", "DOCKER_CONFIG", "NPM_CONFIG_USERCONFIG"}
	// harmless look like credentials: where the shell is and was.
	harmless = []string{"PWD", "OLDPWD"}
)

// isCredential reports whether a variable looks, by its name, as if it held what
// a command in a repository should not get to see.
func isCredential(name string) bool {
	name = strings.ToUpper(name)
	if slices.Contains(harmless, name) {
		return false
	}
	in := func(list []string, has func(string, string) bool) bool {
		return slices.ContainsFunc(list, func(part string) bool { return has(name, part) })
	}
	if in(credentialParts, strings.Contains) || in(credentialEnds, strings.HasSuffix) || slices.Contains(sessionNames, name) {
		return true
	}
	words := strings.Split(name, "_")
	return slices.ContainsFunc(credentialWords, func(word string) bool { return slices.Contains(words, word) })
}
