package routes

import (
	"bytes"
	"strings"
)

// Keys by which programs choose are also keys by which people name things: page=about and page=kim,
// service=export and service=acme. Of these keys a value counts that has a word of programs in it. In
// any value that is a path the segment after the name of what people and organisations have accounts
// as is theirs: rest_route=/app/v1/users/kim. So no user's or tenant's name is stored as an endpoint,
// however often it is asked for and however large its answers are; the price is that page=impressum
// stays with its path.

// namesThings reports whether the values of a dispatcher are as often the names of things.
func namesThings(key []byte) bool {
	switch string(key) {
	case "service", "option", "event", "view", "page", "r":
		return true
	}
	return false
}

// hasProgramWord reports whether one of the words of a value is one that programs are made of. Words end
// where letters do, and before a capital letter after a small one.
func hasProgramWord(value []byte) bool {
	var room [longestValue]byte
	word := room[:0]
	for i, c := range value {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if capital := 'A' <= c && c <= 'Z'; !letter || capital && i > 0 && 'a' <= value[i-1] && value[i-1] <= 'z' {
			if isProgramWord(word) {
				return true
			}
			word = word[:0]
		}
		if letter {
			word = append(word, c|0x20)
		}
	}
	return isProgramWord(word)
}

func isProgramWord(word []byte) bool {
	return programWords[string(word)] || programWords[string(bytes.TrimSuffix(word, []byte("s")))]
}

// isPeople reports whether a segment says that the next one is the name of a user or an organisation.
func isPeople(segment []byte) bool {
	var room [longestValue]byte
	lower := room[:0]
	for _, c := range segment {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		lower = append(lower, c)
	}
	return people[string(bytes.TrimSuffix(lower, []byte("s")))]
}

// isHostName reports whether a value ends as names of hosts do.
func isHostName(value []byte) bool {
	at := bytes.LastIndexByte(value, '.')
	return at > 0 && topLevels[string(bytes.ToLower(value[at+1:]))]
}

var (
	people = setOf("user", "account", "tenant", "org", "organization", "organisation", "member", "customer", "client",
		"team", "host", "author", "owner", "profile", "company", "companie", "people", "person", "u", "by", "name",
		"username", "login", "workspace", "channel", "group", "site")
	topLevels = setOf("com", "net", "org", "io", "jp", "de", "uk", "fr", "eu", "us", "co", "local", "internal", "lan",
		"example", "localhost", "intranet")
	// programWords are what values that choose are made of; singular.
	programWords = setOf(strings.Fields(`
		about account action activity add admin ajax api app archive article attachment auth author basket
		blog board book browse calendar cart catalog catalogue categorie category chat check checkout com
		comment config contact content count create cron dashboard data default delete detail diff display
		download edit entrie entry error event export faq feed file find form forum front galerie gallery
		get grid group guest help history home image import inbox index info inventory invoice issue item
		job json landing latest list load log login logout mail main manage media member menu message new
		news note notification option order overview page password payment photo post preference preview
		print privacy product profile project query rank ranking read recent register remove render report
		result review rss save search send session set setting settings shop show sitemap stat statistic
		stats status stock store submit summary tag task terms thread ticket timeline topic update upload
		user view welcome wiki xml`)...)
)

func setOf(words ...string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}
