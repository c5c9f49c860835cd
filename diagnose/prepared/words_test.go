package prepared

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
)

// TestKeep: what the server refused stays out when rules look at the run again, and what it answered
// to the same statement stays; of a statement that is another by now nothing is said.
func TestKeep(t *testing.T) {
	fix := func(text, code, note string) kasoku.Fix {
		return kasoku.Fix{Text: text, Code: code, Note: note, Lang: "sql"}
	}
	of := func(object string, fixes ...kasoku.Fix) *kasoku.Diagnosis {
		return &kasoku.Diagnosis{Findings: []kasoku.Finding{{ID: "QRY-05", Object: kasoku.Object{Kind: "query", Name: object}, Fixes: fixes}}}
	}
	now := of("a", fix("One", "SELECT 1;", "First."), fix("Two", "SELECT 2;", "First."), fix("Three", "SELECT 3;", ""), fix("Four", "SELECT 4;", ""))
	no := refused + " (Error 1064: near '?')."
	Keep(of("a", fix("One", "", "First. "+no), fix("Two", "SELECT 2;", "First. "+Accepted), fix("Three", "SELECT 33;", Accepted),
		fix("Four", "SELECT 4;", open+"invalid connection.")), now)
	Keep(of("b", fix("Two", "", no)), now)
	Keep(nil, now)
	for i, want := range []kasoku.Fix{{Text: "One", Note: "First. " + no}, fix("Two", "SELECT 2;", "First. "+Accepted),
		fix("Three", "SELECT 3;", ""), fix("Four", "SELECT 4;", open+"invalid connection.")} {
		if got := now.Findings[0].Fixes[i]; !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// TestFirstLine: an answer as long as a server that lies can send is not printed whole.
func TestFirstLine(t *testing.T) {
	for text, want := range map[string]string{
		"Error 1064: near '?'.\nmore":    "Error 1064: near '?'",
		"x" + strings.Repeat("é", 4<<20): "x" + strings.Repeat("é", mostAnswer/2-1) + "…",
	} {
		if got := firstLine(errors.New(text)); got != want {
			t.Errorf("%d bytes, want %d: %.40s", len(got), len(want), got)
		}
	}
}
