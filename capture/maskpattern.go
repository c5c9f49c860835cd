package capture

import (
	"regexp"
	"strings"
)

// A pattern finds secrets by how they are written. Its first group is the secret,
// or where it begins when until says how it ends.
type pattern struct {
	need  string // a line without it has no match; lower case
	re    *regexp.Regexp
	until until
}

// everywhere are the patterns of all kinds of texts.
var everywhere = []pattern{
	// RFC 3986, userinfo: no /, ? or # in it. People write them all the same in the
	// URLs of databases, which hold no further @.
	{need: "://", re: regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#:@]*:([^\s/?#]+)@`)},
	{need: "://", re: regexp.MustCompile(`(?i)(?:mysql\w*|mariadb|postgres\w*|rediss?|amqps?|mongodb|smtps?|s?ftp|ldaps?|nats)(?:\+\w+)?://[^\s:/@]*:(\S+)@`)},
	{need: "://", re: regexp.MustCompile(`(?i)https?://([^\s/?#:@]{8,})@`)}, // a token alone
	// The DSN of Go's driver: user:password@protocol(address)/.
	{need: "@", re: regexp.MustCompile(`:(\S+)@(?:tcp[46]?|unix|udp)\(`)},
	{need: "@/", re: regexp.MustCompile(`:([^\s@/"'][^\s"']*)@/`)},
	{need: "identified", re: regexp.MustCompile(`(?i)\bIDENTIFIED\b[^'"]*?\b(?:BY|AS|USING)\b(?:\s+PASSWORD\b)?[\s(]*()\S`), until: toQuote},
	{need: "password", re: regexp.MustCompile(`(?i)\bPASSWORD\s*\(\s*()['"]`), until: toQuote},
}

// inPrograms are those of configuration and code, but not of table definitions.
var inPrograms = []pattern{
	{need: "akia", re: regexp.MustCompile(`\b(AKIA[0-9A-Z]{16})\b`)},
	{need: "asia", re: regexp.MustCompile(`\b(ASIA[0-9A-Z]{16})\b`)},
	{need: "gh", re: regexp.MustCompile(`\b(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})`)},
	{need: "glpat-", re: regexp.MustCompile(`\b(glpat-[\w-]{20,})`)},
	{need: "xox", re: regexp.MustCompile(`\b(xox[abeprs]-[\w-]{10,})`)},
	{need: "sk", re: regexp.MustCompile(`\b([sr]k_(?:live|test)_\w{10,}|sk-[\w-]{20,})`)},
	{need: "aiza", re: regexp.MustCompile(`\b(AIza[\w-]{35})`)},
	{need: "eyj", re: regexp.MustCompile(`\b(eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)`)}, // RFC 7519
	{need: "npm_", re: regexp.MustCompile(`\b(npm_[A-Za-z0-9]{36})`)},
	{need: "hvs.", re: regexp.MustCompile(`\b(hvs\.[\w-]{20,})`)},
	// crypt(5), and the hash of mysql_native_password.
	{need: "$", re: regexp.MustCompile(`(\$(?:apr1|[1567]|2[abxy]|g?y|argon2\w*|scrypt|pbkdf2[\w-]*)\$[^\s"':;]*[./A-Za-z0-9+=]{20,})`)},
	{need: "sha", re: regexp.MustCompile(`(\{S?SHA\d*\}[A-Za-z0-9+/=]{20,})`)},
	{need: "*", re: regexp.MustCompile(`(\*[0-9A-F]{40})\b`)},
	{need: "bearer", re: regexp.MustCompile(`(?i)["'^]\s*bearer\s+([^\s$"';][^\s"';]*)`)},
	{need: "basic", re: regexp.MustCompile(`(?i)["'^]\s*basic\s+([^\s$"';][^\s"';]*)`)},
	// -psecret of the MySQL clients, -u user:secret of HTTP clients.
	{need: "-p", re: regexp.MustCompile(`(?i)\b(?:mysql|mariadb)\S*\s(?:.*?\s)?-p()\S`), until: toWord},
	{need: "-", re: regexp.MustCompile(`(?i)\b(?:curl|wget|ab)\s(?:.*?\s)?(?:-u|-A|-U|--user|--proxy-user)[ =]?["']?[^\s:"']+:()\S`), until: toWord},
	{need: "--", re: regexp.MustCompile(`(?i)--[\w-]*(?:pass(?:word|wd|phrase)?|secret|token|api-?key|access-?key)\s+()[^\s\-]`), until: toWord},
	{need: "sshpass", re: regexp.MustCompile(`\bsshpass\s+-p\s*()\S`), until: toWord},
	// redis.conf and its like, .netrc.
	{need: " ", re: regexp.MustCompile(`(?i)^[+\- ]?\s*(?:[#;]\s*)?(?:requirepass|masterauth|auth_pass|password|passwd)\s+()[^\s=:]`), until: toEnd},
	{need: "password", re: regexp.MustCompile(`(?i)\b(?:login|account|user)\s+\S+\s+password\s+()\S`), until: toWord},
	// key="password" value="…", {"name": "PASSWORD", "value": "…"}, define('PASSWORD', '…').
	{need: "value", re: regexp.MustCompile(`(?i)\b(?:key|name)["']?\s*[=:]\s*["']?[^"'\s]*` + secretPart + `[^"'\s]*["']?[\s,]*["']?value["']?\s*[=:]\s*()\S`), until: toEnd},
	{need: ",", re: regexp.MustCompile(`(?i)\(\s*["'][^"'\s]*` + secretPart + `[^"'\s]*["']\s*,\s*()["']`), until: toEnd},
	{need: "<", re: regexp.MustCompile(`(?i)<[\w.:-]*` + secretPart + `[\w.:-]*(?:\s[^<>]*)?>\s*()[^<\s]`), until: toTag},
}

// patterns applies patterns to a line.
func (m *masker) patterns(line string, ps []pattern) (out []span) {
	low := strings.ToLower(line)
	for i := range ps {
		p := &ps[i]
		if !strings.Contains(low, p.need) {
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
