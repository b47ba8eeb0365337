package serve

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/kind"
)

// The file of -authorize is a table of our own. Upstream's file, for ABAC, can name neither
// verbs nor objects. The words come from RBAC, and so do the rules that every server has:
// system:masters may do everything, and any authenticated user may read discovery.
//
//	# who          verbs                    resources   namespaces  names
//	user:alice     get,list,watch,update    leases      team-a      backup,nightly
//	group:workers  *                        leases      jobs-*      *
//	user:scraper   get                      /metrics
//
// A line allows requests; all others are forbidden. Each column but the first is a list with
// commas. A * at the end of a value stands for the rest. A line about paths has three columns.

// rule is a line of the table.
type rule struct {
	subject                            string // user:NAME or group:NAME
	verbs, resources, namespaces, name []string
	paths                              bool // resources are paths
}

// Groups that have the rules of every server.
const (
	masters       = "system:masters"
	authenticated = "system:authenticated"
)

// everywhere returns the rules of every server (upstream: plugin/pkg/auth/authorizer/rbac/
// bootstrappolicy, system:discovery).
func everywhere() []rule {
	all := []string{"*"}
	return []rule{
		{subject: "group:" + masters, verbs: all, resources: all, namespaces: all, name: all},
		{subject: "group:" + masters, verbs: all, resources: all, paths: true},
		{subject: "group:" + authenticated, verbs: []string{"get"}, paths: true, resources: []string{
			"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", "/readyz", "/version", "/version/",
		}},
	}
}

// readRules reads the file of -authorize.
func readRules(file string, kinds []kind.Kind) ([]rule, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("-authorize: %w", err)
	}
	defer f.Close()
	rules, err := parseRules(f, resources(kinds))
	if err != nil {
		return nil, fmt.Errorf("-authorize: %s: %w", file, err)
	}
	return append(everywhere(), rules...), nil
}

func parseRules(in io.Reader, resources []string) (rules []rule, err error) {
	lines := bufio.NewScanner(in)
	n := 1
	for ; lines.Scan(); n++ {
		columns := strings.Fields(lines.Text())
		if i := slices.IndexFunc(columns, func(c string) bool { return c[0] == '#' }); i >= 0 {
			columns = columns[:i]
		}
		if len(columns) == 0 {
			continue
		}
		r, err := parseRule(columns, resources)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		rules = append(rules, r)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d: longer than %d bytes", n, bufio.MaxScanTokenSize)
	case err == nil && len(rules) == 0:
		return nil, errors.New("must have at least one line")
	default:
		return rules, err
	}
}

func parseRule(columns, resources []string) (r rule, err error) {
	r.subject = columns[0]
	if kind, name, _ := strings.Cut(r.subject, ":"); kind != "user" && kind != "group" || name == "" {
		return r, fmt.Errorf("got %q, want user:NAME or group:NAME", r.subject)
	}
	r.paths = len(columns) > 2 && strings.HasPrefix(columns[2], "/")
	if want := columnsOf(r.paths); len(columns) != len(want) {
		return r, fmt.Errorf("got %d columns, want %d: %s", len(columns), len(want), strings.Join(want, " "))
	}
	known := []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}
	if r.paths {
		known = []string{"get", "head", "post", "put", "patch", "delete", "options"}
	}
	if r.verbs, err = parseList("verb", columns[1], known); err != nil {
		return r, err
	}
	if r.paths {
		r.resources, err = parseList("path", columns[2], nil)
		return r, err
	}
	if r.resources, err = parseList("resource", columns[2], resources); err != nil {
		return r, err
	}
	if r.namespaces, err = parseList("namespace", columns[3], nil); err != nil {
		return r, err
	}
	r.name, err = parseList("name", columns[4], nil)
	return r, err
}

func columnsOf(paths bool) []string {
	if paths {
		return []string{"WHO", "VERBS", "PATHS"}
	}
	return []string{"WHO", "VERBS", "RESOURCES", "NAMESPACES", "NAMES"}
}

// resources returns the resources that are served, or nil if objects define more.
func resources(kinds []kind.Kind) (all []string) {
	for _, kind := range kinds {
		if kind.DefinesKinds() {
			return nil
		}
		all = append(all, kind.Info().Plural)
	}
	return all
}

// parseList splits a column. If known is not nil, each value must be in it or be *.
func parseList(what, column string, known []string) ([]string, error) {
	values := strings.Split(column, ",")
	for _, v := range values {
		switch {
		case v == "":
			return nil, fmt.Errorf("%s: got an empty one in %q", what, column)
		case known != nil && v != "*" && !slices.Contains(known, v):
			return nil, fmt.Errorf("%s: got %q, want * or one of %s", what, v, strings.Join(known, ", "))
		case strings.Contains(strings.TrimSuffix(v, "*"), "*"):
			return nil, fmt.Errorf("%s: got %q, want * only at the end", what, v)
		}
	}
	return values, nil
}

// allowed reports whether a rule allows a request.
func allowed(rules []rule, a httpapi.Attributes) bool {
	return slices.ContainsFunc(rules, func(r rule) bool { return r.appliesTo(a.User) && r.allows(a) })
}

func (r rule) appliesTo(u httpapi.User) bool {
	kind, name, _ := strings.Cut(r.subject, ":")
	if kind == "user" {
		return matches([]string{name}, u.Name)
	}
	return name == authenticated || slices.ContainsFunc(u.Groups, func(g string) bool { return matches([]string{name}, g) })
}

func (r rule) allows(a httpapi.Attributes) bool {
	if r.paths || !a.IsResource {
		return r.paths != a.IsResource && matches(r.verbs, a.Verb) && matches(r.resources, a.Path)
	}
	resource := a.Resource
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	return matches(r.verbs, a.Verb) && matches(r.resources, resource) && matches(r.namespaces, a.Namespace) && matches(r.name, a.Name)
}

// matches reports whether a value is in a list. A * at the end of an element stands for the rest.
func matches(list []string, value string) bool {
	return slices.ContainsFunc(list, func(want string) bool {
		if begin, ok := strings.CutSuffix(want, "*"); ok {
			return strings.HasPrefix(value, begin)
		}
		return value == want
	})
}

// openAuthorizer returns the Authorizer of -authorize, or nil without the flag.
func (o *Options) openAuthorizer() (httpapi.Authorizer, error) {
	if o.Authorize == "" {
		return nil, nil
	}
	if o.TokenFile == "" && o.ClientCA == "" {
		return nil, fmt.Errorf("-authorize: needs -token-file or -client-ca, which name the users")
	}
	rules, err := reload(func() ([]rule, error) { return readRules(o.Authorize, o.all()) }, o.Authorize)
	if err != nil {
		return nil, err
	}
	return func(a httpapi.Attributes) (bool, string) { return allowed(rules.get(), a), "" }, nil
}
