package webserver

import (
	"regexp"
	"slices"
	"strings"
)

// LocationOf returns the location that answers requests for a path, as nginx chooses it: in
// each block an exact one, else the longest prefix, and those within it, unless a pattern
// matches. It is false where that is not known, as where a pattern is not understood (look-ahead).
//
// Source: nginx, src/http/ngx_http_core_module.c, ngx_http_core_find_location.
func (w *Config) LocationOf(uri string) (Location, bool) {
	l, found, _ := w.findLocation(uri, -1)
	return l, found
}

// findLocation looks among the locations of a block, of the server where it is -1. final says that no
// pattern of the blocks around may take the request, or that it is not known which one does.
func (w *Config) findLocation(uri string, block int) (best Location, found, final bool) {
	for _, l := range w.Locations {
		if w.outer(l) != block {
			continue
		}
		if l.Modifier == "=" && l.Path == uri {
			return l, true, true
		}
		prefix := l.Modifier == "" || l.Modifier == "^~"
		if prefix && strings.HasPrefix(uri, l.Path) && !strings.HasPrefix(l.Path, "@") &&
			(!found || len(l.Path) > len(best.Path)) {
			best, found = l, true
		}
	}
	noPatterns := found && best.Modifier == "^~"
	if found {
		inner, ok, end := w.findLocation(uri, best.At)
		if end {
			return inner, ok, true
		}
		if ok {
			best = inner
		}
	}
	if noPatterns {
		return best, true, false
	}
	for _, l := range w.Locations {
		if l.Modifier != "~" && l.Modifier != "~*" || w.outer(l) != block {
			continue
		}
		pattern := l.Path
		if l.Modifier == "~*" {
			pattern = "(?i)" + pattern
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			return Location{}, false, true
		}
		if re.MatchString(uri) {
			inner, ok, end := w.findLocation(uri, l.At)
			if ok || end {
				return inner, ok, true
			}
			return l, true, true
		}
	}
	return best, found, false
}

// outer returns the location in which one stands, -1 for the server.
func (w *Config) outer(l Location) int {
	for p := w.Directives[l.At].Parent; p >= 0; p = w.Directives[p].Parent {
		if w.Directives[p].Name() == "location" {
			return p
		}
	}
	return -1
}

// HasLocation reports whether there is a location of that path in the server that answers.
func (w *Config) HasLocation(path string) bool {
	return slices.ContainsFunc(w.Locations, func(l Location) bool { return l.Path == path })
}
