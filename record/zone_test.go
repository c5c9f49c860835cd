package record

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/record/clock"
)

// TestLogZone: the lines of a log in another time zone than this host's are
// placed where they were written, whether they say their zone or not.
func TestLogZone(t *testing.T) {
	record := func(t *testing.T, layout string, shift time.Duration, zone *time.Location, want string) kasoku.Setting {
		t.Helper()
		o := quick(t)
		o.AccessLog = filepath.Join(t.TempDir(), "access.log")
		o.For = 1500 * time.Millisecond
		o.Prepare = during(func() error {
			for range 3 {
				stamp := time.Now().Add(shift).In(zone).Format(layout)
				if err := add(o.AccessLog, fmt.Sprintf("time:%s\tmethod:GET\turi:/a\tstatus:200\tsize:1\treqtime:0.001\n", stamp)); err != nil {
					return err
				}
			}
			return nil
		})
		rec := mustRecord(t, o)
		if n := requests(rec); n != 3 && want != "" {
			t.Errorf("%s, %s: %d requests, want 3; %+v", layout, shift, n, rec.Logs)
		}
		if got, ok := rec.Setting(clock.Scope, o.AccessLog); want != "" && got != want {
			t.Errorf("%s, %s: zone %q, %v; want %s", layout, shift, got, ok, want)
		}
		if got, _ := rec.Setting(clock.Scope, "host"); got != time.Now().Format("-07:00") {
			t.Errorf("host %q", got)
		}
		off, _ := rec.Setting(clock.Scope, o.AccessLog+" off by")
		return kasoku.Setting{Value: off}
	}
	f := func(layout string, zone *time.Location, want string) {
		t.Run(layout+want, func(t *testing.T) {
			t.Parallel()
			record(t, layout, 0, zone, want)
		})
	}
	const bare = "2006-01-02 15:04:05"
	shanghai, local := time.FixedZone("CST", 8*3600), time.Now().Format("-07:00")
	f(time.RFC3339, time.Local, local)
	f(time.RFC3339, shanghai, "+08:00")
	f(bare, time.Local, local)
	f(bare, shanghai, "+08:00")
	f(bare, time.FixedZone("", -9000), "-02:30")
	// One that says UTC and means Shanghai.
	f("2006-01-02T15:04:05Z", shanghai, "+08:00")
	// A clock that is wrong by what no zone explains stays as it is, and is reported.
	t.Run("wrong", func(t *testing.T) {
		t.Parallel()
		if s := record(t, time.RFC3339, 20*time.Minute, time.Local, ""); s.Value == "" {
			t.Error("20 minutes ahead, and nothing said")
		}
	})
}
