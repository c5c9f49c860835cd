package config

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// Validate refuses what makes no sense, such as two kinds of load. It changes
// nothing and looks at no file. [Load] has called it already.
func (c *Config) Validate() error {
	all := c.mistakes()
	if len(all) == 0 {
		return nil
	}
	return &Error{Path: c.Path, Key: all[0].key(), Text: all[0].text, hint: all[0].hintOf()}
}

// mistakes returns everything that makes no sense.
func (c *Config) mistakes() []mistake {
	var v validator
	if c.Interval < 100*time.Millisecond {
		v.fail("interval", "", "%s: want at least 100ms", c.Interval)
	}
	if c.Runs == "" {
		v.fail("runs", "leave it out for "+Default().Runs, "names no directory")
	}
	c.Service.validate(&v)
	if c.Price.PerHour < 0 || !finite(c.Price.PerHour) {
		v.fail("price.per_hour", "", "want a price, not %v", c.Price.PerHour)
	}
	v.load(&c.Load)
	v.mysql(&c.MySQL)
	v.contract(&c.Contract)
	v.answers(&c.Answers)
	v.finalize(&c.Finalize)
	v.probe(&c.Probe)
	v.trace(&c.Trace)
	v.servers(c)
	v.links(c.Serve.Links)
	if c.After.Timeout <= 0 {
		v.fail("after.timeout", "leave it out for 30s", "%s: want more than none", c.After.Timeout)
	}
	for i, name := range c.Sources.Off {
		if !slices.Contains(SourceNames(), name) {
			v.fail(fmt.Sprintf("sources.off.%d", i), "the sources are "+strings.Join(SourceNames(), ", "), "%q: no such source", name)
		}
	}
	if c.Sources.Fast && c.Interval%FastInterval != 0 {
		v.fail("interval", "", "%s: want a multiple of 100ms, as sources.fast is set", c.Interval)
	}
	for _, pid := range c.Watch.PIDs {
		if pid <= 0 {
			v.fail("watch.pids", "", "%d: no process id", pid)
		}
	}
	v.urls("watch.expvar", c.Watch.Expvar, "'http://127.0.0.1:6060/debug/vars'")
	v.urls("watch.pprof", c.Watch.Pprof, "'http://127.0.0.1:6060/debug/pprof/'")
	return v.mistakes
}

// A validator collects mistakes by dotted keys of this package's own.
type validator struct{ mistakes []mistake }

func (v *validator) fail(key, hint, format string, args ...any) {
	v.mistakes = append(v.mistakes, mistake{path: strings.Split(key, "."), text: fmt.Sprintf(format, args...), hint: hint})
}

func (v *validator) load(l *LoadTable) {
	v.oneKind(l)
	if len(l.Command) > 0 && strings.TrimSpace(l.Command[0]) == "" {
		v.fail("load.command", "", "names no program")
	}
	for i, target := range l.Targets {
		if err := checkRequest(target, true); err != nil {
			v.fail(fmt.Sprintf("load.targets.%d", i), "such as 'GET http://127.0.0.1:8080/'", "%v", err)
		}
	}
	for i, rate := range l.Steps {
		if rate <= 0 || !finite(rate) {
			v.fail(fmt.Sprintf("load.steps.%d", i), "requests per second", "%s: want a rate above 0", unit.Plain(rate))
		}
	}
	if l.Kind() == Targets && len(l.Steps) == 0 {
		key := "load.targets"
		if l.TargetsFile != "" {
			key = "load.targets_file"
		}
		v.fail(key, "add steps = [100, 200, 400], in requests per second", "how much load to make is not said")
	}
	if l.Kind() == Targets && l.Each < time.Second {
		v.fail("load.each", "", "%s: want at least 1s, steps begin on whole seconds", l.Each)
	}
	v.sending(l)
	if l.On != "" {
		if err := checkRequest(l.On, false); err != nil {
			v.fail("load.on", "such as 'POST /initialize'", "%v", err)
		}
		if k := l.Kind(); k != ForTime && k != UntilIdle {
			v.fail("load.on", "say with for or until_idle when the recording ends", "is for a load that comes from elsewhere")
		}
	}
	if (l.Score.Set() || l.Pass.Set()) && l.Kind() != Command {
		key := "load.score"
		if !l.Score.Set() {
			key = "load.pass"
		}
		v.fail(key, "`kasoku score RUN 12345` takes a score that a "+
			"portal shows", "is read from the output of a command, and load.command is not set")
	}
	v.pattern("load.score", l.Score, true)
	v.pattern("load.pass", l.Pass, false)
}

// sending checks how load that kasoku makes is sent, and refuses to say so of load
// that it does not make. The hosts of allow serve kasoku attack too.
func (v *validator) sending(l *LoadTable) {
	standard := Default().Load
	for _, k := range []struct {
		key string
		set bool
	}{
		{"from", len(l.From) > 0}, {"engine", l.Engine != ""}, {"pacing", l.Pacing != ""}, {"spacing",
			l.Spacing != ""}, {"max_in_flight", l.MaxInFlight != 0},
		{"timeout", l.Timeout != standard.Timeout}, {"variables", l.Variables != nil}, {"csv", l.CSV != ""}, {"seed", l.Seed != 0},
	} {
		if k.set && l.Kind() != Targets {
			v.fail("load."+k.key, "add targets = ['GET http://127.0.0.1:8080/']", "is for load that kasoku makes, and "+
				"load.targets is not set")
		}
	}
	if len(l.From) > 0 && l.CSV != "" {
		v.fail("load.csv", "write the values into the targets", "the hosts of load.from take no table from another")
	}
	if len(l.From) > 0 && l.Settle > 0 {
		v.fail("load.settle", "leave it out", "load of the hosts of load.from ends with its last step")
	}
	v.oneOf("load.engine", l.Engine, Engines())
	v.oneOf("load.pacing", l.Pacing, Pacings())
	if number, burst := strings.CutPrefix(l.Spacing, "burst:"); burst {
		if n, err := strconv.ParseUint(number, 10, 31); err != nil || n == 0 {
			v.fail("load.spacing", "such as 'burst:100'", "%q: want a whole number of requests", number)
		}
	} else {
		v.oneOf("load.spacing", l.Spacing, []string{"even", "poisson", "burst:N"})
	}
	if l.MaxInFlight < 0 {
		v.fail("load.max_in_flight", "leave it out for as many as there can be", "%d: want at least 1", l.MaxInFlight)
	}
	if l.Timeout <= 0 {
		v.fail("load.timeout", "leave it out for 30s", "%s: want more than none", l.Timeout)
	}
	if l.Seed < 0 {
		v.fail("load.seed", "", "%d: want a whole number above 0", l.Seed)
	}
	if l.CSV != "" && l.Variables != nil && !*l.Variables {
		v.fail("load.csv", "leave one out", "contradicts load.variables")
	}
	for i, host := range l.Allow {
		if host == "" || strings.ContainsAny(host, "/ \t") {
			v.fail(fmt.Sprintf("load.allow.%d", i), "such as 'example.com' or '203.0.113.7'", "%q: want a host as it "+
				"stands in a URL, without port", host)
		}
	}
}

// oneOf refuses a word that is none of those.
func (v *validator) oneOf(key, word string, words []string) {
	if word == "" || slices.Contains(words, word) {
		return
	}
	hint := "it is one of " + strings.Join(words, ", ")
	if near, ok := unit.Nearest(word, words); ok {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	v.fail(key, hint, "%q: no such word", word)
}

// oneKind refuses two kinds of load, and steps without targets.
func (v *validator) oneKind(l *LoadTable) {
	kinds := []struct {
		key string
		set bool
	}{
		{"command", len(l.Command) > 0}, {"targets", len(l.Targets) > 0}, {"targets_file", l.TargetsFile != ""},
		{"for", l.For > 0}, {"until_idle", l.UntilIdle > 0},
	}
	var set []string
	for _, k := range kinds {
		if k.set {
			set = append(set, k.key)
		}
	}
	if len(set) > 1 {
		last := set[len(set)-1]
		v.fail("load."+last, "keep one: command runs a benchmark, targets make load, for and until_idle record what "+
			"comes from elsewhere",
			"contradicts load.%s: a run has one kind of load", set[0])
	}
	if len(l.Steps) > 0 && l.Kind() != Targets {
		v.fail("load.steps", "add targets = ['GET http://127.0.0.1:8080/']", "is for load that kasoku makes, and "+
			"load.targets is not set")
	}
}

// pattern checks a pattern; the one for a value needs a group.
func (v *validator) pattern(key string, p Pattern, value bool) {
	if p.JSON != "" && p.Regexp != "" {
		v.fail(key+".regexp", "keep one", "contradicts %s.json", key)
	}
	re, err := regexp.Compile(p.Regexp)
	switch {
	case err != nil:
		v.fail(key+".regexp", "see https://pkg.go.dev/regexp/syntax; write it in single quotes, so that \\ stays as it is", "%v", err)
	case p.Regexp != "" && value && re.NumSubexp() == 0:
		v.fail(key+".regexp", "such as 'score: ([0-9.]+)'", "%q: want a group ( ) around the number", p.Regexp)
	}
}

func (v *validator) mysql(m *MySQL) {
	if m.Join != "" && !slices.Contains([]string{"auto", "tail", "table", "off"}, m.Join) {
		v.fail("mysql.join", "auto, tail, table or off", "%q is none of them", m.Join)
	}
	if _, err := unit.ParseLeast(m.MinFree); m.MinFree != "" && err != nil {
		v.fail("mysql.min_free", "", "%v", err)
	}
	switch {
	case m.Sample < 0:
		v.fail("mysql.sample", "such as sample = 101", "want 1 or more")
	case m.Sample > 1 && (m.Join == "tail" || m.Join == "table"):
		v.fail("mysql.sample", "leave one of them out", "a part of the statements contradicts mysql.join")
	case m.Sample > 1 && m.SlowLog != nil && !*m.SlowLog:
		v.fail("mysql.sample", "leave one of them out", "is of the slow log, and contradicts mysql.slow_log")
	}
	if m.DSN != "" && m.DefaultsFile != "" {
		v.fail("mysql.defaults_file", "keep one; the file keeps the password out of "+Name, "contradicts mysql.dsn")
	}
	if len(m.CountRows) > 0 && !m.Set() {
		v.fail("mysql.count_rows", "add dsn or defaults_file", "needs a database to count in")
	}
}

func (v *validator) links(all []string) {
	for i, text := range all {
		if _, err := ParseLink(text); err != nil {
			v.fail(fmt.Sprintf("serve.links.%d", i),
				"such as 'Grafana=https://grafana.example.com/d/kasoku?from={from_ms}&to={to_ms}'", "%q: %v", text, err)
		}
	}
}

// servers checks the tables that sources declare.
func (v *validator) servers(c *Config) {
	for _, s := range c.Servers {
		for _, fault := range s.Check() {
			key := s.Source.Table
			if fault.Key != "" {
				key += "." + fault.Key
			}
			v.fail(key, fault.Hint, "%s", fault.Text)
		}
	}
}

func (v *validator) probe(p *Probe) {
	if p.Requests < 2 || p.Requests > 1000 {
		v.fail("probe.requests", "leave it out for 12", "%d: want 2 to 1000", p.Requests)
	}
	if p.Base != "" {
		if err := checkRequest("GET "+p.Base, true); err != nil {
			v.fail("probe.base", "such as 'http://127.0.0.1:8080'", "%q: want a URL that begins with http://", p.Base)
		}
	}
	for i, endpoint := range p.AllowPost {
		if err := checkRequest(endpoint, false); err != nil {
			v.fail(fmt.Sprintf("probe.allow_post.%d", i), "such as 'POST /api/search'", "%v", err)
		}
	}
}

// mostTraced is how long a trace may take: what watches costs what is watched something.
const mostTraced = time.Minute

func (v *validator) trace(t *Trace) {
	if t.For < time.Second || t.For > mostTraced {
		v.fail("trace.for", "leave it out for 10 s", "%s: want 1s to %s", t.For, mostTraced)
	}
	if t.After < 0 {
		v.fail("trace.after", "leave it out for 5 s", "%s: want no negative time", t.After)
	}
}

// answers refuses requests that may change data.
func (v *validator) answers(a *Answers) {
	for i, request := range a.Requests {
		whole := request
		if !strings.Contains(request, " ") {
			whole = "GET " + request
		}
		key := fmt.Sprintf("answers.requests.%d", i)
		if err := checkRequest(whole, true); err != nil {
			v.fail(key, "such as 'GET http://127.0.0.1:8080/'", "%v", err)
		} else if method, _, _ := strings.Cut(whole, " "); method != "GET" && method != "HEAD" {
			v.fail(key, "", "%q: want GET or HEAD, others may change data", request)
		}
	}
}

// contract refuses routes that no request can have, and durations below zero.
func (v *validator) contract(c *Contract) {
	seen := map[string]bool{}
	for i, r := range c.Routes {
		key := fmt.Sprintf("contract.routes.%d", i)
		route := r.Route
		if strings.HasPrefix(route, "/") {
			route = "GET " + route // of all methods
		}
		const such = "such as 'GET /api/items/*'"
		switch err := checkRequest(route, false); {
		case r.Route == "":
			v.fail(key, "add route = 'GET /api/items/*'", "names no route")
		case err != nil:
			v.fail(key+".route", such, "%q: want a method and a path that begins with /, or the path alone", r.Route)
		case strings.Count(route, " ") > 1:
			v.fail(key+".route", such, "%q: want one space, after the method", r.Route)
		case seen[r.Route]:
			v.fail(key+".route", "", "%q is there twice", r.Route)
		}
		seen[r.Route] = true
		if r.Stale != nil && *r.Stale < 0 {
			v.fail(key+".stale", "'0s' for what must be fresh", "%s: want 0s or more", *r.Stale)
		}
		if r.Limit < 0 {
			v.fail(key+".limit", "leave it out where there is none", "%s: want more than none", r.Limit)
		}
	}
	if c.Bots != "" && c.Bots != "503" {
		v.fail("contract.bots", "leave it out where bots must be answered", "%q: want '503'", c.Bots)
	}
}

func (v *validator) finalize(f *Finalize) {
	if f.Initialize != "" {
		if err := checkRequest(f.Initialize, true); err != nil {
			v.fail("finalize.initialize", "such as 'POST http://127.0.0.1/initialize'", "%v", err)
		}
	}
	for i, request := range f.Answers {
		if err := checkRequest(request, true); err != nil {
			v.fail(fmt.Sprintf("finalize.answers.%d", i), "such as 'GET http://127.0.0.1/'", "%v", err)
		}
	}
	if f.Limit <= 0 {
		v.fail("finalize.limit", "leave it out for 30s", "%s: want more than none", f.Limit)
	}
	names := make([]string, len(f.Units))
	for i, u := range f.Units {
		key := fmt.Sprintf("finalize.units.%d", i)
		if u.Name == "" {
			v.fail(key, "add name = 'app'", "has no name")
		} else if slices.Contains(names[:i], u.Name) {
			v.fail(key+".name", "", "%q is there twice", u.Name)
		}
		names[i] = u.Name
	}
	for i, u := range f.Units {
		for _, need := range u.Needs {
			if !slices.Contains(names, need) {
				v.fail(fmt.Sprintf("finalize.units.%d.needs", i), "the units are "+strings.Join(names, ", "), "%q: no such unit", need)
			}
		}
	}
	if name, ok := cycle(f.Units); ok {
		v.fail("finalize.units", "", "%q needs itself in the end", name)
	}
}

// cycle returns a unit that needs itself, directly or through others.
func cycle(units []Unit) (string, bool) {
	needs := map[string][]string{}
	for _, u := range units {
		needs[u.Name] = append(needs[u.Name], u.Needs...)
	}
	for _, u := range units {
		seen := map[string]bool{}
		todo := slices.Clone(u.Needs)
		for len(todo) > 0 {
			name := todo[0]
			todo = todo[1:]
			if name == u.Name {
				return name, true
			}
			if !seen[name] {
				seen[name] = true
				todo = append(todo, needs[name]...)
			}
		}
	}
	return "", false
}

// checkRequest refuses what is not METHOD URL, or METHOD /path.
func checkRequest(s string, whole bool) error {
	method, at, ok := strings.Cut(s, " ")
	if !ok || method == "" || strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return fmt.Errorf("%q: want a method and where it goes", s)
	}
	at = strings.TrimSpace(at)
	if !whole {
		if !strings.HasPrefix(at, "/") {
			return fmt.Errorf("%q: want a path that begins with /", s)
		}
		return nil
	}
	u, err := url.Parse(at)
	if err != nil {
		return fmt.Errorf("%q: not a URL", s)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%q: want a URL that begins with http://", s)
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// urls refuses addresses of a list that are no URLs of a web server.
func (v *validator) urls(key string, list []string, such string) {
	for i, address := range list {
		if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			v.fail(fmt.Sprintf("%s.%d", key, i), "such as "+such, "%q: no URL", address)
		}
	}
}

// validate checks the table service.
func (s *Service) validate(v *validator) {
	if s.URL != "" {
		u, err := url.Parse(s.URL)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
			v.fail("service.url", "", "want an URL such as http://127.0.0.1:8080/, not %q", s.URL)
		}
	}
	if s.Port < 0 || s.Port > 65535 {
		v.fail("service.port", "", "want a port from 1 to 65535, not %d", s.Port)
	}
	if s.PID < 0 {
		v.fail("service.pid", "", "want the number of a process, not %d", s.PID)
	}
	if s.Language != "" && !slices.Contains(kasoku.Languages, s.Language) {
		v.fail("service.language", "", "want one of %s, not %q", strings.Join(kasoku.Languages, ", "), s.Language)
	}
}
