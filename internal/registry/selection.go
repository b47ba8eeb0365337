package registry

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/validate"
	"github.com/kubecoord/kubecoord/selector"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// selection holds the parsed selectors of a list or a watch.
type selection struct {
	kind      *kinds.Kind
	version   int    // in which objects are selected
	namespace string // "" is all
	name      string // "" is all
	labels    selector.Labels
	fields    selector.Fields
	shards    selector.Shards
}

// parseSelection parses the selectors except the shardSelector: parseShards is called
// later, since upstream reports its errors last.
func (r *Resource) parseSelection(o *ListOptions, watch bool) (selection, error) {
	s := selection{kind: r.Kind, version: o.Version, namespace: o.Namespace}
	var err error
	if s.labels, err = selector.ParseLabels(o.LabelSelector); err != nil {
		return s, meta.NewBadRequest("%s", err)
	}
	if s.fields, err = selector.ParseFields(o.FieldSelector); err != nil {
		return s, meta.NewBadRequest("%s", err)
	}
	if err = o.check(watch); err != nil {
		return s, err
	}
	return s, s.checkFields(o.Name, r.Kind.SelectableIn(o.Version))
}

// checkFields refuses fields that are not selectable, and narrows the selection to the
// object that the selector or the path names.
func (s *selection) checkFields(name string, selectable []string) error {
	if field, found := s.fields.Unknown(selectable); found && s.kind.Native().FieldRefusal != "" {
		return meta.NewBadRequest(s.kind.Native().FieldRefusal, field)
	}
	if err := s.fields.Check(selectable); err != nil {
		return meta.NewBadRequest("%s", err)
	}
	wanted, _ := s.fields.Exact(kinds.FieldName)
	if name != "" && !s.fields.Empty() && wanted != name {
		return meta.NewBadRequest("fieldSelector metadata.name doesn't match requested name")
	}
	if name != "" && s.fields.Empty() {
		s.fields = selector.FieldEquals(kinds.FieldName, name)
		wanted = name
	}
	s.name = wanted
	if s.namespace == "" {
		s.namespace, _ = s.fields.Exact(kinds.FieldNamespace)
	}
	return nil
}

func (s *selection) parseShards(text string, warn func(string)) error {
	shards, warnings, err := selector.ParseShards(text)
	if err != nil {
		// Not a Status: upstream answers 500 with the text.
		return errors.New(err.Error())
	}
	s.shards = shards
	for _, w := range warnings {
		if warn != nil {
			warn(w)
		}
	}
	return nil
}

// CheckKey refuses a namespace that is a dot or two (upstream: apiserver, storage/etcd3, prepareKey). It is not a Status.
func (r *Resource) CheckKey(namespace, name string) error {
	if namespace != "." && namespace != ".." {
		return nil
	}
	key := "/" + r.Info().StoragePrefix + "/" + namespace
	if name != "" && validate.NameIsPathSegment(name, false) == nil {
		key += "/" + name
	}
	return fmt.Errorf("invalid key: %q", key)
}

// scope returns the part of the history that the selection can match.
func (s *selection) scope(collection int) hub.Scope {
	scope := hub.Scope{Collection: collection, Namespace: s.namespace}
	if s.namespace != "" {
		scope.Name = s.name
	}
	return scope
}

// single reports whether the selection is at most one object with a known key.
func (s *selection) single() bool {
	return (s.namespace != "" || s.kind.Info().ClusterScoped) && s.name != ""
}

// all reports whether everything in the namespace is selected.
func (s *selection) all() bool {
	return s.labels.Empty() && s.fields.Empty() && s.shards.Empty()
}

// converts reports whether objects are converted before they are selected: a webhook may change their labels and fields. As upstream,
// each version of a custom resource is selected for itself (apiextensions-apiserver, registry/customresource, GetAttrs).
func (s *selection) converts() bool { return s.kind.Remembers(s.version) }

// matches reports whether an item, which may be nil, is selected. An object that cannot be converted is: its answer has the error.
func (s *selection) matches(it *Item) bool {
	if it == nil {
		return false
	}
	o := it.obj
	if s.converts() && !s.all() {
		var err error
		if o, err = s.kind.Convert(context.Background(), o, 0, s.version, kind.Remembered); err != nil { // all requests share the result
			return s.namespace == "" || s.namespace == it.Namespace()
		}
	}
	return s.labels.Matches(o.GetObjectMeta().Labels) && s.matchesRest(o)
}

// matchesRest reports whether an object in the version of the selection is selected as far as its labels do not matter.
func (s *selection) matchesRest(o kinds.Object) bool {
	m := o.GetObjectMeta()
	if s.namespace != "" && m.Namespace != s.namespace || !s.shards.Matches(string(m.UID), m.Namespace) {
		return false
	}
	return s.fields.Empty() || s.fields.Matches(func(path string) string {
		switch path {
		case kinds.FieldName:
			return m.Name
		case kinds.FieldNamespace:
			return m.Namespace
		}
		return s.kind.FieldValue(o, path)
	})
}

// labelJudge matches the labels of many objects. It remembers its last verdicts, since objects share equal maps of
// labels (see package intern). It is for one pass over one state, which keeps all maps alive.
type labelJudge struct {
	labels   selector.Labels
	verdicts [256]verdict
}

type verdict struct {
	labels  uintptr // 0: none yet
	matches bool
}

func (j *labelJudge) matches(labels map[string]string) bool {
	if len(labels) == 0 {
		return j.labels.Matches(nil)
	}
	p := reflect.ValueOf(labels).Pointer()
	v := &j.verdicts[(p>>4^p>>12)%uintptr(len(j.verdicts))]
	if v.labels != p {
		*v = verdict{p, j.labels.Matches(labels)}
	}
	return v.matches
}
