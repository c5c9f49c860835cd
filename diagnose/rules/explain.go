package rules

import (
	_ "embed"
	"encoding/json"
	"sync"

	"github.com/kasoku/kasoku/diagnose"
)

// docs are the doc comments of the rules by their ids. TestExplain writes them from the
// source with -update, so that a comment is written once and no source is parsed here.
//
//go:embed docs.json
var docs []byte

var explanations = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	if json.Unmarshal(docs, &texts) != nil {
		return nil // TestExplain holds that it is JSON
	}
	return texts
})

// Explain returns the doc comment of a rule: what it finds, then its Evidence, Cause,
// Fix and Silent; empty for a rule that is not one of [All].
func Explain(r diagnose.Rule) string { return explanations()[r.ID()] }
