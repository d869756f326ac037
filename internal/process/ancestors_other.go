//go:build !linux && !darwin

package process

// Without one way to read them that all these systems have, processes are not seen.

func look(int) (Ancestor, int, bool) { return Ancestor{}, 0, false }
