package recordcmd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/relay"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/store"
)

// NewHostRecorder returns the command that the agent of a host starts to have it recorded.
func NewHostRecorder(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:     relay.RecorderCommand,
		Short:   "Record this host for its agent, which starts it",
		Hidden:  true,
		Example: "  kasoku agent --allow record=/home/isucon/kasoku.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := relay.ParseRecorder(e.Getenv(relay.RecorderEnv))
			if err != nil {
				return cli.Usage(err, "")
			}
			h := &hostRecorder{Recorder: o, e: e, out: json.NewEncoder(e.Stdout)}
			if err := h.run(cmd.Context()); err != nil {
				h.say(relay.Recorded{State: fleet.Failed, Error: err.Error()})
				return err
			}
			return nil
		},
	}
}

var hostPart = contain.Part{Kind: contain.Step, Name: "recording"}

// A hostRecorder records this host until its standard input ends.
type hostRecorder struct {
	relay.Recorder
	e     *cli.Env
	out   *json.Encoder
	began time.Duration // CLOCK_MONOTONIC: offset 0
}

func (h *hostRecorder) say(s relay.Recorded) { _ = h.out.Encode(s) } // the agent is gone

func (h *hostRecorder) run(parent context.Context) error {
	lock, err := private.State.Open(filepath.Join(h.Dir, relay.Lock), 0)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return errors.New("another recorder works for the agent of this host")
	}
	if h.Salvage {
		return h.salvage()
	}
	defer cli.OutliveReader()() // what it says to an agent that was killed is lost, and nothing else
	ctx, hard, stop := cli.Interruptible(parent)
	defer stop()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	o, err := h.options(hard)
	if err != nil {
		return err
	}
	begin := make(chan time.Duration, 1)
	contain.Go(hostPart, func() { h.listen(begin, end) })
	o.Ready = func(ctx context.Context) (time.Time, error) { return h.ready(ctx, begin) }
	o.Opened = func() error { h.say(relay.Recorded{State: fleet.Running, Began: h.began}); return nil }
	o.Over = func() { h.say(relay.Recorded{State: fleet.Analysing, Began: h.began}) }
	limit := time.AfterFunc(h.Longest, contain.Func(hostPart, func() {
		end(fmt.Errorf("it lasted for %s",
			h.Longest))
	}))
	defer limit.Stop()
	res, err := record.Record(ctx, o)
	if res == nil {
		return err
	}
	if err != nil {
		h.e.Warn([]kasoku.Warning{{Text: err.Error()}}) // the run file says so, too
	}
	return h.finish(ctx)
}

// errAsked is why a recording ends that was asked to.
var errAsked = errors.New("it was asked to")

// options are those of the kasoku.toml that the agent's owner named, without its load.
func (h *hostRecorder) options(hard context.Context) (record.Options, error) {
	c := config.Default()
	if h.Config != "" {
		named, err := config.Load(h.Config)
		if err != nil {
			return record.Options{}, err
		}
		c = *named
	}
	o, err := record.ConfiguredWatch(&c, record.Options{Path: h.Partial(), Hard: hard,
		Run: kasoku.Run{Label: h.Label, Version: cli.VersionString(), Load: "that of the fleet"}})
	if err != nil {
		return o, err
	}
	return o, h.e.Guarded(&o, c.MySQL.DefaultsFile)
}

// listen takes the moment to begin at, and ends the recording when the agent closes the pipe, or
// is gone.
func (h *hostRecorder) listen(begin chan<- time.Duration, end context.CancelCauseFunc) {
	lines := bufio.NewScanner(h.e.Stdin)
	for lines.Scan() {
		var b relay.Begin
		if json.Unmarshal(lines.Bytes(), &b) == nil && b.At > 0 {
			select {
			case begin <- b.At:
			default:
			}
		}
	}
	end(errAsked)
}

// ready waits for the moment to begin at.
func (h *hostRecorder) ready(ctx context.Context, begin <-chan time.Duration) (time.Time, error) {
	h.say(relay.Recorded{State: fleet.Ready})
	select {
	case h.began = <-begin:
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	}
	now, err := fleet.Monotonic()
	if err != nil {
		return time.Time{}, err
	}
	h.began = max(h.began, now)
	return time.Now().Add(h.began - now), nil
}

// finish gives the run file its name.
func (h *hostRecorder) finish(ctx context.Context) error {
	if err := private.Rename(h.Partial(), h.Whole()); err != nil {
		return err
	}
	short := ""
	if why := context.Cause(ctx); why != nil && !errors.Is(why, errAsked) {
		short = why.Error()
	}
	h.say(relay.Recorded{State: fleet.Over, Began: h.began, Short: short})
	return nil
}

// salvage makes one file of what a recorder left that was killed.
func (h *hostRecorder) salvage() error {
	if _, err := store.Open(h.Partial()); err != nil {
		return err
	}
	return h.finish(context.Background())
}
