package writeup_test

import (
	"testing"

	"github.com/kasoku/kasoku/labs/writeup"
)

func story() *writeup.Story {
	return &writeup.Story{
		Lab:     "shop",
		Figures: []writeup.Figure{{Key: "s", Name: "seconds", Unit: "s", Less: true}, {Key: "ok", Name: "success"}},
		Steps: []writeup.Step{
			{Name: "first", Author: []float64{12, 30}},
			{Name: "pool", Against: []string{"first"}, Author: []float64{6, 99}},
			{Name: "disk", Against: []string{"pool", "first"}, Author: []float64{1}, Differs: "the disk", Kept: "it is right"},
			{Name: "back", Against: []string{"pool"}, Expect: writeup.Worse},
		},
	}
}

func TestVerdict(t *testing.T) {
	for _, tt := range []struct {
		name         string
		author, here float64
		expect       writeup.Direction
		want         writeup.Verdict
	}{
		{"the same", 2, 1.9, "", writeup.AsThere},
		{"a third and a little", 6, 2.01, "", writeup.AsThere},
		{"less than a third", 6, 1.9, "", writeup.Smaller},
		{"nearly three times", 1.2, 3.5, "", writeup.AsThere},
		{"more", 1.2, 3.7, "", writeup.Larger},
		{"more of a loss", 0.9, 0.25, "", writeup.Larger},
		{"less of a loss", 0.2, 0.7, "", writeup.Smaller},
		{"none where there was one", 1.5, 1.02, "", writeup.Nothing},
		{"little where there was little", 1.07, 1.02, "", writeup.AsThere},
		{"little, to the other side", 1.07, 0.98, "", writeup.Nothing},
		{"the other way", 1.5, 0.8, "", writeup.OtherWay},
		{"a loss that became a gain", 0.9, 1.2, "", writeup.OtherWay},
		{"neither there nor here", 1.03, 0.97, "", writeup.AsThere},
		{"none there, the other side here", 1.03, 0.8, "", writeup.OtherWay},
		{"none there, the same side here", 1.03, 1.4, "", writeup.AsThere},
		{"no figure", writeup.Missing, 1.4, writeup.Better, writeup.AsThere},
		{"no figure, the other way", writeup.Missing, 0.7, writeup.Better, writeup.OtherWay},
		{"no figure, no effect", writeup.Missing, 1, writeup.Same, writeup.AsThere},
		{"no figure, an effect where there was none", writeup.Missing, 1.3, writeup.Same, writeup.OtherWay},
		{"not measured", 2, writeup.Missing, "", writeup.Open},
		{"nothing known", writeup.Missing, 2, "", writeup.Open},
	} {
		e := writeup.Effect{Author: tt.author, Here: tt.here, Expect: tt.expect}
		if got := e.Verdict(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if e.Holds() != (tt.want == writeup.AsThere) {
			t.Errorf("%s: holds %v", tt.name, e.Holds())
		}
		e.Differs = "the disk"
		if e.Holds() != (tt.want != writeup.Open) {
			t.Errorf("%s: may differ: holds %v", tt.name, e.Holds())
		}
	}
}

func TestEffects(t *testing.T) {
	s := story()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	got := map[string]*writeup.Measured{
		"first": {Figures: []float64{10, 50}}, "pool": {Figures: []float64{5, 100}}, "disk": {Figures: []float64{2, 0}},
	}
	var said []string
	for _, e := range s.Effects(got) {
		said = append(said, e.Step+" "+e.Against+" "+e.Figure.Key+": "+string(e.Verdict()))
	}
	want := []string{
		"pool first s: as there", "pool first ok: as there", "disk pool s: as there", "disk first s: as there",
		"back pool s: not measured",
	}
	if len(said) != len(want) {
		t.Fatalf("%q, want %q", said, want)
	}
	for i := range want {
		if said[i] != want[i] {
			t.Errorf("%q, want %q", said[i], want[i])
		}
	}
}

func TestCheck(t *testing.T) {
	for name, spoil := range map[string]func(*writeup.Story){
		"step pool: twice":                  func(s *writeup.Story) { s.Steps[2].Name = "pool" },
		"step pool: 3 figures of 2":         func(s *writeup.Story) { s.Steps[1].Author = []float64{1, 2, 3} },
		"step pool: held against nothing":   func(s *writeup.Story) { s.Steps[1].Against = nil },
		"step pool: no step back before it": func(s *writeup.Story) { s.Steps[1].Against = []string{"back"} },
		"a story without a figure":          func(s *writeup.Story) { s.Figures = nil },
	} {
		s := story()
		spoil(s)
		if err := s.Check(); err == nil || err.Error() != name {
			t.Errorf("%v, want %s", err, name)
		}
	}
}
