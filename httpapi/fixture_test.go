package httpapi_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/kind"
)

const someWidgets = `apiVersion: v1
items:
- apiVersion: coordination.k8s.io/v1
  kind: Lease
  metadata:
    name: leader
    namespace: default
  spec:
    holderIdentity: me
- apiVersion: example.com/v1
  kind: Widget
  metadata:
    name: w
    namespace: default
  spec:
    size: 3
kind: List
metadata:
  resourceVersion: ""
`

func TestAFixtureIsServedAndDumpedWithAllKinds(t *testing.T) {
	s := newWidgetServer(t)
	w := s.watch(t, widgets+"?watch=true&allowWatchBookmarks=true&resourceVersion=1000")
	require.NoError(t, s.api.Load(t.Context(), fixture.Stream("w.yaml", strings.NewReader(someWidgets))))
	w.wants("ADDED w")
	assert.EqualValues(t, 3, s.must(t, "GET", widgets+"/w", "").at("spec", "size"))

	var dumped bytes.Buffer
	require.NoError(t, s.api.Dump(&dumped, fixture.DumpOptions{OmitServerFields: true}))
	assert.Equal(t, someWidgets, dumped.String())
	dumped.Reset()
	require.NoError(t, s.api.Dump(&dumped, fixture.DumpOptions{Kinds: []kind.Kind{lease.Kind()}}))
	assert.NotContains(t, dumped.String(), "Widget")

	err := s.api.Load(t.Context(), fixture.Stream("w.yaml", strings.NewReader(someWidgets)))
	assert.EqualError(t, err, `w.yaml, document 1 (line 3), item 1: leases.coordination.k8s.io "leader" already exists in the store`)
}
