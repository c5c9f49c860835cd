package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/sandbox"
)

// A lab starts servers on one core and generators on another.
type lab struct {
	kasoku string // the program
	self   string // this one
	dir    string // for results and run files, in memory where there is such a place
	server string // core of the servers, as taskset takes it
	client string // core of the generators
}

// An invocation is one run of a generator.
type invocation struct {
	path   string
	args   []string
	env    []string
	stdin  string
	exits  []int         // exit codes that are no failure, beside 0
	length time.Duration // that it should take
	memory bool          // read its memory while it runs
	before []string      // files that are removed first
}

// A server is what a generator loads, for the length of one run.
type server interface {
	url() string
	// finish returns what the server saw.
	finish(context.Context) (served, error)
}

// served is what a server saw of one run.
type served struct {
	requests uint64
	perSec   float64       // between first and last request; 0: unknown
	cpu      time.Duration // of the server, over wall
	wall     time.Duration
	sink     sinkReport // of a sink
}

// A reading is what one run of a generator came to.
type reading struct {
	served
	cpu    time.Duration // user and system, of all its processes
	maxRSS uint64        // of the largest of its processes
	memory memory
}

// perRequest returns the generator's CPU time for one request, in µs.
func (r *reading) perRequest() float64 { return inMicros(r.cpu) / float64(r.requests) }

// run runs a generator against a server, which it finishes.
func (l *lab) run(ctx context.Context, srv server, in invocation) (reading, error) {
	var r reading
	err := l.generate(ctx, in, &r)
	// A server is asked also when the generator failed: so it is ended.
	s, e := srv.finish(context.WithoutCancel(ctx))
	if err = errors.Join(err, e, ctx.Err()); err != nil {
		return reading{}, err
	}
	if r.served = s; r.requests == 0 {
		return reading{}, errors.New("sent no request")
	}
	if r.perSec == 0 {
		r.perSec = float64(r.requests) / in.length.Seconds()
	}
	return r, nil
}

// overtime is how much longer than it should a generator may take.
const overtime = 15 * time.Second

func (l *lab) generate(ctx context.Context, in invocation, r *reading) error {
	for _, name := range in.before {
		_ = os.Remove(name) // it may not be there
	}
	ctx, cancel := context.WithTimeout(ctx, in.length+overtime)
	defer cancel()
	said := command.NewTail(2 << 10)
	spec := command.Spec{Path: "taskset", Args: append([]string{"-c", l.client, in.path}, in.args...), Env: in.env,
		Stderr: said, Dir: l.dir,
		DieWithParent: true, Grace: time.Second}
	if in.stdin != "" {
		spec.Stdin = strings.NewReader(in.stdin)
	}
	p, err := command.Start(ctx, spec)
	if err != nil {
		return err
	}
	if in.memory {
		r.memory = watchMemory(p.Pid(), p.Done())
	}
	res, err := p.Wait()
	r.cpu, r.maxRSS = res.User+res.System, res.MaxRSSBytes
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("did not end within %s", in.length+overtime)
	case err == nil && res.Signal == "" && (res.ExitCode == 0 || slices.Contains(in.exits, res.ExitCode)):
		return nil
	}
	return errors.Join(err, &command.ExitError{Name: filepath.Base(in.path), Result: res, Stderr: said.String()})
}

// output runs a program of which the standard output counts, on the generators' core.
func (l *lab) output(ctx context.Context, path string, args ...string) ([]byte, error) {
	return command.Output(ctx, command.Spec{Path: "taskset", Args: append([]string{"-c", l.client, path}, args...),
		Dir: l.dir}, 16<<20)
}

// A sinkServer is a [sink] in a process of its own.
type sinkServer struct {
	proc   *command.Process
	stdout *os.File
	lines  *bufio.Reader
	port   string
}

// sink starts a sink with flags of `load sink`.
func (l *lab) sink(ctx context.Context, flags ...string) (*sinkServer, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p, err := command.Start(ctx, command.Spec{
		Path: "taskset", Args: append([]string{"-c", l.server, l.self, "sink"}, flags...), Stdout: w, Stderr: os.Stderr,
		DieWithParent: true})
	w.Close()
	if err != nil {
		r.Close()
		return nil, err
	}
	s := &sinkServer{proc: p, stdout: r, lines: bufio.NewReader(r)}
	line, err := s.lines.ReadString('\n')
	if s.port = strings.TrimSpace(line); err != nil {
		_, _ = p.Stop()
		r.Close()
		return nil, fmt.Errorf("start the sink: %w", err)
	}
	return s, nil
}

func (s *sinkServer) url() string { return "http://127.0.0.1:" + s.port + "/" }

func (s *sinkServer) finish(context.Context) (served, error) {
	defer s.stdout.Close()
	_ = s.proc.Signal(syscall.SIGTERM) // it fails only when it has gone
	b, err := io.ReadAll(s.lines)
	_, waitErr := s.proc.Wait()
	var out served
	if err = errors.Join(err, waitErr); err == nil {
		err = json.Unmarshal(b, &out.sink)
	}
	if err != nil {
		return served{}, fmt.Errorf("what the sink saw: %w", err)
	}
	r := &out.sink
	out.requests, out.cpu, out.wall = r.Requests, r.CPU, r.Last-r.First
	if out.wall > 0 {
		out.perSec = float64(r.Requests-1) / out.wall.Seconds()
	}
	return out, nil
}

const nginxConfig = `{user}
worker_processes 1;
worker_cpu_affinity %s;
worker_rlimit_nofile 20000;
pid {dir}/nginx.pid;
error_log {dir}/error.log crit;
events { worker_connections 16384; }
http {
    access_log off;
    default_type text/plain;
    sendfile on;
    keepalive_requests 1000000000;
    open_file_cache max=10;
    open_file_cache_valid 1h;
    client_body_temp_path {dir}/body;
    proxy_temp_path {dir}/proxy;
    fastcgi_temp_path {dir}/fastcgi;
    uwsgi_temp_path {dir}/uwsgi;
    scgi_temp_path {dir}/scgi;
    server {
        listen 127.0.0.1:{port} backlog=16384;
        root {dir}/www;
        location /status { stub_status; }
    }
}
`

// An nginxServer is a private nginx, which serves several runs. It must be
// stopped.
type nginxServer struct {
	*sandbox.NginxServer
	before served
	began  time.Time
}

// nginx starts one that serves a file of body bytes.
func (l *lab) nginx(ctx context.Context, body int) (*nginxServer, error) {
	dir := filepath.Join(l.dir, "nginx")
	if err := os.MkdirAll(filepath.Join(dir, "www"), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "www", "file"), bytes.Repeat([]byte("x"), body), 0o644); err != nil {
		return nil, err
	}
	core, err := strconv.Atoi(l.server)
	if err != nil {
		return nil, fmt.Errorf("core of the server: %w", err)
	}
	n, err := sandbox.Nginx(ctx, sandbox.NginxOptions{Dir: dir, Config: fmt.Sprintf(nginxConfig,
		"1"+strings.Repeat("0", core))})
	if err != nil {
		return nil, err
	}
	return &nginxServer{NginxServer: n}, nil
}

// begin is called before each run.
func (n *nginxServer) begin(ctx context.Context) (err error) {
	n.began = time.Now()
	n.before, err = n.look(ctx)
	return err
}

func (n *nginxServer) url() string { return n.URL() + "/file" }

func (n *nginxServer) finish(ctx context.Context) (served, error) {
	wall := time.Since(n.began)
	now, err := n.look(ctx)
	if err != nil {
		return served{}, err
	}
	// One of the requests since then was the first look itself.
	return served{requests: now.requests - n.before.requests - 1, cpu: now.cpu - n.before.cpu, wall: wall}, nil
}

// look asks nginx how many requests it has served.
func (n *nginxServer) look(ctx context.Context) (s served, err error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", n.Addr())
	if err != nil {
		return s, err
	}
	defer c.Close()
	if _, err = io.WriteString(c, "GET /status HTTP/1.0\r\n\r\n"); err != nil {
		return s, err
	}
	b, err := io.ReadAll(c)
	if err != nil {
		return s, err
	}
	if s.requests, err = stubStatus(string(b)); err != nil {
		return s, err
	}
	workers := command.Children(n.Pid())
	if len(workers) == 0 {
		return s, errors.New("nginx has no worker")
	}
	s.cpu, err = cpuOf(workers[0])
	return s, err
}

// stubStatus returns the requests that nginx's stub_status counts: the third
// number below "server accepts handled requests".
func stubStatus(text string) (uint64, error) {
	_, rest, found := strings.Cut(text, "server accepts handled requests")
	fields := strings.Fields(rest)
	if !found || len(fields) < 3 {
		return 0, fmt.Errorf("stub_status of nginx: %q", text)
	}
	return strconv.ParseUint(fields[2], 10, 64)
}

func inMicros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
