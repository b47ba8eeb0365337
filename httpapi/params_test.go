package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
)

func TestSelectorsOfListsAndWatches(t *testing.T) {
	for name, row := range map[string]struct {
		param, value string
		want         string // the names that are selected
	}{
		"a name":     {"fieldSelector", "metadata.name=b", "b"},
		"a label":    {"labelSelector", "k=b", "b"},
		"all shards": {"shardSelector", "shardRange(object.metadata.uid, '0x0000000000000000', '0x10000000000000000')", "ab"},
		"no shard":   {"shardSelector", "shardRange(object.metadata.uid, '0x0000000000000000', '0x0000000000000001')", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t)
				for _, name := range []string{"a", "b"} {
					s.must(t, "POST", leases, `{"metadata":{"name":"`+name+`","labels":{"k":"`+name+`"}}}`)
				}
				query := "?" + row.param + "=" + url.QueryEscape(row.value)
				for _, more := range []string{"", "&watch=1&timeoutSeconds=1"} {
					a := s.do(t, "GET", leases+query+more, "")
					assert.Equal(t, http.StatusOK, a.Code, a.Body)
					for _, name := range []string{"a", "b"} {
						has := strings.Contains(a.Body, `"name":"`+name+`"`)
						assert.Equal(t, strings.Contains(row.want, name), has, more)
					}
				}
			})
		})
	}
}

func TestForceOfAnApplyMustBeTrue(t *testing.T) {
	s := newServer(t)
	apply := func(manager, holder, force string) int {
		return s.do(t, "PATCH", leases+"/a?fieldManager="+manager+force, `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"a"},"spec":{"holderIdentity":"`+holder+`"}}`,
			"Content-Type", "application/apply-patch+yaml").Code
	}
	assert.Equal(t, http.StatusCreated, apply("one", "x", ""))
	for _, force := range []string{"", "&force=false", "&force=0"} {
		assert.Equal(t, http.StatusConflict, apply("two", "y", force), force)
	}
	assert.Equal(t, http.StatusOK, apply("two", "y", "&force=true"))
}

func TestManagerIsTheProgramOfTheUserAgent(t *testing.T) {
	s := newServer(t)
	for i, row := range [][2]string{
		{"agent/1.0 (linux)", "agent"}, {"my\x01 agent/1", "my agent"}, {"/1.0", "unknown"},
		{strings.Repeat("a", 129) + "/1", strings.Repeat("a", 128)},
	} {
		a := s.do(t, "POST", leases, fmt.Sprintf(`{"metadata":{"name":"l%d"},"spec":{"holderIdentity":"h"}}`, i), "User-Agent", row[0])
		assert.Contains(t, a.Body, `"manager":"`+row[1]+`"`)
	}
}
