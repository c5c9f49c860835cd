package record

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/internal/nginxconf"
)

// levelNote describes what nginx leaves out of an error log, by the configuration in
// force; empty when it is nothing, or when no directive names the log.
func levelNote(configs []kasoku.Config, path string) string {
	warn := slices.Index(nginxconf.ErrorLevels, "warn")
	lowest := len(nginxconf.ErrorLevels)
	for _, c := range configs {
		if c.Kind != capture.KindNginx {
			continue
		}
		conf, _ := nginxconf.Parse(c.Text, c.Name) // what can be read of a bad one: nginx took it
		for _, d := range conf {
			if d.Name() != "error_log" || len(d.Words) < 2 || !names(d.Words[1], path) {
				continue
			}
			level := "error"
			if len(d.Words) > 2 {
				level = d.Words[2]
			}
			if i := slices.Index(nginxconf.ErrorLevels, level); i >= 0 {
				lowest = min(lowest, i)
			}
		}
	}
	if lowest <= warn || lowest == len(nginxconf.ErrorLevels) {
		return ""
	}
	level := nginxconf.ErrorLevels[lowest]
	what := cmp.Or(map[string]string{"error": "no warnings"}[level], "neither warnings nor all errors")
	return "nginx writes " + what + " to " + path + ": its level is " + level + "; error_log " + path + " warn; has them"
}

// names reports whether a path of a configuration, which may be relative to a prefix
// that it does not name, is a file's.
func names(said, path string) bool {
	return said == path || !strings.HasPrefix(said, "/") && strings.HasSuffix(path, "/"+said)
}
