// Package encode writes what a run holds for machines and for other documents:
// JSON, tab-separated values and Markdown.
//
// JSON has structs of its own, not those of the recording: their field names are a
// contract, described in docs/json.md, and stay when the inside changes. A field's unit is
// part of its name: _s is seconds, _ratio is 0..1, _bytes and _per_s say so. What was
// not measured is null, never 0.
//
// TSV holds every table of a document, and its charts second by second, with raw
// values. Markdown is the document as text that other pages can include.
package encode
