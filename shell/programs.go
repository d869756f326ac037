package shell

import (
	"slices"
	"strings"
)

// Runner is a program that runs the command behind its options.
type Runner struct {
	Valued   string   // its options with a value, without hyphens, separated by blanks
	Operands int      // how many words of its own stand before the command
	Scripts  []string // its options behind which all is text for a shell
	Text     bool     // a lone word is such text
}

// RunnerOf gives the Runner of this name, which is without a directory.
func RunnerOf(program string) (Runner, bool) {
	r, found := runners[program]
	return r, found
}

var runners = map[string]Runner{
	"sudo":       {Valued: "u g h p C r t T U D R user group prompt chdir host role type other-user chroot"},
	"doas":       {Valued: "u C"},
	"env":        {Valued: "u C unset chdir", Scripts: []string{"-S", "--split-string"}},
	"nohup":      {},
	"time":       {Valued: "f o format output"},
	"nice":       {Valued: "n adjustment"},
	"ionice":     {Valued: "c n class classdata"},
	"timeout":    {Valued: "k s kill-after signal", Operands: 1},
	"gtimeout":   {Valued: "k s kill-after signal", Operands: 1},
	"stdbuf":     {Valued: "i o e input output error"},
	"setsid":     {},
	"chronic":    {},
	"command":    {},
	"builtin":    {},
	"exec":       {Valued: "a"},
	"noglob":     {},
	"nocorrect":  {},
	"watch":      {Valued: "n interval", Text: true},
	"caffeinate": {Valued: "t w"},
	"unbuffer":   {},
	"strace":     {Valued: "e o p s E"},
	"chroot":     {Valued: "userspec groups", Operands: 1},
	"flock":      {Valued: "w E timeout conflict-exit-code c command", Operands: 1, Scripts: []string{"-c", "--command"}},
	"busybox":    {},
	"coproc":     {},
	"npx":        {Valued: "p package"},
	"pnpx":       {Valued: "p package"},
	"bunx":       {},
	"uvx":        {Valued: "p from with"},
}

// IsShell reports whether a program runs a script: that of -c, of a file, or of
// standard input.
func IsShell(program string) bool { return slices.Contains(shells, program) }

var shells = []string{"sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "fish", "rbash", "nu"}

// IsInterpreter reports whether a program, of whatever version, runs code of a
// language that is not a shell's.
func IsInterpreter(program string) bool { return slices.Contains(interpreters, unversioned(program)) }

var interpreters = []string{"python", "pypy", "node", "nodejs", "deno", "bun", "ruby", "perl", "php"}

// unversioned is the name of a program without a version behind it: python3.12
// is python.
func unversioned(program string) string { return strings.TrimRight(program, "0123456789.") }
