package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Collection is a store.Collection, whose objects In finds on a server.
type Collection[T any] = store.Collection[T]

// In returns the collection of a kind on the server of a Client.
func In[T any](c *Client, k *store.Kind[T]) *Collection[T] {
	return store.CollectionOf(&remote[T]{c: c, kind: kinds.Of(k), info: k.Info()})
}

// remote are the objects of one kind on a server.
type remote[T any] struct {
	c      *Client
	kind   *kinds.Kind
	info   *kind.Info
	status bool
}

func (c *remote[T]) Clock() clock.Clock { return clock.Real{} }

func (c *remote[T]) Status() *Collection[T] {
	s := *c
	s.status = true
	return store.CollectionOf(&s)
}

func (c *remote[T]) Create(ctx context.Context, obj *T, opts store.CreateOptions) (*T, error) {
	if c.status {
		return nil, errOfStatus("Create")
	}
	return c.write(ctx, http.MethodPost, "application/json", obj, "", writeQuery(opts.DryRun, opts.FieldManager))
}

func (c *remote[T]) Get(ctx context.Context, namespace, name string) (*T, error) {
	path, err := c.objectPath(namespace, name)
	if err != nil {
		return nil, err
	}
	return c.object(ctx, &request{method: http.MethodGet, path: path})
}

func (c *remote[T]) Update(ctx context.Context, obj *T, opts store.UpdateOptions) (*T, error) {
	name := c.kind.Given(obj).GetObjectMeta().Name
	return c.write(ctx, http.MethodPut, "application/json", obj, name, writeQuery(opts.DryRun, opts.FieldManager))
}

func (c *remote[T]) Modify(ctx context.Context, namespace, name string, change func(obj *T) error, opts store.UpdateOptions) (*T, error) {
	for {
		obj, err := c.Get(ctx, namespace, name)
		if err != nil {
			return nil, err
		}
		m := c.kind.Given(obj).GetObjectMeta()
		version := m.ResourceVersion
		if err := change(obj); err != nil {
			return nil, err
		}
		written, err := c.Update(ctx, obj, opts)
		if !errors.Is(err, store.ErrConflict) || m.ResourceVersion != version || ctx.Err() != nil {
			return written, err
		}
	}
}

func (c *remote[T]) Delete(ctx context.Context, namespace, name string, opts store.DeleteOptions) (*T, error) {
	if c.status {
		return nil, errOfStatus("Delete")
	}
	path, err := c.objectPath(namespace, name)
	if err != nil {
		return nil, err
	}
	data, err := c.c.do(ctx, &request{
		method: http.MethodDelete, path: path, contentType: "application/json", body: deleteBody(opts), most: maxObject,
	})
	if err != nil {
		return nil, err
	}
	var answer meta.Status
	if json.Unmarshal(data, &answer) != nil || answer.Kind != "Status" {
		return c.decode(data)
	}
	gone := new(T)
	m := c.kind.Given(gone).GetObjectMeta()
	m.Namespace, m.Name = namespace, name
	if answer.Details != nil {
		m.UID = answer.Details.UID
	}
	return gone, nil
}

func (c *remote[T]) DeleteCollection(ctx context.Context, opts store.DeleteOptions, list store.ListOptions) (*store.List[T], error) {
	if c.status {
		return nil, errOfStatus("DeleteCollection")
	}
	return c.list(ctx, list, &request{method: http.MethodDelete, contentType: "application/json", body: deleteBody(opts)})
}

func (c *remote[T]) Patch(ctx context.Context, namespace, name string, t store.PatchType, data []byte, opts store.PatchOptions) (*T, error) {
	path, err := c.objectPath(namespace, name)
	if err != nil {
		return nil, err
	}
	query := writeQuery(opts.DryRun, opts.FieldManager)
	query.Set("fieldValidation", "Strict")
	return c.object(ctx, &request{
		method: http.MethodPatch, path: path + c.subresource(), query: query, contentType: string(t), body: data,
	})
}

func (c *remote[T]) Apply(ctx context.Context, config *T, opts store.ApplyOptions) (*T, error) {
	query := writeQuery(opts.DryRun, opts.FieldManager)
	if opts.Force {
		query.Set("force", "true")
	}
	name := c.kind.Given(config).GetObjectMeta().Name
	return c.write(ctx, http.MethodPatch, registry.ApplyPatch, config, name, query)
}

// write sends an object; name is "" for a create.
func (c *remote[T]) write(ctx context.Context, method, contentType string, obj *T, name string, query url.Values) (*T, error) {
	o := c.kind.Given(obj)
	namespace := o.GetObjectMeta().Namespace
	if c.info.ClusterScoped {
		namespace = ""
	} else if namespace == "" {
		return nil, errNoNamespace()
	}
	path, err := c.collectionPath(namespace)
	if method != http.MethodPost {
		path, err = c.objectPath(namespace, name)
	}
	if err != nil {
		return nil, err
	}
	body, err := c.kind.AppendWireJSON(nil, o)
	if err != nil {
		return nil, fmt.Errorf("client: %s: %w", c.info.Plural, err)
	}
	return c.object(ctx, &request{method: method, path: path + c.subresource(), query: query, contentType: contentType, body: body})
}

// object sends a request whose answer is an object.
func (c *remote[T]) object(ctx context.Context, r *request) (*T, error) {
	r.most = maxObject
	data, err := c.c.do(ctx, r)
	if err != nil {
		return nil, err
	}
	return c.decode(data)
}

func (c *remote[T]) decode(data []byte) (*T, error) {
	o, err := c.kind.ReadWireJSON(data)
	if err != nil {
		return nil, fmt.Errorf("client: the answer is no %s: %w", c.info.Kind, err)
	}
	return kind.ValueOf[T](o), nil
}

// collectionPath returns the path of a collection; namespace is "" for all namespaces.
func (c *remote[T]) collectionPath(namespace string) (string, error) {
	path := "/api/" + c.info.Versions[c.kind.OwnVersion()].Name
	if c.info.Group != "" {
		path = "/apis/" + c.info.Group + "/" + c.info.Versions[c.kind.OwnVersion()].Name
	}
	if namespace != "" {
		if err := checkSegment(namespace); err != nil {
			return "", err
		}
		path += "/namespaces/" + url.PathEscape(namespace)
	}
	return path + "/" + c.info.Plural, nil
}

// objectPath returns the path of an object.
func (c *remote[T]) objectPath(namespace, name string) (string, error) {
	if name == "" {
		return "", meta.NewBadRequest("name: got none, want one")
	}
	if namespace == "" && !c.info.ClusterScoped {
		return "", errNoNamespace()
	}
	if err := checkSegment(name); err != nil {
		return "", err
	}
	path, err := c.collectionPath(namespace)
	return path + "/" + url.PathEscape(name), err
}

// checkSegment refuses a name that would make another path (upstream: apimachinery,
// api/validation/path).
func checkSegment(name string) error {
	if name == "." || name == ".." || strings.ContainsAny(name, "/%") {
		return meta.NewBadRequest("name or namespace: got %q, want one without / and %%, and not . or ..", name)
	}
	return nil
}

func errNoNamespace() error { return meta.NewBadRequest("namespace: got none, want one") }

func errOfStatus(verb string) error {
	return errors.New("client: " + verb + ": got the collection of a status, want the collection of whole objects")
}

// subresource is the end of the path of a write.
func (c *remote[T]) subresource() string {
	if c.status {
		return "/status"
	}
	return ""
}

// writeQuery returns the parameters that all writes have.
func writeQuery(dryRun bool, fieldManager string) url.Values {
	query := url.Values{}
	if dryRun {
		query.Set("dryRun", kinds.DryRunAll)
	}
	if fieldManager != "" {
		query.Set("fieldManager", fieldManager)
	}
	return query
}

// deleteBody returns the body of a deletion.
func deleteBody(opts store.DeleteOptions) []byte {
	body := kinds.DeleteOptions{TypeMeta: meta.TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"}}
	if opts.DryRun {
		body.DryRun = []string{kinds.DryRunAll}
	}
	if opts.PropagationPolicy != "" {
		body.PropagationPolicy = &opts.PropagationPolicy
	}
	if opts.UID != "" || opts.ResourceVersion != "" {
		body.Preconditions = &kinds.Preconditions{}
	}
	if opts.UID != "" {
		body.Preconditions.UID = &opts.UID
	}
	if opts.ResourceVersion != "" {
		body.Preconditions.ResourceVersion = &opts.ResourceVersion
	}
	data, _ := json.Marshal(body) // strings and booleans have a form
	return data
}

// listQuery returns the parameters of a list.
func listQuery(o store.ListOptions) url.Values {
	query := url.Values{}
	for name, value := range map[string]string{
		"labelSelector": o.LabelSelector, "fieldSelector": o.FieldSelector, "shardSelector": o.ShardSelector,
		"continue": o.Continue, "resourceVersion": o.ResourceVersion, "resourceVersionMatch": o.ResourceVersionMatch,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if o.Limit > 0 {
		query.Set("limit", strconv.FormatInt(o.Limit, 10))
	}
	return query
}
