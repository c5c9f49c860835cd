package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/record/handover"
)

// newGuard is the guard process of a recorder, which starts it and speaks to it
// through its standard input.
func newGuard(e *env) *cobra.Command {
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
			legacy := guard.Watch(e.stdin)
			if legacy == nil {
				return nil
			}
			return inherit(legacy)
		},
	}
}

// inherit does what a recorder that was killed could not.
func inherit(legacy *guard.Legacy) error {
	handover.SweepMeetings()
	ended := make(chan struct{})
	go contain.Func(contain.Part{Kind: contain.Step, Name: "end of the command"}, func() {
		defer close(ended)
		legacy.EndCommand()
	})()
	ctx, cancel := context.WithTimeout(context.Background(), guard.RecoverWithin)
	defer cancel()
	err := legacy.Recover(ctx, record.KeepLeft)
	<-ended
	return err
}

// guarded says how what a run changes on servers is put back should this
// process be killed. The option file that names the database may be empty.
func (e *env) guarded(o *record.Options, defaultsFile string) error {
	dir, err := e.journals()
	if err != nil && o.MySQL != "" {
		return err
	}
	if defaultsFile != "" {
		if defaultsFile, err = filepath.Abs(defaultsFile); err != nil {
			return err
		}
	}
	o.Guard = &record.Guard{
		Dir: dir, DefaultsFile: defaultsFile,
		// The program as it runs, even when its file was replaced meanwhile.
		Program: command.Spec{Path: "/proc/self/exe", Name: filepath.Base(e.name), Args: []string{"guard"}},
	}
	return nil
}

// journals is the directory of the journals of what is changed on servers.
func (e *env) journals() (string, error) {
	dir := e.getenv("KASOKU_STATE")
	if state := e.getenv("XDG_STATE_HOME"); dir == "" && state != "" {
		dir = filepath.Join(state, "kasoku")
	}
	if home := e.getenv("HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, ".local", "state", "kasoku")
	}
	if dir == "" {
		return "", withHint(errors.New("no directory for the journal of changes: HOME is not set"), "name one: KASOKU_STATE=/var/lib/kasoku")
	}
	return filepath.Abs(filepath.Join(dir, "servers"))
}
