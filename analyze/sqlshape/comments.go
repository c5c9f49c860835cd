package sqlshape

// A Field is what a comment of a statement says of where the statement comes
// from: a key and its value, decoded. A comment that is a plain name has no key.
type Field struct {
	Key, Value string
}

// Comments returns the fields of a statement's comments, in order: those of
// sqlcommenter (key='url%20encoded'), of marginalia (key:value,key:value), and
// plain tags. It is bounded to 32 fields.
func Comments(sql []byte) []Field { return nil }
