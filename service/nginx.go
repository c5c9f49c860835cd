package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/kasoku/kasoku/command"
)

// NginxOptions say how to run a private nginx.
type NginxOptions struct {
	// Dir is the prefix: logs, pid file and temporary files go there. Empty: a
	// temporary one, removed when the server stops.
	Dir string
	// Port on 127.0.0.1; 0 takes a free one.
	Port int
	// Upstream is the host:port that the default configuration passes requests
	// on to. Empty: nginx answers 200 itself.
	Upstream string
	// Config is the whole nginx.conf; in it {dir}, {port} and {upstream} stand
	// for what was chosen. It must listen on 127.0.0.1:{port} and keep its pid
	// in {dir}/nginx.pid; what has {dir} in it is quoted, as there may be spaces.
	// Empty: a proxy with an LTSV access log.
	Config string
}

// An NginxServer is a running or stopped nginx. Its methods are safe for
// concurrent use.
type NginxServer struct {
	Program    string // the binary
	Dir        string // absolute
	Port       int
	ConfigFile string
	AccessLog  string // of the default configuration
	ErrorLog   string // as well

	temporary bool
	mu        sync.Mutex // held by who starts or stops
	proc      *process
}

const nginxHint = "install it: sudo apt-get install nginx-light (no need to run it)"

// nginxDefault keeps everything below the prefix, so that it needs no rights.
const nginxDefault = `{user}
worker_processes 1;
pid "{dir}/nginx.pid";
error_log "{dir}/error.log" warn;
events { worker_connections 1024; }
http {
    log_format ltsv "time:$msec\tmethod:$request_method\turi:$request_uri\tstatus:$status\tsize:$body_bytes_sent\treqtime:$request_time\tupstream_time:$upstream_response_time";
    access_log "{dir}/access.log" ltsv;
    client_body_temp_path "{dir}/body";
    proxy_temp_path "{dir}/proxy";
    fastcgi_temp_path "{dir}/fastcgi";
    uwsgi_temp_path "{dir}/uwsgi";
    scgi_temp_path "{dir}/scgi";
    server {
        listen 127.0.0.1:{port};
        location / {
            {answer}
        }
    }
}
`

// Nginx starts an nginx with the system's binary, as the calling user, root
// included. The context bounds the start alone; the server lives until
// [NginxServer.Stop], or the process that started it dies.
func Nginx(ctx context.Context, o NginxOptions) (*NginxServer, error) {
	program, err := command.LookPath("nginx")
	if err != nil {
		return nil, &Error{Err: fmt.Errorf("nginx: %w", err), hint: nginxHint}
	}
	s := &NginxServer{Program: program, Port: o.Port}
	if o.Dir == "" {
		if o.Dir, err = os.MkdirTemp("", "kasoku-nginx-"); err != nil {
			return nil, fmt.Errorf("nginx: directory: %w", err)
		}
		s.temporary = true
	}
	if s.Dir, err = filepath.Abs(o.Dir); err == nil {
		err = os.MkdirAll(s.Dir, 0o755)
	}
	if err != nil {
		return nil, fmt.Errorf("nginx: directory: %w", err)
	}
	s.ConfigFile = filepath.Join(s.Dir, "nginx.conf")
	s.AccessLog, s.ErrorLog = filepath.Join(s.Dir, "access.log"), filepath.Join(s.Dir, "error.log")
	s.mu.Lock()
	defer s.mu.Unlock()
	for attempt := 0; ; attempt++ {
		err := s.start(ctx, o)
		if err == nil {
			return s, nil
		}
		if o.Port != 0 || attempt >= 2 || !strings.Contains(err.Error(), "Address already in use") {
			s.cleanUp()
			return nil, err
		}
	}
}

// start writes the configuration, runs the server and waits until it answers.
func (s *NginxServer) start(ctx context.Context, o NginxOptions) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if o.Port == 0 {
		port, err := FreePort()
		if err != nil {
			return err
		}
		s.Port = port
	}
	if err := os.WriteFile(s.ConfigFile, []byte(s.configure(o)), 0o644); err != nil {
		return fmt.Errorf("nginx: configuration: %w", err)
	}
	_ = os.Remove(s.pidFile()) // a stale one of a killed server
	logFrom := fileSize(s.ErrorLog)
	said := command.NewTail(16 << 10)
	// A killed master would leave its workers behind; one that is told to end takes them along.
	child, err := command.Start(context.WithoutCancel(ctx), command.Spec{
		Path: s.Program, Args: append(s.Args(), "-g", "daemon off;"), Dir: s.Dir,
		Stdout: said, Stderr: said, CleanEnv: true, EndWithParent: true,
	})
	if err != nil {
		return fmt.Errorf("nginx: %w", err)
	}
	p := ownProcess(child)
	if err := s.awaitReady(ctx, p); err != nil {
		_ = p.kill()
		log := strings.TrimSpace(said.String() + "\n" + tailOf(s.ErrorLog, logFrom))
		return &Error{Err: fmt.Errorf("start nginx on port %d: %w", s.Port, err), Log: log}
	}
	s.proc = p
	return nil
}

// configure fills in what was chosen.
func (s *NginxServer) configure(o NginxOptions) string {
	text := o.Config
	if text == "" {
		text = nginxDefault
	}
	// Workers of a root's master would be nobody, who may not enter its directory.
	user, answer := "", `return 200 "hello\n";`
	if os.Geteuid() == 0 {
		user = "user root;"
	}
	if o.Upstream != "" {
		answer = "proxy_pass http://{upstream};"
	}
	text = strings.NewReplacer("{user}", user, "{answer}", answer).Replace(text)
	return strings.NewReplacer("{dir}", s.Dir, "{port}", strconv.Itoa(s.Port), "{upstream}", o.Upstream).Replace(text)
}

// Args are the arguments that choose this server's configuration: with -T
// behind them nginx prints it, with -s reload the server reads it anew.
func (s *NginxServer) Args() []string {
	return []string{"-p", s.Dir + "/", "-c", s.ConfigFile, "-e", filepath.Join(s.Dir, "start.log")}
}

func (s *NginxServer) pidFile() string { return filepath.Join(s.Dir, "nginx.pid") }

// awaitReady polls until the server has written its pid and accepts connections.
func (s *NginxServer) awaitReady(ctx context.Context, p *process) error {
	var dialer net.Dialer
	return p.await(ctx, s.pidFile(), func() bool {
		conn, err := dialer.DialContext(ctx, "tcp", s.Addr())
		if err == nil {
			_ = conn.Close() // nothing was said
		}
		return err == nil
	})
}

// Addr returns host:port.
func (s *NginxServer) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)) }

// URL returns http://host:port without a path.
func (s *NginxServer) URL() string { return "http://" + s.Addr() }

// Pid returns the master's process id, 0 when it does not run.
func (s *NginxServer) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil || !s.proc.alive() {
		return 0
	}
	return s.proc.pid
}

// Stop ends the server and waits until its processes are gone. When ctx ends
// first it is killed, which is an error. Stopping a stopped server does nothing.
func (s *NginxServer) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.cleanUp()
	p := s.proc
	if p == nil || !p.alive() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	p.signal(syscall.SIGTERM) // to the group: master and workers
	select {
	case <-p.done():
		return p.verifyGone()
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("stop nginx: killed, it did not end by itself: %w", ctx.Err()), p.kill())
	}
}

func (s *NginxServer) cleanUp() {
	if s.temporary {
		_ = os.RemoveAll(s.Dir)
	}
}
