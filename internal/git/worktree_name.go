package git

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
)

// longestName is how many bytes of a branch or directory are the issue's id: a file
// system takes 255, of which git wants some for its locks.
const longestName = 150

// namespace is where the branches of issues are.
const namespace = "stig"

// BranchOf names the branch of an issue whose results go to the branch onto. Ids that git
// does not take as they are, that hold a slash, or that give onto are written with %XX;
// two ids never have one branch.
func BranchOf(issue, onto string) string {
	name := Escaped(issue)
	branch := namespace + "/" + name
	if branch == onto || strings.HasPrefix(onto, branch+"/") {
		branch = fmt.Sprintf("%s/%%%02X%s", namespace, name[0], name[1:])
	}
	return branch
}

// Escaped writes what git does not take in names of branches, or file systems do not in
// those of files, as %XX.
func Escaped(id string) string {
	var name strings.Builder
	for i := range len(id) {
		c := id[i]
		last := i == len(id)-1
		bad := c <= ' ' || c == 0x7f || strings.IndexByte(`%/\~^:?*[@{"<>|`, c) >= 0
		bad = bad || c == '.' && (i == 0 || last || id[i-1] == '.' || id[i:] == ".lock")
		bad = bad || c == '-' && i == 0
		if bad {
			fmt.Fprintf(&name, "%%%02X", c)
		} else {
			name.WriteByte(c)
		}
	}
	if name.Len() > longestName {
		sum := sha256.Sum256([]byte(id))
		return strings.ToValidUTF8(name.String()[:longestName], "") + "%%" + hex.EncodeToString(sum[:8])
	}
	return name.String()
}

// dirOf is where the work tree of a branch lies unless it was moved.
func (r *worktreeRepo) dirOf(branch string) string {
	return filepath.Join(r.trees, strings.TrimPrefix(branch, namespace+"/"))
}
