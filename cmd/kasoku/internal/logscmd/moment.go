package logscmd

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/unit"
)

// momentLayouts are the ways in which a moment can be written with its day; those
// without an offset are in the zone of the command line.
var momentLayouts = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02",
	"02/Jan/2006:15:04:05 -0700", "02/Jan/2006:15:04:05",
}

// parseMoment reads a moment as --since and --until take it: with its day; as a
// time of today, of yesterday when that is still to come; or as a duration before
// now.
func parseMoment(s string, now time.Time, zone *time.Location) (time.Time, error) {
	now = now.In(zone)
	for _, layout := range momentLayouts {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		t, err := time.ParseInLocation(layout, s, zone)
		if err != nil {
			continue
		}
		at := time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone)
		if at.After(now) {
			at = time.Date(now.Year(), now.Month(), now.Day()-1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone)
		}
		return at, nil
	}
	if d, err := unit.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, cli.WithHint(fmt.Errorf("time %q: want 2026-11-20T14:02:11+09:00, \"2026-11-20 14:02:11\", 14:02, "+
		"or 10m for so long before now", s), "14:02 is of today, or of yesterday when that is still to come; 24h is a day ago")
}
