package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

// The fields of /proc/PID/stat after the name, from 0; see proc_pid_stat(5).
const (
	statState  = 0
	statParent = 1
	statGroup  = 2
	statStart  = 19
)

// look reads the identity of a process and its parent's number; ok is false if it does not
// exist or is a zombie.
func look(pid int) (a Ancestor, parent int, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Ancestor{}, 0, false
	}
	before, after := strings.IndexByte(string(text), '('), strings.LastIndexByte(string(text), ')') // the name may contain both
	fields := strings.Fields(string(text[max(after, 0)+1:]))
	if before < 0 || after < before || len(fields) <= statStart || strings.ContainsAny(fields[statState], "ZX") {
		return Ancestor{}, 0, false
	}
	a = Ancestor{ID: ID{PID: pid, Start: fields[statStart]}, Name: string(text[before+1 : after])}
	a.Host, _ = os.Hostname() // unlike any other
	a.Boot = boot()
	a.Space, _ = os.Readlink("/proc/self/ns/pid") // a sandbox may hide it
	a.Group, _ = strconv.Atoi(fields[statGroup])
	parent, err = strconv.Atoi(fields[statParent])
	return a, parent, err == nil
}

// boot identifies this boot of the system, which no process survives; "" if the system does not
// say.
var boot = sync.OnceValue(func() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text))
})
