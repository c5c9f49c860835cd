package clock

import (
	"errors"
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/median"
	"github.com/kasoku/kasoku/logs/accessformat"
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
	// Scope is the scope of settings that say in which time zone a clock is.
	Scope = "clock"
)

// A Zone is the time zone of a log's times.
type Zone struct {
	ahead time.Duration // of this host's clock, in whole steps; to be taken off
	off   time.Duration // how far its times are ahead of the host's, as measured
	zone  time.Duration // that it is written in, ahead of UTC
	known bool          // it had lines
}

// ZoneOf finds the time zone of an access log. The size that the log had at each tick
// shows when a line was written; a line whose time differs from that by whole quarters of
// an hour is of another zone. Times that name their zone are right as they are.
func (c *Clock) ZoneOf(mark lines.Mark) (z Zone, err error) {
	src, err := lines.Since(mark)
	if err != nil {
		return z, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	seen := c.Offset(mark)
	r := accessformat.NewReader(src, nil)
	var ahead, zones []time.Duration
	for len(ahead) < zoneSample && r.Scan() {
		rec := r.Record()
		if !rec.Stamped() {
			continue
		}
		ahead = append(ahead, c.Wall(rec.Time())-seen(rec.Offset))
		zones = append(zones, time.Duration(rec.Zone)*time.Second)
	}
	if len(ahead) == 0 {
		return z, nil // a log that cannot be read says so when it is read
	}
	z.off, z.known = median.High(ahead), true
	if step := z.off.Round(zoneStep); (z.off - step).Abs() <= zoneSlack {
		z.ahead = step
	}
	z.zone = median.High(zones) + z.ahead
	return z, nil
}

// Off returns the difference between the log's times and this host's clock that the zone
// does not explain.
func (z Zone) Off() time.Duration { return z.off - z.ahead }

// Place places a time of the log on the run's clock.
func (z Zone) Place(c *Clock) func(time.Time) time.Duration {
	return func(t time.Time) time.Duration { return c.Wall(t.Add(-z.ahead)) }
}

// Settings returns the zone of the log as settings of the run and, where no zone explains
// the difference, how far off the log's times are.
func (z Zone) Settings(host, path string) []kasoku.Setting {
	if !z.known {
		return nil
	}
	out := []kasoku.Setting{{Host: host, Scope: Scope, Name: path, Value: ZoneName(z.zone)}}
	if off := z.Off().Round(time.Second); off.Abs() > zoneSlack {
		out = append(out, kasoku.Setting{Host: host, Scope: Scope, Name: path + " off by", Value: off.String()})
	}
	return out
}

// ZoneName prints a zone as clocks do: +08:00.
func ZoneName(ahead time.Duration) string {
	sign := "+"
	if ahead < 0 {
		sign, ahead = "-", -ahead
	}
	minutes := int(ahead.Round(time.Minute) / time.Minute)
	return fmt.Sprintf("%s%02d:%02d", sign, minutes/60, minutes%60)
}
