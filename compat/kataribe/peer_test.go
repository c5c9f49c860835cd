package kataribe

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/peertest"
	"github.com/kasoku/kasoku/internal/test/turn"
)

// formats are the log formats of kataribe's documentation, each with a way to
// write its lines. Groups are those of request, status, bytes and duration.
var formats = []struct {
	name   string
	expr   string
	groups [4]int
	scale  int
	line   func(request string, status int, size, duration string) string
	micros bool
}{
	{"nginx", combinedFormat, [4]int{5, 6, 7, 10}, 0, func(r string, s int, b, d string) string {
		return fmt.Sprintf(`192.0.2.1 - - [21/Aug/2021:10:00:00 +0900] "%s" %d %s "-" "agent \"x\" [en]" %s`, r, s, b, d)
	}, false},
	{"apache", combinedFormat, [4]int{5, 6, 7, 10}, -6, func(r string, s int, b, d string) string {
		return fmt.Sprintf(`192.0.2.1 - bob [21/Aug/2021:10:00:00 +0900] "%s" %d %s "http://a/" "agent" %s`, r, s, b, d)
	}, true},
	{"rack", rackFormat, [4]int{5, 6, 7, 8}, 0, func(r string, s int, b, d string) string {
		return fmt.Sprintf(`127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "%s" %d %s %s0`, r, s, b, d)
	}, false},
	{"envoy", envoyFormat, [4]int{2, 3, 6, 7}, -3, func(r string, s int, b, d string) string {
		return fmt.Sprintf(`[2016-04-15T20:17:00.310Z] "%s" %d - 154 %s %s 100 "10.0.35.28" "nsq2http" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "locations" "tcp://10.0.2.1:80"`, r, s, b, d)
	}, true},
}

// makeLog writes n lines of a format, broken ones among them.
func makeLog(format int, n int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	for range n {
		if r.IntN(50) == 0 {
			b.WriteString([]string{"broken", "", "\x16\x03\x01 TLS", `192.0.2.1 - - [x] "GET /`}[r.IntN(4)] + "\n")
		}
		duration := fmt.Sprintf("%.3f", r.ExpFloat64()*0.05)
		if formats[format].micros {
			duration = fmt.Sprint(int(r.ExpFloat64() * 50000))
		}
		size := fmt.Sprint(r.IntN(100000))
		if r.IntN(20) == 0 {
			size = "-"
		}
		id := r.IntN(30)
		request := []string{
			fmt.Sprintf("GET /api/items/%d HTTP/1.1", id), fmt.Sprintf("POST /api/items/%d/comments?x=%d&y=2 HTTP/1.1", id, id*7),
			"GET / HTTP/1.1", `GET /a\"b HTTP/1.1`, fmt.Sprintf("GET /images/%d.png HTTP/2.0", id), "", "-",
			fmt.Sprintf("HEAD /memo/%d", id),
		}[r.IntN(8)]
		status := []int{200, 200, 200, 304, 404, 499, 500, 101}[r.IntN(8)]
		b.WriteString(formats[format].line(request, status, size, duration))
		b.WriteString([]string{"\n", "\n", "\r\n", "  \n"}[r.IntN(4)])
	}
	return b.String()
}

// peer runs kataribe itself.
func peer(t testing.TB, log string, args ...string) string {
	t.Helper()
	cmd := exec.Command(peertest.Path(t, "kataribe"), args...)
	cmd.Stdin = strings.NewReader(log)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("kataribe %v: %v\n%s", args, err, errs.String())
	}
	return out.String()
}

// sameAsPeer compares with what kataribe prints of the log. It reads on several
// goroutines and adds durations up in the order in which they come, so the last
// digit of a mean that lies between two can be either of them: what it prints in one of
// some runs has to be the same.
func sameAsPeer(t *testing.T, got, log, config string) {
	t.Helper()
	for range 20 {
		if untied(got) == untied(peer(t, log, "-f", config)) {
			return
		}
	}
	same(t, got, peer(t, log, "-f", config))
}

// TestBesidePeer: the same log and configuration, the same output.
func TestBesidePeer(t *testing.T) {
	turn.Wait(t)
	extras := map[string]string{
		"plain":   "",
		"bundles": "[[bundle]]\nregexp='^(GET|HEAD) /images/'\nname=\"images\"\n[[bundle]]\nregexp='^HEAD /memo/[0-9]+\\b'\n",
		"replaces": "[[bundle]]\nregexp='^POST /api/items/1'\nname='POST /api/items/1 x'\n[[replace]]\nregexp='/[0-9]+(/|\\s)'\nreplace='/<num>$1'\n" +
			"[[replace]]\nregexp='=[0-9]+(&|\\s)'\nreplace='=<num>$1'\n[[replace]]\nregexp='\\s+HTTP/[0-9.]+$'\nreplace=''\n",
		"old": "[bundles.images]\nregexp='^(GET|HEAD) /images/'\nname='old images'\n",
	}
	shows := []string{
		"ranking_count=20\nslow_count=37\nshow_stddev=true\nshow_status_code=true\nshow_bytes=true\npercentiles=[50.0,90.0,95.0,99.0]\neffective_digit=3\n",
		"ranking_count=300\nslow_count=5\nshow_stddev=false\nshow_status_code=true\nshow_bytes=false\npercentiles=[0.0,12.34,29.0,57.0,99.9]\neffective_digit=6\n",
		"ranking_count=3\nslow_count=100\nshow_stddev=true\nshow_status_code=false\nshow_bytes=true\npercentiles=[]\neffective_digit=0\n",
		"ranking_count=10\n",
		"ranking_count=500\nslow_count=10\nshow_stddev=true\npercentiles=[50.0]\neffective_digit=10\n",
	}
	for i, f := range formats {
		log := makeLog(i, 3000, uint64(i))
		for name, extra := range extras {
			for n, show := range shows {
				t.Run(fmt.Sprintf("%s/%s/%d", f.name, name, n), func(t *testing.T) {
					path := writeConfig(t, fmt.Sprintf("%sscale=%d\nlog_format='%s'\nrequest_index=%d\nstatus_index=%d\nbytes_index=%d\nduration_index=%d\n%s",
						show, f.scale, f.expr, f.groups[0], f.groups[1], f.groups[2], f.groups[3], extra))
					got, stderr, code := run(t, log, "-f", path)
					if code != 0 {
						t.Fatalf("exit %d, %s", code, stderr)
					}
					sameAsPeer(t, got, log, path)
				})
			}
		}
	}
}

// TestBesidePeer_Odd: lines that a log should not have.
func TestBesidePeer_Odd(t *testing.T) {
	turn.Wait(t)
	log := "   0.5 200 5 GET /trim  \t\r\n0.5 200 5 GET /a\r\n\n0.5 200 - GET /dash\nx0.5 200 5 GET /badnum\n1e3 200 5 GET /exp\n0x10 200 5 GET /hex\n" +
		"1_0 200 5 GET /under\n0.5 099 5 GET /s0\n0.5 199 5 GET /s1\n0.5 20000000000000000000 5 GET /sbig\n0.5 200 5x GET /b5x\n0.5 200 -5 GET /bneg\n" +
		"0.5 200 99999999999999999999 GET /bbig\n0.5 599 5.5 GET /bfl\n0.25 200 +7 GET /plus\n1. 200 0005 GET /dot\n.5 200 1000000000 GET /dot2\n0.5 200 5 \xff\xfe日本\n" +
		"0.5 200 5 last without newline"
	path := writeConfig(t, simple)
	got, _, _ := run(t, log, "-f", path)
	same(t, got, peer(t, log, "-f", path))
	for _, v := range []string{"9", "9.4", "9.9996", "10", "99.6", "999.9996", "1000", "1e5", "999999.9999", "1e6", "1e15", "1e16", "1e22", "1e999"} {
		log := v + " 200 1000000000000000 GET /a\n" + "0.001 200 0 GET /b\n"
		got, _, _ := run(t, log, "-f", path)
		if v == "1e999" {
			continue // kataribe's own format breaks on infinity
		}
		same(t, got, peer(t, log, "-f", path))
	}
}
