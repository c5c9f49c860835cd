package accesslog

import (
	"bytes"
	"testing"
)

// checkRecord parses a line and checks what must hold of any record.
func checkRecord(t testing.TB, f *Format, line []byte, r *Record) (why string) {
	t.Helper()
	before := bytes.Clone(line)
	*r = Record{Line: 7, Offset: 9}
	why = f.Parser(ParserOptions{Extra: []string{"x"}}).Parse(line, r)
	if !bytes.Equal(before, line) {
		t.Fatalf("the line has changed: %q to %q", before, line)
	}
	if r.Line != 7 || r.Offset != 9 {
		t.Fatalf("place %d, %d", r.Line, r.Offset)
	}
	if why != "" {
		return why
	}
	if r.Latency < 0 || r.Upstream < 0 || r.Status < 0 || r.Status > 999 || r.Resolution < 0 || len(r.Extra) != 1 ||
		r.Has&HasTime != 0 && r.Resolution == 0 || r.Has&HasUpstream != 0 && !r.Timed() || len(r.Method) > maxMethod {
		t.Fatalf("%q: %+v", line, r)
	}
	return ""
}
