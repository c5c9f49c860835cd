package ptquerydigest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// options are what a command line asks for.
type options struct {
	files     []string
	kind      string // slowlog, genlog or rawlog
	limits    []limit
	outliers  []outlier // by grouping; one beyond them has no outliers
	since     moment
	until     moment
	orders    []order
	groupBy   []string
	output    string
	sections  []string
	filter    *filter
	report    bool
	expected  [2]int
	maxLine   int // bytes; 0 is any
	maxHost   int
	showAll   []string
	histogram string
	vertical  bool
	sample    int // events of a class that are read; 0 is all
}

// byFingerprint is what events are grouped by unless asked otherwise.
const (
	byFingerprint = "fingerprint"
	byDistill     = "distill" // verbs and tables
)

// allSections are those of a report, in order.
var allSections = []string{"rusage", "date", "hostname", "files", "header", "profile", "query_report", "prepared"}

// A limit defines how many classes are reported: a share of the whole, a number, or
// whichever comes first.
type limit struct {
	percent, count int // 0 is not asked for
}

var defaultLimit = limit{95, 20}

// An outlier defines which rare but slow classes are reported beside.
type outlier struct {
	attr  string
	p95   float64
	calls float64
}

// A moment is a --since or --until: a time without a zone, as logs write them.
type moment struct {
	at  time.Time
	set bool
}

// An optionError is a command line that is not understood.
type optionError struct{ why string }

func (e optionError) Error() string { return e.why }

func badOption(format string, args ...any) error { return optionError{fmt.Sprintf(format, args...)} }

// ignored are options that take a value and change nothing here: they are about
// servers to connect to, about waiting, and about what is done more than once.
var ignored = []string{
	"attribute-aliases", "attribute-value-limit", "charset", "config", "log", "pid", "progress", "read-timeout",
	"set-vars", "ignore-attributes", "inherit-attributes", "iterations",
}

// refused are options that ask for something that is not done here.
var refused = []string{
	"ask-pass", "daemonize", "database", "defaults-file", "embedded-attributes", "explain", "history", "host",
	"interval", "password", "port", "preserve-embedded-numbers", "processlist", "resume", "review", "run-time",
	"run-time-mode",
	"slave-password", "slave-user", "socket", "timeline", "user", "variations", "watch-server", "report-all",
}

// switches are options without a value, which --no in front turns off.
var switches = []string{"continue-on-error", "create-history-table", "create-review-table", "report", "version-check",
	"vertical-format"}

// parse reads a command line. A single dash does for long names, and a name may be
// cut as long as it is the only one that starts so.
func parse(args []string, now time.Time) (*options, error) {
	o := &options{
		kind: "slowlog", outliers: []outlier{{queryTime, 1, 10}}, groupBy: []string{byFingerprint},
		output: "report", sections: allSections, report: true, expected: [2]int{5, 10}, maxLine: 74, maxHost: 10,
		histogram: queryTime, vertical: true,
	}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "--":
			o.files = append(o.files, args...)
			args = nil
			continue
		case arg == "-" || !strings.HasPrefix(arg, "-"):
			o.files = append(o.files, arg)
			continue
		}
		name, value, has := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		name, on, err := fullName(name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(switches, name) {
			if has {
				return nil, badOption("option %s does not take an argument", name)
			}
			o.toggle(name, on)
			continue
		}
		if !has {
			if len(args) == 0 {
				return nil, badOption("option %s requires an argument", name)
			}
			value, args = args[0], args[1:]
		}
		if err := o.set(name, value, now); err != nil {
			return nil, err
		}
	}
	return o, o.complete()
}

// values are the options that take one and are carried out.
var values = []string{
	"expected-range", "filter", "group-by", "limit", "max-hostname-length", "max-line-length", "order-by", "outliers",
	"output", "report-format", "report-histogram", "sample", "show-all", "since", "type", "until",
}

// fullName finds out which option is meant, and whether a switch is turned on.
func fullName(name string) (full string, on bool, err error) {
	if slices.Contains(refused, name) {
		return "", false, badOption("option %s is not carried out by kasoku", name)
	}
	known := slices.Concat(values, ignored, switches, refused)
	for _, s := range switches {
		known = append(known, "no"+s, "no-"+s)
	}
	var match []string
	for _, k := range known {
		if k == name {
			match = []string{k}
			break
		}
		if name != "" && strings.HasPrefix(k, name) {
			match = append(match, k)
		}
	}
	switch len(match) {
	case 0:
		return "", false, badOption("unknown option: %s", name)
	case 1:
	default:
		return "", false, badOption("option %s is ambiguous (%s)", name, strings.Join(match, ", "))
	}
	full, on = match[0], true
	if slices.Contains(refused, full) {
		return "", false, badOption("option %s is not carried out by kasoku", full)
	}
	if rest, ok := strings.CutPrefix(full, "no"); ok && !slices.Contains(switches, full) {
		full, on = strings.TrimPrefix(rest, "-"), false
	}
	return full, on, nil
}

func (o *options) toggle(name string, on bool) {
	switch name {
	case "report":
		o.report = on
	case "vertical-format":
		o.vertical = on
	}
}

func (o *options) set(name, value string, now time.Time) (err error) {
	switch name {
	case "type":
		err = oneOf(name, value, "slowlog", "genlog", "rawlog")
		o.kind = value
	case "output":
		err = oneOf(name, value, "report", "profile", "json", "json-anon", "slowlog", "secure-slowlog")
		o.output = value
	case "limit":
		o.limits, err = parseLimits(value)
	case "outliers":
		o.outliers, err = parseOutliers(value)
	case "since":
		o.since, err = parseMoment(name, value, now)
	case "until":
		o.until, err = parseMoment(name, value, now)
	case "order-by":
		o.orders, err = parseOrders(value)
	case "group-by":
		o.groupBy = splitList(value)
	case "report-format":
		o.sections = splitList(value)
		for _, s := range o.sections {
			if err == nil {
				err = oneOf(name, s, allSections...)
			}
		}
	case "expected-range":
		o.expected, err = parseRange(value)
	case "filter":
		o.filter, err = parseFilter(value)
	case "max-line-length":
		o.maxLine, err = parseNumber(name, value)
	case "max-hostname-length":
		o.maxHost, err = parseNumber(name, value)
	case "sample":
		o.sample, err = parseNumber(name, value)
	case "show-all":
		o.showAll = splitList(value)
	case "report-histogram":
		o.histogram = value
	}
	return err
}

// complete fills in what depends on several options.
func (o *options) complete() error {
	for len(o.limits) < len(o.groupBy) {
		o.limits = append(o.limits, defaultLimit)
	}
	if len(o.orders) == 0 && o.kind != "slowlog" {
		o.orders = []order{{queryTime, "cnt"}}
	}
	for len(o.orders) < len(o.groupBy) {
		o.orders = append(o.orders, defaultOrder)
	}
	if o.output == "profile" {
		o.output, o.sections = "report", []string{"profile"}
	}
	return nil
}

func oneOf(name, value string, of ...string) error {
	if !slices.Contains(of, value) {
		return badOption("%q is not a valid --%s: want %s", value, name, strings.Join(of, ", "))
	}
	return nil
}

func splitList(s string) []string {
	var out []string
	for _, part := range strings.Split(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

func parseNumber(name, value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return 0, badOption("--%s %q: want a number", name, value)
	}
	return n, nil
}

var limitForm = lazyregexp.New(`^(?:(\d+)%)?(?::?(\d+))?$`)

func parseLimits(value string) ([]limit, error) {
	var out []limit
	for _, s := range splitList(value) {
		m := limitForm().FindStringSubmatch(s)
		if m == nil || m[1] == "" && strings.HasPrefix(s, ":") {
			return nil, badOption("--limit %q: want a number of classes, a share such as 95%%, or both: 95%%:20", s)
		}
		l := defaultLimit
		if s != "0" {
			l.percent, _ = strconv.Atoi(m[1])
			l.count, _ = strconv.Atoi(m[2])
		}
		out = append(out, l)
	}
	if len(out) == 0 {
		return nil, badOption("--limit %q: want a number or a share", value)
	}
	return out, nil
}

func parseOutliers(value string) ([]outlier, error) {
	var out []outlier
	for _, s := range splitList(value) {
		part := strings.Split(s, ":")
		o, err := outlier{attr: part[0]}, error(nil)
		if len(part) > 1 {
			o.p95, err = strconv.ParseFloat(part[1], 64)
		}
		if len(part) > 2 && err == nil {
			o.calls, err = strconv.ParseFloat(part[2], 64)
		}
		if err != nil || part[0] == "" || len(part) < 2 || len(part) > 3 {
			return nil, badOption("--outliers %q: want ATTRIBUTE:PERCENTILE:COUNT, such as Query_time:1:10", s)
		}
		out = append(out, o)
	}
	return out, nil
}

func parseOrders(value string) ([]order, error) {
	var out []order
	for _, s := range splitList(value) {
		attr, figure, ok := strings.Cut(s, ":")
		if !ok {
			figure = "sum"
		}
		if attr == "" || !slices.Contains([]string{"sum", "min", "max", "cnt"}, figure) {
			return nil, badOption("--order-by %q: want ATTRIBUTE:sum, min, max or cnt", s)
		}
		out = append(out, order{attr, figure})
	}
	return out, nil
}

func parseRange(value string) (out [2]int, err error) {
	part := splitList(value)
	if len(part) != 2 {
		return out, badOption("--expected-range %q: want two numbers, such as 5,10", value)
	}
	for i := range out {
		if out[i], err = parseNumber("expected-range", part[i]); err != nil {
			return out, err
		}
	}
	return out, nil
}

var agoForm = lazyregexp.New(`^(\d+)([smhd]?)$`)

// parseMoment reads a time: N with s, m, h or d, which is so long ago, or a date
// with or without a time of day. A number of six digits is a date.
func parseMoment(name, value string, now time.Time) (moment, error) {
	text := strings.Join(strings.Fields(value), " ")
	for _, form := range []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02",
		"060102 15:04:05", "060102 15:04", "060102"} {
		if t, err := time.Parse(form, text); err == nil {
			return moment{t, true}, nil
		}
	}
	m := agoForm().FindStringSubmatch(text)
	if m == nil {
		return moment{}, badOption("--%s %q: want a date such as \"2026-11-20 08:00:00\" or \"261120 8:00:00\", or a time ago such as 3h", name, value)
	}
	n, err := strconv.ParseInt(m[1], 10, 32)
	if err != nil {
		return moment{}, badOption("--%s %q: too long ago", name, value)
	}
	step := map[string]time.Duration{"": time.Second, "s": time.Second, "m": time.Minute, "h": time.Hour,
		"d": 24 * time.Hour}[m[2]]
	at := now.Add(-time.Duration(n) * step)
	// The clock of the wall, as logs without a zone show it.
	wall := time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
	return moment{wall, true}, nil
}

// verticalEnd is what stands at the end of statements.
func (o *options) verticalEnd() string {
	if o.vertical {
		return `\G`
	}
	return ""
}

// explainWhy reports whether each class says why it is there: more or fewer than
// expected are.
func (o *options) explainWhy(d *digest) bool {
	n := 0
	for _, c := range d.classes {
		if c.reason != "" {
			n++
		}
	}
	return n < o.expected[0] || n > o.expected[1]
}

// choose describes which classes of the grouping with this number are reported, and why. A
// share is one of the sum of the attribute, whatever figure of it the classes are
// ranked by.
func (o *options) choose(d *digest, grouping int) {
	l := o.limits[grouping]
	all, _ := d.overall.number(d.orderBy.attr)
	enough := float64(l.percent) * (all.Sum / 100)
	var done float64
	for i, c := range d.classes {
		full := enough > 0 && done >= enough || l.count > 0 && i >= l.count
		done += d.orderBy.of(c)
		switch {
		case !full:
			c.reason = "limit"
		case grouping < len(o.outliers) && o.outliers[grouping].is(c):
			c.reason = "outliers"
		}
	}
}

// is reports whether a class is such an outlier.
func (o *outlier) is(c *class) bool {
	s, _ := c.number(o.attr)
	return s.P95 >= o.p95 && float64(s.Count) >= o.calls
}
