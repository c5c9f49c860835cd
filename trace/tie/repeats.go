package tie

import (
	"hash/maphash"
	"slices"

	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/trace/protocol"
)

// mostTexts bounds the different texts of a class in one request that are known apart. What is
// asked beyond them and is none of them is not known.
const mostTexts = 64

// textBytes is what one of them takes.
const textBytes = 8

// A text stands for what is asked: the statement with its values, without comments, which may be of
// one call alone. Nothing where it is not known.
type text uint64

// textOf returns that of a statement as it was sent.
func textOf(seed maphash.Seed, sql []byte, cut bool) text {
	if cut || len(sql) == 0 || len(sql) > mostSample {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(seed)
	l := sqlshape.NewLexer(sql)
	for x := l.Next(); x.Kind != sqlshape.End; x = l.Next() {
		_, _ = h.Write(x.Text)
		_ = h.WriteByte(0)
	}
	return text(h.Sum64() | 1)
}

// textOfExecution returns that of an execution of what was prepared.
func textOfExecution(seed maphash.Seed, x prepared, m protocol.Command) text {
	if x.text == 0 || m.Cut || m.Code != protocol.Execute {
		return 0
	}
	nulls, values, ok := protocol.ParameterBytes(m.Values, x.parameters)
	if !ok {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.Write(nulls)
	_, _ = h.Write(values)
	return text((h.Sum64() ^ uint64(x.text)) | 1)
}

// add counts a statement whose text is known.
func (k *used) add(x text, room *budget) (cost int) {
	switch {
	case x == 0:
		return 0
	case slices.Contains(k.texts, x):
		k.known++
		return 0
	case len(k.texts) >= mostTexts || !room.take(textBytes):
		return 0
	}
	k.texts, k.known = append(k.texts, x), k.known+1
	return textBytes
}
