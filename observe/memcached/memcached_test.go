package memcached

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/observetest"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// parseText reads an answer as the source does.
func parseText(text string) (kasoku.Frame, error) {
	var f kasoku.Frame
	err := parseStats(bufio.NewReaderSize(strings.NewReader(text), mostLine), &f)
	return f, err
}

func TestParse(t *testing.T) {
	f, err := parseText("STAT pid 7\r\nSTAT cmd_get 31\r\nSTAT rusage_user 0.250000\r\nSTAT version 1.6.38\r\nEND\r\nrest")
	if err != nil || len(f.Samples) != 2 {
		t.Fatal(f.Samples, err)
	}
	if s := f.Samples[0]; s != (kasoku.Sample{Name: CmdGet, Kind: kasoku.Counter, Unit: "count", Value: 31}) {
		t.Errorf("got %+v", s)
	}
	if s := f.Samples[1]; s.Name != RusageUser || s.Unit != "s" || s.Value != 0.25 {
		t.Errorf("got %+v", s)
	}
}

func TestParse_Failure(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if _, err := parseText(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %v, want %q", text, err, want)
		}
	}
	f("", "EOF")
	f("STAT cmd_get 1\r\n", "EOF")
	f("END\r\n", "none of the numbers")
	f("ERROR\r\n", "it answers")
	f("STAT cmd_get -1\r\nEND\r\n", "no number")
	f("STAT cmd_get NaN\r\nEND\r\n", "no number")
	f("STAT cmd_get\r\nEND\r\n", "no number")
	f("STAT "+strings.Repeat("x", mostLine)+"\r\nEND\r\n", "a line of more than")
	f(strings.Repeat("STAT a 1\r\n", mostLines+1), "more than 400 lines")
}

func FuzzParse(f *testing.F) {
	f.Add("STAT cmd_get 31\r\nSTAT rusage_user 0.25\r\nEND\r\n")
	f.Add("STAT bytes 1e400\r\nEND\r\n")
	f.Add("ERROR\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		frame, err := parseText(text)
		if len(frame.Samples) > mostLines || err == nil && len(frame.Samples) == 0 {
			t.Error(len(frame.Samples), err)
		}
		for _, s := range frame.Samples {
			if !(s.Value >= 0 && s.Value < 1e300) {
				t.Errorf("%+v", s)
			}
		}
	})
}

// TestCollect_Failure: servers that answer something else, for ever, or nothing.
func TestCollect_Failure(t *testing.T) {
	f := func(answer, want string) {
		t.Helper()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				for range 100_000 {
					if _, err := c.Write([]byte(answer)); err != nil {
						break
					}
				}
				_ = c.Close()
			}
		}()
		s, err := New(l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Collect(t.Context(), new(kasoku.Frame)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", answer, err, want)
		}
	}
	f("HTTP/1.1 400 Bad Request\r\n", "it answers")
	f("STAT a 1\r\n", "more than 400 lines")
	f("STAT", "a line of more than")
	s, err := New(filepath.Join(t.TempDir(), "no.sock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Collect(t.Context(), new(kasoku.Frame)); err == nil {
		t.Error("a socket that is not there answers")
	}
}

func TestTable(t *testing.T) {
	if (&Table{}).IsSet() || len((&Table{}).Check()) > 0 || len((&Table{At: "/run/m.sock"}).Check()) > 0 {
		t.Error("an empty table, or one with a socket, is wrong")
	}
	if f := (&Table{At: "localhost"}).Check(); len(f) != 1 || f[0].Key != "address" {
		t.Error(f)
	}
}

// TestCollect reads a real server. Every signal that is declared is sampled.
func TestCollect(t *testing.T) {
	server := sandboxtest.Memcached(t, sandbox.MemcachedOptions{})
	address := fmt.Sprintf("127.0.0.1:%d", server.Port)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for _, c := range []struct{ say, want string }{
		{"set a 0 0 1\r\nx\r\n", "STORED"}, {"get b\r\n", "END"}, {"get a\r\n", "VALUE"},
	} {
		_, _ = conn.Write([]byte(c.say)) // a missing answer says the same
		if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, c.want) {
			t.Fatal(line, err)
		}
	}
	if key, value, err := Declared.Server.Find(context.Background(), address); err != nil || key != "address" || value != address {
		t.Error(key, value, err)
	}
	table := Table{At: address}
	s, err := table.Open()
	if err != nil {
		t.Fatal(err)
	}
	var f kasoku.Frame
	for range 2 { // the second one over the same connection
		f.Reset()
		if err := s.Collect(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]float64{}
	for _, x := range f.Samples {
		got[x.Name] = x.Value
	}
	observetest.Sampled(t, &Declared, f.Samples, nil)
	if got[CmdGet] != 2 || got[GetHits] != 1 || got[GetMisses] != 1 || got[CurrItems] != 1 || got[LimitMaxbytes] != 16<<20 {
		t.Error(got)
	}
}
