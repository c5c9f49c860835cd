package ptquerydigest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/slowlog"
)

// name is how messages start.
const name = "pt-query-digest"

// Run does what pt-query-digest does with these arguments and returns its exit
// code.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	started := time.Now()
	o, err := parse(args, started)
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return 1
	}
	if err := digestAll(ctx, o, stdin, stdout, stderr, started); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		var bad optionError
		if errors.As(err, &bad) {
			return 1
		}
		return 2
	}
	return 0
}

// digestAll prints a report for each grouping.
func digestAll(ctx context.Context, o *options, stdin io.Reader, stdout, stderr io.Writer, started time.Time) error {
	in, files, err := openInputs(o, stdin, stderr)
	if err != nil {
		return err
	}
	p := &printer{w: bufio.NewWriterSize(stdout, 64<<10), o: o, started: started, now: time.Now()}
	if p.host, err = os.Hostname(); err != nil {
		p.host = "unknown"
	}
	if len(o.groupBy) > 1 && len(in) > 0 && in[0].R != nil {
		return badOption("--group-by with several values reads the log once for each: give a file instead of standard input")
	}
	iso := usesISO(in)
	for i, by := range o.groupBy {
		r := reading{o: o, in: in, by: by, order: o.orders[i], iso: iso, stderr: stderr}
		if i == 0 && (o.output == "slowlog" || o.output == "secure-slowlog") {
			r.echo = func(e *slowlog.Event) { p.echo(&r, e) }
		}
		d, err := r.read(ctx)
		if err != nil {
			return err
		}
		d.files = files
		if i == 0 && d.overall.calls == 0 {
			if o.output == "report" {
				p.line("\n# No events processed.")
			}
			break
		}
		if err := p.print(d, i); err != nil {
			return err
		}
	}
	return p.w.Flush()
}

// openInputs returns what is read and what reports call it.
func openInputs(o *options, stdin io.Reader, stderr io.Writer) ([]lines.Input, []file, error) {
	if len(o.files) == 0 || len(o.files) == 1 && o.files[0] == "-" {
		return []lines.Input{{Path: "-", R: stdin}}, []file{{"STDIN", 0}}, nil
	}
	in, err := lines.Inputs(o.files)
	if err != nil {
		return nil, nil, err
	}
	var files []file
	for i := range in {
		files = append(files, file{in[i].Path, sizeOf(in[i].Path)})
		if in[i].Path == "-" {
			in[i].R = stdin
			files[i].name = "STDIN"
		}
	}
	return in, files, nil
}

// print prints what is asked for of a digest, that of the grouping with this number.
func (p *printer) print(d *digest, grouping int) error {
	if !p.o.report {
		return nil
	}
	d.sort()
	p.timed = d.overall.span.firstText != ""
	p.o.choose(d, grouping)
	asJSON := p.o.output == "json" || p.o.output == "json-anon"
	if d.notice != "" && !asJSON && slices.Contains(p.o.sections, "query_report") {
		p.line("%s", d.notice)
	}
	if asJSON {
		return p.writeJSON(d)
	}
	raw := p.w
	p.w = bufio.NewWriter(&visible{w: raw})
	p.report(d)
	err := p.w.Flush()
	p.w = raw
	return err
}

// usage prints what the process has used so far.
func (p *printer) usage() {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return
	}
	user, system := time.Duration(r.Utime.Nano()), time.Duration(r.Stime.Nano())
	memory := shortenBytes(float64(r.Maxrss) * 1024)
	p.line("# %s user time, %s system time, %s rss, %s vsz", formatSeconds(user.Seconds()), formatSeconds(system.Seconds()),
		memory, memory)
}
