package vegeta

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// TestReportIsVegetas compares every report of every encoding with what Vegeta
// 12.13 printed.
func TestReportIsVegetas(t *testing.T) {
	f := func(golden, kind, buckets string) {
		t.Helper()
		want, err := os.ReadFile(filepath.Join("testdata", golden))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"results.gob", "results.json", "results.csv"} {
			var out bytes.Buffer
			o := ReportOptions{Type: kind, Buckets: buckets, Files: []string{filepath.Join("testdata", file)}, Stdout: &out}
			if err := Report(t.Context(), o); err != nil {
				t.Errorf("%s of %s: %v", golden, file, err)
			} else if !bytes.Equal(out.Bytes(), want) {
				t.Errorf("%s of %s:\n%s\nwant\n%s", golden, file, out.Bytes(), want)
			}
		}
	}
	f("report.txt", "text", "")
	f("report.txt", "", "")
	f("report.json", "json", "")
	f("report-buckets.json", "json", "[0,1ms,5ms,10ms,50ms]")
	f("report.hist", "hist[0,1ms,2ms,5ms,10ms,50ms]", "")
	f("report.hist", "hist", "[1ms, 2ms, 5ms, 10ms, 50ms]")
	f("report.hdrplot", "hdrplot", "")
}

func TestReport_Failure(t *testing.T) {
	f := func(o ReportOptions, want string) {
		t.Helper()
		o.Stdout = io.Discard
		if o.Stdin == nil {
			o.Stdin = strings.NewReader("")
		}
		if err := Report(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
	f(ReportOptions{Type: "plot"}, "the plot reporter has been deprecated")
	f(ReportOptions{Type: "x"}, `invalid report type: "x"`)
	f(ReportOptions{Type: "hist"}, `bad buckets ""`)
	f(ReportOptions{Type: "hist[1ms"}, `bad buckets "[1ms"`)
	f(ReportOptions{Type: "hist[1ms,x]"}, `bad duration "x"`)
	f(ReportOptions{Type: "json", Buckets: "[2ms,1ms]"}, "1ms does not come after 2ms")
	f(ReportOptions{Files: []string{"testdata/none"}}, "testdata/none")
	f(ReportOptions{Files: []string{"testdata/results.gob", "testdata/none"}}, "testdata/none")
	f(ReportOptions{Files: []string{"testdata/report.txt"}}, "neither gob, JSON nor CSV")
	f(ReportOptions{}, "stdin: no results: the file is empty")
	f(ReportOptions{Stdin: iotest.ErrReader(io.ErrClosedPipe)}, "closed pipe")
	f(ReportOptions{Files: []string{"testdata/results.gob"}, Output: "testdata/none/x"}, "create output")
}

// TestReportOfACutFile checks that what can be read of a file whose writer was
// killed is reported, and that the loss is said.
func TestReportOfACutFile(t *testing.T) {
	for _, name := range []string{"results.gob", "results.json", "results.csv"} {
		whole, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err = Report(t.Context(), ReportOptions{Stdin: bytes.NewReader(whole[:len(whole)/2]), Stdout: &out})
		if err == nil || !strings.HasPrefix(err.Error(), "stdin: ") {
			t.Errorf("%s: error is %v", name, err)
		}
		if !strings.HasPrefix(out.String(), "Requests      [total, rate, throughput]         1") {
			t.Errorf("%s: report is\n%s", name, &out)
		}
	}
}

// TestReportOfSeveralFiles checks that files are read in turn, which decides
// the order of the error set, and that a broken one does not hide the rest.
func TestReportOfSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, e Encoding, errs ...string) string {
		var buf bytes.Buffer
		enc, err := NewEncoder(&buf, e)
		if err != nil {
			t.Fatal(err)
		}
		for _, msg := range errs {
			if err := enc.Encode(&Result{Error: msg, Timestamp: time.Unix(1, 0)}); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, buf.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a := write("a", Gob, "a1", "a2", "a3", "a4")
	b := write("b", JSON, "b1")
	c := write("c", CSV, "c1", "c2")
	f := func(want string, files ...string) {
		t.Helper()
		var out bytes.Buffer
		if err := Report(t.Context(), ReportOptions{Files: files, Stdout: &out}); err != nil {
			t.Fatal(err)
		}
		_, set, _ := strings.Cut(out.String(), "Error Set:\n")
		if got := strings.Join(strings.Fields(set), " "); got != want {
			t.Errorf("errors are %q, want %q", got, want)
		}
	}
	f("a1 a2 a3 a4", a)
	f("a1 b1 c1 a2 c2 a3 a4", a, b, c)
	f("c1 a1 c2 a2 a3 a4", c, a)

	data, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b, append(data, "{\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = Report(t.Context(), ReportOptions{Files: []string{b, a}, Stdout: &out})
	if err == nil || !strings.Contains(err.Error(), "cut short after 1 results") {
		t.Errorf("error is %v", err)
	}
	if !strings.Contains(out.String(), "a4") {
		t.Errorf("the report leaves out what comes after the broken line:\n%s", &out)
	}
}

func TestReportEvery(t *testing.T) {
	var out bytes.Buffer
	o := ReportOptions{Files: []string{"testdata/results.csv"}, Stdout: &out, Every: 1, Clear: true}
	if err := Report(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(out.String(), clearScreen)
	if len(parts) < 3 {
		t.Fatalf("%d reports, want several", len(parts)-1)
	}
	want, err := os.ReadFile("testdata/report.txt")
	if err != nil {
		t.Fatal(err)
	}
	if last := parts[len(parts)-1]; strings.Fields(last)[4] != "300," || !strings.HasPrefix(last, string(want[:40])) {
		t.Errorf("the last report is\n%s", last)
	}
}

func TestReportStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	if err := Report(ctx, ReportOptions{Files: []string{"testdata/results.gob"}, Stdout: &out}); err != nil {
		t.Error(err)
	}
	if !strings.HasPrefix(out.String(), "Requests      [total, rate, throughput]         0, 0.00, 0.00\n") {
		t.Errorf("the report of no results is\n%s", &out)
	}
}

func TestReportWriteError(t *testing.T) {
	for _, kind := range []string{"text", "json", "hist[1ms]", "hdrplot"} {
		err := Report(t.Context(), ReportOptions{Type: kind, Files: []string{"testdata/results.csv"}, Stdout: brokenPipe{}})
		if err == nil || !strings.HasPrefix(err.Error(), "write report: ") {
			t.Errorf("%s: error is %v", kind, err)
		}
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestTextEscapesControlCharacters(t *testing.T) {
	var m Metrics
	m.Add(&Result{Error: "418 \x1b[31mteapot\r\n\t\"é\" \xff", Timestamp: time.Unix(1, 0)})
	m.Close()
	var out bytes.Buffer
	if err := WriteText(&out, &m); err != nil {
		t.Fatal(err)
	}
	if _, set, _ := strings.Cut(out.String(), "Error Set:\n"); set != `418 \x1b[31mteapot\r\n\t"é" `+"\ufffd\n" {
		t.Errorf("error set is %q", set)
	}
}

func TestRound(t *testing.T) {
	f := func(d time.Duration, want string) {
		t.Helper()
		if got := roundDuration(d).String(); got != want {
			t.Errorf("round(%d) = %s, want %s", d, got, want)
		}
	}
	f(0, "0s")
	f(999, "999ns")
	f(1234, "1.234µs")
	f(953_817_432, "953.817ms")
	f(3_315_499, "3.315ms")
	f(2_034_856_305, "2.035s")
	f(83*time.Second+499*time.Millisecond, "1m23s")
	f(90*time.Minute+29*time.Second, "1h30m0s")
}

func TestBuckets(t *testing.T) {
	b, err := ParseBuckets("[1ms,10ms]")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []time.Duration{-1, 0, 999_999, time.Millisecond, 9_999_999, 10 * time.Millisecond, time.Hour} {
		b.Add(d)
	}
	if fmt.Sprint(b.Bounds, b.Counts, b.Total) != "[0s 1ms 10ms] [2 2 3] 7" {
		t.Errorf("got %v %v %d", b.Bounds, b.Counts, b.Total)
	}
}
