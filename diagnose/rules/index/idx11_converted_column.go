package index

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/diagnose/internal/advice"
	"github.com/kasoku/kasoku/diagnose/internal/rewrite"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
)

// ConvertedColumn is the rule IDX-11.
type ConvertedColumn struct{}

// ID returns IDX-11.
func (ConvertedColumn) ID() string { return "IDX-11" }

// Doc describes the rule.
func (ConvertedColumn) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds columns of text that are converted to be compared with numbers, or with texts of another
			character set or collation, so that a whole table is read.`,
		Evidence: `a SELECT compares a column of text for equality with a number without quotes, as the kept
			statement says; or joins it to a column that the tables' definitions give another type, a broader
			character set or, in MySQL, a binary collation, and the plan comes to the table with few rows. It examines at
			least 1,000 rows a call, at least half of the table and ten for each that it sends; the plan reads
			the whole table; it takes at least 2 % of the requests' time.`,
		Cause: `an index has the texts as they are stored, and each row's is converted before it is compared.`,
		Fix: `send the value as text; give joined columns one type, one character set and one collation;
			and an index on the column where it has none.`,
		Silent: `when another index serves the statement or is proposed for it, when many rows have the value, when
			values were sent apart from the statement or its text was not kept, so that their kind is not known, and
			blind without a slow log or the tables' definitions.`,
	}
}

// Check looks for tables that are read whole for a conversion of a column.
func (r ConvertedColumn) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	advised, err := advice.ForIndexes(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	found, near, said := scansOf(c, advised, func(h *indexes.Hidden) bool {
		return h.Function == indexes.ConversionFunction && h.With.Few
	})
	var out []kasoku.Finding
	for i := range found {
		s := &found[i]
		name, joined := s.read.Table.Name, s.hidden[0].With.Table != nil
		serves := func(x indexes.Served) bool { return x.QueryID == s.query.ID }
		served := slices.ContainsFunc(advised.Proposals, func(p indexes.Proposal) bool {
			return p.Table == name && slices.ContainsFunc(p.Serves, serves)
		})
		if !served && (!joined || s.beginsSmall(c)) &&
			!slices.ContainsFunc(out, func(f kasoku.Finding) bool { return f.Object.Name == name }) {
			out = append(out, r.finding(c, s))
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	if said == "" {
		said = "no table is read whole for a conversion of a column that is known"
	}
	return nil, diagnose.Quiet(r.ID(), near, "%s", said)
}

// beginsSmall reports whether the plan comes to the table with few rows of others, each of which
// would find its own by an index.
func (s *scan) beginsSmall(c *diagnose.Case) bool {
	for i := range c.Plans {
		if c.Plans[i].QueryID != s.query.ID || s.plan == nil {
			continue
		}
		prefix, before := 1.0, 0
		for j := range c.Plans[i].Rows {
			p := &c.Plans[i].Rows[j]
			if p == s.plan {
				return strings.HasPrefix(p.Select, "DEPENDENT") ||
					before > 0 && prefix <= smallShare*float64(s.read.Table.Rows)
			}
			if p.Select != s.plan.Select {
				continue
			}
			before++
			prefix *= max(p.Rows, 1)
			if p.Filtered >= 0 {
				prefix = max(prefix*p.Filtered/100, 1)
			}
		}
	}
	return false
}

func (r ConvertedColumn) finding(c *diagnose.Case, s *scan) kasoku.Finding {
	h, t := s.hidden[0], s.read.Table.Name
	f := s.finding(c, r.ID(), fmt.Sprintf("%s.%s is converted to equal %s: %s rows for %s", wording.Cut(t, 16),
		wording.Cut(h.Column, 16), wording.Cut(otherName(h), 24), diagnose.Whole(s.rowsRead()),
		wording.Average(statements.RowsPerCall(s.query))))
	passed := diagnose.Signal{Holds: true}
	if !s.indexed(h.Column) {
		passed = diagnose.Signal{Blind: "no index begins with the column, so that none is passed over"}
	}
	f.Confidence = diagnose.Confidence(diagnose.Signal{Holds: true}, s.planned(), passed)
	f.Cause = fmt.Sprintf("%s.%s is %s and is compared with %s: the text of each row that is read is converted first, "+
		"and an index of %s has the texts as they are stored.", t, h.Column, kindWords(h.Type, h.Collate), otherWords(h), h.Column)
	f.Fixes = []kasoku.Fix{s.unconverted(c)}
	f.Expect = "the statement examines the rows that it needs"
	return f
}

// otherName is what a column is compared with, in a title.
func otherName(h indexes.Hidden) string {
	if h.With.Table == nil {
		return "a number"
	}
	return h.With.Table.Name + "." + h.With.Column
}

// otherWords is the same with its type.
func otherWords(h indexes.Hidden) string {
	o := h.With
	if o.Table == nil {
		return "a number without quotes"
	}
	collate := o.Collate
	if collate == "" {
		collate = o.Charset
	}
	return fmt.Sprintf("%s, which is %s", otherName(h), kindWords(o.Type, collate))
}

// kindWords is a type with the collation or the character set of text.
func kindWords(kind, collate string) string {
	if collate == "" {
		return kind
	}
	return kind + " in " + collate
}

// unconverted is how an index comes to serve the column.
func (s *scan) unconverted(c *diagnose.Case) kasoku.Fix {
	h, t, index := s.hidden[0], s.read.Table, ""
	if !s.indexed(h.Column) {
		_, do, _ := indexes.IndexOn(t, h.Column)
		index = do + ";\n"
	}
	numbers := "SELECT COUNT(*) FROM " + indexes.QuoteName(t.Name) + " WHERE " + indexes.QuoteName(h.Column) +
		" NOT REGEXP '^(0|-?[1-9][0-9]{0,14})$'"
	if h.With.Table == nil {
		f := kasoku.Fix{Text: "Send the value as text: in quotes, or bound as a string", Risk: kasoku.RiskSemantics,
			Where: "where the statement is made, and the schema",
			Note: "As numbers '0123', '123.0' and '123abc' equal 123, too; as text '123' alone does. " + numbers +
				" counts what is no plain number: at 0 the answers are the same. Not checked: that, and whether the server " +
				"uses the index."}
		d := rewrite.DialectOf(c.Recording)
		if code, err := d.AsText(statements.TextOf(s.query), s.read.Alias, h.Column); err == nil {
			f.Lang, f.Code = "sql", index+code
		}
		return f
	}
	f := kasoku.Fix{Text: "Give " + h.Column + " the type of " + otherName(h), Where: "the schema",
		Risk: kasoku.RiskSemantics}
	if do, ok := indexes.Alike(t, h); ok {
		f.Lang, f.Code = "sql", strings.TrimSuffix(do+";\n"+index, "\n")
	}
	if h.With.Charset == "" {
		f.Note = "The table is rebuilt, and its writes wait. " + numbers + " counts the texts that are no plain number: " +
			"'0123' becomes 123, and '123abc', which equals 123 today, is refused in a strict sql_mode and cut in another. " +
			"Programs that read the column get numbers. Not checked: its values, and whether the server uses the index."
		return f
	}
	f.Text = "Give " + h.Column + " the character set and collation of " + otherName(h)
	f.Note = "This join answers the same. The table is rebuilt, and its writes wait. Statements that compare the column " +
		"with values then do so by the new collation; the change fails where texts of a unique index are equal by it, and " +
		"where a foreign key of another table has the column. Not checked: whether the server uses the index."
	return f
}
