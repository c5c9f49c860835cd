package pathwalk

import (
	"os"
	"strconv"
	"strings"
	"sync"
)

// IsAsker reports whether a user is the one who asks: kasoku's own or, of root, the
// one who called sudo.
func IsAsker(uid int) bool {
	if uid == os.Geteuid() {
		return true
	}
	n, err := strconv.Atoi(os.Getenv("SUDO_UID"))
	return err == nil && os.Geteuid() == 0 && n == uid
}

// IsSystem reports whether a number is root's or that of an account of the system, and
// not that of a person. It is true of groups by the same numbers.
func IsSystem(id int) bool { return id < firstUser() }

// firstUser is the lowest number of a person's account; below are those of the system.
//
// Source: login.defs(5), UID_MIN.
var firstUser = sync.OnceValue(func() int {
	text, err := os.ReadFile("/etc/login.defs")
	if err != nil {
		return 1000
	}
	return parseFirstUser(string(text))
})

func parseFirstUser(defs string) int {
	for line := range strings.Lines(defs) {
		f := strings.Fields(line)
		if len(f) >= 2 && f[0] == "UID_MIN" {
			if n, err := strconv.Atoi(f[1]); err == nil && n > 0 {
				return n
			}
		}
	}
	return 1000 // shadow's own default
}
