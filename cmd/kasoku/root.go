package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/attackcmd"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/doctorcmd"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/fleetcmd"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/initcmd"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/labcmd"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/logscmd"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/profilecmd"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/provecmd"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/recordcmd"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/restorecmd"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/servecmd"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/showcmd"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/watchcmd"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/record/handover"
)

// run carries out one command line and returns the exit code.
func run(e *cli.Env) (code int) {
	defer func() { code = e.FinishBugs(code) }()
	if err := contain.Do(contain.Part{Kind: contain.Command},
		func() error { code = carryOut(e); return nil }); err != nil {
		return cli.ExitCouldNot
	}
	return code
}

// carryOut is [run] without the last resort.
func carryOut(e *cli.Env) int {
	// kasoku itself has no use for it: what net/http and drivers say there, such as of a
	// server that talks before it is asked, would stand in the midst of an answer.
	log.SetOutput(io.Discard)
	g, args, err := parseGlobals(e.Args)
	if err != nil {
		return e.Finish(err)
	}
	if g.version {
		fmt.Fprint(e.Stdout, versionLines())
		return cli.ExitGood
	}
	stop, err := g.start()
	if err != nil {
		return e.Finish(err)
	}
	root := newRoot(e)
	root.SetArgs(logscmd.ShieldPeer(root, vegetaFlags(root, args)))
	err = root.Execute()
	return e.Finish(errors.Join(err, stop()))
}

func newRoot(e *cli.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "kasoku",
		Short: "Why is the web service slow, and did the fix make it faster?",
		Long: `kasoku loads a web service, watches host, processes and database every second,
reads the logs of exactly that time, names the cause with its evidence and the
fix, and proves the difference by running again.`,
		Example: `  kasoku lab up userapi                    start a small service with seeded defects
  kasoku record --out before.kasoku -- ./bench.sh
  kasoku diagnose before.kasoku
  kasoku compare before.kasoku after.kasoku`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.SetIn(e.Stdin)
	root.SetOut(e.Stdout)
	root.SetErr(e.Stderr)
	setFlagHints(root)
	root.SetHelpCommand(newHelp())
	root.PersistentFlags().StringVar(&e.Color, "color", "auto", "colours: auto, always or never")
	root.PersistentFlags().BoolVar(&e.ASCII, "ascii", false, "draw with plain ASCII")
	root.PersistentFlags().BoolVar(&e.Share, "share", false,
		"let others read the files that are written: 0644 and 0755, less the umask, instead of 0600 and 0700")
	root.AddCommand(recordcmd.NewRecord(e), recordcmd.NewRun(e), recordcmd.NewFinalize(e), recordcmd.NewHostRecorder(e))
	root.AddCommand(attackcmd.NewAttack(e), attackcmd.NewReport(e), attackcmd.NewEncode(e), attackcmd.NewPlot(e), attackcmd.NewDump(e))
	root.AddCommand(showcmd.NewShow(e), showcmd.NewDiagnose(e), showcmd.NewRules(e), showcmd.NewList(e),
		showcmd.NewCompare(e),
		showcmd.NewMerge(e), showcmd.NewSplit(e), showcmd.NewLabel(e), showcmd.NewNote(e), showcmd.NewScore(e), showcmd.NewRm(e), showcmd.NewScrub(e))
	root.AddCommand(watchcmd.NewWatch(e), watchcmd.NewExport(e), profilecmd.NewProfile(e),
		servecmd.NewServe(e))
	root.AddCommand(initcmd.NewInit(e), initcmd.NewConfig(e), doctorcmd.NewDoctor(e), doctorcmd.NewAdvise(e))
	root.AddCommand(provecmd.NewExplain(e), provecmd.NewProbe(e), provecmd.NewTry(e), provecmd.NewAnswers(e))
	root.AddCommand(logscmd.NewDigest(e), logscmd.NewAccessLog(e), logscmd.NewSlowLog(e),
		logscmd.NewHostReader(e))
	root.AddCommand(restorecmd.NewCheckpoint(e), restorecmd.NewRevert(e), restorecmd.NewRestore(e), restorecmd.NewGuard(e))
	root.AddCommand(fleetcmd.NewHub(e), fleetcmd.NewAgent(e), fleetcmd.NewFleet(e))
	root.AddCommand(labcmd.NewLab(e), labcmd.NewAutopilot(e), labcmd.NewDemo(e), newVersion(e))
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		private.Share(e.Share)
		if cmd.Name() != versionName { // what scripts and agents ask waits for no removal
			private.SweepTemp()
			handover.SweepMeetings()
		}
		e.Shield(cmd)
		e.WarnOld(cmd)
		return e.CheckColor()
	}
	strictArgs(root)
	setCompletions(root)
	return root
}

// strictArgs makes a wrong number of arguments a usage error, also of a
// command's own commands.
func strictArgs(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return cli.Usage(err, cmp.Or(cli.HintOf(err), argsHint(cmd, args)))
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		strictArgs(sub)
	}
}

// vegetaFlags turns single-dash long flags (-rate 100) into double ones for the
// commands that take them: those with Vegeta's interface, and the labs.
func vegetaFlags(root *cobra.Command, args []string) []string {
	cmd, _, err := root.Find(args)
	if err != nil || cmd.Annotations["vegeta"] == "" {
		return args
	}
	out := make([]string, len(args))
	copy(out, args)
	for i, a := range out {
		if a == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(a, "-"), "=")
		if strings.HasPrefix(a, "-") && len(name) > 1 && isLetter(name[0]) && longFlag(cmd, name) {
			out[i] = "-" + a
		}
	}
	return out
}

// longFlag reports whether -name is not a row of short flags. An unknown one is
// taken for long when it begins with none, so that it is named whole as unknown.
func longFlag(cmd *cobra.Command, name string) bool {
	return name == "help" || cmd.Flags().Lookup(name) != nil || cmd.Flags().ShorthandLookup(name[:1]) == nil
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
