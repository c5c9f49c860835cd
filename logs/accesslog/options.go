package accesslog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/routes"
)

// defaultMaxRoutes bounds the rows of a table, and so its memory.
const defaultMaxRoutes = 10_000

// The routes of records that have none of their own. Neither starts with a
// slash, as all others do.
const (
	Other     = "(other routes)" // of rows beyond the bound
	Others    = "(others)"       // the same where the rows are not by route
	NoRequest = "(no request)"   // what came was no HTTP request
)

// BotMode is what becomes of the requests of bots.
type BotMode uint8

// Bots are user agents that say so.
const (
	BotsToo  BotMode = iota // they are counted with the others
	NoBots                  // they are left out
	BotsOnly                // all others are left out
)

// Options configure how a log becomes a table. The zero value keeps everything and
// finds formats and routes by itself.
type Options struct {
	Format   *accessformat.Format // nil: found, for each input
	Location *time.Location       // of times without an offset; nil means the local one

	// Clock places the times of the log on a run, and Interval is the run: what
	// lies outside is counted and left out. Without a clock, offsets count from
	// [Table.Started]. An empty interval has no outside.
	Clock    logs.Clock
	Interval kasoku.Interval

	Since, Until time.Time // requests logged in [Since, Until); zero: no bound
	Where        *Filter   // requests for which it holds; nil: all
	Bots         BotMode

	By     []string      // what makes a row, see [Keys]; empty: method and route
	Routes *routes.Rules // nil: automatic
	Limits routes.Limits // when the values at one place of the path are too many to be names

	MaxRoutes int // rows; 0 means 10,000. The requests of the others are in the row [Other]
	Slowest   int // how many of the slowest requests to keep

	// Detail fills in what of an endpoint only a diagnosis reads: connections and
	// bots that reached the upstream server, the longest request, how many URIs there
	// are and whether their answers differ. The last two follow the order of the
	// requests, so that one worker reads.
	Detail bool
	// Seconds keeps the request times of each route by the second, as long as there are not too many seconds.
	// It takes a Clock.
	Seconds bool

	Workers   int // of CollectAll; 0: as many as there are CPUs
	BlockSize int // of CollectAll, bytes; 0: what lines.Split takes
}

// tracked is how many different keys a table follows before the rows are
// decided on: more than there are rows in the end, since many collapse.
func (o *Options) tracked() int { return max(2*o.MaxRoutes, 64) }

// A keyField is one part of the key of a row.
type keyField uint8

const (
	keyExtra keyField = iota // the next of ParserOptions.Extra
	keyMethod
	keyRoute
	keyPath
	keyURI
	keyHost
	keyForwarded
	keyUser
	keyReferer
	keyUA
	keyVHost
	keyStatus
	keyClass
	keyProtocol
	keyBot
	keySecond
	keyMinute
	keyHour
)

// keyNames are the names of keys that every format has, and what they mean.
var keyNames = []struct {
	name string
	key  keyField
}{
	{"method", keyMethod}, {"route", keyRoute}, {"path", keyPath}, {"uri", keyURI},
	{"host", keyHost}, {"forwarded", keyForwarded}, {"user", keyUser}, {"referer", keyReferer},
	{"ua", keyUA}, {"vhost", keyVHost}, {"status", keyStatus}, {"class", keyClass},
	{"protocol", keyProtocol}, {"bot", keyBot}, {"second", keySecond}, {"minute", keyMinute}, {"hour", keyHour},
}

// Keys returns the names of what can make a row of any log. Every other name
// means a key of LTSV or JSON, a variable of nginx, and so on, as in
// [accessformat.ParserOptions].
func Keys() []string {
	var out []string
	for _, k := range keyNames {
		out = append(out, k.name)
	}
	return out
}

// A grouping is what makes a row.
type grouping struct {
	fields []keyField
	names  []string
	extra  []string // names of the keyExtra ones
	route  int      // index of the route; -1 without
	method int
	usual  bool // method and route: the method of a record is letters

	location *time.Location // of seconds, minutes and hours
}

// Validate reports what is wrong with the options.
func (o *Options) Validate() error {
	for i, name := range o.By {
		if name == "" || strings.ContainsAny(name, "\x00\t\n") {
			return fmt.Errorf("key %q: expected one of %s, or a key of the log", name, strings.Join(Keys(), ", "))
		}
		if slices.Contains(o.By[:i], name) {
			return fmt.Errorf("key %q is there twice", name)
		}
	}
	return nil
}

func newGrouping(by []string, location *time.Location) *grouping {
	if len(by) == 0 {
		by = []string{"method", "route"}
	}
	if location == nil {
		location = time.Local
	}
	g := &grouping{names: by, location: location}
	for _, name := range by {
		key := keyExtra
		for _, k := range keyNames {
			if k.name == name {
				key = k.key
			}
		}
		if key == keyExtra {
			g.extra = append(g.extra, name)
		}
		g.fields = append(g.fields, key)
	}
	g.route, g.method = slices.Index(g.fields, keyRoute), slices.Index(g.fields, keyMethod)
	g.usual = slices.Equal(g.fields, []keyField{keyMethod, keyRoute})
	return g
}
