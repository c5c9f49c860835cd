package sqlfile

import (
	"iter"
	"strings"
)

// Statements yields the statements of a text, each with the line on which it
// begins, counted from 1. A semicolon ends a statement unless it stands in quotes
// or in a comment. Comments between statements are left out, but for those that
// the server reads: /*! … */ and /*M! … */.
//
// Source: the lexical structure of the MySQL 9.7 manual, "Comments" and "String
// Literals". DELIMITER, which is a word of the client, is not known.
func Statements(text string) iter.Seq2[int, string] {
	return func(yield func(line int, statement string) bool) {
		line := 1
		for text != "" {
			blank := skipBlank(text)
			line += strings.Count(text[:blank], "\n")
			text = text[blank:]
			end := statementEnd(text)
			if q := strings.TrimRight(text[:end], " \t\r\n"); q != "" && !yield(line, q) {
				return
			}
			line += strings.Count(text[:end], "\n")
			text = text[min(end+1, len(text)):]
		}
	}
}

// skipBlank returns how much of the text's begin is space and comments.
func skipBlank(text string) int {
	i := 0
	for i < len(text) {
		if strings.IndexByte(" \t\r\n", text[i]) >= 0 {
			i++
			continue
		}
		n := comment(text[i:])
		if n == 0 || strings.HasPrefix(text[i:], "/*!") || strings.HasPrefix(text[i:], "/*M!") {
			break
		}
		i += n
	}
	return i
}

// statementEnd returns where the first statement ends: at a semicolon or at the end.
func statementEnd(text string) int {
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case ';':
			return i
		case '\'', '"', '`':
			i += quoted(text[i:])
		case '-', '#', '/':
			i += max(comment(text[i:]), 1)
		default:
			i++
		}
	}
	return len(text)
}

// quoted returns the length of the quoted text at the begin. A doubled quote
// continues it, which two texts in a row do as well.
func quoted(text string) int {
	quote := text[0]
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == quote:
			return i + 1
		case text[i] == '\\' && quote != '`':
			i++
		}
	}
	return len(text)
}

// comment returns the length of the comment at the begin, 0 when there is none.
func comment(text string) int {
	begin, end := 0, "\n"
	switch {
	case strings.HasPrefix(text, "/*"):
		begin, end = 2, "*/"
	case strings.HasPrefix(text, "#"):
	case strings.HasPrefix(text, "--") && (len(text) == 2 || text[2] <= ' '):
	default:
		return 0
	}
	if i := strings.Index(text[begin:], end); i >= 0 {
		return begin + i + len(end)
	}
	return len(text)
}
