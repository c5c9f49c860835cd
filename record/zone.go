package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/logs/lines"
)

const (
	// zoneStep is what the world's time zones differ by at least: Nepal is at
	// +05:45.
	zoneStep = 15 * time.Minute
	// zoneSlack is how far a log's lines may be from where they were seen to be
	// written: a tick, a request's length, a server's buffer.
	zoneSlack = 2 * time.Minute
	// zoneSample is how many lines are looked at.
	zoneSample = 200
	// scopeClock is the scope of settings that say in which time zone a clock is.
	scopeClock = "clock"
)

// A logZone says how the times of a log are to be read.
type logZone struct {
	ahead time.Duration // of this host's clock, in whole steps; to be taken off
	off   time.Duration // how far its times are ahead of the host's, as measured
	zone  time.Duration // that it is written in, ahead of UTC
	known bool          // it had lines
}

// zoneOf finds out in which time zone an access log is written: when a line came
// is known from the size that the log had at each tick, so a line whose time is
// off by whole quarters of an hour is of another zone. Times that say their zone
// are right as they are.
func (s *session) zoneOf(l *logFile) (z logZone, err error) {
	src, err := lines.Since(l.mark)
	if err != nil {
		return z, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	seen := s.clock.offset(l.mark)
	r := accesslog.NewReader(src, nil)
	var ahead, zones []time.Duration
	for len(ahead) < zoneSample && r.Scan() {
		rec := r.Record()
		if !rec.Stamped() {
			continue
		}
		ahead = append(ahead, s.clock.wall(rec.Time())-seen(rec.Offset))
		zones = append(zones, time.Duration(rec.Zone)*time.Second)
	}
	if len(ahead) == 0 {
		return z, nil // a log that cannot be read says so when it is read
	}
	z.off, z.known = median(ahead), true
	if step := z.off.Round(zoneStep); (z.off - step).Abs() <= zoneSlack {
		z.ahead = step
	}
	z.zone = median(zones) + z.ahead
	return z, nil
}

func median(ds []time.Duration) time.Duration {
	slices.Sort(ds)
	return ds[len(ds)/2]
}

// place places a time of the log on the run's clock.
func (z logZone) place(c *clock) func(time.Time) time.Duration {
	return func(t time.Time) time.Duration { return c.wall(t.Add(-z.ahead)) }
}

// settings says which zone the log is in and, where no zone explains it, how far
// off its times are.
func (z logZone) settings(host, path string) []kasoku.Setting {
	if !z.known {
		return nil
	}
	out := []kasoku.Setting{{Host: host, Scope: scopeClock, Name: path, Value: zoneName(z.zone)}}
	if off := (z.off - z.ahead).Round(time.Second); off.Abs() > zoneSlack {
		out = append(out, kasoku.Setting{Host: host, Scope: scopeClock, Name: path + " off by", Value: off.String()})
	}
	return out
}

// clockSettings says in which zone this host's clock and the database are.
func (s *session) clockSettings(ctx context.Context) []kasoku.Setting {
	_, seconds := s.start.Zone()
	out := []kasoku.Setting{{Host: s.host(), Scope: scopeClock, Name: "host", Value: zoneName(time.Duration(seconds) * time.Second)}}
	if s.db == nil {
		return out
	}
	zone, err := s.db.reader.ZoneOffset(ctx)
	if err != nil {
		return out // the variables say that the database cannot be asked
	}
	return append(out, kasoku.Setting{Host: s.host(), Scope: scopeClock, Name: "database", Value: zoneName(zone)})
}

// zoneName prints a zone as clocks do: +08:00.
func zoneName(ahead time.Duration) string {
	sign := "+"
	if ahead < 0 {
		sign, ahead = "-", -ahead
	}
	minutes := int(ahead.Round(time.Minute) / time.Minute)
	return fmt.Sprintf("%s%02d:%02d", sign, minutes/60, minutes%60)
}
