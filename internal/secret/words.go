package secret

import "strings"

// Masked stands where a secret stood.
const Masked = "***"

// Words are what the name of a secret holds, in lower case.
var Words = []string{"password", "passwd", "passphrase", "passcode", "secret", "token", "credential", "authorization"}

// Keys are what makes a key secret, as in api_key: with key after them, after one of
// the signs - _ . or none.
var Keys = []string{
	"api", "access", "private", "encrypt", "encryption", "signing", "auth", "master", "app", "license", "licence",
	"storage", "account", "shared", "service", "session",
}

// Pattern returns a regular expression, in lower case and without a group that
// captures, of what the name of a secret holds.
func Pattern() string {
	return `(?:` + strings.Join(Words, "|") + `|(?:` + strings.Join(Keys, "|") + `)[-_.]?key)`
}

// A kind defines how the value of a name is found.
type kind uint8

const (
	word       kind = iota // after = or :, up to the end of the word
	header                 // after = or :, up to the end of the line: it holds blanks
	blank                  // after blanks only
	identified             // after words of SQL
)

// A name is the end of a name whose value is a secret, in lower case.
type name struct {
	text string
	kind kind
}

// names are sought in text. "Duplicate entry" is what MySQL says with the value of a row.
func names() []name {
	all := []name{
		{"identified", identified}, {"bearer", blank}, {"duplicate entry", blank},
		{"pwd", word}, {"session_id", word}, {"sessionid", word}, {"credentials", word}, {"cookie", header},
	}
	for _, w := range Words {
		k := word
		if w == "authorization" {
			k = header
		}
		all = append(all, name{w, k})
	}
	for _, k := range Keys {
		for _, sign := range []string{"", "-", "_", "."} {
			all = append(all, name{k + sign + "key", word})
		}
	}
	return all
}

// IsName reports whether the name of a variable or an option, in lower case, ends
// like one whose value is a secret.
func IsName(low string) bool {
	for _, n := range names() {
		if n.kind != identified && strings.HasSuffix(low, n.text) {
			return true
		}
	}
	return false
}
