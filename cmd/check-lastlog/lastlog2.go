package main

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/command"
)

// A database is that of lastlog2, read with its own command: the file is
// SQLite's, and a check of a few lines shall not link a database.
type database struct {
	program string
	file    string
}

// maxOutput bounds what is read of the command: 100,000 users.
const maxOutput = 10 << 20

// lastLogins asks for all users at once. An entry that cannot be read is an error when
// it is that of one of the users, and of no concern otherwise.
func (d database) lastLogins(ctx context.Context, users []user) (map[string]int64, error) {
	out, err := command.Output(ctx, command.Spec{
		Path: d.program, Args: []string{"--database", d.file}, CleanEnv: true, Env: []string{"TZ=UTC"},
	}, maxOutput)
	if err != nil {
		return nil, fmt.Errorf("ask lastlog2: %w", err)
	}
	logins, odd := parseLastlog2(out)
	for _, u := range users {
		if line, ok := odd[u.name]; ok {
			return nil, fmt.Errorf("ask lastlog2: the entry of %q is of another form: %q", u.name, line)
		}
	}
	return logins, nil
}

// loginAt is the end of a line of lastlog2(8).
var loginAt = regexp.MustCompile(`([A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} [+-]\d{4} \d{4}|\*\*Never logged in\*\*)\s*$`)

// parseLastlog2 reads what lastlog2 prints: a line of titles, and for each user
// that ever logged in the name, terminal, host and time. It returns the times by name,
// and the lines that cannot be read: such as a time beyond all calendars, or a second
// line of one name, which can only be the rest of a host with a newline in it.
//
// Source: print_entry of util-linux's lastlog2, "%a %b %e %H:%M:%S %z %Y"; compared
// with what 2.41.5 prints.
func parseLastlog2(data []byte) (logins map[string]int64, odd map[string]string) {
	logins, odd = map[string]int64{}, map[string]string{}
	last := ""
	for line := range bytes.Lines(data) {
		text := strings.TrimSpace(string(line))
		name, _, _ := strings.Cut(text, " ")
		if text == "" || last == "" && name == "Username" && strings.HasSuffix(text, " Latest") {
			continue
		}
		if name == "Error:" { // about the entry in front of it
			name = last
		}
		at, ok := parseLogin(text)
		if _, twice := logins[name]; !ok || twice {
			odd[name] = text
		}
		logins[name], last = at, name
	}
	return logins, odd
}

// parseLogin reads the time at the end of a line, 0 for never.
func parseLogin(text string) (at int64, ok bool) {
	m := loginAt.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	if strings.HasPrefix(m[1], "**") {
		return 0, true
	}
	t, err := time.Parse("Mon Jan _2 15:04:05 -0700 2006", m[1])
	return t.Unix(), err == nil
}
