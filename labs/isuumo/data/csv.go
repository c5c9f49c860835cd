package data

import (
	"strings"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// ChairCSV appends the rows as an upload to POST /api/chair holds them: no header,
// lines end in LF, text is quoted as RFC 4180 has it where it must be.
func ChairCSV(dst []byte, rows []isuumo.Chair) []byte { return appendCSV(dst, chairTable(), rows) }

// EstateCSV is [ChairCSV] for POST /api/estate.
func EstateCSV(dst []byte, rows []isuumo.Estate) []byte { return appendCSV(dst, estateTable(), rows) }

func appendCSV[T any](dst []byte, t *table[T], rows []T) []byte {
	for i := range rows {
		for j, field := range t.fields(&rows[i]) {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = appendField(dst, field, appendCSVText)
		}
		dst = append(dst, '\n')
	}
	return dst
}

func appendCSVText(dst []byte, s string) []byte {
	// Readers may take a space at the start away unless it is quoted.
	if !strings.ContainsAny(s, ",\"\r\n") && !strings.HasPrefix(s, " ") {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for i := range len(s) {
		if s[i] == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, s[i])
	}
	return append(dst, '"')
}
