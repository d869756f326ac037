package verify

import (
	"slices"
	"strings"

	"stig/git"
)

// startup are variables that change what a shell does before or while it runs
// a script: a check means the same for everybody. BASH_FUNC_ begins the names
// of functions that hide programs.
var startup = []string{"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS"}

// Variables of our own: the issue for the checks to see, the issues whose
// checks are running around us, and the clock, which is no business of theirs.
const (
	issueVariable  = "STIG_ISSUE"
	aroundVariable = "STIG_VERIFYING"
	clockVariable  = "STIG_NOW"
)

// environ is the environment of the checks, and the names of the credentials
// that were left out of it. Names in Pass are inherited whatever they are.
func (j Job) environ() (env, withheld []string) {
	env = []string{}
	around := j.Issue
	for _, variable := range j.Env {
		name, value, _ := strings.Cut(variable, "=")
		switch {
		case name == aroundVariable:
			around = value + " " + j.Issue
		case name == issueVariable, name == clockVariable:
		case slices.Contains(j.Pass, name):
			env = append(env, variable)
		case credential(name):
			withheld = append(withheld, name)
		case slices.Contains(startup, name), strings.HasPrefix(name, "BASH_FUNC_"), slices.Contains(git.PlaceVariables, name):
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

// credential reports whether a variable looks, by its name, as if it held what
// a command in a repository should not get to see.
func credential(name string) bool {
	name = strings.ToUpper(name)
	for _, part := range []string{"TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return strings.HasSuffix(name, "_KEY")
}
