package redis

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/observetest"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

func values(f *kasoku.Frame) map[string]float64 {
	out := map[string]float64{}
	for _, s := range f.Samples {
		out[strings.TrimSuffix(s.Name+" "+s.Instance, " ")] = s.Value
	}
	return out
}

// TestCollect_Server: what a real server was made to do is in the numbers, each with
// its kind and unit.
func TestCollect_Server(t *testing.T) {
	server := sandboxtest.Redis(t, sandbox.RedisOptions{
		Password: "a'b c", Config: "maxmemory 3mb\nmaxmemory-policy allkeys-lru\nslowlog-log-slower-than 0\n",
	})
	at := Server{Address: server.Addr(), Password: "a'b c"}
	c, err := Dial(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	do := func(command string, args ...string) {
		t.Helper()
		if _, err := c.Do(t.Context(), command, args...); err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(Options{Server: at, Commands: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var before, after kasoku.Frame
	if err := s.Collect(t.Context(), &before); err != nil {
		t.Fatal(err)
	}
	do("SET", "there", "1")
	do("GET", "there")
	do("GET", "gone")
	do("GET", "gone")
	if _, err := c.Do(t.Context(), "NONSENSE"); !errors.As(err, new(*RefusedError)) {
		t.Error(err)
	}
	big := strings.Repeat("x", 100_000)
	for i := range 60 {
		do("SET", fmt.Sprint("big", i), big)
	}
	do("PSETEX", "short", "1", "x")
	do("BGSAVE")
	blocked, err := Dial(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer blocked.Close()
	fmt.Fprint(blocked.conn, "*3\r\n$5\r\nBLPOP\r\n$4\r\nnone\r\n$1\r\n0\r\n")
	// Until the client is blocked and the key has expired: that takes the server a moment.
	for limit := time.Now().Add(10 * time.Second); ; {
		after.Reset()
		if err := s.Collect(t.Context(), &after); err != nil {
			t.Fatal(err)
		}
		if v := values(&after); v["blocked_clients"] == 1 && v["latest_fork"] > 0 && v["expired_keys"] > 0 || time.Now().After(limit) {
			break
		}
	}
	a, b := values(&before), values(&after)
	for name, want := range map[string]float64{
		"keyspace_hits": 1, "keyspace_misses": 2, "blocked_clients": 1, "total_forks": 1,
	} {
		if got := b[name] - a[name]; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for _, name := range []string{"total_commands_processed", "evicted_keys", "expired_keys", "used_memory", "latest_fork", "slowlog_len", "keys db0", "cmdstat.calls set", "cmdstat.time set"} {
		if !(b[name] > a[name]) {
			t.Errorf("%s: %v, then %v", name, a[name], b[name])
		}
	}
	if b["maxmemory"] != 3<<20 || b["mem_fragmentation_ratio"] == 0 || b["latest_fork"] > 1 || b["connected_clients"] != 3 {
		t.Errorf("%v", b)
	}
	if len(s.Warnings()) != 0 {
		t.Error(s.Warnings())
	}
	observetest.Sampled(t, &Declared, after.Samples, nil)
	if err := server.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Collect(t.Context(), &after); err == nil {
			t.Error("no gap when the server is gone")
		}
	}
}

func TestCollect_Password(t *testing.T) {
	server := sandboxtest.Redis(t, sandbox.RedisOptions{Password: "right"})
	for password, want := range map[string]string{"": "NOAUTH", "wrong": "WRONGPASS"} {
		s, err := New(Options{Server: Server{Address: server.Addr(), Password: password}})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Collect(t.Context(), &kasoku.Frame{})
		var h interface{ Hint() string }
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &h) || !strings.Contains(h.Hint(), "password_env") {
			t.Errorf("%q: %v", password, err)
		}
		_ = s.Close()
	}
}

// fake answers each command with the next text, and then hangs.
func fake(t *testing.T, answers ...string) *Source {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		r := bufio.NewScanner(conn)
		for r.Scan() {
			line := r.Text()
			if strings.HasPrefix(line, "*") && len(answers) > 0 {
				fmt.Fprint(conn, answers[0])
				answers = answers[1:]
			}
		}
	}()
	s, err := New(Options{Server: Server{Address: l.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Close()
		_ = l.Close()
		<-done
	})
	return s
}

func bulk(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }

const small = "# Stats\r\ntotal_commands_processed:7\r\nlatest_fork_usec:1500\r\nexecutable:/a:b\r\ndb0:keys=3,expires=1,avg_ttl=0\r\n"

func TestCollect(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []string
		err     string
		want    string
	}{
		{"good", []string{bulk(small), ":2\r\n"}, "", "map[expires db0:1 keys db0:3 latest_fork:0.0015 slowlog_len:2 total_commands_processed:7]"},
		{"no slow log", []string{bulk(small), "-NOPERM no\x1b[1m\r\n"}, "", "map[expires db0:1 keys db0:3 latest_fork:0.0015 total_commands_processed:7]"},
		{"http", []string{"HTTP/1.1 400 Bad Request\r\n"}, `no answer of Redis: "HTTP/1.1 400 Bad Request`, ""},
		{"empty", []string{bulk("")}, "none of its fields", ""},
		{"null", []string{"$-1\r\n"}, "none of its fields", ""},
		{"huge", []string{"$99999999\r\n"}, `an answer of "99999999" bytes`, ""},
		{"not a number", []string{bulk("used_memory:\x1b[31m\r\n")}, `"used_memory" is no number: "\x1b[31m"`, ""},
		{"long line", []string{strings.Repeat("+", 5000) + "\r\n"}, "a line of more than 4096 bytes", ""},
		{"unended", []string{"$3\r\nabcde"}, "does not end where it should", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := fake(t, c.answers...)
			var f kasoku.Frame
			err := s.Collect(t.Context(), &f)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v, want %s", err, c.err)
				}
				return
			}
			if got := fmt.Sprint(values(&f)); err != nil || got != c.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, c.want)
			}
			if w := s.Warnings(); (len(w) == 1) != (c.name == "no slow log") || strings.ContainsRune(fmt.Sprint(w), 0x1b) {
				t.Errorf("%q", w)
			}
		})
	}
}

// TestCollect_Cancelled: the end of a run does not wait for a server that hangs.
func TestCollect_Cancelled(t *testing.T) {
	s := fake(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if err := s.Collect(ctx, &kasoku.Frame{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func FuzzReadReply(f *testing.F) {
	for _, s := range []string{"+OK\r\n", ":12\r\n", "-ERR x\r\n", "$3\r\nabc\r\n", "$-1\r\n", "*1\r\n", "$3\r\nab"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := readReply(bufio.NewReaderSize(strings.NewReader(text), mostLine), nil)
		if err == nil && len(b) > len(text) {
			t.Errorf("%q of %q", b, text)
		}
	})
}

func FuzzInfo(f *testing.F) {
	f.Add(small)
	f.Add("cmdstat_get:calls=21,usec=175,usec_per_call=8.33\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		s := &Source{names: names{}}
		var frame kasoku.Frame
		_ = s.info([]byte(text), &frame) // what it refuses is a gap
		s.commands([]byte(text), &frame)
		for _, x := range frame.Samples {
			if !(x.Value >= 0) || x.Instance != "" && !plain([]byte(x.Instance)) {
				t.Errorf("%+v", x)
			}
		}
	})
}
