package apitest

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/internal/skim"
	"github.com/kubecoord/kubecoord/internal/yaml"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// DefaultKeepHistory is the default of Options.KeepHistory.
const DefaultKeepHistory = 10_000

// record is what clients were told, for Verify: answers, and the events of
// watches. What the store did is recorded by the store.
type record struct {
	limit int
	seed  maphash.Seed

	mu   sync.Mutex // guards all below
	last uint64     // origin
	told []told     // a ring of limit entries, once it is full
	next uint64     // how many there ever were
}

// told is one thing that a client was told.
type told struct {
	call    *call
	what    news
	key     uint64 // of the object, 0 where it does not say
	version uint64 // of the object, or of the list
}

// news is what kind of thing a client was told.
type news uint8

const (
	toldNothing  news = iota // the request was carried out, and has no answer
	toldAnswer               // 2xx
	toldNotFound             // 404, of the object
	toldRefusal              // another answer
	toldAdded
	toldModified
	toldDeleted
	toldBookmark
	toldInitialEnd
	toldError
)

// call is a request as it is remembered for Verify. It does not change any more
// once it is part of a told.
type call struct {
	origin uint64 // of its changes
	began  uint64 // record.next when it was handed to the API
	// floor and ceiling are the versions of the store when it was handed to the
	// API, and when it was answered.
	floor, ceiling uint64

	verb, group, version, resource, namespace, name string
	client, userAgent, contentType                  string
	query                                           url.Values
	subresource                                     bool // it is about a part of the object
	dryRun                                          bool
	stale                                           bool   // a fault has it answered with an older state
	base                                            uint64 // the resourceVersion in the body
	guarded                                         bool   // the body names the version that it is meant for

	status  int // 0 where the client does not know
	answer  skim.Head
	altered bool // the answer has other content than the version it tells of

	// Of a watch, guarded by record.mu: what the ring no longer holds, up to
	// which version, and whether that goes beyond the initial events.
	forgot      bool
	forgotUpTo  uint64
	pastInitial bool
}

// recordLimit returns how many entries Options.KeepHistory asks for.
func recordLimit(keep int) int {
	if keep == 0 {
		return DefaultKeepHistory
	}
	return max(keep, 0)
}

func newRecord(keep int) *record {
	// Origins are to differ from those of whatever else wrote to the store.
	return &record{limit: recordLimit(keep), seed: maphash.MakeSeed(), last: rand.Uint64() << 32}
}

// begin returns the call of a request to a resource that is to be remembered, or
// nil.
func (rec *record) begin(r *Request, body []byte) *call {
	if rec.limit == 0 || r.Resource == "" {
		return nil
	}
	c := &call{
		verb: r.Verb, group: r.Group, version: r.Version, resource: r.Resource, namespace: r.Namespace, name: r.Name,
		client: r.Client, userAgent: r.UserAgent, contentType: r.ContentType, query: r.Query,
	}
	c.dryRun = len(r.Query["dryRun"]) > 0 || strings.HasPrefix(r.Verb, "delete") && triesOnly(body)
	c.subresource = c.name != "" && r.Verb != "create" && !strings.HasSuffix(strings.TrimSuffix(r.Path, "/"), "/"+c.name)
	switch c.verb {
	case "update", "patch", "apply":
		head, _ := skimObject(body, strings.HasSuffix(c.contentType, "yaml"), true)
		c.base = head.ResourceVersion
		c.guarded = c.base != 0 || bytes.Contains(body, []byte(`"/metadata/resourceVersion"`))
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.last++
	c.origin = rec.last
	return c
}

// triesOnly reports whether the body of a deletion has dryRun: All.
func triesOnly(body []byte) bool {
	return bytes.Contains(body, []byte("All")) && (bytes.Contains(body, []byte("dryRun")) || bytes.HasPrefix(body, []byte("k8s\x00")))
}

// handOn notes that a call is handed to the API, whose store is at a version.
func (rec *record) handOn(c *call, version uint64) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	c.began, c.floor = rec.next, version
}

// mutates reports whether the call is one that changes something.
func (c *call) mutates() bool {
	switch c.verb {
	case "create", "update", "patch", "apply", "delete", "deletecollection":
		return true
	}
	return false
}

// key returns what an object is known by in a told.
func (rec *record) key(group, resource, namespace, name string) uint64 {
	if name == "" {
		return 0
	}
	return maphash.Comparable(rec.seed, [4]string{group, resource, namespace, name})
}

// addLocked takes in one thing that a client was told.
func (rec *record) addLocked(t told) {
	if len(rec.told) < rec.limit {
		rec.told = append(rec.told, t)
	} else {
		at := &rec.told[rec.next%uint64(rec.limit)]
		at.call.forget(*at)
		*at = t
	}
	rec.next++
}

// forget notes what the record no longer holds of a watch.
func (c *call) forget(t told) {
	if c.verb != "watch" {
		return
	}
	c.forgot = true
	c.pastInitial = c.pastInitial || t.what == toldInitialEnd || !c.startsWithState()
	c.forgotUpTo = t.version
}

// all returns what there is, in its order, and how many there were before. What it
// returns does not change any more.
func (rec *record) all() (out []told, before uint64) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if rec.next > uint64(len(rec.told)) {
		before = rec.next - uint64(len(rec.told))
		first := rec.next % uint64(rec.limit)
		out = append(out, rec.told[first:]...)
		out = append(out, rec.told[:first]...)
	} else {
		out = append(out, rec.told...)
	}
	watches := map[*call]*call{}
	for i, t := range out {
		if t.call.verb != "watch" {
			continue
		}
		if watches[t.call] == nil {
			watch := *t.call
			watches[t.call] = &watch
		}
		out[i].call = watches[t.call]
	}
	return out, before
}

// answered notes how a call was answered, before its client can know.
func (rec *record) answered(c *call, code int, head skim.Head, altered bool, version uint64) {
	t := told{call: c, what: toldRefusal, version: head.ResourceVersion}
	switch {
	case code >= 200 && code < 300:
		t.what = toldAnswer
		t.key = rec.key(c.group, c.resource, c.namespace, cmp.Or(head.Name, c.name))
	case code == http.StatusNotFound && c.name != "" && head.Name == c.name:
		t.what = toldNotFound
		t.key = rec.key(c.group, c.resource, c.namespace, c.name)
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	c.status, c.answer, c.altered, c.ceiling = code, head, altered, version
	rec.addLocked(t)
}

// unanswered notes that a call was carried out, and that its client does not know.
func (rec *record) unanswered(c *call, version uint64) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	c.ceiling = version
	rec.addLocked(told{call: c, what: toldNothing})
}

// opened notes that the answer to a watch begins.
func (rec *record) opened(c *call, version uint64) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	c.status, c.ceiling = http.StatusOK, version
}

// event notes an event of a watch, before its client can know.
func (rec *record) event(c *call, head skim.Head) {
	t := told{call: c, version: head.ResourceVersion}
	switch watch.EventType(head.Type) {
	case watch.Added:
		t.what = toldAdded
	case watch.Modified:
		t.what = toldModified
	case watch.Deleted:
		t.what = toldDeleted
	case watch.Bookmark:
		if t.what = toldBookmark; head.InitialEnd {
			t.what = toldInitialEnd
		}
	default:
		t.what = toldError
	}
	t.key = rec.key(c.group, c.resource, head.Namespace, head.Name)
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.addLocked(t)
}

// skimmed is as much of an answer as is looked at: enough for what stands before
// the resourceVersion in its metadata.
const skimmed = 4 << 10

// typeYAML is the media type of bodies and answers in YAML.
const typeYAML = "application/yaml"

// skimObject returns what a document is about, given what there is of it, and
// false where more of it is needed.
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

// groupResource names the resource of the call.
func (c *call) groupResource() meta.GroupResource {
	return meta.GroupResource{Group: c.group, Resource: c.resource}
}
