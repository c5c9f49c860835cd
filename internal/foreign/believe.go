package foreign

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/pathwalk"
)

// A Doubt is why a process is not believed.
type Doubt struct {
	PID  int
	Name string // that it calls itself
	Why  string // "belongs to uid 1001"
}

// MostDoubts is how many processes are named that are not believed: whoever has an account can
// start as many as he likes. The others are counted.
const MostDoubts = 12

// Error returns "pid 812 calls itself nginx and belongs to uid 1001: not read".
func (d *Doubt) Error() string {
	return fmt.Sprintf("pid %d calls itself %s and %s: not read", d.PID, printable(d.Name), d.Why)
}

// Hint returns what to do about it.
func (d *Doubt) Hint() string {
	return "run kasoku as the user whose process it is, or by sudo from there; a systemd unit with User= says so too"
}

// Believe returns nil when the process may be what it says, else a [*Doubt]. Programs are the
// names that the file of its program may have; nil: any.
//
// A process is believed whose program is a regular file of root's that no other may write to,
// and all of whose users are root, the one who asks, the one who called sudo, a system
// account, or the one that its systemd unit names: what a lie to kasoku would give these
// users, they have without it. A program that its own user may change is believed of the one
// who asks, of the one who called sudo, and of a unit's.
func (p *Process) Believe(programs []string) error {
	doubt := func(format string, args ...any) error {
		return &Doubt{p.PID, p.Name, fmt.Sprintf(format, args...)}
	}
	unit, byUnit := unitUser(p.Unit)
	own := func(uid int) bool { return pathwalk.IsAsker(uid) || byUnit && uid == unit }
	for _, uid := range p.uids {
		// The real user of a program with the setuid bit is who called it.
		if uid < 0 || !own(uid) && !pathwalk.IsSystem(uid) {
			return doubt("belongs to uid %d", uid)
		}
	}
	e := p.program
	switch {
	case !e.known && privileged():
		return doubt("hides its program")
	case !e.known:
		return nil // nothing is read that the one who asks may not read
	case e.mode&unix.S_IFMT != unix.S_IFREG:
		return doubt("its program is no regular file")
	case e.mode&(unix.S_ISUID|unix.S_ISGID) != 0:
		return doubt("its program %s changes its user", printable(p.Exe))
	case programs != nil && !slices.Contains(programs, filepath.Base(p.Exe)) && !isLoader(p.Exe):
		return doubt("its program is %s", printable(p.Exe))
	case e.uid != 0 && !(own(e.uid) && e.uid == p.uids[1]):
		return doubt("its program %s belongs to uid %d", printable(p.Exe), e.uid)
	case e.mode&0o002 != 0, e.mode&0o020 != 0 && e.gid != 0 && e.uid == 0:
		return doubt("others may write to its program %s", printable(p.Exe))
	}
	return nil
}

// isLoader reports whether a program is the dynamic loader, which was given another one
// to run: ld.so(8).
func isLoader(exe string) bool {
	base := filepath.Base(exe)
	return strings.HasPrefix(base, "ld-linux") || strings.HasPrefix(base, "ld-musl")
}

// unitDirs is where root puts units.
var unitDirs = []string{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
	"/usr/lib/systemd/system", "/lib/systemd/system"}

// unitUser returns the user whom a unit's file names: by it root has said whose the
// processes of the unit are. Units without User=, as that of cron, say nothing.
func unitUser(unit string) (uid int, ok bool) {
	if unit == "" || strings.ContainsAny(unit, "/\x00") {
		return 0, false
	}
	names := []string{unit}
	if before, _, ok := strings.Cut(unit, "@"); ok {
		names = append(names, before+"@.service")
	}
	for _, name := range names {
		for _, dir := range unitDirs {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				continue
			}
			return lookUpUser(parseUnitUser(string(text)))
		}
	}
	return 0, false
}

// parseUnitUser returns the last User= of a unit file's service.
func parseUnitUser(text string) string {
	name, section := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		}
		if key, value, ok := strings.Cut(line, "="); ok && section == "[Service]" && strings.TrimSpace(key) == "User" {
			name = strings.TrimSpace(value)
		}
	}
	return name
}

func lookUpUser(name string) (uid int, ok bool) {
	if n, err := strconv.Atoi(name); err == nil {
		return n, n >= 0
	}
	u, err := user.Lookup(name)
	if err != nil {
		return 0, false
	}
	uid, err = strconv.Atoi(u.Uid)
	return uid, err == nil
}

// printable keeps what a process says of itself from moving the cursor of a terminal.
func printable(s string) string {
	if s = strings.ToValidUTF8(s, "?"); strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return strconv.Quote(s)
	}
	return s
}
