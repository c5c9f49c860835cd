package members

import (
	"slices"
	"testing"

	"github.com/kasoku/kasoku/topology/scan"
)

// TestDecide_Shared: one program that serves several services is, for one of them, the part
// that listens for it.
func TestDecide_Shared(t *testing.T) {
	const nginx = "proc 10 1 /usr/sbin/nginx\nproc 11 10 /usr/sbin/nginx\nlisten 10,11 0.0.0.0:80\ntarget 127.0.0.1:80\n"
	const dbs = "proc 30 1 /usr/sbin/mariadbd\nlisten 30 127.0.0.1:3306\nproc 31 1 /usr/sbin/mariadbd\n" +
		"listen 31 127.0.0.1:3307\n"
	const fpm = "proc 20 1 /usr/sbin/php-fpm8.2 unit=php-fpm.service\n" +
		"proc 21 20 /usr/sbin/php-fpm8.2 unit=php-fpm.service\n" +
		"proc 22 20 /usr/sbin/php-fpm8.2 unit=php-fpm.service\nlisten 20,21 /run/a.sock\nlisten 20,22 /run/b.sock\n" +
		"conn 21 127.0.0.1:41000 > 30 127.0.0.1:3306\nconn 22 127.0.0.1:41001 > 31 127.0.0.1:3307\n"
	const pm2 = "proc 20 1 /usr/bin/node -- PM2 v6.0.5: God Daemon (/root/.pm2)\nlisten 20 127.0.0.1:8080\n" +
		"listen 20 127.0.0.1:8081\n" +
		"proc 21 20 /usr/bin/node -- /srv/a.js\nproc 22 20 /usr/bin/node -- /srv/a.js\n" +
		"proc 23 20 /usr/bin/node -- /srv/b.js\n" +
		"conn 22 127.0.0.1:41000 > 30 127.0.0.1:3306\nconn 23 127.0.0.1:41001 > 31 127.0.0.1:3307\n" +
		"conn 2 127.0.0.1:42001 > 23 127.0.0.1:8081\n"
	f := func(name, text, want, unknown string) { t.Helper(); check(t, name, text, want, unknown) }

	f("a pool of PHP-FPM", nginx+dbs+fpm+"web 10 80 - /run/a.sock\n", "web 10, application 20, database 30", "")
	f("another pool of it", nginx+dbs+fpm+"web 10 80 - /run/b.sock\n", "web 10, application 20, database 31", "")
	f("a pool without a worker now", nginx+dbs+fpm+"listen 20 /run/c.sock\nweb 10 80 - /run/c.sock\n",
		"web 10, application 20", "")
	f("a pool that is named by its worker", dbs+fpm+"pid 21\n", "application 20, database 30", "")
	f("all pools, by their unit", dbs+fpm+"unit php-fpm.service\n",
		"application 20, application 20, database 30, database 31", "")
	f("uWSGI's emperor", nginx+dbs+
		"proc 20 1 /usr/bin/uwsgi-core\nproc 21 20 /usr/bin/uwsgi-core\nproc 22 20 /usr/bin/uwsgi-core\n"+
		"proc 23 21 /usr/bin/uwsgi-core\n"+
		"proc 24 22 /usr/bin/uwsgi-core\nlisten 21,23 /run/a.sock\nlisten 22,24 /run/b.sock\n"+
		"conn 23 127.0.0.1:41000 > 30 127.0.0.1:3306\n"+
		"conn 24 127.0.0.1:41001 > 31 127.0.0.1:3307\nweb 10 80 - /run/a.sock\n", "web 10, application 21, database 30", "")
	f("an application of PM2", dbs+pm2+"target 127.0.0.1:8080\nconn - 127.0.0.1:42000 > 21 127.0.0.1:8080\n",
		"application 21, database 30", "")
	f("the same, accepted and not yet handed over", dbs+pm2+
		"target 127.0.0.1:8080\nconn - 127.0.0.1:42000 > 21 127.0.0.1:8080\n"+
		"conn - 127.0.0.1:42002 > 20 127.0.0.1:8080\n", "application 21, database 30", "")
	f("an application of PM2, no request is seen", dbs+pm2+"target 127.0.0.1:8080\n", "",
		"who listens at 127.0.0.1:8080")
	f("after nginx, no request is seen", nginx+dbs+pm2+"web 10 80 - 127.0.0.1:8080\n", "web 10",
		"send a request, then look again")
	f("a cluster of Node.js, workers of another file", dbs+
		"proc 20 1 /usr/bin/node -- node /srv/first.js\nproc 21 20 /usr/bin/node -- node /srv/work.js\n"+
		"listen 20 127.0.0.1:8080\ntarget 127.0.0.1:8080\nconn 21 127.0.0.1:41000 > 30 127.0.0.1:3306\n",
		"application 20, database 30", "")
}

// TestDecide_Roles: what a program is in this service follows from what it calls.
func TestDecide_Roles(t *testing.T) {
	const db = "proc 30 1 /usr/sbin/mariadbd\nlisten 30 127.0.0.1:3306\n"
	const app = "proc 20 1 /srv/a/app\nlisten 20 127.0.0.1:8080\n"
	const apache = "proc 10 1 /usr/sbin/apache2\nproc 11 10 /usr/sbin/apache2\nlisten 10,11 [::]:80\n" +
		"target 127.0.0.1:80\n"
	f := func(name, text, want, unknown string) { t.Helper(); check(t, name, text, want, unknown) }

	f("a balancer of databases", app+db+"target 127.0.0.1:8080\nproc 25 1 /usr/sbin/haproxy\nlisten 25 127.0.0.1:3307\n"+
		"conn 20 127.0.0.1:41000 > 25 127.0.0.1:3307\nconn 25 127.0.0.1:41001 > 30 127.0.0.1:3306\n",
		"application 20, pooler 25, database 30", "")
	f("Apache before an application, and its own sites' database", apache+app+db+
		"conn 11 127.0.0.1:41000 > 20 127.0.0.1:8080\n"+
		"conn 11 127.0.0.1:41001 > 30 127.0.0.1:3306\n", "web 10, application 20", "")
	f("a web server of which nothing is seen", apache+app, "web 10", "which program answers for apache2")
	const two = "proc 10 1 /usr/sbin/haproxy\nlisten 10 0.0.0.0:80\ntarget 127.0.0.1:80\n" +
		"proc 12 1 /usr/sbin/nginx -- nginx: master process nginx -c /a\n" +
		"listen 12 127.0.0.1:81\nproc 14 1 /usr/sbin/nginx -- nginx: master process nginx -c /b\nlisten 14 127.0.0.1:82\n" +
		"conn 10 127.0.0.1:41000 > 12 127.0.0.1:81\nconn 10 127.0.0.1:41001 > 14 127.0.0.1:82\n"
	f("two nginx are no copies of one program", two, "web 10", "which program answers for haproxy")
}

// TestDecide_SharedListeners: by where it listens the children of a shared leader are known.
func TestDecide_SharedListeners(t *testing.T) {
	a := arrange(t, "proc 20 1 /usr/sbin/php-fpm8.2\nproc 21 20 /usr/sbin/php-fpm8.2\nproc 22 20 /usr/sbin/php-fpm8.2\n"+
		"listen 20,21 127.0.0.1:9000\nlisten 20,22 127.0.0.1:9001\ntarget 127.0.0.1:9000\n")
	r := Decide(&a.snap, a.q)
	var inodes []uint32
	for _, k := range a.snap.Sockets {
		if slices.Contains(k.Owners, 21) {
			inodes = append(inodes, k.Inode)
		}
	}
	if len(r.Service.Members) != 1 || !slices.Equal(r.Shared[r.Service.Members[0].ID], inodes) {
		t.Errorf("shared %v, want %v: %+v", r.Shared, inodes, r.Service.Members)
	}
	if !slices.Equal(r.Silent, []int{20, 21}) {
		t.Errorf("silent %v", r.Silent)
	}
}

// TestDecide_Past: connections that were there at earlier looks are not counted as if they were
// there at a time.
func TestDecide_Past(t *testing.T) {
	const text = "proc 20 1 /srv/a/app\nlisten 20 127.0.0.1:8080\ntarget 127.0.0.1:8080\nproc 30 1 /srv/c/other\n" +
		"conn 30 127.0.0.1:41000 > 20 127.0.0.1:8080 n=3\n"
	for present, want := range []int{1, 1, 2} {
		a := arrange(t, text)
		n := 0
		for i := range a.snap.Sockets {
			if k := &a.snap.Sockets[i]; k.State == scan.Established && slices.Contains(k.Owners, 20) {
				k.Past = n >= present
				n++
			}
		}
		s := Decide(&a.snap, a.q).Service
		if n != 3 || len(s.Members) != 1 || s.Members[0].Others != want || s.Edges[0].Seen != want {
			t.Errorf("%d of %d present: %+v %+v, want %d", present, n, s.Members, s.Edges, want)
		}
	}
}

// TestDecide_SharedLogs: of the logs that a leader of several pools has open, those that a pool's
// own workers write are the pool's; an error log that all write is none's.
func TestDecide_SharedLogs(t *testing.T) {
	a := arrange(t, "proc 20 1 /usr/sbin/php-fpm8.2 log=/l/all\nproc 21 20 /usr/sbin/php-fpm8.2 log=/l/a\n"+
		"proc 22 20 /usr/sbin/php-fpm8.2 log=/l/b\nlisten 20,21 /run/a.sock\nlisten 20,22 /run/b.sock\ntarget /run/a.sock\n")
	s := Decide(&a.snap, a.q).Service
	if len(s.Members) != 1 || !slices.Equal(s.Members[0].Logs, []string{"/l/a"}) {
		t.Errorf("%+v", s.Members)
	}
}

// TestDecide_Workers: the workers to which root's process gave another user are no reason to
// doubt it; one that root's process did not make is.
func TestDecide_Workers(t *testing.T) {
	const nginx = "listen 10,11 0.0.0.0:80\ntarget 127.0.0.1:80\nproc 20 1 /srv/b/app\nlisten 20 127.0.0.1:8080\n" +
		"conn 11 127.0.0.1:41000 > 20 127.0.0.1:8080\n"
	f := func(name, text string, want []int) {
		t.Helper()
		a := arrange(t, text+nginx)
		if r := Decide(&a.snap, a.q); !slices.Equal(r.Read, want) {
			t.Errorf("%s: to be read: %v, want %v", name, r.Read, want)
		}
	}
	const master, worker = "proc 10 1 /usr/sbin/nginx\n", "proc 11 10 /usr/sbin/nginx uid=65534 doubt=uid\n"
	f("root's", master+worker, []int{10})
	f("another user's", "proc 10 1 /usr/sbin/nginx uid=61001 doubt=uid\n"+worker, nil)
	f("its worker is doubted, and it is not root's", "proc 10 1 /usr/sbin/nginx uid=33\n"+worker, nil)
	f("what a worker started", master+worker+"proc 12 11 /usr/sbin/nginx uid=65534 doubt=uid\n", nil)
}
