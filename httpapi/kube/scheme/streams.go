package scheme

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
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
	return []kind.Subresource[meta.Object]{
		{Name: "log", Verbs: []string{"get"}, Native: &kind.NativeSubresource[meta.Object]{Connect: connectLog}},
		stream("exec", "exec", func(query url.Values) (*corev1.PodExecOptions, error) {
			return &corev1.PodExecOptions{
				Stdin: isSet(query, "stdin"), Stdout: isSet(query, "stdout"), Stderr: isSet(query, "stderr"), TTY: isSet(query, "tty"),
				Container: query.Get("container"), Command: query["command"],
			}, nil
		}, func(o *corev1.PodExecOptions) (*string, url.Values) {
			return &o.Container, streamQuery(o.Stdin, o.Stdout, o.Stderr, o.TTY, o.Command)
		}),
		stream("attach", "attach", func(query url.Values) (*corev1.PodAttachOptions, error) {
			return &corev1.PodAttachOptions{
				Stdin: isSet(query, "stdin"), Stdout: isSet(query, "stdout"), Stderr: isSet(query, "stderr"), TTY: isSet(query, "tty"),
				Container: query.Get("container"),
			}, nil
		}, func(o *corev1.PodAttachOptions) (*string, url.Values) {
			return &o.Container, streamQuery(o.Stdin, o.Stdout, o.Stderr, o.TTY, nil)
		}),
		stream("portforward", "portForward", func(query url.Values) (*corev1.PodPortForwardOptions, error) {
			o, ports := &corev1.PodPortForwardOptions{}, query["ports"]
			return o, metav1.Convert_Slice_string_To_Slice_int32(&ports, &o.Ports, nil)
		}, func(o *corev1.PodPortForwardOptions) (*string, url.Values) {
			query := url.Values{}
			if len(o.Ports) > 0 {
				query.Set("port", strings.Trim(strings.ReplaceAll(fmt.Sprint(o.Ports), " ", ","), "[]"))
			}
			return nil, query
		}),
	}
}

// connectLog passes a request for the log of a container on.
func connectLog(ctx context.Context, to kind.Connection, parent func(string) (meta.Object, error)) (http.Handler, error) {
	if err := checkLogOptions(to.Name, to.Query); err != nil {
		return nil, err
	}
	p, container, err := podAndContainer(to, to.Query.Get("container"), parent)
	if err != nil || p.Spec.NodeName == "" {
		return nil, err
	}
	return toKubelet(ctx, p.Spec.NodeName, "/containerLogs/"+p.Namespace+"/"+p.Name+"/"+container, logQuery(to.Query), p.Name)
}

// stream returns a subresource whose connection becomes a stream of a kubelet. read makes its options, of the type O, and use returns the
// container that the options name, nil for none, and the query of the kubelet.
func stream[O any](name, kubeletPath string, read func(url.Values) (*O, error), use func(*O) (container *string, query url.Values)) kind.Subresource[meta.Object] {
	return kind.Subresource[meta.Object]{Name: name, Verbs: []string{"create", "get"}, Native: &kind.NativeSubresource[meta.Object]{
		ConnectKind: reflect.TypeFor[O]().Name(),
		Options:     func(to kind.Connection) (any, error) { return read(to.Query) },
		Connect: func(ctx context.Context, to kind.Connection, parent func(string) (meta.Object, error)) (http.Handler, error) {
			named, query := use(to.Options.(*O))
			var p *corev1.Pod
			var below string
			if named == nil {
				o, err := parent(to.Name)
				if err != nil {
					return nil, err
				}
				p = value[corev1.Pod](o)
			} else {
				of, container, err := podAndContainer(to, *named, parent)
				if err != nil {
					return nil, err
				}
				p, below = of, "/"+container
			}
			if p.Spec.NodeName == "" {
				return nil, meta.NewBadRequest("pod %s does not have a host assigned", p.Name)
			}
			return toKubelet(ctx, p.Spec.NodeName, "/"+kubeletPath+"/"+p.Namespace+"/"+p.Name+below, query, "")
		},
	}}
}

// isSet returns a boolean of a query, which is true without a value.
func isSet(query url.Values, name string) (set bool) {
	values := query[name]
	_ = runtime.Convert_Slice_string_To_bool(&values, &set, nil) // never fails
	return set
}

// streamQuery returns the query of an exec or attach to a kubelet (upstream: registry/core/pod, streamParams).
func streamQuery(stdin, stdout, stderr, tty bool, command []string) url.Values {
	out := url.Values{}
	for name, set := range map[string]bool{"input": stdin, "output": stdout, "error": stderr, "tty": tty} {
		if set {
			out.Set(name, "1")
		}
	}
	if len(command) > 0 {
		out["command"] = command
	}
	return out
}

// logQuery returns the query of a request for logs to a kubelet (upstream: registry/core/pod, LogLocation).
func logQuery(query url.Values) url.Values {
	out := url.Values{}
	for _, name := range []string{"follow", "previous", "timestamps", "sinceSeconds", "sinceTime", "tailLines", "limitBytes"} {
		if values := query[name]; values != nil {
			out[name] = values
		}
	}
	return out
}

// podAndContainer returns the pod of a request, and the container that it names, or the only one. It refuses a container that the pod
// does not have, and a pod whose container must be named (upstream: registry/core/pod, validateContainer).
func podAndContainer(to kind.Connection, name string, parent func(string) (meta.Object, error)) (*corev1.Pod, string, error) {
	o, err := parent(to.Name)
	if err != nil {
		return nil, "", err
	}
	p := value[corev1.Pod](o)
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
	switch {
	case name != "" && !slices.Contains(names, name):
		return nil, "", meta.NewBadRequest("container %s is not valid for pod %s", name, p.Name)
	case name == "" && len(p.Spec.Containers) != 1:
		return nil, "", meta.NewBadRequest("a container name must be specified for pod %s, choose one of: %s", p.Name, names)
	}
	return p, cmp.Or(name, p.Spec.Containers[0].Name), nil
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
