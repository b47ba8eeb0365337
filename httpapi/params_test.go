package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

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
