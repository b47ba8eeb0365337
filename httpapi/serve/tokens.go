package serve

import (
	"log"
	"net/http"
	"strings"
	"sync/atomic"
)

// sayOnce passes requests on to h. When it answers 401 to a client of Kubernetes that has sent no token by plain HTTP, it logs the
// reason, once: kubectl does not say that it keeps the token of its kubeconfig to itself (upstream: client-go,
// tools/clientcmd/client_config.go, "only try to read the auth information if we are secure").
func sayOnce(h http.Handler, l *log.Logger) http.Handler {
	var said atomic.Bool
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if said.Load() || r.Header.Get("Authorization") != "" || !strings.Contains(r.UserAgent(), " kubernetes/") {
			h.ServeHTTP(w, r)
			return
		}
		seen := &statusWriter{ResponseWriter: w}
		h.ServeHTTP(seen, r)
		if seen.code == http.StatusUnauthorized && said.CompareAndSwap(false, true) {
			l.Printf("refused: %q, which sent no token: kubectl, and client-go with a kubeconfig, send tokens by HTTPS only", r.UserAgent())
		}
	})
}

// statusWriter keeps the code of an answer.
type statusWriter struct {
	http.ResponseWriter
	code int
}

// WriteHeader sends the header.
func (w *statusWriter) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
