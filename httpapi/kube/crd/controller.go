package crd

import (
	"context"
	"strconv"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/util/webhook"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube"
	"github.com/kubecoord/kubecoord/httpapi/kube/internal/webhooks"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/watch"
)

// controller accepts the names of definitions, serves their kinds, and takes them away (upstream: controller/status,
// controller/establish, controller/apiapproval and controller/finalizer).
type controller struct {
	api         *httpapi.API
	st          *store.Store
	definitions *store.Collection[apiextensionsv1.CustomResourceDefinition]
	calls       *webhooks.Calls
	known       map[string]*definition // by name
	groups      map[string]*group
	ending      sync.WaitGroup // deletions

	mu sync.Mutex // held while the kinds of the API change; deletions change them too
}

// definition is what the controller knows about one definition. One that is made again under the same name is another
// definition, and has another uid.
type definition struct {
	crd    *apiextensionsv1.CustomResourceDefinition // the newest state that the controller has seen
	from   *Established                              // what it was installed from, for the forks of the API, or nil
	cancel context.CancelFunc                        // ends the deletion of the objects; nil before it has begun
	ended  chan struct{}                             // closed when that deletion has ended

	// guarded by controller.mu
	kind *definedKind                              // the kind that is served, or nil
	of   *apiextensionsv1.CustomResourceDefinition // what kind was made of
	over bool                                      // the objects are gone, and the kind is never served again
}

// fieldManager is the name under which a real server writes the status of a definition.
const fieldManager = "kube-apiserver"

// Run serves the kinds that the CustomResourceDefinitions in the store of an API define, until ctx ends or the API is closed:
// the definitions that it finds, and all that clients create. It sets the conditions that clients wait for. An update of a
// definition replaces its kind, and a deletion deletes the objects first. A definition in a group for which the API has built-in
// kinds is established and has no effect, as on a real server. Each API, and each fork, needs a
// Run of its own: pass it as httpapi.Controller(crd.Run) in httpapi.Options.Parts. The kinds of the API must include Definitions.
func Run(ctx context.Context, api *httpapi.API) {
	calls := webhooks.From(ctx)
	if calls == nil {
		calls = webhooks.New(webhooks.Options{Clock: api.Store().Clock()})
		defer calls.Close()
	}
	c, err := newController(api, calls)
	if err != nil {
		return // cannot be: the kind has this Go type
	}
	defer c.ending.Wait()
	for ev, err := range c.definitions.Follow(ctx, store.WatchOptions{Shared: true}) {
		if err != nil {
			return // ctx has ended, or the store is closed
		}
		if e := made().establishedOf(ev.Object); e != nil && ev.Type == watch.Added && c.install(e, ev.Object) {
			continue
		}
		c.handle(ctx, ev)
	}
}

func newController(api *httpapi.API, calls *webhooks.Calls) (*controller, error) {
	definitions, err := kube.In[apiextensionsv1.CustomResourceDefinition](Definitions(), api.Store())
	return &controller{
		api: api, st: api.Store(), definitions: definitions, calls: calls, known: map[string]*definition{}, groups: map[string]*group{},
	}, err
}

// install takes note of a definition that was stored with its kind served, and reports whether it was.
func (c *controller) install(e *Established, crd *apiextensionsv1.CustomResourceDefinition) bool {
	if c.known[crd.Name] != nil || c.servedBefore(e.kind) != e.kind {
		return false
	}
	d := &definition{from: e}
	c.known[crd.Name] = d
	c.learn(d, crd)
	c.mu.Lock()
	defer c.mu.Unlock()
	d.kind, d.of = e.kind, d.crd
	return true
}

// handle follows one event. A name that becomes free may be the one that another definition of the group waits for.
func (c *controller) handle(ctx context.Context, ev watch.Event[apiextensionsv1.CustomResourceDefinition]) {
	crd, d := ev.Object, c.known[ev.Object.Name]
	switch {
	case d == nil:
	case d.crd.UID != crd.UID && newer(d.crd, crd):
		return // the definition is gone, and there is another one
	case d.crd.UID != crd.UID || ev.Type == watch.Deleted:
		c.forget(ctx, d)
		d = nil
	case !newer(crd, d.crd):
		return // a state before a write of the controller
	}
	if ev.Type != watch.Deleted {
		if d == nil {
			d = &definition{}
			c.known[crd.Name] = d
		}
		c.learn(d, crd)
		c.sync(ctx, d)
	}
	c.giveNames(ctx, crd.Spec.Group)
}

// newer reports whether a state of a definition was written after another one.
func newer(a, b *apiextensionsv1.CustomResourceDefinition) bool {
	of := func(crd *apiextensionsv1.CustomResourceDefinition) uint64 {
		v, _ := strconv.ParseUint(crd.ResourceVersion, 10, 64)
		return v
	}
	return of(a) > of(b)
}

// forget ends all work for a definition that is gone.
func (c *controller) forget(ctx context.Context, d *definition) {
	if d.cancel != nil {
		d.cancel()
		<-d.ended
	}
	c.stop(ctx, d, false)
	c.freeNames(d)
	delete(c.known, d.crd.Name)
}

// sync takes all steps for a definition that are due.
func (c *controller) sync(ctx context.Context, d *definition) {
	for next := c.step(ctx, d); next != nil; next = c.step(ctx, d) {
		crd, err := c.write(ctx, next)
		if err != nil {
			return // a conflict is followed by an event, which leads here again
		}
		c.learn(d, crd)
	}
}

// step takes the next step for a definition. It returns the definition with a status to write, or nil.
func (c *controller) step(ctx context.Context, d *definition) *apiextensionsv1.CustomResourceDefinition {
	crd := d.crd
	established := apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established)
	if crd.DeletionTimestamp != nil {
		if established {
			_ = c.serve(ctx, d) // also one that was found in this state
		}
		if apihelpers.CRDHasFinalizer(crd, apiextensionsv1.CustomResourceCleanupFinalizer) {
			c.end(ctx, d)
		}
		return nil
	}
	next := crd.DeepCopy()
	if c.acceptNames(next) || c.setApproval(next) {
		return next
	}
	if !established && !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.NamesAccepted) {
		return nil
	}
	if err := c.serve(ctx, d); !established && c.establish(next, err) {
		return next
	}
	return nil
}

// write stores the status of a definition. It fails if the definition is in another state, or is another one.
func (c *controller) write(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) (*apiextensionsv1.CustomResourceDefinition, error) {
	return c.definitions.Status().Update(ctx, crd, store.UpdateOptions{FieldManager: fieldManager})
}

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
func (c *controller) serve(ctx context.Context, d *definition) error {
	if kind.BuiltInGroup(c.api.Kinds(), d.crd.Spec.Group) {
		return nil
	}
	err := c.serveNewest(ctx, d)
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.kind != nil {
		c.setTerminating(d.kind, apihelpers.IsCRDConditionTrue(d.crd, apiextensionsv1.Terminating))
	}
	return err
}

// serveNewest makes the API serve the kind of the newest state of a definition.
func (c *controller) serveNewest(ctx context.Context, d *definition) error {
	c.mu.Lock()
	of := d.of
	c.mu.Unlock()
	if of != nil && of.Generation == d.crd.Generation && equality.Semantic.DeepEqual(of.Status.AcceptedNames, d.crd.Status.AcceptedNames) {
		return nil
	}
	k, err := made().kindFor(d.crd, true)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.over {
		return nil
	}
	old := d.kind
	if old == nil {
		old = c.servedBefore(k)
	}
	if k, err = c.own(k, old); err != nil {
		return err
	}
	switch {
	case old == nil:
		err = c.api.AddKinds(ctx, k)
	case old.Kind != k.Kind:
		err = c.api.ReplaceKind(ctx, old, k)
	}
	if err == nil {
		d.kind, d.of = k, d.crd
	}
	return err
}

// servedBefore returns the kind of a definition's group and plural that the API served when Run began, as a fork does.
func (c *controller) servedBefore(k *definedKind) *definedKind {
	for _, other := range c.api.Kinds() {
		if other.GroupResource() != k.Kind.GroupResource() {
			continue
		}
		if of, ok := other.(*definedKind); ok {
			return of
		}
		return &definedKind{Kind: other.Untyped()}
	}
	return nil
}

// stop ends the service of the kind of a definition. over is set if it must not begin again.
func (c *controller) stop(ctx context.Context, d *definition, over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d.over = d.over || over
	if d.kind == nil {
		return
	}
	objects, err := c.st.Objects(d.kind)
	gone := err == nil && objects.Len() == 0 // then the store may forget the kind
	if !gone {
		c.setTerminating(d.kind, false)
	}
	_ = c.api.RemoveKinds(ctx, httpapi.RemoveOptions{Objects: gone}, d.kind) // it may be removed already
	d.kind, d.of = nil, nil
}

// kindOf returns the kind that is served for a definition, or nil.
func (c *controller) kindOf(d *definition) *definedKind {
	c.mu.Lock()
	defer c.mu.Unlock()
	return d.kind
}

// setTerminating says whether objects of a kind may be created. A kind that the store does not have is left alone.
func (c *controller) setTerminating(k kind.Kind, terminating bool) {
	if objects, err := c.st.Objects(k); err == nil {
		objects.SetTerminating(terminating)
	}
}
