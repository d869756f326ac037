// Package setup connects stig to other programs: the hooks of assistants, git's
// merge driver, blocks in AGENTS.md, the skill. Each connection says what is
// missing, and what installing or removing it would change, before anything is
// written. It knows the files of those programs through package host and keeps the
// bytes around what is its own. It knows no flag and prints nothing.
//
//	missing, err := connection.Missing(ctx)
//	steps, err := connection.Install(ctx)
package setup
