package runlist

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/store"
)

// ChangesBetween reads what was changed between runs from their files, each once. A
// file that cannot be read is listed as such already.
func ChangesBetween() func(before, after store.Info) []compare.Changed {
	read := map[string]*kasoku.Recording{}
	conditions := func(path string) *kasoku.Recording {
		rec, ok := read[path]
		if !ok {
			rec, _ = store.Conditions(path)
			read[path] = rec
		}
		return rec
	}
	return func(before, after store.Info) []compare.Changed {
		b, a := conditions(before.Path), conditions(after.Path)
		if b == nil || a == nil {
			return nil
		}
		return compare.Changes(b, a)
	}
}
