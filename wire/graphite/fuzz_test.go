package graphite

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"testing"
)

// unpickle reads a message as Carbon's safe unpickler does, of the opcodes that it
// may meet here.
func unpickle(t *testing.T, msg []byte) (out []Point) {
	t.Helper()
	if len(msg) < 4 || int(binary.BigEndian.Uint32(msg)) != len(msg)-4 {
		t.Fatalf("%x has a wrong length", msg)
	}
	body, ok := strings.CutPrefix(string(msg[4:]), "\x80\x02](")
	if !ok {
		t.Fatalf("%x does not begin with a list", msg)
	}
	take := func(n int) string {
		if len(body) < n {
			t.Fatalf("%x ends early", msg)
		}
		s := body[:n]
		body = body[n:]
		return s
	}
	for {
		switch op := take(1); op {
		case "e":
			if body != "." {
				t.Fatalf("%q is left", body)
			}
			return out
		case "X":
		default:
			t.Fatalf("opcode %x", op)
		}
		var p Point
		p.Path = take(int(binary.LittleEndian.Uint32([]byte(take(4)))))
		switch op := take(1); op {
		case "J":
			p.Time = int64(int32(binary.LittleEndian.Uint32([]byte(take(4)))))
		case "\x8a":
			take(1)
			p.Time = int64(binary.LittleEndian.Uint64([]byte(take(8))))
		default:
			t.Fatalf("opcode %x for a time", op)
		}
		if op := take(1); op != "G" {
			t.Fatalf("opcode %x for a value", op)
		}
		p.Value = math.Float64frombits(binary.BigEndian.Uint64([]byte(take(8))))
		if end := take(2); end != "\x86\x86" {
			t.Fatalf("a point ends in %x", end)
		}
		out = append(out, p)
	}
}

// unline reads a line as Carbon does: exactly three fields.
func unline(t *testing.T, line string) (p Point) {
	t.Helper()
	fields := strings.Fields(line)
	if len(fields) != 3 || !strings.HasSuffix(line, "\n") || strings.Count(line, "\n") != 1 {
		t.Fatalf("%q is no line of three fields", line)
	}
	var err, err2 error
	p.Path = fields[0]
	p.Value, err = strconv.ParseFloat(fields[1], 64)
	p.Time, err2 = strconv.ParseInt(fields[2], 10, 64)
	if err != nil || err2 != nil {
		t.Fatalf("%q: %v, %v", line, err, err2)
	}
	return p
}

// FuzzEncode: any text and value go both ways, and come back as they were.
func FuzzEncode(f *testing.F) {
	f.Add("cpu0", int64(1795163619), 1.5)
	f.Add("", int64(-1), math.Inf(1))
	f.Add("a b\n.c;d=e", int64(1)<<40, math.Copysign(0, -1))
	f.Add("\xff\x00", int64(math.MinInt64), 5e-324)
	f.Fuzz(func(t *testing.T, text string, at int64, v float64) {
		p := Point{Path("kasoku", text), at, v}
		if strings.Count(p.Path, ".") != 1 || strings.ContainsAny(p.Path, " \n;=/\\~") || len(p.Path) > 300 {
			t.Fatalf("%q becomes the path %q", text, p.Path)
		}
		msg, n := AppendPickle(nil, []Point{p, p})
		back := unpickle(t, msg)
		line := string(AppendLine(nil, p))
		if !isSendable(v) {
			if len(back) != 0 || line != "" || n != 2 {
				t.Fatalf("%v is sent: %v, %q", v, back, line)
			}
			return
		}
		if len(back) != 2 || back[0] != p || back[1] != p || n != 2 {
			t.Fatalf("%v comes back as %v", p, back)
		}
		if got := unline(t, line); got != p {
			t.Fatalf("%v comes back as %v", p, got)
		}
	})
}

func FuzzParseRender(f *testing.F) {
	f.Add([]byte(`[{"target": "a", "datapoints": [[1.5, 2], [null, 3]]}]`))
	f.Add([]byte(`{"metrics":[{"name":"a","startTime":60,"stepTime":60,"values":[0,7],"isAbsent":[false,true]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := ParseRender(b)
		n := len(all)
		for _, s := range all {
			n += len(s.Points)
		}
		if err == nil && n > len(b) {
			t.Errorf("%d series and points of %d bytes", n, len(b))
		}
	})
}
