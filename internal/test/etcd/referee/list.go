package referee

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// GetList reads one object, or all below a key.
func (s *Storage) GetList(ctx context.Context, key string, opts storage.ListOptions, out runtime.Object) error {
	at, err := placeOf(key, opts.Recursive)
	if err != nil {
		return err
	}
	list := registry.ListOptions{
		Namespace:            at.namespace,
		ResourceVersion:      opts.ResourceVersion,
		ResourceVersionMatch: string(opts.ResourceVersionMatch),
	}
	list.LabelSelector, list.FieldSelector = selectors(at, &opts.Predicate)
	list.Limit = opts.Predicate.Limit
	if opts.Recursive {
		list.Continue = opts.Predicate.Continue
	}
	if s.PageAnyVersion && list.ResourceVersion == "0" && (list.ResourceVersionMatch == "" || list.ResourceVersionMatch == registry.MatchNotOlderThan) {
		list.ResourceVersion, list.ResourceVersionMatch = "", ""
	}
	l, err := s.pods.List(ctx, list)
	if err != nil {
		return translate(key, err)
	}
	pods := out.(*example.PodList)
	pods.Items = make([]example.Pod, 0, len(l.Items))
	for _, it := range l.Items {
		pod, _, err := s.load(ctx, it)
		if err != nil {
			return err
		}
		pods.Items = append(pods.Items, *pod)
	}
	token, err := relative(l.Continue, key)
	if err != nil {
		return err
	}
	return s.versioner.UpdateList(pods, l.ResourceVersion, token, l.RemainingItemCount)
}

// selectors returns a predicate as selectors of the API. The name of a place
// becomes a field selector.
func selectors(at place, p *storage.SelectionPredicate) (labels, fields string) {
	if p.Label != nil {
		labels = p.Label.String()
	}
	var terms []string
	if p.Field != nil && !p.Field.Empty() {
		terms = append(terms, p.Field.String())
	}
	if at.name != "" {
		terms = append(terms, "metadata.name="+at.name)
	}
	return labels, strings.Join(terms, ",")
}

// relative makes a token relative to the key of the list. A store writes tokens
// for keys without a slash at the end, as the registry of an API server uses
// them. The suites use keys with one.
func relative(token, key string) (string, error) {
	if token == "" || !strings.HasSuffix(key, "/") {
		return token, nil
	}
	from, version, err := storage.DecodeContinue(token, key)
	if err != nil {
		return "", err
	}
	return storage.EncodeContinue(from, key, version)
}
