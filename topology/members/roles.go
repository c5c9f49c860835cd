package members

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/topology/scan"
)

// A program is what is known of one by its executable.
type program struct {
	role     kasoku.MemberRole
	protocol string // that it speaks as a server
}

// programs are known by the name of the executable that runs.
var programs = map[string]program{
	"nginx": {kasoku.RoleWeb, "http"}, "nginx-debug": {kasoku.RoleWeb, "http"}, "openresty": {kasoku.RoleWeb, "http"},
	"angie": {kasoku.RoleWeb, "http"}, "apache": {kasoku.RoleWeb, "http"}, "httpd": {kasoku.RoleWeb, "http"},
	"haproxy": {kasoku.RoleWeb, "http"}, "envoy": {kasoku.RoleWeb, "http"}, "caddy": {kasoku.RoleWeb, "http"},
	"h2o": {kasoku.RoleWeb, "http"}, "traefik": {kasoku.RoleWeb, "http"}, "lighttpd": {kasoku.RoleWeb, "http"},
	"litespeed": {kasoku.RoleWeb, "http"}, "pound": {kasoku.RoleWeb, "http"},
	"varnishd": {kasoku.RoleCache, "http"}, "squid": {kasoku.RoleCache, "http"},
	"mysqld": {kasoku.RoleDatabase, "mysql"}, "mysqld-debug": {kasoku.RoleDatabase, "mysql"},
	"mariadbd": {kasoku.RoleDatabase, "mysql"}, "postgres": {kasoku.RoleDatabase, "postgresql"},
	"mongod": {kasoku.RoleDatabase, "mongodb"}, "clickhouse": {kasoku.RoleDatabase, "clickhouse"},
	"pgbouncer": {kasoku.RolePooler, "postgresql"}, "pgpool": {kasoku.RolePooler, "postgresql"},
	"proxysql": {kasoku.RolePooler, "mysql"}, "mysqlrouter": {kasoku.RolePooler, "mysql"},
	"maxscale": {kasoku.RolePooler, "mysql"}, "twemproxy": {kasoku.RolePooler, "redis"},
	"nutcracker": {kasoku.RolePooler, "redis"}, "mcrouter": {kasoku.RolePooler, "memcached"},
	"redis-server": {kasoku.RoleStore, "redis"}, "valkey-server": {kasoku.RoleStore, "redis"},
	"keydb-server": {kasoku.RoleStore, "redis"}, "dragonfly": {kasoku.RoleStore, "redis"},
	"memcached":  {kasoku.RoleStore, "memcached"},
	"beanstalkd": {kasoku.RoleQueue, "beanstalk"}, "nats-server": {kasoku.RoleQueue, "nats"},
	"rabbitmq-server": {kasoku.RoleQueue, "amqp"}, "gearmand": {kasoku.RoleQueue, "gearman"},
	"docker-proxy": {kasoku.RoleForwarder, ""}, "rootlessport": {kasoku.RoleForwarder, ""},
	"slirp4netns": {kasoku.RoleForwarder, ""}, "pasta": {kasoku.RoleForwarder, ""}, "socat": {kasoku.RoleForwarder, ""},
	"nc": {kasoku.RoleForwarder, ""}, "ncat": {kasoku.RoleForwarder, ""}, "nc.openbsd": {kasoku.RoleForwarder, ""},
	"nc.traditional": {kasoku.RoleForwarder, ""}, "ssh": {kasoku.RoleForwarder, ""}, "kubectl": {kasoku.RoleForwarder, ""},
	"bash": {kasoku.RoleForwarder, ""}, "sh": {kasoku.RoleForwarder, ""}, "dash": {kasoku.RoleForwarder, ""},
	"zsh": {kasoku.RoleForwarder, ""}, "fish": {kasoku.RoleForwarder, ""}, "busybox": {kasoku.RoleForwarder, ""},
}

// languages are those of runtimes, by the name of their executable.
var languages = map[string]string{
	"python": "python", "pypy": "python", "uwsgi": "python", "node": "javascript", "nodejs": "javascript",
	"bun": "javascript", "deno": "javascript", "ruby": "ruby", "php-fpm": "php", "php": "php", "php-cgi": "php",
	"frankenphp": "php", "java": "java", "perl": "perl", "dotnet": "csharp", "beam.smp": "erlang", "mono": "csharp",
}

// interpreters run any number of programs: that two processes run one says nothing.
var interpreters = []string{"python", "pypy", "node", "nodejs", "bun", "deno", "ruby", "php", "java", "perl", "dotnet",
	"beam.smp", "mono", "busybox", "lua", "luajit", "ld-linux-x86-64.so", "ld-musl-x86_64.so", "qemu-x86_", "tclsh",
	"guile", "R", "julia", "wine", "runc", "env", "sudo", "su", "setpriv", "timeout", "nice", "nohup", "strace", "gdb"}

// frameworks are servers of applications that run in an interpreter, by a word of the
// title or of the command line. They name a member and decide nothing.
var frameworks = map[string][]string{
	"ruby":       {"puma", "unicorn", "pitchfork", "falcon", "passenger", "thin", "sidekiq"},
	"python":     {"gunicorn", "uvicorn", "hypercorn", "daphne", "granian", "waitress-serve", "uwsgi", "celery"},
	"javascript": {"pm2", "next", "nuxt"},
	"perl":       {"starman", "starlet", "plackup", "hypnotoad", "gazelle"},
}

// systemPrograms listen, or are connected to, and are no part of any service.
var systemPrograms = []string{
	"systemd", "init", "dbus-daemon", "dbus-broker", "sshd", "sshd-session", "chronyd", "ntpd", "dnsmasq", "named",
	"unbound", "cupsd", "rpcbind", "rpc.statd", "master", "exim", "avahi-daemon", "dockerd", "containerd",
	"containerd-shim-runc-v", "containerd-shim", "podman", "conmon", "snapd", "polkitd", "rsyslogd", "syslog-ng",
	"nscd", "sssd", "sssd_nss", "node_exporter", "mysqld_exporter", "redis_exporter", "nginx-exporter",
	"postgres_exporter", "prometheus", "grafana", "grafana-server", "netdata", "mackerel-agent", "datadog-agent",
	"trace-agent", "process-agent", "newrelic-infra", "zabbix_agentd", "telegraf", "statsd_exporter",
	"amazon-ssm-agent", "ssm-agent-worker", "amazon-cloudwatch-agent", "otelcol", "otelcol-contrib", "alloy",
	"promtail", "fluentd", "fluent-bit", "vector", "filebeat", "td-agent", "consul", "tmux", "screen", "ssh-agent",
	"gpg-agent", "gopls", "code-server", "udevd", "systemd-udevd", "xinetd", "inetd", "journald",
}

// inits start programs and may open sockets for them.
var inits = []string{"systemd", "init", "tini", "tini-static", "dumb-init", "docker-init", "catatonit", "runit",
	"runsv", "runsvdir", "s6-svscan", "s6-supervise", "supervise", "start_server", "einhorn", "xinetd", "inetd",
	"systemd-socket-activate", "supervisord", "daemontools", "launchd"}

var shells = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "csh", "tcsh", "busybox"}

func isShell(base string) bool       { return slices.Contains(shells, base) }
func isInterpreter(base string) bool { return slices.Contains(interpreters, base) }

// isInit reports whether a process is what starts others. The first process of a
// container is one only when its program says so.
func isInit(p *scan.Process) bool {
	return slices.Contains(inits, programName(p.Exe)) || p.PID == 1 && p.Exe == ""
}

// opensForOthers reports whether a process opens sockets that others accept at: an init,
// or a supervisor that an interpreter runs.
func opensForOthers(p *scan.Process) bool {
	if isInit(p) {
		return true
	}
	base := programName(p.Exe)
	if !isInterpreter(base) {
		return false
	}
	if isPM2(p) {
		return true
	}
	return slices.ContainsFunc(p.Args[:min(len(p.Args), 3)], func(a string) bool {
		return slices.Contains(inits, filepath.Base(a)) || filepath.Base(a) == "circusd"
	})
}

// isPM2 reports whether a process says that it is the one that runs all programs of PM2, and
// listens for those in its cluster mode.
func isPM2(p *scan.Process) bool {
	return len(p.Args) > 0 && strings.HasPrefix(p.Args[0], "PM2 v") && strings.Contains(p.Args[0], "God Daemon")
}

// program returns the name of what the instance runs, for people.
func (in *instance) program() string {
	if f := frameworkOf(in); f != "" {
		return f
	}
	if in.leader.Exe == "" {
		return in.leader.Name
	}
	base := programName(in.leader.Exe)
	if base == "apache" {
		return "apache2"
	}
	return base
}

// Doubted reports whether [Decide] asks if a program is what it says: one that is known by
// its executable.
func Doubted(exe string) bool {
	_, ok := programs[programName(exe)]
	return ok && exe != ""
}

// known reports whether an instance is of a program that is known by its executable.
func known(in *instance) bool {
	return Doubted(in.leader.Exe)
}

// kind returns the role and the protocol of an instance; what is not known by its
// executable is an application.
func kind(in *instance) program {
	if p, ok := programs[programName(in.leader.Exe)]; ok && in.leader.Exe != "" {
		return p
	}
	return program{role: kasoku.RoleApplication}
}

// system reports whether an instance is of the system or watches it.
func (in *instance) system() bool {
	p := in.leader
	if p.Exe == "" {
		return p.PID == 1 || slices.Contains(systemPrograms, p.Name)
	}
	base := filepath.Base(p.Exe)
	return isInit(p) || slices.Contains(systemPrograms, base) || slices.Contains(systemPrograms, programName(p.Exe)) ||
		strings.HasPrefix(base, "systemd-")
}

func languageOf(in *instance) string { return languages[programName(in.leader.Exe)] }

// frameworkOf returns the server of applications that an interpreter runs.
func frameworkOf(in *instance) string {
	base := programName(in.leader.Exe)
	if base == "php-fpm" || base == "uwsgi" {
		return base
	}
	language := languages[base]
	for _, name := range frameworks[language] {
		for i, a := range in.leader.Args[:min(len(in.leader.Args), 4)] {
			word := strings.TrimRight(strings.TrimSuffix(filepath.Base(strings.Fields(a + " -")[0]), ":"), "0123456789.")
			if i < 4 && word == name {
				return name
			}
		}
	}
	return ""
}
