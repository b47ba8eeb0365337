package crd_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
)

// wide returns a definition of 20 kB, with 200 fields.
func wide(name string) string {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, `"f%d":{"type":"string","description":"%s is field number %d of this definition"},`, i, name, i)
	}
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%ss.example.com"},`+
		`"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"%ss","kind":"K%s"},"versions":[{"name":"v1","served":true,"storage":true,`+
		`"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{%s"z":{"type":"string"}}}}}}}]}}`,
		name, name, name, b.String())
}

// visit is a definition that comes, is established, has one object, and goes.
func (s *server) visit(name string) {
	code, doc := s.do("POST", definitionsPath, wide(name))
	require.Equal(s.t, 201, code, "%v", doc)
	synctest.Wait()
	require.Contains(s.t, s.conditions(name+"s.example.com"), "Established True InitialNamesAccepted the initial names have been accepted")
	code, doc = s.do("POST", "/apis/example.com/v1/namespaces/ns/"+name+"s",
		fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"K%s","metadata":{"name":"a"},"spec":{"f1":"x"}}`, name))
	require.Equal(s.t, 201, code, "%v", doc)
	code, _ = s.do("DELETE", definitionsPath+"/"+name+"s.example.com", "")
	require.Equal(s.t, 200, code)
	synctest.Wait()
}

// heldByVisits returns the bytes that n definitions leave behind in a server.
func heldByVisits(t *testing.T, n int, opts store.Options) int64 {
	st := newStore(t, opts)
	s := live(t, st)
	inUse := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	s.visit("first")
	before := inUse()
	for i := range n {
		s.visit(fmt.Sprint("wide", i))
	}
	held := inUse() - before
	runtime.KeepAlive(s)
	return held
}

// The history holds one copy of a definition, however often its status is written, and no schema of a kind that is gone. A definition that
// came, was used and went held 1,080 kB; now 130.
func TestDefinitionsThatAreGoneHoldLittleMemory(t *testing.T) {
	const n = 40
	synctest.Test(t, func(t *testing.T) {
		assert.Less(t, heldByVisits(t, n, store.Options{})/n, int64(400<<10), "bytes of a definition")
	})
}

// HistoryBytes bounds the memory, not only what would be stored: the definitions of the test hold twice as much without it.
func TestTheHistoryOfDefinitionsKeepsToItsBytes(t *testing.T) {
	const n, limit = 60, 4 << 20
	synctest.Test(t, func(t *testing.T) {
		assert.Less(t, heldByVisits(t, n, store.Options{HistoryBytes: limit}), int64(limit))
	})
}
