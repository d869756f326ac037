package process

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// terminateHolders asks everyone who holds one of the pipes to end: also what
// has left the group, as timeout(1) and the jobs of a shell do.
func terminateHolders(ours []*os.File) { signalHolders(ours, syscall.SIGTERM) }

// killHolders ends everyone who holds one of the pipes.
func killHolders(ours []*os.File) { signalHolders(ours, syscall.SIGKILL) }

// signalHolders leaves out this process, which has the other ends, and cannot
// see into processes of other users. That one is gone meanwhile is no failure.
func signalHolders(ours []*os.File, signal syscall.Signal) {
	var pipes []string
	for _, f := range ours {
		info, err := f.Stat()
		if err != nil {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			pipes = append(pipes, fmt.Sprintf("pipe:[%d]", stat.Ino))
		}
	}
	// A program that is being started holds all that we hold for a moment.
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		pid, err := strconv.Atoi(filepath.Base(process))
		if err != nil || pid == os.Getpid() {
			continue
		}
		if holds(filepath.Join(process, "fd"), pipes) {
			_ = syscall.Kill(pid, signal)
		}
	}
}

// holds reports whether a directory of open files has one of pipes.
func holds(dir string, pipes []string) bool {
	open, _ := os.ReadDir(dir)
	return slices.ContainsFunc(open, func(f os.DirEntry) bool {
		name, err := os.Readlink(filepath.Join(dir, f.Name()))
		return err == nil && slices.Contains(pipes, name)
	})
}
