package settings

import (
	"fmt"
	"net/netip"
	"strings"
	"unicode"
)

// mostListed is how many names a sentence has.
const mostListed = 5

// listWords prints a few names, and how many more there are.
func listWords(names []string) string {
	if len(names) <= mostListed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostListed], ", "), len(names)-mostListed)
}

func hasLetter(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) }

// isAddress reports whether an account's host is an IPv6 address: it has letters,
// too.
func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}
