package encode

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/comparison"
	"github.com/kasoku/kasoku/report/internal/sample"
	"github.com/kasoku/kasoku/report/recording"
)

func options() report.Options {
	return report.Options{Location: sample.JST, Made: sample.Started.Add(45 * time.Second)}
}

func grouped(t *testing.T) *compare.Comparison {
	t.Helper()
	before, after := sample.Groups()
	c, err := compare.Compare(before, after, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// analysed is a run with all that logs and servers report, and a comparison with the next.
func analysed(t *testing.T) (*kasoku.Recording, *compare.Comparison) {
	t.Helper()
	before, after := sample.Analysed()
	c, err := compare.Compare([]*kasoku.Recording{before}, []*kasoku.Recording{after}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return before, c
}

func compared(t *testing.T) *compare.Comparison {
	t.Helper()
	c, err := compare.Compare([]*kasoku.Recording{sample.Before()}, []*kasoku.Recording{sample.After()}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestGolden(t *testing.T) {
	show := recording.Show(sample.Before(), options())
	logs, moved := analysed(t)
	for _, x := range []struct {
		name  string
		write func(*bytes.Buffer) error
	}{
		{"show.json", func(b *bytes.Buffer) error { return RunJSON(b, sample.Before(), options()) }},
		{"compare.json", func(b *bytes.Buffer) error { return ComparisonJSON(b, compared(t)) }},
		{"show.tsv", func(b *bytes.Buffer) error { return TSV(b, show) }},
		{"groups.json", func(b *bytes.Buffer) error { return ComparisonJSON(b, grouped(t)) }},
		{"groups.tsv", func(b *bytes.Buffer) error { return TSV(b, comparison.Compare(grouped(t), options())) }},
		{"groups.md", func(b *bytes.Buffer) error { return Markdown(b, comparison.Compare(grouped(t), options())) }},
		{"compare.tsv", func(b *bytes.Buffer) error { return TSV(b, comparison.Compare(compared(t), options())) }},
		{"show.md", func(b *bytes.Buffer) error { return Markdown(b, show) }},
		{"analysed.json", func(b *bytes.Buffer) error { return RunJSON(b, logs, options()) }},
		{"analysed.tsv", func(b *bytes.Buffer) error { return TSV(b, recording.Show(logs, options())) }},
		{"analysed.md", func(b *bytes.Buffer) error { return Markdown(b, recording.Show(logs, options())) }},
		{"analysed-moved.json", func(b *bytes.Buffer) error { return ComparisonJSON(b, moved) }},
		{"analysed-moved.tsv", func(b *bytes.Buffer) error { return TSV(b, comparison.Compare(moved, options())) }},
		{"analysed-moved.md", func(b *bytes.Buffer) error { return Markdown(b, comparison.Compare(moved, options())) }},
		{"services.json", func(b *bytes.Buffer) error { return RunJSON(b, sample.Services(), options()) }},
		{"services.md", func(b *bytes.Buffer) error { return Markdown(b, recording.Show(sample.Services(), options())) }},
		{"compare.md", func(b *bytes.Buffer) error { return Markdown(b, comparison.Compare(compared(t), options())) }},
	} {
		t.Run(x.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := x.write(&b); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/"+x.name+".golden", b.Bytes())
		})
	}
}

// A run without anything must still be written: lists are empty, not null.
func TestEmptyRun(t *testing.T) {
	var b bytes.Buffer
	if err := RunJSON(&b, &kasoku.Recording{}, report.Options{}); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"steps", "findings", "queries", "warnings", "settings", "damage"} {
		if l, ok := got[name].([]any); !ok || len(l) != 0 {
			t.Errorf("%s is %v, want an empty list", name, got[name])
		}
	}
}

func TestMarkdownEscapes(t *testing.T) {
	for in, want := range map[string]string{
		"<script>alert(1)</script>": "&lt;script>alert(1)&lt;/script>",
		"a | b":                     `a \| b`,
		"*x* _y_ [z](u)":            `\*x\* \_y\_ \[z\](u)`,
		"two\nlines\x1b[31m":        `two lines\[31m`,
	} {
		if got := escape(in); got != want {
			t.Errorf("escape(%q) is %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"a`b": "``a`b``", "plain": "`plain`", "`": "`` ` ``", "": ""} {
		if got := code(in); got != want {
			t.Errorf("code(%q) is %q, want %q", in, got, want)
		}
	}
	if got := prose("see `a<b` and <i>"); got != "see `a<b` and &lt;i>" {
		t.Errorf("prose is %q", got)
	}
}
