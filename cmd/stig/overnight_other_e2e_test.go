//go:build e2e && unix && !linux

package main

import "testing"

// nightDisk gives a plain directory: mounting a file system is known for Linux alone.
func nightDisk(t *testing.T) (dir string, mounted bool) { return t.TempDir(), false }
