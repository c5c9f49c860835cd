// Package html writes a [report.Document] as one self-contained page: style, script
// and charts are inside, nothing is fetched, and it reads without the script.
//
// The one idea: charts are drawn here, in Go, as SVG whose view box counts seconds;
// strokes do not scale with it and labels are text placed in percent. The page thus
// fits any width without a script. The script only adds a cursor, keys, the theme and
// copying.
//
// What comes from logs is escaped by html/template in the context where it stands.
// A content security policy in the page allows its own script by hash and no other,
// no connections and no frames, should something slip through after all.
package html
