package mysql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Check reports why a change is none that a recording makes. It is for changes
// that were read from a file: what stands there decides what is set on a server.
func (c Changed) Check() error {
	if strings.HasPrefix(c.Name, indexPrefix) {
		return c.checkIndex()
	}
	if table, row, ok := setupRow(c.Name); ok {
		return c.checkSetup(table, row)
	}
	good := variableForms()[c.Name]
	if good == nil { // of a change that was tried, such as the size of a buffer
		if !harmless(c.Name) {
			return fmt.Errorf("kasoku changes no %.100q: %w", c.Name, ErrUnexpected)
		}
		good = isPlain
	}
	return c.checkValues(good)
}

func (c Changed) checkValues(good func(string) bool) error {
	for _, v := range []string{c.Before, c.During} {
		if !good(v) {
			return fmt.Errorf("%s has no value %.100q: %w", c.Name, v, ErrUnexpected)
		}
	}
	return nil
}

func (c Changed) checkSetup(table, row string) error {
	flags := 1
	if table == setupInstruments {
		flags = 2 // ENABLED and TIMED; the latter of some is NULL
	}
	if row == "" || len(row) > 128 || strings.ContainsAny(row, "'\\\n") {
		return fmt.Errorf("change of %.100q: %w", c.Name, ErrUnexpected)
	}
	return c.checkValues(func(v string) bool {
		words := strings.Split(v, ",")
		return len(words) <= flags && !slices.ContainsFunc(words,
			func(w string) bool { return !slices.Contains([]string{"YES", "NO", ""}, w) })
	})
}

// variableForms are the variables that recordings change, and what their values
// look like.
func variableForms() map[string]func(string) bool {
	return map[string]func(string) bool{
		"log_output": areWords, "log_slow_filter": areWords, "log_slow_verbosity": areWords,
		"slow_query_log": isSwitch, "log_slow_extra": isSwitch,
		"long_query_time": isNumber, "min_examined_row_limit": isNumber, "log_slow_rate_limit": isNumber,
	}
}

func isSwitch(v string) bool {
	return slices.Contains([]string{"ON", "OFF", "0", "1"}, strings.ToUpper(v))
}

func isNumber(v string) bool {
	n, err := strconv.ParseFloat(v, 64)
	return err == nil && n >= 0 && n < 1e20 && len(v) < 30
}

// areWords reports whether a value is words with commas between them; none is good.
func areWords(v string) bool {
	return len(v) < 1000 && strings.IndexFunc(v, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == ',' ||
			r == ' ')
	}) < 0
}

// harmless reports whether a name is one of a variable that does not make the server
// run, load, write or trust anything.
func harmless(name string) bool {
	if name == "" || len(name) > 64 || strings.IndexFunc(name,
		func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_') }) >= 0 {
		return false
	}
	for _, word := range []string{"init_", "plugin", "file", "dir", "path", "password", "secure", "auth", "ssl", "tls",
		"librar", "local_infile", "event_scheduler", "super_read"} {
		if strings.Contains(name, word) && !strings.HasPrefix(name, "innodb_file_per") {
			return false
		}
	}
	return true
}

// isPlain reports whether a value is numbers, words and switches: no path, no
// statement.
func isPlain(v string) bool {
	return len(v) < 4000 && strings.IndexFunc(v, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_,.=:+- ", r))
	}) < 0
}
