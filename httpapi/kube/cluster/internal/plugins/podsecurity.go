package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	podsecurity "k8s.io/pod-security-admission/admission"
	"k8s.io/pod-security-admission/admission/api/load"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/metrics"
	"k8s.io/pod-security-admission/policy"

	"github.com/kubecoord/kubecoord/store"
	writes "github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// podSpecs returns the resources that PodSecurity reads.
func podSpecs() []meta.GroupResource {
	all := core("pods", "namespaces", "replicationcontrollers", "podtemplates")
	for _, plural := range []string{"replicasets", "deployments", "statefulsets", "daemonsets"} {
		all = append(all, meta.GroupResource{Group: appsv1.GroupName, Resource: plural})
	}
	return append(all, meta.GroupResource{Group: batchv1.GroupName, Resource: "jobs"}, meta.GroupResource{Group: batchv1.GroupName, Resource: "cronjobs"})
}

// podSecurity is the plugin PodSecurity, by k8s.io/pod-security-admission with its default configuration. It is made with the first
// write that it concerns.
func (r *reader) podSecurity() check {
	made := sync.OnceValue(func() *podsecurity.Admission {
		configuration, err := load.LoadFromReader(nil)
		p := &podsecurity.Admission{Configuration: configuration, Metrics: unmeasured{}, NamespaceGetter: r, PodLister: r}
		if err == nil {
			p.Evaluator, err = policy.NewEvaluator(policy.DefaultChecks(), nil)
		}
		if err == nil {
			err = errors.Join(p.CompleteConfiguration(), p.ValidateConfiguration())
		}
		if err != nil {
			panic(err) // cannot be: its configuration is the default
		}
		return p
	})
	return func(ctx context.Context, a *writes.Attributes) error {
		answer := made().Validate(ctx, evaluated{ctx, a})
		for _, w := range answer.Warnings {
			a.Warn(w)
		}
		if answer.Allowed {
			return nil
		}
		err := refuse(a, errors.New("Not allowed by PodSecurity")) //nolint:staticcheck // upstream's text
		refusal, _ := err.(*apierrors.StatusError)
		if s := answer.Result; s != nil && refusal != nil {
			out := &refusal.ErrStatus
			out.Message, out.Reason, out.Code = cmp.Or(s.Message, out.Message), cmp.Or(s.Reason, out.Reason), cmp.Or(s.Code, out.Code)
			if s.Details != nil {
				out.Details = s.Details
			}
		}
		return err
	}
}

// GetNamespace implements podsecurity.NamespaceGetter.
func (r *reader) GetNamespace(_ context.Context, name string) (*corev1.Namespace, error) {
	if ns := r.namespaces.Get("", name); ns != nil {
		return ns, nil
	}
	return nil, apierrors.NewNotFound(corev1.Resource("namespaces"), name)
}

// ListPods implements podsecurity.PodLister.
func (r *reader) ListPods(_ context.Context, namespace string) ([]*corev1.Pod, error) {
	return slices.Collect(r.pods.All(namespace)), nil
}

// evaluated are the attributes of a write in the form of the library.
type evaluated struct {
	ctx context.Context
	of  *writes.Attributes
}

// GetName implements api.Attributes.
func (e evaluated) GetName() string { return e.of.Name }

// GetNamespace implements api.Attributes.
func (e evaluated) GetNamespace() string { return e.of.Namespace }

// GetResource implements api.Attributes.
func (e evaluated) GetResource() schema.GroupVersionResource {
	info := e.of.Resource.Info()
	return schema.GroupVersionResource{Group: info.Group, Version: info.Versions[e.of.ResourceVersion].Name, Resource: info.Plural}
}

// GetKind implements api.Attributes.
func (e evaluated) GetKind() schema.GroupVersionKind {
	t := e.of.Kind.TypeMeta(e.of.Version)
	return schema.FromAPIVersionAndKind(t.APIVersion, t.Kind)
}

// GetSubresource implements api.Attributes.
func (e evaluated) GetSubresource() string { return e.of.Subresource }

// GetOperation implements api.Attributes.
func (e evaluated) GetOperation() admissionv1.Operation { return admissionv1.Operation(e.of.Operation) }

// GetObject implements api.Attributes.
func (e evaluated) GetObject() (runtime.Object, error) { return typedObject(e.of.Object) }

// GetOldObject implements api.Attributes.
func (e evaluated) GetOldObject() (runtime.Object, error) { return typedObject(e.of.Old) }

// GetUserName implements api.Attributes.
func (e evaluated) GetUserName() string { return store.UserOf(e.ctx).Name }

func typedObject(o meta.Object) (runtime.Object, error) {
	v, ok := kind.Value(o).(runtime.Object)
	if !ok {
		return nil, fmt.Errorf("unexpected type %T", o)
	}
	return v, nil
}

// unmeasured counts nothing.
type unmeasured struct{}

// RecordEvaluation implements metrics.Recorder.
func (unmeasured) RecordEvaluation(metrics.Decision, api.LevelVersion, metrics.Mode, api.Attributes) {
}

// RecordExemption implements metrics.Recorder.
func (unmeasured) RecordExemption(api.Attributes) {}

// RecordError implements metrics.Recorder.
func (unmeasured) RecordError(bool, api.Attributes) {}
