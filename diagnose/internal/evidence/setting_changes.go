package evidence

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
)

// A SettingChange is one setting that differs between two runs.
type SettingChange struct{ Name, Before, After string }

// A SettingName is a setting and where it holds: "mysql", "sysctl", "command".
type SettingName struct{ Scope, Name string }

// A SettingTable has the settings of a run: the value of each, and the order in which
// they were recorded, the command's last.
type SettingTable struct {
	Order []SettingName
	Value map[SettingName]string
}

// SettingsOf gathers what a run was made with: its recorded settings and the
// flags of the command that was run, without what differs between any two runs.
func SettingsOf(rec *kasoku.Recording) SettingTable {
	t := SettingTable{Value: map[SettingName]string{}}
	add := func(scope, name, value string) {
		k := SettingName{scope, name}
		if _, ok := t.Value[k]; !ok {
			t.Order = append(t.Order, k)
		}
		t.Value[k] = value
	}
	for _, s := range rec.Settings {
		if !isOfTheMoment(s) {
			add(s.Scope, s.Name, s.Value)
		}
	}
	if rec.Run.Command == nil {
		return t
	}
	args := rec.Run.Command.Args
	for i := 0; i < len(args); i++ {
		flag, value, joined := strings.Cut(args[i], "=")
		if !strings.HasPrefix(flag, "-") || flag == "-" || flag == "--" {
			add("command", fmt.Sprintf("argument %d", i), args[i])
			continue
		}
		if !joined && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			i++
			value = args[i]
		}
		add("command", flag, value)
	}
	return t
}

// IsIdleLimit reports whether a setting outside the server is the number of
// connections that a pool keeps idle, whatever it is called there:
// SetMaxIdleConns, maxIdle, minimumIdle, pool.max_idle, -db-max-idle.
func IsIdleLimit(s SettingName) bool {
	if s.Scope == "mysql" || s.Scope == "sysctl" {
		return false
	}
	name := strings.ToLower(s.Name)
	return strings.Contains(name, "idle") && !wording.ContainsFold(name, "time", "age", "life", "duration")
}

// isOfTheMoment reports whether a setting names a place or a moment, so that it
// differs between two servers that are set up alike. The names are those in which
// two private servers differed, MariaDB 10.11.19 and MySQL 9.7, and the session
// variables that change with each statement.
func isOfTheMoment(s kasoku.Setting) bool {
	if strings.HasPrefix(s.Value, "/") || strings.HasPrefix(s.Name, "/") || strings.HasPrefix(s.Name, "gtid_") {
		return true
	}
	return slices.Contains([]string{
		"port", "report_port", "hostname", "server_id", "server_uid", "server_uuid", "timestamp", "identity",
		"insert_id", "last_insert_id",
		"pseudo_thread_id", "rand_seed1", "rand_seed2", "error_count", "warning_count",
	}, s.Name)
}
