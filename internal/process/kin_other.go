//go:build !linux

package process

// What has left the process group of a program can only be told on Linux. Elsewhere it
// is not waited for, and left alone.

func (kin) outside() []int { return nil }

// left gives the group as the number by which it is signalled.
func (k kin) left() []int {
	if k.leader > 1 && hasGroup(k.leader) {
		return []int{-k.leader}
	}
	return nil
}

func markOf(int) string { return "" }

func startOf(int) uint64 { return 0 }
