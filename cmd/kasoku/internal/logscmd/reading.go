package logscmd

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/report/terminal"
)

// A reading shows how far logs are read, and says what it took.
type reading struct {
	*terminal.Progress
	name    string
	now     func() time.Time
	started time.Time
	drawn   time.Duration // since started
	done    int64         // bytes, as stored
	total   int64         // 0: not known
	hosts   []string      // what the reading of each host took, where hosts read
}

const (
	// quiet is how long nothing is shown: most logs are read by then.
	quiet = 300 * time.Millisecond
	// redrawn is how often the line is drawn anew.
	redrawn = 100 * time.Millisecond
)

// startReading begins to read the logs.
func startReading(e *cli.Env, in []lines.Input) *reading {
	r := &reading{Progress: e.Progress(), now: e.Now, started: e.Now(), name: "standard input"}
	switch {
	case len(in) > 1:
		r.name = fmt.Sprintf("%d logs", len(in))
	case len(in) == 1 && in[0].R == nil:
		r.name = filepath.Base(in[0].Path)
	}
	return r
}

// progress is called with how many bytes were read of how many, never twice at a time.
func (r *reading) progress(done, total int64) {
	r.done, r.total = done, total
	at := r.now().Sub(r.started)
	if at < quiet || at-r.drawn < redrawn {
		return
	}
	r.drawn = at
	share, left := 0.0, ""
	if total > 0 {
		share = float64(done) / float64(total)
		if done > 0 && done < total {
			left = ", " + unit.Elapsed(time.Duration(float64(at)*(1/share-1)).Round(time.Second)) + " left"
		}
	}
	r.Work("read", share, r.name+" "+r.far()+", "+perSecond(done, at)+left)
}

// far describes how far it is: 3.10 MB of 6.20 MB were read.
func (r *reading) far() string {
	s := unit.Bytes(uint64(r.done))
	if r.total > 0 {
		s += " of " + unit.Bytes(uint64(r.total))
	}
	return s
}

// cost describes how fast it was and what it took.
func (r *reading) cost() string {
	wall := r.now().Sub(r.started)
	if r.hosts != nil {
		return fmt.Sprintf("read %s in %s, %s\n%s", unit.Bytes(uint64(r.done)), unit.Duration(wall), perSecond(r.done, wall),
			strings.Join(r.hosts, "\n"))
	}
	return fmt.Sprintf("read %s in %s, %s, %s of CPU time", unit.Bytes(uint64(r.done)), unit.Duration(wall), perSecond(r.done, wall), unit.Duration(cpuTime()))
}

// perSecond prints a speed of reading.
func perSecond(bytes int64, wall time.Duration) string {
	return unit.Bytes(uint64(float64(bytes)/max(wall.Seconds(), 1e-9))) + "/s"
}

// cpuTime returns the CPU time that this process has used.
//
// Source: getrusage(2), RUSAGE_SELF.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(unix.TimevalToNsec(u.Utime) + unix.TimevalToNsec(u.Stime))
}
