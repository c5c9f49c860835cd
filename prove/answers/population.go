package answers

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/kasoku/kasoku/internal/unit"
)

// statisticNames are how the members of one population are called, in front of a stem or after it.
var statisticNames = struct{ mean, least, most []string }{
	mean: []string{"avg", "average", "mean"}, least: []string{"min", "minimum"}, most: []string{"max", "maximum"},
}

// longestName bounds the names of members that are looked at, and quoted.
const longestName = 64

// outside returns, in words, the first value of a tree that does not belong to the population whose
// statistics stand beside it: {"gpa": 0, "gpa_avg": 2.1, "gpa_min": 1.2, "gpa_max": 3.4}. All three must be
// there: a least and a greatest value alone are as often limits as statistics. "" without one.
func outside(tree any) string {
	switch v := tree.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if words := outsideOf(v, name); words != "" {
				return words
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if words := outside(v[name]); words != "" {
				return words
			}
		}
	case []any:
		for _, x := range v {
			if words := outside(x); words != "" {
				return words
			}
		}
	}
	return ""
}

// outsideOf looks at one member of an object, which is a mean.
func outsideOf(object map[string]any, mean string) string {
	if !isName(mean) {
		return ""
	}
	for _, word := range statisticNames.mean {
		for _, name := range [...]func(string) string{
			func(w string) string { return affixed(mean, word, w, true) },
			func(w string) string { return affixed(mean, word, w, false) },
		} {
			stem := name("")
			if stem == "" {
				continue
			}
			least, most := firstOf(object, name, statisticNames.least), firstOf(object, name, statisticNames.most)
			if least == "" || most == "" {
				continue
			}
			for _, of := range [...]string{stem, mean} {
				if v, _, _ := numberOf(object, mean); v == 0 { // of nothing: the least and the greatest are a scale's
					continue
				}
				if isOutside(object, of, least, most, of == mean) {
					return wordsOf(object, stem, of, least, most)
				}
			}
		}
	}
	return ""
}

// affixed returns the name with another word in the place of one that ends it, or begins it, written alike:
// gpa_avg and gpaAvg, avg_gpa and avgGpa. "" where it is not there; with no other word the stem.
func affixed(name, word, other string, ends bool) string {
	at := len(name) - len(word)
	switch {
	case at < 1:
		return ""
	case ends && strings.HasSuffix(name, "_"+word):
		return strings.TrimSuffix(name[:at]+other, "_")
	case ends && strings.HasSuffix(name, capital(word)) && unicode.IsLower(rune(name[at-1])):
		return name[:at] + capital(other)
	case !ends && strings.HasPrefix(name, word+"_"):
		return strings.TrimPrefix(other+name[len(word):], "_")
	case !ends && strings.HasPrefix(name, word) && unicode.IsUpper(rune(name[len(word)])):
		if other == "" {
			return strings.ToLower(name[len(word):len(word)+1]) + name[len(word)+1:]
		}
		return other + name[len(word):]
	}
	return ""
}

// isName reports whether the name of a member is one that can be quoted.
func isName(name string) bool {
	return len(name) <= longestName && !strings.ContainsFunc(name, func(c rune) bool {
		return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
}

func capital(word string) string {
	if word == "" {
		return ""
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

func firstOf(object map[string]any, name func(string) string, words []string) string {
	for _, w := range words {
		if _, _, ok := numberOf(object, name(w)); ok {
			return name(w)
		}
	}
	return ""
}

// numberOf returns a member that is a number, and one of the last place that it is written with.
func numberOf(object map[string]any, name string) (v, place float64, ok bool) {
	n, ok := object[name].(json.Number)
	if !ok {
		return 0, 0, false
	}
	v, err := n.Float64()
	mantissa, exponent, _ := strings.Cut(strings.ToLower(n.String()), "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	var power int
	if exponent != "" {
		if _, err := fmt.Sscanf(exponent, "%d", &power); err != nil || power < -300 || power > 300 {
			return 0, 0, false
		}
	}
	return v, math.Pow10(power - len(fraction)), err == nil && !math.IsInf(v, 0)
}

// isOutside reports whether a value lies outside of a range by more than both may be rounded: each by half of its
// last place, which is 1 of a whole number, or the value by all of it where it may be cut off.
func isOutside(object map[string]any, name, least, most string, cut bool) bool {
	v, place, ok := numberOf(object, name)
	low, lowPlace, _ := numberOf(object, least)
	high, highPlace, _ := numberOf(object, most)
	if cut {
		place *= 2
	}
	slack := max((place+max(lowPlace, highPlace))/2, 1e-6*(high-low))
	return ok && low <= high && (v < low-slack || v > high+slack)
}

// wordsOf says what lies outside, with what else is said of it.
func wordsOf(object map[string]any, stem, name, least, most string) string {
	value := func(n string) string { v, _, _ := numberOf(object, n); return unit.Sig3(v) }
	words := fmt.Sprintf("%s %s, of %s %s to %s %s", name, value(name), least, value(least), most, value(most))
	for _, other := range slices.Sorted(maps.Keys(object)) {
		_, _, ok := numberOf(object, other)
		if ok && isName(other) && other != name && other != least && other != most &&
			strings.HasPrefix(other, stem) {
			words += fmt.Sprintf("; %s %s", other, value(other))
		}
		if len(words) > 4*longestName {
			break
		}
	}
	return words
}
