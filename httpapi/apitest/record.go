package apitest

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/internal/skim"
	"github.com/kubecoord/kubecoord/internal/yaml"
	"github.com/kubecoord/kubecoord/watch"
)

// DefaultKeepHistory is the default of Options.KeepHistory.
const DefaultKeepHistory = 10_000

// record remembers, for Verify, which versions of the objects clients were told in
// answers and events. The store records its changes itself.
type record struct {
	limit int
	seed  maphash.Seed

	mu   sync.Mutex // guards all below
	last uint64     // origin
	told []told     // a ring of limit entries, once it is full
	next uint64     // how many there ever were
}

// told is one answer, or one event of a watch.
type told struct {
	call    *call
	what    news
	key     uint64 // of the object, 0 if unknown
	version uint64 // of the object, or of the list
}

// news is the kind of a told.
type news uint8

const (
	toldNothing news = iota // no answer, or one that is not 2xx
	toldAnswer              // 2xx
	toldObject              // an event of an object
	toldState               // a bookmark: the client has seen all there is
)

// call is a request. It does not change after it is part of a told.
type call struct {
	origin uint64 // of its changes
	began  uint64 // record.next when the API got it

	verb, group, resource, namespace, name string
	client, userAgent                      string
	query                                  url.Values
	dryRun                                 bool
	guarded                                bool // the body names the version that it is meant for

	status int // 0 if the client got no answer
}

// recordLimit returns how many entries Options.KeepHistory asks for.
func recordLimit(keep int) int {
	if keep == 0 {
		return DefaultKeepHistory
	}
	return max(keep, 0)
}

func newRecord(keep int) *record {
	// Origins must differ from those of other writers to the store.
	return &record{limit: recordLimit(keep), seed: maphash.MakeSeed(), last: rand.Uint64() << 32}
}

// begin returns the call of a request that is to be remembered, or nil.
func (rec *record) begin(r *Request, body []byte) *call {
	if rec.limit == 0 || r.Resource == "" {
		return nil
	}
	c := &call{
		verb: r.Verb, group: r.Group, resource: r.Resource, namespace: r.Namespace, name: r.Name,
		client: r.Client, userAgent: r.UserAgent, query: r.Query, dryRun: len(r.Query["dryRun"]) > 0,
	}
	switch c.verb {
	case "update", "patch", "apply":
		head, _ := skimObject(body, strings.HasSuffix(r.ContentType, "yaml"), true)
		c.guarded = head.ResourceVersion != 0 || bytes.Contains(body, []byte(`"/metadata/resourceVersion"`))
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.last++
	c.origin = rec.last
	return c
}

// handOn notes that the API gets a call.
func (rec *record) handOn(c *call) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	c.began = rec.next
}

// key returns the hash that stands for an object in a told.
func (rec *record) key(group, resource, namespace, name string) uint64 {
	if name == "" {
		return 0
	}
	return maphash.Comparable(rec.seed, [4]string{group, resource, namespace, name})
}

func (rec *record) addLocked(t told) {
	if len(rec.told) < rec.limit {
		rec.told = append(rec.told, t)
	} else {
		rec.told[rec.next%uint64(rec.limit)] = t
	}
	rec.next++
}

// all returns the entries in their order, and how many came before them.
func (rec *record) all() (out []told, before uint64) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	before = rec.next - uint64(len(rec.told))
	if before == 0 {
		return slices.Clone(rec.told), 0
	}
	first := rec.next % uint64(rec.limit)
	return slices.Concat(rec.told[first:], rec.told[:first]), before
}

// answered notes the answer to a call, before the client gets it. The code is 0 if
// there is none.
func (rec *record) answered(c *call, code int, head skim.Head) {
	t := told{call: c, what: toldNothing, version: head.ResourceVersion}
	if code >= 200 && code < 300 {
		t.what = toldAnswer
		t.key = rec.key(c.group, c.resource, c.namespace, cmp.Or(head.Name, c.name))
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	c.status = code
	rec.addLocked(t)
}

// opened notes that the answer to a watch begins.
func (rec *record) opened(c *call) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	c.status = http.StatusOK
}

// event notes an event of a watch, before the client gets it.
func (rec *record) event(c *call, head skim.Head) {
	t := told{call: c, version: head.ResourceVersion, key: rec.key(c.group, c.resource, head.Namespace, head.Name)}
	switch watch.EventType(head.Type) {
	case watch.Added, watch.Modified, watch.Deleted:
		t.what = toldObject
	case watch.Bookmark:
		t.what = toldState
	default:
		return
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.addLocked(t)
}

// skimmed is how much of an answer is looked at: enough for what stands before the
// resourceVersion in its metadata.
const skimmed = 4 << 10

// typeYAML is the media type of bodies and answers in YAML.
const typeYAML = "application/yaml"

// skimObject returns the head of a document of which data is the beginning, and
// false if more of it is needed.
func skimObject(data []byte, isYAML, whole bool) (skim.Head, bool) {
	if isYAML {
		if !whole {
			return skim.Head{}, false
		}
		data, _, _ = yaml.ToJSON(data)
	}
	h := skim.Object(data)
	return h, whole || h.Enough() || len(data) >= skimmed
}
