package sqlshape

import (
	"regexp"
	"strings"
)

// slowFingerprint is the original's list of substitutions, one regular
// expression each. What Go's expressions lack is spelled out: lookahead,
// back-references and \G. Blanks are Perl's \s.
func slowFingerprint(q string) string {
	if strings.HasPrefix(q, "SELECT /*!40001 SQL_NO_CACHE */ * FROM `") {
		return "mysqldump"
	}
	if slowChecksum.MatchString(q) {
		return "percona-toolkit"
	}
	if strings.HasPrefix(q, "administrator command: ") {
		return q
	}
	if m := slowCall.FindStringSubmatch(q); m != nil {
		return asciiLower(m[1])
	}
	if m := slowInsert.FindStringSubmatch(q); m != nil {
		q = m[1]
	}
	q = slowBlock.ReplaceAllString(q, "")
	q = slowLineComments(q)
	if m := slowUse.FindStringSubmatch(q); m != nil {
		return "use ?" + m[1]
	}
	q = slowEscaped1.ReplaceAllString(q, "$1")
	q = slowEscaped2.ReplaceAllString(q, "$1")
	q = strings.ReplaceAll(q, `\\`, "")
	q = strings.ReplaceAll(q, `\'`, "")
	q = strings.ReplaceAll(q, `\"`, "")
	q = slowDouble.ReplaceAllString(q, "$1?")
	q = slowSingle.ReplaceAllString(q, "$1?")
	q = slowBool.ReplaceAllString(q, "?")
	q = slowNumber.ReplaceAllString(q, "?")
	q = slowLeft.ReplaceAllString(q, "?")
	q = strings.TrimLeft(q, " \t\n\v\f\r")
	q = strings.TrimSuffix(q, "\n")
	q = slowSpace.ReplaceAllString(q, " ")
	q = asciiLower(q)
	q = slowNull.ReplaceAllString(q, "?")
	q = slowList.ReplaceAllString(q, "$1(?+)")
	q = slowUnions(q)
	if m := slowLimit.FindStringIndex(q); m != nil {
		q = q[:m[0]] + "limit ?" + q[m[1]:]
	}
	if m := slowOrder.FindStringIndex(q); m != nil {
		q = q[:m[1]] + slowAsc.ReplaceAllString(q[m[1]:], "$1")
	}
	return q
}

// In Go's expressions (?s) lets a dot match a newline; bytes that are no UTF-8
// match a dot one by one.
var (
	slowChecksum = regexp.MustCompile(`/\*\w+\.\w+:[0-9]/[0-9]\*/`)
	slowCall     = regexp.MustCompile(`(?i)\A[\s\v]*(call[\s\v]+[^\s\v]+)\(`)
	slowInsert   = regexp.MustCompile(`(?is)\A((?:INSERT|REPLACE)(?: IGNORE)?[\s\v]+INTO.+?VALUES[\s\v]*\(.*?\))[\s\v]*,[\s\v]*\(`)
	slowBlock    = regexp.MustCompile(`(?s)/\*[^!].*?\*/`)
	slowUse      = regexp.MustCompile(`(?i)\Ause [^\s\v]+(\n?)\z`)
	slowEscaped1 = regexp.MustCompile(`(?s)([^\\])\\'`)
	slowEscaped2 = regexp.MustCompile(`(?s)([^\\])\\"`)
	slowDouble   = regexp.MustCompile(`(?s)([^\\])(".*?[^\\]?")`)
	slowSingle   = regexp.MustCompile(`(?s)([^\\])('.*?[^\\]?')`)
	slowBool     = regexp.MustCompile(`(?i)\bfalse\b|\btrue\b`)
	slowNumber   = regexp.MustCompile(`[0-9+-][0-9a-f.xb+-]*`)
	slowLeft     = regexp.MustCompile(`[xb.+-]\?`)
	slowSpace    = regexp.MustCompile(`[ \n\t\r\f]+`)
	slowNull     = regexp.MustCompile(`\bnull\b`)
	slowList     = regexp.MustCompile(`\b(in|values?)(?:[\s\v,]*\([\s\v?,]*\))+`)
	slowSelect   = regexp.MustCompile(`\bselect[\s\v]`)
	slowUnion    = regexp.MustCompile(`\A[\s\v]union(?:[\s\v]all)?[\s\v]`)
	slowLimit    = regexp.MustCompile(`\blimit \?(?:, ?\?| offset \?)?`)
	slowOrder    = regexp.MustCompile(`\border by `)
	slowAsc      = regexp.MustCompile(`(.+?)[\s\v]+asc`)
)

func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// slowLineComments is s/(?:--|#)[^'"\r\n]*(?=[\r\n]|\Z)//g.
func slowLineComments(q string) string {
	var out strings.Builder
	for i := 0; i < len(q); {
		if q[i] == '#' || strings.HasPrefix(q[i:], "--") {
			end := i + strings.IndexAny(q[i:]+"\n", "'\"\r\n")
			if end == len(q) || q[end] == '\r' || q[end] == '\n' {
				i = end
				continue
			}
		}
		out.WriteByte(q[i])
		i++
	}
	return out.String()
}

// slowUnions is s/\b(select\s.*?)(?:(\sunion(?:\sall)?)\s\1)+/$1 \/*repeat$2*\//g.
func slowUnions(q string) string {
	var out strings.Builder
next:
	for at := 0; at < len(q); {
		if m := slowSelect.FindStringIndex(q[at:]); m == nil || at > 0 && isWord(q[at-1]) && m[0] == 0 {
			// \b at the start of a slice does not see the byte before it.
			if m == nil {
				out.WriteString(q[at:])
				return out.String()
			}
		} else if m[0] == 0 {
			for first := at + 7; first < len(q); first++ {
				end, union := first, ""
				for {
					e, u := slowRepeat(q, end, q[at:first])
					if e == 0 {
						break
					}
					end, union = e, u
				}
				if union != "" {
					out.WriteString(q[at:first] + " /*repeat" + union + "*/")
					at = end
					continue next
				}
			}
		}
		out.WriteByte(q[at])
		at++
	}
	return out.String()
}

func slowRepeat(q string, p int, sel string) (end int, union string) {
	for _, all := range []bool{true, false} {
		m := slowUnion.FindString(q[p:])
		if m == "" {
			return 0, ""
		}
		if !all && len(m) > 8 {
			m = m[:7] // as if all were not part of it
		}
		if strings.HasPrefix(q[p+len(m):], sel) {
			return p + len(m) + len(sel), m[:len(m)-1]
		}
	}
	return 0, ""
}
