package logs

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
)

func somePart() Part {
	return Part{Window: kasoku.LogWindow{Kind: "accesslog", Path: "/var/log/a", Format: "ltsv", Device: 1, Inode: 1 << 60,
		To: 700, Files: 1, Lines: 7, Records: 5, Blank: 1, Dropped: 1, Note: "cut",
		BadSample: []kasoku.BadLine{{Line: 3, Text: "bad", Why: "no time"}}}, Table: []byte("\x01table")}
}

// TestPart: parts come as they were written, one after another; what is cut short or says what cannot be is refused.
func TestPart(t *testing.T) {
	want := somePart()
	b, err := AppendPart(nil, &want)
	if err == nil {
		b, err = AppendPart(b, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := NewPartReader(bytes.NewReader(b))
	for range 2 {
		if got, err := r.Next(); err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
	for n := range len(b) / 2 {
		if _, err := NewPartReader(bytes.NewReader(b[:n])).Next(); err == nil || errors.Is(err, io.EOF) != (n == 0) {
			t.Errorf("cut after %d bytes: %v", n, err)
		}
	}
	for name, spoil := range map[string]func(*Part){
		"lines":    func(p *Part) { p.Window.Lines++ },
		"range":    func(p *Part) { p.Window.From = p.Window.To + 1 },
		"terminal": func(p *Part) { p.Window.Note = "\x1b[2J" },
	} {
		p := somePart()
		spoil(&p)
		b, err := AppendPart(nil, &p)
		if err != nil {
			continue // not even written
		}
		if _, err := NewPartReader(bytes.NewReader(b)).Next(); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	for text, want := range map[string]string{"\xff\xff\xff\xff\x7f": "at most", "\x80\x00": "bad varint"} {
		if _, err := NewPartReader(strings.NewReader(text)).Next(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzPart: what is read is written as the same bytes.
func FuzzPart(f *testing.F) {
	p := somePart()
	b, _ := AppendPart(nil, &p)
	f.Add(b)
	f.Add(append(b, b...))
	f.Fuzz(func(t *testing.T, b []byte) {
		var again []byte
		for r := NewPartReader(bytes.NewReader(b)); ; {
			p, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return
			}
			if again, err = AppendPart(again, p); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(again, b) {
			t.Errorf("%q was read, and is %q", b, again)
		}
	})
}
