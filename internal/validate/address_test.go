package validate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/internal/validate"
)

func TestIPAddresses(t *testing.T) {
	const (
		invalid = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
		zeros   = "must not have leading 0s"
		mapped  = "must not be an IPv4-mapped IPv6 address"
	)
	tests := []struct {
		value   string
		problem string
		warning string
		parsed  string // empty if it does not parse
	}{
		{"10.9.8.7", "", "", "10.9.8.7"},
		{"2001:db8::ffff", "", "", "2001:db8::ffff"},
		{"::", "", "", "::"},
		{"FE80::1", "", `f: IPv6 address "FE80::1" should be in RFC 5952 canonical format ("fe80::1")`, "fe80::1"},
		{"1:0:0:0:0:0:0:2", "", `f: IPv6 address "1:0:0:0:0:0:0:2" should be in RFC 5952 canonical format ("1::2")`, "1::2"},
		{"010.1.1.1", zeros, `f: non-standard IP address "010.1.1.1" is invalid: use "10.1.1.1"`, "10.1.1.1"},
		{"1.2.3.00", zeros, `f: non-standard IP address "1.2.3.00" is invalid: use "1.2.3.0"`, "1.2.3.0"},
		{"01.0.2.3", zeros, `f: non-standard IP address "01.0.2.3" is invalid: use "1.0.2.3"`, "1.0.2.3"},
		{"00001:0:0:0:0:0:0:2", zeros, `f: non-standard IP address "00001:0:0:0:0:0:0:2" is invalid: use "1::2"`, "1::2"},
		{"00001::", zeros, `f: non-standard IP address "00001::" is invalid: use "1::"`, "1::"},
		{"::ffff:1.2.3.4", mapped, `f: non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4"`, "1.2.3.4"},
		{"::ffff:01.2.3.4", zeros, `f: non-standard IP address "::ffff:01.2.3.4" is invalid: use "1.2.3.4"`, "1.2.3.4"},
		{"::1.2.3.4", "", `f: IPv6 address "::1.2.3.4" should be in RFC 5952 canonical format ("::102:304")`, "::102:304"},
		{"", invalid, "", ""},
		{"x", invalid, "", ""},
		{"1.2.3", invalid, "", ""},
		{"1.2.3.256", invalid, "", ""},
		{"1.2.3.0256", invalid, "", ""},
		{"0x1.2.3.4", invalid, "", ""},
		{"1.2.3.4/24", invalid, "", ""},
		{"fe80::1%eth0", invalid, "", ""},
		{"10000::", invalid, "", ""},
		{" 1.2.3.4", invalid, "", ""},
	}
	for _, test := range tests {
		t.Run(test.value, func(t *testing.T) {
			assert.Equal(t, list(test.problem), validate.LegacyIP(test.value))
			assert.Equal(t, list(test.warning), validate.IPWarnings("f", test.value))
			addr, ok := validate.ParseIPSloppy(test.value)
			assert.Equal(t, test.parsed != "", ok)
			if ok {
				assert.Equal(t, test.parsed, addr.String())
			}
		})
	}
}

func list(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}
