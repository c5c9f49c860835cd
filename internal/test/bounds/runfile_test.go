package bounds

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/comparison"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/html"
	"github.com/kasoku/kasoku/report/recording"
	"github.com/kasoku/kasoku/report/runlist"
	"github.com/kasoku/kasoku/report/statements"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/store"
)

// texts is about how many texts a recording has, of which there is one in each list.
const texts = 300

// runFileRows feed texts to all that reads and draws run files: titles, notes, warnings,
// arguments, statements, routes and whatever else of a recording is a text.
func runFileRows() []row {
	pieces := []string{"x", "\n", "日 ", "\x1b[1m", "<b>`a`", "password=a:b@"}
	return []row{
		{name: "run file, long texts", pieces: pieces, copies: texts, read: text(func(s string) { useRun(filled(1, func(int) string { return s })) })},
		{name: "run file, many rows", pieces: []string{"1"}, copies: texts, read: func(in []byte) {
			useRun(filled(len(in)/50, func(i int) string { return fmt.Sprint("a", i) }))
		}},
		{name: "run file, many alike", pieces: []string{"1"}, copies: texts, read: func(in []byte) {
			useRun(filled(len(in)/50, func(int) string { return "select a from b" }))
		}},
	}
}

// filled returns a recording in which every list has n elements and every text is one
// that was given, whatever fields it has.
func filled(n int, text func(i int) string) *kasoku.Recording {
	rec := &kasoku.Recording{}
	fill(reflect.ValueOf(rec).Elem(), n, 0, text)
	rec.Damage, rec.Series = nil, nil
	r := &rec.Run
	r.ID, r.Label, r.State, r.Length, r.Observers = "20260102-030405-a", "a", kasoku.Finished, 10*time.Second, ""
	r.Group, r.Repeat = "", 0
	return rec
}

// fill sets a value with all that it holds. What has no exported fields stays empty.
func fill(v reflect.Value, n, i int, text func(i int) string) {
	if h, ok := v.Addr().Interface().(**histogram.Histogram); ok {
		*h = histogram.New()
		(*h).Record(time.Millisecond)
		return
	}
	if at, ok := v.Addr().Interface().(*time.Time); ok {
		*at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		return
	}
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() { // not the kinds, which are checked
			v.SetString(text(i))
		}
	case reflect.Struct:
		for f := range v.NumField() {
			if v.Type().Field(f).IsExported() {
				fill(v.Field(f), n, i, text)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n, i, text)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		if n > 3 && i > 0 { // lists within lists are short
			n = 1
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for e := range n {
			fill(v.Index(e), n, e+1, text)
		}
	case reflect.Uint64, reflect.Uint32, reflect.Int, reflect.Int64:
		if v.CanInt() {
			v.SetInt(1)
		} else {
			v.SetUint(1)
		}
	case reflect.Float64:
		v.SetFloat(1)
	}
}

// useRun writes a run and does with its file what commands do: show in each form, list,
// compare, scrub.
func useRun(rec *kasoku.Recording) {
	dir, err := os.MkdirTemp("", "kasoku-bounds-")
	must(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "a.kasoku")
	must(store.Write(path, rec))
	rec, err = store.Open(path)
	must(err)
	o := report.Options{File: "a.kasoku"}
	docs := []*report.Document{recording.Show(rec, o), recording.Texts(rec, o), statements.Plans(rec, o)}
	rec.Diagnosis = diagnose.Diagnose(diagnose.NewCase(rec, nil), rules.All())
	docs = append(docs, recording.Show(rec, o))
	if c, err := compare.Compare([]*kasoku.Recording{rec}, []*kasoku.Recording{rec}, compare.Options{}); err == nil {
		docs = append(docs, comparison.Compare(c, o))
	}
	all, err := store.List(dir)
	must(err)
	docs = append(docs, runlist.List(all, runlist.ListOptions{}))
	for _, d := range docs {
		must(terminal.Write(io.Discard, d, terminal.Options{Width: 80}))
		must(html.Write(io.Discard, d))
		must(encode.Markdown(io.Discard, d))
		must(encode.TSV(io.Discard, d))
	}
	must(encode.RunJSON(io.Discard, rec, o))
	ed, err := store.Edit(path)
	must(err)
	_, err = ed.Scrub(store.ScrubOptions{Configs: true})
	must(err)
	must(ed.Close())
}

// must ends the tests: what is fed here is our own, and is written and read.
func must(err error) {
	if err != nil {
		panic(strings.ToValidUTF8(err.Error(), "?"))
	}
}
