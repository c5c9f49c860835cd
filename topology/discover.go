package topology

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/internal/onehost"
)

// limit is how long a look may take unless the caller says.
const limit = 3 * time.Second

// Options configure where to look. The zero value is this host.
type Options struct {
	Root  string        // directory that stands for /; empty: the real one
	Limit time.Duration // of the whole look; 0: 3 s

	// Run runs a program of the system, by its name, and returns what it printed on
	// both outputs. Nil: package command below the real root, nothing elsewhere.
	Run func(ctx context.Context, name string, args ...string) ([]byte, error)
	// Get asks a URL on loopback and returns the status and the start of the
	// answer. Nil: HTTP below the real root, nothing elsewhere.
	Get func(ctx context.Context, url string) (status int, body []byte, err error)
	// Ask sends a text to a service on this host and returns the start of its answer.
	// Nil: a connection below the real root, nothing elsewhere.
	Ask func(ctx context.Context, network, address, text string) (answer string, err error)
	// Own reports whether a service may be asked by these three: what is a stranger's gets no
	// request. Nil: servers may be asked, and no application.
	Own func(*Service) bool
}

// A Kind is the kind of a service.
type Kind string

// The kinds of services.
const (
	Nginx     Kind = "nginx"
	MySQL     Kind = "mysql" // MariaDB too
	App       Kind = "app"   // likely an application; Score says how likely
	Redis     Kind = "redis"
	Memcached Kind = "memcached"
	Varnish   Kind = "varnish"
	Carbon    Kind = "carbon" // go-carbon too
	Postgres  Kind = "postgresql"
	Proxy     Kind = "proxy" // a web server or proxy that is not nginx
	Other     Kind = "other" // listens, and is of the system
)

// A Listener is an address that a service accepts connections at.
type Listener struct {
	Network  string // tcp, unix
	Address  string // 127.0.0.1:8080, [::]:80, /run/mysqld/mysqld.sock
	Port     int    // of tcp
	Loopback bool   // no one outside of this host can connect
	Private  bool   // in a network namespace of its own, as in a container
}

// String returns the address as people write it.
func (l Listener) String() string {
	if l.Network == "unix" {
		return "unix:" + l.Address
	}
	return l.Address
}

// OnLoopback returns host:port at which this host reaches a TCP listener over loopback;
// empty when it cannot.
func (l Listener) OnLoopback() string {
	switch {
	case l.Network != "tcp" || l.Private:
		return ""
	case l.Loopback:
		return l.Address
	}
	return onLoopback(l)
}

// A Service is a program that runs on this host, with all of its processes.
type Service struct {
	Kind       Kind
	Name       string // of the process
	PID        int    // of the first process: its master
	PIDs       []int  // all of them, the master first
	UID        int
	Exe        string // empty when it cannot be read
	Dir        string // working directory; empty when it cannot be read
	Unit       string // systemd unit; empty without
	Container  string // short id; empty outside of one
	Listen     []Listener
	Config     []string // files that it read, as far as known
	Repository string   // git work tree that the files of an application lie in
	How        string   // how it was found

	Go    *GoProgram // of a program that Go built
	MySQL *Database  // of a MySQL service
	Nginx *WebServer // of an nginx service

	Redis   *CacheServer   // of a Redis service
	Varnish *VarnishServer // of a Varnish service
	Carbon  *CarbonServer  // of a carbon service

	Score int      // of an application: how likely it is the one to measure
	Why   []string // what the score is made of
}

// Port returns the first TCP port of the service, 0 when it has none.
func (s *Service) Port() int {
	for _, l := range s.Listen {
		if l.Port != 0 {
			return l.Port
		}
	}
	return 0
}

// The kinds of logs.
const (
	AccessLog = "access"
	ErrorLog  = "error"
	AppLog    = "app"
	SlowLog   = "slow"
)

// A Log is a file that a service writes.
type Log struct {
	Kind        string // AccessLog, ErrorLog, AppLog or SlowLog
	Path        string
	Service     string // name and pid: "nginx, pid 812"
	Format      string // name of nginx's log_format; level of its error log; empty when not known
	Spec        string // text of that log_format, for the lines to come; empty when not known
	RequestTime bool   // the log_format has the time that a request took
	Twin        string // path of a log before it that the same block of nginx writes the same requests to
	How         string
}

// A Note names something that could not be seen, and the reason.
type Note struct {
	What string
	Why  string
	Hint string // what would help; may be empty
}

// Found is what runs on this host.
type Found struct {
	Host        string
	User        string // who looked
	UID         int
	Systemd     bool      // it runs the system
	Docker      string    // path of its socket; empty without
	Services    []Service // by kind, the likeliest application first
	Logs        []Log
	OptionFiles []string // of MySQL, with those that they include
	ClientFile  string   // the user's own ~/.my.cnf with a [client] group; empty without
	Notes       []Note
	Took        time.Duration
}

// Of returns the services of a kind.
func (f *Found) Of(kind Kind) []*Service {
	var out []*Service
	for i := range f.Services {
		if f.Services[i].Kind == kind {
			out = append(out, &f.Services[i])
		}
	}
	return out
}

// LogsOf returns the logs of a kind.
func (f *Found) LogsOf(kind string) []Log {
	var out []Log
	for _, l := range f.Logs {
		if l.Kind == kind {
			out = append(out, l)
		}
	}
	return out
}

// Look looks at what runs here. What cannot be read is in the Notes; it fails
// only when there is no /proc.
func Look(ctx context.Context, o Options) (*Found, error) {
	begin := time.Now()
	if o.Limit == 0 {
		o.Limit = limit
	}
	ctx, cancel := context.WithTimeout(ctx, o.Limit)
	defer cancel()
	l := newLooker(ctx, o)
	defer l.release()
	procs, err := l.view.processes()
	if err != nil {
		return nil, fmt.Errorf("look at processes: %w", err)
	}
	for _, part := range l.parts(procs) {
		if err := contain.Run(contain.Part{Kind: contain.Check, Name: part.name}, part.look); err != nil {
			l.view.note("discovery: "+part.name, err.Error(), "")
			l.subjects = slices.DeleteFunc(l.subjects, func(s *subject) bool { return s.Kind == part.describes })
		}
	}
	if ctx.Err() != nil {
		l.view.note("the whole host", "the look took more than "+o.Limit.String(), "")
	}
	l.found.Notes, l.found.Took = l.view.notes, time.Since(begin)
	return l.found, nil
}

// A part is one thing that is looked for. One that panics is a note; the others are
// looked for.
type part struct {
	name      string
	look      func()
	describes Kind // services that are not found when it is lost: the others rely on what it says of them
}

// parts returns what is looked for, in that order.
func (l *looker) parts(procs []*process) []part {
	return []part{
		{name: "host", look: l.describeHost},
		{name: "services", look: func() { l.services(procs) }},
		{name: "nginx", look: l.nginx, describes: Nginx},
		{name: "databases", look: l.databases, describes: MySQL},
		{name: "applications", look: func() { l.applications().score() }},
		{name: "clients", look: func() { l.applications().nameClients() }},
		{name: "what services report", look: l.findStatusPages},
		{name: "logs of applications", look: func() { l.applications().findLogs() }},
		{name: "order", look: l.list},
	}
}

// A looker is one look.
type looker struct {
	view     *view
	ask      asker
	found    *Found
	subjects []*subject
	links    []connection
	held     []*foreign.Process
	doubts   int // of processes that are not believed
}

func newLooker(ctx context.Context, o Options) *looker {
	v := &view{ctx: ctx, tree: tree{o.Root}}
	ask := asker{view: v, own: o.Own, run: o.Run, get: o.Get, ask: o.Ask}
	if v.tree.real() && ask.run == nil {
		ask.run = runProgram
	}
	if v.tree.real() && ask.get == nil {
		ask.get = getLoopback
	}
	if v.tree.real() && ask.ask == nil {
		ask.ask = askLoopback
	}
	return &looker{view: v, ask: ask, found: &Found{}}
}

// of returns the services of a kind with what was seen of them.
func (l *looker) of(kind Kind) []*subject { return ofKind(l.subjects, kind) }

func ofKind(all []*subject, kind Kind) (out []*subject) {
	for _, s := range all {
		if s.Kind == kind {
			out = append(out, s)
		}
	}
	return out
}

// A view is this host, as far as it can be seen in the time of the look.
type view struct {
	ctx   context.Context
	tree  tree
	notes []Note
}

// note keeps what could not be seen, each once.
func (v *view) note(what, why, hint string) {
	n := Note{what, why, hint}
	if !slices.Contains(v.notes, n) {
		v.notes = append(v.notes, n)
	}
}

// unreadable notes a file that is there and may not be read.
func (v *view) unreadable(what string, err error) {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	v.note(what, err.Error(), "")
}

// A subject is a service with what was seen of its first process, for the time of the
// look.
type subject struct {
	*Service
	args []string
	fds  map[int]string   // open files and sockets
	held *foreign.Process // that is believed; nil in a tree that is no real host
}

func (l *looker) describeHost() {
	f := l.found
	f.UID = os.Geteuid()
	f.User = fmt.Sprintf("uid %d", f.UID)
	if u, err := user.Current(); err == nil {
		f.User = u.Username
	}
	if name, err := l.view.tree.read("/proc/sys/kernel/hostname"); err == nil {
		f.Host = strings.TrimSpace(string(name))
	}
	f.Systemd = l.view.tree.isDir("/run/systemd/system") // sd_booted(3)
	for _, path := range []string{"/run/docker.sock", "/var/run/docker.sock"} {
		if l.view.tree.exists(path) {
			f.Docker = path
			break
		}
	}
}

// kindOrder is the order in which services are listed.
var kindOrder = []Kind{Nginx, Proxy, Varnish, App, MySQL, Postgres, Redis, Memcached, Carbon, Other}

// list lists the services in the order of a request's way, the likeliest
// application first.
func (l *looker) list() {
	for _, s := range l.subjects {
		l.found.Services = append(l.found.Services, *s.Service)
	}
	slices.SortStableFunc(l.found.Services, func(a, b Service) int {
		if d := slices.Index(kindOrder, a.Kind) - slices.Index(kindOrder, b.Kind); d != 0 {
			return d
		}
		if d := b.Score - a.Score; d != 0 {
			return d
		}
		return a.PID - b.PID
	})
}

// runProgram runs one of the system's programs with both outputs together. A look at a
// host that is busy must not wait long for one program.
func runProgram(ctx context.Context, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	out := command.NewTail(8 << 20)
	_, err := command.Run(ctx, command.Spec{Path: name, Args: args, Trusted: true, Stdout: out, Stderr: out,
		Grace: 100 * time.Millisecond})
	return out.Bytes(), err
}

// getLoopback asks a URL without following it elsewhere.
func getLoopback(ctx context.Context, url string) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond) // loopback answers in one
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("User-Agent", "kasoku")
	res, err := onehost.NewClient(&http.Transport{DisableKeepAlives: true}, 0).Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	return res.StatusCode, body, err
}
