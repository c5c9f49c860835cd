package answers

import "testing"

// TestOutside: a value is held against the statistics that stand beside it, and against nothing else.
func TestOutside(t *testing.T) {
	for text, want := range map[string]string{
		`{"gpa": 0, "gpa_t_score": -331.8, "gpa_avg": 2.13, "gpa_min": 1.25, "gpa_max": 3.4}`: "gpa 0, of gpa_min 1.25 to gpa_max 3.40; " +
			"gpa_avg 2.13; gpa_t_score −332",
		`[{"a": {"avgLoad": 9, "minLoad": 1, "maxLoad": 4, "load": 2}}]`:                   "avgLoad 9.00, of minLoad 1.00 to maxLoad 4.00; load 2.00",
		`{"max_x": 4, "mean_x": 2, "minimum_x": 1, "x": 7}`:                                "x 7.00, of minimum_x 1.00 to max_x 4.00",
		`{"gpaAverage": 2, "gpaMin": 1, "gpaMax": 3, "gpa": 8}`:                            "gpa 8.00, of gpaMin 1.00 to gpaMax 3.00; gpaAverage 2.00",
		`{"gpa": 2, "gpa_avg": 2.13, "gpa_min": 1.25, "gpa_max": 3.4}`:                     "",
		`{"gpa": null, "gpa_avg": 2.13, "gpa_min": 1.25, "gpa_max": 3.4}`:                  "",
		`{"gpa": "0", "gpa_avg": 2.13, "gpa_min": 1.25, "gpa_max": 3.4}`:                   "",
		`{"gpa": 3, "gpa_avg": 3, "gpa_min": 3.14, "gpa_max": 3.4}`:                        "", // rounded
		`{"gpa_min": 4.95, "gpa_avg": 4, "gpa_max": 5.2}`:                                  "", // cut off
		`{"gpa": 4, "gpa_avg": 3.6, "gpa_min": 3.5, "gpa_max": 3.7}`:                       "", // likewise
		`{"gpa": 0, "gpa_avg": 0.645, "gpa_min": 0.594, "gpa_max": 0.698}`:                 "gpa 0, of gpa_min 0.59 to gpa_max 0.70; gpa_avg 0.65",
		`{"gpa": 3.4000001, "gpa_avg": 3, "gpa_min": 3, "gpa_max": 3.4}`:                   "",
		`{"width": 0, "width_min": 100, "width_max": 300}`:                                 "", // limits
		`{"gpa": 0, "gpa_avg": 2, "gpa_min": 3, "gpa_max": 1}`:                             "", // neither is what its name says
		`{"gpa": 0, "gpa_avg": 0, "gpa_min": 0, "gpa_max": 0}`:                             "",
		`{"rating": 3, "rating_avg": 0, "rating_min": 1, "rating_max": 5}`:                 "", // nothing is rated: a scale
		`{"avg": 7, "min": 1, "max": 3}`:                                                   "", // of what?
		`{"x": 1e999, "x_avg": 2, "x_min": 1, "x_max": 3}`:                                 "",
		`{"x": 1e4, "x_avg": 2.5e4, "x_min": 3e4, "x_max": 4e4}`:                           "x 10,000, of x_min 30,000 to x_max 40,000; x_avg 25,000",
		`{"x\u001b[2J": 9, "x\u001b[2J_avg": 2, "x\u001b[2J_min": 1, "x\u001b[2J_max": 3}`: "",
		`7`: "",
	} {
		tree, err := decodeJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := outside(tree); got != want {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
}
