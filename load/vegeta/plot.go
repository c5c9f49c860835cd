package vegeta

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// The defaults of Vegeta's plot command.
const (
	DefaultPlotTitle     = "Vegeta Plot"
	DefaultPlotThreshold = 4000
)

// PlotOptions are those of Vegeta's plot command.
type PlotOptions struct {
	Title     string
	Threshold int      // most points of a series that are drawn; 0: all
	Files     []string // of results; "stdin" and "-" are Stdin, as is no file at all
	Output    string   // file; empty, "stdout" and "-" are Stdout
	Stdin     io.Reader
	Stdout    io.Writer
}

// Validate reports a threshold that leaves nothing to draw.
func (o *PlotOptions) Validate() error {
	if o.Threshold < 0 || o.Threshold == 1 || o.Threshold == 2 {
		return fmt.Errorf("bad threshold %d: want 3 points or more, 0 for all", o.Threshold)
	}
	return nil
}

// Plot writes the results in the files as a page with a chart of their latencies
// over time: for each attack one series of what succeeded and one of what did not.
// The page needs nothing but itself. All points are in memory until it is
// written, with 16 bytes each. When a file cannot be read to its end, or ctx is
// cancelled, Plot draws what it has; the first also returns the error.
func Plot(ctx context.Context, o PlotOptions) (err error) {
	if err := o.Validate(); err != nil {
		return err
	}
	dec, closeFiles, err := openResults(o.Files, o.Stdin)
	if err != nil {
		return err
	}
	defer closeFiles()
	p := plot{attacks: map[string]*plotAttack{}}
	var r Result
	for ctx.Err() == nil {
		if err = dec.Decode(&r); err != nil {
			break
		}
		p.add(&r)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if len(p.order) == 0 {
		return errors.Join(err, errors.New("no results to plot"))
	}
	out, closeOut, openErr := openOutput(o.Output, o.Stdout)
	if openErr != nil {
		return errors.Join(err, openErr)
	}
	return errors.Join(err, p.write(out, o), closeOut())
}

// A plot is the results of some attacks.
type plot struct {
	attacks map[string]*plotAttack
	order   []string // of their names, as they came
}

// A plotAttack is the results of one attack.
type plotAttack struct {
	began  int64 // Unix time of its first result, in ns
	series [2][]plotPoint
}

// The series of an attack.
const (
	plotOK = iota
	plotError
)

// A plotPoint is one result. Memory for long files is made of these.
type plotPoint struct {
	at      int64 // Unix time in ns
	latency time.Duration
}

func (p *plot) add(r *Result) {
	a := p.attacks[r.Attack]
	if a == nil {
		a = &plotAttack{began: r.Timestamp.UnixNano()}
		p.attacks[r.Attack] = a
		p.order = append(p.order, r.Attack)
	}
	at, which := r.Timestamp.UnixNano(), plotOK
	if r.Error != "" {
		which = plotError
	}
	a.began = min(a.began, at)
	a.series[which] = append(a.series[which], plotPoint{at, r.Latency})
}

// drawnPoints returns the points of a series that are drawn, in the order of time.
func drawnPoints(points []plotPoint, most int) []plotPoint {
	if !slices.IsSortedFunc(points, byTime) {
		slices.SortStableFunc(points, byTime) // results come in the order in which they ended
	}
	if most == 0 || len(points) <= most {
		return points
	}
	return largestTriangles(points, most)
}

func byTime(a, b plotPoint) int { return cmp.Compare(a.at, b.at) }

// largestTriangles keeps n points, at least three, that look like all of them:
// the first, the last, and of each of n-2 buckets the one that makes the largest
// triangle with the point kept before it and the mean of the bucket after it.
//
// Source: Sveinn Steinarsson, Downsampling Time Series for Visual Representation,
// 2013, section 4.2, "largest triangle three buckets".
func largestTriangles(points []plotPoint, n int) []plotPoint {
	last := len(points) - 1
	out := make([]plotPoint, 0, n)
	out = append(out, points[0])
	bucket := func(i int) (from, to int) { // of n-2, over all but the first and the last point
		width := float64(last-1) / float64(n-2)
		return 1 + int(float64(i)*width), 1 + int(float64(i+1)*width)
	}
	for i := range n - 2 {
		from, to := bucket(i)
		next := points[last:]
		if i < n-3 {
			a, b := bucket(i + 1)
			next = points[a:b]
		}
		meanAt, meanLatency := meanOf(points[0].at, next)
		kept := out[len(out)-1]
		keptAt := float64(kept.at - points[0].at)
		best, largest := from, -1.0
		for j := from; j < to; j++ {
			p := points[j]
			area := (keptAt-meanAt)*float64(p.latency-kept.latency) - (keptAt-float64(p.at-points[0].at))*(meanLatency-float64(kept.latency))
			if area = max(area, -area); area > largest {
				best, largest = j, area
			}
		}
		out = append(out, points[best])
	}
	return append(out, points[last])
}

// meanOf returns the mean of points, whose times count from began.
func meanOf(began int64, points []plotPoint) (at, latency float64) {
	for _, p := range points {
		at += float64(p.at - began)
		latency += float64(p.latency)
	}
	n := float64(len(points))
	return at / n, latency / n
}
