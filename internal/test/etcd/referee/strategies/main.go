// Command strategies answers questions about single objects as kube-apiserver's own code does: which members its
// defaulting fills in, and which errors its create and update strategies give. One question a line comes in, one answer a
// line goes out, both JSON. The tests of httpapi/kube/scheme/internal record what it answers in their testdata; it needs no
// store, no network and no cluster.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/capabilities"
)

// A question names an operation (decode, default, create, update), an object as its JSON, for update the stored object, and the
// subresource ("" or status, approval, finalize, resize, ephemeralcontainers).
type question struct {
	Op          string          `json:"op"`
	Object      json.RawMessage `json:"object"`
	Old         json.RawMessage `json:"old,omitempty"`
	Subresource string          `json:"subresource,omitempty"`
}

// An answer has the object, as decoded or with its defaults, or the errors of the strategy, in order. Failed says why there is neither.
type answer struct {
	Object  runtime.Object       `json:"object,omitempty"`
	Errors  []metav1.StatusCause `json:"errors,omitempty"`
	Message string               `json:"message,omitempty"`
	Failed  string               `json:"failed,omitempty"`
}

func main() {
	// As --allow-privileged, which kind and envtest set.
	capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true})
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(r io.Reader, w io.Writer) error {
	in, out := bufio.NewReader(r), json.NewEncoder(w)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			if err := out.Encode(reply(line)); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// reply answers one question. A panic of upstream's code is an answer too: some of it expects an object that was decoded.
func reply(line []byte) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			a = answer{Failed: fmt.Sprintf("panic: %v", p)}
		}
	}()
	var q question
	if err := json.Unmarshal(line, &q); err != nil {
		return answer{Failed: err.Error()}
	}
	if q.Op == "decode" {
		obj, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(q.Object, nil, nil)
		return answer{Object: obj, Failed: text(err)}
	}
	obj, gvk, err := decode(q.Object)
	if err != nil {
		return answer{Failed: err.Error()}
	}
	if q.Op == "default" {
		obj, err = roundTrip(obj, gvk.GroupVersion())
		return answer{Object: obj, Failed: text(err)}
	}
	var old runtime.Object
	if q.Op == "update" {
		if old, _, err = decode(q.Old); err != nil {
			return answer{Failed: "old: " + err.Error()}
		}
	}
	return verdict(validate(obj, old, gvk, q.Subresource))
}

// roundTrip converts an object to its internal type and back, as storage and answers do.
func roundTrip(obj runtime.Object, version schema.GroupVersion) (runtime.Object, error) {
	internal, err := legacyscheme.Scheme.ConvertToVersion(obj, runtime.InternalGroupVersioner)
	if err != nil {
		return nil, err
	}
	return legacyscheme.Scheme.ConvertToVersion(internal, version)
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// decode returns the object of a body with its defaults, in its version.
func decode(body []byte) (runtime.Object, schema.GroupVersionKind, error) {
	obj, gvk, err := legacyscheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return nil, schema.GroupVersionKind{}, err
	}
	legacyscheme.Scheme.Default(obj)
	return obj, *gvk, nil
}

func validate(obj, old runtime.Object, gvk schema.GroupVersionKind, subresource string) error {
	strategy, ok := strategies()[gvk.GroupKind()][subresource]
	if !ok {
		return fmt.Errorf("no strategy for %s %q", gvk, subresource)
	}
	internal, err := legacyscheme.Scheme.ConvertToVersion(obj, runtime.InternalGroupVersioner)
	if err != nil {
		return err
	}
	m, err := meta.Accessor(internal)
	if err != nil {
		return err
	}
	ctx := genericapirequest.WithNamespace(context.Background(), m.GetNamespace())
	ctx = genericapirequest.WithUser(ctx, &user.DefaultInfo{Name: "admin"})
	ctx = genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{
		APIGroup: gvk.Group, APIVersion: gvk.Version, Namespace: m.GetNamespace(), Subresource: subresource,
	})
	if old == nil {
		rest.FillObjectMetaSystemFields(m)
		m.SetUID("uid")
		return rest.BeforeCreate(strategy.(rest.RESTCreateStrategy), ctx, internal)
	}
	was, err := legacyscheme.Scheme.ConvertToVersion(old, runtime.InternalGroupVersioner)
	if err != nil {
		return err
	}
	stored, err := meta.Accessor(was)
	if err != nil {
		return err
	}
	stored.SetResourceVersion("1")
	stored.SetUID("uid")
	m.SetUID("uid")
	if m.GetResourceVersion() == "" {
		m.SetResourceVersion("1")
	}
	return rest.BeforeUpdate(strategy, ctx, internal, was)
}

func verdict(err error) answer {
	if err == nil {
		return answer{}
	}
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || status.ErrStatus.Details == nil {
		return answer{Failed: err.Error()}
	}
	return answer{Errors: status.ErrStatus.Details.Causes, Message: status.ErrStatus.Message}
}
