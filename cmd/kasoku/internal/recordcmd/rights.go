package recordcmd

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/confine"
)

// rights are what the rest of a recording needs, once all is open.
func (f *recordFlags) rights(e *cli.Env) confine.Options {
	o := &f.loop
	parts := []confine.Part{confine.Processes, confine.Logs}
	if f.again && o.Capture != nil {
		parts = append(parts, confine.Config)
	}
	if len(o.Command) > 0 {
		parts = append(parts, confine.Command)
	}
	if o.CheckIndexes {
		parts = append(parts, confine.Indexes)
	}
	dirs := []string{filepath.Dir(o.Path), os.TempDir()}
	if o.Guard != nil {
		dirs = append(dirs, o.Guard.Dir)
	}
	if e.Getenv("SUDO_UID") != "" || slices.ContainsFunc(dirs, ofAnother) {
		parts = append(parts, confine.Handover)
	}
	// A guard process, and git for the next run, are started later.
	return confine.Options{Keep: confine.Needed(parts...), Programs: f.again || o.MySQL != "" || len(o.Command) > 0}
}

// ofAnother reports whether a directory belongs to another user. One that is yet to be
// made counts as the nearest that is there.
func ofAnother(dir string) bool {
	dir, err := filepath.Abs(dir)
	for ; err == nil; dir = filepath.Dir(dir) {
		var st syscall.Stat_t
		if syscall.Stat(dir, &st) == nil {
			return int(st.Uid) != os.Geteuid()
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return false
}
