package scheme

import (
	"net/url"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// A kube-apiserver passes requests for the logs of a pod, and for its streams, on to the kubelet of its node (upstream:
// registry/core/pod, LogLocation and streamLocation). Here is no kubelet: a pod without a node is answered as upstream, and another
// one as if its node did not exist.

// streams are the subresources of a pod that a kubelet answers.
func streams() []kind.Subresource[meta.Object] {
	connect := func(name string, verbs []string, check func(name string, query url.Values) error, location func(*corev1.Pod, url.Values) error) kind.Subresource[meta.Object] {
		return kind.Subresource[meta.Object]{Name: name, Verbs: verbs, Connect: func(name string, parent func() (meta.Object, error), query url.Values) error {
			if err := check(name, query); err != nil {
				return err
			}
			o, err := parent()
			if err != nil {
				return err
			}
			p := value[corev1.Pod](o)
			if err := location(p, query); err != nil || p.Spec.NodeName == "" {
				return err
			}
			return meta.NewNotFound(meta.GroupResource{Resource: "pods"}, p.Spec.NodeName)
		}}
	}
	both, none := []string{"create", "get"}, func(string, url.Values) error { return nil }
	return []kind.Subresource[meta.Object]{
		connect("log", []string{"get"}, checkLogOptions, checkContainer),
		connect("exec", both, none, checkHost(checkContainer)),
		connect("attach", both, none, checkHost(checkContainer)),
		connect("portforward", both, none, checkHost(func(*corev1.Pod, url.Values) error { return nil })),
	}
}

// checkHost refuses a pod without a node, after another check.
func checkHost(first func(*corev1.Pod, url.Values) error) func(*corev1.Pod, url.Values) error {
	return func(p *corev1.Pod, query url.Values) error {
		if err := first(p, query); err != nil || p.Spec.NodeName != "" {
			return err
		}
		return meta.NewBadRequest("pod %s does not have a host assigned", p.Name)
	}
}

// checkContainer refuses a container that the pod does not have, and a pod whose container must be named (upstream:
// registry/core/pod, validateContainer).
func checkContainer(p *corev1.Pod, query url.Values) error {
	var names []string
	for _, c := range p.Spec.InitContainers {
		names = append(names, c.Name)
	}
	for _, c := range p.Spec.Containers {
		names = append(names, c.Name)
	}
	for _, c := range p.Spec.EphemeralContainers {
		names = append(names, c.Name)
	}
	switch name := query.Get("container"); {
	case name != "" && !slices.Contains(names, name):
		return meta.NewBadRequest("container %s is not valid for pod %s", name, p.Name)
	case name == "" && len(p.Spec.Containers) != 1:
		return meta.NewBadRequest("a container name must be specified for pod %s, choose one of: %s", p.Name, names)
	}
	return nil
}

// checkLogOptions refuses parameters of a request for logs (upstream: apis/core/validation, ValidatePodLogOptions).
func checkLogOptions(name string, query url.Values) error {
	var errs field.Errors
	number := func(param string, least int64, problem string) (set bool, err error) {
		values := query[param]
		var n *int64
		if err := runtime.Convert_Slice_string_To_Pointer_int64(&values, &n, nil); err != nil {
			return false, meta.NewBadRequest("%v", err)
		}
		if n != nil && *n < least {
			errs = append(errs, field.Invalid(field.Path(param), *n, problem))
		}
		return n != nil, nil
	}
	var since bool
	for _, p := range []struct {
		name    string
		least   int64
		problem string
	}{{"tailLines", 0, "must be greater than or equal to 0"}, {"limitBytes", 1, "must be greater than 0"}, {"sinceSeconds", 1, "must be greater than 0"}} {
		set, err := number(p.name, p.least, p.problem)
		if err != nil {
			return err
		}
		since = since || p.name == "sinceSeconds" && set
	}
	if text := query.Get("sinceTime"); text != "" {
		var at metav1.Time
		if err := at.UnmarshalQueryParameter(text); err != nil {
			return meta.NewBadRequest("%v", err)
		}
		if since {
			errs = slices.DeleteFunc(errs, func(e *field.Error) bool { return e.Field == "sinceSeconds" })
			errs = append(errs, field.Forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"))
		}
	}
	if _, set := query["stream"]; set {
		errs = append(errs, field.Forbidden("stream", "may not be specified"))
	}
	if errs == nil {
		return nil
	}
	return errs.Status(meta.GroupKind{Kind: "PodLogOptions"}, name)
}
