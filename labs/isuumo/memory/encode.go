package memory

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// appendChair appends the chair as the API shows it.
func appendChair(b []byte, c *isuumo.Chair) []byte {
	b = appendInt(b, `{"id":`, c.ID)
	b = appendText(b, `,"name":`, c.Name)
	b = appendText(b, `,"description":`, c.Description)
	b = appendText(b, `,"thumbnail":`, c.Thumbnail)
	b = appendInt(b, `,"price":`, c.Price)
	b = appendInt(b, `,"height":`, c.Height)
	b = appendInt(b, `,"width":`, c.Width)
	b = appendInt(b, `,"depth":`, c.Depth)
	b = appendText(b, `,"color":`, c.Color)
	b = appendText(b, `,"features":`, c.Features)
	b = appendText(b, `,"kind":`, c.Kind)
	return append(b, '}')
}

// appendEstate appends the estate as the API shows it.
func appendEstate(b []byte, e *isuumo.Estate) []byte {
	b = appendInt(b, `{"id":`, e.ID)
	b = appendText(b, `,"thumbnail":`, e.Thumbnail)
	b = appendText(b, `,"name":`, e.Name)
	b = appendText(b, `,"description":`, e.Description)
	b = appendFloat(b, `,"latitude":`, e.Latitude)
	b = appendFloat(b, `,"longitude":`, e.Longitude)
	b = appendText(b, `,"address":`, e.Address)
	b = appendInt(b, `,"rent":`, e.Rent)
	b = appendInt(b, `,"doorHeight":`, e.DoorHeight)
	b = appendInt(b, `,"doorWidth":`, e.DoorWidth)
	b = appendText(b, `,"features":`, e.Features)
	return append(b, '}')
}

func appendInt(b []byte, key string, v int64) []byte {
	return strconv.AppendInt(append(b, key...), v, 10)
}

func appendFloat(b []byte, key string, v float64) []byte {
	return strconv.AppendFloat(append(b, key...), v, 'f', -1, 64)
}

func appendText(b []byte, key, s string) []byte {
	b = append(b, key...)
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			return appendEscaped(b, s)
		}
	}
	if !utf8.ValidString(s) {
		return appendEscaped(b, s)
	}
	return append(append(append(b, '"'), s...), '"')
}

func appendEscaped(b []byte, s string) []byte {
	escaped, _ := json.Marshal(s) // it never fails for a string
	return append(b, escaped...)
}
