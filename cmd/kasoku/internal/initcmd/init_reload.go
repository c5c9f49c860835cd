package initcmd

import (
	"cmp"
	"strings"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/topology"
)

// reload is a command that lets the service's nginx read its files anew.
func (s *Surveyed) reload() string {
	for _, v := range s.measured() {
		switch {
		case v.Kind != topology.Nginx || v.Container != "" || len(v.Config) == 0:
		case v.Unit != "" && s.found.Systemd:
			return "nginx -t && systemctl reload " + unit.ShellQuote(strings.TrimSuffix(v.Unit, ".service"))
		default:
			call := unit.ShellQuote(cmp.Or(v.Exe, "nginx")) + " -c " + unit.ShellQuote(v.Config[0])
			return call + " -t && " + call + " -s reload"
		}
	}
	return "nginx -t && systemctl reload nginx"
}
