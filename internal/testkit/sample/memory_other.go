//go:build !linux

package sample

func inMemory() string { return "" }
