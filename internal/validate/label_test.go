package validate_test

import (
	"strings"
	"testing"

	"github.com/kubecoord/kubecoord/internal/validate"
)

const (
	keyText   = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	valueText = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)

func TestQualifiedName(t *testing.T) {
	check(t, validate.QualifiedName, []row{
		{"plain", "a", nil},
		{"all characters", "Az-_.09", nil},
		{"with prefix", "example.com/a", nil},
		{"longest", strings.Repeat("a", 253) + "/" + strings.Repeat("b", 63), nil},
		{"empty", "", []string{"name part must be non-empty", "name part " + keyText}},
		{"no name", "a/", []string{"name part must be non-empty", "name part " + keyText}},
		{"no prefix", "/a", []string{"prefix part must be non-empty"}},
		{"nothing at all", "/", []string{"prefix part must be non-empty", "name part must be non-empty", "name part " + keyText}},
		{"blank", "bad key", []string{"name part " + keyText}},
		{"name too long", strings.Repeat("a", 64), []string{"name part must be no more than 63 bytes"}},
		{"name too long and wrong", strings.Repeat("-", 64), []string{"name part must be no more than 63 bytes", "name part " + keyText}},
		{"prefix in upper case", "Example/a", []string{"prefix part " + subdomainText}},
		{"prefix too long", strings.Repeat("a", 254) + "/b", []string{"prefix part must be no more than 253 bytes"}},
		{"two slashes", "a/b/c", []string{"a valid label key " + keyText + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}},
	})
}

func TestLabelValue(t *testing.T) {
	check(t, validate.LabelValue, []row{
		{"empty", "", nil},
		{"plain", "a", nil},
		{"all characters", "Az-_.09", nil},
		{"63 bytes", strings.Repeat("x", 63), nil},
		{"64 bytes", strings.Repeat("x", 64), []string{"must be no more than 63 bytes"}},
		{"blank", "not good", []string{valueText}},
		{"dash at the end", "a-", []string{valueText}},
		{"too long and wrong", strings.Repeat("-", 64), []string{"must be no more than 63 bytes", valueText}},
	})
}
