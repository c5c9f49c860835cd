package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// A Link leads from a run to a page of somebody's own about the same time, such as a dashboard.
type Link struct {
	Name    string
	Address string // with the words of [LinkWords] in braces
}

// LinkWords are what the address of a link may name: the time of a run in milliseconds or seconds since 1970, its
// label, its id and the host that recorded it.
var LinkWords = []string{"from_ms", "to_ms", "from_s", "to_s", "label", "id", "host"}

var braced = regexp.MustCompile(`\{[^{}]*\}`)

// ParseLink reads NAME=URL, such as Grafana=https://grafana.example.com/d/kasoku?from={from_ms}&to={to_ms}.
func ParseLink(text string) (Link, error) {
	name, address, found := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); !found || name == "" {
		return Link{}, errors.New("want NAME=URL")
	}
	for _, word := range braced.FindAllString(address, -1) {
		if !slices.Contains(LinkWords, strings.Trim(word, "{}")) {
			return Link{}, fmt.Errorf("%s is none of {%s}", word, strings.Join(LinkWords, "} {"))
		}
	}
	// The words may stand anywhere but in the scheme and the host, which no run may choose.
	u, err := url.Parse(braced.ReplaceAllString(address, "0"))
	if err != nil {
		return Link{}, errors.New("want the URL of a page")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return Link{}, errors.New("want a URL that begins with http:// or https:// and holds no account")
	}
	if _, rest, _ := strings.Cut(address, "://"); braced.MatchString(rest[:len(rest)-len(strings.TrimLeftFunc(rest,
		func(r rune) bool { return !strings.ContainsRune("/?#", r) }))]) {
		return Link{}, errors.New("the host of a link is not taken from a run")
	}
	return Link{name, strings.TrimSpace(address)}, nil
}

// At returns the address with words in their places, each as it stands in a URL; words that are not given stay.
func (l Link) At(words map[string]string) string {
	return braced.ReplaceAllStringFunc(l.Address, func(word string) string {
		value, known := words[strings.Trim(word, "{}")]
		if !known {
			return word
		}
		return strings.ReplaceAll(url.QueryEscape(value), "+", "%20") // which holds in a path, too
	})
}
