package routes

import "bytes"

const (
	// alikeNames at one place that differ in numbers alone are one route: book-7_8,
	// book-11_12. Fewer may be names, as utf-8 and step-2 are.
	alikeNames = 8
	// numberedNames at one place that end in a number of their own are rows with their
	// name and id: the-sea_12, old-maps_7.
	numberedNames = 12
)

// takeNumbered puts values together that differ only in numbers between their words, with
// those whose numbers are long enough to be values by their form; then those that are a name
// with a number after it, where they are many. Their placeholder begins with :words: beside
// :name the other names at the place would be values, too.
func (p *place) takeNumbered() {
	if len(p.kids) < 2 {
		return
	}
	forms := map[string][]*place{}
	var order []string
	for _, k := range p.kids {
		form := formOf(k.piece)
		if form == "" {
			continue
		}
		if forms[form] == nil {
			order = append(order, form)
		}
		forms[form] = append(forms[form], k)
	}
	to := map[*place]string{}
	numbered, known := 0, false
	for _, form := range order {
		if long := p.index[form]; len(forms[form]) >= alikeNames || long != nil {
			for _, k := range forms[form] {
				to[k] = form
			}
		} else if rows := rowsOf(form); rows != "" {
			numbered += len(forms[form])
			known = known || p.index[rows] != nil
		}
	}
	if numbered >= numberedNames || known {
		for _, form := range order {
			for _, k := range forms[form] {
				if rows := rowsOf(form); to[k] == "" && rows != "" {
					to[k] = rows
				}
			}
		}
	}
	if len(to) == 0 {
		return
	}
	all := p.kids
	p.kids = nil
	for _, k := range all {
		if to[k] == "" {
			p.kids = append(p.kids, k)
		} else {
			delete(p.index, k.piece)
		}
	}
	for _, k := range all {
		if to[k] != "" {
			p.kid(to[k]).absorb(k)
		}
	}
}

// formOf returns a segment with :id for each number that is a word of its own beside others,
// empty where it has none: /book-7_8.html is /book-:id_:id.html.
func formOf(piece string) string {
	if len(piece) < 2 || piece[0] != '/' || isPlaceholder([]byte(piece)) {
		return ""
	}
	stem, ext := cutExtension([]byte(piece[1:]))
	out := []byte{'/'}
	words, numbers := 0, 0
	for len(stem) > 0 {
		i := bytes.IndexAny(stem, "-_.")
		if i < 0 {
			i = len(stem)
		}
		word := stem[:i]
		if mask, digits := surveyBytes(word); digits > 0 && mask&^digit == 0 {
			out = append(out, ":id"...)
			numbers++
		} else {
			out = append(out, word...)
			if len(word) > 0 && mask&letters != 0 {
				words++
			}
		}
		if i < len(stem) {
			out = append(out, stem[i])
			i++
		}
		stem = stem[i:]
	}
	if words == 0 || numbers == 0 {
		return ""
	}
	return string(append(out, ext...))
}

// rowsOf returns what stands for a name with a number after it, as /:words_:id.html, empty
// where a form is none.
func rowsOf(form string) string {
	stem, ext := cutExtension([]byte(form))
	for _, end := range []string{"-:id", "_:id"} {
		if bytes.HasSuffix(stem, []byte(end)) {
			return "/:words" + end + string(ext)
		}
	}
	return ""
}

// coversNumbered reports whether a folded piece is the form of a piece with numbers, or what
// stands for a name with a number.
func coversNumbered(folded, piece string) bool {
	form := formOf(piece)
	return form != "" && (folded == form || folded == rowsOf(form))
}
