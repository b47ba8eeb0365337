package validate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/internal/validate"
)

const (
	subdomainText = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
	labelText     = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
	configKeyText = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)

// row is a value and the texts it gets.
type row struct {
	name  string
	value string
	want  []string
}

func check(t *testing.T, rule func(string) []string, rows []row) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, rule(row.value))
		})
	}
}

func TestDNS1123Subdomain(t *testing.T) {
	check(t, validate.DNS1123Subdomain, []row{
		{"one label", "a", nil},
		{"digits and dashes inside", "0-a.b--c.9", nil},
		{"253 bytes", strings.Repeat("a.", 126) + "a", nil},
		{"a label may be longer than 63", strings.Repeat("a", 64), nil},
		{"254 bytes", strings.Repeat("a", 254), []string{"must be no more than 253 characters"}},
		{"too long and wrong", strings.Repeat("A", 254), []string{"must be no more than 253 characters", subdomainText}},
		{"empty", "", []string{subdomainText}},
		{"upper case", "Upper", []string{subdomainText}},
		{"underscore", "under_score", []string{subdomainText}},
		{"leading dash", "-lead", []string{subdomainText}},
		{"trailing dash", "trail-", []string{subdomainText}},
		{"dash before a dot", "a-.b", []string{subdomainText}},
		{"two dots", "a..b", []string{subdomainText}},
		{"trailing dot", "a.", []string{subdomainText}},
		{"slash", "a/b", []string{subdomainText}},
		{"trailing newline", "a\n", []string{subdomainText}},
		{"not ASCII", "é", []string{subdomainText}},
	})
}

func TestDNS1123Label(t *testing.T) {
	check(t, validate.DNS1123Label, []row{
		{"short", "a", nil},
		{"63 bytes", strings.Repeat("a", 63), nil},
		{"64 bytes", strings.Repeat("a", 64), []string{"must be no more than 63 characters"}},
		{"a subdomain is told about its dots", "a.b", []string{"must not contain dots"}},
		{"dots at the wrong place", "a.", []string{labelText}},
		{"empty", "", []string{labelText}},
		{"upper case", "A", []string{labelText}},
		{"long subdomain", strings.Repeat("a.", 40) + "a", []string{"must be no more than 63 characters", "must not contain dots"}},
	})
}

func TestConfigMapKey(t *testing.T) {
	check(t, func(key string) []string { return validate.NameIsConfigMapKey(key, false) }, []row{
		{"all characters", "Az09-_.", nil},
		{"leading dot", ".a", nil},
		{"empty", "", []string{configKeyText}},
		{"slash", "a/b", []string{configKeyText}},
		{"one dot", ".", []string{"must not be '.'"}},
		{"two dots", "..", []string{"must not be '..'"}},
		{"starts with two dots", "..a", []string{"must not start with '..'"}},
		{"all at once", ".." + strings.Repeat("!", 252), []string{"must be no more than 253 characters", configKeyText, "must not start with '..'"}},
	})
}

func TestNameRulesInPrefixMode(t *testing.T) {
	tests := []struct {
		name   string
		rule   func(string, bool) []string
		value  string
		prefix bool
		want   []string
	}{
		{"a subdomain must not end in a dash", validate.NameIsDNSSubdomain, "web-", false, []string{subdomainText}},
		{"a subdomain prefix may", validate.NameIsDNSSubdomain, "web-", true, nil},
		{"but not start with one", validate.NameIsDNSSubdomain, "-web-", true, []string{subdomainText}},
		{"a dash alone stays", validate.NameIsDNSSubdomain, "-", true, []string{subdomainText}},
		{"the byte before the dash is not looked at", validate.NameIsDNSSubdomain, "a.-", true, nil},
		{"nor counted", validate.NameIsDNSSubdomain, strings.Repeat("a", 253) + "-", true, nil},
		{"a label must not end in a dash", validate.NameIsDNSLabel, "web-", false, []string{labelText}},
		{"a label prefix may", validate.NameIsDNSLabel, "web-", true, nil},
		{"a label prefix has no dots", validate.NameIsDNSLabel, "a.b-", true, []string{"must not contain dots"}},
		{"a key may end in a dash", validate.NameIsConfigMapKey, "web-", false, nil},
		{"as a prefix too", validate.NameIsConfigMapKey, "web-", true, nil},
		{"a key prefix is checked", validate.NameIsConfigMapKey, "..", true, []string{"must not be '..'"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, test.rule(test.value, test.prefix))
		})
	}
}

func TestPathSegments(t *testing.T) {
	check(t, func(name string) []string { return validate.NameIsPathSegment(name, false) }, []row{
		{"plain", "a", nil},
		{"empty", "", nil},
		{"one dot", ".", []string{"may not be '.'"}},
		{"two dots", "..", []string{"may not be '..'"}},
		{"slash and percent", "%/", []string{"may not contain '/'", "may not contain '%'"}},
	})
	check(t, func(name string) []string { return validate.NameIsPathSegment(name, true) }, []row{
		{"a prefix may be two dots", "..", nil},
		{"but have no slash", "a/", []string{"may not contain '/'"}},
	})
}

func TestValidValuesCostNoAllocation(t *testing.T) {
	allocations := testing.AllocsPerRun(100, func() {
		validate.NameIsDNSSubdomain("kube-scheduler.example.com", false)
		validate.NameIsDNSLabel("kube-system", false)
		validate.NameIsConfigMapKey("candidate_1", false)
		validate.QualifiedName("example.com/name")
		validate.LabelValue("value")
		validate.NameIsPathSegment("name", false)
		validate.LegacyIP("10.0.0.1")
		validate.IPWarnings("ip", "10.0.0.1")
	})
	assert.Zero(t, allocations)
}
