package program

import (
	"bytes"
	"strings"
	"testing"
)

// Whatever the arguments: no panic, and a program that is done has printed the reason.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "--host h -n 1 rest", "--help", "--version", "-n x", "--nosuch", "-- -n", "--host", "-n=1", "--host=\x00é"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, line string, keep bool) {
		var o struct {
			Host string `short:"h" long:"host"`
			N    int    `short:"n"`
		}
		var out, mistakes bytes.Buffer
		rest, _, done := Flags{Name: "x", Keep: keep, Stdout: &out, Stderr: &mistakes}.Parse(&o, strings.Fields(line))
		if done && out.Len()+mistakes.Len() == 0 {
			t.Fatalf("%q: nothing is said", line)
		}
		if len(rest) > len(strings.Fields(line)) {
			t.Fatalf("%q: %q is left", line, rest)
		}
	})
}
