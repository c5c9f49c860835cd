package clock

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/kasoku/kasoku/logs/lines"
)

func TestZoneName(t *testing.T) {
	f := func(ahead time.Duration, want string) {
		t.Helper()
		if got := ZoneName(ahead); got != want {
			t.Errorf("%s: %s, want %s", ahead, got, want)
		}
	}
	f(0, "+00:00")
	f(8*time.Hour, "+08:00")
	f(-150*time.Minute, "-02:30")
	f(5*time.Hour+45*time.Minute, "+05:45")
}

func TestZone_Empty(t *testing.T) {
	c := New(time.Now(), &passed{})
	z, err := c.ZoneOf(lines.Mark{Path: filepath.Join(t.TempDir(), "none.log")})
	if err != nil || z.known || z.Settings("h", "p") != nil {
		t.Errorf("%+v, %v", z, err)
	}
	if at := z.Place(c)(c.start); at != 0 {
		t.Errorf("start at %s", at)
	}
}
