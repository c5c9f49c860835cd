package pathwalk

import "testing"

func TestParseFirstUser(t *testing.T) {
	for text, want := range map[string]int{"#UID_MIN 5\nUID_MIN\t\t 500\n": 500, "UID_MIN x\n": 1000, "": 1000} {
		if got := parseFirstUser(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func FuzzParseFirstUser(f *testing.F) {
	f.Add("UID_MIN 3\n")
	f.Fuzz(func(t *testing.T, text string) {
		if parseFirstUser(text) <= 0 {
			t.Errorf("%q", text)
		}
	})
}
