//go:build e2e && linux

// Package hosts_test runs whole sessions of real assistants (Claude Code, Codex, Copilot CLI,
// the Gemini CLI, OpenCode) with stig connected to them by stig setup. A scripted server on
// 127.0.0.1 stands in for the model, and every program runs in an empty home and in a network
// namespace that has only the loopback interface.
//
//	npm install --prefix /srv/hosts @anthropic-ai/claude-code @openai/codex @github/copilot @google/gemini-cli opencode-ai
//	STIG_TEST_HOSTS=/srv/hosts go test -tags e2e ./internal/testkit/hosts -v
package hosts_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const (
	hostsVariable  = "STIG_TEST_HOSTS"        // the folder in which npm installed the programs
	insideVariable = "STIG_TEST_HOSTS_INSIDE" // set in the network namespace
)

// TestMain runs the tests again in a network namespace with only the loopback interface, so
// that no program reaches anything else.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(hostsVariable) == "":
		fmt.Fprintln(os.Stderr, hostsVariable+" names no folder into which npm installed the programs")
		os.Exit(1)
	case os.Getenv(insideVariable) == "":
		os.Exit(runIsolated())
	default:
		if err := startLoopback(); err != nil {
			fmt.Fprintln(os.Stderr, "loopback interface:", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// runIsolated runs this test binary with new user and network namespaces, and
// returns its exit code.
func runIsolated() int {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, "network namespace:", err)
		return 1
	}
	return cmd.ProcessState.ExitCode()
}

// startLoopback brings the loopback interface of this namespace up.
func startLoopback() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request)
}

// built is the stig of this tree, built once by the first test that needs it.
func built(t *testing.T) string {
	t.Helper()
	program := filepath.Join(os.TempDir(), fmt.Sprintf("stig-hosttest-%d", os.Getpid()), "stig")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, "stig/cmd/stig").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}
