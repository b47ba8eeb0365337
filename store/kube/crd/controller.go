package crd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/util/webhook"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/caller"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/kube"
	"github.com/kubecoord/kubecoord/store/kube/internal/webhooks"
	"github.com/kubecoord/kubecoord/watch"
)

// controller accepts the names of definitions, serves their kinds, and takes them away (upstream: controller/status,
// controller/establish, controller/apiapproval and controller/finalizer).
type controller struct {
	api         *httpapi.API
	st          *store.Store
	definitions *kube.Collection[apiextensionsv1.CustomResourceDefinition]
	calls       *webhooks.Calls
	ending      sync.WaitGroup // deletions

	mu     sync.Mutex // guards all below
	known  map[string]*apiextensionsv1.CustomResourceDefinition
	served map[string]*kind // by name of the definition
	ends   map[string]bool  // by uid: a deletion is in progress
}

// fieldManager is the name under which a real server writes the status of a definition.
const fieldManager = "kube-apiserver"

// Run serves the kinds that the CustomResourceDefinitions in the store of an API define, until ctx ends or the API is closed:
// the ones that it finds, and those that clients create. It sets the conditions that clients wait for. An update of a
// definition replaces its kind, and a deletion deletes the objects first. Each API, and each fork, needs a Run of its own:
// pass it as an element of httpapi.Options.Run. The kinds of the API must include Definitions.
func Run(ctx context.Context, api *httpapi.API) {
	c := &controller{
		api: api, st: api.Store(), known: map[string]*apiextensionsv1.CustomResourceDefinition{}, served: map[string]*kind{},
		ends: map[string]bool{}, calls: webhooks.From(ctx),
	}
	if c.calls == nil {
		c.calls = webhooks.New(webhooks.Options{Clock: c.st.Clock()})
		defer c.calls.Close()
	}
	defer c.ending.Wait()
	definitions, err := kube.In[apiextensionsv1.CustomResourceDefinition](Definitions(), c.st)
	if err != nil {
		return // cannot be: the kind has no Go type
	}
	c.definitions = definitions
	objects, err := store.As[store.Unstructured](Definitions())
	if err != nil {
		return // cannot be: the kind has no Go type
	}
	for ev, err := range objects.In(c.st).Follow(ctx, store.WatchOptions{Shared: true}) {
		if err != nil {
			return // ctx has ended, or the store is closed
		}
		if e := made().establishedOf(ev.Object); e != nil && ev.Type == watch.Added && c.install(e, ev.Object) {
			continue
		}
		crd, err := definitionOf(ev.Object)
		if err != nil {
			continue // cannot be: it was stored
		}
		c.handle(ctx, watch.Event[apiextensionsv1.CustomResourceDefinition]{Type: ev.Type, Object: crd})
	}
}

// install takes note of a definition that was stored with its kind served, and reports whether it was.
func (c *controller) install(e *Established, u *store.Unstructured) bool {
	if c.servedBefore(e.kind) != e.kind {
		return false
	}
	c.known[u.Name] = e.definition(u)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.served[u.Name] = e.kind
	return true
}

// handle follows one event. A name that becomes free may be the one that another definition of the group waits for.
func (c *controller) handle(ctx context.Context, ev watch.Event[apiextensionsv1.CustomResourceDefinition]) {
	switch crd := ev.Object; ev.Type {
	case watch.Added, watch.Modified:
		before := c.known[crd.Name]
		c.known[crd.Name] = crd
		c.sync(ctx, crd)
		if before == nil || reflect.DeepEqual(before.Status.AcceptedNames, crd.Status.AcceptedNames) {
			return
		}
		c.syncGroup(ctx, crd) // a name may be free now
	case watch.Deleted:
		delete(c.known, crd.Name)
		c.stop(ctx, crd.Name)
		c.syncGroup(ctx, crd)
	}
}

// syncGroup takes the next step for the other definitions of a group.
func (c *controller) syncGroup(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) {
	for _, name := range slices.Sorted(maps.Keys(c.known)) {
		if other := c.known[name]; other.Spec.Group == crd.Spec.Group && name != crd.Name {
			c.sync(ctx, other)
		}
	}
}

// sync takes the next step for a definition. The event of its own write calls it again.
func (c *controller) sync(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) {
	if crd.DeletionTimestamp != nil {
		if apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
			_ = c.serve(ctx, crd) // also one that was found in this state
		}
		if apihelpers.CRDHasFinalizer(crd, apiextensionsv1.CustomResourceCleanupFinalizer) {
			c.end(ctx, crd)
		}
		return
	}
	next := crd.DeepCopy()
	if c.acceptNames(next) || c.setApproval(next) {
		c.write(ctx, next)
		return
	}
	if !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.NamesAccepted) && !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
		return
	}
	err := c.serve(ctx, crd)
	if !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) && c.establish(next, err) {
		c.write(ctx, next)
	}
}

// write stores the status of a definition. A conflict is followed by an event, which leads here again.
func (c *controller) write(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) (*apiextensionsv1.CustomResourceDefinition, error) {
	return c.definitions.Status().Update(ctx, crd, store.UpdateOptions{FieldManager: fieldManager})
}

// acceptNames sets the accepted names and the conditions that say so, and reports whether they have changed (upstream:
// controller/status/naming_controller.go).
func (c *controller) acceptNames(crd *apiextensionsv1.CustomResourceDefinition) bool {
	if equality.Semantic.DeepEqual(crd.Spec.Names, crd.Status.AcceptedNames) {
		return false
	}
	names, accepted := c.resolve(crd)
	if reflect.DeepEqual(crd.Status.AcceptedNames, names) &&
		apihelpers.IsCRDConditionEquivalent(&accepted, apihelpers.FindCRDCondition(crd, apiextensionsv1.NamesAccepted)) {
		return false
	}
	now := c.st.Clock().Now()
	crd.Status.AcceptedNames = names
	setCondition(crd, now, accepted)
	have := apihelpers.FindCRDCondition(crd, apiextensionsv1.Established)
	switch {
	case have != nil && have.Status == apiextensionsv1.ConditionTrue:
	case accepted.Status == apiextensionsv1.ConditionTrue:
		setCondition(crd, now, apiextensionsv1.CustomResourceDefinitionCondition{
			Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse,
			Reason: "Installing", Message: "the initial names have been accepted",
		})
	case have == nil:
		setCondition(crd, now, apiextensionsv1.CustomResourceDefinitionCondition{
			Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse,
			Reason: "NotAccepted", Message: "not all names are accepted",
		})
	}
	return true
}

// resolve returns the names of a definition that no other one of its group has, and the condition NamesAccepted.
func (c *controller) resolve(crd *apiextensionsv1.CustomResourceDefinition) (apiextensionsv1.CustomResourceDefinitionNames, apiextensionsv1.CustomResourceDefinitionCondition) {
	resources, kinds := map[string]bool{}, map[string]bool{}
	for _, other := range c.known {
		if other.Spec.Group != crd.Spec.Group {
			continue
		}
		n := other.Status.AcceptedNames
		for _, name := range append([]string{n.Plural, n.Singular}, n.ShortNames...) {
			resources[name] = true
		}
		kinds[n.Kind], kinds[n.ListKind] = true, true
	}
	want, names := crd.Spec.Names, crd.Status.AcceptedNames
	condition := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue, Reason: "NoConflicts", Message: "no conflicts found",
	}
	claim := func(reason, wanted string, have *string, taken map[string]bool) {
		if wanted != *have && taken[wanted] {
			condition.Status, condition.Reason, condition.Message = apiextensionsv1.ConditionFalse, reason, inUse(wanted).Error()
			return
		}
		*have = wanted
	}
	claim("PluralConflict", want.Plural, &names.Plural, resources)
	claim("SingularConflict", want.Singular, &names.Singular, resources)
	var errs []error
	for _, name := range want.ShortNames {
		if !slices.Contains(names.ShortNames, name) && resources[name] {
			errs = append(errs, inUse(name))
		}
	}
	if err := utilerrors.NewAggregate(errs); err != nil {
		condition.Status, condition.Reason, condition.Message = apiextensionsv1.ConditionFalse, "ShortNamesConflict", err.Error()
	} else {
		names.ShortNames = want.ShortNames
	}
	claim("KindConflict", want.Kind, &names.Kind, kinds)
	claim("ListKindConflict", want.ListKind, &names.ListKind, kinds)
	names.Categories = want.Categories
	return names, condition
}

func inUse(name string) error { return fmt.Errorf("%q is already in use", name) }

// setApproval sets the condition of groups that belong to Kubernetes, and reports whether it has changed (upstream:
// controller/apiapproval).
func (c *controller) setApproval(crd *apiextensionsv1.CustomResourceDefinition) bool {
	if !apihelpers.IsProtectedCommunityGroup(crd.Spec.Group) {
		return false
	}
	state, text := apihelpers.GetAPIApprovalState(crd.Annotations)
	condition := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.KubernetesAPIApprovalPolicyConformant, Status: apiextensionsv1.ConditionFalse, Message: text,
	}
	switch state {
	case apihelpers.APIApprovalInvalid:
		condition.Reason = "InvalidAnnotation"
	case apihelpers.APIApprovalMissing:
		condition.Reason = "MissingAnnotation"
	case apihelpers.APIApprovalBypassed:
		condition.Reason = "UnapprovedAnnotation"
	case apihelpers.APIApproved:
		condition.Status, condition.Reason = apiextensionsv1.ConditionTrue, "ApprovedAnnotation"
	default:
		condition.Status, condition.Reason = apiextensionsv1.ConditionUnknown, "UnknownAnnotation"
	}
	if apihelpers.IsCRDConditionEquivalent(&condition, apihelpers.FindCRDCondition(crd, condition.Type)) {
		return false
	}
	setCondition(crd, c.st.Clock().Now(), condition)
	return true
}

// establish sets the condition Established of a definition whose kind is served, or was not for a reason. It reports whether
// the condition has changed.
func (c *controller) establish(crd *apiextensionsv1.CustomResourceDefinition, err error) bool {
	condition := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue,
		Reason: "InitialNamesAccepted", Message: "the initial names have been accepted",
	}
	switch conversion := crd.Spec.Conversion; {
	case err != nil:
		condition.Status, condition.Reason, condition.Message = apiextensionsv1.ConditionFalse, "NotServed", err.Error()
	case conversion != nil && conversion.Webhook != nil && conversion.Webhook.ClientConfig != nil &&
		len(webhook.ValidateCABundle(field.NewPath(""), conversion.Webhook.ClientConfig.CABundle)) > 0:
		condition.Status, condition.Reason, condition.Message = apiextensionsv1.ConditionFalse, "InvalidCABundle", "The conversion webhook CABundle is invalid"
	}
	if apihelpers.IsCRDConditionEquivalent(&condition, apihelpers.FindCRDCondition(crd, condition.Type)) {
		return false
	}
	setCondition(crd, c.st.Clock().Now(), condition)
	return true
}

// serve makes the API serve the kind of a definition, in place of the one before.
func (c *controller) serve(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) error {
	k, err := made().kindFor(crd)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	old := cmp.Or(c.served[crd.Name], c.servedBefore(k))
	if k, err = c.own(k, old); err != nil {
		return err
	}
	switch {
	case old == nil:
		err = c.api.AddKinds(ctx, k)
	case old.kind != k.kind:
		err = c.api.ReplaceKind(ctx, old, k)
	}
	if err == nil {
		c.served[crd.Name] = k
	}
	return err
}

// servedBefore returns the kind of a definition's group and plural that the API served when Run began, as a fork does.
func (c *controller) servedBefore(k *kind) *kind {
	for _, other := range c.api.Kinds() {
		if other.Registered().GroupResource() != k.kind.GroupResource() {
			continue
		}
		if of, ok := other.(*kind); ok {
			return of
		}
		return &kind{kind: other.Registered()}
	}
	return nil
}

// stop ends the service of the kind of a definition that is gone.
func (c *controller) stop(ctx context.Context, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.served[name]; k != nil && c.api.RemoveKinds(ctx, httpapi.RemoveOptions{}, k) == nil {
		delete(c.served, name)
	}
}

// end deletes the objects of a definition in a goroutine of its own, since the last of them may be gone late.
func (c *controller) end(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ends[string(crd.UID)] {
		return
	}
	c.ends[string(crd.UID)] = true
	k := c.served[crd.Name]
	c.ending.Go(func() {
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.ends, string(crd.UID))
		}()
		for ctx.Err() == nil && !c.finalize(ctx, crd.Name, k) {
		}
	})
}

// finalize makes one attempt to delete the objects of a definition and the definition. It reports whether there is no more
// to do (upstream: controller/finalizer/crd_finalizer.go).
func (c *controller) finalize(ctx context.Context, name string, k *kind) bool {
	crd, err := c.definitions.Get(ctx, "", name)
	if err != nil {
		return true // it is gone
	}
	crd, err = c.terminating(ctx, crd, apiextensionsv1.ConditionTrue, "InstanceDeletionInProgress", "CustomResource deletion is in progress")
	if err != nil {
		return !errors.Is(err, store.ErrConflict)
	}
	last := apiextensionsv1.CustomResourceDefinitionCondition{
		Status: apiextensionsv1.ConditionFalse, Reason: "NeverEstablished", Message: "resource was never established",
	}
	if apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) && k != nil {
		if err := c.deleteObjects(ctx, k); err != nil {
			c.terminating(ctx, crd, apiextensionsv1.ConditionTrue, "InstanceDeletionCheck",
				fmt.Sprintf("could not confirm zero CustomResources remaining: %v", err))
			return false
		}
		last.Reason, last.Message = "InstanceDeletionCompleted", "removed all instances"
		c.stop(ctx, name)
	}
	return c.release(ctx, crd, last)
}

// release removes the finalizer. If there are others, it sets the last condition first; otherwise no client would see it.
func (c *controller) release(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, last apiextensionsv1.CustomResourceDefinitionCondition) bool {
	var err error
	if len(crd.Finalizers) > 1 {
		if crd, err = c.terminating(ctx, crd, last.Status, last.Reason, last.Message); err != nil {
			return !errors.Is(err, store.ErrConflict)
		}
	}
	apihelpers.CRDRemoveFinalizer(crd, apiextensionsv1.CustomResourceCleanupFinalizer)
	_, err = c.definitions.Update(ctx, crd, store.UpdateOptions{FieldManager: fieldManager})
	return !errors.Is(err, store.ErrConflict)
}

// terminating writes the condition Terminating.
func (c *controller) terminating(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, status apiextensionsv1.ConditionStatus, reason, message string) (*apiextensionsv1.CustomResourceDefinition, error) {
	setCondition(crd, c.st.Clock().Now(), apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: status, Reason: reason, Message: message,
	})
	return c.write(ctx, crd)
}

// deletionWait is how long an attempt waits for finalizers of objects.
const deletionWait = time.Minute

// deleteObjects deletes the objects of a kind, and waits until they are gone.
func (c *controller) deleteObjects(ctx context.Context, k *kind) error {
	typed, err := store.As[store.Unstructured](k)
	if err != nil {
		return err
	}
	objects := typed.In(c.st)
	if _, err := objects.DeleteCollection(caller.WithServer(ctx), store.DeleteOptions{}, store.ListOptions{}); err != nil {
		return err
	}
	clk := c.st.Clock()
	waiting, cancel := clock.WithDeadline(ctx, clk, clk.Now().Add(deletionWait), context.DeadlineExceeded)
	defer cancel()
	if c.st.Len(k) == 0 {
		return nil
	}
	for _, err := range objects.Follow(waiting, store.WatchOptions{}) {
		switch {
		case c.st.Len(k) == 0:
			return nil
		case err != nil:
			return context.DeadlineExceeded
		}
	}
	return nil
}
