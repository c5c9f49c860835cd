package capture

import (
	"context"
	"strings"

	"github.com/kasoku/kasoku/internal/command"
)

// ScopeUnit is the scope of settings that say what a supervisor says of a unit.
const ScopeUnit = "unit"

// UnitState returns what systemd says of a unit, such as "failed (start-limit-hit),
// 5 restarts"; empty where there is no systemd or no such unit.
//
// Source: systemctl(1), show; Result= and NRestarts= of systemd.service(5).
func UnitState(ctx context.Context, name string) string {
	ctx, cancel := context.WithTimeout(ctx, programWithin)
	defer cancel()
	out, err := command.Output(ctx, command.Spec{Path: "systemctl",
		Args: []string{"show", "-p", "LoadState,ActiveState,Result,NRestarts", "--", name}, Trusted: true}, 0)
	if err != nil {
		return ""
	}
	return parseUnitState(string(out))
}

// parseUnitState reads the lines of systemctl show.
func parseUnitState(show string) string {
	values := map[string]string{}
	for line := range strings.Lines(show) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			values[name] = value
		}
	}
	text := values["ActiveState"]
	if text == "" || values["LoadState"] == "not-found" {
		return ""
	}
	if r := values["Result"]; r != "" && r != "success" {
		text += " (" + r + ")"
	}
	if n := values["NRestarts"]; n != "" && n != "0" {
		text += ", " + n + " restarts"
	}
	return text
}
