package store_test

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/html"
	"github.com/kasoku/kasoku/report/recording"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/store"
)

// plantedRun writes a run with a text planted into each text column.
func plantedRun(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "planted.kasoku")
	rec := store.Leaky()
	rec.Configs = rec.Configs[2:]
	if err := store.Write(path, rec); err != nil {
		t.Fatal(err)
	}
	store.Plant(t, path, text)
	return path
}

// outputs are the forms in which a run is printed.
func outputs(t *testing.T, path string) map[string]string {
	t.Helper()
	rec, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	o := report.Options{Made: time.Unix(0, 0), File: "planted.kasoku"}
	doc := recording.Show(rec, o)
	out := map[string]string{}
	for name, write := range map[string]func(w io.Writer) error{
		"terminal": func(w io.Writer) error { return terminal.Write(w, doc, terminal.Options{Width: 120, Color: true}) },
		"html":     func(w io.Writer) error { return html.Write(w, doc) },
		"tsv":      func(w io.Writer) error { return encode.TSV(w, doc) },
		"csv":      func(w io.Writer) error { return encode.CSV(w, doc) },
		"markdown": func(w io.Writer) error { return encode.Markdown(w, doc) },
		"json":     func(w io.Writer) error { return encode.RunJSON(w, rec, o) },
		"plans":    func(w io.Writer) error { return encode.PlansJSON(w, rec) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		out[name] = b.String()
	}
	return out
}

// TestScrubbedReports: what is not in the file is in no report either.
func TestScrubbedReports(t *testing.T) {
	path := plantedRun(t, store.PlantedText)
	e, err := store.Edit(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Scrub(store.ScrubOptions{})
	if err := errors.Join(err, e.Close()); err != nil {
		t.Fatal(err)
	}
	for name, text := range outputs(t, path) {
		for _, word := range store.PlantedWords {
			if i := strings.Index(text, word); i >= 0 {
				t.Errorf("%s holds %q: %q", name, word, text[max(0, i-80):min(len(text), i+40)])
			}
		}
	}
}

// TestHostileRun: no text of a run file acts on a terminal, in whatever form it is
// printed there.
func TestHostileRun(t *testing.T) {
	hostile := "h\x1b[2Jo\x1b]0;s\x07t\x1b]8;;http://x\x1b\\i\rle\b\x9b5n\u009b2J\u202e\u2066\u200f\u2028\x7f\x00\x1bc\x1bP+q\x1b\\ \x1b[31mred"
	for name, text := range outputs(t, plantedRun(t, hostile)) {
		plain := text
		if name == "terminal" { // colours of its own; the planted one is none of these
			for _, style := range []string{"0", "1", "2", "31", "32", "33", "36", "1;31", "1;33"} {
				plain = strings.ReplaceAll(plain, "\x1b["+style+"m", "")
			}
			if strings.Contains(text, "\x1b[31mred") {
				t.Error("terminal: a planted colour came through")
			}
		}
		if name == "csv" {
			plain = strings.ReplaceAll(plain, "\r\n", "\n") // RFC 4180
		}
		for i, r := range plain {
			if (r < 0x20 && r != '\n' && r != '\t') || r >= 0x7f && r <= 0x9f ||
				strings.ContainsRune("\u202e\u2066\u200f\u2028", r) ||
				r == utf8.RuneError && !utf8.ValidString(plain[i:i+1]) && plain[i] != 0xef {
				t.Errorf("%s: %q comes through: %q", name, r, plain[max(0, i-60):min(len(plain), i+30)])
				break
			}
		}
	}
}
