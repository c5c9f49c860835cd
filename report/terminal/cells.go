package terminal

// Width returns how many cells a text takes.
func Width(s string) int { return width(s) }

// Cut shortens a text to n cells, marking the cut with … or, in ASCII, three dots.
func Cut(s string, n int, ascii bool) string { return cut(s, n, tail(ascii)) }

// Wrap breaks a text at spaces into lines of at most n cells.
func Wrap(s string, n int) []string { return wrap(s, n) }

// ASCII writes kasoku's symbols in plain ASCII.
func ASCII(s string) string { return plainText.Replace(s) }

// Level is the character of a sparkline for a value between low and top, where low
// matters on a logarithmic scale only; · where the value is not a number.
func Level(v, low, top float64, log bool) rune { return level(v, low, top, log) }

func tail(ascii bool) string {
	if ascii {
		return "..."
	}
	return "…"
}
