package diagnose

import (
	"maps"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
)

func TestProbe(t *testing.T) {
	before := Probe{At: AfterInitialize, Facts: map[string]string{
		"rows a.b": "5", "rows a.c": "7", "index a.b.x": "(y)", "index a.b.z": "(w)", "answer GET http://h/?a=b": "200, 3 bytes, 0a",
	}}
	text := before.Text()
	if want := "answer GET http://h/?a=b = 200, 3 bytes, 0a\nindex a.b.x = (y)\nindex a.b.z = (w)\nrows a.b = 5\nrows a.c = 7\n"; text != want {
		t.Errorf("text\n%s", text)
	}
	c := NewCase(&kasoku.Recording{Configs: []kasoku.Config{{Kind: "file", Name: AfterInitialize}, before.Config()}}, nil)
	got, ok := c.Probe(AfterInitialize)
	if !ok || got.At != before.At || !maps.Equal(got.Facts, before.Facts) {
		t.Errorf("%+v", got)
	}
	if _, ok := c.Probe(AfterRestart); ok {
		t.Error("a probe that was not taken")
	}
	after := Probe{At: AfterRestart, Facts: maps.Clone(before.Facts)}
	if lost := before.Lost(after, FactRows, FactIndex, FactAnswer); len(lost) != 0 {
		t.Errorf("lost %v", lost)
	}
	after.Facts["rows a.b"] = "0"
	after.Facts["rows a.new"] = "1"
	delete(after.Facts, "index a.b.x")
	var lost []string
	for _, l := range before.Lost(after, FactRows, FactIndex) {
		lost = append(lost, l.String())
	}
	if want := "index a.b.x (y) is gone after a restart|rows a.b: 5, after a restart 0"; strings.Join(lost, "|") != want {
		t.Errorf("lost %q", lost)
	}
	if n := after.Count(FactRows); n != 3 {
		t.Errorf("%d rows", n)
	}
}

func FuzzParseProbe(f *testing.F) {
	f.Add("rows a.b = 5\nno fact\n = \nx = \n")
	f.Fuzz(func(t *testing.T, text string) {
		p := ParseProbe(AtStart, text)
		again := ParseProbe(AtStart, p.Text())
		if !maps.Equal(p.Facts, again.Facts) {
			t.Errorf("%q: %q, again %q", text, p.Facts, again.Facts)
		}
	})
}
