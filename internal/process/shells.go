package process

import "slices"

// IsShell reports whether a program runs a script: from -c, a file, or standard input.
func IsShell(program string) bool { return slices.Contains(shells, program) }

var shells = []string{"sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "fish", "rbash", "nu"}
