package apitest

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

// history is the past of the store, for Verify.
type history struct {
	registry.Recorded
	resources map[meta.GroupResource]*registry.Resource
	calls     map[uint64]*call // by origin

	// indices of Changes
	byOrigin   map[uint64][]int // by the request that made them
	byResource map[*registry.Resource][]int
	byObject   map[objectKey][]int
}

// objectKey names an object.
type objectKey struct {
	resource        *registry.Resource
	namespace, name string
}

func keyOf(r *registry.Resource, it *registry.Item) objectKey {
	return objectKey{r, it.Namespace(), it.Name()}
}

// String returns the object as Request.String does.
func (k objectKey) String() string {
	return k.resource.Info().Plural + " " + objectPath(k.namespace, k.name)
}

func newHistory(rec registry.Recorded, resources []*registry.Resource, log []observation) *history {
	h := &history{
		Recorded: rec, resources: map[meta.GroupResource]*registry.Resource{}, calls: map[uint64]*call{},
		byOrigin: map[uint64][]int{}, byResource: map[*registry.Resource][]int{}, byObject: map[objectKey][]int{},
	}
	for _, r := range resources {
		info := r.Info()
		h.resources[meta.GroupResource{Group: info.Group, Resource: info.Plural}] = r
	}
	for _, t := range log {
		h.calls[t.call.origin] = t.call
	}
	for i, c := range rec.Changes {
		k := keyOf(c.Resource, c.New)
		h.byObject[k] = append(h.byObject[k], i)
		h.byResource[c.Resource] = append(h.byResource[c.Resource], i)
		if c.Origin != 0 {
			h.byOrigin[c.Origin] = append(h.byOrigin[c.Origin], i)
		}
	}
	return h
}

// after returns how many of the changes, given by their indices, have a version up to
// and including version.
func (h *history) after(changes []int, version uint64) int {
	n, _ := slices.BinarySearchFunc(changes, version+1, func(i int, v uint64) int { return cmp.Compare(h.Changes[i].Version, v) })
	return n
}

// stateAt returns an object at a version, or nil if it did not exist. The object must
// have changed, and the version must not be before Since.
func (h *history) stateAt(k objectKey, version uint64) *registry.Item {
	changes := h.byObject[k]
	n := h.after(changes, version)
	if n == 0 {
		return h.Changes[changes[0]].Old
	}
	if c := h.Changes[changes[n-1]]; c.Type != watch.Deleted {
		return c.New
	}
	return nil
}

// excerptLines is how many changes an excerpt shows.
const excerptLines = 8

// excerpt shows the last changes of an object up to a version.
func (h *history) excerpt(k objectKey, upTo uint64) (lines []string) {
	changes := h.byObject[k]
	n := h.after(changes, upTo)
	first := max(0, n-excerptLines)
	if first > 0 || !h.Complete {
		lines = append(lines, "…")
	}
	for _, i := range changes[first:n] {
		lines = append(lines, h.line(&h.Changes[i]))
	}
	return lines
}

// line shows a change.
func (h *history) line(c *registry.RecordedChange) string {
	by := "through the Store"
	if c.Origin != 0 {
		by = "by a request"
		if made := h.calls[c.Origin]; made != nil {
			by = "by " + made.String()
		}
	}
	text := fmt.Sprintf("%d %s %s %s", c.Version, c.Type, keyOf(c.Resource, c.New), by)
	if !c.At.IsZero() {
		text = fmt.Sprintf("%10s  ", round(c.At.Sub(h.Changes[0].At))) + text
	}
	return text
}

// round drops the insignificant digits of a duration.
func round(d time.Duration) time.Duration {
	if d > time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Microsecond)
}

// String returns the verb, the client and the outcome.
func (c *call) String() string {
	outcome := "no answer"
	if c.status != 0 {
		outcome = strconv.Itoa(c.status)
	}
	return c.verb + " of " + c.sender() + ", " + outcome
}

// sender returns the name of the client, or its User-Agent.
func (c *call) sender() string {
	switch agent, _, _ := strings.Cut(c.userAgent, " "); {
	case c.client != "":
		return fmt.Sprintf("client %q", c.client)
	case agent != "":
		return fmt.Sprintf("%q", agent)
	}
	return "a client"
}
