package record

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/internal/nginxconf"
)

// errorLevels are the levels of nginx's error log, from the most talkative on.
//
// Source: nginx, ngx_core_module, error_log; without a level it is error.
var errorLevels = []string{"debug", "info", "notice", "warn", "error", "crit", "alert", "emerg"}

// levelNote describes what nginx leaves out of an error log, by the configuration in
// force; empty when it is nothing, or when no directive names the log.
func levelNote(configs []kasoku.Config, path string) string {
	warn := slices.Index(errorLevels, "warn")
	lowest := len(errorLevels)
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
			if i := slices.Index(errorLevels, level); i >= 0 {
				lowest = min(lowest, i)
			}
		}
	}
	if lowest <= warn || lowest == len(errorLevels) {
		return ""
	}
	level := errorLevels[lowest]
	what := cmp.Or(map[string]string{"error": "no warnings"}[level], "neither warnings nor all errors")
	return "nginx writes " + what + " to " + path + ": its level is " + level + "; error_log " + path + " warn; has them"
}

// names reports whether a path of a configuration, which may be relative to a prefix
// that it does not name, is a file's.
func names(said, path string) bool {
	return said == path || !strings.HasPrefix(said, "/") && strings.HasSuffix(path, "/"+said)
}
