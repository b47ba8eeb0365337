package serve

import (
	"context"
	"io"
	"net/http"

	"github.com/kubecoord/kubecoord/httpapi"
)

// Metrics returns a handler for /metrics: of the API, of the process, and what more writes, which may be nil. It authenticates
// and authorizes, and passes other requests on to h. api returns nil after its end.
func (l *Listener) Metrics(api func() *httpapi.API, more func(context.Context, io.Writer), h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			h.ServeHTTP(w, r)
			return
		}
		of := api()
		if of == nil {
			http.Error(w, "this server has ended", http.StatusServiceUnavailable)
			return
		}
		of.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			httpapi.Metrics(of).ServeHTTP(w, r)
			l.front.processText(w)
			if more != nil {
				more(r.Context(), w)
			}
		})).ServeHTTP(w, r)
	})
}
