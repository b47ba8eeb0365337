package serve

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
)

const table = `# who             verbs               resources          namespaces     names
user:alice        get,list,watch,update leases             team-a         backup,nightly  # two names
user:alice        create              leases             team-a         *

group:workers     *                   leases,endpoints   jobs-*,team-b  job-*
user:auditor      get,list            *                  *              *
user:scraper      get                 /metrics
group:testers     *                   /debug/*
user:*            get                 leases             public         *
group:system:authenticated list       endpoints          public         *
`

func TestTableAllowsOnlyWhatItsLinesSay(t *testing.T) {
	rules, err := parseRules(strings.NewReader(table), resources(httpapi.Kinds()))
	require.NoError(t, err)
	rules = append(everywhere(), rules...)
	const v1 = "/apis/coordination.k8s.io/v1"
	for _, row := range []struct {
		user, groups string
		method, path string
		want         bool
	}{
		{"alice", "", "GET", v1 + "/namespaces/team-a/leases/backup", true},
		{"alice", "", "PUT", v1 + "/namespaces/team-a/leases/nightly", true},
		{"alice", "", "GET", v1 + "/namespaces/team-a/leases?watch=1&fieldSelector=metadata.name%3Dbackup", true},
		{"alice", "", "POST", v1 + "/namespaces/team-a/leases", true},
		{"alice", "", "PUT", v1 + "/namespaces/team-a/leases/other", false},
		{"alice", "", "PUT", v1 + "/namespaces/team-a/leases/backups", false},
		{"alice", "", "PUT", v1 + "/namespaces/team-a/leases/backup/status", false},
		{"alice", "", "DELETE", v1 + "/namespaces/team-a/leases/backup", false},
		{"alice", "", "GET", v1 + "/namespaces/team-a/leases", false},
		{"alice", "", "GET", v1 + "/leases", false},
		{"alice", "", "GET", v1 + "/namespaces/team-b/leases/backup", false},
		{"alice", "", "GET", v1 + "/namespaces/team-a/leasecandidates/backup", false},
		{"alic", "", "GET", v1 + "/namespaces/team-a/leases/backup", false},
		{"backup", "alice", "GET", v1 + "/namespaces/team-a/leases/backup", false},
		{"w1", "workers", "DELETE", v1 + "/namespaces/jobs-7/leases/job-1", true},
		{"w1", "others,workers", "PATCH", "/api/v1/namespaces/team-b/endpoints/job-", true},
		{"w1", "workers", "DELETE", v1 + "/namespaces/jobs-7/leases", false},
		{"w1", "workers", "GET", v1 + "/namespaces/jobs/leases/job-1", false},
		{"workers", "", "GET", v1 + "/namespaces/jobs-7/leases/job-1", false},
		{"auditor", "", "GET", v1 + "/leases", true},
		{"auditor", "", "GET", v1 + "/namespaces/any/leases/a/status", true},
		{"auditor", "", "GET", v1 + "/leases?watch=true", false},
		{"auditor", "", "GET", "/metrics", false},
		{"scraper", "", "GET", "/metrics", true},
		{"scraper", "", "POST", "/metrics", false},
		{"scraper", "", "GET", "/metrics/more", false},
		{"scraper", "", "GET", v1 + "/leases", false},
		{"t", "testers", "POST", "/debug/faults", true},
		{"t", "testers", "GET", "/debug", false},
		{"anybody", "", "GET", v1 + "/namespaces/public/leases/a", true},
		{"anybody", "", "GET", "/api/v1/namespaces/public/endpoints", true},
		{"anybody", "", "GET", "/apis", true},
		{"anybody", "", "GET", v1, true},
		{"anybody", "", "GET", "/api/v1", true},
		{"anybody", "", "GET", "/openapi/v3/apis/coordination.k8s.io/v1", true},
		{"anybody", "", "GET", "/version", true},
		{"anybody", "", "POST", "/apis", false},
		{"anybody", "", "GET", "/", false},
		{"anybody", "", "GET", "/debug/", false},
		{"root", "system:masters", "DELETE", v1 + "/namespaces/team-a/leases", true},
		{"root", "system:masters", "POST", "/debug/reset", true},
		{"system:masters", "", "GET", v1 + "/leases", false},
	} {
		r := httptest.NewRequest(row.method, row.path, nil)
		a := httpapi.AttributesOf(r)
		a.User.Name = row.user
		if row.groups != "" {
			a.User.Groups = strings.Split(row.groups, ",")
		}
		assert.Equal(t, row.want, allowed(rules, a), "%s (%s) %s %s", row.user, row.groups, row.method, row.path)
	}
}

func TestTableWithAMistakeIsRefusedWithItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "must have at least one line",
		"# nothing\n\n":              "must have at least one line",
		"alice get leases a b":       `line 1: got "alice", want user:NAME or group:NAME`,
		"user: get leases a b":       `line 1: got "user:", want user:NAME or group:NAME`,
		"\n# x\nuser:a get leases a": "line 3: got 4 columns, want 5: WHO VERBS RESOURCES NAMESPACES NAMES",
		"user:a get leases a b c":    "line 1: got 6 columns, want 5",
		"user:a get /metrics *":      "line 1: got 4 columns, want 3: WHO VERBS PATHS",
		"user:a":                     "line 1: got 1 columns, want 5",
		"user:a renew leases a b":    `line 1: verb: got "renew", want * or one of get, list, watch, create, update, patch, delete, deletecollection`,
		"user:a list /metrics":       `line 1: verb: got "list", want * or one of get, head`,
		"user:a get, leases a b":     `line 1: verb: got an empty one in "get,"`,
		"user:a get pods a b":        `line 1: resource: got "pods", want * or one of leases, leasecandidates, endpoints`,
		"user:a get leases *-a b":    `line 1: namespace: got "*-a", want * only at the end`,
		"user:a get leases a b*c":    `line 1: name: got "b*c", want * only at the end`,
		"user:a get /a*b":            `line 1: path: got "/a*b", want * only at the end`,
		"user:a get leases a " + strings.Repeat("x", 1<<17): "line 1: longer than 65536 bytes",
	} {
		_, err := parseRules(strings.NewReader(text), resources(httpapi.Kinds()))
		assert.ErrorContains(t, err, want, "%.60q", text)
	}
	file := filepath.Join(t.TempDir(), "table")
	require.NoError(t, os.WriteFile(file, []byte("user:a"), 0o600))
	o := Options{Address: "127.0.0.1:0", History: 1, Authorize: file}
	_, err := o.Open()
	require.ErrorContains(t, err, "-authorize: needs -token-file or -client-ca, which name the users")
	o.TokenFile = filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(o.TokenFile, []byte("s3cret,a,1"), 0o600))
	_, err = o.Open()
	require.ErrorContains(t, err, "-authorize: "+file+": line 1: got 1 columns")
	o.Authorize += ".none"
	_, err = o.Open()
	require.ErrorContains(t, err, "-authorize: open")
}
