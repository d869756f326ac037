//go:build !linux && !darwin

package process

// These systems have no common way to inspect processes, so processes are invisible.

func look(int) (Ancestor, int, bool) { return Ancestor{}, 0, false }
