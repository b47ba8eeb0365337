package httpapi_test

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// renewal makes bodies that write an object again and again, as client-go does: each is
// the last answer with one number changed.
type renewal struct {
	parts   [3][]byte // around the resourceVersion and the number
	version uint64    // of the object
	first   uint64    // the smallest number with as many digits
	buf     []byte
}

// The numbers that a renewal can change.
var (
	renewTime = regexp.MustCompile(`"renewTime":"[^.]*\.(\d{6})Z`)
	firstPort = regexp.MustCompile(`"port":(\d{5})`)
)

// newRenewal makes bodies for the object at target. number finds the number.
func newRenewal(t testing.TB, s *server, target string, number *regexp.Regexp) *renewal {
	t.Helper()
	r := &renewal{}
	split := func() {
		a := s.do(t, "GET", target, "")
		require.Equal(t, http.StatusOK, a.Code)
		version := regexp.MustCompile(`"resourceVersion":"(\d+)"`).FindStringSubmatchIndex(a.Body)
		at := number.FindStringSubmatchIndex(a.Body)
		require.NotNil(t, at)
		r.parts = [3][]byte{[]byte(a.Body[:version[2]]), []byte(a.Body[version[3]:at[2]]), []byte(a.Body[at[3]:])}
		r.first = uint64(math.Pow10(at[3] - at[2] - 1))
		var err error
		r.version, err = strconv.ParseUint(a.Body[version[2]:version[3]], 10, 64)
		require.NoError(t, err)
	}
	split()
	// The first write makes the writer the owner of the number.
	s.must(t, "PUT", target, string(r.write(r.version, 0)), "User-Agent", "bench/1.0")
	split()
	return r
}

// body returns the body of write i. The object must have been written i times.
func (r *renewal) body(i int) []byte { return r.write(r.version+uint64(i), 1+i%50_000) }

func (r *renewal) write(version uint64, more int) []byte {
	b := append(r.buf[:0], r.parts[0]...)
	b = strconv.AppendUint(b, version, 10)
	b = append(b, r.parts[1]...)
	b = strconv.AppendUint(b, r.first+uint64(more), 10) // always as many digits
	r.buf = append(b, r.parts[2]...)
	return r.buf
}

// fiftyAddresses is a create of Endpoints: 8.4 KB.
func fiftyAddresses(name string) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"kind":"Endpoints","apiVersion":"v1","metadata":{"name":%q,"labels":{"app":"web"}},"subsets":[{"addresses":[`, name)
	for i := range 50 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"ip":"10.1.1.%d","nodeName":"node-%03d","targetRef":{"kind":"Pod","namespace":"default","name":"web-5d9c7b6f4-%05d","uid":"11111111-2222-3333-4444-%012d"}}`, i+1, i, i, i)
	}
	b.WriteString(`],"ports":[{"name":"http","port":18080,"protocol":"TCP"}]}]}`)
	return b.String()
}
