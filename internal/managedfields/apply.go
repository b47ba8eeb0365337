package managedfields

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// ApplyOptions are the options of an apply.
type ApplyOptions struct {
	// Manager is the name of the applier. It must not be empty.
	Manager string
	// Force takes fields from other managers instead of reporting conflicts.
	Force bool
	// Now is the time of the write.
	Now time.Time
}

// Apply merges an applied configuration into an object. config is the document of
// the request, as a tree of the types that codec.Type.ToUnstructured returns. live is
// the object in the requested version, or nil if there is none. Apply changes
// neither, but the result may share memory with both.
//
// The result is a new object of that version with its managedFields set, before
// defaulting and validation. If config changes nothing, the result is live with
// new managedFields, which may equal the old ones, and changed is false. kind and apiVersion of the result may be
// empty.
//
// Errors are checked in this order: 400 for a config of another type, 400 for one
// with managedFields, a plain error for a config that does not fit the schema, 409 for
// conflicts, and a plain error if the result cannot be converted to an object.
// The API answers a plain error with 500.
//
// The managedFields of live must come from this package.
func (k *FieldManager) Apply(version int, live Object, config map[string]any, opts ApplyOptions) (_ Object, changed bool, err error) {
	a := application{
		kind: k, version: version, config: config,
		opts: opts, writer: applier(opts.Manager, k.Subresource),
	}
	if err := a.checkType(); err != nil {
		return nil, false, err
	}
	if live == nil {
		live = k.empty(version)
	}
	if a.liveOwners, err = k.decode(live.GetObjectMeta().ManagedFields); err != nil {
		return nil, false, fmt.Errorf("failed to decode managed fields: %w", err)
	}
	a.liveObject = live
	a.live = k.of(version, nil).with(k.Versions[version].Type.Value(live))
	result, os, err := a.runWithLastApplied()
	if cs, ok := err.(conflicts); ok {
		return nil, false, cs.status()
	}
	if err != nil {
		return nil, false, err
	}
	result.GetObjectMeta().ManagedFields = os.encode()
	return result, a.changed, nil
}

// application is one call of Apply.
type application struct {
	kind       *FieldManager
	version    int
	config     map[string]any
	opts       ApplyOptions
	writer     identity
	liveObject Object
	live       document // the wire form of liveObject
	liveOwners owners
	changed    bool // whether the result differs from live
}

func (a *application) checkType() error {
	apiVersion, _ := a.config["apiVersion"].(string)
	name, _ := a.config["kind"].(string)
	if got := typeText(apiVersion, name); got != a.kind.typeText(a.version) {
		return meta.NewBadRequest("invalid object type: %s", got)
	}
	return nil
}

// run does the apply. Its error may be of type conflicts.
func (a *application) run(force bool) (Object, owners, error) {
	os, err := a.owners()
	if err != nil {
		return nil, nil, err
	}
	if a.hasManagedFields() {
		return nil, nil, meta.NewBadRequest("metadata.managedFields must be nil")
	}
	if err := a.live.schema().validate(codec.TreeValue(a.config)).err(); err != nil {
		return nil, nil, fmt.Errorf("failed to create typed patch object (%s): %w", a.name(), err)
	}
	if os, err = reconcile(a.live, os); err != nil {
		return nil, nil, err
	}
	merged, os, err := a.merge(os)
	if err != nil {
		return nil, nil, err
	}
	c := change{before: a.live, after: merged}
	if !force {
		if cs, err := c.conflicts(os, a.writer); err != nil {
			return nil, nil, err
		} else if len(cs) > 0 {
			return nil, nil, cs
		}
	}
	if os, err = c.takeFromOthers(os, a.writer); err != nil {
		return nil, nil, err
	}
	return a.finish(merged, os)
}

// name returns the name and type of the configuration for error texts.
func (a *application) name() string {
	m := members(a.config["metadata"])
	namespace, _ := m["namespace"].(string)
	name, _ := m["name"].(string)
	return fmt.Sprintf("%s/%s; %s", namespace, name, a.kind.typeText(a.version))
}

// owners returns the owners of the live object. If the object has no owners, the manager
// "before-first-apply" owns all fields.
func (a *application) owners() (owners, error) {
	if len(a.liveOwners) > 0 {
		return a.liveOwners, nil
	}
	empty := a.kind.of(a.version, a.kind.empty(a.version))
	id := updater("before-first-apply", a.kind.Versions[a.version].APIVersion, a.kind.Subresource)
	os, err := a.kind.recordUpdate(empty, a.kind.of(a.version, a.liveObject), nil, id, false, a.opts.Now)
	if err != nil {
		return nil, fmt.Errorf("failed to create manager for existing fields: %w", err)
	}
	return os, nil
}

// hasManagedFields reports whether the configuration has managedFields that can be
// decoded. If they cannot be decoded, validation fails.
func (a *application) hasManagedFields() bool {
	m, _ := a.config["metadata"].(map[string]any)
	list, ok := m["managedFields"].([]any)
	if !ok || slices.ContainsFunc(list, func(item any) bool { return item == nil }) {
		return false
	}
	typ := a.kind.Versions[a.version].Type
	_, err := typ.FromUnstructured(map[string]any{"metadata": map[string]any{"managedFields": list}}, typ.New(), false)
	return err == nil
}

// merge merges the configuration into the live object, and removes the fields that
// the writer applied the last time but not now. The writer becomes owner of the
// fields in the configuration.
func (a *application) merge(os owners) (document, owners, error) {
	s, config := a.live.schema(), codec.TreeValue(a.config)
	tree, err := s.merge(a.live.value(), config)
	if err != nil {
		return document{}, nil, fmt.Errorf("failed to merge config: %w", err)
	}
	delete(members(tree.Tree()), "apiVersion")
	delete(members(tree.Tree()), "kind")
	version := a.kind.Versions[a.version].APIVersion
	own := owner{identity: a.writer, version: version, fields: a.kind.changeable(fieldsOf(s, config), version, version)}
	last := os.find(a.writer)
	if last != nil {
		own.time = last.time
	}
	os = os.put(own)
	merged := a.live.with(tree)
	if last == nil || last.fields == nil {
		return merged, os, nil
	}
	pruned, err := prune(merged, os, &own, last)
	if err == nil {
		pruned, err = pruned.inVersion(own.version)
	}
	if err != nil {
		return document{}, nil, fmt.Errorf("failed to prune fields: %w", err)
	}
	return pruned, os, nil
}

// finish turns the merged document into an object.
func (a *application) finish(merged document, os owners) (Object, owners, error) {
	own := *os.find(a.writer) // its fields have kind and apiVersion at least
	a.changed = !a.live.value().Equal(merged.value())
	own.fields = recordable(own.fields)
	if a.changed {
		own.time = new(meta.NewTime(a.opts.Now))
	}
	os = os.put(own)
	if !a.changed {
		return a.kind.Versions[a.version].Type.CopyStruct(a.liveObject).(Object), os, nil
	}
	o, err := merged.object()
	if err == nil && a.kind.Unconvertible {
		err = invalidVersion(a.kind.Versions[a.version].APIVersion)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("failed to convert new object (%s) to proper version: %w", a.name(), err)
	}
	return o, os, nil
}
