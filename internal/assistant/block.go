package assistant

import (
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"stig/internal/fault"
	"stig/internal/visible"
)

//go:embed BLOCK.md
var blockBody string

// Block is the block that stig keeps in AGENTS.md and files like it: a file of
// instructions that somebody else wrote, where stig owns what stands between
// two lines of its own. The first line holds a hash of what follows it, so that
// an edit by hand is noticed.
func Block() string { return blockText(blockBody, "\n") }

const (
	blockBegin = "<!-- BEGIN STIG v1 hash:"
	blockMark  = "<!-- BEGIN STIG "
	blockEnd   = "<!-- END STIG -->"
)

func blockText(body, eol string) string {
	text := blockBegin + blockHash(body) + " -->\n" + body + blockEnd
	return strings.ReplaceAll(text, "\n", eol)
}

// blockHash does not depend on line ends, which git may change.
func blockHash(body string) string {
	sum := sha256.Sum256([]byte(visible.LF(body)))
	return fmt.Sprintf("%x", sum[:6])
}

// ErrEdited says that somebody edited the block by hand.
var ErrEdited = errors.New("the block of stig was edited by hand")

// block is a block of stig that was found in a text.
type block struct {
	start, end int // offsets; the line end after it is not part of it
	edited     bool
	current    bool // it says what stig would write
}

// findBlock looks for the block; nil when there is none. Errors: fault.Store
// for a block that does not end, and for two.
func findBlock(text string) (*block, error) {
	var found *block
	var body strings.Builder
	offset, line, open, opener := 0, 0, false, 0
	hash := ""
	for whole := range strings.Lines(text) {
		line++
		bare := strings.TrimPrefix(strings.TrimRight(whole, "\r\n"), byteOrderMark)
		switch {
		case strings.HasPrefix(bare, blockMark):
			if found != nil {
				return nil, tooMuch(line, fmt.Sprintf("a second block of stig; the first begins in line %d", opener))
			}
			found, open, opener = &block{start: offset + len(strings.TrimRight(whole, "\r\n")) - len(bare)}, true, line
			_, hash, _ = strings.Cut(strings.TrimSuffix(bare, " -->"), "hash:")
		case open && bare == blockEnd:
			found.end, open = offset+len(strings.TrimRight(whole, "\r\n")), false
			found.edited = hash != blockHash(body.String())
			found.current = !found.edited && hash == blockHash(blockBody)
		case open:
			body.WriteString(whole)
		}
		offset += len(whole)
	}
	if open {
		return nil, tooMuch(opener, "a block of stig that does not end: no line "+blockEnd)
	}
	return found, nil
}

// tooMuch says what does not let a block be told from the text around it. Lines
// count from 1.
func tooMuch(line int, message string) error {
	return &fault.Error{Code: fault.Store, Reason: fmt.Sprintf("%d: %s", line, message), Hint: "take out what is too much by hand"}
}

// HasBlock reports whether the text holds the block as stig would write it.
// Errors: fault.Store; ErrEdited.
func HasBlock(text []byte) (bool, error) {
	found, err := findBlock(string(text))
	if err != nil || found == nil {
		return false, err
	}
	if found.edited {
		return false, ErrEdited
	}
	return found.current, nil
}

// PutBlock puts the block at the end of a text, or in the place of an older
// one; nil stands for a file that is not there. All else keeps its bytes.
// Errors: fault.Store; ErrEdited.
func PutBlock(source []byte) ([]byte, error) {
	if has, err := HasBlock(source); has || err != nil {
		return source, err
	}
	return ForceBlock(source)
}

// ForceBlock is PutBlock that replaces an edited block too.
func ForceBlock(source []byte) ([]byte, error) {
	text := string(source)
	found, err := findBlock(text)
	if err != nil {
		return nil, err
	}
	if found != nil {
		own := blockText(blockBody, lineEnd(text[found.start:]))
		return []byte(text[:found.start] + own + text[found.end:]), nil
	}
	eol := lineEnd(text)
	own := blockText(blockBody, eol)
	switch {
	case source == nil:
		return []byte(own + eol), nil
	case text == "" || text == byteOrderMark:
		return []byte(text + own), nil
	case strings.HasSuffix(text, "\n"):
		return []byte(text + eol + own + eol), nil
	}
	return []byte(text + eol + eol + own), nil
}

// RemoveBlock takes the block out, and gives the text as it was before
// PutBlock; nil when the block is all that the file held. Without a block the
// text is given as it is. Errors: fault.Store; ErrEdited.
func RemoveBlock(source []byte) ([]byte, error) {
	if _, err := HasBlock(source); err != nil {
		return nil, err
	}
	return ForceRemoveBlock(source)
}

// ForceRemoveBlock is RemoveBlock that takes out an edited block too.
func ForceRemoveBlock(source []byte) ([]byte, error) {
	text := string(source)
	found, err := findBlock(text)
	if err != nil || found == nil {
		return source, err
	}
	before, after := text[:found.start], text[found.end:]
	if before == "" && strings.Trim(after, "\r\n") == "" && after != "" {
		return nil, nil
	}
	eol := lineEnd(text[found.start:])
	if after == "" { // there was no newline at the end
		return []byte(strings.TrimSuffix(strings.TrimSuffix(before, eol), eol)), nil
	}
	if line := strings.TrimSuffix(before, eol); line == "" || strings.HasSuffix(line, "\n") {
		before = line
	}
	return []byte(before + strings.TrimPrefix(after, eol)), nil
}

// lineEnd is how the first line ends.
func lineEnd(text string) string {
	if first, _, ok := strings.Cut(text, "\n"); ok && strings.HasSuffix(first, "\r") {
		return "\r\n"
	}
	return "\n"
}
