package plugin

import (
	"math"
	"testing"
)

func FuzzParseState(f *testing.F) {
	for _, seed := range []string{`{"a":1.5,"_lastTime":1800000000}`, `{"_lastTime":1e300}`, `{"a":"x"}`, `null`, `[]`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := parseState(text)
		if err != nil && (s.values != nil || !s.at.IsZero()) {
			t.Errorf("an error and %v", s)
		}
		if _, left := s.values[lastTimeKey]; left {
			t.Error("the time is among the values")
		}
		for k, v := range s.values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%q is %v", k, v)
			}
		}
	})
}

// FuzzTitle: a label keeps the letters of its key.
func FuzzTitle(f *testing.F) {
	for _, seed := range []string{"my-app.sub_part", "90pt", "disk.#.io", "*", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if got := titleOf(key); titleOf(got) != got {
			t.Errorf("%q: %q becomes %q", key, got, titleOf(got))
		}
	})
}
