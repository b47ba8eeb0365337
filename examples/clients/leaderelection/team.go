package main

import "fmt"

// team is a set of electors with names. An elector that is started again has the same
// name and a new identity. Only one goroutine may use a team.
type team struct {
	srv    *server
	ref    *referee
	opts   electorOptions
	starts map[string]int      // by name
	byID   map[string]*elector // the running electors, by identity
}

// newTeam starts electors named elector-1 to elector-n.
func newTeam(srv *server, ref *referee, n int, opts electorOptions) (*team, error) {
	t := &team{srv: srv, ref: ref, opts: opts, starts: map[string]int{}, byID: map[string]*elector{}}
	for i := range n {
		if err := t.start(fmt.Sprintf("elector-%d", i+1)); err != nil {
			t.stopAll()
			return nil, err
		}
	}
	return t, nil
}

// start starts the elector of a name with a new identity.
func (t *team) start(name string) error {
	identity := fmt.Sprintf("%s_%d", name, t.starts[name]+1)
	e, err := startElector(t.srv.api.Transport(), t.ref, identity, t.opts)
	if err != nil {
		return err
	}
	t.starts[name]++
	t.byID[identity] = e
	return nil
}

// stop stops the elector of an identity.
func (t *team) stop(identity string) {
	t.byID[identity].stop()
	delete(t.byID, identity)
}

func (t *team) stopAll() {
	for identity := range t.byID {
		t.stop(identity)
	}
}
