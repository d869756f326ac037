//go:build !linux

package process

import "os/exec"

// Only Linux ends a program with the one that started it; elsewhere the watcher does.

func diesWithUs(*exec.Cmd) {}
