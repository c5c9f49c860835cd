package isucholar

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/internal/command"
)

// submit keeps a file, then says so in the database.
func (s *server) submit(r *http.Request) (any, error) {
	u, err := userOf(r)
	if err != nil {
		return nil, err
	}
	id, err := strconv.ParseInt(r.PathValue("class"), 10, 64)
	if err != nil {
		return nil, err
	}
	name := strconv.FormatInt(u, 10) + ".pdf"
	if err := s.keep(r, id, name); err != nil {
		return nil, wrapStep("keep file", err)
	}
	err = s.inTx(r.Context(), "SubmitAssignment", func(q querier) error {
		var exports int
		if err := q.QueryRowContext(r.Context(), "SELECT exports FROM classes WHERE id = ? LOCK IN SHARE MODE",
			id).Scan(&exports); err != nil {
			return err
		}
		_, err := q.ExecContext(r.Context(),
			"INSERT INTO submissions (class_id, user_id, file_name) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE file_name = VALUES(file_name)", id, u, name)
		return err
	})
	return map[string]string{"file": name}, wrapStep("submit", err)
}

// keep streams the file of a form to where it belongs; with APP-10 it is read whole first.
func (s *server) keep(r *http.Request, class int64, name string) error {
	form, err := r.MultipartReader()
	if err != nil {
		return err
	}
	part, err := form.NextPart()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(s.files, "upload-")
	if err != nil {
		return err
	}
	if s.d.Has("APP-10") {
		var whole []byte
		if whole, err = io.ReadAll(part); err == nil {
			_, err = f.Write(whole)
		}
	} else {
		_, err = io.Copy(f, part)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	dir := s.class(strconv.FormatInt(class, 10))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, name))
}

type score struct {
	User  int64 `json:"user"`
	Score int64 `json:"score"`
}

// scores writes the scores of a class: two statements, in the order of the key; with
// LCK-02 two for each student, in the order in which they came.
func (s *server) scores(r *http.Request) (any, error) {
	id, err := strconv.ParseInt(r.PathValue("class"), 10, 64)
	if err != nil {
		return nil, err
	}
	var all []score
	if err := json.NewDecoder(r.Body).Decode(&all); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("no scores")
	}
	do := s.writeScores
	if s.d.Has("LCK-02") {
		do = s.writeEachScore
	}
	err = s.inTx(r.Context(), "RegisterScores", func(q querier) error { return do(r.Context(), q, id, all) })
	return map[string]int{"scores": len(all)}, wrapStep("scores", err)
}

func (s *server) writeScores(ctx context.Context, q querier, class int64, all []score) error {
	slices.SortFunc(all, func(a, b score) int { return cmp.Compare(a.User, b.User) })
	var args, totals []any
	for _, x := range all {
		args = append(args, class, x.User, x.Score)
		totals = append(totals, x.User, x.Score)
	}
	_, err := q.ExecContext(ctx, "INSERT INTO scores (class_id, user_id, score) VALUES "+placeholders("(?, ?, ?)",
		len(all))+" ON DUPLICATE KEY UPDATE score = VALUES(score)", args...)
	if err != nil {
		return err
	}
	_, err = q.ExecContext(ctx, "INSERT INTO totals (user_id, total, changes) VALUES "+placeholders("(?, ?, 1)",
		len(all))+" ON DUPLICATE KEY UPDATE total = total + VALUES(total), changes = changes + 1", totals...)
	return err
}

func (s *server) writeEachScore(ctx context.Context, q querier, class int64, all []score) error {
	for _, x := range all {
		if _, err := q.ExecContext(ctx, "UPDATE scores SET score = ? WHERE class_id = ? AND user_id = ?", x.Score,
			class, x.User); err != nil {
			return err
		}
		if _, err := q.ExecContext(ctx, "UPDATE totals SET total = total + ?, changes = changes + 1 WHERE user_id = ?",
			x.Score, x.User); err != nil {
			return err
		}
	}
	return nil
}

func placeholders(one string, n int) string { return strings.Repeat(one+", ", n-1) + one }

// export answers with the files of a class as an archive. With LCK-01 it holds the
// row of the class meanwhile.
func (s *server) export(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("class")
	dir, err := os.MkdirTemp(s.files, "export-")
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer os.RemoveAll(dir)
	archive := filepath.Join(dir, "all.zip")
	const count = "UPDATE classes SET exports = exports + 1 WHERE id = ?"
	if s.d.Has("LCK-01") {
		err = s.inTx(r.Context(), "Export", func(q querier) error {
			var exports int
			if err := q.QueryRowContext(r.Context(), "SELECT exports FROM classes WHERE id = ? FOR UPDATE",
				id).Scan(&exports); err != nil {
				return err
			}
			if err := s.pack(r.Context(), q, id, dir, archive); err != nil {
				return err
			}
			_, err := q.ExecContext(r.Context(), count, id)
			return err
		})
	} else if err = s.pack(r.Context(), s.db, id, dir, archive); err == nil {
		_, err = s.db.ExecContext(r.Context(), count, id)
	}
	if err != nil {
		s.fail(w, r, wrapStep("export", err))
		return
	}
	w.Header().Set("Content-Type", "application/zip")
	http.ServeFile(w, r, archive)
}

// pack collects the files of a class and packs them, with APP-02 by the program zip where
// the host has it.
func (s *server) pack(ctx context.Context, q querier, class, dir, archive string) error {
	names, err := readRows(ctx, q, "SELECT file_name FROM submissions WHERE class_id = ? ORDER BY user_id LIMIT ?",
		func(n *string) []any { return []any{n} }, class, handed)
	if err != nil {
		return err
	}
	var files []string
	for _, name := range names {
		files = append(files, filepath.Join(dir, name))
		if err := s.collect(ctx, filepath.Join(s.class(class), name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	program, err := command.LookPath("zip")
	if !s.d.Has("APP-02") || err != nil {
		return writeArchive(archive, files)
	}
	_, err = command.Run(ctx, command.Spec{Path: program, Args: append([]string{"-q", "-j", archive}, files...)})
	return err
}

func writeArchive(archive string, files []string) error {
	f, err := os.Create(archive)
	if err != nil {
		return err
	}
	z := zip.NewWriter(f)
	for _, path := range files {
		if err = addFile(z, path); err != nil {
			break
		}
	}
	return errors.Join(err, z.Close(), f.Close())
}

// collect puts a file beside the archive: as a link, with APP-02 as a copy made by a
// process of its own. On some file systems a file that is being replaced is not there
// for a moment, so it tries again.
func (s *server) collect(ctx context.Context, from, to string) (err error) {
	for range attempts {
		if s.d.Has("APP-02") {
			_, err = command.Run(ctx, command.Spec{Path: "cp", Args: []string{from, to}})
		} else {
			err = os.Link(from, to)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// addFile packs a file.
func addFile(z *zip.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := z.Create(filepath.Base(path))
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}
