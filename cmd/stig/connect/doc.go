// Package connect has the commands that connect stig to other programs: hooks, the
// MCP server, setup, doctor, the skill, trust.
//
//	root.AddCommand(connect.SetupCommand(a))
package connect
