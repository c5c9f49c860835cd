package secret

import (
	"path"
	"slices"
	"strings"
)

// secretOptions are options of commands whose value is a secret, in the next
// argument or after a = sign. Those of one letter belong to ab, curl, hey, wget
// and their like.
var secretOptions = []string{
	"--password", "--passwd", "--pass", "--passphrase", "--secret", "--token", "--api-key", "--apikey", "--access-key",
	"--oauth2-bearer",
	"--cookie", "--session", "--mysql-password", "--pgsql-password", "--db-password", "--http-password",
	"--proxy-password",
	"-C", "-b",
}

// userOptions are options whose value is user:password.
var userOptions = []string{"-u", "--user", "-U", "--proxy-user", "-A", "-a", "--auth", "--basic-auth", "-P"}

// MaskArgs returns the arguments of a command as they may be kept: without the
// values of options that hold secrets, of variables with a secret's name, and
// without the passwords of URLs and data source names. An argument that is itself a
// command line, as of sh -c, is treated as one. The arguments given stay as they are.
func MaskArgs(args []string) []string { return maskArgs(args, mostNested) }

// mostNested is how many command lines within one another are looked into.
const mostNested = 3

func maskArgs(args []string, nested int) []string {
	out := slices.Clone(args)
	mysql := false // -pSECRET is a password
	for i, a := range out {
		before := ""
		if i > 0 {
			before = args[i-1]
		}
		mysql = mysql || isMySQL(a)
		isLine := nested > 0 && strings.ContainsAny(a, " \t\n")
		switch safe, isSecret := safeOption(a, before, mysql); {
		case isLine && (!isSecret || before == "-c"): // sh -c
			out[i] = maskLine(a, nested-1)
		case isSecret:
			out[i] = safe
		default:
			out[i] = string(Append(nil, []byte(a)))
		}
	}
	return out
}

func isMySQL(arg string) bool {
	name := path.Base(arg)
	return !strings.HasPrefix(arg, "-") && (strings.HasPrefix(name, "mysql") || strings.HasPrefix(name, "mariadb"))
}

// safeOption masks an argument that holds a secret by its name, or by the option
// before it; ok is false when it does not.
func safeOption(arg, before string, mysql bool) (safe string, ok bool) {
	isOption := strings.HasPrefix(arg, "-") && len(arg) > 1
	name, value, joined := strings.Cut(arg, "=")
	switch {
	case isOption && joined && slices.Contains(userOptions, name):
		return name + "=" + withoutPassword(value), true
	case joined && (isSecretName(name) || slices.Contains(secretOptions, name)):
		if isSwitch(value) {
			return arg, true
		}
		return name + "=" + Masked, true
	case !isOption && isSecretOption(before):
		return Masked, true
	case !isOption && slices.Contains(userOptions, before):
		return withoutPassword(arg), true
	case mysql && strings.HasPrefix(arg, "-p") && len(arg) > len("-p"):
		return "-p" + Masked, true
	}
	return "", false
}

// isSwitch reports whether a value only says that a secret is there or wanted.
func isSwitch(value string) bool {
	return slices.Contains([]string{"", "on", "off", "yes", "no", "true", "false", "0", "1"}, strings.ToLower(value))
}

// MaskSetting returns the value of a setting as it may be kept: masked when the
// name is that of a secret, such as db.password, else without passwords in it.
func MaskSetting(name, value string) string {
	safe, ok := strings.CutPrefix(MaskArgs([]string{name + "=" + value})[0], name+"=")
	if !ok { // the name itself looks like a secret
		return Masked
	}
	return safe
}

// isSecretOption reports whether the next argument is a secret.
func isSecretOption(arg string) bool {
	return slices.Contains(secretOptions, arg) || strings.HasPrefix(arg, "--") && !strings.Contains(arg, "=") &&
		isSecretName(arg)
}

// isSecretName reports whether it is the name of a variable or an option that ends
// like one whose value is a secret.
func isSecretName(name string) bool {
	name = strings.ToLower(name)
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-.") != "" {
		return false
	}
	return IsName(name)
}

// withoutPassword masks what stands after the first colon of user:password.
func withoutPassword(s string) string {
	if user, _, ok := strings.Cut(s, ":"); ok {
		return user + ":" + Masked
	}
	return s
}

// MaskCommandLine is [MaskArgs] for a command in one text, as a shell takes it.
// Words are parted at blanks, those in quotes not; the blanks stay.
func MaskCommandLine(line string) string { return maskLine(line, mostNested-1) }

func maskLine(line string, nested int) string {
	var blanks, args []string // before each argument
	for rest := line; rest != ""; {
		trimmed := strings.TrimLeft(rest, " \t\n")
		blanks = append(blanks, rest[:len(rest)-len(trimmed)])
		n := wordEnd(trimmed)
		args, rest = append(args, trimmed[:n]), trimmed[n:]
	}
	safe := safeWords(args, nested)
	var b strings.Builder
	for i, a := range safe {
		b.WriteString(blanks[i] + a)
	}
	// A header is a secret up to its end, also where it is not quoted.
	return string(Append(nil, []byte(b.String())))
}

// safeWords masks words that may stand in quotes.
func safeWords(words []string, nested int) []string {
	bare := make([]string, len(words))
	for i, w := range words {
		bare[i] = strings.Trim(w, `"'`)
	}
	out := slices.Clone(words)
	for i, s := range maskArgs(bare, nested) {
		if s != bare[i] {
			out[i] = strings.Replace(words[i], bare[i], s, 1)
		}
	}
	return out
}

// wordEnd returns where the first word ends: at a blank that is not quoted.
func wordEnd(s string) int {
	quote := byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == ' ' || c == '\t' || c == '\n':
			return i
		}
	}
	return len(s)
}
