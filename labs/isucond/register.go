package isucond

import (
	"io"
	"net/http"
	"os"
	"regexp"
)

// largestForm is what a registration may hold.
const largestForm = 1 << 20

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// register takes a new chair with its picture, which becomes a row, or a file that nginx
// sends.
func (s *server) register(w http.ResponseWriter, r *http.Request) {
	user, err := s.user(r)
	if err != nil {
		s.fail(w, err)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, largestForm)
	image, err := picture(r)
	id := r.FormValue("jia_isu_uuid")
	if err != nil || !uuidForm.MatchString(id) {
		http.Error(w, "bad form", http.StatusBadRequest)
		return
	}
	if !s.d.Has("NGX-06") {
		if err := os.WriteFile(s.iconFile(id), image, 0o644); err != nil {
			s.fail(w, err)
			return
		}
		image = []byte{}
	}
	if _, err := s.db.ExecContext(r.Context(),
		"INSERT INTO isu (jia_isu_uuid, name, image, nature, jia_user_id) VALUES (?, ?, ?, ?, ?)",
		id, r.FormValue("isu_name"), image, natures[int(id[0])%len(natures)], user); err != nil {
		s.fail(w, err)
		return
	}
	w.WriteHeader(http.StatusCreated)
}

// picture is that of the form.
func picture(r *http.Request) ([]byte, error) {
	f, _, err := r.FormFile("image")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
