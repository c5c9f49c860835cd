package config

import _ "embed" // schema.json

// schema is what an editor completes and checks a kasoku.toml by. The test of docs/config.md
// makes it: keys and types from the structs, what they mean from the page.
//
//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema of a kasoku.toml, of draft 7, which editors of TOML read.
//
// Source: JSON Schema Validation, draft-handrews-json-schema-validation-01.
func Schema() []byte { return schema }
