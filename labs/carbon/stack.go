package carbon

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/graphite"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/quota"
)

// A Stack is the servers of a variant. It is not safe for concurrent use.
type Stack struct {
	Variant Variant
	caches  []*sandbox.CarbonServer
	relay   *sandbox.CarbonServer // nil without one
	dir     string
	disk    *quota.Group // that imitates a slow one; nil without
	// Imitated says by what a slow disk is imitated; empty: none is.
	Imitated string
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
	retention := tenSeconds
	if s.Variant.Fine {
		retention = oneSecond
	}
	if s.Variant.SlowDisk {
		if err := s.slowDown(); err != nil {
			return err
		}
	}
	for i := range s.Variant.Caches {
		name := string(rune('a' + i))
		start, program := sandbox.Carbon, "cache-"
		if s.Variant.Go {
			start, program = sandbox.GoCarbon, "go-carbon-"
		}
		c, err := start(ctx, sandbox.CarbonOptions{Dir: filepath.Join(s.dir, program+name), Instance: name,
			StorageDir: filepath.Join(s.dir, "storage"), MetricInterval: ReportEvery, Settings: s.Variant.Settings,
			Schemas: schemas(retention)})
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
	if err := s.awaitOwn(ctx); err != nil || s.disk == nil {
		return err
	}
	for _, pid := range s.PIDs() {
		if err := s.disk.Take(pid); err != nil {
			return err
		}
	}
	return nil
}

// slowDown makes the files of all series, and a group of processes whose writes a disk makes as slowly as is
// meant. Where no group can be made, caches write in a way that cannot merge.
func (s *Stack) slowDown() (err error) {
	for _, path := range paths() {
		path = filepath.Join(s.storage(), path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, emptyFile(), 0o644); err != nil {
			return err
		}
	}
	s.disk, err = quota.NewDisk(fmt.Sprintf("carbon-%d", os.Getpid()), s.storage(), DiskWrites)
	if err == nil {
		s.Imitated = fmt.Sprintf("a cgroup that allows %d writes a second", DiskWrites)
		return nil
	}
	s.Variant.Settings[strategy] = "naive"
	s.Imitated = fmt.Sprintf("%s = naive, which does not merge writes: %v", strategy, err)
	return nil
}

// emptyFile is a whisper file of 360 slots of ten seconds without a point, as carbon makes it.
func emptyFile() []byte {
	const step, slots, head = 10, 360, 28
	b := binary.BigEndian.AppendUint32(nil, 1) // average
	b = binary.BigEndian.AppendUint32(b, step*slots)
	b = binary.BigEndian.AppendUint32(b, math.Float32bits(0.5))
	for _, v := range []uint32{1, head, step, slots} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return append(b, make([]byte, 12*slots)...)
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

// Table is where the servers report of themselves: their caches and their files.
func (s *Stack) Table() observe.Table {
	t := &graphite.Table{Storage: s.storage()}
	var caches []string
	for _, c := range s.caches {
		caches, t.Agents = append(caches, c.QueryAddr()), append(t.Agents, "agents."+c.Host)
	}
	t.Query = strings.Join(caches, ",")
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
	if s.disk != nil { // else they write what they hold for as long
		errs = append(errs, s.disk.Free(s.storage()))
	}
	if s.relay != nil {
		errs = append(errs, s.relay.Stop(ctx))
	}
	for _, c := range s.caches {
		errs = append(errs, c.Stop(ctx))
	}
	if s.disk != nil {
		errs = append(errs, s.disk.Remove())
	}
	return errors.Join(errs...)
}
