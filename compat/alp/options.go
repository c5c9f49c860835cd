package alp

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku/logs/patterns"
)

// options are the flags of all commands.
type options struct {
	fields fields
	uris   uris
	pos    position

	file, dump, load string
	location         string
	filters          string
	format           string
	sort             string
	reverse          bool
	noHeaders        bool
	showFooters      bool
	limit            int
	output           string
	percentiles      string
	page             int
	keys             string // of count
}

// fields define where the values of a line are.
type fields struct {
	kind    string // ltsv, json or regexp
	pattern string // of regexp
	names   [numValues]string
}

// uris define which requests are counted as one.
type uris struct {
	query        bool
	ignoreValues bool
	decode       bool
	match        string
	groups       []string // matching groups of a configuration file, not split at commas
}

// The values of a line that are of use, and where they stand in a list of them.
const (
	valueURI = iota
	valueMethod
	valueTime
	valueTook  // response time
	valueTook2 // request time, when that is no number
	valueBody
	valueStatus
	numValues
)

// A nameFlag is an option that renames a value.
type nameFlag struct {
	name, preset, what string
}

// nameFlags are, by kind, those of the values.
var nameFlags = map[string][numValues]nameFlag{
	"ltsv": {
		{"uri-label", "uri", "uri label"}, {"method-label", "method", "method label"},
		{"time-label", "time", "time label"},
		{"apptime-label", "apptime", "apptime label"}, {"reqtime-label", "reqtime", "reqtime label"},
		{"size-label", "size", "size label"}, {"status-label", "status", "status label"},
	},
	"json": {
		{"uri-key", "uri", "uri key"}, {"method-key", "method", "method key"}, {"time-key", "time", "time key"},
		{"restime-key", "response_time", "response_time key"}, {"reqtime-key", "request_time", "request_time key"},
		{"body-bytes-key", "body_bytes", "body_bytes key"}, {"status-key", "status", "status key"},
	},
	"regexp": {
		{"uri-subexp", "uri", "uri sub expression"}, {"method-subexp", "method", "method sub expression"},
		{"time-subexp", "time", "time sub expression"},
		{"restime-subexp", "response_time", "response_time sub expression"},
		{"reqtime-subexp", "request_time", "request_time sub expression"},
		{"body-bytes-subexp", "body_bytes", "body_bytes sub expression"},
		{"status-subexp", "status", "status sub expression"},
	},
}

func (o *options) registerInput(fl *pflag.FlagSet) {
	fl.StringVar(&o.file, "file", "", "The access log file")
	o.registerPos(fl)
}

func (o *options) registerPos(fl *pflag.FlagSet) {
	fl.StringVar(&o.pos.file, "pos", "", "The position file")
	fl.BoolVar(&o.pos.noSave, "nosave-pos", false, "Do not save position file")
}

func (o *options) registerOutput(fl *pflag.FlagSet) {
	fl.StringVar(&o.format, "format", "table", "The output format (table, markdown, tsv, csv, html, and json)")
	fl.BoolVarP(&o.reverse, "reverse", "r", false, "Sort results in reverse order")
	fl.BoolVar(&o.noHeaders, "noheaders", false, "Output no header line at all (only --format=tsv, csv)")
	fl.IntVar(&o.page, "page", 100, "Number of pages of pagination")
}

func (o *options) registerSelect(fl *pflag.FlagSet) {
	fl.StringVar(&o.location, "location", "Local", "Location name for the timezone")
	fl.BoolVar(&o.uris.decode, "decode-uri", false, "Decode the URI")
	fl.StringVarP(&o.filters, "filters", "f", "", "Only the requests are profiled that match the conditions")
}

func (o *options) registerProfile(fl *pflag.FlagSet) {
	fl.StringVar(&o.sort, "sort", "count", "Output the results in sorted order")
	fl.BoolVar(&o.showFooters, "show-footers", false, "Output footer line at all (only --format=table, markdown)")
	fl.IntVar(&o.limit, "limit", 5000, "The maximum number of results to display; 0: all")
	fl.StringVarP(&o.output, "output", "o", "all", "Specifies the results to display, separated by commas")
	fl.BoolVarP(&o.uris.query, "query-string", "q", false, "Include the URI query string")
	fl.BoolVar(&o.uris.ignoreValues, "qs-ignore-values", false,
		"Ignore the value of the query string. Replace all values with xxx (only use with -q)")
	fl.StringVarP(&o.uris.match, "matching-groups", "m", "", "Specifies Query matching groups separated by commas")
	fl.StringVar(&o.percentiles, "percentiles", "", "Specifies the percentiles separated by commas")
}

func (o *options) registerDump(fl *pflag.FlagSet) {
	fl.StringVar(&o.dump, "dump", "", "Dump profiled data as YAML")
	fl.StringVar(&o.load, "load", "", "Load the profiled YAML data")
}

func (f *fields) register(fl *pflag.FlagSet) {
	if f.kind == "regexp" {
		fl.StringVar(&f.pattern, "pattern", defaultPattern, "Regular expressions pattern matching the log")
	}
	for i, of := range nameFlags[f.kind] {
		fl.StringVar(&f.names[i], of.name, of.preset, "Change the "+of.what)
	}
}

// zone returns the place whose time is meant by times without an offset.
func (o *options) zone() (*time.Location, error) {
	if o.location == "" {
		return time.Local, nil
	}
	loc, err := time.LoadLocation(o.location)
	if err != nil {
		return nil, fmt.Errorf("--location %q: %w", o.location, err)
	}
	return loc, nil
}

// percents returns the percentiles that are columns.
func (o *options) percents() ([]int, error) {
	if o.percentiles == "" {
		return []int{90, 95, 99}, nil
	}
	var out []int
	for s := range strings.SplitSeq(o.percentiles, ",") {
		p, err := strconv.Atoi(s)
		if err != nil {
			return nil, fmt.Errorf("--percentiles %q: want whole numbers", o.percentiles)
		}
		out = append(out, p)
	}
	return out, nil
}

// matching returns the matching groups: their names, and what matches them. Both
// are nil when there are none.
func (u *uris) matching() ([]string, *patterns.Set, error) {
	groups := u.groups
	if u.match != "" {
		groups = strings.Split(u.match, ",")
	}
	if len(groups) == 0 {
		return nil, nil, nil
	}
	var names []string
	for _, g := range groups {
		names = append(names, sortedQuery(g))
	}
	set, err := patterns.Compile(names)
	if err != nil {
		return nil, nil, fmt.Errorf("--matching-groups: %w", err)
	}
	return names, set, nil
}
