package indexes

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// A column of a table, as far as an index wants to know it.
type column struct {
	name    string // as it was defined
	bytes   int    // in an index, at most
	text    bool   // TEXT, BLOB, JSON: only a prefix can be indexed
	double  bool   // a number with a fraction
	spatial bool
	json    bool // of MySQL: only what stands at a path of it can be indexed
	null    bool
	values  int  // how many different values the type has; 0 when many
	wide    bool // varying, and longer than an index would want
}

// A table is one that statements read.
type table struct {
	def      kasoku.TableDef
	rows     float64
	columns  []column
	byName   map[string]int // by lower-case name
	longest  int            // bytes that a column of an index may have
	most     int            // and all of them
	have     []*index
	primary  []string                       // lower case
	learnt   map[string]float64             // shares of rows that an equality finds
	constant map[string]bool                // with a bound that is always the same
	samples  map[string]kasoku.ColumnSample // by lower-case name, of enough rows
	// seeksBinary: the server finds by an index of text what it then compares by a binary collation,
	// as MariaDB does.
	seeksBinary bool
	scanned     float64 // rows that a statement which reads all of it examines, the least seen; 0 when none did
}

// An index that is there, or a candidate.
type index struct {
	name   string
	unique bool
	parts  []Part
	card   []int64 // distinct values of the first n parts, -1 when not known; nil of a candidate
	other  bool    // FULLTEXT, SPATIAL or of an expression: seeks nothing here
}

// newTable reads what SHOW CREATE TABLE said; a text that the grammar does not know
// costs types only.
func newTable(g grammar, def *kasoku.TableDef) *table {
	t := &table{def: *def, rows: float64(max(def.Rows, 1)), byName: map[string]int{}, learnt: map[string]float64{},
		constant: map[string]bool{}, samples: map[string]kasoku.ColumnSample{}}
	t.longest, t.most = keyLimits(def)
	for _, c := range def.Columns {
		if c.Rows >= enoughRows && c.Distinct > 0 {
			t.samples[strings.ToLower(c.Name)] = c
		}
	}
	if stmt, err := g.statement(plainCreate(def.Create)); err == nil {
		if create, ok := stmt.(*ast.CreateTableStmt); ok {
			for _, c := range create.Cols {
				t.add(columnOf(c))
			}
		}
	}
	if len(t.columns) == 0 {
		t.byLines(def.Create)
	}
	for _, i := range def.Indexes {
		ix := &index{name: i.Name, unique: i.Unique, card: i.Cardinality}
		for _, c := range i.Columns {
			ix.parts = append(ix.parts, parsePart(c))
			at, known := t.byName[strings.ToLower(ix.parts[len(ix.parts)-1].Column)]
			ix.other = ix.other || !known || t.columns[at].spatial
		}
		ix.other = ix.other || strings.Contains(def.Create, "FULLTEXT KEY `"+i.Name+"`") ||
			strings.Contains(def.Create, "SPATIAL KEY `"+i.Name+"`")
		if i.Name == "PRIMARY" {
			for _, p := range ix.parts {
				t.primary = append(t.primary, strings.ToLower(p.Column))
			}
		}
		t.have = append(t.have, ix)
	}
	return t
}

// ColumnsOf returns the names of a table's columns, as far as its definition can be read.
func ColumnsOf(def *kasoku.TableDef) (names []string) {
	for _, c := range newTable(newGrammar(), def).columns {
		names = append(names, c.name)
	}
	return names
}

// keyLimits returns how many bytes one column of an index may have, and all of them.
//
// Sources: MySQL, "InnoDB Limits"; "The MyISAM Storage Engine"; MariaDB, "Aria Storage Engine".
func keyLimits(def *kasoku.TableDef) (longest, most int) {
	options := strings.ToUpper(optionsTail().FindString(def.Create))
	engine := strings.ToUpper(def.Engine)
	switch {
	case strings.Contains(options, "ENGINE=MYISAM"), strings.Contains(options, "ENGINE=ARIA"), engine == "MYISAM", engine == "ARIA":
		return 1000, 1000
	case strings.Contains(options, "ROW_FORMAT=COMPACT"), strings.Contains(options, "ROW_FORMAT=REDUNDANT"):
		return 767, maxKeyBytes
	}
	return maxKeyBytes, maxKeyBytes
}

func (t *table) add(c column) {
	t.byName[strings.ToLower(c.name)] = len(t.columns)
	t.columns = append(t.columns, c)
}

var (
	columnLine = lazyregexp.New("(?m)^\\s*`((?:[^`]|``)+)`\\s+([a-zA-Z]+)(?:\\((\\d+))?")
	// What the grammar does not know, and no index needs.
	foreignWords = lazyregexp.New("(?i) (REF_SYSTEM_ID=\\d+|CHECK \\(json_valid\\(`[^`]*`\\)\\)|/\\*!80003 SRID \\d+ \\*/|(STORED|PERSISTENT) INVISIBLE|INVISIBLE)")
	optionsTail  = lazyregexp.New(`(?s)\n\) ENGINE=.*$`)
)

func plainCreate(create string) string {
	return optionsTail().ReplaceAllString(foreignWords().ReplaceAllString(create, ""), "\n)")
}

// byLines reads columns line by line.
func (t *table) byLines(create string) {
	for _, m := range columnLine().FindAllStringSubmatch(create, -1) {
		c := column{name: strings.ReplaceAll(m[1], "``", "`"), bytes: 8, null: true}
		length, _ := strconv.Atoi(m[3])
		switch kind := strings.ToLower(m[2]); {
		case strings.Contains(kind, "char"), strings.Contains(kind, "binary"):
			c.bytes = 4*length + 2
		case strings.Contains(kind, "text"), strings.Contains(kind, "blob"), kind == "json":
			c.text, c.bytes, c.json = true, maxKeyBytes+1, kind == "json"
		case kind == "point", kind == "geometry", kind == "polygon":
			c.spatial = true
		case kind == "double", kind == "float", kind == "decimal":
			c.double = true
		}
		c.wide = c.bytes > wideBytes
		t.add(c)
	}
}

func columnOf(d *ast.ColumnDef) column {
	c := column{name: d.Name.Name.O, bytes: 8, null: true}
	length := max(d.Tp.GetFlen(), 0)
	switch d.Tp.GetType() {
	case mysql.TypeTiny:
		c.bytes = 1
		if length == 1 {
			c.values = 2
		}
	case mysql.TypeShort, mysql.TypeYear:
		c.bytes = 2
	case mysql.TypeInt24, mysql.TypeLong, mysql.TypeTimestamp, mysql.TypeDate:
		c.bytes = 4
	case mysql.TypeFloat, mysql.TypeDouble, mysql.TypeNewDecimal:
		c.double = true
	case mysql.TypeEnum, mysql.TypeSet:
		c.bytes, c.values = 2, len(d.Tp.GetElems())
	case mysql.TypeVarchar, mysql.TypeString, mysql.TypeVarString:
		c.bytes = bytesPerCharacter(d)*length + 2
	case mysql.TypeTinyBlob, mysql.TypeBlob, mysql.TypeMediumBlob, mysql.TypeLongBlob, mysql.TypeJSON:
		c.text, c.bytes, c.json = true, maxKeyBytes+1, d.Tp.GetType() == mysql.TypeJSON
	case mysql.TypeGeometry:
		c.spatial = true
	}
	for _, o := range d.Options {
		if o.Tp == ast.ColumnOptionNotNull || o.Tp == ast.ColumnOptionPrimaryKey {
			c.null = false
		}
	}
	c.wide = c.bytes > wideBytes
	return c
}

// bytesPerCharacter is that of utf8mb4 unless the column says otherwise.
func bytesPerCharacter(d *ast.ColumnDef) int {
	switch d.Tp.GetCharset() {
	case "binary", "ascii", "latin1":
		return 1
	case "utf8", "utf8mb3":
		return 3
	}
	return 4
}

// column returns the table's own name of a column, in any case of letters.
func (t *table) column(name string) (column, bool) {
	at, ok := t.byName[strings.ToLower(name)]
	if !ok {
		return column{}, false
	}
	return t.columns[at], true
}

// isPrimary reports whether the column is one of the primary key's, which InnoDB
// appends to each index.
func (t *table) isPrimary(name string) bool { return slices.Contains(t.primary, strings.ToLower(name)) }

// foreign reports whether a foreign key of the table begins with the index's first column.
func (t *table) foreign(ix *index) bool {
	for line := range strings.Lines(t.def.Create) {
		_, keys, ok := strings.Cut(line, "FOREIGN KEY (")
		if !ok || len(ix.parts) == 0 {
			continue
		}
		keys, _, _ = strings.Cut(keys, ")")
		first, _, _ := strings.Cut(keys, ",")
		if strings.EqualFold(strings.Trim(first, "` "), ix.parts[0].Column) {
			return true
		}
	}
	return false
}

// parsePart reads a part of an index as it is recorded: "x DESC", "name(10)".
func parsePart(s string) Part {
	p := Part{Column: s}
	if c, ok := strings.CutSuffix(p.Column, " DESC"); ok {
		p.Column, p.Desc = c, true
	}
	if c, n, ok := strings.Cut(p.Column, "("); ok && strings.HasSuffix(n, ")") {
		if length, err := strconv.Atoi(strings.TrimSuffix(n, ")")); err == nil && c != "" {
			p.Column, p.Prefix = c, length
		}
	}
	return p
}
