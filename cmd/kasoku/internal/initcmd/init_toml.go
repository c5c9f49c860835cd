package initcmd

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/topology"
)

// A tomlWriter writes a commented file. What it is given may come from file and
// process names, so nothing of it can end a comment or a string.
type tomlWriter struct{ b strings.Builder }

// commentWidth is where comments are wrapped.
const commentWidth = 88

// say writes a comment, wrapped.
func (w *tomlWriter) say(format string, args ...any) {
	line := "#"
	for _, word := range strings.Fields(cli.PlainLine(fmt.Sprintf(format, args...))) {
		if len(line)+1+len(word) > commentWidth {
			w.b.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	w.b.WriteString(line + "\n")
}

func (w *tomlWriter) blank() { w.b.WriteString("\n") }

// table begins a table with what it is for.
func (w *tomlWriter) table(name, about string) {
	w.blank()
	w.say("%s", about)
	w.b.WriteString("[" + name + "]\n")
}

// set writes a value that is in force, below how it was found.
func (w *tomlWriter) set(key, value, how string) {
	if how != "" {
		w.say("%s", how)
	}
	w.b.WriteString(key + " = " + value + "\n")
}

// example writes a value that is not in force.
func (w *tomlWriter) example(key, value, about string) {
	if about != "" {
		w.say("%s", about)
	}
	w.b.WriteString("# " + key + " = " + value + "\n")
}

// list writes a list that is in force or, when it is empty, its example.
func (w *tomlWriter) list(key string, values []string, how, example, about string) {
	if len(values) == 0 {
		w.example(key, example, about)
		return
	}
	w.set(key, tomlList(values), how)
}

// part writes a part of the file. Of one that panics a comment is left; the others are
// written.
func (w *tomlWriter) part(name string, write func(*tomlWriter)) {
	var own tomlWriter
	if bug := contain.Run(contain.Part{Kind: contain.Check, Name: "table " + name}, func() { write(&own) }); bug != nil {
		w.blank()
		w.say("The part about %s is lost: %s.", name, bug.Error())
		return
	}
	w.b.WriteString(own.b.String())
}

// QuoteTOML quotes a text: literally where that can be, else with escapes.
func QuoteTOML(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if !strings.ContainsFunc(s, func(r rune) bool { return r == '\'' || r < ' ' || r == 0x7f }) {
		return "'" + s + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// tomlList writes a list in one line where it fits, else one value a line.
func tomlList(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = QuoteTOML(v)
	}
	if line := "[" + strings.Join(quoted, ", ") + "]"; len(line) <= commentWidth-20 {
		return line
	}
	return "[\n  " + strings.Join(quoted, ",\n  ") + ",\n]"
}

// TOML is the file that init writes.
func (s *Surveyed) TOML(now time.Time) string {
	w := &tomlWriter{}
	w.say("kasoku.toml: what `kasoku run` measures here, and how.")
	w.say("Written by `kasoku init` on %s, %s. `kasoku doctor` checks it.", s.found.Host, now.Format("2 Jan 2006"))
	w.say("Lines that begin with # are not in force. docs/config.md explains every key.")
	w.blank()
	w.set("project", QuoteTOML(filepath.Base(s.Dir)), "The name of the directory.")
	w.example("interval", "'1s'", "Between samples.")
	w.part("service", s.tomlService)
	w.part("load", s.tomlLoad)
	w.part("mysql", s.tomlMySQL)
	w.part("logs", s.tomlLogs)
	w.part("servers", s.tomlServers)
	w.part("watch", s.tomlWatch)
	w.part("capture", s.tomlCapture)
	w.table("settings", "Settings of the application that kasoku cannot see; they are kept with each run.")
	w.example("pool.max_idle", "100", "")
	w.table("answers", "Golden answers that a change must not alter: `kasoku answers record` keeps them.")
	w.example("file", "'answers.json'", "")
	w.table("safe", "What `kasoku try` and `kasoku autopilot` may do here by themselves.")
	w.example("change", "true", "Make indexes, set variables of the database, edit the files of [capture]; and take it back.")
	w.table("autopilot", "How `kasoku autopilot` lets the service begin anew.")
	w.example("reset", "'./reset.sh'", "Before each run: the data as each is to find it.")
	w.example("restart", "'systemctl restart app'", "After a variable of the database was set or put back.")
	w.example("reload", QuoteTOML(s.reload()), "After files of nginx were edited or put back.")
	w.part("contract", s.tomlContract)
	w.part("finalize", s.tomlFinalize)
	w.table("price", "What the measured machines cost, to compare score per price.")
	w.example("per_hour", "0.34", "")
	w.example("currency", "'USD'", "")
	return w.b.String()
}

func (s *Surveyed) tomlLoad(w *tomlWriter) {
	w.table("load", "How a run gets its load. Exactly one of the four kinds is in force.")
	w.say("1. A benchmark that is started here: its command, and where its output has the score.")
	if s.bench != "" {
		w.set("command", QuoteTOML(s.bench), "It lies in this directory.")
	} else {
		w.example("command", "'./bench.sh'", "")
	}
	w.example("score.json", "'score'", "a path in the last JSON object of the output, or")
	w.example("score.regexp", "'score: ([0-9.]+)'", "a regular expression; its first group is the number")
	w.example("pass.json", "'pass'", "")
	w.say("2. A benchmark that is started elsewhere, as by a contest's portal: record from a request on until no " +
		"more come. Both are seen in the access log.")
	logs := len(s.found.LogsOf(topology.AccessLog)) > 0
	elsewhere := s.bench == "" && logs
	if elsewhere {
		w.set("until_idle", "'10s'", "")
	} else {
		w.example("until_idle", "'10s'", "")
	}
	w.example("on", "'POST /initialize'", "")
	w.say("3. No load that is known: record for so long.")
	if s.bench == "" && !elsewhere {
		w.set("for", "'60s'", "")
	} else {
		w.example("for", "'60s'", "")
	}
	w.say("4. Load that kasoku makes: requests, and the rates of a ladder in requests per second.")
	w.example("targets", "["+QuoteTOML("GET "+s.url())+"]", "")
	w.example("steps", "[100, 200, 400]", "")
	w.example("each", "'10s'", "")
	w.example("spacing", "'poisson'", "Evenly spaced requests are the default; burst:100 makes bursts.")
	w.example("allow", "['example.com']", "Only this host and private networks are loaded, and what is named here.")
}

// url is where requests are likely to go: the web server, else the application.
func (s *Surveyed) url() string {
	if s.of != nil && s.of.named.URL != "" {
		return s.of.named.URL
	}
	for _, kind := range []topology.Kind{topology.Nginx, topology.App} {
		for _, v := range s.found.Of(kind) {
			switch p := v.Port(); p {
			case 0:
			case 80:
				return "http://127.0.0.1/"
			default:
				return fmt.Sprintf("http://127.0.0.1:%d/", p)
			}
		}
	}
	return "http://127.0.0.1:8080/"
}

// root is the address of the service's root, which ends with a slash.
func (s *Surveyed) root() string {
	u, err := url.Parse(s.url())
	if err != nil || u.Host == "" {
		return s.url()
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}).String()
}

func (s *Surveyed) tomlMySQL(w *tomlWriter) {
	w.table("mysql", "The MySQL or MariaDB to watch. A password belongs into an option file of your own (chmod "+
		"600), not in here.")
	found := "No database runs here as far as can be seen."
	if s.of != nil { // others may have theirs
		found = "Which database is this service's is not seen: no connection of it was open. Name it with --mysql, or " +
			"look while requests come."
	}
	for _, v := range s.found.Of(topology.MySQL) {
		found = ServiceText(v) + " runs here"
		if s.DBErr != nil {
			found += ", and did not let us in (" + s.DBErr.Error() + ")"
		}
		found += "."
	}
	named := "As was said"
	if s.DBErr != nil {
		named += "; it did not let us in: " + s.DBErr.Error()
	}
	switch {
	case s.of != nil && s.of.named.DSN != "" && s.db.DefaultsFile != "":
		w.set("defaults_file", QuoteTOML(s.db.DefaultsFile), named+".")
	case s.of != nil && s.of.named.DSN != "":
		w.set("dsn", QuoteTOML(s.db.DSN), named+".")
	case s.db.DefaultsFile != "":
		w.set("defaults_file", QuoteTOML(s.db.DefaultsFile), fmt.Sprintf("It let us in as %s (%s).", s.db.User, s.db.server))
	case s.db.DSN != "":
		w.set("dsn", QuoteTOML(s.db.DSN), fmt.Sprintf("It let us in as %s, %s (%s).", s.db.User, s.db.how, s.db.server))
	default:
		w.say("%s", found)
		w.example("defaults_file", "'~/.my.cnf'", "")
		w.example("dsn", "'app@unix(/run/mysqld/mysqld.sock)/shop'", "")
	}
	s.tomlOthers(w)
	if len(s.db.databases) > 1 && !s.sharesDatabase() {
		w.say("Databases: %s.", strings.Join(s.db.databases, ", "))
	}
	w.example("slow_log", "false", "The slow log is switched on for a run where the user may do that, and put back.")
	w.example("digests", "true", "Statement digests of performance_schema.")
	w.example("count_rows", "['shop.users']", "Tables that are counted before and after; they must have grown by "+
		"the successful writes.")
}

// sharesDatabase reports whether other services use the database's server: some of its databases
// are theirs then.
func (s *Surveyed) sharesDatabase() bool {
	return s.of != nil && slices.ContainsFunc(s.of.service.Members, func(m kasoku.Member) bool {
		return m.Role == kasoku.RoleDatabase && m.Others > 0
	})
}

// tomlOthers names the database servers that run here beside the one in force.
func (s *Surveyed) tomlOthers(w *tomlWriter) {
	if len(s.db.others) == 0 {
		return
	}
	w.say("The database is %s. Others that run here:", s.db.choice())
	for _, n := range s.db.others {
		about := ServiceText(n.service)
		if n.refused != nil {
			about += " lets no one in without a password"
		}
		if c := n.service.MySQL.Clients; len(c) > 0 {
			about += "; connected: " + strings.Join(c, ", ")
		}
		w.example("dsn", QuoteTOML(n.dsn), about+".")
	}
}

func (s *Surveyed) tomlLogs(w *tomlWriter) {
	w.table("logs", "Logs that are read for exactly the time of a run. They are never changed.")
	for _, l := range []struct{ key, kind, example, about string }{
		{"access", topology.AccessLog, "['/var/log/nginx/access.log']", "No access log was found."},
		{"app", topology.AppLog, "['/var/log/app.log']", "No file that the application writes its messages to was found."},
		{"error", topology.ErrorLog, "['/var/log/nginx/error.log']", "No error log was found."},
	} {
		var paths []string
		doubles := s.doubles(l.kind)
		for _, log := range s.found.LogsOf(l.kind) {
			if l.kind == topology.AppLog && !slices.ContainsFunc(LikelyApps(s.found), func(v *topology.Service) bool { return log.Service == v.Label() }) {
				continue
			}
			if slices.Contains(paths, log.Path) {
				continue
			}
			if other := doubles[log.Path]; other != "" {
				w.say("Left out: %s: %s (%s). It has requests that %s has, too; with both each would "+
					"count twice.", log.Path, log.How, log.Service, other)
				continue
			}
			paths = append(paths, log.Path)
			w.say("%s", s.logText(log))
		}
		w.list(l.key, paths, "", l.example, l.about)
		if l.kind == topology.AppLog && len(paths) > 0 {
			w.set("quiet", "true", "These were found, not named: that one of them gains no line is no warning.")
		}
	}
}

// doubles maps access logs to the one that has their requests, too: of those that a
// block of nginx writes, the first with a request time is read; a log of an
// application is not read where a web server before it has one.
func (s *Surveyed) doubles(kind string) map[string]string {
	out := map[string]string{}
	if kind != topology.AccessLog {
		return out
	}
	logs := s.found.LogsOf(kind)
	best := map[string]topology.Log{} // by the first log of the block
	var webs []string                 // keys of best
	for _, l := range logs {
		if l.Format == "" { // of an application
			continue
		}
		first := cmp.Or(l.Twin, l.Path)
		b, ok := best[first]
		if !ok {
			webs = append(webs, first)
		}
		if !ok || l.RequestTime && !b.RequestTime {
			best[first] = l
		}
	}
	for _, l := range logs {
		first := cmp.Or(l.Twin, l.Path)
		if l.Format == "" && len(webs) > 0 {
			first = webs[0]
		}
		if b := best[first]; b.Path != "" && b.Path != l.Path {
			out[l.Path] = b.Path
		}
	}
	return out
}

// logText describes how a log was found and what it lacks.
func (s *Surveyed) logText(l topology.Log) string {
	text := fmt.Sprintf("%s: %s (%s).", filepath.Base(l.Path), l.How, l.Service)
	if l.Kind == topology.AccessLog && l.Format != "" && !l.RequestTime {
		text += fmt.Sprintf(" Its format %s has no request time; `kasoku doctor` has one.", l.Format)
	}
	if r := topology.CheckFile(l.Path, s.who); !r.Read && !r.Missing {
		text += " It cannot be read yet; `kasoku doctor` has the line that grants it."
	}
	return text
}

func (s *Surveyed) tomlWatch(w *tomlWriter) {
	w.table("watch", "Processes that are always sampled. Others are sampled while they use the machine.")
	var units, names []string
	for _, v := range s.measured() {
		if v.Unit != "" && s.found.Systemd {
			units = append(units, v.Unit)
		} else if !slices.Contains(names, v.Name) {
			names = append(names, v.Name)
		}
	}
	w.list("units", units, "Units of what was found.", "['app.service']", "")
	w.list("processes", names, "Names of what was found.", "['node']", "")
	s.tomlProfiles(w)
}

// measured are the services that a run is about.
func (s *Surveyed) measured() []*topology.Service {
	var out []*topology.Service
	for _, kind := range []topology.Kind{topology.MySQL, topology.Postgres, topology.Redis, topology.Memcached, topology.Carbon, topology.Varnish} {
		out = append(out, s.found.Of(kind)...)
	}
	out = append(out, LikelyApps(s.found)...)
	return append(append(out, s.found.Of(topology.Proxy)...), s.found.Of(topology.Nginx)...)
}

func (s *Surveyed) tomlCapture(w *tomlWriter) {
	w.table("capture", "The configuration in force, kept with each run. Secrets in it are masked. `kasoku revert` "+
		"can write the files back.")
	files := s.configFiles()
	w.list("files", files, "What the servers read, and the "+
		"application's unit.", "['/etc/nginx/*.conf', 'app/config.yml']", "")
	w.example("nginx", "'/usr/sbin/nginx'", "The program to ask, when the files of the one that runs are not enough.")
	w.example("vcl", "['/etc/varnish/default.vcl']", "")
	var units []string
	repository := ""
	for _, v := range s.measured() {
		if v.Unit != "" && s.found.Systemd {
			units = append(units, v.Unit)
		}
		if v.Kind == topology.App && repository == "" {
			repository = v.Repository
		}
	}
	w.list("units", units, "", "['app.service']", "")
	if repository != "" {
		w.set("repository", QuoteTOML(repository), "The git checkout of the application; its revision and changes are kept.")
	} else {
		w.example("repository", "'/home/isucon/webapp'", "The git checkout of the application; its revision and "+
			"changes are kept.")
	}
}

// mostFiles is how many files are listed one by one; more of a directory become
// a pattern.
const mostFiles = 8

// configFiles are the files that the services read, directories of many as
// patterns.
func (s *Surveyed) configFiles() []string {
	var all []string
	for _, v := range s.measured() {
		if v.Container != "" {
			continue
		}
		all = append(all, v.Config...)
		if unit := filepath.Join("/etc/systemd/system", v.Unit); v.Unit != "" && v.Kind == topology.App && topology.CheckFile(unit, s.who).Read {
			all = append(all, unit)
		}
	}
	count, mixed := map[string]int{}, map[string]bool{}
	for _, path := range all {
		count[filepath.Dir(path)]++
		mixed[filepath.Dir(path)] = mixed[filepath.Dir(path)] || s.sites[path]
	}
	all = slices.DeleteFunc(all, func(path string) bool { return s.sites[path] })
	var out []string
	for _, path := range all {
		if dir := filepath.Dir(path); count[dir] > mostFiles && !mixed[dir] {
			path = filepath.Join(dir, "*"+filepath.Ext(path))
		}
		if !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

func (s *Surveyed) tomlContract(w *tomlWriter) {
	w.table("contract", "What clients are promised; without it the findings ask. No cache is proposed for what must "+
		"be fresh.")
	w.example("bots", "'503'", "Bots may get this instead of an answer.")
	w.blank()
	w.say("[[contract.routes]]")
	w.example("route", "'GET /api/trend'", "A method and a path; * stands for one segment, ** at the end for the rest.")
	w.example("stale", "'1s'", "How old an answer may be; '0s': it must be fresh.")
	w.example("limit", "'2s'", "Within which it must come.")
	w.example("failure", "'one point of the score'", "What a failure costs.")
}

func (s *Surveyed) tomlFinalize(w *tomlWriter) {
	w.table("finalize", "What `kasoku finalize` checks at the end of a contest: logs off, and that all comes back "+
		"after a restart.")
	w.example("initialize", QuoteTOML("POST "+s.root()+"initialize"), "")
	w.example("logs", "['/var/log/nginx/access.log']", "Logs that must not grow any more.")
	var before []string
	for _, v := range s.measured() {
		if v.Unit == "" || !s.found.Systemd {
			continue
		}
		w.blank()
		w.b.WriteString("[[finalize.units]]\n")
		name := strings.TrimSuffix(v.Unit, ".service")
		w.set("name", QuoteTOML(name), "")
		if len(before) > 0 && v.Kind != topology.Redis && v.Kind != topology.Memcached {
			w.set("needs", tomlList(before), "")
		}
		if v.Kind != topology.Nginx && v.Kind != topology.Proxy {
			before = append(before, name)
		}
	}
	if len(before) == 0 {
		w.blank()
		w.say("[[finalize.units]]")
		w.example("name", "'app'", "")
		w.example("check", QuoteTOML("curl -fsS "+unit.ShellQuote(s.url())), "")
	}
}
