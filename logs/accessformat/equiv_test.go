package accessformat

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// kataribe is the default log_format of kataribe, whose groups 5, 6, 7 and 10
// are request, status, bytes and duration.
var kataribe = regexp.MustCompile(`^([^ ]+) ([^ ]+) ([^ ]+) \[([^\]]+)\] "((?:\\"|[^"])*)" (\d+) (\d+|-) "((?:\\"|[^"])*)" "((?:\\"|[^"])*)" ([0-9.]+)$`)

// slowRecord reads a line the obvious way.
func slowRecord(line string) (string, bool) {
	var stamp, request, code, size, took string
	if m := kataribe.FindStringSubmatch(line); m != nil {
		stamp, request, code, size, took = m[4], m[5], m[6], m[7], m[10]
	} else {
		f := map[string]string{}
		for _, field := range strings.Split(line, "\t") {
			label, value, _ := strings.Cut(field, ":")
			f[label] = value
		}
		if f["reqtime"] == "" {
			return "", false
		}
		stamp, request, code, size, took = f["time"], f["req"], f["status"], f["size"], f["reqtime"]
	}
	at, err := time.Parse("02/Jan/2006:15:04:05 -0700", stamp)
	if err != nil {
		return "", false
	}
	var method, path string
	if parts := strings.SplitN(request, " ", 3); len(parts) == 3 {
		method, path = parts[0], parts[1]
	}
	seconds, _ := strconv.ParseFloat(took, 64)
	bytes, _ := strconv.Atoi(size)
	latency := time.Duration(seconds*1000+0.5) * time.Millisecond
	return fmt.Sprintf("%s ±1s %s %s %s %d %s", at.UTC().Format("2006-01-02T15:04:05"), method, path, strings.TrimLeft(code, "0"), bytes, latency), true
}

func TestReader_AsTheSlowWay(t *testing.T) {
	for _, name := range []string{"combined.log", "ltsv.log"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		r := newReader(string(b))
		n := 0
		for _, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
			want, ok := slowRecord(line)
			if !ok {
				t.Fatalf("%s: the slow way does not read %q", name, line)
			}
			if !r.Scan() {
				t.Fatalf("%s: ends after %d records: %v", name, n, r.Err())
			}
			if got := describe(r.Record()); got != want {
				t.Errorf("%s:%d\n got %s\nwant %s", name, r.Record().Line, got, want)
			}
			n++
		}
		if r.Scan() || n != 300 {
			t.Errorf("%s: %d records and more", name, n)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, name := range []string{"combined.log", "ltsv.log"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[:1500])
	}
	f.Add([]byte(`a [21/Aug/2021:10:00:00 +0900] "GET /1/2.png?x" 200 - "\"" 5` + "\n\n\x00"))
	f.Add([]byte("time:1629507600.1\treq:GET /a\treqtime:1, -\tstatus:999\r\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		r := newReader(string(log))
		for r.Scan() {
			rec := r.Record()
			if rec.Latency < 0 || rec.Status < 0 || rec.Status > 999 || len(rec.Method) > 0 && len(rec.Path) == 0 {
				t.Fatalf("record %+v", rec)
			}
		}
		checkAccount(t, r)
	})
}
