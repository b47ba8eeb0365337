// Package verdict finds mistakes of clients in the recorded changes of a store: two holders of
// one Lease at the same time, and updates that were lost.
package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/watch"
)

// Verdict is the result of Examine. Package apitest documents it.
type Verdict struct {
	TwoHolders, LostUpdates []Finding
	Limits                  []string
}

// Finding is one mistake of a client, in one line, with the changes that led to it.
type Finding struct {
	Text    string
	Excerpt []string
}

// Examine examines the recorded changes of a store and the requests that made them.
func (rec *Recorder) Examine(st *registry.Store) Verdict {
	v := examiner{leases: st.Resource(lease.Kind().Registered()), byObject: map[object][]int{}}
	var complete bool
	v.writes, complete = rec.all() // before the changes, which then include the changes of all writes
	v.Recorded = st.Recorded()
	for i, c := range v.Changes {
		o := objectOf(c.Resource, c.New)
		v.byObject[o] = append(v.byObject[o], i)
	}
	switch {
	case rec.limit == 0:
		v.out.Limits = append(v.out.Limits, "nothing was kept: Options.KeepHistory is negative")
	case !v.Complete:
		v.out.Limits = append(v.out.Limits, fmt.Sprintf("the store had more changes than KeepHistory: examined the last %d", len(v.Changes)))
	}
	if !complete {
		v.out.Limits = append(v.out.Limits, "clients sent more writes, or saw more objects, than KeepHistory: examined the last ones")
	}
	v.findTwoHolders()
	v.findLostUpdates()
	return v.out
}

// examiner collects findings.
type examiner struct {
	registry.Recorded
	leases   *registry.Resource
	writes   map[uint64]Write // by origin
	byObject map[object][]int // indices of Changes
	out      Verdict
}

// object names an object.
type object struct {
	resource        *registry.Resource
	namespace, name string
}

func objectOf(r *registry.Resource, it *registry.Item) object {
	return object{r, it.Namespace(), it.Name()}
}

// path returns the namespace and the name.
func (o object) path() string {
	if o.namespace == "" {
		return o.name
	}
	return o.namespace + "/" + o.name
}

// String returns the resource and the path.
func (o object) String() string { return o.resource.Info().Plural + " " + o.path() }

// upTo returns the indices of the changes of an object up to and including a version.
func (v *examiner) upTo(o object, version uint64) []int {
	changes := v.byObject[o]
	n, _ := slices.BinarySearchFunc(changes, version+1, func(i int, version uint64) int { return cmp.Compare(v.Changes[i].Version, version) })
	return changes[:n]
}

// excerptLines is how many changes an excerpt shows.
const excerptLines = 8

// excerpt shows the last changes of an object up to a version.
func (v *examiner) excerpt(o object, version uint64) (lines []string) {
	changes := v.upTo(o, version)
	first := max(0, len(changes)-excerptLines)
	if first > 0 || !v.Complete {
		lines = append(lines, "…")
	}
	for _, i := range changes[first:] {
		c := &v.Changes[i]
		by := "through the Store"
		if w, known := v.writes[c.Origin]; known {
			by = "by " + w.String()
		} else if c.Origin != 0 {
			by = "by a request"
		}
		at := c.At.Sub(v.Changes[0].At).Round(time.Microsecond)
		if o.resource == v.leases && c.Type != watch.Deleted {
			by += ", " + holder(leaseAfter(c))
		}
		lines = append(lines, fmt.Sprintf("%10s  %d %s %s %s", at, c.Version, c.Type, o, by))
	}
	return lines
}
