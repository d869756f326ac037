//go:build unix

package process

import (
	"io"
	"os/exec"
	"strconv"
	"time"
)

// watching waits for a word on its standard input, and ends all that belongs to the
// session of the program $0 when its input ends without one, because we were killed,
// or when none comes within $1 seconds, because we were stopped. Where read knows no
// -t it waits for the end of its input alone.
const watching = `
if [ -n "$BASH_VERSION" ]; then read -r -t "$1" word; else read -r word; fi && exit 0
kill -s KILL -- "-$0"
for stat in /proc/[0-9]*/stat; do
	read -r line <"$stat" || continue
	set -- ${line##*) }
	pid=${stat#/proc/}
	[ "$4" = "$0" ] && kill -s KILL "${pid%/stat}"
done
exit 1
`

// watcher is a process that ends a program and what it started where we cannot.
type watcher struct {
	cmd  *exec.Cmd
	word io.WriteCloser
}

// watch starts the watcher of a program, which leads a session. It leads one of its own,
// so that an interrupt at the terminal does not end it.
func watch(pid int, limit time.Duration) (*watcher, error) {
	shell := "bash"
	if _, err := Find(shell); err != nil {
		shell = "sh"
	}
	late := int((limit + politeTime + time.Second - 1) / time.Second)
	cmd := exec.Command(shell, "-c", watching, strconv.Itoa(pid), strconv.Itoa(late))
	cmd.Env, cmd.Dir = []string{}, "/"
	ownGroup(cmd)
	word, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	return &watcher{cmd, word}, err
}

// end lets the watcher go, and reports whether it had ended the program; nil had not.
func (w *watcher) end() bool {
	if w == nil {
		return false
	}
	_, _ = io.WriteString(w.word, "done\n") // it is gone where that fails
	_ = w.word.Close()
	return w.cmd.Wait() != nil
}
