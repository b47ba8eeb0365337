package validation

import (
	"encoding/json"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxDataSize limits the values of a ConfigMap or Secret together.
const maxDataSize = 1 << 20

func validateCore(e *errs, subresource string, obj, old runtime.Object) bool {
	switch o := obj.(type) {
	case *corev1.ConfigMap:
		configMap(e, o, kindOf[corev1.ConfigMap](old))
	case *corev1.Secret:
		secret(e, o, kindOf[corev1.Secret](old))
	case *corev1.Namespace:
		namespace(e, subresource, o, old != nil)
	case *corev1.Pod:
		pod(e, subresource, o, kindOf[corev1.Pod](old))
	case *corev1.PersistentVolume:
		persistentVolume(e, subresource, o, kindOf[corev1.PersistentVolume](old))
	case *corev1.PersistentVolumeClaim:
		claim(e, subresource, o, kindOf[corev1.PersistentVolumeClaim](old))
	case *corev1.Service:
		service(e, subresource, o, kindOf[corev1.Service](old))
	case *corev1.Endpoints:
		endpoints(e, o, kindOf[corev1.Endpoints](old))
	case *corev1.Event:
		coreEvent(e, o)
	case *corev1.Node:
		node(e, subresource, o, kindOf[corev1.Node](old))
	case *corev1.LimitRange:
		limitRange(e, o)
	case *corev1.ResourceQuota:
		resourceQuota(e, subresource, o, kindOf[corev1.ResourceQuota](old))
	case *corev1.ReplicationController:
		replicationController(e, subresource, o, kindOf[corev1.ReplicationController](old))
	case *corev1.PodTemplate:
		podTemplate(e, field.NewPath("template"), &o.Template)
	case *authenticationv1.TokenRequest:
		tokenRequest(e, field.NewPath("spec", "expirationSeconds"), deref(o.Spec.ExpirationSeconds))
	case *corev1.ServiceAccount, *corev1.Binding: // have no rules of their own: see bind of package scheme
	default:
		return false
	}
	return true
}

func configMap(e *errs, c, old *corev1.ConfigMap) {
	if old != nil && deref(old.Immutable) {
		frozen(e, c.Immutable)
		unchanged(e, "data", c.Data, old.Data)
		unchanged(e, "binaryData", c.BinaryData, old.BinaryData)
	}
	size := 0
	for _, key := range sorted(c.Data) {
		p := field.NewPath("data").Key(key)
		e.invalids(p, key, validation.IsConfigMapKey(key))
		if _, ok := c.BinaryData[key]; ok {
			e.invalid(p, key, "duplicate of key present in binaryData")
		}
		size += len(c.Data[key])
	}
	for _, key := range sorted(c.BinaryData) {
		e.invalids(field.NewPath("binaryData").Key(key), key, validation.IsConfigMapKey(key))
		size += len(c.BinaryData[key])
	}
	if size > maxDataSize {
		e.tooLong(field.NewPath(""), maxDataSize)
	}
}

const frozenDetail = "field is immutable when `immutable` is set"

func frozen(e *errs, immutable *bool) {
	if !deref(immutable) {
		e.forbidden(field.NewPath("immutable"), frozenDetail)
	}
}

func unchanged(e *errs, member string, value, old any) {
	if !apiequality.Semantic.DeepEqual(value, old) {
		e.forbidden(field.NewPath(member), frozenDetail)
	}
}

func secret(e *errs, s, old *corev1.Secret) {
	if old != nil {
		e.immutable(field.NewPath("type"), s.Type, old.Type)
		if deref(old.Immutable) {
			frozen(e, s.Immutable)
			unchanged(e, "data", s.Data, old.Data)
		}
	}
	data, size := field.NewPath("data"), 0
	for _, key := range sorted(s.Data) {
		e.invalids(data.Key(key), key, validation.IsConfigMapKey(key))
		size += len(s.Data[key])
	}
	if size > maxDataSize {
		e.tooLong(data, maxDataSize)
	}
	secretType(e, s, data)
}

// secretType checks the keys that Kubernetes' own types of Secrets need.
func secretType(e *errs, s *corev1.Secret, data loc) {
	need := func(key string) {
		if _, ok := s.Data[key]; !ok {
			e.required(data.Key(key), "")
		}
	}
	object := func(key string) {
		need(key)
		if value, ok := s.Data[key]; ok {
			if err := json.Unmarshal(value, &map[string]any{}); err != nil {
				e.invalid(data.Key(key), "<secret contents redacted>", err.Error())
			}
		}
	}
	switch s.Type {
	case corev1.SecretTypeServiceAccountToken:
		e.present(field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey), s.Annotations[corev1.ServiceAccountNameKey])
	case corev1.SecretTypeDockercfg:
		object(corev1.DockerConfigKey)
	case corev1.SecretTypeDockerConfigJson:
		object(corev1.DockerConfigJsonKey)
	case corev1.SecretTypeBasicAuth:
		_, user := s.Data[corev1.BasicAuthUsernameKey]
		_, password := s.Data[corev1.BasicAuthPasswordKey]
		if !user && !password {
			need(corev1.BasicAuthUsernameKey)
			need(corev1.BasicAuthPasswordKey)
		}
	case corev1.SecretTypeSSHAuth:
		e.present(data.Key(corev1.SSHAuthPrivateKey), string(s.Data[corev1.SSHAuthPrivateKey]))
	case corev1.SecretTypeTLS:
		need(corev1.TLSCertKey)
		need(corev1.TLSPrivateKeyKey)
	}
}

func namespace(e *errs, subresource string, n *corev1.Namespace, update bool) {
	finalizers := field.NewPath("spec", "finalizers")
	switch {
	case subresource == "status":
		p := field.NewPath("status", "Phase")
		if n.DeletionTimestamp.IsZero() && n.Status.Phase != corev1.NamespaceActive {
			e.invalid(p, n.Status.Phase, "may only be 'Active' if `deletionTimestamp` is empty")
		} else if !n.DeletionTimestamp.IsZero() && n.Status.Phase != corev1.NamespaceTerminating {
			e.invalid(p, n.Status.Phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")
		}
	case subresource == "finalize":
		for i, name := range n.Spec.Finalizers {
			finalizer(e, finalizers.Index(i), string(name))
		}
	case !update:
		for _, name := range n.Spec.Finalizers {
			finalizer(e, finalizers, string(name))
		}
	}
}

// finalizer checks a name in spec.finalizers of a Namespace.
func finalizer(e *errs, p loc, name string) {
	e.add(apivalidation.ValidateFinalizerName(name, p)...)
	switch name {
	case string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents:
		return
	}
	if !strings.Contains(name, "/") {
		e.invalid(p, name, "name is neither a standard finalizer name nor is it fully qualified")
	}
}

func pod(e *errs, subresource string, p, old *corev1.Pod) {
	switch {
	case old == nil:
		podCreate(e, p)
	case subresource == "status":
		podStatus(e, p, old)
	case subresource == "ephemeralcontainers":
		podEphemeralUpdate(e, p, old)
	case subresource == "resize":
		podResize(e, p, old)
	default:
		podUpdate(e, p, old)
	}
}

// tokenRequest checks how long a token of a ServiceAccount is asked for.
func tokenRequest(e *errs, p loc, seconds int64) {
	if seconds < 10*60 {
		e.invalid(p, seconds, "may not specify a duration less than 10 minutes")
	}
	if seconds > 1<<32 {
		e.invalid(p, seconds, "may not specify a duration larger than 2^32 seconds")
	}
}
