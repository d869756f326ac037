package gate

import (
	"slices"
	"strings"
)

// startup are variables that change what a shell, the dynamic loader or git does before or
// while it runs a script, by name or, ending in *, by prefix: a check must mean the same for
// everybody. BASH_FUNC_ begins the names of functions that hide programs.
var startup = []string{"BASH_ENV", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "BASH_FUNC_*", "LD_*", "DYLD_*", "GIT_*"}

// identity are git variables that name the committer and start nothing.
var identity = []string{"GIT_AUTHOR_*", "GIT_COMMITTER_*"}

// named reports whether a name is in names, or matches a prefix that ends in *.
func named(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		start, open := strings.CutSuffix(n, "*")
		return name == n || open && strings.HasPrefix(name, start)
	})
}

// stig's own variables: the issue, for the checks; the issues whose checks are currently
// running, to detect recursion; and the clock, which checks do not get.
const (
	issueVariable  = "STIG_ISSUE"
	aroundVariable = "STIG_VERIFYING"
	clockVariable  = "STIG_NOW"
)

// environ is the environment of the checks, and the names of the credentials left out of it.
// Pass names credentials to inherit anyway, and nothing else: variables that start programs are
// never inherited.
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

// within reports whether the checks of the issue are already running.
func (j Job) within() bool {
	for _, variable := range j.Env {
		if value, ok := strings.CutPrefix(variable, aroundVariable+"="); ok {
			return slices.Contains(strings.Fields(value), j.Issue)
		}
	}
	return false
}

// Names of credentials contain or equal these, end with these, or have these between two _.
// Names are compared in upper case.
var (
	credentialParts = []string{"TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "PASSWD", "PASSFILE", "CREDENTIAL", "WEBHOOK", "APIKEY", "CONNECTION_STRING"}
	credentialEnds  = []string{"KEY", "PASS", "PWD", "DATABASE_URL", "_DSN"}
	credentialWords = []string{"PAT", "PASS", "AUTH"}
	// sessionNames are not credentials but lead to some: the ssh agent, the files of docker and
	// npm.
	sessionNames = []string{"SSH_AUTH_SOCK", "DOCKER_CONFIG", "NPM_CONFIG_USERCONFIG"}
	// harmless look like credentials: the shell's current and previous directory.
	harmless = []string{"PWD", "OLDPWD"}
)

// isCredential reports whether a variable's name suggests a value that a repository's command
// should not see.
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
