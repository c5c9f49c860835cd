package capture

import (
	"regexp"
	"strings"
	"sync"
)

// A pattern finds secrets by how they are written. Its first group is the secret,
// or where it begins when until says how it ends.
type pattern struct {
	// A line has no match without all of the first words, and one of the others, in
	// lower case. Most lines have none, and a search is far cheaper than an expression.
	all, any []string
	re       *regexp.Regexp
	until    until
}

// may reports whether a line in lower case can have a match.
func (p *pattern) may(low string) bool {
	for _, w := range p.all {
		if !strings.Contains(low, w) {
			return false
		}
	}
	return len(p.any) == 0 || containsAny(low, p.any)
}

func containsAny(low string, words []string) bool {
	for _, w := range words {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// hints are parts of all names of secrets.
var hints = words("pass pwd pw secret token key credential auth")

func words(s string) []string { return strings.Fields(s) }

// everywhere returns the patterns of all kinds of texts. They are compiled when the
// first text is masked: most commands mask none.
var everywhere = sync.OnceValue(func() []pattern {
	return []pattern{
		// RFC 3986, userinfo: no /, ? or # in it. People write them all the same in the
		// URLs of databases, which hold no further @.
		{all: words(":// @"), re: regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#:@]*:([^\s/?#]+)@`)},
		{all: words(":// @"), re: regexp.MustCompile(`(?i)(?:mysql\w*|mariadb|postgres\w*|rediss?|amqps?|mongodb|smtps?|s?ftp|ldaps?|nats)(?:\+\w+)?://[^\s:/@]*:(\S+)@`)},
		{all: words("http :// @"), re: regexp.MustCompile(`(?i)https?://([^\s/?#:@]{8,})@`)}, // a token alone
		// The DSN of Go's driver: user:password@protocol(address)/.
		{any: words("@tcp @unix @udp"), re: regexp.MustCompile(`:(\S+)@(?:tcp[46]?|unix|udp)\(`)},
		{all: words("@/"), re: regexp.MustCompile(`:([^\s@/"'][^\s"']*)@/`)},
		{all: words("identified"), re: regexp.MustCompile(`(?i)\bIDENTIFIED\b[^'"]*?\b(?:BY|AS|USING)\b(?:\s+PASSWORD\b)?[\s(]*()\S`), until: toQuote},
		{all: words("password ("), re: regexp.MustCompile(`(?i)\bPASSWORD\s*\(\s*()['"]`), until: toQuote},
	}
})

// inPrograms returns those of configuration and code, but not of table definitions.
var inPrograms = sync.OnceValue(func() []pattern {
	return []pattern{
		{all: words("akia"), re: regexp.MustCompile(`\b(AKIA[0-9A-Z]{16})\b`)},
		{all: words("asia"), re: regexp.MustCompile(`\b(ASIA[0-9A-Z]{16})\b`)},
		{any: words("ghp_ gho_ ghu_ ghs_ ghr_ github_pat_"),
			re: regexp.MustCompile(`\b(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})`)},
		{all: words("glpat-"), re: regexp.MustCompile(`\b(glpat-[\w-]{20,})`)},
		{all: words("xox"), re: regexp.MustCompile(`\b(xox[abeprs]-[\w-]{10,})`)},
		{any: words("k_live_ k_test_ sk-"), re: regexp.MustCompile(`\b([sr]k_(?:live|test)_\w{10,}|sk-[\w-]{20,})`)},
		{all: words("aiza"), re: regexp.MustCompile(`\b(AIza[\w-]{35})`)},
		{all: words("eyj"), re: regexp.MustCompile(`\b(eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)`)}, // RFC 7519
		{all: words("npm_"), re: regexp.MustCompile(`\b(npm_[A-Za-z0-9]{36})`)},
		{all: words("hvs."), re: regexp.MustCompile(`\b(hvs\.[\w-]{20,})`)},
		// crypt(5), and the hash of mysql_native_password.
		{any: words("$apr1$ $1$ $5$ $6$ $7$ $2a$ $2b$ $2x$ $2y$ $y$ $gy$ $argon2 $scrypt $pbkdf2"),
			re: regexp.MustCompile(`(\$(?:apr1|[1567]|2[abxy]|g?y|argon2\w*|scrypt|pbkdf2[\w-]*)\$[^\s"':;]*[./A-Za-z0-9+=]{20,})`)},
		{all: words("sha }"), re: regexp.MustCompile(`(\{S?SHA\d*\}[A-Za-z0-9+/=]{20,})`)},
		{all: words("*"), re: regexp.MustCompile(`(\*[0-9A-F]{40})\b`)},
		{all: words("bearer"), re: regexp.MustCompile(`(?i)["'^]\s*bearer\s+([^\s$"';][^\s"';]*)`)},
		{all: words("basic"), re: regexp.MustCompile(`(?i)["'^]\s*basic\s+([^\s$"';][^\s"';]*)`)},
		// -psecret of the MySQL clients, -u user:secret of HTTP clients.
		{all: words("-p"), any: words("mysql mariadb"),
			re: regexp.MustCompile(`(?i)\b(?:mysql|mariadb)\S*\s(?:.*?\s)?-p()\S`), until: toWord},
		{all: words("- :"), any: words("curl wget ab"),
			re: regexp.MustCompile(`(?i)\b(?:curl|wget|ab)\s(?:.*?\s)?(?:-u|-A|-U|--user|--proxy-user)[ =]?["']?[^\s:"']+:()\S`), until: toWord},
		{all: words("--"), any: hints, re: regexp.MustCompile(`(?i)--[\w-]*(?:pass(?:word|wd|phrase)?|secret|token|api-?key|access-?key)\s+()[^\s\-]`), until: toWord},
		{all: words("sshpass"), re: regexp.MustCompile(`\bsshpass\s+-p\s*()\S`), until: toWord},
		// redis.conf and its like, .netrc.
		{any: words("requirepass masterauth auth_pass password passwd"),
			re: regexp.MustCompile(`(?i)^[+\- ]?\s*(?:[#;]\s*)?(?:requirepass|masterauth|auth_pass|password|passwd)\s+()[^\s=:]`), until: toEnd},
		{all: words("password"), any: words("login account user"),
			re: regexp.MustCompile(`(?i)\b(?:login|account|user)\s+\S+\s+password\s+()\S`), until: toWord},
		// key="password" value="…", {"name": "PASSWORD", "value": "…"}, define('PASSWORD', '…').
		{all: words("value"), any: hints, re: regexp.MustCompile(`(?i)\b(?:key|name)["']?\s*[=:]\s*["']?[^"'\s]*` +
			secretPart + `[^"'\s]*["']?[\s,]*["']?value["']?\s*[=:]\s*()\S`), until: toEnd},
		{all: words("( ,"), any: hints, re: regexp.MustCompile(`(?i)\(\s*["'][^"'\s]*` + secretPart +
			`[^"'\s]*["']\s*,\s*()["']`), until: toEnd},
		{all: words("< >"), any: hints, re: regexp.MustCompile(`(?i)<[\w.:-]*` + secretPart +
			`[\w.:-]*(?:\s[^<>]*)?>\s*()[^<\s]`), until: toTag},
	}
})

// patterns applies patterns to a line.
func (m *masker) patterns(line, low string, ps []pattern) (out []span) {
	for i := range ps {
		p := &ps[i]
		if !p.may(low) {
			continue
		}
		for _, loc := range p.re.FindAllStringSubmatchIndex(line, -1) {
			s := span{loc[2], loc[3]}
			if p.until != toGroup {
				s, _ = m.value(line, loc[2], p.until, 0)
			}
			out = append(out, s)
		}
	}
	return out
}
