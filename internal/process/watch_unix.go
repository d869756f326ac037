//go:build unix

package process

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// watching reads the process id of a program from its standard input, and then a word
// when it is over. It ends all that belongs to the session of the program, or has $1 in its
// environment where that is not "" (twice: a process may start one while it is looked for), when its input
// ends without the word, because we were killed, or when it does not come within $0
// seconds, because we were stopped. Where read knows no -t it waits for the end of its
// input alone. When we were killed or stopped before we said the process id, that is the
// session of whoever writes to the pipe with the inode $2.
const watching = `
mark=$1 pipe=$2
next() { if [ -n "$BASH_VERSION" ]; then read -r -t "$0" "$1"; else read -r "$1"; fi; }
if next leader; then
	[ "$leader" = done ] || next word && exit 0
else
	for file in $(find -L /proc/[0-9]*/fd/[12] -type p -inum "$pipe"); do
		read -r line <"${file%/fd/*}/stat" && set -- ${line##*) } && leader=$4
	done
	[ -n "$leader$mark" ] || exit 0
fi
kill -s KILL -- "-$leader"
for stat in /proc/[0-9]*/stat; do
	read -r line <"$stat" || continue
	set -- ${line##*) }
	pid=${stat#/proc/}
	[ "$4" = "$leader" ] && kill -s KILL "${pid%/stat}"
done
[ -n "$mark" ] && for again in 1 2; do
	for environ in $(grep -lsF -- "$mark" /proc/[0-9]*/environ); do
		pid=${environ#/proc/}
		kill -s KILL "${pid%/environ}"
	done
done
exit 1
`

// watcher is a process that ends a program and what it started where we cannot.
type watcher struct {
	cmd  *exec.Cmd
	word io.WriteCloser
}

// watch starts a watcher before the program that it is to see, so that no moment is left in
// which nobody would end that. It leads a session of its own: an interrupt at the terminal
// does not end it. output is our end of the pipe that the program will write to.
func watch(limit time.Duration, mark string, output *os.File) (*watcher, error) {
	shell := "bash"
	if _, err := Find(shell); err != nil {
		shell = "sh"
	}
	late := int((limit + time.Second - 1) / time.Second)
	cmd := exec.Command(shell, "-c", watching, strconv.Itoa(late), assigned(mark), inode(output))
	cmd.Env, cmd.Dir = []string{}, "/"
	ownGroup(cmd)
	word, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	return &watcher{cmd, word}, err
}

// inode is the number of the inode of a file; "" where it has none.
func inode(f *os.File) string {
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprint(stat.Ino)
}

// see has the watcher watch a program, which leads a session.
func (w *watcher) see(pid int) {
	if w != nil {
		_, _ = io.WriteString(w.word, strconv.Itoa(pid)+"\n") // it is gone where that fails
	}
}

// end lets the watcher go, and reports whether it had ended the program; nil had not.
func (w *watcher) end() bool {
	if w == nil {
		return false
	}
	_, _ = io.WriteString(w.word, "done\n")
	_ = w.word.Close()
	return w.cmd.Wait() != nil
}
