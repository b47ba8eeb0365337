package crd

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"
	"weak"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Established is a definition as it is once its kind is served, with its conditions. [Establish] makes it once, at the cost of a create;
// [Install] puts it into any number of APIs, also at the same time. It is safe for concurrent use.
type Established struct {
	kind *definedKind
	// template is shared by all stores, but for its metadata and the times in its status.
	template *store.Template
}

// Establish returns crd with the defaults, the accepted names and the conditions that a server sets. It does not change crd.
// manager is the field manager of the create. The error names the fields and rules that crd breaks. Establish also refuses groups
// that belong to Kubernetes, and conversion webhooks: only a running server can decide about these.
func Establish(crd *apiextensionsv1.CustomResourceDefinition, manager string) (*Established, error) {
	if apihelpers.IsProtectedCommunityGroup(crd.Spec.Group) || hasWebhook(crd) {
		return nil, fmt.Errorf("crd: CustomResourceDefinition %q: want a group of its own and no conversion webhook", crd.Name)
	}
	k, err := made().kindFor(crd, false)
	if err != nil {
		return nil, fmt.Errorf("crd: CustomResourceDefinition %q: %w", crd.Name, err)
	}
	o := definitions().Kind.New(0)
	stored := definitionOf(o)
	*stored = apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{
			Name: crd.Name, Labels: maps.Clone(crd.Labels), Annotations: maps.Clone(crd.Annotations), Finalizers: slices.Clone(crd.Finalizers),
		},
		Spec:   *k.crd.Spec.DeepCopy(), // with the defaults
		Status: apiextensionsv1.CustomResourceDefinitionStatus{AcceptedNames: *k.crd.Spec.Names.DeepCopy()},
	}
	addStoredVersion(stored)
	setEstablished(stored, time.Time{})
	t, err := store.NewTemplate(definitions(), o, store.TemplateOptions{FieldManager: manager, Valid: true})
	if err != nil {
		return nil, err
	}
	managers, err := managersOf(t.Object().GetObjectMeta().ManagedFields, stored)
	if err != nil {
		return nil, err
	}
	e := &Established{kind: k, template: t.With(func(o meta.Object) { o.GetObjectMeta().ManagedFields = managers })}
	runtime.AddCleanup(e, (*madeKinds).dropInstalled, made())
	return e, nil
}

// setEstablished sets the conditions of a definition whose names are accepted and whose kind is served.
func setEstablished(crd *apiextensionsv1.CustomResourceDefinition, now time.Time) {
	setCondition(crd, now, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue, Reason: "NoConflicts", Message: "no conflicts found",
	})
	setCondition(crd, now, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue,
		Reason: "InitialNamesAccepted", Message: "the initial names have been accepted",
	})
}

// managersOf returns the field managers of an established definition: the one who created it, without the status, and the
// server, which wrote the status.
func managersOf(created []meta.ManagedFieldsEntry, crd *apiextensionsv1.CustomResourceDefinition) ([]meta.ManagedFieldsEntry, error) {
	if len(created) != 1 {
		return created, nil
	}
	text, err := json.Marshal(created[0].FieldsV1)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	delete(fields, "f:status")
	names, err := json.Marshal(crd.Status.AcceptedNames)
	if err != nil {
		return nil, err
	}
	var have map[string]any
	if err := json.Unmarshal(names, &have); err != nil {
		return nil, err
	}
	accepted, conditions := map[string]any{}, map[string]any{}
	for name := range have {
		accepted["f:"+name] = map[string]any{}
	}
	for _, c := range crd.Status.Conditions {
		of := map[string]any{".": map[string]any{}}
		for _, name := range []string{"lastTransitionTime", "message", "reason", "status", "type"} {
			of["f:"+name] = map[string]any{}
		}
		conditions[`k:{"type":"`+string(c.Type)+`"}`] = of
	}
	status := map[string]any{"f:status": map[string]any{"f:acceptedNames": accepted, "f:conditions": conditions}}
	entry := func(like meta.ManagedFieldsEntry, fields map[string]any) (meta.ManagedFieldsEntry, error) {
		text, err := json.Marshal(fields)
		if err == nil {
			like.FieldsV1 = &meta.FieldsV1{}
			err = json.Unmarshal(text, like.FieldsV1)
		}
		return like, err
	}
	first, err := entry(created[0], fields)
	if err != nil {
		return nil, err
	}
	second := created[0]
	second.Manager, second.Subresource = fieldManager, "status"
	second, err = entry(second, status)
	if second.Manager < first.Manager { // the order of entries with the same time
		first, second = second, first
	}
	return []meta.ManagedFieldsEntry{first, second}, err
}

// Install stores established definitions in an API with [Definitions] and [Run], and serves their kinds when it returns. It
// stores all of them or none. The error names a definition or a name that is there already, or two definitions that claim the same name.
// Install returns the definitions as stored. All APIs of the process share their schemas, which must not be changed.
func Install(ctx context.Context, api *httpapi.API, all ...*Established) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var add []*definedKind
	var serve []kind.Kind
	for _, e := range all {
		add = append(add, e.kind)
		serve = append(serve, e.kind)
	}
	for _, k := range api.Kinds() {
		if have, ok := k.(*definedKind); ok && have.crd != nil {
			add = append(add, have)
		}
	}
	if err := checkNames(add); err != nil {
		return nil, fmt.Errorf("crd: %w", err)
	}
	now := api.Store().Clock().Now()
	var templates []*store.Template
	for _, e := range all {
		templates = append(templates, e.at(now))
	}
	if err := api.AddKinds(ctx, serve...); err != nil {
		return nil, err
	}
	stored, err := api.Store().Put(ctx, templates...)
	if err != nil {
		_ = api.RemoveKinds(ctx, httpapi.RemoveOptions{}, serve...)
		return nil, err
	}
	var out []*apiextensionsv1.CustomResourceDefinition
	for _, o := range stored {
		out = append(out, installed(o))
	}
	return out, nil
}

// at returns the definition with metadata of its own, and with the times of its conditions.
func (e *Established) at(now time.Time) *store.Template {
	return e.template.With(func(o meta.Object) {
		made().install(o.GetObjectMeta().UID, e) // before the controller sees it
		crd := definitionOf(o)
		crd.Labels, crd.Annotations = maps.Clone(crd.Labels), maps.Clone(crd.Annotations)
		crd.Status.Conditions = slices.Clone(crd.Status.Conditions)
		for i := range crd.Status.Conditions {
			crd.Status.Conditions[i].LastTransitionTime = metav1.NewTime(now).Rfc3339Copy()
		}
	})
}

// installed returns a stored definition for a caller, which shares no more than the schemas with it.
func installed(o meta.Object) *apiextensionsv1.CustomResourceDefinition {
	crd := *definitionOf(o)
	crd.ManagedFields, crd.Labels, crd.Annotations = nil, maps.Clone(crd.Labels), maps.Clone(crd.Annotations)
	crd.Spec.Versions, crd.Status.Conditions = slices.Clone(crd.Spec.Versions), slices.Clone(crd.Status.Conditions)
	return &crd
}

// install remembers that a definition was installed in a store, by its uid.
func (m *madeKinds) install(uid meta.UID, e *Established) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.installed == nil || len(m.installed) >= maxInstalled {
		m.installed = map[meta.UID]weak.Pointer[Established]{}
	}
	m.installed[uid] = weak.Make(e)
}

// dropInstalled forgets the definitions that were installed from an Established that is gone.
func (m *madeKinds) dropInstalled() {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.installed, func(_ meta.UID, e weak.Pointer[Established]) bool { return e.Value() == nil })
}

// establishedOf returns the Established that a stored definition was installed from. It returns nil if a client has created or
// changed the definition, or if nothing uses the Established any more. A fork of the store gets the same answer.
func (m *madeKinds) establishedOf(of *apiextensionsv1.CustomResourceDefinition) *Established {
	if of.DeletionTimestamp != nil || of.Generation != 1 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.installed[meta.UID(of.UID)].Value()
}
