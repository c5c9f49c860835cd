package capture

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/internal/procstat"
	"github.com/kasoku/kasoku/topology"
)

// A process is one whose configuration or limits are of interest.
type process struct {
	pid  int
	name string   // comm, as ps shows it
	args []string // command line
	held *foreign.Process

	server bool // whose configuration is wanted
}

// servers are programs whose configuration is looked for when they run, with the names
// that their files may have.
var servers = map[string][]string{
	"nginx": topology.NginxPrograms, "mysqld": topology.DatabasePrograms, "mariadbd": topology.DatabasePrograms,
}

// processes lists the members, and the processes that are watched. A server that is not
// believed is a warning.
//
// Kernel: Documentation/filesystems/proc.rst.
func (t *taker) processes(ctx context.Context) []*process {
	var out []*process
	for _, pid := range t.candidates() {
		if ctx.Err() != nil {
			break
		}
		dir := t.root("/proc/" + strconv.Itoa(pid))
		comm, err := os.ReadFile(filepath.Join(dir, "comm"))
		if err != nil {
			continue // it has ended
		}
		p := &process{pid: pid, name: strings.TrimSuffix(string(comm), "\n")}
		server := servers[p.name] != nil && t.serves(pid)
		watched := slices.Contains(t.o.PIDs, pid) || slices.Contains(t.o.Members, pid)
		if !server && !watched {
			continue
		}
		p.args, _ = foreign.Arguments(t.root("/proc"), pid) // hidden: not known
		if p.server = server; t.real() && server && !t.hold(p) && !watched {
			continue
		}
		out = append(out, p)
	}
	for _, w := range t.workers {
		if !t.isMaster(w.parent) {
			t.doubt(w.why)
		}
	}
	return out
}

// A worker is a process that calls itself a worker of nginx and is not believed.
type worker struct {
	parent int
	why    error
}

// isMaster reports whether a process is the master of an nginx that is believed. Its children are
// its own, or orphans of a container whose first process it is.
func (t *taker) isMaster(pid int) bool {
	return slices.ContainsFunc(t.held, func(p *foreign.Process) bool {
		return p.PID == pid && p.Name == "nginx" && isMaster(p.Args)
	})
}

// doubt warns of a process that is not believed.
func (t *taker) doubt(why error) {
	if t.doubts++; t.doubts <= foreign.MostDoubts {
		t.warn(hintOf(why), "%v", why)
	}
}

// candidates are the processes that are looked at, each once.
func (t *taker) candidates() []int {
	pids := slices.Concat(t.o.Members, t.o.Servers, t.o.PIDs)
	if t.o.Everything {
		all, err := procstat.Processes(t.root("/proc"))
		if err != nil {
			t.warn(hintOf(err), "processes: %v", err)
		}
		pids = append(pids, all...)
	}
	slices.Sort(pids)
	return slices.Compact(pids)
}

// serves reports whether a process is one whose configuration is wanted.
func (t *taker) serves(pid int) bool {
	return t.o.Everything || slices.Contains(t.o.Members, pid) || slices.Contains(t.o.Servers, pid)
}

// leftOut reports whether a file of a server is none of those that are wanted.
func (t *taker) leftOut(name string) bool {
	return len(t.o.Only) > 0 && !slices.Contains(t.o.Only, name)
}

// hold takes hold of a process that calls itself a server, when it is believed. The
// server that the user's own DSN leads to needs no belief: he named it.
func (t *taker) hold(p *process) bool {
	held, err := foreign.Hold(p.pid)
	if err != nil {
		return false
	}
	if !slices.Contains(t.o.Servers, p.pid) {
		if err := held.Believe(servers[held.Name]); err != nil {
			// An nginx that root started without `user` has workers of uid 65534, which is above the
			// accounts of the system: the master's files alone are read. Anyone may bear the title.
			if st, statErr := procstat.Read(p.pid); statErr == nil && isWorker(held.Args) {
				t.workers = append(t.workers, worker{int(st.Parent), err})
			} else {
				t.doubt(err)
			}
			_ = held.Close() // it was only looked at
			return false
		}
	}
	t.held = append(t.held, held)
	p.held, p.name, p.args = held, held.Name, held.Args
	return true
}

// warnDoubts counts the doubts that were not named.
func (t *taker) warnDoubts() {
	if more := t.doubts - foreign.MostDoubts; more > 0 {
		t.warn("", "and %d more processes are not what they call themselves: not read", more)
	}
}

// release lets go of the processes.
func (t *taker) release() {
	for _, p := range t.held {
		_ = p.Close() // it was only read
	}
}

// isMaster reports whether a process of nginx is the master, which shows the call that
// it was started with as its title.
func isMaster(args []string) bool {
	return len(args) > 0 && strings.HasPrefix(args[0], "nginx: master process ")
}

// isWorker reports whether a process of nginx is none that was started: a worker, or one that
// looks after a cache.
func isWorker(args []string) bool {
	return len(args) > 0 && (strings.HasPrefix(args[0], "nginx: worker process") || strings.HasPrefix(args[0], "nginx: cache "))
}

// nameOf is the name that a text of the process is kept under: its path, or what is no
// path where the process sees another file system.
func (p *process) nameOf(path string) string {
	if p.held != nil && !p.held.Here {
		return "container:" + path
	}
	return path
}

// optionFiles returns the option files that a database server began with.
//
// Source: MySQL 9.7 manual and MariaDB documentation, "Command-Line Options that
// Affect Option-File Handling".
func (p *process) optionFiles() []string {
	if p.name == "nginx" {
		return nil
	}
	files := []string{"/etc/my.cnf", "/etc/mysql/my.cnf"}
	for _, a := range p.args[min(1, len(p.args)):] {
		if a == "--no-defaults" {
			return nil
		}
		if f, ok := strings.CutPrefix(a, "--defaults-file="); ok {
			return []string{f}
		}
		if f, ok := strings.CutPrefix(a, "--defaults-extra-file="); ok {
			files = append(files, f)
		}
	}
	return files
}

// limitNames are the limits that are kept, as the kernel names them and as settings
// are called: "NAME open files".
var limitNames = []struct{ kernel, name string }{
	{"Max open files", "open files"},
	{"Max processes", "processes"},
	{"Max locked memory", "locked memory"},
	{"Max address space", "address space"},
	{"Max core file size", "core file size"},
}

// limits keeps the soft limits of the processes. Processes of one name that differ
// have their values side by side.
func (t *taker) limits(running []*process) {
	values := map[string][]string{}
	for _, p := range running {
		text, err := os.ReadFile(t.root(fmt.Sprintf("/proc/%d/limits", p.pid)))
		if err != nil {
			continue // it has ended, or is another user's
		}
		for name, soft := range parseLimits(string(text)) {
			key := p.name + " " + name
			if !slices.Contains(values[key], soft) {
				values[key] = append(values[key], soft)
			}
		}
	}
	for _, key := range sorted(values) {
		slices.Sort(values[key])
		t.set(ScopeLimits, key, strings.Join(values[key], ", "))
	}
}

// parseLimits returns the soft limits of /proc/PID/limits, by the names of settings.
func parseLimits(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		for _, l := range limitNames {
			if rest, ok := strings.CutPrefix(line, l.kernel); ok {
				if f := strings.Fields(rest); len(f) > 0 {
					out[l.name] = f[0]
				}
			}
		}
	}
	return out
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// sysctls are the settings of the kernel that a web service can feel.
//
// Kernel: Documentation/admin-guide/sysctl, Documentation/networking/ip-sysctl.rst.
var sysctls = strings.Fields(`
	fs.aio-max-nr fs.file-max fs.inotify.max_user_watches fs.nr_open
	kernel.numa_balancing kernel.pid_max kernel.sched_autogroup_enabled kernel.threads-max
	net.core.netdev_max_backlog net.core.rmem_default net.core.rmem_max net.core.somaxconn net.core.wmem_default net.core.wmem_max
	net.ipv4.ip_local_port_range net.ipv4.tcp_abort_on_overflow net.ipv4.tcp_congestion_control net.ipv4.tcp_fastopen
	net.ipv4.tcp_fin_timeout net.ipv4.tcp_keepalive_intvl net.ipv4.tcp_keepalive_probes net.ipv4.tcp_keepalive_time
	net.ipv4.tcp_max_syn_backlog net.ipv4.tcp_max_tw_buckets net.ipv4.tcp_rmem net.ipv4.tcp_slow_start_after_idle
	net.ipv4.tcp_synack_retries net.ipv4.tcp_syncookies net.ipv4.tcp_tw_reuse net.ipv4.tcp_wmem
	net.netfilter.nf_conntrack_max
	vm.dirty_background_bytes vm.dirty_background_ratio vm.dirty_bytes vm.dirty_expire_centisecs vm.dirty_ratio
	vm.dirty_writeback_centisecs vm.max_map_count vm.nr_hugepages vm.overcommit_memory vm.overcommit_ratio vm.swappiness
	vm.vfs_cache_pressure vm.zone_reclaim_mode`)

// sysctl keeps the settings of the kernel that are there.
func (t *taker) sysctl() {
	for _, name := range sysctls {
		b, err := os.ReadFile(t.root("/proc/sys/" + strings.ReplaceAll(name, ".", "/")))
		if err == nil {
			t.set(ScopeSysctl, name, strings.Join(strings.Fields(string(b)), " "))
		}
	}
}
