package beads

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"strconv"
)

// hostID names the system that gives out process ids, since it started: a
// container has its own.
func hostID() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	host, _ := os.Hostname()
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE(append(boot, space+host...)))
}

// startOf is when a process started, in a unit that is the same for all of one
// host, and whether it runs: one that ended and that nobody has waited for does
// not. "0" is a process of which the system says nothing.
func startOf(pid int) (start string, running bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "0", true
	}
	// pid (name) state …, where a name may hold anything; proc(5)
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const state, started = 0, 19
	if len(fields) <= started {
		return "0", true
	}
	return string(fields[started]), string(fields[state]) != "Z"
}
