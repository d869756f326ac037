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

// watching reads the process id of a program from its standard input, and then a word when it
// is over. It ends everything in the program's session, or with $1 in its environment unless
// that is "" (twice: a process may start one meanwhile), if its input ends without the word,
// because we were killed, or if the word does not come within $0 seconds, because we were
// stopped. If read has no -t it waits for the end of its input only. If we were killed or
// stopped before we sent the process id, the session is that of whoever writes to the pipe with
// the inode $2.
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

// watcher is a process that ends a program and its descendants if we cannot.
type watcher struct {
	cmd  *exec.Cmd
	word io.WriteCloser
}

// watch starts a watcher before the program, so that no moment is uncovered. It leads a session
// of its own: an interrupt at the terminal does not end it. output is our end of the pipe that
// the program will write to.
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

// inode is a file's inode number; "" if it has none.
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

// see makes the watcher watch a program, which leads a session.
func (w *watcher) see(pid int) {
	if w != nil {
		_, _ = io.WriteString(w.word, strconv.Itoa(pid)+"\n") // it is gone if that fails
	}
}

// end releases the watcher, and reports whether it had ended the program; nil had not.
func (w *watcher) end() bool {
	if w == nil {
		return false
	}
	_, _ = io.WriteString(w.word, "done\n")
	_ = w.word.Close()
	return w.cmd.Wait() != nil
}
