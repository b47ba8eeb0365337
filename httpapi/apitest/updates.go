package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/watch"
)

// findLostUpdates finds writes without a resourceVersion that replaced a write which their client had not seen.
func (v *examiner) findLostUpdates() {
	for _, c := range v.changes {
		if w := v.writeOf(c); w != nil && w.blind && w.status.Load()/100 == 2 && c.Type() == watch.Modified {
			v.checkUpdate(w, c)
		}
	}
}

func (v *examiner) checkUpdate(w *write, made *change) {
	known := w.known
	if known < v.since || known >= made.Old.Version() {
		return
	}
	// The writer knows its own writes, answered or not.
	o := objectOf(made)
	unseen := v.upTo(o, made.Old.Version())[len(v.upTo(o, known)):]
	for n, c := range slices.Backward(unseen) {
		by := v.writeOf(c)
		if by == nil && c.by != nil {
			return // its writer is unknown: a client of another API
		}
		if by != nil && by.req.Client == w.req.Client && by.req.UserAgent == w.req.UserAgent {
			known, unseen = c.Version, unseen[n+1:]
			break
		}
	}
	before := v.stateAt(o, known)
	if len(unseen) == 0 || before == nil || before.UID() != made.New.UID() {
		return
	}
	if lost := overwritten(before, made.Old, made.New); len(lost) > 0 {
		v.out.LostUpdates = append(v.out.LostUpdates, Finding{
			fmt.Sprintf("%s %s by %s at %d, without a resourceVersion, overwrote an update that it had not seen: it knew %d and replaced %d: %s",
				w.req.Verb, o, w.sender(), made.Version, known, made.Old.Version(), strings.Join(lost, "; ")),
			v.excerpt(o, made.Version),
		})
	}
}

// stateAt returns an object at a version since Since, or nil if it did not exist. The object must have changed.
func (v *examiner) stateAt(o objectName, version uint64) *registry.Item {
	changes := v.upTo(o, version)
	if len(changes) == 0 {
		return v.byObject[o][0].Old
	}
	return changes[len(changes)-1].New
}

// overwritten lists the members that differ between known and old, and again between old and now.
func overwritten(known, old, now *registry.Item) (lost []string) {
	a, b, c := members(known), members(old), members(now)
	paths := maps.Clone(a)
	maps.Copy(paths, b)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if a[path] == b[path] || b[path] == c[path] {
			continue
		}
		then := "removed"
		if b[path] != "" {
			then = shown(b[path])
		}
		lost = append(lost, fmt.Sprintf("%s was %s, then %s, and is %s", path, shown(a[path]), then, shown(c[path])))
	}
	return lost
}

func shown(text string) string {
	const most = 60
	switch {
	case text == "":
		return "not there"
	case len(text) > most:
		return text[:most] + "…"
	}
	return text
}

// members returns the members that writers set, as JSON by their paths. A list is one member.
func members(it *registry.Item) map[string]string {
	out := map[string]string{}
	data, err := it.Encoded(0, kinds.JSON)
	if err != nil {
		return out
	}
	var walk func(path string, raw json.RawMessage)
	walk = func(path string, raw json.RawMessage) {
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil || object == nil {
			out[path] = string(raw)
			return
		}
		for name, member := range object {
			switch inner := strings.TrimPrefix(path+"."+name, "."); inner {
			case "metadata.managedFields", "metadata.resourceVersion", "metadata.generation":
			default:
				walk(inner, member)
			}
		}
	}
	walk("", data)
	return out
}
