package whisper

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// file makes one with a step of 10 s.
func file(points ...Point) []byte {
	b := []byte("\x00\x00\x00\x01\x00\x00\x00\x3c\x3f\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x1c\x00\x00\x00\x0a")
	b = binary.BigEndian.AppendUint32(b, uint32(len(points)))
	for _, p := range points {
		b = binary.BigEndian.AppendUint32(b, uint32(p.Time))
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(p.Value))
	}
	return b
}

func write(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.wsp")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The ring has come round: its begin is the fourth moment.
var ring = []Point{{130, 4}, {140, 5}, {0, 0}, {120, 3}}

func TestRead(t *testing.T) {
	b := file(ring...)
	for _, c := range []struct {
		text []byte
		want string
	}{
		{b, "[{120 3} {130 4} {140 5}] <nil>"},
		{b[:len(b)-1], "[] whisper file: 4 points from byte 28 do not fit a file of 75"},
		{nil, "[] whisper file: no header"},
		{file(), "[] whisper file: no header"},
	} {
		points, err := Read(write(t, c.text))
		if got := fmt.Sprint(points, " ", err); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestLatest(t *testing.T) {
	path := write(t, file(ring...))
	for _, c := range []struct {
		since, now int64
		want       string
	}{
		{140, 149, "{140 5} true"},
		{141, 149, "{140 5} true"}, // of the same step
		{150, 158, "{0 0} false"},
		{0, 158, "{140 5} true"},
		{0, 139, "{130 4} true"},
		{0, 125, "{120 3} true"},
		{110, 119, "{0 0} false"},
		{0, 99, "{0 0} false"},
	} {
		p, ok, err := Latest(path, c.since, c.now)
		if got := fmt.Sprint(p, ok); got != c.want || err != nil {
			t.Errorf("%d to %d: %s, %v, want %s", c.since, c.now, got, err, c.want)
		}
	}
	if _, ok, err := Latest(write(t, file(Point{}, Point{})), 0, 100); ok || err != nil {
		t.Error(ok, err)
	}
	if _, _, err := Latest(filepath.Join(t.TempDir(), "none"), 0, 100); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestNewestSlots(t *testing.T) {
	path := write(t, file(ring...)) // 120, 130, 140; the slot of 150 would be the third
	for _, c := range []struct {
		now  int64
		most int
		want string
	}{
		{149, 10, "{10 4 10s:40s [120 130 140]} <nil>"},
		{149, 2, "{10 4 10s:40s [130 140]} <nil>"},
		{149, 1, "{10 4 10s:40s [140]} <nil>"},
		{159, 4, "{10 4 10s:40s [120 130 140]} <nil>"},
		{131, 2, "{10 4 10s:40s [120 130]} <nil>"},
		{300, 4, "{10 4 10s:40s []} <nil>"},
		{90, 4, "{10 4 10s:40s []} <nil>"},
	} {
		s, err := NewestSlots(path, c.now, c.most)
		if got := fmt.Sprint(s, " ", err); got != c.want {
			t.Errorf("%d of up to %d: %s, want %s", c.most, c.now, got, c.want)
		}
	}
	if s, err := NewestSlots(write(t, file(Point{}, Point{})), 100, 10); err != nil || len(s.Times) > 0 {
		t.Error(s, err)
	}
	b := file(ring...)
	b[15] = 200
	if _, err := NewestSlots(write(t, b), 149, 4); err == nil {
		t.Error("200 archives")
	}
	b[15] = 9 // more than the file has room for
	if _, err := NewestSlots(write(t, b), 149, 4); err == nil {
		t.Error("9 archives")
	}
}

func TestRetention(t *testing.T) {
	for want, a := range map[string][2]int64{"10s:6h": {10, 2160}, "1m:1w": {60, 10_080}, "1s:90s": {1, 90},
		"1h:2y": {3600, 2 * 365 * 24}, "1w:3w": {604_800, 3}} {
		if got := Retention(a[0], a[1]); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if step, _, _ := strings.Cut(want, ":"); Lasting(step) != a[0] {
			t.Errorf("%s is %d s", step, Lasting(step))
		}
	}
	for _, text := range []string{"", "s", "10", "-1s", "99999999999s", "1x"} {
		if n := Lasting(text); n != 0 {
			t.Errorf("%q is %d s", text, n)
		}
	}
}

func TestPath(t *testing.T) {
	if got := Path("carbon.agents.a-b.cpuUsage"); got != "carbon/agents/a-b/cpuUsage.wsp" {
		t.Error(got)
	}
	if got := Path("cpu;host=a"); len(got) != len("_tagged/abc/def/.wsp")+64 {
		t.Error(got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(file(ring...), int64(100), int64(150))
	f.Add(file(), int64(0), int64(0))
	path := filepath.Join(f.TempDir(), "x.wsp")
	f.Fuzz(func(t *testing.T, b []byte, since, now int64) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		points, err := Read(path)
		if err == nil && len(points) > len(b)/pointSize {
			t.Errorf("%d points of %d bytes", len(points), len(b))
		}
		now &= math.MaxUint32
		if p, ok, err := Latest(path, since&math.MaxUint32, now); err == nil && ok && p.Time > now {
			t.Errorf("%v after %d", p, now)
		}
		if s, err := NewestSlots(path, now, 100); err == nil && len(s.Times) > min(100, len(b)/pointSize) {
			t.Errorf("%d slots of %d bytes", len(s.Times), len(b))
		}
	})
}
