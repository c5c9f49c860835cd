package topology

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/internal/mounts"
	"github.com/kasoku/kasoku/internal/nginxconf"
)

// NginxPrograms and DatabasePrograms are the names that the programs of nginx and of
// MySQL or MariaDB have.
var (
	NginxPrograms    = []string{"nginx", "nginx-debug", "openresty", "angie"}
	DatabasePrograms = []string{"mysqld", "mariadbd", "mysqld-debug", "mysqld_safe.bin"}
)

// mostConfig bounds the files of a configuration together, in bytes, and readWithin the
// time in which they are read.
const (
	mostConfig = 8 << 20
	readWithin = 5 * time.Second
)

// A NginxConfig is the configuration of a running nginx, read from its files. No program
// is run, neither the one that calls itself nginx nor another of that name: a
// configuration may load modules and name any file.
type NginxConfig struct {
	Path   string // of the first file
	Prefix string
	Built  map[string]string // paths that were compiled into the program, by the names of its configure
	Config nginxconf.Config
	Files  []NginxFile
	Unread []error // included files that could not be read; where it was cut, being too long

	Version string // of nginx, 1.22.1; empty of programs made from it, and when it is hidden

	others map[string]bool // files that others than root and nginx's user may have written
	open   func() (mounts.Open, error)
	which  func(path string) (foreign.Identity, error) // file that a path leads to for nginx
	plain  bool                                        // kasoku may read what its user may, and no more
}

// MayName reports whether what a file of the configuration names as a log is one, and whether
// that is known. Who may write a file that root's nginx includes could name any file, so that
// nginx must have it open, as it has its logs. Without privileges that may be hidden: such a
// file is then read with the rights of who asks alone.
func (c *NginxConfig) MayName(file, log string) (ok, known bool) {
	if !c.others[file] || c.open == nil {
		return true, true
	}
	open, hidden := c.open()
	if _, ok := open.Names[log]; ok {
		return true, true
	}
	is, err := c.which(log) // it may be named by way of a link
	switch {
	case err == nil && open.Has(is.Device, is.Inode):
		return true, true
	case hidden != nil && c.plain:
		return true, true
	}
	return false, hidden == nil && (err == nil || errors.Is(err, fs.ErrNotExist))
}

// Cut returns the error that names where the configuration goes on and was not read; nil
// when all of it was.
func (c *NginxConfig) Cut() error {
	for _, err := range c.Unread {
		var syntax *nginxconf.SyntaxError
		if errors.As(err, &syntax) {
			return err
		}
	}
	return nil
}

// Resolve returns where a path of the configuration leads.
func (c *NginxConfig) Resolve(path string) string { return below(c.Prefix, path) }

// A NginxFile is one file of a configuration, as the server sees it.
type NginxFile struct {
	Path string
	foreign.File
}

// ReadNginx reads the configuration of an nginx that is believed. The error is that of the
// first file; a fault in an included file is none, since nginx runs with it.
//
// Files that a file includes are read with the rights of its owner, so that the owner of
// one site of many reaches nothing that only root may read.
func ReadNginx(outer context.Context, p *foreign.Process) (*NginxConfig, error) {
	ctx, cancel := context.WithTimeout(outer, readWithin)
	defer cancel()
	left := mostConfig
	version := ""
	conf, err := readNginx(nginxFiles{
		args: p.Args,
		built: func() map[string]string {
			texts, _ := foreign.ReadExe(ctx, p, mostProgram, builtTexts) // hidden: the defaults
			version = parseNginxVersion(texts.version)
			return parseConfigure(texts.configure)
		},
		read: func(as *foreign.Writer, path string) (foreign.File, error) {
			f, err := p.For(as).ReadFile(ctx, path, left)
			left -= len(f.Data)
			return f, err
		},
		glob: func(as *foreign.Writer, pattern string) []string {
			found, _ := p.For(as).Glob(ctx, pattern) // what cannot be listed is not included
			return found
		},
		writer: func(f foreign.File, as *foreign.Writer) *foreign.Writer { return p.WriterOf(f, as) },
	})
	if conf != nil {
		conf.Version, conf.plain = version, !foreign.Privileged()
		conf.open = sync.OnceValues(func() (mounts.Open, error) { return mounts.ReadOpen(p.PID) })
		var last time.Time // of all paths together
		conf.which = func(path string) (foreign.Identity, error) {
			if last.IsZero() {
				last = time.Now().Add(readWithin)
			}
			ctx, cancel := context.WithDeadline(outer, last)
			defer cancel()
			return p.Identify(ctx, path)
		}
	}
	return conf, err
}

// nginxFiles is how a configuration is read: each file for the one whose words name it.
type nginxFiles struct {
	args   []string
	built  func() map[string]string
	read   func(as *foreign.Writer, path string) (foreign.File, error)
	glob   func(as *foreign.Writer, pattern string) []string
	writer func(f foreign.File, as *foreign.Writer) *foreign.Writer
}

// errNoMaster is why the configuration of an nginx is not known of which workers alone can be seen.
var errNoMaster = errors.New("which configuration it has stands in the call of its master process, which cannot be seen")

func readNginx(from nginxFiles) (*NginxConfig, error) {
	if isWorkerTitle(from.args) {
		return nil, errNoMaster // that which is compiled in may be another one's
	}
	out := &NginxConfig{Built: from.built(), others: map[string]bool{}}
	conf, prefix := parseNginxCall(from.args)
	if conf == "" {
		conf = out.Built["conf-path"]
	}
	if out.Prefix = out.Built["prefix"]; prefix != "" {
		out.Prefix = prefix
	}
	out.Path = below(out.Prefix, conf)
	wrote := map[string]*foreign.Writer{} // by the paths of the files that are read now
	read := func(by, path string) ([]byte, error) {
		f, err := from.read(wrote[by], path)
		switch {
		case err != nil:
			return nil, err
		case !f.Regular:
			return nil, errors.New(path + ": not a regular file")
		}
		wrote[path] = from.writer(f, wrote[by])
		out.others[path] = wrote[path] != nil
		out.Files = append(out.Files, NginxFile{path, f})
		return f.Data, nil
	}
	glob := func(by, pattern string) []string { return from.glob(wrote[by], pattern) }
	files := nginxconf.Files{Read: read, Glob: glob, Unread: func(_ string, err error) {
		var syntax *nginxconf.SyntaxError
		if !errors.As(err, &syntax) || syntax.Cut {
			out.Unread = append(out.Unread, err)
		}
	}}
	text, err := nginxconf.ReadFrom(files, out.Path)
	if out.Config = text; len(out.Files) == 0 {
		return out, err
	}
	var syntax *nginxconf.SyntaxError
	if errors.As(err, &syntax) && syntax.Cut { // of the first file
		out.Unread = append(out.Unread, err)
	}
	return out, nil
}

// isWorkerTitle reports whether a process names itself as one that a master has started, as
// ngx_setproctitle does: "nginx: worker process", "nginx: cache manager process".
func isWorkerTitle(args []string) bool {
	return len(args) > 0 && strings.HasPrefix(args[0], "nginx: ") && !strings.Contains(args[0], "master process ")
}

var nginxFlag = regexp.MustCompile(`^-[cpeg]$`)

// parseNginxCall returns the file of -c and the prefix of -p. The master shows its
// call in one string: nginx: master process /usr/sbin/nginx -c /etc/nginx/nginx.conf.
// That has no quotes, so that a value goes on to the next flag.
func parseNginxCall(args []string) (conf, prefix string) {
	if len(args) > 0 {
		if _, line, ok := strings.Cut(args[0], "master process "); ok {
			args = strings.Fields(line)
		}
	}
	for i := 0; i < len(args); i++ {
		if !nginxFlag.MatchString(args[i]) {
			continue
		}
		k := i + 1
		for k < len(args) && !nginxFlag.MatchString(args[k]) {
			k++
		}
		value := strings.Join(args[i+1:k], " ")
		switch args[i] {
		case "-c":
			conf = value
		case "-p":
			prefix = value
		}
		i = k - 1
	}
	return conf, prefix
}

// nginxTexts are what the program of an nginx says of itself.
type nginxTexts struct{ configure, version string }

// builtTexts finds them in the program.
func builtTexts(r io.ReaderAt, size int64) (out nginxTexts, err error) {
	if out.configure, err = configureArguments(r, size); err == nil {
		out.version, err = textIn(r, size, "nginx version: ")
	}
	return out, err
}

var nginxVersion = regexp.MustCompile(`nginx version: nginx/(\d+\.\d+\.\d+)`)

// parseNginxVersion returns the version in what nginx -v prints.
func parseNginxVersion(text string) string {
	if m := nginxVersion.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// configureArguments finds in the program of an nginx what it was configured with.
func configureArguments(r io.ReaderAt, size int64) (string, error) {
	for _, mark := range []string{"--conf-path=", "--prefix="} {
		if text, err := textIn(r, size, mark); text != "" || err != nil {
			return text, err
		}
	}
	return "", nil
}

// nginxDefaults are Debian's, where the program does not say its own.
var nginxDefaults = map[string]string{
	"prefix": "/usr/share/nginx", "conf-path": "/etc/nginx/nginx.conf",
	"http-log-path": "/var/log/nginx/access.log", "error-log-path": "/var/log/nginx/error.log",
}

// configureDefaults are those of nginx's own configure script.
var configureDefaults = map[string]string{
	"prefix": "/usr/local/nginx", "conf-path": "conf/nginx.conf", "http-log-path": "logs/access.log",
	"error-log-path": "logs/error.log",
}

// parseConfigure returns the paths that configure arguments name.
func parseConfigure(text string) map[string]string {
	from := configureDefaults
	if text == "" {
		from = nginxDefaults
	}
	out := map[string]string{}
	for name, path := range from {
		out[name] = path
	}
	for _, word := range strings.Fields(text) {
		name, value, ok := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if _, known := out[name]; ok && known && value != "" {
			out[name] = value
		}
	}
	return out
}

// below makes a path absolute.
func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
