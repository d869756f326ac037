// Package connect contains the commands that connect stig to other programs: hooks, the MCP
// server, the board, setup, doctor, the skill, trust. The settings of assistants are in package
// assistant, the checks of a machine in package doctor.
//
//	root.AddCommand(connect.SetupCommand(a))
package connect
