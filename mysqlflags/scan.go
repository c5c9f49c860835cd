package mysqlflags

import (
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// decodeInto fills what dest points to.
func decodeInto(rows []row, dest any) error {
	v := reflect.ValueOf(dest)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return fmt.Errorf("scan into %T: not a pointer", dest)
	}
	v = v.Elem()
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8 {
		out := reflect.MakeSlice(v.Type(), len(rows), len(rows))
		for i, r := range rows {
			if err := decodeRow(r, out.Index(i)); err != nil {
				return fmt.Errorf("scan row %d: %w", i+1, err)
			}
		}
		v.Set(out)
		return nil
	}
	if len(rows) == 0 {
		return ErrNoRows
	}
	// A half filled struct is worse than an untouched one.
	fresh := reflect.New(v.Type()).Elem()
	fresh.Set(v)
	if err := decodeRow(rows[0], fresh); err != nil {
		return fmt.Errorf("scan: %w", err)
	}
	v.Set(fresh)
	return nil
}

// decodeRow fills a struct, a map or a pointer to one.
func decodeRow(r row, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		fresh := reflect.New(v.Type().Elem())
		if err := decodeRow(r, fresh.Elem()); err != nil {
			return err
		}
		v.Set(fresh)
		return nil
	case reflect.Map:
		return decodeMap(r, v)
	case reflect.Struct:
		folded := make(map[string]*string, len(r))
		for name, val := range r {
			folded[strings.ToLower(name)] = val
		}
		return decodeStruct(r, folded, v)
	}
	return fmt.Errorf("into %s: neither struct nor map", v.Type())
}

func decodeMap(r row, v reflect.Value) error {
	t := v.Type()
	if t.Key().Kind() != reflect.String {
		return fmt.Errorf("into %s: its keys are no strings", t)
	}
	m := reflect.MakeMapWithSize(t, len(r))
	for name, val := range r {
		e := reflect.New(t.Elem()).Elem()
		if err := setValue(e, val); err != nil {
			return fmt.Errorf("column %q: %w", name, err)
		}
		m.SetMapIndex(reflect.ValueOf(name).Convert(t.Key()), e)
	}
	v.Set(m)
	return nil
}

func decodeStruct(r, folded row, v reflect.Value) error {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("mysqlvar"), ",")
		if name == "" && f.Type.Kind() == reflect.Struct && (f.Anonymous || f.IsExported() && option == "squash") {
			if err := decodeStruct(r, folded, v.Field(i)); err != nil {
				return err
			}
			continue
		}
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		val, ok := r[name]
		if !ok {
			val, ok = folded[strings.ToLower(name)]
		}
		if !ok {
			if f.Type.Kind() == reflect.Pointer || option == "optional" {
				v.Field(i).SetZero()
				continue
			}
			return &MissingError{Column: name, Field: t.String() + "." + f.Name}
		}
		if err := setValue(v.Field(i), val); err != nil {
			return fmt.Errorf("column %q into %s.%s: %w", name, t, f.Name, err)
		}
	}
	return nil
}

// A MissingError reports that a result lacks a column that a field wants.
type MissingError struct {
	Column string
	Field  string // Type.Field
}

// Error names the column and the field.
func (e *MissingError) Error() string {
	return fmt.Sprintf("the result has no %q for %s", e.Column, e.Field)
}

// Hint returns how to allow it.
func (e *MissingError) Hint() string {
	return `make the field a pointer, or tag it "NAME,optional", if the column is optional`
}

var boolType = reflect.TypeFor[Bool]()

// setValue converts one value; nil is NULL.
func setValue(v reflect.Value, val *string) error {
	if v.Kind() == reflect.Pointer {
		if val == nil {
			v.SetZero()
			return nil
		}
		fresh := reflect.New(v.Type().Elem())
		if err := setValue(fresh.Elem(), val); err != nil {
			return err
		}
		v.Set(fresh)
		return nil
	}
	if scanner, ok := scannerOf(v); ok {
		if val == nil {
			return scanner.Scan(nil)
		}
		return scanner.Scan(*val)
	}
	if val == nil {
		v.SetZero()
		return nil
	}
	s := *val
	if v.Type() == boolType {
		v.Set(reflect.ValueOf(Bool{s}))
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Bool:
		v.SetBool(isYes(s))
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			return fmt.Errorf("type %s is not supported", v.Type())
		}
		v.SetBytes([]byte(s))
	case reflect.Interface:
		if v.NumMethod() != 0 {
			return fmt.Errorf("type %s is not supported", v.Type())
		}
		v.Set(reflect.ValueOf(s))
	default:
		return setNumber(v, s)
	}
	return nil
}

// scannerOf returns a field as what database/sql fills.
func scannerOf(v reflect.Value) (sql.Scanner, bool) {
	if !v.CanAddr() {
		return nil, false
	}
	s, ok := v.Addr().Interface().(sql.Scanner)
	return s, ok
}

func setNumber(v reflect.Value, s string) error {
	if s == "" {
		v.SetZero()
		return nil
	}
	var err error
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		var n int64
		if n, err = strconv.ParseInt(s, 10, v.Type().Bits()); err == nil {
			v.SetInt(n)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		var n uint64
		if n, err = strconv.ParseUint(s, 10, v.Type().Bits()); err == nil {
			v.SetUint(n)
		}
	case reflect.Float32, reflect.Float64:
		var n float64
		if n, err = strconv.ParseFloat(s, v.Type().Bits()); err == nil {
			v.SetFloat(n)
		}
	default:
		return fmt.Errorf("type %s is not supported", v.Type())
	}
	var num *strconv.NumError
	if errors.As(err, &num) {
		return fmt.Errorf("%q as %s: %w", s, v.Type(), num.Err)
	}
	return err
}

func isYes(s string) bool {
	switch strings.ToLower(s) {
	case "yes", "on", "true", "1":
		return true
	}
	return false
}
