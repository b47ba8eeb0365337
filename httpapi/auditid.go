package httpapi

import (
	"encoding/binary"
	"math/rand/v2"
	"net/http"
	"sync"

	"github.com/kubecoord/kubecoord/internal/derive"
)

// auditIDs makes up the Audit-Id of answers: random, or with a seed from what is
// asked for and how often that was before.
type auditIDs struct {
	seed uint64

	mu   sync.Mutex // guards seen
	seen map[uint64]uint64
}

// next returns a UUID, version 4. It is no secret, so the fast generator will do.
func (a *auditIDs) next(r *http.Request) string {
	var b [16]byte
	if a.seed != 0 {
		return derive.From(a.seed, "audit", r.Method, r.URL.RequestURI(), string(binary.BigEndian.AppendUint64(b[:0], a.count(r)))).UUID()
	}
	binary.LittleEndian.PutUint64(b[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(b[8:], rand.Uint64())
	return derive.UUID(b)
}

// count returns how many such requests there were before.
func (a *auditIDs) count(r *http.Request) uint64 {
	what := derive.From(a.seed, r.Method, r.URL.RequestURI()).Uint64()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seen == nil {
		a.seen = map[uint64]uint64{}
	}
	a.seen[what]++
	return a.seen[what]
}
