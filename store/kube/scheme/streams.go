package scheme

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// A kube-apiserver passes requests for the logs of a pod, and for its streams, on to the kubelet of its node (upstream:
// registry/core/pod, LogLocation and streamLocation). Here the Proxier of the request does that.

// streams are the subresources of a pod that a kubelet answers.
func streams() []kind.Subresource[meta.Object] {
	type checks struct {
		query    func(name string, query url.Values) error
		location func(*corev1.Pod, url.Values) error
	}
	connect := func(name, options, kubeletPath string, verbs []string, check checks) kind.Subresource[meta.Object] {
		return kind.Subresource[meta.Object]{Name: name, Verbs: verbs, ConnectKind: options, Connect: func(ctx context.Context, to kind.Connection, parent func(string) (meta.Object, error)) (http.Handler, error) {
			if err := check.query(to.Name, to.Query); err != nil {
				return nil, err
			}
			o, err := parent(to.Name)
			if err != nil {
				return nil, err
			}
			p := value[corev1.Pod](o)
			if err := check.location(p, to.Query); err != nil || p.Spec.NodeName == "" {
				return nil, err
			}
			path := "/" + kubeletPath + "/" + p.Namespace + "/" + p.Name
			if name != "portforward" {
				path += "/" + containerOf(p, to.Query)
			}
			return toKubelet(ctx, p.Spec.NodeName, path, kubeletQuery(to.Query), name == "log")
		}}
	}
	both, none := []string{"create", "get"}, func(string, url.Values) error { return nil }
	return []kind.Subresource[meta.Object]{
		connect("log", "", "containerLogs", []string{"get"}, checks{checkLogOptions, checkContainer}),
		connect("exec", "PodExecOptions", "exec", both, checks{none, checkHost(checkContainer)}),
		connect("attach", "PodAttachOptions", "attach", both, checks{none, checkHost(checkContainer)}),
		connect("portforward", "PodPortForwardOptions", "portForward", both, checks{none, checkHost(func(*corev1.Pod, url.Values) error { return nil })}),
	}
}

// kubeletQuery returns the query of a request to a kubelet (upstream: registry/core/pod, streamParams and LogLocation).
func kubeletQuery(query url.Values) url.Values {
	out := url.Values{}
	for _, name := range []string{"command", "follow", "previous", "timestamps", "sinceSeconds", "sinceTime", "tailLines", "limitBytes"} {
		if values := query[name]; values != nil {
			out[name] = values
		}
	}
	for name, kubelets := range map[string]string{"stdin": "input", "stdout": "output", "stderr": "error", "tty": "tty"} {
		if set, _ := strconv.ParseBool(query.Get(name)); set {
			out.Set(kubelets, "1")
		}
	}
	if ports := query["ports"]; ports != nil {
		out.Set("port", strings.Join(ports, ","))
	}
	return out
}

// containerOf returns the container that a request names, or the only one.
func containerOf(p *corev1.Pod, query url.Values) string {
	return cmp.Or(query.Get("container"), p.Spec.Containers[0].Name)
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
