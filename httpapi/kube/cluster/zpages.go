package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/yaml"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file serves /flagz and /statusz, as text or as an object of config.k8s.io/v1beta1 (upstream: apiserver, server/flagz and
// server/statusz). A kube-apiserver chooses what stands between a name and a value at random; here it is a colon and a space.

const zpagesHead = "\napiserver %s\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n"

// zpages adds the two paths, for users who may read them.
func (o Options) zpages(a *httpapi.API, opts *httpapi.Options) {
	started, outer := a.Store().Now(), opts.Middleware
	opts.Middleware = func(next http.Handler) http.Handler {
		pages := map[string]http.Handler{
			"/flagz":   a.Guard(page("Flagz", o.flagsText, func() map[string]any { return map[string]any{"flags": o.Flags} })),
			"/statusz": a.Guard(page("Statusz", func() string { return statusText(a, started) }, func() map[string]any { return statusOf(a, started) })),
		}
		inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if p := pages[r.URL.Path]; p != nil {
				p.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
		if outer != nil {
			return outer(inner)
		}
		return inner
	}
}

// page answers in the form that Accept asks for first.
func page(kind string, text func() string, object func() map[string]any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for accepted := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
			media, params, err := mime.ParseMediaType(accepted)
			structured := params["g"] == "config.k8s.io" && params["v"] == "v1beta1" && params["as"] == kind
			switch {
			case strings.TrimSpace(accepted) == "", err == nil && slices.Contains([]string{"*/*", "text/*", "text/plain"}, media):
				w.Header().Set("Content-Type", "text/plain; charset=utf-8")
				fmt.Fprintf(w, zpagesHead, strings.ToLower(kind))
				fmt.Fprint(w, text())
				return
			case err == nil && structured && (media == "application/json" || media == "application/yaml"):
				o := object()
				o["kind"], o["apiVersion"], o["metadata"] = kind, "config.k8s.io/v1beta1", map[string]any{"name": "apiserver"}
				data, _ := json.MarshalIndent(o, "", "  ") // strings and numbers
				if media == "application/yaml" {
					data, _ = yaml.JSONToYAML(data)
				}
				w.Header().Set("Content-Type", media)
				_, _ = w.Write(data)
				return
			}
		}
		status := meta.NewStatusError(http.StatusNotAcceptable, meta.ReasonNotAcceptable, nil,
			"only the following media types are accepted: application/json, application/yaml, text/plain").Status
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotAcceptable)
		_ = json.NewEncoder(w).Encode(status)
	})
}

func (o Options) flagsText() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(o.Flags)) {
		fmt.Fprintf(&b, "%s: %s\n", name, o.Flags[name])
	}
	return b.String()
}

// zpaths are the paths that a kube-apiserver lists.
func zpaths() []string {
	return []string{"/flagz", "/healthz", "/livez", "/metrics", "/readyz", "/statusz", "/version"}
}

func minor() string {
	v := version.MustParse(httpapi.Version)
	return fmt.Sprintf("%d.%d", v.Major(), v.Minor())
}

func statusOf(a *httpapi.API, started time.Time) map[string]any {
	return map[string]any{
		"startTime": started.UTC().Format(time.RFC3339), "uptimeSeconds": int64(a.Store().Now().Sub(started).Seconds()),
		"goVersion": runtime.Version(), "binaryVersion": minor(), "emulationVersion": minor(), "paths": zpaths(),
	}
}

func statusText(a *httpapi.API, started time.Time) string {
	up := int64(a.Store().Now().Sub(started).Seconds())
	return fmt.Sprintf("\nStarted: %s\nUp: %d hr %02d min %02d sec\nGo version: %s\nBinary version: %s\nEmulation version: %s\nPaths: %s\n",
		started.UTC().Format(time.UnixDate), up/3600, up/60%60, up%60, runtime.Version(), minor(), minor(), strings.Join(zpaths(), " "))
}
