package doctorcmd

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/initcmd"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/nginxconf"
	"github.com/kasoku/kasoku/internal/pathwalk"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/accessformat"
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

// A loadExam is of the run: its load, and room for its file.
type loadExam struct{ exam }

// check asks whether a run can be made, and kept.
func (x loadExam) check() {
	if !x.configured() {
		x.add(check{Area: areaLoad, Name: "configuration", State: checkWarn, Seen: "there is no " + config.Name + " here or above",
			Lost: "`kasoku run`", Grants: []grant{{inShell, x.e.Name + " init"}}})
	} else {
		x.ok(areaLoad, "configuration", "%s", x.file)
		x.checkKind()
	}
	x.checkSpace()
	x.checkOpenRuns()
}

// checkKind asks whether the load of the configuration can be made.
func (x loadExam) checkKind() {
	l := &x.c.Load
	switch l.Kind() {
	case config.Command:
		x.checkCommand(l.Command)
	case config.Targets:
		x.checkTargets(l)
	case config.ForTime:
		x.ok(areaLoad, "load", "none of ours: records for %s", unit.Exact(l.For))
	case config.UntilIdle:
		x.ok(areaLoad, "load", "comes from elsewhere: records until no request has come for %s", unit.Exact(l.UntilIdle))
	default:
		x.add(check{Area: areaLoad, Name: "load", State: checkMissing, Asked: true, Seen: "the file says no load",
			Lost: "`kasoku run`", Grants: []grant{{config.Name, "[load]\ncommand = './bench.sh'"}}})
	}
	if (l.UntilIdle > 0 || l.On != "") && len(x.c.Logs.Access)+len(x.c.Fleet.Record) == 0 {
		x.add(check{Area: areaLoad, Name: "traffic", State: checkMissing, Asked: true, Seen: "until_idle and on look " +
			"at the access log, and the file names none",
			Lost: "when the load begins and ends", Grants: []grant{{config.Name, "[logs]\naccess = ['/var/log/nginx/access.log']"}}})
	}
}

func (x loadExam) checkCommand(args []string) {
	name := args[0]
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		name = filepath.Join(x.c.Dir, name)
	}
	if _, err := command.LookPath(name); err != nil {
		x.add(check{Area: areaLoad, Name: "load", State: checkMissing, Asked: true, Seen: fmt.Sprintf("command %q cannot be run: %v", args[0], err),
			Lost: "the load"})
		return
	}
	shown := strings.Join(args, " ")
	if len(args) == 3 && args[0] == "sh" && args[1] == "-c" {
		shown = args[2]
	}
	x.ok(areaLoad, "load", "command %s", shown)
}

// checkTargets asks whether somebody listens where the load goes.
func (x loadExam) checkTargets(l *config.LoadTable) {
	if l.TargetsFile != "" {
		if r := topology.CheckFile(l.TargetsFile, x.who); !r.Read {
			x.add(check{Area: areaLoad, Name: "load", State: checkMissing, Asked: true, Seen: l.TargetsFile + ": " + r.Why, Lost: "the load", Grants: rootGrants(r.Grant)})
			return
		}
	}
	for _, target := range l.Targets {
		_, at, _ := strings.Cut(target, " ")
		u, err := url.Parse(strings.TrimSpace(at))
		if err != nil {
			continue // the file was refused then
		}
		if err := dialURL(u); err != nil {
			x.add(check{Area: areaLoad, Name: "load", State: checkWarn, Seen: fmt.Sprintf("no one answers at %s: %v", u.Host, err), Lost: "every request, as long as it stays so"})
			return
		}
	}
	x.ok(areaLoad, "load", "%s at %s req/s", strings.Join(append(slices.Clone(l.Targets), l.TargetsFile), " "), printRates(l.Steps))
}

func printRates(perSec []float64) string {
	var out []string
	for _, r := range perSec {
		out = append(out, unit.Plain(r))
	}
	return strings.Join(out, ", ")
}

// dialURL connects once to where a URL leads.
func dialURL(u *url.URL) error {
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
func (x loadExam) checkSpace() {
	dir := x.c.Runs
	at := dir
	for !fileExists(at) && filepath.Dir(at) != at {
		at = filepath.Dir(at)
	}
	err := unix.Faccessat(unix.AT_FDCWD, at, unix.W_OK|unix.X_OK, unix.AT_EACCESS)
	if err == nil && !dirExists(at) {
		err = unix.ENOTDIR
	}
	if err != nil {
		x.add(check{Area: areaLoad, Name: "run files", State: checkMissing, Asked: x.configured(), Seen: fmt.Sprintf("%s cannot be written to: %v", at, err),
			Lost: "everything: a run is one file", Grants: []grant{{config.Name, "runs = '/tmp/runs'"}}})
		return
	}
	free, err := topology.FreeBytes(at)
	switch {
	case err != nil:
		x.add(check{Area: areaLoad, Name: "run files", State: checkWarn, Seen: err.Error()})
	case free < roomyBytes:
		x.add(check{Area: areaLoad, Name: "run files", State: checkMissing, Asked: x.configured(), Seen: unit.Bytes(free) + " free in " + dir, Lost: "the end of a run, when the disk is full"})
	case free < ampleBytes:
		x.add(check{Area: areaLoad, Name: "run files", State: checkWarn, Seen: unit.Bytes(free) + " free in " + dir, Lost: "long runs; the logs of the servers grow there too, if it is one disk"})
	default:
		x.ok(areaLoad, "run files", "%s free in %s", unit.Bytes(free), dir)
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
func (x logExam) wantedLogs() []wantedLog {
	var out []wantedLog
	add := func(kind, path string) {
		w := wantedLog{kind: kind, path: path}
		for i, l := range x.found.Logs {
			if l.Path == path && l.Format != "" {
				w.known = &x.found.Logs[i]
			}
		}
		out = append(out, w)
	}
	if !x.configured() {
		for _, l := range x.found.Logs {
			if l.Kind != topology.SlowLog {
				add(l.Kind, l.Path)
			}
		}
		return out
	}
	for _, k := range []struct {
		kind  string
		paths []string
	}{{topology.AccessLog, x.c.Logs.Access}, {topology.AppLog, x.c.Logs.App}, {topology.ErrorLog, x.c.Logs.Error}} {
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

// A logExam is of the logs.
type logExam struct{ exam }

// check asks of each log whether it can be read and says enough.
func (x logExam) check() {
	wanted := x.wantedLogs()
	for _, kind := range []string{topology.AccessLog, topology.AppLog, topology.ErrorLog} {
		if !slices.ContainsFunc(wanted, func(w wantedLog) bool { return w.kind == kind }) {
			x.add(check{Area: areaLogs, Name: kind + " log", State: checkWarn, Seen: "none is named or found", Lost: logLosses[kind],
				Grants: x.suggestLog(kind)})
		}
	}
	for _, w := range wanted {
		r := topology.CheckFile(w.path, x.who)
		switch {
		case r.Missing && dirExists(filepath.Dir(w.path)):
			x.add(check{Area: areaLogs, Name: w.kind + " log", State: checkWarn, Seen: w.path + " is not there yet", Lost: logLosses[w.kind]})
		case !r.Read:
			x.add(check{Area: areaLogs, Name: w.kind + " log", State: checkMissing, Asked: x.configured(), Seen: w.path + " cannot be read: " + r.Why,
				Lost: logLosses[w.kind], Cost: r.Cost, Grants: rootGrants(r.Grant)})
		default:
			x.checkContent(w)
		}
	}
}

// suggestLog names a log that was found and is not in the file.
func (x logExam) suggestLog(kind string) []grant {
	for _, l := range x.found.LogsOf(kind) {
		return []grant{{config.Name, "[logs]\n" + kind + " = [" + initcmd.QuoteTOML(l.Path) + "]"}}
	}
	return nil
}

// checkContent asks whether a log that can be read says enough.
func (x logExam) checkContent(w wantedLog) {
	name := w.kind + " log"
	switch w.kind {
	case topology.ErrorLog:
		if w.known != nil && !slices.Contains([]string{"warn", "notice", "info", "debug"}, w.known.Format) {
			x.add(check{Area: areaLogs, Name: name, State: checkWarn, Seen: w.path + " has level " + w.known.Format,
				Lost: "warnings: bodies and answers that did not fit their buffers", Cost: "a line for each of them",
				Grants: []grant{{"in nginx.conf; then nginx -s reload", "error_log " + w.path + " warn;"}}})
			return
		}
		x.ok(areaLogs, name, "%s", w.path)
	case topology.AccessLog:
		format, lacks, err := sampleAccessLog(w.path, w.known)
		switch {
		case err != nil:
			x.add(check{Area: areaLogs, Name: name, State: checkWarn, Seen: w.path + ": " + err.Error(), Lost: logLosses[w.kind], Grants: logFormatGrants(w.path)})
		case len(lacks) > 0:
			variables, lost := kasoku.LackWords(lacks)
			x.add(check{Area: areaLogs, Name: name, State: checkWarn, Seen: fmt.Sprintf("%s (%s) lacks %s", w.path, format, variables),
				Lost: lost, Cost: "some bytes a line", Grants: logFormatGrants(w.path)})
		case format == "":
			x.ok(areaLogs, name, "%s is empty as yet", w.path)
		default:
			x.ok(areaLogs, name, "%s, %s", w.path, format)
		}
	default:
		x.ok(areaLogs, name, "%s", w.path)
	}
}

// logFormatGrants are the lines that give a log all that is read of it.
func logFormatGrants(path string) []grant {
	const where = "in http { } of nginx.conf; then nginx -s reload"
	return []grant{{where, nginxconf.LogFormat}, {where, "access_log " + path + " " + nginxconf.LogFormatName + ";"}}
}

// sampleBytes is how much of the end of an access log is looked at.
const sampleBytes = 64 << 10

// sampleAccessLog reads the end of a log: its format, empty when it has no whole line,
// and what its lines lack. The configuration that is in force decides on the lines to
// come, so what it has counts where it is known.
func sampleAccessLog(path string, known *topology.Log) (name string, lacks []kasoku.LogLack, err error) {
	sample, err := readEnd(path)
	if err != nil {
		return "", nil, err
	}
	var format *accessformat.Format
	if len(bytes.TrimSpace(sample)) > 0 {
		if format, err = accessformat.Detect(sample); err != nil {
			return "", nil, err
		}
		name, lacks = format.Name(), format.Lacks(sample)
	}
	if known == nil || known.Spec == "" && known.Format == "" {
		return name, lacks, nil
	}
	spec := known.Spec
	if spec == "" && known.Format == "combined" {
		spec = nginxCombined
	}
	if now, err := accessformat.ParseFormat(cmp.Or(spec, known.Format)); err == nil {
		// A format of labels has no program: its own text is a line with all of them.
		lacks = now.Lacks([]byte(strings.ReplaceAll(spec, `\t`, "\t")))
	}
	return cmp.Or(name, known.Format), lacks, nil
}

// nginxCombined is the format of nginx that needs no log_format; kasoku's own of that
// name may have a request time at its end.
//
// Source: ngx_http_log_module.c, ngx_http_combined_fmt.
const nginxCombined = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`

// readEnd returns the last whole lines of a log.
func readEnd(path string) ([]byte, error) {
	f, err := pathwalk.OpenNamed(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(st.Size()-sampleBytes, 0)
	sample, err := io.ReadAll(io.NewSectionReader(f, from, sampleBytes))
	if err != nil {
		return nil, err
	}
	if from > 0 {
		_, sample, _ = bytes.Cut(sample, []byte{'\n'})
	}
	return sample[:bytes.LastIndexByte(sample, '\n')+1], nil
}
