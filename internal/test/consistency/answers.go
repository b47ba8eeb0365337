package consistency

import (
	"net/http"
	"strconv"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/test/skim"
	"github.com/kubecoord/kubecoord/watch"
)

// objects finds changes that do not follow from the state before them.
func (v *verifier) objects() {
	for _, r := range v.served {
		for _, k := range v.keys[r] {
			v.object(k)
		}
	}
}

// object checks the changes of one object.
func (v *verifier) object(k objectKey) {
	state := v.base[k]
	for _, i := range v.byObject[k] {
		c := &v.Changes[i]
		switch {
		case c.Type == watch.Added && state != nil:
			v.find(LostWrite, v.excerpt(k, c.Version), "%s was added at %d, but it existed since %d", k, c.Version, state.Version())
		case c.Type != watch.Added && state == nil:
			v.find(LostWrite, v.excerpt(k, c.Version), "%s was changed at %d, but it did not exist", k, c.Version)
		case c.Type != watch.Added && c.Old.Version() != state.Version():
			v.find(LostWrite, v.excerpt(k, c.Version), "%s at %d replaced version %d, but it was at version %d: that change is lost", k, c.Version, c.Old.Version(), state.Version())
		case c.Type != watch.Added && c.Old.UID() != c.New.UID():
			v.find(LostWrite, v.excerpt(k, c.Version), "%s changed its uid at %d", k, c.Version)
		}
		if state = c.New; c.Type == watch.Deleted {
			state = nil
		}
	}
	if now := v.now[k]; versionOf(now) != versionOf(state) {
		v.find(LostWrite, v.excerpt(k, v.Version), "%s is at version %d, but its last change made version %d (0: it does not exist)", k, versionOf(now), versionOf(state))
	}
}

func versionOf(it *registry.Item) uint64 {
	if it == nil {
		return 0
	}
	return it.Version()
}

// answers finds answers that contradict the history.
func (v *verifier) answers() {
	for _, t := range v.log {
		c := t.call
		r := v.resources[c.groupResource()]
		if c.verb == "watch" && t.kind != errorAnswer || r == nil {
			continue
		}
		v.out.Answers++
		k := objectKey{r, c.namespace, c.name}
		if k.name == "" || c.verb == "create" {
			k.name = c.answer.Name
		}
		switch {
		case c.mutates():
			v.write(k, c, t.kind)
		case c.verb == "list" && t.kind == successAnswer:
			v.list(c)
		case c.verb == "get" && (t.kind == successAnswer || t.kind == notFoundAnswer):
			v.get(k, c, t.kind)
		}
	}
}

// write checks a write and its answer.
func (v *verifier) write(k objectKey, c *call, kind observationKind) {
	changes := v.byOrigin[c.origin]
	wrong := func(format string, args ...any) {
		args = append([]any{c.verb, k, c.clientName(), c.status}, args...)
		v.find(LostWrite, v.excerptOf(k, c), "%s %s by %s was answered %d, but "+format, args...)
	}
	switch {
	case c.dryRun:
		if kind == successAnswer && len(changes) > 0 {
			wrong("it was a dry run, and made the change %d", v.Changes[changes[0]].Version)
		}
	case c.verb == "deletecollection":
		if kind == successAnswer {
			v.deleteCollection(c)
		}
	case len(changes) > 1:
		wrong("it made %d changes", len(changes))
	case c.altered:
		wrong("it returned version %d with the wrong content", c.answer.ResourceVersion)
	case kind == successAnswer && len(changes) == 0:
		v.unchanged(k, c, wrong)
	case kind == successAnswer:
		v.changed(c, &v.Changes[changes[0]], wrong)
	case kind != noAnswer && c.status < http.StatusInternalServerError && len(changes) > 0:
		wrong("it made the change %d", v.Changes[changes[0]].Version)
	}
}

// unchanged checks a write that was answered 2xx and made no change.
func (v *verifier) unchanged(k objectKey, c *call, wrong func(string, ...any)) {
	switch {
	case c.verb == "create":
		wrong("there is no such change")
	case c.verb == "delete" && c.answer.Kind == "Status":
		wrong("nothing was deleted")
	case c.answer.ResourceVersion != 0 && !v.hadVersion(k, c.answer.ResourceVersion, c.floor, c.ceiling):
		wrong("it made no change, and the object was not in the state of %d then", c.answer.ResourceVersion)
	}
}

// changed checks a write that was answered 2xx and made a change.
func (v *verifier) changed(c *call, made *registry.RecordedChange, wrong func(string, ...any)) {
	want := map[string][]watch.EventType{
		"create": {watch.Added}, "update": {watch.Added, watch.Modified, watch.Deleted}, "patch": {watch.Modified, watch.Deleted},
		"apply": {watch.Added, watch.Modified, watch.Deleted}, "delete": {watch.Modified, watch.Deleted},
	}[c.verb]
	fits := false
	for _, t := range want {
		fits = fits || t == made.Type
	}
	a := &c.answer
	switch {
	case !fits:
		wrong("it made the change %d, which is %s", made.Version, made.Type)
	case made.Version <= c.floor || made.Version > c.ceiling:
		wrong("its change %d was made at another time, when the store was not between %d and %d", made.Version, c.floor, c.ceiling)
	case a.Name != "" && a.Name != made.New.Name():
		wrong("it returned %q and changed %q", a.Name, made.New.Name())
	case a.UID != "" && a.UID != string(made.New.UID()):
		wrong("it returned uid %s and changed uid %s", a.UID, made.New.UID())
	case !hasVersionOf(a, made):
		wrong("it returned version %d and made version %d", a.ResourceVersion, made.Version)
	case c.base != 0 && made.Type == watch.Modified && made.Old.Version() != c.base:
		wrong("it was meant for version %d, and replaced %d", c.base, made.Old.Version())
	}
}

// hasVersionOf reports whether an answer has the version of the change. A write that removes the last finalizer deletes the
// object, and its answer has the version before that write.
func hasVersionOf(a *skim.Head, made *registry.RecordedChange) bool {
	return a.ResourceVersion == 0 || a.ResourceVersion == made.Version ||
		made.Type == watch.Deleted && a.ResourceVersion == made.Old.Version()
}

// deleteCollection finds selected objects that existed during the whole request and still exist.
func (v *verifier) deleteCollection(c *call) {
	r := v.resources[c.groupResource()]
	selects, err := r.Selects(c.selection())
	if err != nil || c.query.Get("limit")+c.query.Get("continue")+c.query.Get("resourceVersion") != "" {
		return
	}
	for _, k := range v.keys[r] {
		it := v.stateAt(k, c.floor)
		if !selects(it) || v.stateAt(k, c.ceiling) != it || it.Metadata().DeletionTimestamp != nil {
			continue
		}
		v.find(LostWrite, v.excerpt(k, c.ceiling), "deletecollection %s %s by %s was answered %d, but %s was not deleted",
			c.resource, objectPath(c.namespace, ""), c.clientName(), c.status, k)
	}
}

// excerptOf returns the changes of the object of a call, up to the answer.
func (v *verifier) excerptOf(k objectKey, c *call) []string {
	upTo := c.ceiling
	for _, i := range v.byOrigin[c.origin] {
		upTo = max(upTo, v.Changes[i].Version)
	}
	return append(v.excerpt(k, upTo), "then: "+c.String()+", returned "+strconv.FormatUint(c.answer.ResourceVersion, 10))
}

// latest reports whether a read asks for the latest state.
func (c *call) latest() bool {
	return c.query.Get("resourceVersion") == "" && c.query.Get("continue") == "" && !c.stale
}

// oldest returns the lowest version that a read may show.
func (c *call) oldest() uint64 {
	if c.latest() {
		return c.floor
	}
	version, _ := strconv.ParseUint(c.query.Get("resourceVersion"), 10, 64)
	return version
}

// get checks the answer to a get.
func (v *verifier) get(k objectKey, c *call, kind observationKind) {
	version := c.answer.ResourceVersion
	if kind == notFoundAnswer {
		version = 0
	} else if version == 0 {
		return // HEAD, or a format that skim does not read
	}
	found := "returned version " + strconv.FormatUint(version, 10)
	switch {
	case c.altered:
		v.find(StaleRead, v.excerpt(k, c.ceiling), "get %s by %s %s with the wrong content", k, c.clientName(), found)
		return
	case c.subresource && kind == notFoundAnswer || v.hadVersion(k, version, c.oldest(), c.ceiling):
		return
	case version == 0:
		found = "returned 404"
	}
	v.find(StaleRead, v.excerpt(k, c.ceiling), "get %s by %s %s, but the store was not in that state between versions %d and %d",
		k, c.clientName(), found, c.oldest(), c.ceiling)
}

// list checks the version of a list.
func (v *verifier) list(c *call) {
	version := c.answer.ResourceVersion
	if version == 0 || !c.latest() || version >= c.floor && version <= c.ceiling {
		return
	}
	v.find(StaleRead, nil, "list %s %s by %s returned version %d, but the store was between versions %d and %d",
		c.resource, objectPath(c.namespace, ""), c.clientName(), version, c.floor, c.ceiling)
}
