package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// leastToken is how long a token has to be, in bytes: 16 letters at random are not found
// by trying.
const leastToken = 16

// ReadToken returns the first line of a file, which lets its holder read a page.
func ReadToken(path string) (string, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, 4096))
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line), nil
}

// CheckToken refuses a token that could be found by trying; none is none.
func CheckToken(token string) error {
	if token != "" && len(token) < leastToken {
		return Usagef("`head -c 18 /dev/urandom | base64 > token` makes one",
			"the token has %d bytes, fewer than %d", len(token), leastToken)
	}
	return nil
}
