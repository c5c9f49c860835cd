package record

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/nginxconf"
	"github.com/kasoku/kasoku/internal/pathwalk"
)

// Codes of warnings about logs.
const (
	codeLogLacks   = "log-lacks"
	codeLogForeign = "log-foreign"
	codeLogMissing = "log-missing"
)

// The values that important rules rest on; without other values a remark is missing at
// most.
const (
	requestTime  = "$request_time"
	upstreamTime = "$upstream_response_time"
)

// lacking returns one warning when important rules cannot look because the web server's
// log lacks what they rest on. The log of an application is as its program writes it.
func (b *logbook) lacking(windows []kasoku.LogWindow) []kasoku.Warning {
	var paths, variables, lost []string
	for i := range windows {
		w := &windows[i]
		if w.Kind != "accesslog" || w.Lines == 0 {
			continue
		}
		weighty := b.weighty(w.Path)
		said := false
		for _, l := range w.Lacks {
			if !slices.Contains(weighty, l.Variable) {
				continue
			}
			said = true
			if !slices.Contains(variables, l.Variable) {
				variables, lost = append(variables, l.Variable), append(lost, l.Lost)
			}
		}
		if said {
			paths = append(paths, w.Path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	return []kasoku.Warning{{Code: codeLogLacks,
		Text: fmt.Sprintf("not known, as %s has no %s: %s", strings.Join(paths, ", "), strings.Join(variables, " and no "), strings.Join(lost, "; ")),
		Hint: "in the http block of nginx: `" + nginxconf.LogFormat + "`, and `access_log " + paths[0] + " " + nginxconf.LogFormatName + ";` where it is written"}}
}

// weighty returns the values that a log must have: of a web server the request time, and
// the upstream's where it passes requests on; of an application none. A log that no member
// is known to write counts as that of a web server that passes nothing on or, where the
// service has no web server, as the application's.
func (b *logbook) weighty(path string) []string {
	s := &b.config.members
	webs := 0
	for i := range s.Members {
		m := &s.Members[i]
		if web := m.Role == kasoku.RoleWeb || m.Role == kasoku.RoleCache; web {
			webs++
		} else if writesLog(m, path) {
			return nil
		}
		if m.Role != kasoku.RoleWeb || !writesLog(m, path) {
			continue
		}
		if slices.ContainsFunc(s.Edges, func(e kasoku.Edge) bool { return e.From == m.ID }) {
			return []string{requestTime, upstreamTime}
		}
	}
	if s.Known() && webs == 0 {
		return nil
	}
	return []string{requestTime}
}

// writesLog reports whether a member has a log open, by any of its names.
func writesLog(m *kasoku.Member, path string) bool {
	if slices.Contains(m.Logs, path) {
		return true
	}
	real, err := pathwalk.Resolve(path)
	return err == nil && slices.Contains(m.Logs, real)
}

// foreignLogs warns of logs that programs outside of the service write.
func (b *logbook) foreignLogs() (out []kasoku.Warning) {
	for _, l := range b.files {
		if who := b.config.foreign[l.path]; who != "" && l.kind != "slowlog" {
			out = append(out, kasoku.Warning{Code: codeLogForeign,
				Text: l.path + " is another server's: " + who + " writes it, which is no member of the service",
				Hint: "name the log of " + b.frontOf() + "; `kasoku doctor` says which logs are written here"})
		}
	}
	return out
}

// frontOf names the member at which the load comes in.
func (b *logbook) frontOf() string {
	for _, e := range b.config.members.Edges {
		if m := b.config.members.Member(e.To); e.From == "" && m != nil {
			return m.Label()
		}
	}
	return "the service"
}

// missing warns of logs that are not there.
func (b *logbook) missing(text, hint string) (out []kasoku.Warning) {
	for _, l := range b.files {
		if _, err := pathwalk.Stat(l.path); errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(l.path, "*?[") && l.kind != "slowlog" && !l.gone {
			out = append(out, kasoku.Warning{Code: codeLogMissing, Text: l.path + " " + text,
				Hint: hint + "; `kasoku doctor` says which logs are written here"})
		}
	}
	return out
}

// doubtful returns what is to be said of the logs when a run begins: those that are not
// there, and those of others.
func (b *logbook) doubtful() []kasoku.Warning {
	return append(b.missing("is not there yet", "it is read when it comes"), b.foreignLogs()...)
}
