package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"time"
)

// A kind is one sort of request of the generated traffic.
type kind struct {
	share  int // of all, relative to the others
	method string
	path   func(r *rand.Rand) string
	status []int // one is drawn
	bytes  int
	median time.Duration
}

func randomUUID(r *rand.Rand) string {
	a, b := r.Uint64(), r.Uint64()
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", a>>32, a>>16&0xffff, a&0x0fff|0x4000, b>>48&0x3fff|0x8000,
		b&0xffffffffffff)
}

func fixedPath(path string) func(*rand.Rand) string { return func(*rand.Rand) string { return path } }

// formattedPath fills a path with a uuid from a pool of 5,000, as objects have it that are
// asked for more than once.
func formattedPath(pool []string, format string) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return fmt.Sprintf(format, pool[r.IntN(len(pool))]) }
}

func numberedPath(format string, most int) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return fmt.Sprintf(format, r.IntN(most)+1) }
}

// requestKinds is a contest's traffic: ids of every form, query strings, assets, errors,
// and what strangers send.
func requestKinds(r *rand.Rand) []kind {
	pool := make([]string, 5000)
	for i := range pool {
		pool[i] = randomUUID(r)
	}
	ok, cached := []int{200}, []int{200, 200, 304}
	some := []int{200, 200, 200, 200, 200, 200, 200, 200, 200, 404}
	ms := time.Millisecond
	return []kind{
		{4080, "POST", formattedPath(pool, "/api/condition/%s"), []int{202, 202, 202, 202, 202, 202, 202, 202, 404, 503},
			0, 4 * ms},
		{1430, "GET", formattedPath(pool, "/api/isu/%s/icon"), cached, 26000, 6 * ms},
		{1360, "GET", func(r *rand.Rand) string {
			return fmt.Sprintf("/api/condition/%s?condition_level=critical%%2Cwarning&end_time=%d", pool[r.IntN(len(pool))],
				1629500000+r.IntN(9000))
		}, some, 2600, 20 * ms},
		{700, "GET", func(r *rand.Rand) string {
			return fmt.Sprintf("/api/isu/%s/graph?datetime=%d", pool[r.IntN(len(pool))], 1629500000+r.IntN(9000))
		}, some, 3000, 42 * ms},
		{500, "GET", fixedPath("/api/trend"), []int{200, 200, 200, 499}, 10800, 167 * ms},
		{400, "GET", fixedPath("/api/isu"), some, 1500, 33 * ms},
		{280, "GET", formattedPath(pool, "/api/isu/%s"), ok, 207, 3 * ms},
		{180, "GET", fixedPath("/assets/index.1c2f8e7b.js"), cached, 120000, 0},
		{130, "GET", fixedPath("/assets/vendor.8d4cba11.css"), cached, 40000, 0},
		{130, "GET", fixedPath("/api/user/me"), some, 34, 2 * ms},
		{120, "GET", formattedPath(pool, "/isu/%s"), cached, 528, ms},
		{110, "GET", formattedPath(pool, "/isu/%s/condition"), cached, 528, ms},
		{100, "POST", fixedPath("/api/isu"), []int{201, 201, 201, 500}, 179, 104 * ms},
		{100, "GET", func(r *rand.Rand) string {
			return fmt.Sprintf("/users/%d/posts/%d", r.IntN(99999),
				r.IntN(999999))
		}, some, 8400, 14 * ms},
		{90, "POST", fixedPath("/api/auth"), ok, 0, 8 * ms},
		{90, "GET", formattedPath(pool, "/isu/%s/graph"), cached, 528, ms},
		{90, "GET", fixedPath("/"), cached, 528, ms},
		{80, "GET", numberedPath("/items/%d", 500000), some, 4000, 10 * ms},
		{40, "GET", func(r *rand.Rand) string {
			return fmt.Sprintf("/search?q=w%d&page=%d&sort=new", r.IntN(9999), r.IntN(40))
		}, ok, 9000, 80 * ms},
		{30, "DELETE", func(r *rand.Rand) string {
			return fmt.Sprintf("/items/%d/comments/%d", r.IntN(9999), r.IntN(99999))
		}, []int{204}, 0, 13 * ms},
		{30, "PUT", func(r *rand.Rand) string { return fmt.Sprintf("/files/%016x%016x", r.Uint64(), r.Uint64()) }, ok, 12,
			20 * ms},
		{30, "POST", fixedPath("/api/signout"), ok, 0, 2 * ms},
		{2, "", fixedPath(`\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03`), []int{400}, 157, 0},
	}
}

var agents = []string{
	"isucandar", "isucandar", "benchmarker-user/2.0 (+https://example.test/about)",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/92.0.4515.131 Safari/537.36",
	"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
	`strange \"agent\" 1.0`,
}

// writeLog writes n requests of one format. All formats hold the same requests.
func writeLog(out io.Writer, format string, n int) error {
	w := bufio.NewWriterSize(out, 1<<20)
	r := rand.New(rand.NewPCG(20210821, 1))
	all := requestKinds(r)
	sum := 0
	for _, k := range all {
		sum += k.share
	}
	start := time.Date(2021, 8, 21, 10, 0, 0, 0, time.FixedZone("", 9*3600))
	for i := range n {
		at := start.Add(time.Duration(i) * time.Second / 2000)
		draw := r.IntN(sum)
		k := &all[0]
		for j := range all {
			if k = &all[j]; draw < k.share {
				break
			}
			draw -= k.share
		}
		path, status := k.path(r), k.status[r.IntN(len(k.status))]
		bytes := 0
		if k.bytes > 0 && status != 304 {
			bytes = k.bytes/2 + r.IntN(k.bytes)
		}
		took := time.Duration(float64(k.median) * math.Exp(r.NormFloat64()*0.8)).Round(time.Millisecond)
		referer := "-"
		if r.IntN(3) == 0 {
			referer = "https://isucondition-1.t.isucon.dev/isu/" + randomUUID(r)
		}
		writeLine(w, format, &request{at, fmt.Sprintf("192.168.0.%d", 10+r.IntN(8)), k.method, path, status, bytes,
			referer, agents[r.IntN(len(agents))], took})
	}
	return w.Flush()
}

type request struct {
	at             time.Time
	host           string
	method, path   string
	status, bytes  int
	referer, agent string
	took           time.Duration
}

func (q *request) line() string {
	if q.method == "" {
		return q.path
	}
	return q.method + " " + q.path + " HTTP/1.1"
}

func writeLine(w *bufio.Writer, format string, q *request) {
	at, took := q.at.Format("02/Jan/2006:15:04:05 -0700"), fmt.Sprintf("%.3f", q.took.Seconds())
	switch format {
	case "combined":
		fmt.Fprintf(w, "%s - - [%s] \"%s\" %d %d \"%s\" \"%s\" %s\n", q.host, at, q.line(), q.status, q.bytes, q.referer,
			q.agent, took)
	case "ltsv":
		fmt.Fprintf(w, "time:%s\thost:%s\tforwardedfor:-\treq:%s\tstatus:%d\tmethod:%s\turi:%s\tsize:%d\treferer:%s\tua:%s\treqtime:%s\tcache:-\truntime:-\tapptime:%s\tvhost:isucondition-1.t.isucon.dev\n",
			at, q.host, q.line(), q.status, q.method, q.path, q.bytes, q.referer, q.agent, took, took)
	case "json":
		fmt.Fprintf(w, `{"time":"%s","host":"%s","forwardedfor":"","req":%s,"status":"%d","method":"%s","uri":%s,"body_bytes":%d,"referer":"%s","ua":%s,"request_time":%s,"cache":"","runtime":"","response_time":"%s","vhost":"isucondition-1.t.isucon.dev"}`+"\n",
			at, q.host, quoteArgument(q.line()), q.status, q.method, quoteArgument(q.path), q.bytes, q.referer,
			quoteArgument(q.agent), took, took)
	}
}
