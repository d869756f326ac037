// Package connect has the commands that connect stig to other programs: hooks, the
// MCP server, the board, setup, doctor, the skill, trust. It knows no settings of
// an assistant (package assistant) and makes no check of a machine (package doctor).
//
//	root.AddCommand(connect.SetupCommand(a))
package connect
