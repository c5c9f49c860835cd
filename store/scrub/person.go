package scrub

import (
	"net/netip"
	"strings"

	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/internal/secret"
)

// What looks like a person's data in names and sentences that stay: addresses of mail,
// public addresses of hosts, numbers of cards and accounts, and values in quotes, such
// as those of SQL.
var (
	mailAddress = lazyregexp.New(`[\pL\pN._%+~'-]+(?:@|%40)[\pL\pN-]+(?:\.[\pL\pN-]+)+`)
	hostAddress = lazyregexp.New(`[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}`)
	longNumber  = lazyregexp.New(`\+[0-9](?:[ -]?[0-9]){8,}|[0-9](?:[ -]?[0-9]){12,}`)
	quotedValue = lazyregexp.New(`(^|[^\pL\pN])'((?:[^'\\]|\\.|'')*)'`)
	urlQuery    = lazyregexp.New(`(/[^\s?"']*)\?([^\s"'=]*=[^\s"']*)`)
)

// appendWithoutPersons appends a text without such data.
func appendWithoutPersons(dst, text []byte) []byte {
	s := mailAddress().ReplaceAllString(string(text), secret.Masked)
	s = hostAddress().ReplaceAllStringFunc(s, func(a string) string {
		ip, err := netip.ParseAddr(a)
		if err != nil || !ip.IsGlobalUnicast() || ip.IsPrivate() {
			return a
		}
		return secret.Masked
	})
	s = urlQuery().ReplaceAllString(s, "$1?"+secret.Masked)
	s = longNumber().ReplaceAllString(s, secret.Masked)
	s = quotedValue().ReplaceAllStringFunc(s, func(q string) string {
		at := strings.IndexByte(q, '\'')
		if v := strings.Trim(q[at:], "'"); v == "" || v == "?" || v == "?+" {
			return q
		}
		return q[:at] + "'" + secret.Masked + "'"
	})
	return append(dst, s...)
}
