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
		Long: "Print the SKILL.md that teaches an assistant to work with stig. stig setup HOST installs it,\n" +
			"also as /stigmergic-convention.",
		Args:    a.UnknownCommand,
		Example: "  stig skill\n  stig skill --json",
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

// skillForce is the help text of --force for targets that include the skill.
const skillForce = "also replace or remove a SKILL.md with another text"

// skillInstallCommand returns the old form of a part of setup.
func skillInstallCommand(a *cli.App) *cobra.Command {
	var o doctor.SetupOptions
	var names []string
	for _, dir := range assistant.SkillDirs() {
		names = append(names, dir.Reader)
	}
	cmd := &cobra.Command{
		Use:       "install [" + strings.Join(names, "|") + "]…",
		Short:     "put the skill where assistants look (see stig setup)",
		Hidden:    true,
		Args:      cli.Takes(0, len(names), "at most "+strings.Join(names, ", ")),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.Warn("stig skill install is deprecated: stig setup HOST installs the skill")
			result, err := doctor.SetupSkill(cmd.Context(), a.Run, args, o)
			return printSetup(a, "skill", o, result, err)
		},
	}
	setupFlags(a, cmd, &o)
	userFlag(cmd, &o)
	forceFlag(cmd, &o, skillForce)
	return cmd
}
