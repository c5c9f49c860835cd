package statements

import (
	"testing"

	"github.com/kasoku/kasoku"
)

func TestNewerThan(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT id, text FROM notes WHERE owner = ? AND id > ? ORDER BY id":                                          "id",
		"SELECT `id` FROM `notes` WHERE `notes`.`created_at` >= '?' ORDER BY `notes`.`created_at` LIMIT ?":           "created_at",
		"SELECT reason FROM bans WHERE owner = ? AND expires_at > ?":                                                 "",
		"SELECT id FROM items WHERE stock > ? ORDER BY name, stock":                                                  "",
		"SELECT id FROM notes WHERE id > ? AND id < ?":                                                               "",
		"SELECT id FROM notes WHERE id BETWEEN ? AND ?":                                                              "",
		"SELECT id FROM notes WHERE id < ? ORDER BY id DESC LIMIT ?":                                                 "",
		"SELECT id FROM notes WHERE until > NOW()":                                                                   "",
		"SELECT COUNT(*) FROM notes WHERE id > ?":                                                                    "",
		"SELECT id FROM notes WHERE id > ? OR owner = ?":                                                             "",
		"SELECT id FROM rooms WHERE price > ? AND area > ?":                                                          "",
		"SELECT id FROM notes WHERE owner = ?":                                                                       "",
		"SELECT n.id FROM notes n JOIN owners o ON o.id = n.owner WHERE o.token = ? AND n.id > ? ORDER BY n.id DESC": "id",
		"SELECT owner, MAX(id) FROM notes WHERE id > ? GROUP BY owner":                                               "",
		"SELECT id FROM notes WHERE id <> ?":                                                                         "",
		"SELECT id FROM notes WHERE id > (SELECT last_id FROM marks WHERE owner = ?) AND owner = ?":                  "",
	} {
		got, ok := NewerThan(&kasoku.Query{Verb: "SELECT", Sample: text})
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q %t, want %q", text, got, ok, want)
		}
	}
}
