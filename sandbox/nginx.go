package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/internal/nginxconf"
)

// NginxOptions configure how to run a private nginx.
type NginxOptions struct {
	// Dir is the prefix: logs, pid file and temporary files go there. Empty: a
	// temporary one, removed when the server stops.
	Dir string
	// Port on 127.0.0.1; 0 takes a free one.
	Port int
	// Upstream is the host:port that the default configuration passes requests
	// on to. Empty: nginx answers 200 itself.
	Upstream string
	// Config is the whole nginx.conf; in it {dir}, {port}, {upstream} and {log_format} stand
	// for what was chosen, and for [nginxconf.LogFormat]. It must listen on 127.0.0.1:{port} and keep its pid
	// in {dir}/nginx.pid; temporary files are in {dir}, unless it says where; what has {dir} in it is quoted, as there may be spaces.
	// Empty: a proxy with an LTSV access log.
	Config string
}

// An NginxServer is a running or stopped nginx. Its methods are safe for
// concurrent use.
type NginxServer struct {
	Daemon
	Program    string // the binary
	ConfigFile string
	AccessLog  string // of the default configuration
	ErrorLog   string // as well
}

const nginxHint = "install it: sudo apt-get install nginx-light (no need to run it)"

// nginxDefault keeps everything below the prefix, so that it needs no rights.
const nginxDefault = `{user}
worker_processes 1;
pid "{dir}/nginx.pid";
error_log "{dir}/error.log" warn;
events { worker_connections 1024; }
http {
    {log_format}
    access_log "{dir}/access.log" kasoku;
    server {
        listen 127.0.0.1:{port};
        location / {
            {answer}
        }
    }
}
`

// beginOfHTTP is where the directives of all servers begin.
var beginOfHTTP = lazyregexp.New(`(?m)^[ \t]*http[ \t]*\{`)

// WithNginxTemp returns a configuration whose temporary files are in a directory, where it does not say where: the places
// of Debian's are made by the first nginx of root, and may be written to by its workers' account alone.
func WithNginxTemp(text, dir string) string {
	at := beginOfHTTP().FindStringIndex(text)
	if at == nil {
		return text
	}
	own := ""
	for _, d := range [][2]string{{"client_body_temp_path", "body"}, {"proxy_temp_path", "proxy"}, {"fastcgi_temp_path", "fastcgi"},
		{"uwsgi_temp_path", "uwsgi"}, {"scgi_temp_path", "scgi"}} {
		if !strings.Contains(text, d[0]) {
			own += fmt.Sprintf(" %s %q;", d[0], filepath.Join(dir, d[1]))
		}
	}
	return text[:at[1]] + own + text[at[1]:]
}

// Nginx starts an nginx with the system's binary, as the calling user, root
// included. The context bounds the start alone; the server lives until
// [Daemon.Stop], or the process that started it dies.
func Nginx(ctx context.Context, o NginxOptions) (*NginxServer, error) {
	program, err := command.LookPath("nginx")
	if err != nil {
		return nil, &Error{Err: fmt.Errorf("nginx: %w", err), hint: nginxHint}
	}
	s := &NginxServer{Program: program}
	if err := s.place("nginx", o.Dir, o.Port); err != nil {
		return nil, err
	}
	s.ConfigFile = filepath.Join(s.Dir, "nginx.conf")
	s.AccessLog, s.ErrorLog = filepath.Join(s.Dir, "access.log"), filepath.Join(s.Dir, "error.log")
	err = s.launch(ctx, func() (daemonSpec, error) {
		err := os.WriteFile(s.ConfigFile, []byte(s.configure(o)), 0o644)
		return daemonSpec{
			path: s.Program, args: append(s.Args(), "-g", "daemon off;"),
			pidFile: filepath.Join(s.Dir, "nginx.pid"), log: s.ErrorLog,
		}, err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// configure fills in what was chosen.
func (s *NginxServer) configure(o NginxOptions) string {
	text := o.Config
	if text == "" {
		text = nginxDefault
	}
	// Workers of a root's master would run as an account that may not enter its directory.
	user, answer := "", `return 200 "hello\n";`
	if os.Geteuid() == 0 {
		user = "user root;"
	}
	if o.Upstream != "" {
		answer = "proxy_pass http://{upstream};"
	}
	text = WithNginxTemp(strings.NewReplacer("{user}", user, "{answer}", answer).Replace(text), "{dir}")
	return strings.NewReplacer("{log_format}", nginxconf.LogFormat, "{dir}", s.Dir, "{port}", strconv.Itoa(s.Port), "{upstream}", o.Upstream).Replace(text)
}

// Args are the arguments that choose this server's configuration: followed by
// -T nginx prints it, by -s reload the server reads it anew.
func (s *NginxServer) Args() []string {
	return []string{"-p", s.Dir + "/", "-c", s.ConfigFile, "-e", filepath.Join(s.Dir, "start.log")}
}

// URL returns http://host:port without a path.
func (s *NginxServer) URL() string { return "http://" + s.Addr() }
