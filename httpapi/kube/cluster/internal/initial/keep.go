package initial

import (
	"context"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/typed"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

const (
	// renewal is how often a server renews its Lease (upstream: controlplane/apiserver, IdentityLeaseRenewIntervalPeriod).
	renewal = 10 * time.Second
	// renewals is after how many renewals it looks at its FlowSchemas and PriorityLevelConfigurations, which is every minute (upstream:
	// registry/flowcontrol/rest).
	renewals = 6
)

// Keep renews the Lease of the server, and mends its configuration of priority and fairness, until ctx ends.
func (o Options) Keep(ctx context.Context, a *httpapi.API) {
	var mended [2]any // the state that was left
	for n := 1; pause(ctx, a.Store().Clock()); n++ {
		// What fails now is done the next time.
		_ = o.renew(ctx, a)
		if n%renewals == 0 && stateOf(a) != mended && mend(ctx, a) == nil {
			mended = stateOf(a)
		}
	}
}

// stateOf returns a value that is another one after each change of the objects of priority and fairness.
func stateOf(a *httpapi.API) (states [2]any) {
	for i, resource := range []string{"flowschemas", "prioritylevelconfigurations"} {
		if objects := typed.ObjectsOf(a, meta.GroupResource{Group: flowcontrolv1.GroupName, Resource: resource}); objects != nil {
			states[i] = objects.State()
		}
	}
	return states
}

// pause waits until the next renewal. It reports whether ctx still lasts.
func pause(ctx context.Context, c clock.Clock) bool {
	wait, cancel := clock.WithDeadline(ctx, c, c.Now().Add(renewal), context.DeadlineExceeded)
	defer cancel()
	<-wait.Done()
	return ctx.Err() == nil
}

// renew renews the Lease, or makes it again.
func (o Options) renew(ctx context.Context, a *httpapi.API) error {
	now := a.Store().Now()
	own := identityLease(o.address(), now)
	objects := typed.ObjectsOf(a, meta.GroupResource{Group: own.group, Resource: own.plural})
	l := own.value().(*lease.Lease)
	if objects.Get(l.Namespace, l.Name) == nil {
		return put(ctx, a, []object{own})
	}
	return objects.Modify(ctx, l.Namespace, l.Name, "", func(o meta.Object) error {
		o.(*lease.Lease).Spec.RenewTime = new(meta.NewMicroTime(now))
		return nil
	}, store.UpdateOptions{FieldManager: serverManager})
}

// mend makes the objects of priority and fairness that are gone, and sets the spec of those that nobody keeps himself (upstream:
// registry/flowcontrol/ensurer).
func mend(ctx context.Context, a *httpapi.API) error {
	var gone []object
	for _, of := range flowControl() {
		objects := typed.ObjectsOf(a, meta.GroupResource{Group: of.group, Resource: of.plural})
		if objects == nil {
			continue
		}
		have := objects.Get("", of.name)
		if have == nil {
			gone = append(gone, of)
			continue
		}
		if want := of.value(); !revise(have, want, isMandatory(of.name), false) {
			err := objects.Modify(ctx, "", of.name, "", func(o meta.Object) error {
				revise(o, want, isMandatory(of.name), true)
				return nil
			}, store.UpdateOptions{FieldManager: of.manager})
			if err != nil {
				return err
			}
		}
	}
	return put(ctx, a, gone)
}

// isMandatory reports whether an object must be as the server has it.
func isMandatory(name string) bool { return name == "exempt" || name == "catch-all" }

// revise reports whether an object is as the server wants it, and makes it so with change.
func revise(o meta.Object, want any, mandatory, change bool) bool {
	m := o.GetObjectMeta()
	auto := mandatory
	if !auto {
		switch m.Annotations[flowcontrolv1.AutoUpdateAnnotationKey] {
		case "true":
			auto = true
		case "false":
		default:
			auto = m.Generation == 1
		}
	}
	text := map[bool]string{true: "true", false: "false"}[auto]
	same := m.Annotations[flowcontrolv1.AutoUpdateAnnotationKey] == text
	if change && !same {
		annotations := map[string]string{flowcontrolv1.AutoUpdateAnnotationKey: text}
		for key, value := range m.Annotations {
			if key != flowcontrolv1.AutoUpdateAnnotationKey {
				annotations[key] = value
			}
		}
		m.Annotations = annotations
	}
	if !auto {
		return same
	}
	switch want := want.(type) {
	case *flowcontrolv1.FlowSchema:
		have := kind.ValueOf[flowcontrolv1.FlowSchema](o)
		same = same && equality.Semantic.DeepEqual(have.Spec, want.Spec)
		if change {
			have.Spec = want.Spec
		}
	case *flowcontrolv1.PriorityLevelConfiguration:
		have := kind.ValueOf[flowcontrolv1.PriorityLevelConfiguration](o)
		same = same && equality.Semantic.DeepEqual(have.Spec, want.Spec)
		if change {
			have.Spec = want.Spec
		}
	}
	return same
}
