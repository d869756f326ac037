package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"stig/textfile"
)

// replace puts a file in place at once, in a directory that it makes.
func replace(path string, text []byte) error {
	if err := textfile.MkdirPrivate(filepath.Dir(path)); err != nil {
		return err
	}
	return textfile.Replace(path, text)
}

// maxName is the longest part of an id that a file name holds, in bytes.
const maxName = 100

// fileName is an id as a file may be called on every system; different ids
// have different names, but for their case where a system makes no difference.
func fileName(id string) string {
	var name strings.Builder
	for i := range len(id) {
		c := id[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' && i > 0
		if plain {
			name.WriteByte(c)
		} else {
			fmt.Fprintf(&name, "%%%02X", c)
		}
	}
	if name.Len() <= maxName {
		return name.String()
	}
	sum := sha256.Sum256([]byte(id))
	return name.String()[:maxName] + "%" + hex.EncodeToString(sum[:8])
}
