package wire

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestListsAreEncodedAsUpstream(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.Kind+" "+k.Version, func(t *testing.T) {
			s := newServer(t)
			check := func(query string, want []object) metav1.ListMeta {
				t.Helper()
				var m metav1.ListMeta
				for _, accept := range []string{protobuf, json} {
					data := s.get(t, k.path("")+query, accept)
					l := decode(t, accept, data).(metav1.ListMetaAccessor).GetListMeta()
					m = metav1.ListMeta{
						ResourceVersion: s.st.ResourceVersion(),
						Continue:        l.GetContinue(), RemainingItemCount: l.GetRemainingItemCount(),
					}
					requireSame(t, k, accept, k.list(m, want), data)
				}
				return m
			}
			check("", nil)
			var all []object
			for i := range count {
				stored, _ := s.write(t, http.MethodPost, k.path(""), protobuf, k.GroupVersion(), k.object(i, "x"))
				all = append(all, stored)
			}
			check("", all)
			m := check("?limit=7", all[:7])
			require.NotNil(t, m.RemainingItemCount)
			require.EqualValues(t, len(all)-7, *m.RemainingItemCount)
			check("?limit=11&continue="+m.Continue, all[7:18])
			check("?labelSelector=no-such-label", nil)
		})
	}
}
