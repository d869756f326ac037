//go:build e2e && unix && !linux

package main

import "testing"

// nightDisk returns a plain directory: mounting a file system is implemented for Linux only.
func nightDisk(t *testing.T) (dir string, mounted bool) { return t.TempDir(), false }
