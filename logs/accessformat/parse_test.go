package accessformat

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku/internal/test/turn"
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

// Patterns of the peers, to compare with. alp's is its default for regexp.
var (
	kataribePattern = regexp.MustCompile(`^([^ ]+) ([^ ]+) ([^ ]+) \[([^\]]+)\] "((?:\\"|[^"])*)" (\d+) (\d+|-) "((?:\\"|[^"])*)" "((?:\\"|[^"])*)" ([0-9.]+)$`)
	alpPattern      = regexp.MustCompile(`^(\S+)\s\S+\s+(\S+\s+)+\[(?P<time>[^]]+)\]\s"(?P<method>\S*)\s?(?P<uri>(?:[^"]*(?:\\")?)*)\s([^"]*)"\s(?P<status>\S+)\s(?P<body_bytes>\S+)\s"((?:[^"]*(?:\\")?)*)"\s"(?:.+)"\s(?P<response_time>\S+)(?:\s(?P<request_time>\S+))?$`)
)

// ms returns a decimal number of seconds, to compare.
func ms(s string) string {
	f, _ := strconv.ParseFloat(s, 64)
	return strconv.FormatFloat(f, 'f', 3, 64)
}

// TestCombined_AsThePeers: what the peers' regexps find in lines is what the
// parser finds.
func TestCombined_AsThePeers(t *testing.T) {
	one, two := hotFormats(t)[1], mustFormat(t, nginxCombined+" $upstream_response_time $request_time")
	text := rapid.StringMatching(`([a-zA-Z0-9/ .;:()=\]\[-]|\\"|\\x22){0,20}`)
	path := rapid.StringMatching(`/[a-z0-9/.-]{0,20}(\?[a-z0-9=&%]{0,9})?`)
	rapid.Check(t, func(t *rapid.T) {
		line := fmt.Sprintf(`%s - %s [%s] "%s %s HTTP/%s" %d %s "%s" "%s" %s`,
			rapid.SampledFrom([]string{"1.2.3.4", "::1", "host.name", "unix:"}).Draw(t, "host"), rapid.SampledFrom([]string{"-", "bob"}).Draw(t, "user"),
			time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "time"), 0).In(tokyo).Format("02/Jan/2006:15:04:05 -0700"),
			rapid.SampledFrom([]string{"GET", "POST", "PROPFIND"}).Draw(t, "method"), path.Draw(t, "path"), rapid.SampledFrom([]string{"1.0", "1.1", "2.0"}).Draw(t, "protocol"),
			rapid.IntRange(100, 999).Draw(t, "status"), rapid.SampledFrom([]string{"-", "0", "12", "4294967296"}).Draw(t, "size"), text.Draw(t, "referer"), text.Draw(t, "agent")+"x",
			rapid.SampledFrom([]string{"0.000", "0.021", "12.345", "60.1"}).Draw(t, "time"))
		m := kataribePattern.FindStringSubmatch(line)
		var r Record
		if why := one.Parser(ParserOptions{}).Parse([]byte(line), &r); why != "" || m == nil {
			t.Fatalf("%s: %s, kataribe %q", line, why, m)
		}
		got := fmt.Sprintf("%s|%d|%d|%.3f|%s|%s", r.Request, r.Status, r.Bytes, r.Latency.Seconds(), r.Referer, r.UserAgent)
		if want := fmt.Sprintf("%s|%s|%s|%s|%s|%s", m[5], m[6], strings.Replace(m[7], "-", "0", 1), ms(m[10]), m[8], m[9]); got != want {
			t.Fatalf("%s\n got %s\nkataribe %s", line, got, want)
		}
		line = line + " " + rapid.SampledFrom([]string{"-", "0.5"}).Draw(t, "second")
		m = alpPattern.FindStringSubmatch(line)
		if why := two.Parser(ParserOptions{}).Parse([]byte(line), &r); why != "" || m == nil {
			t.Fatalf("%s: %s, alp %q", line, why, m)
		}
		group := func(name string) string { return m[alpPattern.SubexpIndex(name)] }
		got = fmt.Sprintf("%s|%s|%d|%d|%.3f", r.Method, r.Path, r.Status, r.Bytes, r.Upstream.Seconds())
		if want := fmt.Sprintf("%s|%s|%s|%s|%s", group("method"), group("uri"), group("status"), strings.Replace(group("body_bytes"), "-", "0", 1), ms(group("response_time"))); got != want {
			t.Fatalf("%s\n got %s\nalp %s", line, got, want)
		}
	})
}

func mustFormat(t testing.TB, spec string) *Format {
	t.Helper()
	f, err := ParseFormat(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestLTSV_AsSplit: the values are those that splitting at tabs and colons finds.
func TestLTSV_AsSplit(t *testing.T) {
	p := ltsvFormat().Parser(ParserOptions{Extra: []string{"uri", "status", "x", "y"}})
	rapid.Check(t, func(t *rapid.T) {
		labels := rapid.SliceOfN(rapid.SampledFrom([]string{"uri", "method", "status", "x", "y", "zz", "", "host", "size"}), 0, 9).Draw(t, "labels")
		line := []string{"uri:/a", "status:200"}
		want := map[string]string{"uri": "/a", "status": "200"}
		for _, label := range labels {
			value := rapid.StringMatching(`[a-z:/ ."]{0,12}`).Draw(t, "value")
			if label == "status" || label == "size" {
				value = strconv.Itoa(rapid.IntRange(0, 999).Draw(t, "number"))
			}
			line = append(line, label+":"+value)
			want[label] = value
		}
		if rapid.Bool().Draw(t, "more") {
			line = append(line, "no colon", "")
		}
		text := strings.Join(line, "\t")
		var r Record
		if why := p.Parse([]byte(text), &r); why != "" {
			t.Fatalf("%q: %s", text, why)
		}
		for i, label := range []string{"uri", "status", "x", "y"} {
			if got := string(r.Extra[i]); got != strings.TrimRight(want[label], " ") && got != want[label] {
				t.Fatalf("%q: %s is %q, want %q", text, label, got, want[label])
			}
		}
	})
}

// TestParse_Mutated: whatever byte of a line changes, it is a record or there is
// a reason why not.
func TestParse_Mutated(t *testing.T) {
	turn.Wait(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"combined.log", "ltsv.log", "json.log"} {
		lines, _ := sampleLines(t, name)
		f := mustDetect(t, lines...)
		records := 0
		for _, line := range lines[:50] {
			for range 200 {
				mutated := bytes.Clone(line)
				for range 1 + random.IntN(3) {
					i := random.IntN(len(mutated))
					switch random.IntN(4) {
					case 0:
						mutated[i] = byte(random.Uint32())
					case 1:
						mutated = append(mutated[:i], mutated[min(i+random.IntN(9), len(mutated)):]...)
					case 2:
						mutated = mutated[:i+1]
					default:
						const special = "\"\\[]{}:,\t -\x00\r"
						mutated[i] = special[random.IntN(len(special))]
					}
					if len(mutated) == 0 {
						mutated = []byte("x")
					}
				}
				var r Record
				if checkRecord(t, f, mutated, &r) == "" {
					records++
				}
			}
		}
		if records == 0 || records == 50*200 {
			t.Errorf("%s: %d records", name, records)
		}
	}
}

func TestParse_Allocation(t *testing.T) {
	specs := map[string]*Format{}
	for _, name := range []string{"combined.log", "ltsv.log", "json.log"} {
		lines, _ := sampleLines(t, name)
		specs[name] = mustDetect(t, lines...)
	}
	for name, f := range specs {
		lines, _ := sampleLines(t, name)
		p := f.Parser(ParserOptions{Extra: []string{"cache"}})
		var r Record
		parse := func() {
			for _, line := range lines {
				if why := p.Parse(line, &r); why != "" {
					t.Fatal(why)
				}
			}
		}
		parse() // until the buffers have their size
		if n := testing.AllocsPerRun(10, parse); n != 0 {
			t.Errorf("%s: %v allocations for %d lines", name, n, len(lines))
		}
	}
}
