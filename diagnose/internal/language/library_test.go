package language

import (
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// app is a run of an application in a language.
func app(written, server string, change func(rec *kasoku.Recording)) *diagnose.Case {
	rec := &kasoku.Recording{Service: &kasoku.Service{Members: []kasoku.Member{
		{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High, Language: written, Framework: server}}}}
	change(rec)
	return diagnose.NewCase(rec, nil)
}

func ran(statements ...string) func(rec *kasoku.Recording) {
	return func(rec *kasoku.Recording) {
		for _, s := range statements {
			rec.Queries = append(rec.Queries, kasoku.Query{Verb: "SELECT", Calls: 10, Sample: s, Fingerprint: strings.ToLower(s)})
		}
	}
}

func said(line string) func(rec *kasoku.Recording) {
	return func(rec *kasoku.Recording) { rec.Messages = []kasoku.Message{{Sample: line, Path: "/srv/app.log"}} }
}

func profiled(name, file string) func(rec *kasoku.Recording) {
	return func(rec *kasoku.Recording) {
		rec.Profiles = []kasoku.Profile{{Functions: []kasoku.ProfileFunction{{Name: "main"}, {Name: name, File: file}}}}
	}
}

func TestLibraries(t *testing.T) {
	for _, x := range []struct {
		written string
		run     func(rec *kasoku.Recording)
		want    string
	}{
		// Statements as the libraries write them, values masked.
		{Ruby, ran("SELECT `users`.* FROM `users` WHERE `users`.`id` = ? LIMIT ?"), ActiveRecord},
		{Ruby, ran("SELECT ? AS one FROM `users` WHERE `users`.`login` = ? LIMIT ?"), ActiveRecord},
		{Ruby, ran("SELECT * FROM users WHERE id = ? /*action:show,application:Shop,controller:users*/"), Rails},
		{Python, ran("SELECT COUNT(*) AS `__count` FROM `shop_item`"), Django},
		{Python, ran("SELECT `shop_item`.`id`, `shop_item`.`name` FROM `shop_item` INNER JOIN `shop_kind` ON (`shop_item`.`kind_id` = " +
			"`shop_kind`.`id`) WHERE (`shop_item`.`a` = ? AND `shop_kind`.`b` = ?) LIMIT ?"), Django},
		{Python, ran("SELECT token.id AS token_id, token.serial AS token_serial FROM token WHERE token.serial = ?"), SQLAlchemy},
		{Python, ran("SELECT count(*) AS count_1 FROM (SELECT users.id AS users_id FROM users) AS anon_1"), SQLAlchemy},
		{PHP, ran("select count(*) as aggregate from `users` where `team` = ?"), Laravel},
		{PHP, ran("select `tags`.*, `post_tag`.`post_id` as `pivot_post_id` from `tags`"), Laravel},
		{PHP, ran("SELECT t0.id AS id_1, t0.name AS name_2 FROM users t0 WHERE t0.id = ?"), Doctrine},
		{PHP, ran("SELECT u0_.id AS id_0, u0_.name AS name_1 FROM users u0_"), Doctrine},
		{Java, ran("select o1_0.id,o1_0.last_name from owners o1_0 where o1_0.last_name like ?"), Hibernate},
		{Java, ran("select user0_.id as id1_0_, user0_.name as name2_0_ from users user0_ where user0_.id=?"), Hibernate},
		{JavaScript, ran("SELECT `id`, `email` FROM `Users` AS `User` WHERE `User`.`id` = ?"), Sequelize},
		{JavaScript, ran("SELECT `User`.`id`, `Posts`.`id` AS `Posts.id` FROM `Users` AS `User` LEFT OUTER JOIN `Posts` AS `Posts` ON ?"), Sequelize},
		{JavaScript, ran("SELECT `User`.`id` AS `User_id`, `User`.`name` AS `User_name` FROM `user` `User`"), TypeORM},
		{JavaScript, ran("SELECT `shop`.`User`.`id`, `shop`.`User`.`name` FROM `shop`.`User` WHERE `shop`.`User`.`id` = ?"), Prisma},
		{Go, ran("SELECT * FROM `users` WHERE `users`.`id` = ? AND `users`.`deleted_at` IS NULL ORDER BY `users`.`id` LIMIT ?"), GORM},
		{Python, func(rec *kasoku.Recording) {
			rec.Queries = []kasoku.Query{{Raw: "SELECT 1 FROM t /*db_driver='django.db.backends.mysql',framework='django%3A5.2',route='a'*/"}}
		}, Django},
		{PHP, func(rec *kasoku.Recording) { // what is written in a value shows nothing
			rec.Queries = []kasoku.Query{{Calls: 1, Raw: "SELECT id FROM posts WHERE body = 'count(*) as `pivot_x`, laravel_row'"}}
		}, ""},
		// Functions of profiles, lines and names of logs, the command line.
		{Go, profiled("gorm.io/gorm.(*DB).First", ""), GORM},
		{Go, profiled("github.com/jmoiron/sqlx.(*DB).Select", ""), GoSQLX},
		{Python, profiled("execute_sql", "/usr/lib/python3/dist-packages/django/db/models/sql/compiler.py"), Django},
		{Rust, profiled("sqlx_core::pool::Pool<DB>::acquire", ""), RustSQLX},
		{Ruby, said("Completed 200 OK in 12ms (Views: 8.1ms | ActiveRecord: 2.0ms)"), Rails},
		{Java, said("HikariPool-1 - Connection is not available, request timed out after 30000ms"), HikariCP},
		{PHP, func(rec *kasoku.Recording) {
			rec.Messages = []kasoku.Message{{Path: "/srv/shop/storage/logs/laravel.log", Sample: "x"}}
		}, Laravel},

		// What others write, too.
		{Ruby, ran("SELECT * FROM `users` WHERE (`users`.`id` = ?) LIMIT ?"), ""}, // Sequel
		{Ruby, ran("SELECT `genres`.* FROM `genres` INNER JOIN `ag` ON (`ag`.`genre_id` = `genres`.`id`) WHERE (`ag`.`artist_id` = ?)"), ""},
		{Ruby, ran("SELECT * FROM users WHERE id = ?", "SELECT u.id FROM users u"), ""},
		{Python, ran("SELECT `t1`.`id`, `t1`.`name` FROM `user` AS `t1` WHERE (`t1`.`id` = ?)"), ""}, // peewee
		{Python, ran("SELECT `p`.`id`, `p`.`name` FROM `person` `p` WHERE `p`.`age` > ?"), ""},       // Pony
		{Python, ran("SELECT `person`.`id`, `person`.`name` FROM `person` WHERE (`person`.`id` = ?)"), ""},
		{Python, ran("SELECT `Users`.`userId`, `Users`.`Name` FROM `Users` WHERE `Users`.`userId` = ?"), ""}, // SQLAlchemy, names with capitals
		{Python, ran("SELECT `users`.`id`, `users`.`name` FROM `users` WHERE `users`.`id` = ?"), ""},         // pypika, by hand
		{Python, ran("SELECT id, name FROM t WHERE id = ?"), ""},
		{PHP, ran("SELECT `u`.`id`, COUNT(*) AS n FROM `users` AS `u` WHERE `u`.`team` = ? GROUP BY `u`.`id`"), ""},
		{PHP, ran("SELECT wp_posts.ID FROM wp_posts WHERE 1=1 AND wp_posts.post_type = ?"), ""},
		{Java, ran("SELECT u.id, u.name FROM users u WHERE u.id = ?"), ""},
		{JavaScript, ran("select `articles`.* from `articles` as `t0` where `t0`.`slug` = ? limit ?"), ""}, // knex, as others
		{Go, ran("SELECT * FROM `users` WHERE `id` = ?"), ""},
		{Java, ran("SELECT COUNT(*) AS `__count` FROM `shop_item`"), ""}, // of another language
		{Unknown, ran("SELECT COUNT(*) AS `__count` FROM `shop_item`"), ""},
	} {
		got := Libraries(app(x.written, "", x.run))
		if x.want == "" && len(got) > 0 || x.want != "" && !slices.Contains(got, x.want) {
			t.Errorf("%s, %+v: %q, want %q", x.written, app(x.written, "", x.run).Queries, got, x.want)
		}
	}
	c := app(Python, Gunicorn, ran("SELECT COUNT(*) AS `__count` FROM `shop_item`"))
	if !Shows(c, Gunicorn) || Pick(c, map[string]int{Django: 1, Gunicorn: 2, Python: 3}) != 1 ||
		Pick(c, map[string]int{Gunicorn: 2, Python: 3}) != 2 || Pick(c, map[string]int{Flask: 1, Python: 3}) != 3 ||
		Pick(c, map[string]int{Flask: 1, Unknown: 4}) != 4 {
		t.Errorf("%q", Libraries(c))
	}
}

// TestLibraries_SeveralServers: a server of one application is not that of another.
func TestLibraries_SeveralServers(t *testing.T) {
	c := app(Ruby, Puma, func(rec *kasoku.Recording) {
		rec.Service.Members = append(rec.Service.Members, kasoku.Member{ID: "b", Role: kasoku.RoleApplication, Sure: kasoku.High,
			Language: Ruby, Framework: Unicorn})
	})
	if got := Libraries(c); len(got) > 0 {
		t.Errorf("%q", got)
	}
}
