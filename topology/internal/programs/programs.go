// Package programs has what is known of programs by their names: their role in a service, and
// which are of the system.
package programs

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

// A Program is what is known of one by its executable.
type Program struct {
	Role     kasoku.MemberRole
	Protocol string // that it speaks as a server, if it is one
}

// known are programs by the name of the executable that runs.
var known = map[string]Program{
	"nginx": {kasoku.RoleWeb, "http"}, "nginx-debug": {kasoku.RoleWeb, "http"}, "openresty": {kasoku.RoleWeb, "http"},
	"angie": {kasoku.RoleWeb, "http"}, "apache": {kasoku.RoleWeb, "http"}, "httpd": {kasoku.RoleWeb, "http"},
	"haproxy": {kasoku.RoleWeb, "http"}, "envoy": {kasoku.RoleWeb, "http"}, "caddy": {kasoku.RoleWeb, "http"},
	"h2o": {kasoku.RoleWeb, "http"}, "traefik": {kasoku.RoleWeb, "http"}, "lighttpd": {kasoku.RoleWeb, "http"},
	"litespeed": {kasoku.RoleWeb, "http"}, "pound": {kasoku.RoleWeb, "http"},
	"varnishd": {kasoku.RoleCache, "http"}, "squid": {kasoku.RoleCache, "http"},
	"mysqld": {kasoku.RoleDatabase, "mysql"}, "mysqld-debug": {kasoku.RoleDatabase, "mysql"},
	"mariadbd": {kasoku.RoleDatabase, "mysql"}, "postgres": {kasoku.RoleDatabase, "postgresql"}, "postmaster": {kasoku.RoleDatabase, "postgresql"},
	"mongod": {kasoku.RoleDatabase, "mongodb"}, "clickhouse": {kasoku.RoleDatabase, "clickhouse"},
	"pgbouncer": {kasoku.RolePooler, "postgresql"}, "pgpool": {kasoku.RolePooler, "postgresql"},
	"proxysql": {kasoku.RolePooler, "mysql"}, "mysqlrouter": {kasoku.RolePooler, "mysql"},
	"maxscale": {kasoku.RolePooler, "mysql"}, "twemproxy": {kasoku.RolePooler, "redis"},
	"nutcracker": {kasoku.RolePooler, "redis"}, "mcrouter": {kasoku.RolePooler, "memcached"},
	"redis-server": {kasoku.RoleStore, "redis"}, "valkey-server": {kasoku.RoleStore, "redis"},
	"keydb-server": {kasoku.RoleStore, "redis"}, "dragonfly": {kasoku.RoleStore, "redis"},
	"memcached":    {kasoku.RoleStore, "memcached"},
	"carbon-cache": {kasoku.RoleStore, "carbon"}, "carbon-cache.py": {kasoku.RoleStore, "carbon"}, "go-carbon": {kasoku.RoleStore, "carbon"},
	"beanstalkd": {kasoku.RoleQueue, "beanstalk"}, "nats-server": {kasoku.RoleQueue, "nats"},
	"rabbitmq-server": {kasoku.RoleQueue, "amqp"}, "gearmand": {kasoku.RoleQueue, "gearman"},
	"docker-proxy": {kasoku.RoleForwarder, ""}, "rootlessport": {kasoku.RoleForwarder, ""},
	"slirp4netns": {kasoku.RoleForwarder, ""}, "pasta": {kasoku.RoleForwarder, ""}, "socat": {kasoku.RoleForwarder, ""},
	"nc": {kasoku.RoleForwarder, ""}, "ncat": {kasoku.RoleForwarder, ""}, "nc.openbsd": {kasoku.RoleForwarder, ""},
	"nc.traditional": {kasoku.RoleForwarder, ""}, "ssh": {kasoku.RoleForwarder, ""}, "kubectl": {kasoku.RoleForwarder, ""},
	"bash": {kasoku.RoleForwarder, ""}, "sh": {kasoku.RoleForwarder, ""}, "dash": {kasoku.RoleForwarder, ""},
	"zsh": {kasoku.RoleForwarder, ""}, "fish": {kasoku.RoleForwarder, ""}, "busybox": {kasoku.RoleForwarder, ""},
}

// system are programs that listen, or are connected to, and are no part of any service.
var system = []string{
	"systemd", "init", "dbus-daemon", "dbus-broker", "sshd", "sshd-session", "chronyd", "ntpd", "dnsmasq", "named",
	"unbound", "cupsd", "rpcbind", "rpc.statd", "master", "exim", "avahi-daemon", "dockerd", "containerd",
	"containerd-shim-runc-v", "containerd-shim", "podman", "conmon", "snapd", "polkitd", "rsyslogd", "syslog-ng",
	"nscd", "sssd", "sssd_nss", "node_exporter", "mysqld_exporter", "redis_exporter", "nginx-exporter",
	"postgres_exporter", "prometheus", "grafana", "grafana-server", "netdata", "mackerel-agent", "datadog-agent",
	"trace-agent", "process-agent", "newrelic-infra", "zabbix_agentd", "telegraf", "statsd_exporter",
	"amazon-ssm-agent", "ssm-agent-worker", "amazon-cloudwatch-agent", "otelcol", "otelcol-contrib", "alloy",
	"promtail", "fluentd", "fluent-bit", "vector", "filebeat", "td-agent", "consul", "tmux", "screen", "ssh-agent",
	"gpg-agent", "gopls", "code-server", "udevd", "systemd-udevd", "xinetd", "inetd", "journald",
	"multipathd", "nmbd", "smbd", "vsftpd", "proftpd", "nfsd", "cloud-init", "google_guest_agent",
	"qemu-ga", "acpid", "gssproxy", "lvmetad", "iscsid", "dirmngr", "tmux: server",
}

// longest is how long a name of a process is at most (proc_pid_comm(5)): a longer one is cut.
const longest = 15

// Name returns the name of an executable without its version: php-fpm8.2 is
// php-fpm.
func Name(exe string) string {
	base := filepath.Base(exe)
	if short := strings.TrimRight(base, "0123456789."); short != "" {
		base = strings.TrimSuffix(short, "-")
	}
	return base
}

// Known returns what is known of a program by its executable or its name.
func Known(exe string) (p Program, ok bool) {
	if exe == "" {
		return p, false
	}
	if p, ok = known[filepath.Base(exe)]; !ok {
		p, ok = known[Name(exe)]
	}
	return p, ok
}

// IsSystem reports whether an executable, or the name of a process, is of the system or
// watches it.
func IsSystem(exe string) bool {
	base := filepath.Base(exe)
	return strings.HasPrefix(base, "systemd-") || strings.HasPrefix(base, "containerd-") || slices.ContainsFunc(system, func(name string) bool {
		return name == base || name == Name(exe) || len(base) == longest && base == name[:min(len(name), longest)]
	})
}

// IsNginx reports whether an executable is nginx or one of its forks.
func IsNginx(exe string) bool {
	return slices.Contains([]string{"nginx", "nginx-debug", "openresty", "angie"}, Name(exe))
}
