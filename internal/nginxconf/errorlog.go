package nginxconf

import "slices"

// ErrorLevels are the levels of nginx's error log, the most verbose first.
//
// Source: nginx, ngx_core_module, error_log; without a level it is error.
var ErrorLevels = []string{"debug", "info", "notice", "warn", "error", "crit", "alert", "emerg"}

// How lines of the level warn begin that say which bodies nginx puts into temporary files.
const (
	RequestSpooled  = "a client request body is buffered to a temporary file"
	ResponseSpooled = "an upstream response is buffered to a temporary file"
)

// Logs reports whether some error log of the configuration has lines of a level: an error_log has that
// level or a more verbose one. It does not say of which server.
func (c Config) Logs(level string) bool {
	least := slices.Index(ErrorLevels, level)
	return slices.ContainsFunc(c, func(d Directive) bool {
		if d.Name() != "error_log" {
			return false
		}
		at := slices.Index(ErrorLevels, "error")
		if len(d.Words) > 2 {
			at = slices.Index(ErrorLevels, d.Words[2])
		}
		return at >= 0 && at <= least
	})
}
