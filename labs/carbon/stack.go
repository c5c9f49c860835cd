package carbon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/graphite"
	"github.com/kasoku/kasoku/sandbox"
)

// A Stack is the servers of a variant. It is not safe for concurrent use.
type Stack struct {
	Variant Variant
	caches  []*sandbox.CarbonServer
	relay   *sandbox.CarbonServer // nil without one
	dir     string
}

// Up starts the servers of a variant below dir, and waits until they have files for what they
// report of themselves: a limit of new series would keep those from being made, too. The servers
// end with the process that called it. After an error nothing runs.
func Up(ctx context.Context, v Variant, dir string) (*Stack, error) {
	s := &Stack{Variant: v, dir: dir}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Down(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *Stack) start(ctx context.Context) error {
	for i := range s.Variant.Caches {
		name := string(rune('a' + i))
		start, program := sandbox.Carbon, "cache-"
		if s.Variant.Go {
			start, program = sandbox.GoCarbon, "go-carbon-"
		}
		c, err := start(ctx, sandbox.CarbonOptions{Dir: filepath.Join(s.dir, program+name), Instance: name,
			StorageDir: filepath.Join(s.dir, "storage"), MetricInterval: ReportEvery, Settings: s.Variant.Settings,
			Schemas: schemas})
		if err != nil {
			return err
		}
		s.caches = append(s.caches, c)
	}
	if len(s.caches) > 1 || s.Variant.Down {
		if err := s.startRelay(ctx); err != nil {
			return err
		}
	}
	return s.awaitOwn(ctx)
}

func (s *Stack) startRelay(ctx context.Context) (err error) {
	o := sandbox.CarbonRelayOptions{Dir: filepath.Join(s.dir, "relay"), Caches: s.caches,
		Settings: map[string]string{"CARBON_METRIC_INTERVAL": fmt.Sprint(int(ReportEvery / time.Second))}}
	if s.Variant.Down {
		port, err := sandbox.FreePort() // no one listens there
		if err != nil {
			return err
		}
		gone := &sandbox.CarbonServer{PicklePort: port}
		o.Caches = append(slices.Clone(o.Caches), gone)
		o.Settings["RELAY_METHOD"], o.Settings["USE_FLOW_CONTROL"] = "rules", "False"
		o.Settings["MAX_QUEUE_SIZE"] = "10000"
	}
	s.relay, err = sandbox.CarbonRelay(ctx, o)
	return err
}

// ownLimit is how long the files of what servers report of themselves may take.
const ownLimit = 45 * time.Second

// awaitOwn waits for those files. The last one that carbon makes is of points it has written,
// an interval later than the others.
func (s *Stack) awaitOwn(ctx context.Context) error {
	last := "pointsPerUpdate.wsp"
	if s.Variant.Go {
		last = "persister/pointsPerUpdate.wsp"
	}
	ctx, cancel := context.WithTimeout(ctx, ownLimit)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for _, c := range s.caches {
		path := filepath.Join(s.storage(), "carbon", "agents", c.Host, filepath.FromSlash(last))
		for {
			if _, err := os.Stat(path); err == nil {
				break
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return fmt.Errorf("carbon did not report of itself: no %s: %w", path, context.Cause(ctx))
			}
		}
	}
	return nil
}

// storage is the directory of whisper files, which all caches share.
func (s *Stack) storage() string { return filepath.Join(s.dir, "storage", "whisper") }

// Address is where points go, by lines.
func (s *Stack) Address() string {
	if s.relay != nil {
		return s.relay.LineAddr()
	}
	return s.caches[0].LineAddr()
}

// Table is where the servers report of themselves: the first one's cache, and the files of all.
func (s *Stack) Table() observe.Table {
	t := &graphite.Table{Query: s.caches[0].QueryAddr(), Storage: s.storage()}
	for _, c := range s.caches {
		t.Agents = append(t.Agents, "agents."+c.Host)
	}
	if s.relay != nil {
		t.Agents = append(t.Agents, "relays."+s.relay.Host)
	}
	return t
}

// PIDs are the processes of the servers.
func (s *Stack) PIDs() (out []int) {
	for _, c := range s.caches {
		out = append(out, c.Pid())
	}
	if s.relay != nil {
		out = append(out, s.relay.Pid())
	}
	return out
}

// Log is what the first cache prints.
func (s *Stack) Log() string { return s.caches[0].LogFile }

// Down stops the servers. A cache writes what it holds before it ends, which may take longer than
// is waited for.
func (s *Stack) Down(ctx context.Context) error {
	var errs []error
	if s.relay != nil {
		errs = append(errs, s.relay.Stop(ctx))
	}
	for _, c := range s.caches {
		errs = append(errs, c.Stop(ctx))
	}
	return errors.Join(errs...)
}
