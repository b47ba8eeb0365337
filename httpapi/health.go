package httpapi

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// HealthCheck is a check that the health paths run after ping and log, which every API has.
type HealthCheck struct {
	// Name is the name in answers, and the last part of a path: "etcd" for /livez/etcd.
	Name string
	// ReadyOnly leaves the check out of /livez and /healthz: a process that fails it should get
	// no requests, but need not be restarted.
	ReadyOnly bool
	// Healthy returns an error if the check fails, soon after the end of its context. Many
	// goroutines may call it at once.
	Healthy func(context.Context) error
}

// alwaysHealthy returns the checks that every API has.
func alwaysHealthy() []HealthCheck {
	pass := func(context.Context) error { return nil }
	return []HealthCheck{{Name: "ping", Healthy: pass}, {Name: "log", Healthy: pass}}
}

// checksOf returns the checks of a health path: healthz, livez or readyz.
func (a *API) checksOf(name string) []HealthCheck {
	return slices.DeleteFunc(slices.Clone(a.checks), func(check HealthCheck) bool { return check.ReadyOnly && name != "readyz" })
}

// health answers /healthz, /livez and /readyz. Query: verbose, exclude. The answer needs no
// credentials, so it gives no reasons (upstream: apiserver, server/healthz).
func (c *call) health(name string) {
	c.noSniff()
	excluded, unknown := c.params()["exclude"], map[string]bool{}
	for _, e := range excluded {
		unknown[e] = true
	}
	var b strings.Builder
	failed := false
	for _, check := range c.api.checksOf(name) {
		delete(unknown, check.Name)
		switch {
		case slices.Contains(excluded, check.Name):
			fmt.Fprintf(&b, "[+]%s excluded: ok\n", check.Name)
		case check.Healthy(c.req.Context()) != nil:
			failed = true
			fmt.Fprintf(&b, "[-]%s failed: reason withheld\n", check.Name)
		default:
			fmt.Fprintf(&b, "[+]%s ok\n", check.Name)
		}
	}
	if names := slices.Sorted(maps.Keys(unknown)); len(names) > 0 {
		for i, name := range names {
			names[i] = strconv.Quote(name)
		}
		fmt.Fprintf(&b, "warn: some health checks cannot be excluded: no matches for %s\n", strings.Join(names, ","))
	}
	switch {
	case failed:
		c.text(http.StatusInternalServerError, b.String()+name+" check failed\n")
	case c.params().Has("verbose"):
		c.text(http.StatusOK, b.String()+name+" check passed\n")
	default:
		c.text(http.StatusOK, "ok")
	}
}

// healthCheck answers one check of a health path, such as /livez/ping. The answer says why the
// check failed.
func (c *call) healthCheck(name, wanted string) {
	for _, check := range c.api.checksOf(name) {
		if check.Name != wanted {
			continue
		}
		if err := check.Healthy(c.req.Context()); err != nil {
			c.noSniff()
			c.text(http.StatusInternalServerError, fmt.Sprintf("internal server error: %v\n", err))
			return
		}
		c.text(http.StatusOK, "ok")
		return
	}
	c.unknownPath()
}

func isHealthPath(p string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	return name == "healthz" || name == "livez" || name == "readyz"
}

func (c *call) serverVersion() {
	if c.req.Method != http.MethodGet {
		c.fail(methodNotAllowed())
		return
	}
	if accept := c.header("Accept"); accept != "" && !strings.Contains(accept, typeJSON) && !strings.Contains(accept, "*/*") {
		c.fail(notAcceptableRoute(typeJSON))
		return
	}
	parts := strings.SplitN(strings.TrimPrefix(Version, "v"), ".", 3)
	c.indented(fmt.Appendf(nil, `{"major":%q,"minor":%q,"emulationMajor":%[1]q,"emulationMinor":%[2]q,`+
		`"minCompatibilityMajor":%[1]q,"minCompatibilityMinor":"36","gitVersion":%[3]q,`+
		`"gitCommit":"0000000000000000000000000000000000000000","gitTreeState":"clean","buildDate":"2026-01-01T00:00:00Z",`+
		`"goVersion":%q,"compiler":%q,"platform":"%s/%s"}`,
		parts[0], parts[1], Version, runtime.Version(), runtime.Compiler, runtime.GOOS, runtime.GOARCH))
}

// paths answers / with all paths outside group versions, for every method.
func (c *call) paths() {
	list := []string{"/apis", "/openapi/v2", "/openapi/v3", "/version"}
	for _, name := range []string{"healthz", "livez", "readyz"} {
		list = append(list, "/"+name)
		for _, check := range c.api.checksOf(name) {
			list = append(list, "/"+name+"/"+check.Name)
		}
	}
	for _, g := range c.served.groups {
		if g.name == "" {
			list = append(list, "/api")
		} else {
			list = append(list, "/apis/"+g.name)
		}
		for _, v := range g.versions {
			list = append(list, v.root)
		}
	}
	slices.Sort(list)
	c.indented(mustJSON(map[string]any{"paths": list}))
}

// unknownPath answers a path outside all groups.
func (c *call) unknownPath() {
	if isVerbAlone(c.req.URL.Path) {
		c.noResource()
		return
	}
	c.noSniff()
	c.text(http.StatusNotFound, "404 page not found\n")
}

// unknownResource answers a path below a group, or below /version.
func (c *call) unknownResource() {
	if isVerbAlone(c.req.URL.Path) {
		c.noResource()
		return
	}
	c.fail(notFound())
}

// noResource answers a path that isVerbAlone (upstream: endpoints/filters/requestinfo.go).
func (c *call) noResource() {
	c.noSniff()
	c.Header().Del("Cache-Control")
	uri := c.req.URL.RequestURI()
	c.text(http.StatusInternalServerError, escaped(fmt.Sprintf("Internal Server Error: %q: failed to create RequestInfo: unable to determine kind and namespace from url, %s\n", uri, uri)))
}

// noSniff makes browsers believe the media type of the answer.
func (c *call) noSniff() { c.setHeader("X-Content-Type-Options", "nosniff") }

func (c *call) text(code int, s string) { c.writeBytes(code, "text/plain; charset=utf-8", []byte(s)) }

// indented answers with JSON that is always indented.
func (c *call) indented(data []byte) { c.writeBytes(http.StatusOK, typeJSON, indented(data)) }
