package showcmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/compare/part"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/recorded"
	"github.com/kasoku/kasoku/report/recording"
)

// stretchFlags say which seconds of a run are shown.
type stretchFlags struct {
	from, to string
	arg      string // RUN@FROM-TO that they stand in, instead of flags
}

func (f *stretchFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.from, "from", "",
		"only what happened from this `MOMENT` on: 12s after the run began, or a time of day")
	fl.StringVar(&f.to, "to", "", "only what happened before this `MOMENT`")
}

func (f *stretchFlags) asked() bool { return f.from != "" || f.to != "" }

// cut returns the seconds of a run as they are to be printed.
func (f *stretchFlags) cut(e *cli.Env, out *cli.Output, parts *partFlags, rec *kasoku.Recording, path string) (cli.Printer, error) {
	if parts.brief {
		return cli.Printer{}, cli.Usagef("leave out --from and --to, or --brief",
			"--brief shows findings, which are of the whole run")
	}
	o := e.ReportOptions(path)
	p, err := f.part(rec, o)
	if err != nil {
		return cli.Printer{}, err
	}
	if err := parts.check(out, recording.ShowPart(p, o)); err != nil {
		return cli.Printer{}, err
	}
	o.Sections = parts.sections
	return cli.Printer{
		Doc: recording.ShowPart(p, o), Long: true,
		JSON: func(w io.Writer) error { return encode.PartJSON(w, p, o) },
	}, nil
}

// part cuts the seconds out of a run.
func (f *stretchFlags) part(rec *kasoku.Recording, o report.Options) (*part.Part, error) {
	whole := recorded.Of(rec, o)
	iv := kasoku.Interval{To: whole.Length()}
	for _, one := range []struct {
		flag, text string
		at         *time.Duration
	}{{"--from", f.from, &iv.From}, {"--to", f.to, &iv.To}} {
		if one.text == "" {
			continue
		}
		at, err := momentOf(whole, one.text)
		if err != nil {
			return nil, cli.Usagef("12s and 1m30s count from the run's begin, which is at "+whole.Clock(0),
				"%s %s: %v", cmp.Or(f.arg, one.flag), one.text, err)
		}
		*one.at = at
	}
	p, err := part.Of(rec, whole.Length(), iv)
	var empty *part.EmptyError
	if errors.As(err, &empty) {
		hint := fmt.Sprintf("the run goes from 0s to %s, which is %s to %s", unit.Exact(whole.Length()),
			whole.Clock(0), whole.Clock(whole.Length()))
		return nil, cli.Usagef(hint, "%v", err)
	}
	return p, err
}

// stretchOf takes a run's name and the seconds of it apart: before@12s-31s. Where there is no @, or a run is called
// so, it is a name alone.
func stretchOf(dir, arg string) (name string, seconds *stretchFlags) {
	i := strings.LastIndexByte(arg, '@')
	if i <= 0 {
		return arg, nil
	}
	from, to, ok := strings.Cut(arg[i+1:], "-")
	if !ok {
		return arg, nil
	}
	if _, err := findRuns(dir, arg); err == nil {
		return arg, nil
	}
	return arg[:i], &stretchFlags{from: from, to: to, arg: arg + ","}
}

// momentOf returns the offset of a moment: a time after the run's begin, or a time of day on its day, or after midnight
// where the run goes on until then.
func momentOf(r recorded.View, text string) (time.Duration, error) {
	for _, layout := range []string{"15:04:05", "15:04"} {
		clock, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		began := r.Wall(0)
		y, m, d := began.Date()
		at := time.Date(y, m, d, clock.Hour(), clock.Minute(), clock.Second(), 0, began.Location())
		if at.Before(began.Truncate(time.Second)) && at.Add(24*time.Hour).Sub(began) <= r.Length() {
			at = at.Add(24 * time.Hour)
		}
		return at.Sub(began).Truncate(time.Second), nil // the second of the run in which it lies
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds >= 0 && seconds < 1e8 { // as pages have it
		return time.Duration(seconds * float64(time.Second)), nil
	}
	d, err := unit.ParseDuration(text)
	if err != nil {
		return 0, errors.New("want a time after the run's begin such as 12s, or a time of day such as 14:02:31")
	}
	return d, nil
}
