package connect

import (
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/assistant"
	"stig/internal/doctor"
)

func SkillCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "skill",
		Short: "print what an assistant needs to know to work with stig",
		Long: "skill prints the SKILL.md that teaches an assistant to work with stig. skill install\n" +
			"puts it where assistants look for skills.",
		GroupID: "connect",
		Args:    a.UnknownCommand,
		Example: "  stig skill\n  stig skill install",
		RunE: func(*cobra.Command, []string) error {
			body := struct {
				Bytes int    `json:"bytes"`
				Name  string `json:"name"`
				Text  string `json:"text"`
			}{len(assistant.Skill()), assistant.SkillName, assistant.Skill()}
			return a.Result("skill", body, nil, func() error { return a.Data(assistant.Skill()) })
		},
	}
	cmd.AddCommand(skillInstallCommand(a))
	return cmd
}

func skillInstallCommand(a *cli.App) *cobra.Command {
	var o doctor.SetupOptions
	var names, paths []string
	for _, dir := range assistant.SkillDirs() {
		names, paths = append(names, dir.Reader), append(paths, dir.Path)
	}
	last := len(paths) - 1
	cmd := &cobra.Command{
		Use:   "install [" + strings.Join(names, "|") + "]…",
		Short: "put the skill where assistants look for skills",
		Long: "install puts the skill into " + strings.Join(paths[:last], ", ") + " and " + paths[last] + " of the\n" +
			"project, or with --user of the home; into those that are named when some are. A\n" +
			"SKILL.md of that name with another text is kept unless --force is given.",
		Args:      cli.Takes(0, len(names), "at most "+strings.Join(names, ", ")),
		ValidArgs: names,
		Example:   "  stig skill install\n  stig skill install claude --user\n  stig skill install --remove",
		RunE: func(cmd *cobra.Command, args []string) error {
			result, err := doctor.SetupSkill(cmd.Context(), a.Run, args, o)
			return printSetup(a, "skill", o, result, err)
		},
	}
	setupFlags(a, cmd, &o)
	userFlag(cmd, &o)
	forceFlag(cmd, &o, "also replace or remove a SKILL.md with another text")
	return cmd
}
