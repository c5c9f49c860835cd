// A server whose statements carry the endpoint that they belong to as a comment, run by sqlx and GORM.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	mysqldriver "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/hints"
)

// A Thing is a row.
type Thing struct {
	ID   int
	Name string
}

func main() {
	dsn := flag.String("dsn", "", "of the database")
	pool := flag.Int("pool", 8, "connections of each library")
	flag.String("other", "", "is not used")
	flag.Parse()
	x := sqlx.MustConnect("mysql", *dsn)
	x.SetMaxOpenConns(*pool)
	x.SetMaxIdleConns(*pool)
	open := func(prepare bool) *gorm.DB {
		g, err := gorm.Open(mysqldriver.Open(*dsn), &gorm.Config{PrepareStmt: prepare, Logger: logger.Discard})
		if err != nil {
			panic(err)
		}
		db, err := g.DB()
		if err != nil {
			panic(err)
		}
		db.SetMaxOpenConns(*pool)
		db.SetMaxIdleConns(*pool)
		return g
	}
	g, kept := open(false), open(true)
	mux := http.NewServeMux()
	for path, h := range map[string]func(context.Context, string) error{
		"/sqlx/select": func(ctx context.Context, at string) error {
			var out []Thing
			return x.SelectContext(ctx, &out, "/*"+at+"*/ SELECT id, name FROM things WHERE id < ?", 5)
		},
		"/sqlx/named": func(ctx context.Context, at string) error {
			for i := 0; i < 5; i++ {
				rows, err := x.NamedQueryContext(ctx, "/*"+at+"*/ SELECT id, name FROM things WHERE id = :id", Thing{ID: i})
				if err != nil {
					return err
				}
				for rows.Next() {
				}
				rows.Close()
			}
			return nil
		},
		"/sqlx/tx": func(ctx context.Context, at string) error {
			tx, err := x.BeginTxx(ctx, nil)
			if err != nil {
				return err
			}
			defer tx.Rollback()
			const write = "UPDATE things SET name = :name WHERE id = :id"
			if _, err := tx.NamedExecContext(ctx, "/*"+at+"*/ "+write, Thing{ID: 3, Name: "x"}); err != nil {
				return err
			}
			return tx.Commit()
		},
		"/gorm/find": func(ctx context.Context, at string) error {
			var out []Thing
			return g.WithContext(ctx).Clauses(hints.CommentBefore("select", at)).Where("id < ?", 5).Find(&out).Error
		},
		"/gorm/loop": func(ctx context.Context, at string) error {
			for i := 0; i < 10; i++ {
				var one Thing
				q := g.WithContext(ctx).Raw("/*"+at+"*/ SELECT id, name FROM things WHERE id = ?", i%5+1)
				if err := q.Scan(&one).Error; err != nil {
					return err
				}
			}
			return nil
		},
		"/gorm/prepared": func(ctx context.Context, at string) error {
			var one Thing
			return kept.WithContext(ctx).Raw("/*"+at+"*/ SELECT id, name FROM things WHERE id = ?", 2).Scan(&one).Error
		},
		"/gorm/tx": func(ctx context.Context, at string) error {
			return g.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
				if err := tx.Exec("/*"+at+"*/ UPDATE things SET name = ? WHERE id = ?", "y", 4).Error; err != nil {
					return err
				}
				return tx.Exec("/*"+at+"*/ SELECT ?", 1).Error
			})
		},
		"/gorm/together": func(ctx context.Context, at string) error {
			var wg sync.WaitGroup
			for i := 0; i < 3; i++ {
				wg.Add(1)
				go func() {
					defer wg.Done()
					var one Thing
					g.WithContext(ctx).Raw("/*"+at+"*/ SELECT id, name FROM things WHERE id = ?", 1).Scan(&one)
				}()
			}
			wg.Wait()
			return nil
		},
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if err := h(r.Context(), r.Method+" "+r.URL.Path); err != nil && r.Context().Err() == nil {
				http.Error(w, err.Error(), 500)
			}
		})
	}
	go func() {
		for range time.Tick(20 * time.Millisecond) {
			x.MustExec("/*job*/ DO 1")
		}
	}()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	os.Stdout.Close()
	panic(http.Serve(l, mux))
}
