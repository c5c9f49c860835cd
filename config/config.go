package config

import (
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/sources"
)

// Name is what the file is called.
const Name = "kasoku.toml"

// A Config is one kasoku.toml.
type Config struct {
	Path string `toml:"-"` // of the file, absolute
	Dir  string `toml:"-"` // that holds it

	Project  string        `toml:"project" eg:"'shop'"` // what is measured; the directory's name when left out
	Runs     string        `toml:"runs,path" eg:"'runs'"`
	Interval time.Duration `toml:"interval" eg:"'1s'"` // between samples, at least 100 ms
	Share    bool          `toml:"share" eg:"true"`    // others may read the files that are written, as the umask allows

	Price    Price             `toml:"price"`
	Service  Service           `toml:"service"`
	Load     LoadTable         `toml:"load"`
	MySQL    MySQL             `toml:"mysql"`
	Logs     Logs              `toml:"logs"`
	Servers  []Server          `toml:",servers"` // a table for each source that declares one
	Watch    Watch             `toml:"watch"`
	Sources  Sources           `toml:"sources"`
	Capture  Capture           `toml:"capture"`
	Settings map[string]string `toml:"settings" eg:"{ pool.max_idle = 100 }"` // of the application (scope app), by dotted name
	Answers  Answers           `toml:"answers"`
	Contract Contract          `toml:"contract"`
	Finalize Finalize          `toml:"finalize"`
	Probe    Probe             `toml:"probe"`
	Trace    Trace             `toml:"trace"`
	Safe     Safe              `toml:"safe"`
	Pilot    Autopilot         `toml:"autopilot"`
	After    After             `toml:"after"`
	Fleet    Fleet             `toml:"fleet"`
	Serve    Serve             `toml:"serve"`
}

// Serve configures the page of all runs.
type Serve struct {
	Listen    string   `toml:"listen" eg:"'127.0.0.1:9797'"`          // where it is
	TokenFile string   `toml:"token_file,path" eg:"'~/kasoku.token'"` // with the token; empty: one that is made at each start
	Allow     []string `toml:"allow" eg:"['note', 'score', 'run']"`   // what it may change: note, score, run

	Links []string `toml:"links" eg:"['Grafana=https://grafana.example.com/d/kasoku?from={from_ms}&to={to_ms}']"` // from each run
}

// Fleet names the hosts of a fleet, and which of them `kasoku run` records.
type Fleet struct {
	Hosts   []string `toml:"hosts" eg:"['gen1', 'gen2=deploy@10.0.0.7']"` // that `kasoku fleet up` brings up, as ssh takes them
	Record  []string `toml:"record" eg:"['web', 'db']"`                   // that record themselves for each run
	Allow   []string `toml:"allow" eg:"['load=http://10.0.0.5/']"`        // what each may be asked
	MaxRate float64  `toml:"max_rate" eg:"20000"`                         // most requests per second of each; 0: no limit
}

// Service names the service that is measured, where several run here. What it says
// overrules what is found.
type Service struct {
	URL   string `toml:"url" eg:"'http://127.0.0.1:8080/'"`         // at which it is loaded
	Port  int    `toml:"port" eg:"8080"`                            // or the port of this host that it listens at
	MySQL string `toml:"mysql" eg:"'app@tcp(127.0.0.1:3306)/shop'"` // DSN of its database; watched when [mysql] names none
	Unit  string `toml:"unit" eg:"'app.service'"`                   // of its application
	PID   int    `toml:"pid" eg:"1204"`                             // likewise

	Language string `toml:"language" eg:"'rust'"` // that its application is written in, where that is not seen
}

// Set reports whether anything is said.
func (s Service) Set() bool { return s != Service{} }

// Price is what the measured machines cost.
type Price struct {
	PerHour  float64 `toml:"per_hour" eg:"0.34"` // 0: unknown
	Currency string  `toml:"currency" eg:"'USD'"`
}

// A LoadTable is what one run does. Exactly one of Command, Targets or TargetsFile,
// For and UntilIdle is set, or none: a file may be there for the other commands
// alone.
type LoadTable struct {
	Command []string `toml:"command,shell" eg:"'./bench.sh'"` // a plain string becomes sh -c

	Targets     []string      `toml:"targets" eg:"['GET http://127.0.0.1:8080/']"` // METHOD URL
	TargetsFile string        `toml:"targets_file,path" eg:"'targets.txt'"`        // in Vegeta's format
	Steps       []float64     `toml:"steps" eg:"[100, 200, 400]"`                  // requests per second
	Each        time.Duration `toml:"each" eg:"'10s'"`                             // a step
	Pause       time.Duration `toml:"pause" eg:"'1s'"`                             // between steps
	Settle      time.Duration `toml:"settle" eg:"'5s'"`                            // recorded after the last step

	From        []string      `toml:"from" eg:"['gen1', 'gen2']"` // hosts of the fleet that send it; empty: this one
	Engine      string        `toml:"engine" eg:"'epollhttp'"`    // one of Engines; empty: by the targets
	Pacing      string        `toml:"pacing" eg:"'economical'"`   // one of Pacings; empty: precise
	Spacing     string        `toml:"spacing" eg:"'poisson'"`     // even, also when empty, poisson, or burst:N
	MaxInFlight int           `toml:"max_in_flight" eg:"1000"`    // most requests at once; 0: as many as there can be
	Timeout     time.Duration `toml:"timeout" eg:"'10s'"`         // of a request
	Allow       []string      `toml:"allow" eg:"['example.com']"` // hosts that may be loaded beside those of private networks
	Variables   *bool         `toml:"variables" eg:"false"`       // fill in {{…}} of targets; nil: yes
	CSV         string        `toml:"csv,path" eg:"'users.csv'"`  // its columns are {{csv.COLUMN}}
	Seed        int           `toml:"seed" eg:"7"`                // of what is random; 0: another for each run

	For       time.Duration `toml:"for" eg:"'90s'"`             // no load: record so long
	UntilIdle time.Duration `toml:"until_idle" eg:"'10s'"`      // no load: record until no request has come for so long
	On        string        `toml:"on" eg:"'POST /initialize'"` // with For or UntilIdle: wait for this request

	Score Pattern `toml:"score"` // where the command's output has the score
	Pass  Pattern `toml:"pass"`  // and whether it passed
}

// Engines are the words for who sends a load.
func Engines() []string { return []string{"auto", "epollhttp", "nethttp"} }

// Pacings are the words for how due times are kept.
func Pacings() []string { return []string{"precise", "economical"} }

// A Pattern finds a value in the output of a benchmark. At most one field is set.
type Pattern struct {
	JSON   string `toml:"json" eg:"'score'"`              // path in the last JSON object: result.score
	Regexp string `toml:"regexp" eg:"'score: ([0-9.]+)'"` // of Go's package regexp; the first group is the value
}

// Set reports whether the pattern looks for anything.
func (p Pattern) Set() bool { return p != Pattern{} }

// MySQL is the database to watch. At most one of DSN and DefaultsFile is set.
type MySQL struct {
	DSN                string   `toml:"dsn" eg:"'app@tcp(127.0.0.1:3306)/shop'"`
	DefaultsFile       string   `toml:"defaults_file,path" eg:"'~/.my.cnf'"` // with a [client] group
	SlowLog            *bool    `toml:"slow_log" eg:"true"`                  // nil: where it may
	Digests            bool     `toml:"digests" eg:"true"`                   // statement digests of performance_schema
	CountRows          []string `toml:"count_rows" eg:"['users']"`           // tables counted before and after
	Plans              *bool    `toml:"plans" eg:"false"`                    // EXPLAIN of the slowest statements at the end; nil: yes
	KeepStatements     bool     `toml:"keep_statements" eg:"true"`           // with their values
	CheckIndexes       bool     `toml:"check_indexes" eg:"true"`             // by a private server with a copy of some rows
	Join               string   `toml:"join" eg:"'tail'"`                    // who issues which query: auto, tail, table, off
	RecycleConnections bool     `toml:"recycle_connections" eg:"true"`       // end idle sessions when the slow log is on
	Reconnects         bool     `toml:"reconnects" eg:"true"`                // every program that uses the server opens a broken connection anew
	Sample             int      `toml:"sample" eg:"101"`                     // the slow log holds 1 of so many statements, MariaDB's alone
	MinFree            string   `toml:"min_free" eg:"'5%'"`                  // of the disks of slow log and run, below which the slow log is put back
}

// Set reports whether a database is named.
func (m MySQL) Set() bool { return m.DSN != "" || m.DefaultsFile != "" }

// Logs are the files that a run reads.
type Logs struct {
	Access []string `toml:"access,path" eg:"['/var/log/nginx/access.log']"`
	App    []string `toml:"app,path" eg:"['/var/log/app.log']"`
	Error  []string `toml:"error,path" eg:"['/var/log/nginx/error.log']"`
	Quiet  bool     `toml:"quiet" eg:"true"` // App may gain no line: init found them
}

// Watch names processes that are always sampled, whatever they use.
type Watch struct {
	PIDs      []int    `toml:"pids" eg:"[1204]"`
	Units     []string `toml:"units" eg:"['app.service']"`
	Processes []string `toml:"processes" eg:"['node']"`                           // names as in ps
	Expvar    []string `toml:"expvar" eg:"['http://127.0.0.1:6060/debug/vars']"`  // programs in Go with package expvar
	Pprof     []string `toml:"pprof" eg:"['http://127.0.0.1:6060/debug/pprof/']"` // programs in Go of which profiles are taken under load
	Outside   bool     `toml:"outside" eg:"true"`                                 // take profiles of all members from outside, by the kernel
}

// Sources defines which sources are not read, and which are read more often.
type Sources struct {
	Off  []string `toml:"off" eg:"['threads', 'sockets']"` // some of SourceNames
	Fast bool     `toml:"fast" eg:"true"`                  // host and process each 100 ms
}

// FastInterval is the time between two ticks of the sources that are read more often.
const FastInterval = 100 * time.Millisecond

// A Server is a table that the declaration of a source describes.
type Server struct {
	Source *observe.Declaration
	observe.Table
}

// Server returns the table of a source, nil where it declares none.
func (c *Config) Server(source string) observe.Table {
	for _, s := range c.Servers {
		if s.Source.Name == source {
			return s.Table
		}
	}
	return nil
}

// declaredServers returns an empty table for each source that declares one.
func declaredServers() (out []Server) {
	for _, d := range sources.All() {
		if d.Server != nil {
			out = append(out, Server{d, d.Server.NewTable()})
		}
	}
	return out
}

// SourceNames are the words for what can be switched off: the sources, the threads
// and groups that are parts of the source process, and profiles.
func SourceNames() []string { return sources.Switchable() }

// Capture is what of the configuration in force is kept with a run.
type Capture struct {
	Off        bool     `toml:"off" eg:"true"`                         // keep nothing of it
	Files      []string `toml:"files,path" eg:"['/etc/nginx/*.conf']"` // globs; checkpoint and revert may write these files
	Nginx      string   `toml:"nginx" eg:"'/usr/sbin/nginx'"`          // the program, or its call that ends in -T
	VCL        []string `toml:"vcl,path" eg:"['/etc/varnish/default.vcl']"`
	Units      []string `toml:"units" eg:"['app.service']"`
	Repository string   `toml:"repository,path" eg:"'.'"` // git work tree
	Schema     bool     `toml:"schema" eg:"true"`         // tables and indexes
}

// Probe configures whether each endpoint is asked alone at the end of a run, to count
// its statements.
type Probe struct {
	Allow       bool     `toml:"allow" eg:"true"`                              // do it at the end of `kasoku run`
	Requests    int      `toml:"requests" eg:"12"`                             // to each endpoint
	TargetsFile string   `toml:"targets_file,path" eg:"'probe.txt'"`           // in Vegeta's format; empty: the targets of the load, and what the access logs hold
	Base        string   `toml:"base" eg:"'http://127.0.0.1:8080'"`            // where the endpoints of logs are; empty: where the targets of the load are
	AllowPost   []string `toml:"allow_post" eg:"['POST /api/estate/nazotte']"` // endpoints that are asked although they are not GET or HEAD
}

// Trace configures whether the system calls of the service's processes are watched for a while.
type Trace struct {
	On    *bool         `toml:"on" eg:"true"`    // nil: where rights allow it, and it costs little
	For   time.Duration `toml:"for" eg:"'10s'"`  // so long
	After time.Duration `toml:"after" eg:"'5s'"` // the load's beginning
}

// Off reports whether nothing is to be watched.
func (t Trace) Off() bool { return t.On != nil && !*t.On }

// Asked reports whether it was asked for, whatever it costs.
func (t Trace) Asked() bool { return t.On != nil && *t.On }

// Safe is what kasoku may change by itself.
type Safe struct {
	Change bool `toml:"change" eg:"true"` // indexes and variables of the database, and take them back
}

// Autopilot is how `kasoku autopilot` lets the service begin anew.
type Autopilot struct {
	Reset   []string `toml:"reset,shell" eg:"'./reset.sh'"`                          // before each run: the data as each is to find it
	Restart []string `toml:"restart,shell" eg:"'systemctl restart app'"`             // after a variable of the database was set or put back
	Reload  []string `toml:"reload,shell" eg:"'nginx -t && systemctl reload nginx'"` // after files of nginx were edited or put back
}

// After is what `kasoku run` runs when its runs are made, such as a message to a channel.
type After struct {
	Command []string      `toml:"command,shell" eg:"'./announce.sh'"` // reads what was printed from its stdin
	Timeout time.Duration `toml:"timeout" eg:"'30s'"`                 // after which it is ended
}

// Answers are golden answers that changes must not alter.
type Answers struct {
	File     string   `toml:"file,path" eg:"'answers.json'"`                         // of kasoku answers record
	Requests []string `toml:"requests" eg:"['GET http://127.0.0.1:8080/api/items']"` // that are asked without a file: [METHOD ]URL
}

// Contract is what the clients of the service are promised. Without it the rules ask
// where they would have to know.
type Contract struct {
	Bots   string          `toml:"bots" eg:"'503'"` // what bots may get instead of an answer
	Routes []ContractRoute `toml:"routes"`
}

// A ContractRoute is what is promised of some routes.
type ContractRoute struct {
	Route   string         `toml:"route" eg:"'GET /api/trend'"`           // [METHOD ]PATTERN, as [kasoku.Terms] has it
	Stale   *time.Duration `toml:"stale" eg:"'1s'"`                       // how old an answer may be; nil: not said
	Limit   time.Duration  `toml:"limit" eg:"'2s'"`                       // within which an answer must come; 0: not said
	Failure string         `toml:"failure" eg:"'one point of the score'"` // what a failure costs
}

// Settings returns the contract as a run keeps it.
func (c *Contract) Settings() (out []kasoku.Setting) {
	if c.Bots != "" {
		out = append(out, kasoku.Setting{Scope: "app", Name: "contract.bots", Value: c.Bots})
	}
	for _, r := range c.Routes {
		out = append(out, kasoku.Terms{Route: r.Route, Stale: r.Stale, Limit: r.Limit, Failure: r.Failure}.Settings()...)
	}
	return out
}

// Finalize defines how the end of a contest is checked.
type Finalize struct {
	Units      []Unit        `toml:"units"`
	Initialize string        `toml:"initialize" eg:"'POST http://127.0.0.1/initialize'"`
	Limit      time.Duration `toml:"limit" eg:"'30s'"`                             // for initialize to answer
	Answers    []string      `toml:"answers" eg:"['GET http://127.0.0.1/']"`       // that a restart and initialize must not change
	Logs       []string      `toml:"logs,path" eg:"['/var/log/nginx/access.log']"` // that must not grow any more
	Wait       time.Duration `toml:"wait" eg:"'60s'"`                              // for a unit to come up
	Gap        time.Duration `toml:"gap" eg:"'15s'"`                               // between starts in the wrong order
}

// A Unit is a service that must come back after a restart. An empty command is
// that of systemctl.
type Unit struct {
	Name  string   `toml:"name" eg:"'app'"`
	Start string   `toml:"start" eg:"'systemctl start app'"`
	Stop  string   `toml:"stop" eg:"'systemctl stop app'"`
	Check string   `toml:"check" eg:"'curl -fsS http://127.0.0.1:8080/'"` // exits 0 when it is up; or a URL that answers then
	Needs []string `toml:"needs" eg:"['mysql']"`                          // units that must be up before it
}

// Default returns what an empty file says.
func Default() Config {
	return Config{
		Runs:     "runs",
		Interval: time.Second,
		Load:     LoadTable{Each: 10 * time.Second, Pause: time.Second, Timeout: 30 * time.Second},
		Capture:  Capture{Schema: true},
		Probe:    Probe{Requests: 12},
		Trace:    Trace{For: 10 * time.Second, After: 5 * time.Second},
		Servers:  declaredServers(),
		Finalize: Finalize{Wait: time.Minute, Gap: 5 * time.Second, Limit: 30 * time.Second},
		After:    After{Timeout: 30 * time.Second},
	}
}

// A Kind is how a run gets its load.
type Kind string

// The kinds of load.
const (
	NoLoad    Kind = ""           // the file names none
	Command   Kind = "command"    // a benchmark's command
	Targets   Kind = "targets"    // kasoku makes the load
	ForTime   Kind = "for"        // it comes from elsewhere; recorded for a time
	UntilIdle Kind = "until_idle" // it comes from elsewhere; recorded until it ends
)

// Kind returns how a run gets its load.
func (l *LoadTable) Kind() Kind {
	switch {
	case len(l.Command) > 0:
		return Command
	case len(l.Targets) > 0 || l.TargetsFile != "":
		return Targets
	case l.For > 0:
		return ForTime
	case l.UntilIdle > 0:
		return UntilIdle
	}
	return NoLoad
}
