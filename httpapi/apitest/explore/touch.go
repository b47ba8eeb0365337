package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/codec"
)

// touch is what another client has added to an object just before a request of a controller.
type touch struct {
	key     key
	uid     string
	path    string // of the object, in a request
	client  string // that has sent the request
	added   []added
	later   bool   // the client has sent another write of the object
	letGo   bool   // the other client takes its finalizer away
	dropped string // what a controller has dropped, or ""
	blindly bool   // by the request itself, which was made before it was there
}

// added is one thing that was added: an annotation, or an item of a list.
type added struct {
	what string
	path []string       // of the member, or of the list
	keys map[string]any // of the item; nil for one that is a string
}

// touched is the annotation, the finalizer and the name of an item of the client that interferes.
const touched = "explore/touched"

// touchedName is touched where a name has no "/".
const touchedName = "explore-touched"

// In reports whether an object has what was added.
func (a *added) in(o any) bool {
	for i, name := range a.path {
		m, ok := o.(map[string]any)
		if !ok {
			return false
		}
		o = m[name]
		if all, ok := o.([]any); ok && i < len(a.path)-1 {
			rest := added{path: a.path[i+1:], keys: a.keys}
			return slices.ContainsFunc(all, rest.in)
		}
	}
	all, ok := o.([]any)
	if !ok {
		return o != nil
	}
	return slices.ContainsFunc(all, func(item any) bool {
		m, ok := item.(map[string]any)
		if !ok {
			return item == touched
		}
		for name, v := range a.keys {
			if !equalValues(m[name], v) {
				return false
			}
		}
		return a.keys != nil
	})
}

// equalValues compares two values of JSON. A number may be a json.Number.
func equalValues(a, b any) bool { return reflect.DeepEqual(a, b) || fmt.Sprint(a) == fmt.Sprint(b) }

// additions returns the actions that may add to a list which a patch replaces. A PUT replaces all of the object: there the annotation will do, but for
// the conditions.
func additions(r apitest.Request) (actions []string) {
	if r.Subresource == "status" && r.Verb == "update" {
		return []string{addCondition}
	}
	if r.Verb != "patch" && r.Verb != "apply" {
		return nil
	}
	for _, list := range []struct{ name, action string }{{"finalizers", addFinalizer}, {"ownerReferences", addOwner}, {"conditions", addCondition}} {
		if bytes.Contains(r.Body, []byte(list.name)) {
			actions = append(actions, list.action)
		}
	}
	if len(otherLists(r.Body)) > 0 {
		actions = append(actions, addEntry)
	}
	return actions
}

// otherLists returns the names of the lists of a body that no other action is for.
func otherLists(body []byte) (names []string) {
	lists := regexp.MustCompile(`"([A-Za-z0-9]+)":\s*\[`)
	for _, m := range lists.FindAllSubmatch(body, -1) {
		if name := string(m[1]); !slices.Contains([]string{"finalizers", "ownerReferences", "conditions", "managedFields"}, name) {
			names = append(names, name)
		}
	}
	return names
}

// interfere changes the object of a request, as another client.
func (l *life) interfere(r apitest.Request) {
	at := r.Path
	if r.Subresource != "" {
		at = path.Dir(at)
	}
	t := &touch{key: key{l.x.resource(r.Group, r.Resource), objectName(namespaceOf(r), r.Name)}, path: at, client: r.Client}
	other := l.newProcess(-1, "other").conn()
	var o map[string]any
	if l.plan.action == interfere {
		if o = exchange(other, http.MethodPatch, at, `{"metadata":{"annotations":{"`+touched+`":"yes"}}}`); o != nil {
			t.added = []added{{what: "the annotation", path: []string{"metadata", "annotations", touched}}}
		}
	} else {
		o = l.addTo(other, t, r)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(t.added) == 0 {
		l.blind = fmt.Sprintf("another client cannot add anything to %s", t.key)
		return
	}
	m, _ := o["metadata"].(map[string]any)
	t.uid, _ = m["uid"].(string)
	l.touch = t
}

// addTo adds what the plan says to the object of a touch, and returns the object.
func (l *life) addTo(other Conn, t *touch, r apitest.Request) map[string]any {
	o := exchange(other, http.MethodGet, t.path, "")
	m, _ := o["metadata"].(map[string]any)
	if m == nil {
		return nil
	}
	put := func(at string, change added, item any) {
		next := clone(o)
		if !appendTo(next, change.path, item) {
			return
		}
		body, err := json.Marshal(next)
		if err != nil {
			return
		}
		if got := exchange(other, http.MethodPut, at, string(body)); got != nil && change.in(got) {
			o = got
			t.added = append(t.added, change)
		}
	}
	switch l.plan.action {
	case addFinalizer:
		if m["deletionTimestamp"] == nil {
			put(t.path, added{what: "the finalizer", path: []string{"metadata", "finalizers"}}, touched)
		}
	case addOwner:
		if owner := l.ownerFor(other, m, r.Body); owner != nil {
			put(t.path, added{"the owner", []string{"metadata", "ownerReferences"}, map[string]any{"uid": owner["uid"]}}, owner)
		}
	case addCondition:
		item := map[string]any{"type": "ExploreTouched", "status": "True", "reason": "Touched", "message": "", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}
		change := added{"the condition", []string{"status", "conditions"}, map[string]any{"type": "ExploreTouched"}}
		if put(t.path+"/status", change, item); len(t.added) == 0 {
			put(t.path, change, item)
		}
	case addEntry:
		for _, list := range l.listsIn(o, l.x.types[typeName(r)], otherLists(r.Body)) {
			item, keys := another(list.first, list.keys)
			put(t.path, added{"an item of ." + strings.Join(list.path, "."), list.path, keys}, item)
		}
	}
	return o
}

// ownerFor returns a reference to an object that exists, may own the object with some metadata, and is not in the body of a request.
func (l *life) ownerFor(other Conn, m map[string]any, body []byte) map[string]any {
	if owner := l.presentOwner(m, body); owner != nil || m["namespace"] == nil {
		return owner
	}
	made := exchange(other, http.MethodPost, fmt.Sprint("/api/v1/namespaces/", m["namespace"], "/configmaps"), `{"metadata":{"name":"`+touchedName+`"}}`)
	if of, _ := made["metadata"].(map[string]any); of != nil {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": touchedName, "uid": of["uid"]}
	}
	return nil
}

func (l *life) presentOwner(m map[string]any, body []byte) map[string]any {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range slices.SortedFunc(maps.Keys(l.objects), compareKeys) {
		it := l.objects[k].now
		if it == nil || string(it.UID()) == m["uid"] || it.Namespace() != "" && it.Namespace() != m["namespace"] || isEvent(k.resource) ||
			bytes.Contains(body, []byte(it.UID())) {
			continue
		}
		if t, ok := l.x.called[resourceOf(it)]; ok {
			return map[string]any{"apiVersion": t.APIVersion, "kind": t.Kind, "name": it.Name(), "uid": string(it.UID())}
		}
	}
	return nil
}

func typeName(r apitest.Request) string {
	if r.Group == "" {
		return r.Resource
	}
	return r.Resource + "." + r.Group
}

// list is a list with keys.
type list struct {
	path  []string
	first map[string]any // its first item
	keys  []string
}

// listsIn returns the lists of an object that have keys and items, and one of the names.
func (l *life) listsIn(o map[string]any, t *codec.Type, names []string) (out []list) {
	var walk func(path []string, v any, t *codec.Type, f *codec.Field)
	walk = func(path []string, v any, t *codec.Type, f *codec.Field) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if name == "managedFields" || len(path) == 0 && name == "status" {
					continue
				}
				below, elem := memberOf(t, name)
				if below != nil {
					elem = below.Type
				}
				walk(append(slices.Clone(path), name), v[name], elem, below)
			}
		case []any:
			if len(v) == 0 {
				return
			}
			first, ok := v[0].(map[string]any)
			if !ok {
				return
			}
			keys := []string{ownKey(v)}
			if f != nil {
				keys = f.ListMapKeys
			}
			if slices.Contains(names, path[len(path)-1]) && len(keys) > 0 && keys[0] != "" {
				out = append(out, list{path, first, keys})
			}
			var elem *codec.Type
			if t != nil && t.Kind == codec.List {
				elem = t.Elem
			}
			walk(path, first, elem, nil)
		}
	}
	walk(nil, o, t, nil)
	return out
}

// another returns an item that differs from one in its keys and names.
func another(first map[string]any, keys []string) (item, differ map[string]any) {
	item, differ = clone(first), map[string]any{}
	names := keys[:1]
	if _, ok := item["name"].(string); ok && keys[0] != "name" {
		names = append(slices.Clone(names), "name")
	}
	for _, name := range names {
		switch v := item[name].(type) {
		case string:
			item[name] = touchedName
		case json.Number:
			n, _ := v.Int64()
			item[name] = json.Number(fmt.Sprint(n%60000 + 1117))
		}
	}
	for _, name := range keys {
		differ[name] = item[name]
	}
	return item, differ
}

// appendTo appends an item to a list of an object, and reports whether it could. In a list of objects it takes the first.
func appendTo(o map[string]any, path []string, item any) bool {
	for i, name := range path {
		if i == len(path)-1 {
			all, _ := o[name].([]any)
			o[name] = append(all, item)
			return true
		}
		next := o[name]
		if all, ok := next.([]any); ok && len(all) > 0 {
			next = all[0]
		}
		m, ok := next.(map[string]any)
		if !ok {
			if next != nil {
				return false
			}
			m = map[string]any{}
			o[name] = m
		}
		o = m
	}
	return false
}

// clone copies a value of JSON.
func clone(o map[string]any) map[string]any {
	data, err := json.Marshal(o)
	if err != nil {
		return nil
	}
	return parse(data)
}

func parse(data []byte) (o map[string]any) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(&o) != nil {
		return nil
	}
	return o
}

// exchange sends a request and returns the object of the answer, or nil for an error.
func exchange(c Conn, method, path, body string) map[string]any {
	resp, err := send(context.Background(), c, method, path, body)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	var data bytes.Buffer
	if _, err := data.ReadFrom(resp.Body); err != nil || resp.StatusCode/100 != 2 {
		return nil
	}
	return parse(data.Bytes())
}

// meetTouchLocked sees that the client whose request met the touch goes on.
func (l *life) meetTouchLocked(r apitest.Request) {
	if t := l.touch; t != nil && r.Client == t.client && slices.Contains(writeVerbs(), r.Verb) &&
		t.key == (key{l.x.resource(r.Group, r.Resource), objectName(namespaceOf(r), r.Name)}) {
		t.later = true
	}
}

// seeTouchLocked looks whether a change drops what another client has added.
func (l *life) seeTouchLocked(c *change) {
	t := l.touch
	if t == nil || c.Old == nil || string(c.Old.UID()) != t.uid || t.dropped != "" || t.letGo {
		return
	}
	isController := c.isControllers()
	if c.New != nil && c.New.Metadata().DeletionTimestamp != nil && l.plan.action == addFinalizer && slices.Contains(c.New.Metadata().Finalizers, touched) {
		t.letGo = true
		go l.letGo(t.path)
		return
	}
	before := objectOf(c.Old.AppendJSON(nil, 0))
	var after map[string]any
	if c.New != nil {
		after = objectOf(c.New.AppendJSON(nil, 0))
	} else if l.plan.action != addFinalizer {
		return // it went with the object
	}
	for i := range t.added {
		a := &t.added[i]
		if a.in(before) && !a.in(after) && isController {
			t.dropped, t.blindly = a.what, !t.later
			return
		}
	}
}

func objectOf(data []byte, err error) map[string]any {
	if err != nil {
		return nil
	}
	return parse(data)
}

// letGo takes the finalizer of the other client away from an object that is being deleted, as its owner would.
func (l *life) letGo(at string) {
	time.Sleep(time.Second)
	other := l.newProcess(-1, "other").conn()
	for range 5 {
		o := exchange(other, http.MethodGet, at, "")
		m, _ := o["metadata"].(map[string]any)
		if m == nil {
			return
		}
		all, _ := m["finalizers"].([]any)
		m["finalizers"] = slices.DeleteFunc(all, func(f any) bool { return f == touched })
		if body, err := json.Marshal(o); err == nil && exchange(other, http.MethodPut, at, string(body)) != nil {
			return
		}
		time.Sleep(time.Second)
	}
}

// judgeTouchLocked adds what was lost, at a rest. An annotation and a finalizer of somebody else must stay, whoever drops them. A controller may own
// a list, and take away what it does not want there: there only that is lost which the controller would have left, if it had seen it.
func (l *life) judgeTouchLocked() {
	t := l.touch
	if t == nil || t.dropped == "" || l.plan.late {
		return
	}
	owns := l.plan.action != interfere && l.plan.action != addFinalizer
	if owns && !t.blindly {
		return
	}
	l.foundLocked("lost", t.key, fmt.Sprintf("%s has lost %s that another client wrote just before %s", t.key, t.dropped, l.plan.at))
	t.dropped = ""
}

// touchLate adds what the plan says at a rest, so that the controller can see it, and reports whether it did.
func (l *life) touchLate() bool {
	l.mu.Lock()
	r := l.late
	l.late = nil
	l.mu.Unlock()
	if r == nil {
		return false
	}
	l.interfere(*r)
	return true
}

// takesAway reports whether the controller takes away what a plan adds even if it can see it, as the owner of a list does.
func (x *explorer) takesAway(p plan) bool {
	p.late = true
	l := x.live(&p, 0, false)
	return l.touch == nil || l.touch.dropped != ""
}
