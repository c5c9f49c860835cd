// Command serve measures what the page of kasoku serve costs, in this process and over loopback: the sizes of what a
// browser fetches, the time to the page of a long run and to the tables of a brush over it, and the CPU and memory of
// a server that no one asks and of one whose reader sees a run recorded.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/serve"
	"github.com/kasoku/kasoku/store"
)

func main() {
	hours := flag.Float64("hours", 1, "length of the run")
	routes := flag.Int("routes", 200, "routes of the run, and as many statements")
	series := flag.Int("series", 700, "series of the run")
	watched := flag.Duration("watched", 20*time.Second, "how long a server is looked at")
	flag.Parse()
	if err := run(*hours, *routes, *series, *watched); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(3)
	}
}

// line prints a figure beside the limit of the design.
func line(what, got, limit string) {
	_, _ = fmt.Fprintf(os.Stdout, "%-58s %12s   %s\n", what, got, limit)
}

func run(hours float64, routes, series int, watched time.Duration) error {
	dir, err := os.MkdirTemp("", "kasoku-bench-serve-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	seconds := int(hours * 3600)
	path := filepath.Join(dir, "long"+store.Extension)
	if err := store.Write(path, long(seconds, routes, series)); err != nil {
		return err
	}
	line("style and scripts", fmt.Sprintf("%.1f KB", float64(serve.AssetBytes())/1e3), "150 KB")
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	line(fmt.Sprintf("run file of %d s, %d routes, %d series", seconds, routes, series),
		fmt.Sprintf("%.1f MB", float64(st.Size())/1e6), "")
	began := time.Now()
	if _, err := store.Open(path); err != nil {
		return err
	}
	line("the file opened", fmt.Sprintf("%.0f ms", time.Since(began).Seconds()*1e3), "1,000 ms at 6 h x 700 series")

	base, end, err := listen(dir)
	if err != nil {
		return err
	}
	defer end()
	if err := pages(base, seconds); err != nil {
		return err
	}
	return costs(dir, base, watched)
}

// pages measures what a reader waits for.
func pages(base string, seconds int) error {
	for _, x := range []struct{ what, path, limit string }{
		{"the list of runs", "/", "200 ms"},
		{"the page of the run, not read yet", "/runs/long", ""},
		{"the page of the run", "/runs/long", "200 ms"},
		{"brush to tables, all of it", fmt.Sprintf("/runs/long/part?t=0-%d", seconds), "100 ms"},
		{"brush to tables, a tenth", fmt.Sprintf("/runs/long/part?t=0-%d", seconds/10), "100 ms"},
		{"the difference of two tenths", fmt.Sprintf("/runs/long/part?t=0-%d&b=%d-%d", seconds/10, seconds/2,
			seconds*6/10), "100 ms"},
		{"an endpoint's drawer", "/runs/long/focus?e=web+GET+/r7", "100 ms"},
	} {
		times := make([]float64, 5)
		if x.limit == "" {
			times = times[:1]
		}
		size := 0
		for i := range times {
			began := time.Now()
			n, err := get(base + x.path)
			if err != nil {
				return err
			}
			times[i], size = time.Since(began).Seconds()*1e3, n
		}
		slices.Sort(times)
		line(fmt.Sprintf("%s (%.0f KB)", x.what, float64(size)/1e3), fmt.Sprintf("%.0f ms", times[len(times)/2]),
			x.limit)
	}
	return nil
}

// costs measures the server alone, and with a reader of a run that is recorded.
func costs(dir, base string, watched time.Duration) error {
	if err := os.Remove(filepath.Join(dir, "long"+store.Extension)); err != nil {
		return err
	}
	if _, err := get(base + "/"); err != nil {
		return err
	}
	runtime.GC()
	debug.FreeOSMemory()
	before := used()
	if err := wait(watched, func() error { return nil }); err != nil {
		return err
	}
	line("CPU of a server that no one asks", percent(used()-before, watched), "0.2 % of a core")
	line("its memory (this program's, after a large run)", resident(), "30 MB")

	w, err := store.Create(filepath.Join(dir, "live"+store.Extension), kasoku.Run{ID: "live", Started: time.Now(),
		Load: "GET /, open loop"})
	if err != nil {
		return err
	}
	n := 0
	before = used()
	err = wait(watched, func() error {
		n++
		if err := w.SaveRun(kasoku.Run{ID: "live", Started: time.Now(), State: kasoku.Running,
			Note: strconv.Itoa(n)}); err != nil {
			return err
		}
		_, err := get(base + "/runs/live")
		return err
	})
	if err != nil {
		return err
	}
	line("CPU with a reader of a run (its writer and reader, too)", percent(used()-before, watched), "1 % of a core")
	return w.Finish(kasoku.Run{ID: "live", Started: time.Now(), State: kasoku.Finished})
}

// wait calls f once a second.
func wait(whole time.Duration, f func() error) error {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for end := time.Now().Add(whole); time.Now().Before(end); {
		<-every.C
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

func listen(dir string) (base string, end func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	o := serve.Options{Dirs: []string{dir}, Now: time.Now, Open: store.Open,
		Report: func(path string) report.Options { return report.Options{File: path} },
		Complete: func(rec *kasoku.Recording) {
			if rec.Summary == nil {
				rec.Summary = diagnose.Summarise(rec)
			}
		}}
	ctx, stop := context.WithCancel(context.Background())
	ended := contain.Go(contain.Part{Kind: contain.Output, Name: "server of pages"}, func() {
		if err := serve.New(o).Serve(ctx, l, nil); err != nil {
			fmt.Fprintln(os.Stderr, "serve:", err)
		}
	})
	return "http://" + l.Addr().String(), func() { stop(); <-ended }, nil
}

func get(url string) (bytes int, err error) {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err
	}
	if answer.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s: %s", url, answer.Status)
	}
	return len(text), nil
}

// used is the CPU time of this process.
func used() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func percent(cpu, of time.Duration) string {
	return fmt.Sprintf("%.2f %%", 100*cpu.Seconds()/of.Seconds())
}

func resident() string {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseFloat(kb, 64)
	return fmt.Sprintf("%.0f MB", n*1024/1e6)
}

// long is a run of so many seconds, with ten requests a second of each route.
func long(seconds, routes, series int) *kasoku.Recording {
	rec := &kasoku.Recording{Run: kasoku.Run{ID: "long", Project: "bench", Label: "long", Started: time.Now(),
		Length: time.Duration(seconds) * time.Second, State: kasoku.Finished, Load: "all routes",
		Hosts: []kasoku.Host{{Name: "web", Cores: 2}}}, Diagnosis: &kasoku.Diagnosis{}}
	for r := range routes {
		e := kasoku.Endpoint{Host: "web", Method: "GET", Route: "/r" + strconv.Itoa(r), Latency: histogram.New(),
			Seconds: map[int]kasoku.EndpointSecond{}, BySecond: &histogram.BySecond{}}
		q := kasoku.Query{Host: "web", ID: fmt.Sprintf("%032X", r),
			Fingerprint: fmt.Sprintf("select * from t%d where id = ?", r),
			Latency:     histogram.New(), Seconds: map[int]kasoku.QuerySecond{}, BySecond: &histogram.BySecond{}}
		for s := range seconds {
			for k := range 10 {
				took := time.Duration(1+(s*7+r*13+k*29)%90) * time.Millisecond
				e.Latency.Record(took)
				e.BySecond.Record(int64(s), took)
				q.Latency.Record(took / 3)
				q.BySecond.Record(int64(s), took/3)
				e.Total, q.Total = e.Total+took, q.Total+took/3
			}
			e.Seconds[s], e.Count = kasoku.EndpointSecond{Count: 10}, e.Count+10
			q.Seconds[s], q.Calls = kasoku.QuerySecond{Calls: 10, Total: 100 * time.Millisecond}, q.Calls+10
		}
		rec.Endpoints, rec.Queries = append(rec.Endpoints, e), append(rec.Queries, q)
	}
	for i := range series {
		s := kasoku.Series{Key: kasoku.Key{Host: "web", Source: "host", Name: "cpu.user",
			Instance: "cpu" + strconv.Itoa(i)},
			Kind: kasoku.Counter, Unit: "s"}
		for at := range seconds {
			s.Points = append(s.Points, kasoku.Point{At: time.Duration(at) * time.Second,
				Value: float64(at*(i+1)) / 1e3})
		}
		rec.Series = append(rec.Series, s)
	}
	return rec
}
