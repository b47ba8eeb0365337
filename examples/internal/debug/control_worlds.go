package debug

import (
	"errors"
	"mime"
	"net/http"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/meta"
)

// worldView is a world in an answer.
type worldView struct {
	Name            string `json:"name"`
	URL             string `json:"url"`
	ResourceVersion string `json:"resourceVersion"`
}

// viewWorld returns a world with its URL for the client of r. It returns nil for nil, and if the
// world has ended.
func viewWorld(w *world, r *http.Request) *worldView {
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
	return &worldView{w.name, scheme + r.Host + w.path(), s.api.Store().ResourceVersion()}
}

func (c control) listWorlds(w http.ResponseWriter, r *http.Request) error {
	views := []*worldView{}
	for _, name := range c.ws.names() {
		if v := viewWorld(c.ws.find(name), r); v != nil {
			views = append(views, v)
		}
	}
	return answer(w, http.StatusOK, map[string]any{"worlds": views})
}

func (c control) getWorld(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	if v := viewWorld(c.ws.find(name), r); v != nil {
		return answer(w, http.StatusOK, v)
	}
	return notFound(noWorld(name))
}

func (c control) fork(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Name string `json:"name"`
	}
	if err := readOption(w, r, &body); err != nil {
		return err
	}
	other, err := c.ws.fork(c.world, body.Name)
	if err != nil {
		return refused(err)
	}
	v := viewWorld(other, r)
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

func (c control) removeWorld(w http.ResponseWriter, r *http.Request) error {
	if err := c.ws.remove(r.PathValue("name")); err != nil {
		return notFound(err)
	}
	return done(w)
}

func (c control) removeWorlds(w http.ResponseWriter, _ *http.Request) error {
	for _, name := range c.ws.names() {
		c.ws.remove(name) // fails only if another request removed it
	}
	return done(w)
}

// resetTo resets the world to its first state, to the state of another world, or to a
// fixture.
func (c control) resetTo(w http.ResponseWriter, r *http.Request) error {
	to, own, err := c.resetState(w, r)
	if err != nil {
		return err
	}
	if own {
		defer to.Close()
	}
	if err := c.world.reset(to); err != nil {
		return refused(err)
	}
	return answer(w, http.StatusOK, viewWorld(c.world, r))
}

// resetState returns the store to reset to, and whether the caller must close it.
func (c control) resetState(w http.ResponseWriter, r *http.Request) (st *store.Store, own bool, err error) {
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if mediaType == typeYAML || mediaType == typeTxtar {
		source, err := readFixture(w, r)
		if err != nil {
			return nil, false, err
		}
		c.ws.loading.Lock()
		defer c.ws.loading.Unlock()
		st := store.New(c.ws.empty)
		if err := fixture.Load(r.Context(), st, fixture.Options{Kinds: append(httpapi.Kinds(), c.ws.options.API.Kinds...)}, source); err != nil {
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
	if other := c.ws.find(body.To); other != nil {
		if s := other.stage(); s != nil {
			return s.api.Store(), false, nil
		}
	}
	return nil, false, bad(noWorld(body.To))
}
