//go:build !linux

package process

import "os/exec"

// Only Linux kills a program with its parent; elsewhere the watcher does.

func diesWithUs(*exec.Cmd) {}
