package record

import (
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/lines"
)

// Codes of warnings that say that lines of a log are not in the run.
const (
	codeLogGone = "log-gone" // with its directory
	codeLogLost = "log-lost"
)

const hintKeepLogs = "keep the logs until the run has ended"

// lostOf warns when a log was seen to gain more than could be read of it in the end: it
// was truncated, removed or replaced meanwhile. A log that was cut before it gained
// anything has lost nothing of the run.
func (b *logbook) lostOf(l *logFile, w *kasoku.LogWindow) []kasoku.Warning {
	if l.gone {
		return []kasoku.Warning{{
			Code: codeLogGone,
			Text: l.path + " was removed during the run with its directory: what was written to it is lost",
			Hint: hintKeepLogs,
		}}
	}
	seen := b.clock.Gained(l.mark)
	if seen <= l.read {
		return nil
	}
	text := l.path + " gained at least " + unit.Bytes(uint64(seen)) + " during the run, of which " +
		unit.Bytes(uint64(l.read)) + " could be read"
	if w.Note != "" {
		text += ": " + w.Note
	}
	return []kasoku.Warning{{Code: codeLogLost, Text: text, Hint: hintKeepLogs}}
}

// unreadWarning says in the run that a log could not be read in the end: its tables lack it.
// Why is printed alone, as it may quote a line of a file that is no log.
func unreadWarning(path string) kasoku.Warning {
	return kasoku.Warning{Code: codeLogLost, Text: path + " could not be read at the end: the run has nothing of it",
		Hint: hintKeepLogs}
}

// LostLogs returns which logs of a run lack lines that were written during it, as its
// warnings say; empty when none does.
func LostLogs(rec *kasoku.Recording) string {
	var said []string
	for _, w := range rec.Warnings {
		if w.Code == codeLogGone || w.Code == codeLogLost {
			said = append(said, w.Text)
		}
	}
	return strings.Join(said, "; ")
}

// bytesOf returns how many bytes parts of files have together.
func bytesOf(parts []lines.Segment) (n int64) {
	for _, p := range parts {
		n += p.To - p.From
	}
	return n
}
