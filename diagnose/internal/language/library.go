package language

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/logs/sqlshape"
)

// The frameworks, mappers, pools and drivers that advice is written for. Advice names one only where the
// run shows that the application uses it; see [Libraries].
const (
	Rails        = "rails"
	ActiveRecord = "activerecord"
	Django       = "django"
	Flask        = "flask"
	SQLAlchemy   = "sqlalchemy"
	Laravel      = "laravel"
	Symfony      = "symfony"
	Doctrine     = "doctrine"
	Spring       = "spring"
	Hibernate    = "hibernate"
	HikariCP     = "hikaricp"
	Express      = "express"
	Fastify      = "fastify"
	Sequelize    = "sequelize"
	TypeORM      = "typeorm"
	Prisma       = "prisma"
	Knex         = "knex"
	GORM         = "gorm"
	GoSQLX       = "go sqlx"
	Echo         = "echo"
	RustSQLX     = "rust sqlx"
	Diesel       = "diesel"
	SeaORM       = "sea-orm"
	Tokio        = "tokio"
	Axum         = "axum"
	ActixWeb     = "actix-web"
)

// The servers of applications, as [kasoku.Member] names them in Framework: the command line shows them.
const (
	Puma     = "puma"
	Unicorn  = "unicorn"
	Gunicorn = "gunicorn"
	Uvicorn  = "uvicorn"
	PHPFPM   = "php-fpm"
)

// A sign is what of a run shows that an application in a language uses a library. Each of its fields is
// enough by itself.
type sign struct {
	name, language string
	// driver is how a comment in statements begins that names it: framework='django:5.2', as sqlcommenter has it.
	driver string
	// writes reports whether statements are such as this library alone writes.
	writes func(s *written) bool
	// code are parts of the names or files of functions in profiles.
	code []string
	// says are lines of the application's log that this library alone writes.
	says func() *regexp.Regexp
	// logs is the name of a log that it alone has.
	logs string
}

// signs are in the order in which advice for them comes first: a framework before its mapper, a mapper
// before its pool.
//
// Sources: sqlcommenter, "Specification"; Rails, ActiveRecord::QueryLogs, ActionController::LogSubscriber,
// FinderMethods#exists? and JoinDependency; Django, SQLCompiler and QuerySet.exists; SQLAlchemy,
// LABEL_STYLE_TABLENAME_PLUS_COL; Laravel, Grammar::compileAggregate and BelongsToMany; Doctrine,
// SQLResultCasing; Hibernate 5 and 6, SqlAliasBase; Sequelize, query-generator; TypeORM,
// DriverUtils.buildAlias; Prisma, quaint's visitor of MySQL; GORM, soft_delete.go.
var signs = []sign{
	{name: Rails, language: Ruby, driver: "rails", writes: taggedByRails,
		code: []string{"/gems/railties-", "/gems/actionpack-"},
		says: lazyregexp.New(`Processing by [\w:]+#\w+ as |Completed \d+ [\w ]+ in \d+ms`)},
	{name: ActiveRecord, language: Ruby, writes: writtenByActiveRecord, code: []string{"/gems/activerecord-"}},
	{name: Django, language: Python, driver: "django", writes: writtenByDjango,
		code: []string{"/django/db/", "/django/core/"}, says: lazyregexp.New(`\bdjango\.(request|server|db|security)\b`)},
	{name: Flask, language: Python, driver: "flask", code: []string{"/flask/app.py"}},
	{name: SQLAlchemy, language: Python, driver: "sqlalchemy", writes: writtenBySQLAlchemy,
		code: []string{"/sqlalchemy/"}, says: lazyregexp.New(`\bsqlalchemy\.(engine|exc|pool|orm)\b`)},
	{name: Laravel, language: PHP, driver: "laravel", writes: writtenByLaravel,
		code: []string{"/laravel/framework/", `Illuminate\`}, says: lazyregexp.New(`\bIlluminate\\`), logs: "laravel.log"},
	{name: Symfony, language: PHP, driver: "symfony", code: []string{"/symfony/http-kernel/", `Symfony\Component\`},
		says: lazyregexp.New(`\bMatched route "|\bSymfony\\Component\\`)},
	{name: Doctrine, language: PHP, driver: "doctrine", writes: labelsLike(doctrineLabel),
		code: []string{"/doctrine/dbal/", `Doctrine\DBAL\`}, says: lazyregexp.New(`\bDoctrine\\(DBAL|ORM)\\`)},
	{name: Spring, language: Java, driver: "spring", code: []string{"org.springframework.", "org/springframework/"},
		says: lazyregexp.New(`\borg\.springframework\.|\bo\.s\.(b|web|boot)\.`)},
	{name: Hibernate, language: Java, driver: "hibernate", writes: anyLike(hibernateAlias),
		code: []string{"org.hibernate.", "org/hibernate/"}, says: lazyregexp.New(`\borg\.hibernate\.|\bHHH\d{6}\b`)},
	{name: HikariCP, language: Java, code: []string{"com.zaxxer.hikari.", "com/zaxxer/hikari/"},
		says: lazyregexp.New(`\bHikariPool-\d|\bcom\.zaxxer\.hikari\b`)},
	{name: Express, language: JavaScript, driver: "express", code: []string{"/node_modules/express/"}},
	{name: Fastify, language: JavaScript, driver: "fastify", code: []string{"/node_modules/fastify/"}},
	{name: Sequelize, language: JavaScript, driver: "sequelize", writes: writtenBySequelize,
		code: []string{"/node_modules/sequelize/"}, says: lazyregexp.New(`\bSequelize\w*Error\b|\bExecuting \(default\): `)},
	{name: TypeORM, language: JavaScript, driver: "typeorm", writes: labelsLike(quotedLabel),
		code: []string{"/node_modules/typeorm/"}},
	{name: Prisma, language: JavaScript, driver: "prisma", writes: writtenByPrisma,
		code: []string{"/@prisma/client/"}, says: lazyregexp.New(`\bPrismaClient\w*Error\b|\bprisma:query\b`)},
	{name: Knex, language: JavaScript, driver: "knex", code: []string{"/node_modules/knex/"},
		says: lazyregexp.New(`\bKnexTimeoutError\b|\bKnex: `)},
	{name: GORM, language: Go, driver: "gorm", writes: writtenByGORM,
		code: []string{"gorm.io/gorm", "github.com/jinzhu/gorm"}, says: lazyregexp.New(`/gorm\.io/|\[rows:\d+\] [A-Z]`)},
	{name: GoSQLX, language: Go, code: []string{"github.com/jmoiron/sqlx"}},
	{name: Echo, language: Go, code: []string{"github.com/labstack/echo"}, says: lazyregexp.New(`"latency_human":`)},
	{name: RustSQLX, language: Rust, code: []string{"sqlx_core::", "sqlx_mysql::"}, says: lazyregexp.New(`\bsqlx::query\b`)},
	{name: Diesel, language: Rust, code: []string{"diesel::"}, says: lazyregexp.New(`\bdiesel::`)},
	{name: SeaORM, language: Rust, code: []string{"sea_orm::"}, says: lazyregexp.New(`\bsea_orm::`)},
	{name: Axum, language: Rust, code: []string{"axum::"}, says: lazyregexp.New(`\btower_http::`)},
	{name: ActixWeb, language: Rust, code: []string{"actix_web::"}, says: lazyregexp.New(`\bactix_web::`)},
	{name: Tokio, language: Rust, code: []string{"tokio::"}},
}

// Libraries returns what the run shows that the application uses, and the server that runs it; nothing
// where its language is not known. What is likely in a language, and what a statement's quotes alone
// look like, shows nothing.
func Libraries(c *diagnose.Case) []string {
	return diagnose.Once(c, "libraries", func() []string { return shownLibraries(c) })
}

// Shows reports whether the run shows that the application uses a library.
func Shows(c *diagnose.Case, library string) bool { return slices.Contains(Libraries(c), library) }

func shownLibraries(c *diagnose.Case) (out []string) {
	in := Of(c)
	if in == Unknown {
		return nil
	}
	s := writtenIn(c)
	for i := range signs {
		if x := &signs[i]; x.language == in && x.isShown(c, s) {
			out = append(out, x.name)
		}
	}
	if c.Service == nil {
		return out
	}
	server := ""
	for i, m := range c.Service.Of(kasoku.RoleApplication) {
		if i > 0 && m.Framework != server {
			return out
		}
		server = m.Framework
	}
	if server != "" {
		out = append(out, server)
	}
	return out
}

func (x *sign) isShown(c *diagnose.Case, s *written) bool {
	return x.driver != "" && slices.ContainsFunc(s.drivers, func(d string) bool { return strings.HasPrefix(d, x.driver) }) ||
		x.writes != nil && x.writes(s) || x.isProfiled(c) || x.isLogged(c)
}

func (x *sign) isProfiled(c *diagnose.Case) bool {
	return slices.ContainsFunc(c.Profiles, func(p kasoku.Profile) bool {
		return slices.ContainsFunc(p.Functions, func(f kasoku.ProfileFunction) bool {
			return slices.ContainsFunc(x.code, func(part string) bool {
				return strings.Contains(f.Name, part) || strings.Contains(f.File, part)
			})
		})
	})
}

func (x *sign) isLogged(c *diagnose.Case) bool {
	return slices.ContainsFunc(c.Messages, func(m kasoku.Message) bool {
		return m.Kind == kasoku.MessageApp && (x.says != nil && x.says().MatchString(m.Sample) ||
			x.logs != "" && strings.HasSuffix(m.Path, "/"+x.logs))
	})
}

// A written is the statements of an application, as far as they show what wrote them.
type written struct {
	texts   []string
	calls   []uint64
	drivers []string // that comments name, in lower case
	keys    []string // of comments, in lower case
}

// longestRead bounds what is read of a statement, in bytes.
const longestRead = 4 << 10

func writtenIn(c *diagnose.Case) *written {
	s := &written{}
	for i := range c.Queries {
		q := &c.Queries[i]
		text := cmp.Or(q.Sample, q.Fingerprint)
		if q.Raw != "" { // a digest's sample is without the quotes that were sent
			text = string(sqlshape.AppendMasked(nil, []byte(q.Raw), longestRead))
		}
		s.texts, s.calls = append(s.texts, text), append(s.calls, q.Calls)
		for _, t := range []string{q.Raw, text} {
			for field := range strings.SplitSeq(strings.ToLower(string(sqlshape.AppendTag(nil, []byte(t)))), ",") {
				key, value, _ := strings.Cut(strings.TrimSpace(field), ":")
				s.keys = append(s.keys, key)
				if key == "framework" || key == "db_driver" {
					s.drivers = append(s.drivers, value)
				}
			}
		}
	}
	return s
}

// some reports whether any statement is such a one.
func (s *written) some(is func(text string) bool) bool { return slices.ContainsFunc(s.texts, is) }

// most reports whether most calls of those SELECTs that name columns by their table are such ones.
func (s *written) most(is func(text string) bool) bool {
	var these, all uint64
	for i, t := range s.texts {
		if len(t) < 6 || !strings.EqualFold(t[:6], "select") || !strings.Contains(t, ".") {
			continue
		}
		all += s.calls[i]
		if is(t) {
			these += s.calls[i]
		}
	}
	return 2*these > all
}

// anyLike is a sign that a statement has by an expression.
func anyLike(e func() *regexp.Regexp) func(*written) bool {
	return func(s *written) bool { return s.some(func(t string) bool { return e().MatchString(t) }) }
}

// labelsLike is a sign of statements that call a column as two parts of the expression say: the last
// one that matched is what those before make together.
func labelsLike(e func() *regexp.Regexp) func(*written) bool {
	return func(s *written) bool {
		return s.some(func(t string) bool {
			return slices.ContainsFunc(e().FindAllStringSubmatch(t, -1), func(m []string) bool {
				last := len(m) - 1
				return strings.EqualFold(strings.Join(m[1:last], "_"), m[last])
			})
		})
	}
}

var (
	doctrineLabel  = lazyregexp.New(`\b[a-z]\d+_?\.(\w+) AS (\w+)_\d+\b`)                     // t0.name AS name_1
	quotedLabel    = lazyregexp.New("`(\\w+)`\\.`(\\w+)` AS `(\\w+)`")                        // `Item`.`id` AS `Item_id`
	threeNames     = lazyregexp.New("`\\w+`\\.`\\w+`\\.`\\w+`")                               // `shop`.`Item`.`id`
	hibernateAlias = lazyregexp.New(`\b[a-z]+\d+_\d+\.\w|\b[a-z]\w*\d+_\.\w+ as \w+\d+_\d+_`) // o1_0.id; user0_.id as id1_0_
	softDelete     = lazyregexp.New("^SELECT \\* FROM `(\\w+)` WHERE .*`(\\w+)`\\.`deleted_at` IS NULL")
	ownStar        = lazyregexp.New("(?i)^select (?:distinct )?`(\\w+)`\\.\\* from `(\\w+)`(?: |$)")
	eagerLabel     = lazyregexp.New(`(?i)\bselect (?:1|\?) as one from\b|\bas t0_r0\b`)
	joinedApart    = lazyregexp.New("(?i) on \\(`\\w+`\\.`\\w+` *[=<>]")             // Sequel
	comparedApart  = lazyregexp.New("(?i) where \\(`\\w+`\\.`\\w+` *[=<>][^()]*\\)") // pydal
	calledApart    = lazyregexp.New("(?i) (?:from|join) `\\w+` (?:as )?`\\w+`")      // peewee, Pony
	djangoWords    = lazyregexp.New("(?i)\\bcount\\(\\*\\) as `__count`|^select \\(?(?:1|\\?)\\)? as `a` from `|" +
		"\\bfrom `django_(?:session|content_type|migrations|site)`")
	anonymous = lazyregexp.New(`(?i)\b(?:as )?anon_\d+\b|\bas (?:count|sum|max|min|avg)_\d+\b`)
	aggregate = lazyregexp.New("^select (?:count|sum|max|min|avg)\\(.+\\) as aggregate from `|\\bas `pivot_\\w+`|" +
		"\\blaravel_(?:row|through_key|reserved_\\d+)\\b")
	dottedLabel = lazyregexp.New("\\bAS `\\w+(?:\\.\\w+)+`")
	modelAlias  = lazyregexp.New("\\bFROM `(\\w+)` AS `(\\w+)`")
)

// taggedByRails: the comments that Rails adds name the controller and its action.
func taggedByRails(s *written) bool {
	return slices.Contains(s.keys, "controller") && slices.Contains(s.keys, "action")
}

// writtenByActiveRecord: SELECT 1 AS one, t0_r0; or `t`.* FROM `t`, with each name in quotes and joins
// without parentheses, in which Sequel has theirs.
func writtenByActiveRecord(s *written) bool {
	return anyLike(eagerLabel)(s) || s.most(quotesBoth) && !anyLike(joinedApart)(s) && s.some(func(t string) bool {
		m := ownStar().FindStringSubmatch(t)
		return m != nil && strings.EqualFold(m[1], m[2])
	})
}

// writtenByDjango: COUNT(*) AS `__count`, its own tables; or names in quotes that none of them needs, and a join in
// parentheses of tables by their own names, to which peewee and Pony give others; pydal has a single comparison in
// parentheses. Names in quotes alone are written by query builders and by hand, too.
func writtenByDjango(s *written) bool {
	return anyLike(djangoWords)(s) || s.most(quotesBoth) && anyLike(joinedApart)(s) && !anyLike(calledApart)(s) &&
		!s.some(func(t string) bool {
			compared := strings.ToLower(comparedApart().FindString(t))
			return compared != "" && !strings.Contains(compared, " and ") && !strings.Contains(compared, " or ")
		})
}

// writtenBySQLAlchemy: anon_1, count_1; or columns that are called by their table's and their own name.
func writtenBySQLAlchemy(s *written) bool { return anyLike(anonymous)(s) || s.most(labels) }

// writtenByLaravel: COUNT(*) AS aggregate, pivot_ columns.
func writtenByLaravel(s *written) bool { return anyLike(aggregate)(s) }

// writtenByPrisma: each column by its schema, too.
func writtenByPrisma(s *written) bool { return s.most(threeNames().MatchString) }

// writtenBySequelize: columns of joined models are called `Posts.id`; or a table is called as its model, by AS.
func writtenBySequelize(s *written) bool {
	return anyLike(dottedLabel)(s) || s.some(func(t string) bool {
		m := modelAlias().FindStringSubmatch(t)
		return m != nil && !strings.EqualFold(m[1], m[2]) && strings.Contains(t, "`"+m[2]+"`.`") &&
			strings.HasPrefix(strings.ToLower(m[1]), strings.ToLower(m[2])) && m[2] != strings.ToLower(m[2])
	})
}

// writtenByGORM: rows that are not deleted, by the column that its Model has.
func writtenByGORM(s *written) bool {
	return s.some(func(t string) bool {
		m := softDelete().FindStringSubmatch(t)
		return m != nil && m[1] == m[2]
	})
}

// quotesBoth reports whether a column and its table are quoted.
func quotesBoth(text string) bool { return strings.Contains(text, "`.`") }

// labels reports whether a column is called by its table and its own name: token.id AS token_id.
func labels(text string) bool {
	words := strings.Fields(strings.ToLower(text))
	for i := 2; i < len(words); i++ {
		label := strings.Trim(words[i], "`,")
		if words[i-1] == "as" && label == strings.ReplaceAll(strings.ReplaceAll(words[i-2], "`", ""), ".", "_") &&
			strings.Contains(words[i-2], ".") {
			return true
		}
	}
	return false
}
