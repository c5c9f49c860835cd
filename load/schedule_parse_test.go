package load

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestParseStages_Success(t *testing.T) {
	f := func(s string, want ...Stage) {
		t.Helper()
		if got, err := ParseStages(s); err != nil || !slices.Equal(got, want) {
			t.Errorf("ParseStages(%q) = %v, error %v, want %v", s, got, err, want)
		}
	}
	f("30s@50,1m@200", Stage{30 * time.Second, 50, 50}, Stage{time.Minute, 200, 200})
	f(" 1m30s @ 0 .. 1k ", Stage{90 * time.Second, 0, 1000})
	f("5s@0", Stage{For: 5 * time.Second})
	f("1m@600/1m..20/s", Stage{time.Minute, 10, 20})
	f("1h@0.5..1.5", Stage{time.Hour, 0.5, 1.5})
	f("1s@1,forever@100", Stage{time.Second, 1, 1}, Stage{Forever, 100, 100})
}

func TestParseStages_Failure(t *testing.T) {
	f := func(s, want string) {
		t.Helper()
		if got, err := ParseStages(s); got != nil || err == nil || err.Error() != want {
			t.Errorf("ParseStages(%q) = %v, error %v, want %s", s, got, err, want)
		}
	}
	f("", `bad stage "": want a duration and a rate, such as 30s@50 or 1m@50..200`)
	f("30s", `bad stage "30s": want a duration and a rate, such as 30s@50 or 1m@50..200`)
	f("1s@1,", `bad stage "": want a duration and a rate, such as 30s@50 or 1m@50..200`)
	f("0s@1", `bad stage "0s@1": bad duration "0s": want more than 0`)
	f("@1", `bad stage "@1": bad duration "": want a number and a unit such as 10s`)
	f("1s@", `bad stage "1s@": bad rate "": want a number such as 1000 or 1k`)
	f("1s@1..", `bad stage "1s@1..": bad rate "": want a number such as 1000 or 1k`)
	f("1s@1..2..3", `bad stage "1s@1..2..3": bad rate "2..3": want a number such as 1000 or 1k`)
	f("1s@infinity", `bad stage "1s@infinity": bad rate "infinity": a stage keeps a rate`)
	f("1s@3000M", `bad stage "1s@3000M": bad rate "3000M": more than 2e+09/s`)
}

func TestParseSpacing(t *testing.T) {
	f := func(s string, want Spacing, text string) {
		t.Helper()
		got, err := ParseSpacing(s)
		if err != nil || got != want || got.String() != text {
			t.Errorf("ParseSpacing(%q) = %v, error %v, want %v", s, got, err, text)
		}
	}
	f("", Even, "even")
	f("even", Even, "even")
	f("poisson", Poisson, "poisson")
	f("burst:100", Burst(100), "burst:100")
	f("burst:1", Even, "even")
	bad := func(s, want string) {
		t.Helper()
		if got, err := ParseSpacing(s); got != Even || err == nil || err.Error() != want {
			t.Errorf("ParseSpacing(%q) = %v, error %v, want %s", s, got, err, want)
		}
	}
	bad("random", `bad spacing "random": want even, poisson or burst:N, such as burst:100`)
	bad("burst", `bad spacing "burst": want even, poisson or burst:N, such as burst:100`)
	bad("burst:0", `bad spacing "burst:0": want a whole number of requests after burst:, such as burst:100`)
	bad("burst:9999999999", `bad spacing "burst:9999999999": want a whole number of requests after burst:, such as burst:100`)
}

func TestParseThink(t *testing.T) {
	f := func(s string, least, most time.Duration) {
		t.Helper()
		if a, b, err := ParseThink(s); err != nil || a != least || b != most {
			t.Errorf("ParseThink(%q) = %s, %s, error %v", s, a, b, err)
		}
	}
	f("100ms", 100*time.Millisecond, 100*time.Millisecond)
	f("0..1.5s", 0, 1500*time.Millisecond)
	f("100 ms .. 1 s", 100*time.Millisecond, time.Second)
	bad := func(s, want string) {
		t.Helper()
		if a, b, err := ParseThink(s); a != 0 || b != 0 || err == nil || err.Error() != want {
			t.Errorf("ParseThink(%q) = %s, %s, error %v, want %s", s, a, b, err, want)
		}
	}
	bad("", `bad think time "": bad duration "": want a number and a unit such as 10s`)
	bad("1s..", `bad think time "1s..": bad duration "": want a number and a unit such as 10s`)
	bad("2s..1s", `bad think time "2s..1s": want the shorter one first`)
}

func FuzzStages(f *testing.F) {
	for _, s := range []string{"30s@50,1m@200", "1m@0..1k,5s@0,forever@100", "1ns@2000000000..1/1m", "292y@1", "1d@0.1..0", " 1s @ 1 .. 2 "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		st, err := ParseStages(s)
		if err != nil {
			if st != nil {
				t.Fatalf("%v and error %v", st, err)
			}
			return
		}
		if len(st) != strings.Count(s, ",")+1 {
			t.Fatalf("%d stages in %q", len(st), s)
		}
		if again, err := ParseStages(writeStages(st)); err != nil || !slices.Equal(again, st) {
			t.Fatalf("%q is %v, written again %v, error %v", s, st, again, err)
		}
		tt, err := Stages(st)
		if err != nil {
			if tt != nil {
				t.Fatalf("%v and error %v", tt, err)
			}
			return
		}
		steps := tt.Steps()
		a := tt.Arrivals()
		var last time.Duration
		for range 100 {
			due, step, ok := a.Next()
			if !ok {
				break
			}
			if due < last || step < 1 || step > len(steps) || !steps[step-1].Interval.Contains(due) {
				t.Fatalf("%q: a request is due at %s in step %d", s, due, step)
			}
			last = due
		}
	})
}

func writeStages(st []Stage) string {
	out := make([]string, len(st))
	for i, s := range st {
		length := strconv.FormatInt(int64(s.For), 10) + "ns"
		if s.For == Forever {
			length = "forever"
		}
		out[i] = length + "@" + strconv.FormatFloat(s.From, 'f', -1, 64) + ".." + strconv.FormatFloat(s.To, 'f', -1, 64)
	}
	return strings.Join(out, ",")
}
