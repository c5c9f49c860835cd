package labcmd

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/labs/carbon"
	"github.com/kasoku/kasoku/labs/isuumo/story"
	"github.com/kasoku/kasoku/labs/userapi"
	"github.com/kasoku/kasoku/labs/writeup"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/html"
	"github.com/kasoku/kasoku/report/terminal"
)

// TestStories: each story is a table that is whole, and each of its steps is a state of
// its lab, other than the one before.
func TestStories(t *testing.T) {
	var names []string
	for _, tl := range stories() {
		names = append(names, tl.Lab)
		if err := tl.Check(); err != nil {
			t.Errorf("%s: %v", tl.Lab, err)
		}
		before := "nothing"
		for _, s := range tl.Steps {
			state := stateOf(t, tl.Lab, s.Name)
			if state == before {
				t.Errorf("%s: step %s changes nothing", tl.Lab, s.Name)
			}
			before = state
			if s.Did == "" {
				t.Errorf("%s: step %s: what the author did is not said", tl.Lab, s.Name)
			}
		}
		if whole := time.Duration(len(tl.Steps)) * (tl.each + 15*time.Second); whole > 8*time.Minute {
			t.Errorf("%s takes %s", tl.Lab, whole)
		}
	}
	if !slices.Equal(names, storyNames) {
		t.Errorf("the stories are %q, and storyNames %q", names, storyNames)
	}
}

// stateOf describes what a step is run with.
func stateOf(t *testing.T, lab, step string) string {
	var state any
	switch lab {
	case "userapi":
		d, k := userapi.StepOf(step)
		state = []any{d, k}
	case "isuumo":
		state = story.StepOf(step)
	case carbon.Name:
		v, err := carbon.Named(step)
		if err != nil {
			t.Fatal(err)
		}
		state = []any{v.Caches, v.Go, v.Settings}
	default:
		for _, l := range smallLabs() {
			if l.Name != lab {
				continue
			}
			v, err := l.Variant(step)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range v.Defects {
				if !l.Known().Has(id) {
					t.Errorf("%s: step %s has %s, which the lab cannot seed", lab, step, id)
				}
			}
			state = []any{slices.Sorted(slices.Values(v.Defects)), v.Twin, v.Memory, v.Pool, v.Capacity}
		}
	}
	b, err := json.Marshal(state)
	if err != nil || state == nil {
		t.Fatalf("%s: no state of step %s: %v", lab, step, err)
	}
	return string(b)
}

// exampleStory is a story of which two steps were run, and one has no figure.
func exampleStory() *walker {
	return &walker{
		writtenUp: writtenUp{Story: &writeup.Story{
			Lab: "shop", About: "why is it slow?",
			Figures: []writeup.Figure{{Key: "score", Name: "score"}, {Key: "mean_ms", Name: "mean", Unit: "ms", Less: true}},
			Steps: []writeup.Step{
				{Name: "first", Did: "as it was shipped", Author: []float64{1683, 404}},
				{Name: "index", Saw: "one SELECT takes it all", Did: "an index", Against: []string{"first"},
					Author: []float64{16_664, 18.4}, Kept: "the mean fell"},
				{Name: "disk", Did: "a faster disk", Against: []string{"index"}, Author: []float64{20_000}, Differs: "the disk"},
			},
		}},
		labRuns: &labRuns{e: &cli.Env{Name: "kasoku"}},
		flags:   &storyFlags{database: "mariadb", duration: 15 * time.Second, out: cli.Output{Dir: cli.RunsDir}},
		got: map[string]*writeup.Measured{
			"first": {Figures: []float64{100, 40}, File: "first.kasoku", Finding: "IDX-01  No index serves it"},
			"index": {Figures: []float64{90, 4}, File: "index.kasoku"},
		},
	}
}

func TestStoryDocument(t *testing.T) {
	var text, page, md bytes.Buffer
	s := exampleStory()
	for w, write := range map[*bytes.Buffer]error{
		&text: terminal.Write(&text, s.document(), terminal.Options{Width: 100}),
		&page: html.Write(&page, s.document()),
		&md:   encode.Markdown(&md, s.document()),
	} {
		if write != nil {
			t.Fatal(write)
		}
		for _, want := range []string{"16,664", "404", "the other way", "as there", "not measured", "the disk",
			"the mean fell", "IDX-01", "1 of 2 effects is the author's, 1 goes another way or size; 1 not measured"} {
			if !strings.Contains(strings.ReplaceAll(w.String(), "&#39;", "'"), want) {
				t.Errorf("no %q in\n%.3000s", want, w)
			}
		}
	}
	if err := s.judgeEffects(); err == nil || !strings.Contains(err.Error(), "index: score: the other way") {
		t.Errorf("judged as %v", err)
	}
}
