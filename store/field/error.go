// Package field reports problems with the fields of an object in the words of the Kubernetes
// API: the path of a field, the kind of problem, the value found and the value expected. The
// Validate function of a kind returns Errors, and the store answers with one Status that has
// a cause for each.
package field

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// ErrorType is the kind of problem: the reason of a cause.
type ErrorType string

// The types of problems.
const (
	TypeRequired     ErrorType = "FieldValueRequired"
	TypeInvalid      ErrorType = "FieldValueInvalid"
	TypeNotSupported ErrorType = "FieldValueNotSupported"
	TypeForbidden    ErrorType = "FieldValueForbidden"
	TypeTooLong      ErrorType = "FieldValueTooLong"
	TypeDuplicate    ErrorType = "FieldValueDuplicate"
	// TypeTolerated is a problem that the object had before, and that its write does not touch. It refuses no write: the answer has a
	// warning with its text (KEP-4008, ratcheting).
	TypeTolerated ErrorType = "Tolerated"
)

// Error is one problem with one field.
type Error struct {
	Type  ErrorType
	Field Path

	badValue any // shown for Invalid, NotSupported and Duplicate
	detail   string
	body     string // of Reported
}

// Required reports that a value is missing.
func Required(p Path, detail string) *Error {
	return &Error{Type: TypeRequired, Field: p, detail: detail}
}

// Invalid reports that a value is malformed or out of range.
func Invalid(p Path, value any, detail string) *Error {
	return &Error{Type: TypeInvalid, Field: p, badValue: value, detail: detail}
}

// NotSupported reports that a value is not one of a list. The list is shown in
// the order given.
func NotSupported[T ~string](p Path, value any, supported ...T) *Error {
	quoted := make([]string, len(supported))
	for i, s := range supported {
		quoted[i] = strconv.Quote(string(s))
	}
	detail := ""
	if len(quoted) > 0 {
		detail = "supported values: " + strings.Join(quoted, ", ")
	}
	return &Error{Type: TypeNotSupported, Field: p, badValue: value, detail: detail}
}

// Forbidden reports that a value may not be given here at all.
func Forbidden(p Path, detail string) *Error {
	return &Error{Type: TypeForbidden, Field: p, detail: detail}
}

// TooLong reports that a value exceeds a number of bytes.
func TooLong(p Path, maxBytes int) *Error {
	return &Error{Type: TypeTooLong, Field: p, detail: fmt.Sprintf("may not be more than %d bytes", maxBytes)}
}

// Duplicate reports that a value which must be unique occurs twice.
func Duplicate(p Path, value any) *Error {
	return &Error{Type: TypeDuplicate, Field: p, badValue: value}
}

// Reported returns a problem that a library found, with its own text for Body.
func Reported(t ErrorType, p Path, body string) *Error { return &Error{Type: t, Field: p, body: body} }

// Error returns the path and the problem.
func (e *Error) Error() string { return string(e.Field) + ": " + e.Body() }

// Body returns the problem without the path: the message of its cause.
func (e *Error) Body() string {
	if e.body != "" {
		return e.body
	}
	s := "Invalid value: "
	switch e.Type {
	case TypeRequired:
		s = "Required value"
	case TypeForbidden:
		s = "Forbidden"
	case TypeTooLong:
		s = "Too long"
	case TypeNotSupported:
		s = "Unsupported value: "
	case TypeDuplicate:
		s = "Duplicate value: "
	}
	if strings.HasSuffix(s, ": ") {
		s += show(e.badValue)
	}
	if e.detail != "" {
		s += ": " + e.detail
	}
	return s
}

// show returns a value as the API shows it: strings quoted as in Go, numbers and booleans
// plain, all others as JSON.
func show(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case int64, int32, bool:
		return fmt.Sprint(v)
	case []string: // may have bytes of a query that are not UTF-8
		texts := make([]string, len(v))
		for i, s := range v {
			texts[i] = string(codec.AppendString(nil, s))
		}
		return "[" + strings.Join(texts, ",") + "]"
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.String && r.NumMethod() == 0 {
		return string(codec.AppendString(nil, r.String()))
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%#v", v)
	}
	return string(b)
}

// Errors is a list of problems, nil if there are none. The texts of its methods end after
// 1 MiB.
type Errors []*Error

// InvalidEach returns one Invalid for each detail. Name rules return such details.
func InvalidEach(p Path, value any, details []string) Errors {
	var errs Errors
	for _, d := range details {
		errs = append(errs, Invalid(p, value, d))
	}
	return errs
}

// maxText limits the bytes of text of a list of problems. Each problem may show the whole
// value, so all texts could take the square of the size of a request.
const maxText = 1 << 20

// causes returns a cause for each problem, up to maxText bytes of text.
func (es Errors) causes() []meta.StatusCause {
	causes := make([]meta.StatusCause, 0, len(es))
	for size, i := 0, 0; i < len(es) && size < maxText; i++ {
		e := es[i]
		causes = append(causes, meta.StatusCause{Type: string(e.Type), Message: e.Body(), Field: string(e.Field)})
		size += len(causes[i].Message)
	}
	return causes
}

// Error joins the texts of the problems, each text once.
func (es Errors) Error() string { return joined(es.causes()) }

func joined(causes []meta.StatusCause) string {
	var texts []string
	seen := make(map[string]bool, len(causes))
	for _, c := range causes {
		if t := c.Field + ": " + c.Message; !seen[t] {
			seen[t] = true
			texts = append(texts, t)
		}
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// Status returns the 422 for an object of a kind and name, with a cause for each problem.
func (es Errors) Status(gk meta.GroupKind, name string) *meta.StatusError {
	causes := es.causes()
	return meta.NewStatusError(http.StatusUnprocessableEntity, meta.ReasonInvalid,
		&meta.StatusDetails{Name: name, Group: gk.Group, Kind: gk.Kind, Causes: causes},
		fmt.Sprintf("%s %q is invalid: %s", gk, name, joined(causes)))
}

// Path is the path of a field, such as "spec.leaseName" or "subsets[0].addresses[1].ip".
// Child and Index allocate, so call them only when there is a problem.
type Path string

// Child returns the path of a member. On the empty path it is the member.
func (p Path) Child(name string) Path {
	if p == "" {
		return Path(name)
	}
	return p + "." + Path(name)
}

// Index returns the path of an item of a list.
func (p Path) Index(i int) Path { return p + "[" + Path(strconv.Itoa(i)) + "]" }
