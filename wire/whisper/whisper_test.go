package whisper

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
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
	})
}
