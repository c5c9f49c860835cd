package memory

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/mysqlflags"
)

// addChairs adds all chairs or none. They are seen when it returns, and not before
// the database holds them.
func (s *Service) addChairs(rows []isuumo.Chair) error {
	return upload(s, "chair", chairColumns, rows, appendChairRow, func(w *world) {
		rows = slices.DeleteFunc(rows, func(c isuumo.Chair) bool { return w.chairs.has(c.ID) })
		c := newChairs(grow(w.chairs.table, &w.chair, rows))
		s.mu.Lock() // from here on no chair is sold until its mark can be taken from the new world
		defer s.mu.Unlock()
		for i := range rows {
			s.stock = append(s.stock, rows[i].Stock)
		}
		c.restock(s.stock)
		s.world.Store(&world{w.schema, c, w.estates})
	})
}

// addEstates adds all estates or none, as addChairs does.
func (s *Service) addEstates(rows []isuumo.Estate) error {
	return upload(s, "estate", estateColumns, rows, appendEstateRow, func(w *world) {
		rows = slices.DeleteFunc(rows, func(e isuumo.Estate) bool { return w.estates.has(e.ID) })
		e := growEstates(w.estates, &w.estate, rows)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.world.Store(&world{w.schema, w.chairs, e})
	})
}

// upload writes the rows in one transaction and then has them published. The ids
// that the database has taken are new; only a memory that /initialize did not renew
// (OPS-09) can hold them, and keeps what it has.
func upload[T any](s *Service, table, columns string, rows []T, appendRow func([]byte, *T) []byte,
	publish func(*world)) error {
	s.writing.RLock()
	defer s.writing.RUnlock()
	s.uploading.Lock()
	defer s.uploading.Unlock()
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return errShut
	}
	if len(rows) == 0 {
		return nil
	}
	if refused, err := insert(s.ctx, s.record.uploads, "INSERT INTO "+table+" ("+columns+") VALUES ", rows,
		appendRow); err != nil {
		if !refused {
			s.fail(fmt.Errorf("upload to %s: %w", table, err))
			return errShut
		}
		return fmt.Errorf("upload to %s: %w", table, err)
	}
	publish(s.world.Load())
	return nil
}

// statementBytes is about how long an INSERT gets, well below the smallest default
// of max_allowed_packet, 16 MiB.
const statementBytes = 1 << 20

// insert writes the rows in one transaction. After an error that is refused, the
// database holds none of them; after another one it may hold all.
func insert[T any](ctx context.Context, to *session, head string, rows []T,
	appendRow func([]byte, *T) []byte) (refused bool, err error) {
	if err := to.exec(ctx, "BEGIN"); err != nil {
		return false, err
	}
	for len(rows) > 0 {
		b := []byte(head)
		for i := 0; len(rows) > 0 && len(b) < statementBytes; i++ {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendRow(append(b, '('), &rows[0])
			b = append(b, ')')
			rows = rows[1:]
		}
		if err := to.exec(ctx, string(b)); err != nil {
			return mysqlflags.ErrorNumber(err) != 0 && to.exec(ctx, "ROLLBACK") == nil, err
		}
	}
	return false, to.exec(ctx, "COMMIT")
}

func appendChairRow(b []byte, c *isuumo.Chair) []byte {
	b = appendNumbers(b, c.ID)
	b = appendLiterals(b, c.Name, c.Description, c.Thumbnail)
	b = appendNumbers(append(b, ','), c.Price, c.Height, c.Width, c.Depth)
	b = appendLiterals(b, c.Color, c.Features, c.Kind)
	return appendNumbers(append(b, ','), c.Popularity, c.Stock)
}

func appendEstateRow(b []byte, e *isuumo.Estate) []byte {
	b = appendNumbers(b, e.ID)
	b = appendLiterals(b, e.Name, e.Description, e.Thumbnail, e.Address)
	b = strconv.AppendFloat(append(b, ','), e.Latitude, 'g', -1, 64)
	b = strconv.AppendFloat(append(b, ','), e.Longitude, 'g', -1, 64)
	b = appendNumbers(append(b, ','), e.Rent, e.DoorHeight, e.DoorWidth)
	b = appendLiterals(b, e.Features)
	return appendNumbers(append(b, ','), e.Popularity)
}

// appendNumbers appends numbers with commas between them.
func appendNumbers(b []byte, numbers ...int64) []byte {
	for i, n := range numbers {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return b
}

// appendLiterals appends texts as SQL has them, each after a comma. What is escaped
// is what the MariaDB manual lists under "String Literals" as having to be.
func appendLiterals(b []byte, texts ...string) []byte {
	for _, s := range texts {
		b = append(b, ',', '\'')
		for i := range len(s) {
			switch c := s[i]; c {
			case '\'', '\\':
				b = append(b, '\\', c)
			case 0:
				b = append(b, '\\', '0')
			default:
				b = append(b, c)
			}
		}
		b = append(b, '\'')
	}
	return b
}
