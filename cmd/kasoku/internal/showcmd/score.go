package showcmd

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/store"
)

// noScore is the value that removes a score.
const noScore = "none"

// NewScore returns the command score, which notes a score that a benchmark showed elsewhere.
func NewScore(e *cli.Env) *cobra.Command {
	var o cli.Output
	var pass, fail bool
	cmd := &cobra.Command{
		Use:   "score RUN VALUE",
		Short: "Note the score that a benchmark showed elsewhere",
		Long: `Note the score of a run whose benchmark showed it elsewhere, as the portal of a
contest does. It replaces one that was found in the benchmark's output. VALUE may
have commas; "none" removes the score.`,
		Example: "  kasoku score latest 12345 --pass\n  kasoku score before 1,683\n  kasoku score 20261120-140211 0 --fail",
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			score, err := parseScore(args[1])
			switch {
			case err != nil:
				return err
			case pass && fail:
				return cli.Usagef("", "--pass and --fail exclude one another")
			case score != nil && pass:
				score.Outcome = kasoku.Passed
			case score != nil && fail:
				score.Outcome = kasoku.Failed
			}
			path, err := cli.FindRun(o.Dir, args[0])
			if err != nil {
				return err
			}
			return editRun(e, path, func(ed *store.Editor, i store.Info) (string, error) {
				return describeScores(i.Score, score), ed.SetScore(score)
			})
		},
	}
	cmd.Flags().BoolVar(&pass, "pass", false, "the benchmark let the run pass")
	cmd.Flags().BoolVar(&fail, "fail", false, "the benchmark failed the run; its score is not compared")
	o.RegisterDir(cmd)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if _, number, ok := strings.Cut(err.Error(), " in -"); ok && number != "" && strings.ContainsRune("0123456789.", rune(number[0])) {
			return cli.Usagef("a negative score goes after --: `"+cmd.CommandPath()+" RUN -- -"+number+"`", "score -%s looks like a flag", number)
		}
		return cmd.Parent().FlagErrorFunc()(cmd, err)
	})
	return cmd
}

// parseScore reads a score as people copy it; nil for none.
func parseScore(text string) (*kasoku.Score, error) {
	if text == noScore {
		return nil, nil
	}
	v, err := strconv.ParseFloat(strings.NewReplacer(",", "", "_", "", " ", "").Replace(text), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, cli.Usagef("12345, 12,345 and 98.5 are scores; none removes it", "score %q: want a number", text)
	}
	return &kasoku.Score{Value: v, Source: "typed"}, nil
}

func describeScores(from, to *kasoku.Score) string {
	switch {
	case to == nil:
		return "score removed"
	case from == nil:
		return "score " + scoreWords(to)
	}
	return fmt.Sprintf("score %s → %s", scoreWords(from), scoreWords(to))
}

func scoreWords(s *kasoku.Score) string {
	text := strconv.FormatFloat(s.Value, 'f', -1, 64)
	if s.Outcome != kasoku.Unjudged {
		text += " " + string(s.Outcome)
	}
	return text
}
