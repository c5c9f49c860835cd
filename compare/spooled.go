package compare

import (
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/nginxconf"
)

// What a run says of its logs and of configurations, as its recorder names them.
const (
	errorLog    = "errorlog" // the kind of a log of which messages are read
	nginxConfig = "nginx"    // the kind of a captured configuration
)

// spooledBodies counts the bodies, of requests and of answers, that nginx put into temporary files, by the lines
// of its error log. It is nil where such lines may be missing: the log was not read, or no error log of the
// service's nginx has lines of the level warn.
func spooledBodies(run *kasoku.Recording) []growth {
	logs := nginxLogs(run)
	if len(logs) == 0 || !saysSpooled(run) {
		return nil
	}
	perSecond := map[int]uint64{}
	for i := range run.Messages {
		m := &run.Messages[i]
		spools := strings.HasPrefix(m.Sample, nginxconf.RequestSpooled) || strings.HasPrefix(m.Sample, nginxconf.ResponseSpooled)
		if m.Kind != kasoku.MessageNginx || !spools || !slices.Contains(logs, logOf{m.Host, m.Path}) {
			continue
		}
		for second, n := range m.Seconds {
			perSecond[second] += n
		}
	}
	var g growth
	var sum uint64
	for second := 0; time.Duration(second)*time.Second < run.Run.Length+time.Second && second < mostSeconds; second++ {
		g.at = append(g.at, time.Duration(second)*time.Second)
		g.grown = append(g.grown, float64(sum))
		sum += perSecond[second]
	}
	g.at, g.grown = append(g.at, time.Duration(len(g.at))*time.Second), append(g.grown, float64(sum))
	return []growth{g}
}

// logOf is a log of a host.
type logOf struct{ host, path string }

// nginxLogs returns the logs of errors that were read: those that a web server of the service writes, where it is
// known of some, so that no other nginx's count.
func nginxLogs(run *kasoku.Recording) []logOf {
	var read, own []logOf
	for _, w := range run.Logs {
		if w.Kind != errorLog || w.Files == 0 && w.Lines == 0 {
			continue
		}
		l := logOf{w.Host, w.Path}
		read = append(read, l)
		if slices.ContainsFunc(run.Service.Of(kasoku.RoleWeb), func(m *kasoku.Member) bool {
			return (m.Host == w.Host || m.Host == "" || w.Host == "") && slices.Contains(m.Logs, w.Path)
		}) {
			own = append(own, l)
		}
	}
	if len(own) > 0 {
		return own
	}
	return read
}

// saysSpooled reports whether the configuration in force lets nginx say which bodies it puts into files.
func saysSpooled(run *kasoku.Recording) bool {
	for i := range run.Configs {
		if f := &run.Configs[i]; f.Kind == nginxConfig && run.Service.HasWebConfig(f) {
			if conf, _ := nginxconf.Parse(f.Text, f.Name); conf.Logs("warn") { // what can be read of a bad one
				return true
			}
		}
	}
	return false
}
