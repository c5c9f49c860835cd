package accessformat

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/internal/nginxconf"
)

// A NginxLog is an access log of a configuration of nginx, with its format.
type NginxLog struct {
	Path   string // as the configuration has it; empty for a log_format that no access_log uses
	Name   string // of the log_format
	Format *Format
	File   string // of the configuration, where that is said
	Line   int
}

// nginxCombined is the format that nginx knows without a log_format directive.
const nginxCombined = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`

// FormatsFromNginxConf returns the access logs of a configuration with their
// formats: of a file with all that it includes, of the nginx.conf in a
// directory, or of what nginx -T prints. With an error it returns the logs that
// could be read nevertheless. [FormatFor] chooses one.
func FormatsFromNginxConf(path string) ([]NginxLog, error) {
	config, err := nginxconf.Read(path)
	if len(config) == 0 {
		if err == nil {
			err = fmt.Errorf("nginx configuration %s: no directives", path)
		}
		return nil, err
	}
	logs, errs := logsOf(config)
	if len(logs) == 0 && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("nginx configuration %s: neither access_log nor log_format", path))
	}
	return logs, errors.Join(append([]error{err}, errs...)...)
}

// logsOf returns the access logs of a configuration, each path with each format
// once.
func logsOf(config nginxconf.Config) (logs []NginxLog, errs []error) {
	formats := map[string]*Format{}
	used := map[string]bool{}
	wrong := func(d *nginxconf.Directive, err error) {
		errs = append(errs, fmt.Errorf("nginx configuration %s:%d: %s: %w", d.File, d.Line, d.Name(), err))
	}
	var defined []NginxLog
	for i := range config {
		d := &config[i]
		if d.Name() != "log_format" || len(d.Words) < 3 {
			continue
		}
		name, text := logFormat(d.Words)
		f, err := nginxFormat(name, text)
		if err != nil {
			wrong(d, err)
			continue
		}
		formats[name] = f
		defined = append(defined, NginxLog{Name: name, Format: f, File: d.File, Line: d.Line})
	}
	if formats["combined"] == nil {
		formats["combined"], _ = nginxFormat("combined", nginxCombined)
	}
	for i := range config {
		d := &config[i]
		if d.Name() != "access_log" || len(d.Words) < 2 || d.Words[1] == "off" ||
			strings.HasPrefix(d.Words[1], "syslog:") {
			continue
		}
		name := "combined"
		if len(d.Words) > 2 && !strings.Contains(d.Words[2], "=") {
			name = d.Words[2]
		}
		used[name] = true
		f := formats[name]
		if f == nil {
			wrong(d, fmt.Errorf("no log_format %q that can be read", name))
			continue
		}
		log := NginxLog{Path: d.Words[1], Name: name, Format: f, File: d.File, Line: d.Line}
		if !slices.ContainsFunc(logs, func(o NginxLog) bool { return o.Path == log.Path && o.Name == log.Name }) {
			logs = append(logs, log)
		}
	}
	for _, log := range defined {
		if !used[log.Name] {
			logs = append(logs, log)
		}
	}
	return logs, errs
}

// FormatFor chooses the format of a log, which may be rotated or compressed or
// lie in another directory: by its path, by its name, or because there is only
// one. The error names what there is.
func FormatFor(logs []NginxLog, path string) (*Format, error) {
	if len(logs) == 0 {
		return nil, errors.New("nginx configuration: no access logs")
	}
	abs, _ := filepath.Abs(path)
	for _, same := range []func(NginxLog) bool{
		func(l NginxLog) bool { return l.Path != "" && (l.Path == path || l.Path == abs) },
		func(l NginxLog) bool {
			return l.Path != "" && baseOfLog(l.Path) == baseOfLog(path) && filepath.Dir(l.Path) == filepath.Dir(abs)
		},
		func(l NginxLog) bool { return l.Path != "" && baseOfLog(l.Path) == baseOfLog(path) },
		func(l NginxLog) bool { return l.Path != "" },
		func(NginxLog) bool { return true },
	} {
		if f := onlyOne(logs, same); f != nil {
			return f, nil
		}
	}
	var all []string
	for _, l := range logs {
		all = append(all, fmt.Sprintf("%s (%s)", l.Path, l.Name))
	}
	return nil, fmt.Errorf("nginx configuration: which format has %q? There are %s", path, strings.Join(all, ", "))
}

// onlyOne returns the format of the logs for which same is true when they have
// one and the same.
func onlyOne(logs []NginxLog, same func(NginxLog) bool) *Format {
	var name string
	var f *Format
	for _, l := range logs {
		if !same(l) {
			continue
		}
		if f != nil && l.Name != name {
			return nil
		}
		f, name = l.Format, l.Name
	}
	return f
}

// baseOfLog returns the name of a log without what rotation and compression append
// to it: access.log.2.gz, access.log-20261120.
func baseOfLog(path string) string {
	base := filepath.Base(path)
	for _, ext := range []string{".gz", ".zst", ".bz2", ".xz"} {
		base = strings.TrimSuffix(base, ext)
	}
	return strings.TrimRight(base, ".-_0123456789")
}
