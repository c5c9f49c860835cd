package accessformat

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestTimeParser_AsTimeParse: every form of every moment is read as package time
// reads it, also when the parser remembers other texts.
func TestTimeParser_AsTimeParse(t *testing.T) {
	layouts := []struct {
		layout string
		zoned  bool
	}{
		{"02/Jan/2006:15:04:05 -0700", true}, {"02/Jan/2006:15:04:05", false}, {"02/Jan/2006:15:04:05.000 -0700", true},
		{"2006-01-02T15:04:05Z07:00", true}, {"2006-01-02T15:04:05.000000Z07:00", true}, {"2006-01-02T15:04:05-0700", true},
		{"2006-01-02 15:04:05", false}, {"2006-01-02 15:04:05,000", false}, {"2006-01-02\t15:04:05", false}, {"2006/01/02 15:04:05", false},
		{"2006-01-02 15:04:05 -0700", true}, {"2006-01-02T15:04:05.000000000Z07:00", true},
	}
	zones := []*time.Location{time.UTC, tokyo, time.FixedZone("", -3*3600-1800)}
	if berlin, err := time.LoadLocation("Europe/Berlin"); err == nil {
		zones = append(zones, berlin)
	}
	rapid.Check(t, func(t *rapid.T) {
		local := rapid.SampledFrom(zones).Draw(t, "local")
		p := timeParser{local: local}
		last := rapid.Int64Range(-9e9, 9e9).Draw(t, "start")
		for range 20 {
			if rapid.Bool().Draw(t, "next") {
				last += rapid.SampledFrom([]int64{0, 1, 60, 3600, -1, 86400, 86400 * 31}).Draw(t, "step")
			}
			l := rapid.SampledFrom(layouts).Draw(t, "layout")
			at := time.Unix(last, rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).In(rapid.SampledFrom(zones).Draw(t, "zone"))
			text := at.Format(l.layout)
			want, err := time.ParseInLocation(l.layout, text, local)
			if err != nil {
				t.Fatal(err)
			}
			ok := p.parse([]byte(text))
			if rapid.Bool().Draw(t, "part") {
				after := rapid.SampledFrom([]string{"", "]", "] \"", " - -", "\t", " 1.2.3.4", ", x", ".x", " +x", "\"}"}).Draw(t, "after")
				ok = p.take([]byte(text+after)) == len(text)
			}
			_, zone := want.Zone()
			if !ok || p.unix != want.UnixNano() || int(p.zone) != zone {
				t.Fatalf("%q: %v %v zone %d, want %v zone %d", text, ok, time.Unix(0, p.unix), p.zone, want, zone)
			}
		}
	})
}

func TestTimeParser(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		p := timeParser{local: tokyo}
		for range 2 {
			got := "bad"
			if p.parse([]byte(text)) {
				got = fmt.Sprintf("%s ±%v %d", time.Unix(0, p.unix).UTC().Format("2006-01-02T15:04:05.999999999"), p.res, p.zone)
			}
			if got != want {
				t.Errorf("%q: %s, want %s", text, got, want)
			}
		}
	}
	f("[21/Aug/2021:10:00:00 +0900]", "2021-08-21T01:00:00 ±1s 32400")
	f("29/Feb/2024:00:00:00 -0930", "2024-02-29T09:30:00 ±1s -34200")
	f("1629507600", "2021-08-21T01:00:00 ±1s 0")
	f("1629507600.123", "2021-08-21T01:00:00.123 ±1ms 0")
	f("1629507600123", "2021-08-21T01:00:00.123 ±1ms 0")
	f("1629507600123456", "2021-08-21T01:00:00.123456 ±1µs 0")
	f("1629507600123456789", "2021-08-21T01:00:00.123456789 ±1ns 0")
	f("1629507600.1234567899", "2021-08-21T01:00:00.123456789 ±1ns 0")
	f("2021-08-21T10:00:00.5", "2021-08-21T01:00:00.5 ±100ms 32400")
	for _, bad := range []string{
		"", "-", "x", "[]", "29/Feb/2023:00:00:00 +0000", "00/Aug/2021:10:00:00 +0900", "21/aug/2021:10:00:00 +0900", "21/Aug/2021:24:00:00 +0900",
		"21/Aug/2021:10:00:60 +0900", "21/Aug/2021:10:00:00 +2500", "21/Aug/2021:10:00:00 +0960", "21/Aug/2021:10:00:00 +09:", "21/Aug/2021:10:00:00x",
		"2021-13-01T00:00:00Z", "2021-08-21T10:00:00.", "2021-08-21X10:00:00Z", "162950760", "16295076001", "1629507600.", "9999999999999999999",
		"9999-08-21T10:00:00Z", "0001-01-01T00:00:00Z", "1629507600x", "21/Aug/2021 10:00:00 +0900",
	} {
		f(bad, "bad")
	}
}

// TestTimeParser_Take: what stands after a remembered time may make it another.
func TestTimeParser_Take(t *testing.T) {
	p := timeParser{local: tokyo}
	f := func(text string, n int, zone int32) {
		t.Helper()
		if got := p.take([]byte(text)); got != n || p.zone != zone {
			t.Errorf("%q: %d bytes, zone %d; want %d, %d", text, got, p.zone, n, zone)
		}
	}
	const at = "21/Aug/2021:10:00:00"
	for _, step := range []struct {
		text string
		n    int
		zone int32
	}{
		{at, 20, 32400}, {at + " ", 20, 32400}, {at + " -", 20, 32400}, {at + " +0000", 26, 0}, {at + " +", 20, 32400}, {at + " -0100]", 26, -3600},
		{at + ".5", 22, 32400}, {at + "]", 20, 32400}, {at + ".x", 20, 32400}, {at + ".", 20, 32400}, {at + ".12 ", 23, 32400}, {at + " -01", 20, 32400}, {at, 20, 32400},
	} {
		f(step.text, step.n, step.zone)
		f(step.text, step.n, step.zone)
	}
}
