package debug

import (
	"errors"
	"mime"
	"net/http"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/meta"
)

// forkView is a fork in an answer.
type forkView struct {
	Name            string `json:"name"`
	URL             string `json:"url"`
	ResourceVersion string `json:"resourceVersion"`
}

// viewFork returns a fork with its URL for the client of r. It returns nil for nil, and if the
// fork has ended.
func viewFork(w *fork, r *http.Request) *forkView {
	if w == nil {
		return nil
	}
	s := w.stage()
	if s == nil {
		return nil
	}
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	return &forkView{w.name, scheme + r.Host + w.path(), s.api.Store().ResourceVersion()}
}

func (c control) listForks(w http.ResponseWriter, r *http.Request) error {
	views := []*forkView{}
	for _, name := range c.srv.names() {
		if v := viewFork(c.srv.find(name), r); v != nil {
			views = append(views, v)
		}
	}
	return answer(w, http.StatusOK, map[string]any{"forks": views})
}

func (c control) getFork(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	if v := viewFork(c.srv.find(name), r); v != nil {
		return answer(w, http.StatusOK, v)
	}
	return notFound(noFork(name))
}

func (c control) addFork(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Name string `json:"name"`
	}
	if err := readOption(w, r, &body); err != nil {
		return err
	}
	other, err := c.srv.add(c.fork, body.Name)
	if err != nil {
		return refused(err)
	}
	v := viewFork(other, r)
	if v == nil {
		return refused(errClosed)
	}
	w.Header().Set("Location", other.path())
	return answer(w, http.StatusCreated, v)
}

// refused returns the error of a fork or a reset as a Status for clients.
func refused(err error) error {
	switch {
	case errors.Is(err, errClosed), errors.Is(err, store.ErrClosed):
		return problem(http.StatusServiceUnavailable, meta.ReasonServiceUnavailable, err)
	case errors.Is(err, errTaken):
		return problem(http.StatusConflict, meta.ReasonAlreadyExists, err)
	case errors.Is(err, errFull):
		return problem(http.StatusForbidden, meta.ReasonForbidden, err)
	}
	return bad(err)
}

func (c control) removeFork(w http.ResponseWriter, r *http.Request) error {
	if err := c.srv.remove(r.PathValue("name")); err != nil {
		return notFound(err)
	}
	return done(w)
}

func (c control) removeForks(w http.ResponseWriter, _ *http.Request) error {
	for _, name := range c.srv.names() {
		c.srv.remove(name) // fails only if another request removed it
	}
	return done(w)
}

// resetTo resets the server or fork to its first state, to the state of another one, or to a
// fixture.
func (c control) resetTo(w http.ResponseWriter, r *http.Request) error {
	to, own, err := c.resetState(w, r)
	if err != nil {
		return err
	}
	if own {
		defer to.Close()
	}
	if err := c.fork.reset(to); err != nil {
		return refused(err)
	}
	return answer(w, http.StatusOK, viewFork(c.fork, r))
}

// resetState returns the store to reset to, and whether the caller must close it.
func (c control) resetState(w http.ResponseWriter, r *http.Request) (st *store.Store, own bool, err error) {
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if mediaType == typeYAML || mediaType == typeTxtar {
		source, err := readFixture(w, r)
		if err != nil {
			return nil, false, err
		}
		c.srv.loading.Lock()
		defer c.srv.loading.Unlock()
		st := store.New(c.srv.options.Server.Store)
		if err := fixture.Load(r.Context(), st, fixture.Options{Kinds: c.srv.kinds()}, source); err != nil {
			st.Close()
			return nil, false, bad(err)
		}
		return st, true, nil
	}
	var body struct {
		To string `json:"to"`
	}
	if err := readOption(w, r, &body); err != nil || body.To == "" {
		return c.start, false, err
	}
	if other := c.srv.find(body.To); other != nil {
		if s := other.stage(); s != nil {
			return s.api.Store(), false, nil
		}
	}
	return nil, false, bad(noFork(body.To))
}
