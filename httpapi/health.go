package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"sort"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
)

// The Kubernetes version of /version, whose behaviour is implemented.
const (
	serverMajor      = "1"
	serverMinor      = "37"
	serverGitVersion = "v1.37.2"
)

// checks are the names of the health checks, which always pass.
var checks = []string{"ping", "log"}

// health answers /healthz, /livez and /readyz. Query: verbose, exclude.
func (c *call) health(name string) {
	h := c.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if !c.params().Has("verbose") {
		c.text(http.StatusOK, "ok")
		return
	}
	excluded := c.params()["exclude"]
	var b strings.Builder
	for _, check := range checks {
		if slices.Contains(excluded, check) {
			fmt.Fprintf(&b, "[+]%s excluded: ok\n", check)
		} else {
			fmt.Fprintf(&b, "[+]%s ok\n", check)
		}
	}
	fmt.Fprintf(&b, "%s check passed\n", name)
	c.text(http.StatusOK, b.String())
}

// healthCheck answers /healthz/{check}, /livez/{check} and /readyz/{check}.
func (c *call) healthCheck(name string) {
	if !slices.Contains(checks, name) {
		c.unknownPath()
		return
	}
	c.text(http.StatusOK, "ok")
}

func isHealthPath(p string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	return name == "healthz" || name == "livez" || name == "readyz"
}

// serverVersion answers /version.
func (c *call) serverVersion() {
	if c.req.Method != http.MethodGet {
		c.fail(methodNotAllowed())
		return
	}
	if accept := c.req.Header.Get("Accept"); accept != "" && !strings.Contains(accept, typeJSON) && !strings.Contains(accept, "*/*") {
		c.fail(meta.NewStatusError(http.StatusNotAcceptable, meta.ReasonNotAcceptable, &meta.StatusDetails{},
			"406: Not Acceptable\n\nAvailable representations: "+typeJSON))
		return
	}
	doc := struct {
		Major                 string `json:"major"`
		Minor                 string `json:"minor"`
		EmulationMajor        string `json:"emulationMajor"`
		EmulationMinor        string `json:"emulationMinor"`
		MinCompatibilityMajor string `json:"minCompatibilityMajor"`
		MinCompatibilityMinor string `json:"minCompatibilityMinor"`
		GitVersion            string `json:"gitVersion"`
		GitCommit             string `json:"gitCommit"`
		GitTreeState          string `json:"gitTreeState"`
		BuildDate             string `json:"buildDate"`
		GoVersion             string `json:"goVersion"`
		Compiler              string `json:"compiler"`
		Platform              string `json:"platform"`
	}{
		serverMajor, serverMinor, serverMajor, serverMinor, serverMajor, "36", serverGitVersion,
		"0000000000000000000000000000000000000000", "clean", "2026-01-01T00:00:00Z",
		runtime.Version(), runtime.Compiler, runtime.GOOS + "/" + runtime.GOARCH,
	}
	c.indented(doc)
}

// paths answers / with all paths outside group versions, for every method.
func (c *call) paths() {
	list := []string{"/apis", "/openapi/v2", "/openapi/v3", "/version"}
	for _, name := range []string{"healthz", "livez", "readyz"} {
		list = append(list, "/"+name)
		for _, check := range checks {
			list = append(list, "/"+name+"/"+check)
		}
	}
	for _, g := range c.api.groups {
		if g.name == "" {
			list = append(list, "/api")
		} else {
			list = append(list, "/apis/"+g.name)
		}
		for _, v := range g.versions {
			list = append(list, v.root)
		}
	}
	sort.Strings(list)
	c.indented(struct {
		Paths []string `json:"paths"`
	}{list})
}

// unknownPath answers a path outside all groups.
func (c *call) unknownPath() {
	c.Header().Set("X-Content-Type-Options", "nosniff")
	c.text(http.StatusNotFound, "404 page not found\n")
}

func (c *call) text(code int, s string) { c.writeBytes(code, "text/plain; charset=utf-8", []byte(s)) }

// indented answers with a document that is always indented.
func (c *call) indented(doc any) {
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		c.fail(err)
		return
	}
	c.writeBytes(http.StatusOK, typeJSON, data)
}
