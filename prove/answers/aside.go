package answers

import (
	"encoding/json"
	"maps"
	"slices"
	"unicode"

	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// An aside is what a page says of itself in the layout that it has in common with others, such as how long
// it took: a text by the place it stands at, with its numbers masked. Asked four times, a page may have said the same
// by chance, and says something else when it is asked again.
type aside struct{ place, text string }

var numbers = lazyregexp.New(`[0-9]+([.,][0-9]+)*`)

// asideOf masks the numbers of a text. A number alone is none: it may be a price.
func asideOf(place, text string) (aside, bool) {
	masked := numbers().ReplaceAllString(text, "0")
	words := slices.ContainsFunc([]rune(masked), unicode.IsLetter)
	return aside{place, masked}, words && masked != "" && numbers().MatchString(text)
}

// pageOf returns the texts and attributes of a page by their places.
func pageOf(tree map[string]any) map[string]any {
	page, _ := tree[bodyOf(formHTML)].(map[string]any)
	return page
}

// movedIn returns the asides of a page that differed between asks, each once.
func movedIn(kept, came *Answer) (out []aside) {
	if kept.Form != formHTML || len(kept.Volatile) == 0 {
		return nil
	}
	page, rest, root := pageOf(came.tree()), pageOf(kept.tree()), kept.places()
	for _, name := range slices.Sorted(maps.Keys(page)) {
		if !root.member(bodyOf(formHTML)).member(name).volatile[ofElements] {
			continue
		}
		stable, _ := rest[name].([]any)
		list, _ := page[name].([]any)
		for _, v := range list {
			text, ok := v.(string)
			if x, is := asideOf(name, text); ok && is && !slices.Contains(stable, v) && !slices.Contains(out, x) {
				out = append(out, x)
			}
		}
	}
	return out
}

// mostMoved is how many pages must have shown that an aside moves, if it is to be left out of one that did not.
const mostMoved = 2

// leaveAside leaves out of pages what moved in at least two others and in most of those that have it.
func leaveAside(answers []Answer, moved map[aside]int) {
	if len(moved) == 0 {
		return
	}
	stands, in := map[aside]int{}, map[int][]aside{}
	for i := range answers {
		a := &answers[i]
		if a.Form != formHTML {
			continue
		}
		page := pageOf(a.tree())
		for name, values := range page {
			list, _ := values.([]any)
			for _, v := range list {
				text, _ := v.(string)
				if x, is := asideOf(name, text); is && moved[x] >= mostMoved && !slices.Contains(in[i], x) {
					in[i] = append(in[i], x)
					stands[x]++
				}
			}
		}
	}
	for i, xs := range in {
		xs = slices.DeleteFunc(xs, func(x aside) bool { return moved[x] <= stands[x] })
		if len(xs) > 0 && len(answers[i].Volatile)+len(xs) <= maxVolatile {
			answers[i].leaveOut(xs)
		}
	}
}

// leaveOut makes the places of asides volatile; their other texts must go on being there.
func (a *Answer) leaveOut(xs []aside) {
	tree := a.tree()
	page, root := pageOf(tree), a.places()
	for _, x := range xs {
		list, _ := page[x.place].([]any)
		page[x.place] = slices.DeleteFunc(list, func(v any) bool {
			text, _ := v.(string)
			y, is := asideOf(x.place, text)
			return is && y == x
		})
		at := root.member(bodyOf(formHTML)).member(x.place)
		if at.setVolatile(ofElements) {
			a.Volatile = append(a.Volatile, Volatile{Path: at.path(), What: ofElements})
		}
	}
	if body, err := json.Marshal(page); err == nil {
		a.Body = body
	}
}
