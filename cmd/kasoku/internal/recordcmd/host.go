package recordcmd

import (
	"bufio"
	"cmp"
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
	"github.com/kasoku/kasoku/logs/phases"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/record/trigger"
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
	saw   fleet.Sighting
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
	begin, cut := make(chan time.Duration, 1), make(chan time.Duration, 1)
	contain.Go(hostPart, func() { h.listen(begin, cut, end) })
	o.Shared = h.shared(cut)
	o.Ready = func(ctx context.Context) (time.Time, error) { return h.ready(ctx, begin) }
	o.Opened = func() error { h.say(relay.Recorded{State: fleet.Running, Began: h.began}); return nil }
	o.Over = func() { h.say(relay.Recorded{State: fleet.Analysing, Began: h.began}) }
	if h.On != "" {
		if o.On, err = phases.ParseRequest(h.On); err != nil {
			return err
		}
	}
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
	return h.finish(ctx, err)
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
func (h *hostRecorder) listen(begin, cut chan<- time.Duration, end context.CancelCauseFunc) {
	give := func(to chan<- time.Duration, at time.Duration) {
		if at <= 0 {
			return
		}
		select {
		case to <- at:
		default:
		}
	}
	lines := bufio.NewScanner(h.e.Stdin)
	for lines.Scan() {
		var b relay.Begin
		if json.Unmarshal(lines.Bytes(), &b) == nil {
			give(begin, b.At)
			give(cut, b.Cut)
		}
	}
	end(errAsked)
}

// shared is this host's part in a run of several: it says what it sees, and begins as it is asked to.
func (h *hostRecorder) shared(cut <-chan time.Duration) *trigger.Shared {
	return &trigger.Shared{
		Watching: func(logs int) {
			h.saw.Logs = logs
			h.saySighting(fleet.Waiting)
		},
		Seen: func(r trigger.Seen) {
			if at, err := fleet.ClockOf(r.Began); err == nil && h.saw.Seen == 0 { // it is read all the time
				h.saw.Seen, h.saw.Path, h.saw.Blind = at, r.Path, r.Blind
				h.saySighting(fleet.Waiting)
			}
		},
		Begin: func() (*trigger.Start, error) {
			select {
			case at := <-cut:
				begin, err := fleet.TimeOf(at)
				return &trigger.Start{At: begin}, err
			default:
				return nil, nil
			}
		},
		Begun: func(at time.Time) {
			if began, err := fleet.ClockOf(at); err == nil { // it is read all the time
				h.began = began
			}
		},
		Grown: func(own int64) (int64, bool) {
			if own != h.saw.Grown {
				h.saw.Grown = own
				h.saySighting(fleet.Running)
			}
			return own, true
		},
	}
}

func (h *hostRecorder) saySighting(state string) {
	b, err := json.Marshal(h.saw)
	if err != nil {
		return // numbers and a path always encode
	}
	s := relay.Recorded{State: state, Sighting: b}
	if state != fleet.Waiting {
		s.Began = h.began
	}
	h.say(s)
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
	return fleet.TimeOf(h.began)
}

// finish gives the run file its name. went is what went wrong while it was made.
func (h *hostRecorder) finish(ctx context.Context, went error) error {
	if err := private.Rename(h.Partial(), h.Whole()); err != nil {
		return err
	}
	short := ""
	if why := cmp.Or(context.Cause(ctx), went); why != nil && !errors.Is(why, errAsked) {
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
	return h.finish(context.Background(), nil)
}
