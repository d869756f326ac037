package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const statSession = 3 // of /proc/PID/stat; see look

// outside lists kin of a program outside its process group, as timeout(1) and shell jobs make
// them. It excludes this process, which has the other ends of the pipes; other users' processes
// are invisible.
func (k kin) outside() []int {
	return k.list(func(group int) bool { return group != k.leader })
}

// left lists the kin of a program that have not ended.
func (k kin) left() []int {
	return k.list(func(int) bool { return true })
}

func (k kin) list(wanted func(group int) bool) (pids []int) {
	pipes := inodes(k.pipes)
	// A program that is just starting has all our open files for a moment.
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range processes {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() || pid == k.leader && !isSame(k.id) {
			continue
		}
		p, there := readStat(dir)
		if !there || p.start < k.since || !wanted(p.group) {
			continue
		}
		led := k.leader != 0 && (p.group == k.leader || p.session == k.leader)
		if led || k.isMarked(dir) || holds(filepath.Join(dir, "fd"), pipes) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// isSame reports whether the process with another's number is that one.
func isSame(id ID) bool {
	now, _, there := look(id.PID)
	return there && now.ID.Same(id)
}

// procStat is the group and session of a process, and its start in ticks since boot.
type procStat struct {
	group, session int
	start          uint64
}

// readStat reads that of a process that has not ended.
func readStat(dir string) (p procStat, there bool) {
	text, err := os.ReadFile(filepath.Join(dir, "stat"))
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if err != nil || len(fields) <= statStart || strings.ContainsAny(fields[statState], "ZX") {
		return procStat{}, false
	}
	p.group, _ = strconv.Atoi(fields[statGroup])
	p.session, _ = strconv.Atoi(fields[statSession])
	p.start, _ = strconv.ParseUint(fields[statStart], 10, 64)
	return p, true
}

// startOf returns when a process started, in ticks since boot; 0 if unknown, for example if it
// has ended.
func startOf(pid int) uint64 {
	p, _ := readStat(fmt.Sprintf("/proc/%d", pid))
	return p.start
}

// isMarked reports whether a process has the mark in its environment, and works below the
// directory if one is given.
func (k kin) isMarked(dir string) bool {
	if k.mark == "" {
		return false
	}
	environment, err := os.ReadFile(filepath.Join(dir, "environ"))
	if err != nil || !bytes.Contains(environment, []byte(markVariable+"="+k.mark+"\x00")) {
		return false
	}
	if k.dir == "" {
		return true
	}
	at, err := os.Readlink(filepath.Join(dir, "cwd"))
	return err == nil && (at == k.dir || strings.HasPrefix(at, k.dir+"/"))
}

// markOf reads the mark of a process, "" for none.
func markOf(pid int) string {
	environment, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	for variable := range bytes.SplitSeq(environment, []byte{0}) {
		if mark, ok := strings.CutPrefix(string(variable), markVariable+"="); ok {
			return mark
		}
	}
	return ""
}

// inodes names pipes as the links of open files do.
func inodes(files []*os.File) (names []string) {
	for _, f := range files {
		info, err := f.Stat()
		if err != nil {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			names = append(names, fmt.Sprintf("pipe:[%d]", stat.Ino))
		}
	}
	return names
}

// holds reports whether a directory of open files has one of pipes.
func holds(dir string, pipes []string) bool {
	if len(pipes) == 0 {
		return false
	}
	open, _ := os.ReadDir(dir)
	return slices.ContainsFunc(open, func(f os.DirEntry) bool {
		name, err := os.Readlink(filepath.Join(dir, f.Name()))
		return err == nil && slices.Contains(pipes, name)
	})
}
