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

// Block returns the block that stig keeps in AGENTS.md and similar instruction files, between
// two marker lines. The rest of the file belongs to its author. The first marker contains a
// hash of the body, which reveals edits by hand.
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

// blockHash returns a hash of body that does not depend on line endings, which git may change.
func blockHash(body string) string {
	sum := sha256.Sum256([]byte(visible.LF(body)))
	return fmt.Sprintf("%x", sum[:6])
}

// ErrEdited reports that the block was edited by hand.
var ErrEdited = errors.New("the stig block was edited by hand")

// block is a stig block found in a text.
type block struct {
	start, end int // byte offsets; end excludes the line ending
	edited     bool
	current    bool // its body is the one this stig would write
}

// findBlock returns the stig block in text; nil if there is none. It returns a fault.Store
// error for an unterminated block and for a second block.
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
				return nil, badBlock(line, fmt.Sprintf("a second stig block; the first begins on line %d", opener))
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
		return nil, badBlock(opener, "unterminated stig block: no line "+blockEnd)
	}
	return found, nil
}

// badBlock returns the error for a block that cannot be told apart from the text around it.
// line is 1-based.
func badBlock(line int, message string) error {
	return &fault.Error{Code: fault.Store, Reason: fmt.Sprintf("%d: %s", line, message), Hint: "fix the marker lines by hand"}
}

// HasBlock reports whether text contains the block as this stig would write it. Errors:
// fault.Store for a malformed block; ErrEdited.
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

// PutBlock returns source with the block at its end, or in place of an older block. A nil
// source means that the file does not exist. All other bytes are kept. Errors: those of
// HasBlock.
func PutBlock(source []byte) ([]byte, error) {
	if has, err := HasBlock(source); has || err != nil {
		return source, err
	}
	return ForceBlock(source)
}

// ForceBlock is like PutBlock but also replaces an edited block.
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

// RemoveBlock returns source as it was before PutBlock: nil if the file contains only the
// block, source itself if there is no block. Errors: those of HasBlock.
func RemoveBlock(source []byte) ([]byte, error) {
	if _, err := HasBlock(source); err != nil {
		return nil, err
	}
	return ForceRemoveBlock(source)
}

// ForceRemoveBlock is like RemoveBlock but also removes an edited block.
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
	if after == "" { // source had no final newline
		return []byte(strings.TrimSuffix(strings.TrimSuffix(before, eol), eol)), nil
	}
	if line := strings.TrimSuffix(before, eol); line == "" || strings.HasSuffix(line, "\n") {
		before = line
	}
	return []byte(before + strings.TrimPrefix(after, eol)), nil
}

// lineEnd returns the line ending of the first line.
func lineEnd(text string) string {
	if first, _, ok := strings.Cut(text, "\n"); ok && strings.HasSuffix(first, "\r") {
		return "\r\n"
	}
	return "\n"
}
