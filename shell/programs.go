package shell

import (
	"slices"
	"strings"
)

// IsRunner reports whether a program runs the command behind its options. The name is
// without a directory.
func IsRunner(program string) bool { return slices.Contains(runners, program) }

var runners = []string{
	"sudo", "doas", "env", "nohup", "time", "nice", "ionice", "timeout", "gtimeout", "stdbuf",
	"setsid", "chronic", "command", "builtin", "exec", "noglob", "nocorrect", "watch",
	"caffeinate", "unbuffer", "strace", "chroot", "flock", "busybox", "coproc", "npx", "pnpx",
	"bunx", "uvx",
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
