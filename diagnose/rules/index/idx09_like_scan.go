package index

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/diagnose/internal/advice"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/rewrite"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
)

// LikeScan is the rule IDX-09.
type LikeScan struct{}

// ID returns IDX-09.
func (LikeScan) ID() string { return "IDX-09" }

// Doc describes the rule.
func (LikeScan) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds searches by LIKE that read a whole table, or all that other conditions leave of it.`,
		Evidence: `a SELECT with a LIKE, or a REGEXP, that all of its rows must meet, or as a part of an OR, examines at
			least 1,000 rows a call, at least half of the table and ten for each that it sends; the plan
			reads the whole table, or all of it through a join, or a quarter of the rows that it counts on are
			those of the table that other conditions leave; it takes at least 2 % of the requests' time. Whether
			the pattern begins with % is known of the slowest statement, where the run keeps statements, and of a column whose
			index the server does not use.`,
		Cause: `an index has text from its beginning: of '%word%' it finds nothing, and each row is read
			and compared.`,
		Fix: `a full-text index, or a search service, where words are what is sought: they find other
			rows than LIKE does. A pattern that begins with text needs an index of the column alone.`,
		Silent: `when the search is for nothing ('%'), when other conditions leave few rows, or would with an index that
			is proposed for them, when most rows
			are sent, when it takes little time, and blind without a slow log or the tables' definitions.`,
	}
}

// Check looks for tables that are read whole for a LIKE.
func (r LikeScan) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	advised, err := advice.ForIndexes(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	found, near, said := scansOf(c, advised, func(h *indexes.Hidden) bool {
		return h.Function == indexes.LikeFunction && h.Pattern != indexes.PatternAny ||
			h.Function == indexes.RegexpFunction
	})
	var out []kasoku.Finding
	for i := range found {
		s := &found[i]
		if slices.ContainsFunc(out, func(f kasoku.Finding) bool { return f.Object.Name == s.read.Table.Name }) {
			continue // of a table the dearest says it
		}
		switch s.pattern() {
		case indexes.PatternText:
			h := &s.hidden[0]
			if !s.part && !h.Folded && !s.indexed(h.Column) && isText(h.Type) {
				out = append(out, r.prefix(c, s))
			}
		default:
			if s.leavesFew(advised) {
				said = "an index for the other conditions of a LIKE on " + s.read.Table.Name + " is proposed first"
				continue
			}
			if s.foundSome() {
				said = "an index serves some of the patterns of a LIKE on " + s.read.Table.Name
				continue
			}
			out = append(out, r.words(c, s))
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	if said == "" {
		said = "no table is read whole for a LIKE"
	}
	return nil, diagnose.Quiet(r.ID(), near, "%s", said)
}

// pattern returns what is known of the patterns: one that begins with a wildcard decides. An
// index that a column has and the server does not use says so as well.
func (s *scan) pattern() string {
	known := ""
	for _, h := range s.hidden {
		switch {
		case h.Pattern == indexes.PatternWild, h.Pattern == "" && s.indexed(h.Column):
			return indexes.PatternWild
		case h.Pattern != "":
			known = h.Pattern
		}
	}
	return known
}

// wholeTable is the part of a table's rows from which a call reads all of it: the server estimates them.
const wholeTable = 0.95

// foundSome reports whether an index of the column serves some calls: patterns that were not kept begin
// with text in some, and are % alone in those that read the whole table.
func (s *scan) foundSome() bool {
	return !s.part && s.rowsRead() < wholeTable*float64(s.read.Table.Rows) &&
		slices.ContainsFunc(s.hidden, func(h indexes.Hidden) bool {
			return h.Pattern == "" && !h.Folded && s.indexed(h.Column)
		})
}

// leavesFew reports whether other conditions leave few rows to the LIKE once what is proposed for them is
// there: an index by which few rows are read, or one on the number of a fixed range, which reads those of a
// range in the order that is wanted.
func (s *scan) leavesFew(advised *indexes.Advice) bool {
	for i := range advised.Proposals {
		if slices.ContainsFunc(advised.Proposals[i].Serves, func(v indexes.Served) bool {
			return v.QueryID == s.query.ID && v.After < scannedRows && v.After < v.Before/2
		}) {
			return true
		}
	}
	return slices.ContainsFunc(advised.Ranges, func(f indexes.FixedRanges) bool {
		return f.Table == s.read.Table.Name && f.Schema == s.read.Table.Schema && f.Host == s.read.Table.Host &&
			slices.Contains(f.QueryIDs, s.query.ID)
	})
}

func isText(kind string) bool {
	return strings.HasPrefix(kind, "varchar(") || strings.HasPrefix(kind, "char(")
}

func (r LikeScan) title(s *scan) string {
	sent := wording.Average(statements.RowsPerCall(s.query))
	if s.counts() {
		sent = "a count"
	}
	if s.part {
		return fmt.Sprintf("%s on %s: %s rows examined for %s", s.hidden[0].Function,
			wording.Cut(s.read.Table.Name, 20), diagnose.Whole(advice.ExaminedPerCall(s.query)), sent)
	}
	return fmt.Sprintf("%s reads %s rows of %s for %s", s.hidden[0].Function, diagnose.Whole(s.rowsRead()),
		wording.Cut(s.read.Table.Name, 20), sent)
}

// prefix is about patterns that begin with text.
func (r LikeScan) prefix(c *diagnose.Case, s *scan) kasoku.Finding {
	f := s.finding(c, r.ID(), r.title(s))
	h := s.hidden[0]
	_, do, undo := indexes.IndexOn(s.read.Table, h.Column)
	f.Confidence = diagnose.Confidence(diagnose.Signal{Holds: true}, s.planned(),
		diagnose.Signal{Blind: "the pattern is known of the slowest statement alone"})
	f.Cause = fmt.Sprintf("The pattern begins with text, and no index begins with %s: each of the %s rows is read "+
		"and compared.",
		h.Column, diagnose.Whole(s.rowsRead()))
	f.Fixes = []kasoku.Fix{{Text: "Create the index", Where: "the live database, and the file from which tables are " +
		"made",
		Lang: "sql", Code: do + ";", Risk: kasoku.RiskNone, Edits: []kasoku.Edit{{Kind: kasoku.EditIndex, Do: do,
			Undo: undo}},
		Note: "Not checked: the server was not asked whether it uses it; `kasoku try` does. Patterns that begin with % " +
			"go on reading all rows."}}
	f.Expect = "the statement examines the rows that begin with the text"
	return f
}

// words is about patterns that begin with a wildcard, or may.
func (r LikeScan) words(c *diagnose.Case, s *scan) kasoku.Finding {
	f := s.finding(c, r.ID(), r.title(s))
	begins := diagnose.Signal{Holds: true}
	how := "The pattern begins with %, of which an index finds nothing"
	if s.pattern() == "" {
		begins = diagnose.Signal{Blind: "how the patterns begin was not kept (--keep-statements)"}
		how = "A pattern that begins with % is of no use to an index"
	}
	if s.hidden[0].Function == indexes.RegexpFunction {
		how = "Of a regular expression an index finds nothing"
	}
	f.Confidence = diagnose.Confidence(diagnose.Signal{Holds: true}, s.planned(), begins)
	sent := wording.Average(statements.RowsPerCall(s.query)) + " that it sends"
	if s.counts() {
		sent = "the number of those that match"
	}
	f.Cause = fmt.Sprintf("%s: each call reads and compares %s rows of %s, for %s.", how,
		diagnose.Whole(s.rowsRead()), s.read.Table.Name, sent)
	if s.part {
		others := ", with those of other tables,"
		if s.read.Alone {
			others = ""
		}
		f.Cause = fmt.Sprintf("%s: each call reads and compares all rows of %s that its other conditions leave. It "+
			"examines %s rows%s for %s.", how, s.read.Table.Name,
			diagnose.Whole(advice.ExaminedPerCall(s.query)), others, sent)
	}
	f.Fixes = r.fixes(c, s)
	f.Expect = "the statement examines the rows that have the words"
	f.Verify = "rows examined a call of the statement; `kasoku answers` says what is found otherwise"
	return f
}

// otherAnswers is what a search by words finds otherwise.
const otherAnswers = "Answers differ, ask whether they may: words are found, not parts of them (+word; word* is " +
	"what begins so), none shorter than innodb_ft_min_token_size (3) and no stop words; a search for nothing finds " +
	"nothing. Not checked. The first one of a table copies the table."

func (r LikeScan) fixes(c *diagnose.Case, s *scan) []kasoku.Fix {
	out := []kasoku.Fix{s.fullText(c)}
	if out[0].Code != "" {
		out = append(out, askWords(c))
	}
	if s.pattern() == "" && !s.hidden[0].Folded && isText(s.hidden[0].Type) { // of a text type an index has a part alone
		out = append(out, kasoku.Fix{Text: "Where the patterns begin with text instead: an index of " +
			s.hidden[0].Column,
			Where: "the live database", Risk: kasoku.RiskNone, Note: "It serves 'word%', and nothing that begins with %."})
	}
	return append(out, kasoku.Fix{Text: "Or search outside of the database", Where: "a search service beside it",
		Risk: kasoku.RiskSemantics,
		Note: "A search service (OpenSearch, Meilisearch, Mroonga in MariaDB) finds parts of words and sorts by how " +
			"well they fit; it must learn of each write, and answers late by that."})
}

// fullText is an index of words, and the statement that uses it; in words where it cannot be
// written.
func (s *scan) fullText(c *diagnose.Case) kasoku.Fix {
	f := kasoku.Fix{Text: "Search words by a full-text index", Where: "the schema, and where the statement is made",
		Note: otherAnswers, Risk: kasoku.RiskSemantics}
	if c.Server() == "MySQL" {
		f.Note += " WITH PARSER ngram, after the columns, finds parts of words of two letters on, Chinese and Japanese " +
			"too; stop words off (innodb_ft_enable_stopword) before it is made."
	}
	code, groups, err := rewrite.DialectOf(c.Recording).MatchWords(statements.TextOf(s.query))
	if err != nil || !s.searchable(groups) {
		return f
	}
	var steps []string
	for i, names := range groups {
		if s.hasFullText(names) || slices.ContainsFunc(groups[:i], func(g []string) bool { return sameNames(g, names) }) {
			continue
		}
		_, do, _ := indexes.IndexOn(s.read.Table, names...)
		steps = append(steps, strings.Replace(do, "CREATE INDEX", "CREATE FULLTEXT INDEX", 1)+";")
	}
	f.Lang, f.Code = "sql", strings.Join(append(steps, code), "\n")
	return f
}

// searchable reports whether all columns are text of this table, of an engine with full text.
func (s *scan) searchable(groups [][]string) bool {
	for _, names := range groups {
		for _, n := range names {
			ok := slices.ContainsFunc(s.hidden, func(h indexes.Hidden) bool {
				return strings.EqualFold(h.Column, n) && (isText(h.Type) || strings.HasSuffix(h.Type, "text"))
			})
			if !ok {
				return false
			}
		}
	}
	return slices.Contains([]string{"InnoDB", "Aria", "MyISAM"}, s.read.Table.Engine)
}

// hasFullText reports whether an index of the words of these columns, and no others, is there.
func (s *scan) hasFullText(names []string) bool {
	t := s.read.Table
	return slices.ContainsFunc(t.Indexes, func(x kasoku.IndexDef) bool {
		return strings.Contains(t.Create, "FULLTEXT KEY `"+x.Name+"`") && sameNames(x.Columns, names)
	})
}

// sameNames reports whether two lists have the same columns, in any order, as is all one to MATCH.
func sameNames(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(n string) bool {
		return !slices.ContainsFunc(b, func(have string) bool { return strings.EqualFold(have, n) })
	})
}

// searchWords is how what people type becomes words that all must be there, by language: no
// letter of it is an operator of the search then.
//
// Source: MySQL manual, "Boolean Full-Text Searches"; MariaDB, "Full-Text Index Overview".
var searchWords = map[string]kasoku.Fix{
	language.Go: {Lang: "go", Code: "words := strings.FieldsFunc(typed, func(r rune) bool { return " +
		"!unicode.IsLetter(r) && !unicode.IsNumber(r) })\n" +
		"search := \"\"\nfor _, w := range words {\n\tsearch += \" +\" + w\n}"},
	language.PHP: {Lang: "php", Code: "$words = preg_split('/[^\\p{L}\\p{N}]+/u', $typed, -1, " +
		"PREG_SPLIT_NO_EMPTY);\n" +
		"$search = implode(' ', array_map(fn($w) => \"+$w\", $words));"},
	language.Python: {Lang: "python", Code: "search = \" \".join(\"+\" + w for w in re.findall(r\"[^\\W_]+\", " +
		"typed))"},
	language.Ruby: {Lang: "ruby", Code: "search = typed.scan(/[[:alnum:]]+/).map { |w| \"+#{w}\" }.join(\" \")"},
	language.JavaScript: {Lang: "javascript", Code: "const search = (typed.match(/[\\p{L}\\p{N}]+/gu) ?? []).map((w) " +
		"=> `+${w}`).join(\" \")"},
	language.Java: {Lang: "java", Code: "String search = " +
		"Pattern.compile(\"[^\\\\p{L}\\\\p{N}]+\").splitAsStream(typed)\n" +
		"    .filter(w -> !w.isEmpty()).map(w -> \"+\" + w).collect(Collectors.joining(\" \"));"},
	language.Unknown: {},
}

// askWords is how the program asks for words.
func askWords(c *diagnose.Case) kasoku.Fix {
	f := language.Pick(c, searchWords)
	f.Text, f.Where, f.Risk = "Send the words, each after a +", "where the search is made", kasoku.RiskSemantics
	f.Note = "Split what was typed at all that is no letter and no digit: + - * \" ( ) are operators of the search. " +
		"Without a word do not search."
	return f
}
