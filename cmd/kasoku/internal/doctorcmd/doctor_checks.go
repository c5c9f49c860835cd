package doctorcmd

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/initcmd"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/pathwalk"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/topology"
)

// rootGrants are lines for a shell of root.
func rootGrants(lines []string) []grant {
	var out []grant
	for _, l := range lines {
		out = append(out, grant{inRootShell, l})
	}
	return out
}

const areaLoad = "run"

// checkLoad asks whether a run can be made, and kept.
func (d *doctor) checkLoad() {
	if !d.configured() {
		d.add(check{Area: areaLoad, Name: "configuration", State: checkWarn, Seen: "there is no " + config.Name + " here or above",
			Lost: "`kasoku run`", Grants: []grant{{inShell, d.e.Name + " init"}}})
	} else {
		d.ok(areaLoad, "configuration", "%s", d.file)
		d.checkKind()
	}
	d.checkSpace()
	d.checkOpenRuns()
}

// checkKind asks whether the load of the configuration can be made.
func (d *doctor) checkKind() {
	l := &d.c.Load
	switch l.Kind() {
	case config.Command:
		d.checkCommand(l.Command)
	case config.Targets:
		d.checkTargets(l)
	case config.ForTime:
		d.ok(areaLoad, "load", "none of ours: records for %s", unit.Exact(l.For))
	case config.UntilIdle:
		d.ok(areaLoad, "load", "comes from elsewhere: records until no request has come for %s", unit.Exact(l.UntilIdle))
	default:
		d.add(check{Area: areaLoad, Name: "load", State: checkMissing, Asked: true, Seen: "the file says no load",
			Lost: "`kasoku run`", Grants: []grant{{config.Name, "[load]\ncommand = './bench.sh'"}}})
	}
	if (l.UntilIdle > 0 || l.On != "") && len(d.c.Logs.Access) == 0 {
		d.add(check{Area: areaLoad, Name: "traffic", State: checkMissing, Asked: true, Seen: "until_idle and on look at the access log, and the file names none",
			Lost: "when the load begins and ends", Grants: []grant{{config.Name, "[logs]\naccess = ['/var/log/nginx/access.log']"}}})
	}
}

func (d *doctor) checkCommand(args []string) {
	name := args[0]
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		name = filepath.Join(d.c.Dir, name)
	}
	if _, err := command.LookPath(name); err != nil {
		d.add(check{Area: areaLoad, Name: "load", State: checkMissing, Asked: true, Seen: fmt.Sprintf("command %q cannot be run: %v", args[0], err),
			Lost: "the load"})
		return
	}
	shown := strings.Join(args, " ")
	if len(args) == 3 && args[0] == "sh" && args[1] == "-c" {
		shown = args[2]
	}
	d.ok(areaLoad, "load", "command %s", shown)
}

// checkTargets asks whether somebody listens where the load goes.
func (d *doctor) checkTargets(l *config.LoadTable) {
	if l.TargetsFile != "" {
		if r := topology.CheckFile(l.TargetsFile, d.who); !r.Read {
			d.add(check{Area: areaLoad, Name: "load", State: checkMissing, Asked: true, Seen: l.TargetsFile + ": " + r.Why, Lost: "the load", Grants: rootGrants(r.Grant)})
			return
		}
	}
	for _, target := range l.Targets {
		_, at, _ := strings.Cut(target, " ")
		u, err := url.Parse(strings.TrimSpace(at))
		if err != nil {
			continue // the file was refused then
		}
		if err := dial(u); err != nil {
			d.add(check{Area: areaLoad, Name: "load", State: checkWarn, Seen: fmt.Sprintf("nobody answers at %s: %v", u.Host, err), Lost: "every request, as long as it stays so"})
			return
		}
	}
	d.ok(areaLoad, "load", "%s at %s req/s", strings.Join(append(slices.Clone(l.Targets), l.TargetsFile), " "), rates(l.Steps))
}

func rates(perSec []float64) string {
	var out []string
	for _, r := range perSec {
		out = append(out, unit.Plain(r))
	}
	return strings.Join(out, ", ")
}

// dial connects once to where a URL leads.
func dial(u *url.URL) error {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	conn, err := net.DialTimeout("tcp", net.JoinHostPort(u.Hostname(), port), time.Second)
	if err != nil {
		return err
	}
	return conn.Close()
}

// What a run file may take: ten minutes of all sources stay below roomy, an
// hour below ample.
const (
	roomyBytes = 100 << 20
	ampleBytes = 1 << 30
)

// checkSpace asks whether runs can be written.
func (d *doctor) checkSpace() {
	dir := d.c.Runs
	at := dir
	for !fileExists(at) && filepath.Dir(at) != at {
		at = filepath.Dir(at)
	}
	err := unix.Faccessat(unix.AT_FDCWD, at, unix.W_OK|unix.X_OK, unix.AT_EACCESS)
	if err == nil && !dirExists(at) {
		err = unix.ENOTDIR
	}
	if err != nil {
		d.add(check{Area: areaLoad, Name: "run files", State: checkMissing, Asked: d.configured(), Seen: fmt.Sprintf("%s cannot be written to: %v", at, err),
			Lost: "everything: a run is one file", Grants: []grant{{config.Name, "runs = '/tmp/runs'"}}})
		return
	}
	free, err := topology.FreeBytes(at)
	switch {
	case err != nil:
		d.add(check{Area: areaLoad, Name: "run files", State: checkWarn, Seen: err.Error()})
	case free < roomyBytes:
		d.add(check{Area: areaLoad, Name: "run files", State: checkMissing, Asked: d.configured(), Seen: unit.Bytes(free) + " free in " + dir, Lost: "the end of a run, when the disk is full"})
	case free < ampleBytes:
		d.add(check{Area: areaLoad, Name: "run files", State: checkWarn, Seen: unit.Bytes(free) + " free in " + dir, Lost: "long runs; the logs of the servers grow there too, if it is one disk"})
	default:
		d.ok(areaLoad, "run files", "%s free in %s", unit.Bytes(free), dir)
	}
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func dirExists(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

const areaLogs = "logs"

// A wantedLog is one to be read.
type wantedLog struct {
	kind, path string
	known      *topology.Log // what the web server says of it; nil when nothing does
}

// wantedLogs are those of the configuration, without one those that were found.
func (d *doctor) wantedLogs() []wantedLog {
	var out []wantedLog
	add := func(kind, path string) {
		w := wantedLog{kind: kind, path: path}
		for i, l := range d.found.Logs {
			if l.Path == path && l.Format != "" {
				w.known = &d.found.Logs[i]
			}
		}
		out = append(out, w)
	}
	if !d.configured() {
		for _, l := range d.found.Logs {
			if l.Kind != topology.SlowLog {
				add(l.Kind, l.Path)
			}
		}
		return out
	}
	for _, k := range []struct {
		kind  string
		paths []string
	}{{topology.AccessLog, d.c.Logs.Access}, {topology.AppLog, d.c.Logs.App}, {topology.ErrorLog, d.c.Logs.Error}} {
		for _, p := range k.paths {
			add(k.kind, p)
		}
	}
	return out
}

var logLosses = map[string]string{
	topology.AccessLog: "which endpoints take the time, and requests of load from elsewhere",
	topology.AppLog:    "the application's errors, and which came first",
	topology.ErrorLog:  "what the web server ran out of: connections, files, buffers",
}

// checkLogs asks of each log whether it can be read and says enough.
func (d *doctor) checkLogs() {
	wanted := d.wantedLogs()
	for _, kind := range []string{topology.AccessLog, topology.AppLog, topology.ErrorLog} {
		if !slices.ContainsFunc(wanted, func(w wantedLog) bool { return w.kind == kind }) {
			d.add(check{Area: areaLogs, Name: kind + " log", State: checkWarn, Seen: "none is named or found", Lost: logLosses[kind],
				Grants: d.suggestLog(kind)})
		}
	}
	for _, w := range wanted {
		r := topology.CheckFile(w.path, d.who)
		switch {
		case r.Missing && dirExists(filepath.Dir(w.path)):
			d.add(check{Area: areaLogs, Name: w.kind + " log", State: checkWarn, Seen: w.path + " is not there yet", Lost: logLosses[w.kind]})
		case !r.Read:
			d.add(check{Area: areaLogs, Name: w.kind + " log", State: checkMissing, Asked: d.configured(), Seen: w.path + " cannot be read: " + r.Why,
				Lost: logLosses[w.kind], Cost: r.Cost, Grants: rootGrants(r.Grant)})
		default:
			d.checkContent(w)
		}
	}
}

// suggestLog names a log that was found and is not in the file.
func (d *doctor) suggestLog(kind string) []grant {
	for _, l := range d.found.LogsOf(kind) {
		return []grant{{config.Name, "[logs]\n" + kind + " = [" + initcmd.QuoteTOML(l.Path) + "]"}}
	}
	return nil
}

// ltsvFormat is the log_format that has all that kasoku reads.
const ltsvFormat = `log_format ltsv "time:$time_iso8601\tmethod:$request_method\turi:$request_uri\tstatus:$status\tsize:$body_bytes_sent\treqtime:$request_time";`

// checkContent asks whether a log that can be read says enough.
func (d *doctor) checkContent(w wantedLog) {
	name := w.kind + " log"
	switch w.kind {
	case topology.ErrorLog:
		if w.known != nil && !slices.Contains([]string{"warn", "notice", "info", "debug"}, w.known.Format) {
			d.add(check{Area: areaLogs, Name: name, State: checkWarn, Seen: w.path + " has level " + w.known.Format,
				Lost: "warnings: bodies and answers that did not fit their buffers", Cost: "a line for each of them",
				Grants: []grant{{"in nginx.conf; then nginx -s reload", "error_log " + w.path + " warn;"}}})
			return
		}
		d.ok(areaLogs, name, "%s", w.path)
	case topology.AccessLog:
		format, timed, err := sampleAccessLog(w.path)
		switch {
		case err != nil:
			d.add(check{Area: areaLogs, Name: name, State: checkWarn, Seen: w.path + ": " + err.Error(), Lost: logLosses[w.kind], Grants: d.ltsvGrants(w.path)})
		case format == "" && (w.known == nil || w.known.RequestTime):
			d.ok(areaLogs, name, "%s is empty as yet", w.path)
		case !timed && (w.known == nil || !w.known.RequestTime):
			d.add(check{Area: areaLogs, Name: name, State: checkWarn, Seen: w.path + " has no request times",
				Lost: "the latency of endpoints", Cost: "some bytes a line", Grants: d.ltsvGrants(w.path)})
		default:
			d.ok(areaLogs, name, "%s, %s", w.path, format)
		}
	default:
		d.ok(areaLogs, name, "%s", w.path)
	}
}

func (d *doctor) ltsvGrants(path string) []grant {
	return []grant{{"in http { } of nginx.conf; then nginx -s reload", ltsvFormat}, {"in http { } of nginx.conf; then nginx -s reload", "access_log " + path + " ltsv;"}}
}

// sampleBytes is how much of the end of an access log is looked at.
const sampleBytes = 256 << 10

// sampleAccessLog reads the end of a log: its format, empty when it has no whole
// line, and whether requests have a time.
func sampleAccessLog(path string) (format string, timed bool, err error) {
	f, err := pathwalk.OpenNamed(path)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return "", false, err
	}
	if _, err := f.Seek(max(st.Size()-sampleBytes, 0), 0); err != nil {
		return "", false, err
	}
	src := lines.NewReader(f, 0)
	if st.Size() > sampleBytes {
		src.Scan() // the rest of a line
	}
	r := accessformat.NewReader(src, time.Local)
	for r.Scan() {
		timed = timed || r.Record().Timed()
	}
	return r.Format(), timed, r.Err()
}
