package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A user is one line of passwd(5).
type user struct {
	name  string
	uid   uint32
	shell string // may be empty, which stands for /bin/sh
}

// noLogin reports whether a shell is one that allows no work.
func noLogin(shell string) bool {
	return slices.Contains([]string{
		"/bin/sync", "/sbin/halt", "/sbin/nologin", "/sbin/shutdown",
		"/usr/sbin/nologin", "/usr/bin/false", "/bin/false",
	}, shell)
}

// readUsers returns the users of a file that are wanted.
func readUsers(path string, wanted func(user) bool) ([]user, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read users: %w", err)
	}
	users, err := parsePasswd(data)
	if err != nil {
		return nil, fmt.Errorf("read users: %s: %w", path, err)
	}
	return slices.DeleteFunc(users, func(u user) bool { return !wanted(u) }), nil
}

// parsePasswd reads the users of passwd(5). Comments, the + and - lines of NIS
// and lines with too few fields are left out.
func parsePasswd(data []byte) ([]user, error) {
	var users []user
	number := 0
	for line := range bytes.Lines(data) {
		number++
		fields := strings.Split(strings.TrimRight(string(line), "\r\n"), ":")
		if len(fields) < 7 || fields[0] == "" || strings.ContainsRune("+-#", rune(fields[0][0])) {
			continue
		}
		uid, err := strconv.ParseUint(fields[2], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("line %d: bad user id %q", number, fields[2])
		}
		users = append(users, user{fields[0], uint32(uid), fields[6]})
	}
	return users, nil
}
