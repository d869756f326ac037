//go:build !linux

package process

// Only Linux shows which processes have left a program's group. Elsewhere they are not waited
// for, and left alone.

func (kin) outside() []int { return nil }

// left returns the group as the number to signal it with.
func (k kin) left() []int {
	if k.leader > 1 && hasGroup(k.leader) {
		return []int{-k.leader}
	}
	return nil
}

func markOf(int) string { return "" }

func startOf(int) uint64 { return 0 }
