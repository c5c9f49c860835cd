package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/record/handover"
	"github.com/kasoku/kasoku/report/terminal"
)

// run carries out one command line and returns the exit code.
func run(e *env) (code int) {
	defer func() { code = e.finishBugs(code) }()
	if err := contain.Do(contain.Part{Kind: contain.Command},
		func() error { code = e.carryOut(); return nil }); err != nil {
		return exitCouldNot
	}
	return code
}

// carryOut is [run] without the last resort.
func (e *env) carryOut() int {
	g, args, err := parseGlobals(e.args)
	if err != nil {
		return e.finish(err)
	}
	if g.version {
		fmt.Fprint(e.stdout, versionLines())
		return exitGood
	}
	stop, err := g.start()
	if err != nil {
		return e.finish(err)
	}
	root := newRoot(e)
	root.SetArgs(shieldPeer(root, vegetaFlags(root, args)))
	err = root.Execute()
	return e.finish(errors.Join(err, stop()))
}

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "kasoku",
		Short: "Why is the web service slow, and did the fix make it faster?",
		Long: `kasoku loads a web service, watches host, processes and database every second,
reads the logs of exactly that time, names the cause with its evidence and the
fix, and proves the difference by running again.`,
		Example: `  kasoku lab up userapi                    start a small service with seeded defects
  kasoku record -o before.kasoku -- ./bench.sh
  kasoku diagnose before.kasoku
  kasoku compare before.kasoku after.kasoku`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return asUsage(err, "`"+cmd.CommandPath()+" --help` lists the flags")
	})
	root.PersistentFlags().StringVar(&e.color, "color", "auto", "colours: auto, always or never")
	root.PersistentFlags().BoolVar(&e.ascii, "ascii", false, "draw with plain ASCII")
	root.PersistentFlags().BoolVar(&e.share, "share", false, "let others read the files that are written: 0644 and 0755, less the umask, instead of 0600 and 0700")
	root.AddCommand(
		newAttack(e), newReport(e), newEncode(e), newPlot(e), newDump(e), newRecord(e), newRun(e), newWatch(e), newDiagnose(e), newShow(e), newExport(e), newList(e),
		newLabel(e), newNote(e), newScore(e), newRm(e), newScrub(e),
		newInit(e), newDoctor(e), newAdvise(e), newCompare(e), newMerge(e), newExplain(e), newProbe(e), newTry(e), newAutopilot(e), newDigest(e), newAccessLog(e), newSlowLog(e), newRestore(e), newCheckpoint(e), newRevert(e), newFinalize(e), newGuard(e), newRules(e), newLab(e), newDemo(e), newVersion(e),
	)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		private.Share(e.share)
		private.SweepTemp()
		handover.SweepMeetings()
		e.shield(cmd)
		return e.checkColor()
	}
	strictArgs(root)
	return root
}

// strictArgs makes a wrong number of arguments a usage error, also of a
// command's own commands.
func strictArgs(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return asUsage(err, argsHint(cmd, args))
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		strictArgs(sub)
	}
}

// argsHint says how a command is called, or which of its own was meant.
func argsHint(cmd *cobra.Command, args []string) string {
	if !cmd.HasAvailableSubCommands() {
		return "`" + cmd.CommandPath() + " --help` shows how it is called"
	}
	cmd.SuggestionsMinimumDistance = 2 // cobra's own default, which it sets elsewhere
	list := "`" + cmd.CommandPath() + " --help` lists the commands"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Sprintf("did you mean %q? %s", near[0], list)
	}
	return list
}

// usageError is a wrong command line: exit 2.
type usageError struct {
	err  error
	hint string
}

func (u usageError) Error() string { return u.err.Error() }
func (u usageError) Unwrap() error { return u.err }

// Hint says what to do instead.
func (u usageError) Hint() string { return u.hint }

// asUsage makes a usage error of an error; an empty hint prints none.
func asUsage(err error, hint string) error { return usageError{err, hint} }

// usagef returns a usage error; an empty hint prints none.
func usagef(hint, format string, args ...any) error {
	return asUsage(fmt.Errorf(format, args...), hint)
}

// hinted is an error with what to do about it.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

// Hint says what to do.
func (h hinted) Hint() string { return h.hint }

// withHint adds to an error what to do about it.
func withHint(err error, hint string) error { return hinted{err, hint} }

// badAnswer is an answer that is bad although all ran well: exit 1. Its text is
// the last line, not an error.
type badAnswer struct{ why string }

func (b badAnswer) Error() string { return b.why }

// asBad returns a bad answer with its reason.
func asBad(why string) error { return badAnswer{why} }

// stopped says that a run ended before its end, with all kept: exit 3.
type stopped struct{ why string }

func (s stopped) Error() string { return s.why }

// asStopped returns the error of a command that ended before its end.
func asStopped(why string) error { return stopped{why} }

// exitCode is the exit code of a command passed on: --pass-exit.
type exitCode struct{ code int }

func (c exitCode) Error() string { return fmt.Sprintf("the command exited with %d", c.code) }

// passExit returns the error that ends this program with the exit code of a command.
func passExit(code int) error { return exitCode{code} }

// finish prints the error and its hint, and returns the exit code.
func (e *env) finish(err error) int {
	var (
		usage usageError
		bad   badAnswer
		stop  stopped
		pass  exitCode
	)
	switch {
	case err == nil:
		return exitGood
	case errors.As(err, &pass):
		return pass.code
	case errors.As(err, &bad):
		fmt.Fprintf(e.stderr, "exit %d: %s\n", exitBad, bad.why)
		return exitBad
	case errors.As(err, &stop):
		fmt.Fprintf(e.stderr, "exit %d: %s\n", exitCouldNot, stop.why)
		return exitCouldNot
	}
	e.complain(err)
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitCouldNot
}

// finishBugs names the parts that were lost to bugs, and returns the exit code: a
// command that lost a part did not run to its end.
func (e *env) finishBugs(code int) int {
	bugs, all := contain.Bugs()
	for _, b := range bugs {
		e.complain(b)
	}
	if all == 0 {
		return code
	}
	fmt.Fprintf(e.stderr, "exit %d: %s lost to bugs of kasoku, %s\n", exitCouldNot, unit.Counted(len(bugs), "part is", "parts are"), unit.Counted(all, "time", "times"))
	return exitCouldNot
}

// complain prints an error and what to do about it.
func (e *env) complain(err error) {
	w := terminal.NewScreen(terminal.Raw(e.stderr)) // servers and files word parts of errors
	fmt.Fprintf(w, "kasoku: error: %s\n", strings.TrimRight(err.Error(), "\n"))
	if hint := hintOf(err); hint != "" {
		fmt.Fprintf(w, "kasoku: hint: %s\n", hint)
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

// hintOf returns what to do about an error, empty when nothing is known.
func hintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		return h.Hint()
	}
	switch {
	case errors.Is(err, load.ErrNoTargets):
		return "give --target 'GET http://host/', -targets FILE, or targets on standard input"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return "make room there, or write to a file elsewhere; what was written before is kept"
	case errors.Is(err, os.ErrPermission):
		return "run as a user who may do that, or name another file"
	}
	return ""
}
