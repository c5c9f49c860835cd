package accessformat

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// maxSpec bounds a format, in bytes.
const maxSpec = 64 << 10

// A FormatError says where a format that was given cannot be read.
type FormatError struct {
	Spec     string // what was read of it, without the quotes of its configuration
	At       int    // byte of Spec, from 0
	Problem  string
	Expected string // what was expected there; may be empty
}

// Error names the place, the problem and what was expected.
func (e *FormatError) Error() string {
	at := min(max(e.At, 0), len(e.Spec))
	s := fmt.Sprintf("log format, at byte %d of %q: %s", at, cutMiddle(e.Spec, at), e.Problem)
	if e.Expected != "" {
		s += ", expected " + e.Expected
	}
	return s
}

// Hint returns what formats can be given.
func (e *FormatError) Hint() string {
	return `a format is a log_format of nginx ('$remote_addr … "$request" $status …'), a LogFormat of Apache ("%h … \"%r\" %>s …"), ` +
		`one of goaccess ('%h %^[%d:%t %^] "%r" %s %b'), a regexp with named groups ('(?P<method>\S+) (?P<uri>\S+) …'), or one of: ` +
		strings.Join(FormatNames(), ", ")
}

// cutMiddle returns what stands around a place of a long text.
func cutMiddle(s string, at int) string {
	const around = 60
	if len(s) <= 2*around {
		return s
	}
	from, to := max(at-around, 0), min(at+around, len(s))
	out := s[from:to]
	if from > 0 {
		out = "…" + out
	}
	if to < len(s) {
		out += "…"
	}
	return out
}

// ParseFormat returns the format that a text describes:
//
//   - a name of [FormatNames];
//   - nginx: a log_format directive, its quoted strings, or the text in them;
//   - Apache, H2O, Varnish: a LogFormat directive, or the text in it;
//   - goaccess: its log-format;
//   - Envoy: its format string;
//   - a regexp with named groups, which is the slow way.
//
// A format that consists of labels and values with tabs between, or is JSON, is
// read by its keys. The error is a [*FormatError].
func ParseFormat(spec string) (*Format, error) {
	spec = strings.TrimSpace(spec)
	if len(spec) > maxSpec {
		return nil, &FormatError{Spec: spec[:maxSpec], Problem: "the format is too long",
			Expected: fmt.Sprintf("at most %d bytes", maxSpec)}
	}
	if f := formatNamed(spec); f != nil {
		return f, nil
	}
	switch dialectOf(spec) {
	case nginxDialect:
		return parseNginx(spec)
	case apacheDialect:
		return parseApache(spec)
	case goaccessDialect:
		return parseGoaccess(spec)
	case envoyDialect:
		return fromPieces("envoy", spec, envoyPieces(spec))
	case regexpDialect:
		return parseRegexp(spec)
	}
	return nil, &FormatError{Spec: spec, Problem: "no value in the format",
		Expected: `names such as $request_time (nginx), %D (Apache, goaccess), %DURATION% (Envoy), (?P<uri>\S+) (regexp)`}
}

// A dialect is whose words a format is written in.
type dialect uint8

const (
	noDialect dialect = iota
	nginxDialect
	apacheDialect
	goaccessDialect
	envoyDialect
	regexpDialect
)

var (
	hasGroup    = lazyregexp.New(`\(\?P?<[A-Za-z_]`)
	hasVariable = lazyregexp.New(`\$\{?[a-z_]`)
	hasCommand  = lazyregexp.New(`%[A-Z_]{3,}(\([^)]*\))?%`)
	// Only Apache and its kin have %l, %>s, %{…}i and \"; only goaccess has the
	// others. Where neither occurs, most letters mean the same.
	onlyApache   = lazyregexp.New(`^(?i:LogFormat|CustomLog)\b|%[<>!0-9,]*[{<>]|%l|\\"|%[OIPpVXA]`)
	inBraces     = lazyregexp.New(`(%[<>!0-9,]*)\{[^}]*\}(\^t[io])?|(%)\^F[IO]`)
	onlyGoaccess = lazyregexp.New(`%\^|%d|%x|%~|~h\{|%[RneKkCML]|%t\]`)
	hasDirective = lazyregexp.New(`%[a-zA-Z]`)
)

func dialectOf(spec string) dialect {
	bare := inBraces().ReplaceAllString(spec, "$1$3{")
	switch {
	case hasGroup().MatchString(spec):
		return regexpDialect
	case hasVariable().MatchString(spec), strings.HasPrefix(spec, "log_format"):
		return nginxDialect
	case hasCommand().MatchString(spec):
		return envoyDialect
	case strings.HasPrefix(spec, "log-format"):
		return goaccessDialect
	case onlyApache().MatchString(bare) && !strings.Contains(bare, "%^"):
		return apacheDialect
	case onlyGoaccess().MatchString(bare):
		return goaccessDialect
	case hasDirective().MatchString(spec):
		return apacheDialect
	}
	return noDialect
}

// fromPieces makes a format of pieces: a program, or keys.
func fromPieces(name, spec string, pieces []piece) (*Format, error) {
	f := &Format{name: name, unit: time.Second}
	var err error
	switch pieces = joinTexts(pieces); {
	case looksLikeJSON(pieces):
		f.kind = byJSON
		f.keys, err = jsonKeys(pieces)
	case looksLikeLTSV(pieces):
		f.kind = byLTSV
		f.keys, err = ltsvKeys(pieces)
	default:
		f.program, err = compilePieces(pieces)
	}
	var c *compileError
	if errors.As(err, &c) {
		return nil, &FormatError{Spec: spec, At: c.at, Problem: c.problem, Expected: c.expected}
	}
	if err != nil {
		return nil, &FormatError{Spec: spec, Problem: err.Error()}
	}
	f.resolution = resolutionOf(pieces)
	return f, nil
}

// resolutionOf returns in which steps the servers write the durations of a
// format: nginx, and all that count in ms, in ms; Apache's %T in whole seconds.
func resolutionOf(pieces []piece) time.Duration {
	var res time.Duration
	for _, p := range pieces {
		if p.what != aLatency && p.what != anUpstream {
			continue
		}
		unit := p.unit
		if unit == 0 || unit == time.Second && strings.HasPrefix(p.name, "$") {
			unit = time.Millisecond
		}
		if res == 0 || unit < res {
			res = unit
		}
	}
	return res
}

// parseRegexp makes a format of a regexp with named groups, whose names are keys
// of LTSV or JSON, such as alp's: time method uri status body_bytes
// response_time request_time.
func parseRegexp(spec string) (*Format, error) {
	re, err := regexp.Compile(spec)
	if err != nil {
		return nil, &FormatError{Spec: spec, Problem: err.Error(), Expected: "a regexp of Go (RE2)"}
	}
	f := &Format{name: "regexp", kind: byRegexp, regexp: re, unit: time.Second, resolution: time.Millisecond}
	table := newKeyTable("")
	asked := false
	for _, name := range re.SubexpNames()[1:] {
		s := slot{name: name, extra: -1}
		if known := table[name]; known != nil {
			s = *known
		}
		asked = asked || s.what == aPath || s.what == aRequest
		f.groups = append(f.groups, s)
	}
	if !asked {
		return nil, &FormatError{Spec: spec, Problem: "no group holds what was asked for",
			Expected: "(?P<uri>…) or (?P<request>…)"}
	}
	return f, nil
}

// FormatNames returns the names that [ParseFormat] knows.
func FormatNames() []string {
	out := []string{"caddy", "combined", "common", "h2o", "json", "ltsv", "rack", "traefik", "varnishncsa"}
	for _, p := range presetSpecs {
		out = append(out, p.name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// formatNamed returns the format of a name, nil when there is none such.
func formatNamed(name string) *Format {
	name = strings.ToLower(name)
	switch name {
	case "combined", "common", "rack", "apache", "h2o", "varnish", "varnishncsa", "nginx":
		f := *anyCombined
		f.name, f.resolution = name, time.Millisecond
		return &f
	case "ltsv":
		return ltsvFormat()
	case "json", "caddy":
		return jsonFormat()
	case "traefik": // one of two
		f := *jsonFormat()
		f.others = []*Format{formatNamed("traefikclf")}
		return &f
	}
	for _, p := range presetSpecs {
		if p.name == name {
			return p.format()
		}
	}
	return nil
}
