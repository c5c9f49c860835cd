package main

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/wire/mackerel/program"
)

// A hinted error says what to do.
type hinted struct{ text, hint string }

func (e *hinted) Error() string { return e.text }
func (e *hinted) Hint() string  { return e.hint }

// A target is the host to ask about, and whom to ask.
type target struct{ id, key, base string }

// target puts flags, environment and the agent's configuration together.
func (o options) target(getenv func(string) string) (target, error) {
	conf, err := readConf(o.Conf)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && getenv("MACKEREL_APIKEY") == "" {
		return target{}, &hinted{fmt.Sprintf("read the agent's configuration: %v", err),
			"run as a user who may read it, or set MACKEREL_APIKEY; a key that may read is enough"}
	}
	t := target{
		id: o.HostID, key: cmp.Or(getenv("MACKEREL_APIKEY"), conf["apikey"]),
		base: strings.TrimRight(cmp.Or(o.APIBase, getenv("MACKEREL_APIBASE"), conf["apibase"],
			"https://api.mackerelio.com"), "/"),
	}
	if t.key == "" {
		return target{}, &hinted{fmt.Sprintf("no API key in %s", o.Conf),
			"set MACKEREL_APIKEY, or give the agent's configuration with --conf"}
	}
	if t.id == "" {
		file := cmp.Or(o.IDFile, filepath.Join(cmp.Or(conf["root"], "/var/lib/mackerel-agent"), "id"))
		b, err := os.ReadFile(file)
		if err != nil {
			return target{}, &hinted{fmt.Sprintf("read the host's id: %v", err),
				"give it with --host-id; the agent writes the file when it has registered the host"}
		}
		t.id = strings.TrimSpace(string(b))
	}
	if t.id == "" || len(t.id) > 64 || strings.Trim(t.id,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
		return target{}, fmt.Errorf("%.80q is no id of a host", t.id)
	}
	return t, nil
}

// cachePath is where the answer about the host is remembered. Another key asks anew.
func (t target) cachePath(getenv func(string) string) string {
	sum := sha1.Sum([]byte(t.base + " " + t.id + " " + t.key))
	return filepath.Join(program.WorkDir(getenv), fmt.Sprintf("%s-%d-%x.json", name, os.Geteuid(), sum[:6]))
}

func readConf(path string) (map[string]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseConf(b), nil
}

// parseConf returns the strings at the top of the agent's configuration, above its
// first table. It is TOML; all that is asked for here are plain strings.
func parseConf(data []byte) map[string]string {
	out := map[string]string{}
	for line := range bytes.Lines(data) {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "[") {
			break
		}
		key, value, ok := strings.Cut(text, "=")
		if !ok || strings.HasPrefix(text, "#") {
			continue
		}
		if v, ok := tomlString(strings.TrimSpace(value)); ok {
			out[strings.Trim(strings.TrimSpace(key), `"'`)] = v
		}
	}
	return out
}

// tomlString returns the string that a value begins with; a comment may follow.
func tomlString(s string) (string, bool) {
	if rest, ok := strings.CutPrefix(s, "'"); ok {
		v, _, ok := strings.Cut(rest, "'")
		return v, ok
	}
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil || quoted[0] != '"' {
		return "", false
	}
	v, err := strconv.Unquote(quoted)
	return v, err == nil
}
