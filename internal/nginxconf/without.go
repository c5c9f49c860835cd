package nginxconf

import "strings"

// Without returns a text without the directives that leave names by their number: their lines stay, so that
// all others keep their numbers, and say what stood there. What a comment just above says goes with them.
func Without(text string, leave func(c Config, i int) bool, say string) (string, error) {
	c, err := parseSpans(text, "")
	if err != nil {
		return "", err
	}
	var out strings.Builder
	at := 0
	for i := range c.Config {
		if s := c.spans[i]; s.from >= at && leave(c.Config, i) {
			from := commentsBefore(text, at, s.from)
			end := commentAfter(text, s.end)
			out.WriteString(text[at:from])
			out.WriteString(blank(text[from:end], text[end:], say))
			at = end
		}
	}
	out.WriteString(text[at:])
	return out.String(), nil
}

// commentsBefore returns where lines of comments begin that stand just above a place, not before least.
func commentsBefore(text string, least, at int) int {
	for {
		line := strings.LastIndexByte(text[least:at], '\n') + 1 + least
		if strings.TrimSpace(text[line:at]) != "" || line == least {
			return at
		}
		above := strings.LastIndexByte(text[least:line-1], '\n') + 1 + least
		if !strings.HasPrefix(strings.TrimSpace(text[above:line]), "#") {
			return at
		}
		at = above
	}
}

// commentAfter returns the end of a comment that follows on the same line, else the place.
func commentAfter(text string, at int) int {
	line, _, _ := strings.Cut(text[at:], "\n")
	if strings.HasPrefix(strings.TrimSpace(line), "#") {
		return at + len(line)
	}
	return at
}

// blank returns as many line ends as a part has, after a comment on its first line where no directive
// follows there.
func blank(part, rest, say string) string {
	ends := strings.Repeat("\n", strings.Count(part, "\n"))
	if line, _, _ := strings.Cut(rest, "\n"); ends == "" && strings.TrimSpace(line) != "" {
		return ""
	}
	return "# " + say + ends
}
