package controllerruntime

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

func TestListReturnsTheSelectedObjects(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		f.given(t, "a", inNamespace("one"), labelled(map[string]string{"app": "x", "tier": "front"}))
		f.given(t, "b", inNamespace("one"), labelled(map[string]string{"app": "y"}))
		f.given(t, "a", inNamespace("two"), labelled(map[string]string{"app": "x"}))
		f.given(t, "c", inNamespace("two"))
		selector, err := labels.Parse("app notin (y),!tier")
		require.NoError(t, err)
		for _, row := range []struct {
			name string
			opts []client.ListOption
			want []string
		}{
			{"everything", nil, []string{"one/a", "one/b", "two/a", "two/c"}},
			{"a namespace", []client.ListOption{client.InNamespace("two")}, []string{"two/a", "two/c"}},
			{"an empty namespace", []client.ListOption{client.InNamespace("three")}, []string{}},
			{"a label", []client.ListOption{client.MatchingLabels{"app": "x"}}, []string{"one/a", "two/a"}},
			{"two labels", []client.ListOption{client.MatchingLabels{"app": "x", "tier": "front"}}, []string{"one/a"}},
			{"the key of a label", []client.ListOption{client.HasLabels{"app"}}, []string{"one/a", "one/b", "two/a"}},
			{"a label selector", []client.ListOption{client.MatchingLabelsSelector{Selector: selector}}, []string{"two/a", "two/c"}},
			{"a name", []client.ListOption{client.MatchingFields{"metadata.name": "a"}}, []string{"one/a", "two/a"}},
			{"a name and a namespace", []client.ListOption{client.MatchingFields{"metadata.name": "a", "metadata.namespace": "two"}}, []string{"two/a"}},
			{"a field selector", []client.ListOption{client.MatchingFieldsSelector{Selector: fields.OneTermNotEqualSelector("metadata.name", "a")}}, []string{"one/b", "two/c"}},
			{"all at once", []client.ListOption{client.InNamespace("one"), client.MatchingLabels{"app": "x"}, client.MatchingFields{"metadata.name": "a"}}, []string{"one/a"}},
		} {
			assert.Equal(t, row.want, f.names(t, row.opts...), row.name)
		}
		err = f.List(t.Context(), f.emptyList(t), client.MatchingFields{"spec.holderIdentity": "a"})
		assert.True(t, apierrors.IsBadRequest(err), "%v", err)
	})
}

func TestListReturnsPages(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			f.given(t, name)
		}
		var got [][]string
		var version string
		page := f.emptyList(t)
		for {
			require.NoError(t, f.List(t.Context(), page, client.InNamespace(testapi.Namespace), client.Limit(2), client.Continue(page.GetContinue())))
			got = append(got, namesIn(t, page))
			if version == "" {
				version = page.GetResourceVersion()
				require.NotNil(t, page.GetRemainingItemCount())
				assert.Equal(t, int64(3), *page.GetRemainingItemCount())
				f.given(t, "bb")
				require.NoError(t, f.Delete(t.Context(), f.get(t, "e")))
			}
			assert.Equal(t, version, page.GetResourceVersion())
			if page.GetContinue() == "" {
				break
			}
		}
		assert.Equal(t, [][]string{{"test/a", "test/b"}, {"test/c", "test/d"}, {"test/e"}}, got, "all pages are the state at the first page")
		assert.Equal(t, []string{"test/a", "test/b", "test/bb", "test/c", "test/d"}, f.names(t))
	})
}

func TestListAtAnOlderVersion(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		o := f.given(t, "a")
		f.given(t, "b")
		at := func(version string) client.ListOption {
			return &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version, ResourceVersionMatch: metav1.ResourceVersionMatchExact}}
		}
		assert.Equal(t, []string{"test/a"}, f.names(t, at(o.GetResourceVersion())))
		err := f.List(t.Context(), f.emptyList(t), at("1"))
		assert.True(t, apierrors.IsResourceExpired(err), "%v", err)
	})
}
