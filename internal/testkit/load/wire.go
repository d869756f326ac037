package load

import (
	"context"
	"fmt"
	"os"
	"strings"

	"stig/internal/process"
)

// Wire connects a separate network namespace with this one, as if the programs inside ran on
// another machine.
type Wire struct {
	Inside []string // command prefix that runs a program in the namespace
	Here   string   // the address of this side, to listen on

	space, name string
}

// NewWire creates the nth wire of this process, from 0 to 255. It needs root on Linux; the
// error says why it is not permitted.
func NewWire(n int) (*Wire, error) {
	w := &Wire{Here: fmt.Sprintf("10.177.%d.1", n), space: fmt.Sprintf("stig%d-%d", os.Getpid(), n), name: fmt.Sprintf("sv%d-%d", os.Getpid()%100_000, n)}
	w.Inside = []string{"ip", "netns", "exec", w.space}
	if err := ip("netns", "add", w.space); err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"link", "add", w.name, "type", "veth", "peer", "name", "eth0", "netns", w.space},
		{"addr", "add", w.Here + "/24", "dev", w.name}, {"link", "set", w.name, "up"},
		{"-n", w.space, "addr", "add", fmt.Sprintf("10.177.%d.2/24", n), "dev", "eth0"},
		{"-n", w.space, "link", "set", "eth0", "up"}, {"-n", w.space, "link", "set", "lo", "up"},
	} {
		if err := ip(args...); err != nil {
			w.Close()
			return nil, err
		}
	}
	return w, nil
}

// Down disconnects the wire: packets are dropped silently.
func (w *Wire) Down() error { return ip("link", "set", w.name, "down") }

// Up reconnects it.
func (w *Wire) Up() error { return ip("link", "set", w.name, "up") }

// Close removes the namespace and the wire.
func (w *Wire) Close() { _ = ip("netns", "delete", w.space) } // removes the wire too

func ip(args ...string) error {
	result, err := process.Run(context.Background(), process.Command{Argv: append([]string{"ip"}, args...)})
	if err == nil && result.Exit != 0 {
		err = fmt.Errorf("exit code %d: %s", result.Exit, strings.TrimSpace(string(result.Stderr)))
	}
	if err != nil {
		return fmt.Errorf("ip %s: %w", strings.Join(args, " "), err)
	}
	return nil
}
