package restorecmd

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/record/handover"
)

// NewGuard is the guard process of a recorder, which starts it and speaks to it
// through its standard input.
func NewGuard(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "guard",
		Short:   "Put back what a recorder changed, should it be killed; recorders start it",
		Hidden:  true,
		Example: "  kasoku guard < pipe",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			// It ends with its recorder, which these are for.
			signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
			_ = os.WriteFile("/proc/self/comm", []byte("kasoku-guard"), 0) // for ps; it was started as /proc/self/exe
			legacy := guard.Watch(e.Stdin)
			if legacy == nil {
				return nil
			}
			return endRecorder(legacy)
		},
	}
}

// endRecorder does what a recorder that was killed could not.
func endRecorder(legacy *guard.Legacy) error {
	handover.SweepMeetings()
	ended := contain.Go(contain.Part{Kind: contain.Step, Name: "end of the command"}, legacy.EndCommand)
	ctx, cancel := context.WithTimeout(context.Background(), guard.RecoverWithin)
	defer cancel()
	err := legacy.Recover(ctx, record.KeepLeft)
	<-ended
	return err
}
