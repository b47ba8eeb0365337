package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func (c *remote[T]) List(ctx context.Context, opts store.ListOptions) (*store.List[T], error) {
	return c.list(ctx, opts, &request{method: http.MethodGet})
}

// pageSize is how many objects All reads at once, as client-go does.
const pageSize = 500

func (c *remote[T]) All(ctx context.Context, namespace string) iter.Seq2[*T, error] {
	opts := store.ListOptions{Namespace: namespace, Limit: pageSize}
	first, err := c.List(ctx, opts)
	return func(yield func(*T, error) bool) {
		page, err, opts := first, err, opts
		for {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, obj := range page.Items {
				if !yield(obj, nil) {
					return
				}
			}
			if page.Continue == "" {
				return
			}
			opts.Continue = page.Continue
			page, err = c.List(ctx, opts)
		}
	}
}

// list sends a request whose answer is a list of the objects that opts choose.
func (c *remote[T]) list(ctx context.Context, opts store.ListOptions, r *request) (*store.List[T], error) {
	path, err := c.collectionPath(opts.Namespace)
	if err != nil {
		return nil, err
	}
	r.path, r.query, r.most = path, listQuery(opts), maxList
	data, err := c.c.do(ctx, r)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Metadata meta.ListMeta     `json:"metadata"`
		Items    []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("client: the answer is no list: %w", err)
	}
	m := answer.Metadata
	out := &store.List[T]{
		Items: make([]*T, len(answer.Items)), ResourceVersion: m.ResourceVersion,
		Continue: m.Continue, RemainingItemCount: m.RemainingItemCount,
	}
	for i, item := range answer.Items {
		if out.Items[i], err = c.decode(item); err != nil {
			return nil, err
		}
	}
	return out, nil
}
