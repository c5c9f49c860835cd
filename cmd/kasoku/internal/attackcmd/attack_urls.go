package attackcmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/load/vegeta"
)

// urlsDuration is how long URLs of the command line are loaded when nothing says how long.
const urlsDuration = 10 * time.Second

// An urlRequest is how URLs of the command line are asked, by the flags that curl has for it.
//
// Source: curl(1), -X, -d.
type urlRequest struct {
	urls         []string
	method, data string
}

func (r *urlRequest) register(fl *pflag.FlagSet) {
	fl.StringVarP(&r.method, "request", "X", "", "`METHOD` for the URLs that stand in the command; default GET, POST with -d")
	fl.StringVarP(&r.data, "data", "d", "", "`BODY` for the URLs that stand in the command; @FILE reads it from a file")
}

// check takes the arguments of the command.
func (r *urlRequest) check(args []string) error {
	for i, arg := range args {
		if !isURL(arg) {
			return cli.Usagef(urlHint(arg, args[i+1:]), "%q: want a URL", arg)
		}
	}
	r.urls = args
	return nil
}

// isURL reports whether an argument is a URL that can be loaded.
func isURL(arg string) bool {
	return strings.HasPrefix(arg, "http://") || strings.HasPrefix(arg, "https://")
}

// addressPattern matches a host, with its port or path: what lacks a scheme alone.
var addressPattern = lazyregexp.New(`^(localhost|[0-9]+(\.[0-9]+){3}|[\w-]+(\.[\w-]+)+)(:[0-9]+)?(/.*)?$`)

// urlHint returns what helps with an argument that is no URL; rest are those after it.
func urlHint(arg string, rest []string) string {
	method, url, inOne := strings.Cut(arg, " ")
	switch {
	case inOne && method == strings.ToUpper(method):
		return fmt.Sprintf("a method and a URL in one word: --target '%s %s'", method, url)
	case len(rest) > 0 && isURL(rest[0]) && arg == strings.ToUpper(arg):
		return fmt.Sprintf("a method is given as in curl: -X %s %s", arg, rest[0])
	case strings.HasSuffix(arg, ".kasoku"):
		return "that is a run file: `kasoku show " + arg + "`"
	}
	if st, err := os.Stat(arg); err == nil && st.Mode().IsRegular() {
		return "a file of targets, such as 'GET http://127.0.0.1/', is read with -targets " + arg
	}
	if addressPattern().MatchString(arg) {
		return "a URL begins with http:// or https://; did you mean http://" + arg + "?"
	}
	return "a URL begins with http:// or https://; `kasoku attack --help` has examples"
}

// complete makes targets of the URLs.
func (r *urlRequest) complete(f *attackFlags) error {
	if len(r.urls) == 0 {
		if f.set("request") || f.set("data") {
			return errors.New("-X and -d are for URLs that stand in the command: kasoku attack -X POST -d BODY URL")
		}
		return nil
	}
	for _, other := range []string{"targets", "target", "format", "lazy", "body"} {
		if f.set(other) {
			return fmt.Errorf("a URL says what is sent: without --%s", other)
		}
	}
	if _, err := time.ParseDuration(r.data); err == nil && r.data != "0" && r.method == "" {
		return cli.Usagef("-duration "+r.data+" is how long; -X POST -d "+r.data+" sends it",
			"-d is the body, as in curl, and %q looks like a time", r.data)
	}
	body, err := r.body()
	if err != nil {
		return err
	}
	method := r.method
	if method == "" {
		method = http.MethodGet
		if f.set("data") {
			method = http.MethodPost
		}
	}
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	lines.SetEscapeHTML(false)
	for _, url := range r.urls {
		t := map[string]any{"method": method, "url": url}
		if f.set("data") {
			t["body"] = body // in base64, as encoding/json has it
			if f.vegeta.Header.Get("Content-Type") == "" {
				t["header"] = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
			}
		}
		if err := lines.Encode(t); err != nil {
			return err
		}
	}
	o := &f.vegeta
	o.Stdin, o.Targets, o.Format = &b, "stdin", vegeta.JSONTargets
	if !f.set("duration") && !f.set("stages") {
		o.Duration = urlsDuration
	}
	return nil
}

// body returns what is sent.
func (r *urlRequest) body() ([]byte, error) {
	if path, ok := strings.CutPrefix(r.data, "@"); ok {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("-d: %w", err)
		}
		return b, nil
	}
	return []byte(r.data), nil
}
