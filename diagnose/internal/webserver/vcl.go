package webserver

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// A Keeping is how long a Varnish keeps the answer of a path, as its VCL says.
type Keeping struct {
	TTL, Grace time.Duration
	SetTTL     bool   // false: the answer's own headers decide, or the default
	SetGrace   bool   // false: Varnish's default, 10 s
	TTLLine    string // the assignment that counts; empty without one
	GraceLine  string
}

// errUndecided is of a VCL whose text does not decide how long an answer is kept.
var errUndecided = errors.New("a condition of the VCL decides that, which is no comparison of the URL")

// KeepingOf reads what the subroutines vcl_backend_response of a VCL set for a GET request of a path without a
// cookie and authorization, as Varnish runs them: one after another, the last assignment counts. It fails where a
// condition on anything else decides.
//
// Source: Varnish 7, vcl(7), "Varnish Configuration Language"; vcl-var(7), beresp.ttl and beresp.grace.
func KeepingOf(vcl, path string) (k Keeping, err error) {
	r := vclReader{tokens: vclTokens(vcl), path: path}
	for i := 0; i+2 < len(r.tokens) && !r.done; i++ {
		if r.tokens[i] == "sub" && r.tokens[i+1] == "vcl_backend_response" && r.tokens[i+2] == "{" {
			r.at = i + 3
			if err := r.block(&k, applies); err != nil {
				return Keeping{}, err
			}
			i = r.at - 1
		}
	}
	return k, nil
}

// vclToken is a string, a comment, a word with dots and dashes, a number with its unit, an operator.
var vclToken = lazyregexp.New(`"[^"\n]*"|\{"(?s:.*?)"\}|#[^\n]*|//[^\n]*|/\*(?s:.*?)\*/|` +
	`[\w.\-]+|&&|\|\||==|!=|!~|<=|>=|\S`)

func vclTokens(vcl string) (out []string) {
	for _, t := range vclToken().FindAllString(vcl, -1) {
		if !strings.HasPrefix(t, "#") && !strings.HasPrefix(t, "//") && !strings.HasPrefix(t, "/*") {
			out = append(out, t)
		}
	}
	return out
}

// Whether a condition holds for the request.
type holds int

const (
	applies holds = iota
	fails
	undecided
)

// A vclReader follows the statements of one subroutine.
type vclReader struct {
	tokens []string
	at     int
	path   string
	done   bool // it returned
}

// block follows statements to the end of their block.
func (r *vclReader) block(k *Keeping, state holds) error {
	for r.at < len(r.tokens) && !r.done {
		switch t := r.tokens[r.at]; t {
		case "}":
			r.at++
			return nil
		case "{":
			r.at++
			if err := r.block(k, state); err != nil {
				return err
			}
		case "if":
			if err := r.branches(k, state); err != nil {
				return err
			}
		default:
			end := slices.Index(r.tokens[r.at:], ";")
			if end < 0 {
				return errUndecided
			}
			if err := r.statement(k, r.tokens[r.at:r.at+end], state); err != nil {
				return err
			}
			r.at += end + 1
		}
	}
	return nil
}

// branches follows an if with what is else.
func (r *vclReader) branches(k *Keeping, state holds) error {
	rest := state // of the branches that follow
	for {
		branch := rest
		if r.tokens[r.at] != "{" { // if, elsif, elseif, elif
			r.at++
			cond := r.condition()
			switch c := decide(cond, r.path); {
			case rest == fails || c == fails:
				branch = fails
			case c == undecided:
				branch, rest = undecided, undecided
			default:
				rest = fails
			}
		}
		if r.at >= len(r.tokens) || r.tokens[r.at] != "{" {
			return errUndecided
		}
		r.at++
		if err := r.block(k, branch); err != nil || r.done || r.at >= len(r.tokens) {
			return err
		}
		switch r.tokens[r.at] {
		case "else":
			if r.at++; r.at >= len(r.tokens) {
				return errUndecided
			}
		case "elsif", "elseif", "elif":
		default:
			return nil
		}
	}
}

// condition returns the tokens between parentheses.
func (r *vclReader) condition() []string {
	from, depth := r.at+1, 0
	for ; r.at < len(r.tokens); r.at++ {
		switch r.tokens[r.at] {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				r.at++
				return r.tokens[from : r.at-1]
			}
		}
	}
	return nil
}

// statement takes note of an assignment, or of the end of the subroutine.
func (r *vclReader) statement(k *Keeping, words []string, state holds) error {
	if state == fails || len(words) == 0 { // a semicolon alone is an empty statement
		return nil
	}
	text := strings.Join(words, " ")
	switch {
	case len(words) == 4 && words[0] == "set" && (words[1] == "beresp.ttl" || words[1] == "beresp.grace"):
		d, ok := vclDuration(words[3])
		if state == undecided || !ok {
			return errUndecided
		}
		if words[1] == "beresp.ttl" {
			k.TTL, k.SetTTL, k.TTLLine = d, true, text
		} else {
			k.Grace, k.SetGrace, k.GraceLine = d, true, text
		}
	case words[0] == "return" && state == undecided, len(words) > 1 && strings.HasPrefix(words[1], "beresp.ttl"),
		len(words) > 1 && words[1] == "beresp.uncacheable":
		return errUndecided
	case words[0] == "return":
		r.done = true
	}
	return nil
}

// vclDuration reads 0.7s, 500ms, 2m.
func vclDuration(text string) (time.Duration, bool) {
	units := []struct {
		name string
		is   time.Duration
	}{{"ms", time.Millisecond}, {"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}, {"d", 24 * time.Hour}}
	for _, u := range units {
		if n, ok := strings.CutSuffix(text, u.name); ok {
			if v, err := strconv.ParseFloat(n, 64); err == nil && v >= 0 && v < 1e6 {
				return time.Duration(v * float64(u.is)), true
			}
		}
	}
	return 0, false
}

// decide reports whether terms of a condition hold, joined by && or by ||.
func decide(cond []string, path string) holds {
	var parts [][]string
	operator, from := "", 0
	for i, t := range cond {
		if t != "&&" && t != "||" {
			continue
		}
		if operator != "" && operator != t {
			return undecided
		}
		operator, parts, from = t, append(parts, cond[from:i]), i+1
	}
	parts = append(parts, cond[from:])
	count := [3]int{}
	for _, p := range parts {
		count[decideTerm(p, path)]++
	}
	switch {
	case operator == "||" && count[applies] > 0:
		return applies
	case operator != "||" && count[fails] > 0:
		return fails
	case count[undecided] > 0:
		return undecided
	case count[fails] > 0:
		return fails
	}
	return applies
}

// decideTerm is of one comparison.
func decideTerm(t []string, path string) holds {
	yes := func(v bool) holds {
		if v {
			return applies
		}
		return fails
	}
	if len(t) == 2 && t[0] == "!" && slices.Contains([]string{"bereq.http.cookie", "bereq.http.authorization",
		"beresp.http.set-cookie"}, strings.ToLower(t[1])) {
		return applies
	}
	if len(t) != 3 || len(t[2]) < 2 || t[2][0] != '"' {
		return undecided
	}
	value := t[2][1 : len(t[2])-1]
	switch t[0] + " " + t[1] {
	case "bereq.url ==":
		return yes(path == value)
	case "bereq.url !=":
		return yes(path != value)
	case "bereq.method ==":
		return yes(value == "GET")
	case "bereq.url ~", "bereq.url !~":
		re, err := regexp.Compile(value)
		if err != nil {
			return undecided
		}
		return yes(re.MatchString(path) == (t[1] == "~"))
	}
	return undecided
}

// TakesBack reports whether a VCL can take answers back that are kept: by a ban or a purge.
func TakesBack(vcl string) bool {
	tokens := vclTokens(vcl)
	for i, t := range tokens {
		if (t == "ban" || t == "std.ban") && i+1 < len(tokens) && tokens[i+1] == "(" || t == "purge" {
			return true
		}
	}
	return false
}
