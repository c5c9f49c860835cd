package main

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/kasoku/kasoku/command"
)

// A database is that of lastlog2, read with its own command: the file is
// SQLite's, and a check of a few lines shall not link a database.
type database struct {
	program string
	file    string
}

// maxOutput bounds what is read of the command: 100,000 users.
const maxOutput = 10 << 20

func (d database) lastLogins(ctx context.Context, _ []user) (map[string]int64, error) {
	out, err := command.Output(ctx, command.Spec{
		Path: d.program, Args: []string{"--database", d.file}, CleanEnv: true, Env: []string{"TZ=UTC"},
	}, maxOutput)
	if err != nil {
		return nil, fmt.Errorf("ask lastlog2: %w", err)
	}
	return parseLastlog2(out)
}

// loginAt is the end of a line of lastlog2(8).
var loginAt = regexp.MustCompile(`([A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} [+-]\d{4} \d{4}|\*\*Never logged in\*\*)\s*$`)

// parseLastlog2 reads what lastlog2 prints: a line of titles, and for each user
// that ever logged in the name, terminal, host and time.
//
// Source: print_entry of util-linux's lastlog2, "%a %b %e %H:%M:%S %z %Y".
func parseLastlog2(data []byte) (map[string]int64, error) {
	out := map[string]int64{}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		text := strings.TrimSpace(string(line))
		if text == "" || number == 1 && strings.HasPrefix(text, "Username ") {
			continue
		}
		user, _, _ := strings.Cut(text, " ")
		m := loginAt.FindStringSubmatch(text)
		if m == nil {
			return nil, fmt.Errorf("ask lastlog2: line %d is of another form: %q", number, text)
		}
		if strings.HasPrefix(m[1], "**") {
			out[user] = 0
			continue
		}
		at, err := time.Parse("Mon Jan _2 15:04:05 -0700 2006", m[1])
		if err != nil {
			return nil, fmt.Errorf("ask lastlog2: line %d: bad time %q", number, m[1])
		}
		out[user] = at.Unix()
	}
	return out, nil
}
