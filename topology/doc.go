// Package topology looks at what runs on this host: web servers, databases,
// applications, their logs and their configuration.
//
// The one idea: each fact says how it was found ([Service.How], [Log.How]), and
// what could not be read becomes a [Note] with the reason instead of an error,
// so that a guess is never taken for knowledge. [Look] never needs root, changes
// nothing and is bounded in time; as root it sees more: the sockets and programs
// of other users.
//
// Files are read below [Options.Root], so that tests look at a tree of their
// own. On the real one, files that a process names are read as package foreign does,
// of processes that are believed; no program that a process points to is run. Services
// are asked on loopback whether they count something (pprof, expvar, stub_status,
// Redis's PING, varnishstat). Command lines may hold secrets: they are read, and not
// kept.
//
// Start with [Look]; `kasoku doctor` asks [CheckFile] and [CheckHost] in addition.
// Sizes are bytes.
//
// Sources: proc(5) and its pages proc_pid_cgroup(5), proc_pid_fd(5), proc_net(5);
// systemd's sd_booted(3); nginx, ngx_http_log_module and "Command-line
// parameters"; MySQL 9.7 manual, "Using Option Files".
package topology
