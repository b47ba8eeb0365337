package consistency

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// history is the recorded changes of the store, indexed.
type history struct {
	registry.Recorded
	served    []*registry.Resource
	resources map[meta.GroupResource]*registry.Resource
	calls     map[uint64]*call // by origin

	byOrigin   map[uint64][]int             // indices of Changes, by the request that made them
	byResource map[*registry.Resource][]int // and by other keys
	byObject   map[objectKey][]int
	base       map[objectKey]*registry.Item // the objects before the first change
	now        map[objectKey]*registry.Item
	keys       map[*registry.Resource][]objectKey // of all objects that ever existed
}

// objectKey names an object.
type objectKey struct {
	resource        *registry.Resource
	namespace, name string
}

func keyOf(r *registry.Resource, it *registry.Item) objectKey {
	return objectKey{r, it.Namespace(), it.Name()}
}

// String returns the key as requests show it, such as "leases default/a".
func (k objectKey) String() string {
	return k.resource.Info().Plural + " " + objectPath(k.namespace, k.name)
}

// objectPath returns namespace/name, or just the name. An empty name becomes "*".
func objectPath(namespace, name string) string {
	return strings.TrimPrefix(namespace+"/"+cmp.Or(name, "*"), "/")
}

func newHistory(rec registry.Recorded, resources []*registry.Resource, log []observation) *history {
	h := &history{
		Recorded: rec, served: resources, resources: map[meta.GroupResource]*registry.Resource{}, calls: map[uint64]*call{},
		byOrigin: map[uint64][]int{}, byResource: map[*registry.Resource][]int{}, byObject: map[objectKey][]int{},
		base: map[objectKey]*registry.Item{}, now: map[objectKey]*registry.Item{},
		keys: map[*registry.Resource][]objectKey{},
	}
	for _, r := range resources {
		info := r.Info()
		h.resources[meta.GroupResource{Group: info.Group, Resource: info.Plural}] = r
	}
	for _, t := range log {
		h.calls[t.call.origin] = t.call
	}
	for _, s := range rec.Now {
		k := keyOf(s.Resource, s.Item)
		h.now[k], h.base[k] = s.Item, s.Item
		h.keys[s.Resource] = append(h.keys[s.Resource], k)
	}
	for i, c := range rec.Changes {
		k := keyOf(c.Resource, c.New)
		if h.byObject[k] == nil {
			if h.now[k] == nil {
				h.keys[c.Resource] = append(h.keys[c.Resource], k)
			}
			h.base[k] = c.Old
		}
		h.byObject[k] = append(h.byObject[k], i)
		h.byResource[c.Resource] = append(h.byResource[c.Resource], i)
		if c.Origin != 0 {
			h.byOrigin[c.Origin] = append(h.byOrigin[c.Origin], i)
		}
	}
	return h
}

// after returns how many of the changes, given by their indices in order, are at or below a version.
func (h *history) after(changes []int, version uint64) int {
	n, _ := slices.BinarySearchFunc(changes, version+1, func(i int, v uint64) int { return cmp.Compare(h.Changes[i].Version, v) })
	return n
}

// change returns the change of a version, or nil.
func (h *history) change(version uint64) *registry.RecordedChange {
	i, found := slices.BinarySearchFunc(h.Changes, version, func(c registry.RecordedChange, v uint64) int { return cmp.Compare(c.Version, v) })
	if !found {
		return nil
	}
	return &h.Changes[i]
}

// stateAt returns the state of an object at a version, or nil.
func (h *history) stateAt(k objectKey, version uint64) *registry.Item {
	n := h.after(h.byObject[k], version)
	if n == 0 {
		return h.base[k]
	}
	if c := h.Changes[h.byObject[k][n-1]]; c.Type != watch.Deleted {
		return c.New
	}
	return nil
}

// hadVersion reports whether the object was at a version while the store was between floor and ceiling. Version 0 asks
// whether the object did not exist.
func (h *history) hadVersion(k objectKey, version, floor, ceiling uint64) bool {
	changes := h.byObject[k]
	if version != 0 {
		n := h.after(changes, version)
		return versionOf(h.stateAt(k, version)) == version && version <= ceiling &&
			(n == len(changes) || h.Changes[changes[n]].Version > floor)
	}
	return h.stateAt(k, floor) == nil || slices.ContainsFunc(changes[h.after(changes, floor):h.after(changes, ceiling)],
		func(i int) bool { return h.Changes[i].Type == watch.Deleted })
}

// excerptLines is how many changes an excerpt shows.
const excerptLines = 8

// excerpt returns the last changes of an object up to a version as text.
func (h *history) excerpt(k objectKey, upTo uint64) (lines []string) {
	changes := h.byObject[k]
	n := h.after(changes, upTo)
	first := max(0, n-excerptLines)
	if first > 0 {
		lines = append(lines, "…")
	}
	for _, i := range changes[first:n] {
		lines = append(lines, h.line(&h.Changes[i]))
	}
	if len(lines) == 0 {
		lines = append(lines, "no change of "+k.String())
	}
	return lines
}

// line returns a change as text.
func (h *history) line(c *registry.RecordedChange) string {
	by := "through the Store"
	if c.Origin != 0 {
		by = "by a request"
		if made := h.calls[c.Origin]; made != nil {
			by = "by " + made.String()
		}
	}
	text := fmt.Sprintf("%d %s %s %s", c.Version, c.Type, keyOf(c.Resource, c.New), by)
	if !c.At.IsZero() && len(h.Changes) > 0 {
		text = fmt.Sprintf("%10s  ", c.At.Sub(h.Changes[0].At).Round(time.Microsecond)) + text
	}
	return text
}

// String returns the verb, the client and the status.
func (c *call) String() string {
	outcome := "no answer"
	if c.status != 0 {
		outcome = strconv.Itoa(c.status)
	}
	return c.verb + " from " + c.clientName() + ", " + outcome
}

// clientName returns the client's name, or its User-Agent.
func (c *call) clientName() string {
	switch agent, _, _ := strings.Cut(c.userAgent, " "); {
	case c.client != "":
		return fmt.Sprintf("client %q", c.client)
	case agent != "":
		return fmt.Sprintf("%q", agent)
	}
	return "a client"
}
