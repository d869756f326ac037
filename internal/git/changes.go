package git

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"stig/internal/process"
)

// Changes returns the diff of the work tree from a commit, new files by name, or of two commits
// named A...B. It omits what is below without, a path from the top of the work tree. Each part
// is limited to most bytes, since people read it; it is "" if git has none.
func (g Client) Changes(ctx context.Context, from, without string, most int) string {
	rest := []string{"--", ":(top)", ":(top,exclude)" + without}
	text := ""
	if !strings.Contains(from, "...") {
		if files := g.beginning(ctx, most/4, append([]string{"ls-files", "--others", "--exclude-standard", "--full-name"}, rest...)); files != "" {
			text = "new files:\n " + strings.ReplaceAll(files, "\n", "\n ") + "\n"
		}
	}
	return text + g.beginning(ctx, most, append([]string{"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short", g.submodules(), "--patch", from}, rest...))
}

// Stat lists the files that differ between two commits, with the number of lines, and the
// totals in the last line: "" for none. It omits what is below without, as in Changes.
func (g Client) Stat(ctx context.Context, from, to, without string, most int) string {
	paths := []string{"--", ":(top)"}
	if without != "" {
		paths = append(paths, ":(top,exclude)"+without)
	}
	return g.beginning(ctx, most, append([]string{"diff", "--no-color", "--no-ext-diff", "--stat=100", from, to}, paths...))
}

// Ahead counts the commits of to that from lacks and that change a path not below without,
// which is as in Changes; "" omits nothing.
func (g Client) Ahead(ctx context.Context, from, to, without string) (int, error) {
	said, err := g.besides(ctx, without, nil, "rev-list", "--count", from+".."+to)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(said))
}

// besides runs a git command that compares commits, for the paths not below without, which is
// as in Changes; "" omits nothing.
func (g Client) besides(ctx context.Context, without string, stdin []byte, argv ...string) (string, error) {
	if argv = append(argv, "--", ":(top)"); without != "" {
		argv = append(argv, ":(top,exclude,literal)"+without)
	}
	command, err := g.asks(ctx, argv, "GIT_LITERAL_PATHSPECS=0")
	if err != nil {
		return "", err
	}
	command.Stdin = stdin
	result, err := g.await(ctx, command)
	if err == nil && result.Exit != 0 {
		err = failure(argv, result)
	}
	return string(result.Stdout), err
}

// beginning returns the beginning of git's output; "" if it fails.
func (g Client) beginning(ctx context.Context, most int, argv []string) string {
	out := &first{most: most}
	command, err := g.asks(ctx, argv, "GIT_LITERAL_PATHSPECS=0")
	if err != nil {
		return ""
	}
	command.Stdout = out
	result, err := process.Run(ctx, command)
	if err != nil || result.Exit != 0 {
		return ""
	}
	text := strings.ToValidUTF8(strings.TrimRight(out.kept.String(), "\n"), "")
	if out.more {
		text += "\n… (there is more)"
	}
	return text
}

// first keeps the first bytes written to it.
type first struct {
	kept bytes.Buffer
	most int
	more bool
}

func (f *first) Write(text []byte) (int, error) {
	room := min(len(text), f.most-f.kept.Len())
	f.kept.Write(text[:room])
	f.more = f.more || room < len(text)
	return len(text), nil
}
