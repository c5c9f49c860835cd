package vegeta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/private"
)

// clearScreen is what Vegeta prints before it prints a report again.
const clearScreen = "\033[2J\033[0;0H"

// ReportOptions are those of Vegeta's report command.
type ReportOptions struct {
	Type    string        // text, also when empty, json, hist, hdrplot, or hist with its buckets, such as hist[0,1ms]
	Buckets string        // bounds of hist and json, such as [0,1ms,10ms]
	Every   time.Duration // print what there is so often; 0: at the end only
	Clear   bool          // clear the screen before each print, when Every is set
	Files   []string      // of results; "stdin" and "-" are Stdin, as is no file at all
	Output  string        // file; empty, "stdout" and "-" are Stdout
	Stdin   io.Reader
	Stdout  io.Writer
}

// Report prints a report of the results in the files. When a file cannot be
// read to its end, or ctx is cancelled, it prints what it has; the first also
// returns the error.
func Report(ctx context.Context, o ReportOptions) (err error) {
	rep, err := newReporter(o.Type, o.Buckets)
	if err != nil {
		return err
	}
	dec, closeFiles, err := openResults(o.Files, o.Stdin)
	if err != nil {
		return err
	}
	defer closeFiles()
	dec.LeaveOut()
	out, closeOut, err := openOutput(o.Output, o.Stdout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeOut()) }()

	next := time.Now().Add(o.Every)
	var r Result
	for ctx.Err() == nil {
		err = dec.Decode(&r)
		if err != nil {
			break
		}
		rep.add(&r)
		if o.Every > 0 && !time.Now().Before(next) {
			next = time.Now().Add(o.Every)
			if err := rep.print(out, o.Clear); err != nil {
				return err
			}
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err != nil && rep.metrics.Requests == 0 { // a table of zeros would look like an answer
		return err
	}
	return errors.Join(err, rep.print(out, o.Clear && o.Every > 0))
}

// A reporter collects results and writes them in one of the forms.
type reporter struct {
	metrics Metrics
	write   func(io.Writer, *Metrics) error
}

// Validate reports a type or buckets that are none.
func (o *ReportOptions) Validate() error {
	_, err := newReporter(o.Type, o.Buckets)
	return err
}

func newReporter(kind, buckets string) (*reporter, error) {
	rep := &reporter{}
	var err error
	switch {
	case kind == "text", kind == "":
		rep.write = WriteText
	case kind == "json":
		rep.write = WriteJSON
		if buckets == "" {
			return rep, nil
		}
		rep.metrics.Buckets, err = ParseBuckets(buckets)
	case kind == "hdrplot":
		rep.write = WriteHDRPlot
	case strings.HasPrefix(kind, "hist"):
		rep.write = WriteHistogram
		if buckets == "" {
			buckets = kind[len("hist"):]
		}
		rep.metrics.Buckets, err = ParseBuckets(buckets)
	case strings.HasPrefix(kind, "plot"):
		return nil, errors.New("the plot reporter has been deprecated and succeeded by the vegeta plot command: kasoku plot")
	case len(kind) < 4:
		return nil, fmt.Errorf("invalid report type: %q: want text, json, hist[0,1ms,10ms] or hdrplot", clipText(kind))
	default:
		return nil, fmt.Errorf("bad report type %q: want text, json, hist[0,1ms,10ms] or hdrplot", clipText(kind))
	}
	if err != nil {
		return nil, err
	}
	return rep, nil
}

func (r *reporter) add(res *Result) { r.metrics.Add(res) }

func (r *reporter) print(w io.Writer, clear bool) error {
	if clear {
		if _, err := io.WriteString(w, clearScreen); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	r.metrics.Close()
	if err := r.write(w, &r.metrics); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// WriteJSON writes the metrics as one line of JSON.
func WriteJSON(w io.Writer, m *Metrics) error { return json.NewEncoder(w).Encode(m) }

// openResults opens the files for reading in turn.
func openResults(names []string, stdin io.Reader) (*RoundRobin, func(), error) {
	if len(names) == 0 {
		names = []string{"stdin"}
	}
	var files []*os.File
	closeAll := func() {
		for _, f := range files {
			f.Close()
		}
	}
	var decs []*Decoder
	for _, name := range names {
		r := stdin
		if !slices.Contains([]string{"stdin", "-", ""}, name) {
			f, err := os.Open(name)
			if err != nil {
				closeAll()
				return nil, nil, fmt.Errorf("open results: %w", err)
			}
			files = append(files, f)
			r = f
		}
		d, err := NewDecoder(r, name)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		decs = append(decs, d)
	}
	return NewRoundRobin(decs...), closeAll, nil
}

// openOutput creates the file, or returns stdout, which stays open.
func openOutput(name string, stdout io.Writer) (io.Writer, func() error, error) {
	if slices.Contains([]string{"stdout", "-", ""}, name) {
		return stdout, func() error { return nil }, nil
	}
	f, err := private.Output.Create(name)
	if err != nil {
		return nil, nil, fmt.Errorf("create output: %w", err)
	}
	return f, f.Close, nil
}
