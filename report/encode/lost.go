package encode

import (
	"fmt"
	"reflect"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/report"
)

// lostParts words what this process has lost to bugs so far: what is for machines names
// it at its end, so that what is there is not taken for all.
func lostParts() []string {
	bugs, _ := contain.Bugs()
	out := make([]string, 0, len(bugs))
	for _, b := range bugs {
		out = append(out, b.Error())
	}
	return out
}

// containedTable writes one table of a section. One that panics is named at the end; the
// others are written. IDs of tables may be text of the run, those of sections are not.
func containedTable(s *report.Section, write func()) {
	_ = contain.Run(contain.Part{Kind: contain.Output, Name: "table of " + s.ID}, write)
}

// containedValue makes one value of a JSON answer. One that panics is its zero value,
// and named at the end; the others are made.
func containedValue[U any](f func() U) (out U) {
	name := fmt.Sprint(reflect.TypeFor[U]())
	_ = contain.Run(contain.Part{Kind: contain.Output, Name: name}, func() { out = f() })
	return out
}
