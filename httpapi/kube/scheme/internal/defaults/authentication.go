package defaults

import authenticationv1 "k8s.io/api/authentication/v1"

func addAuthentication(r rules) {
	on(r, func(s *authenticationv1.TokenRequestSpec) { pointer(&s.ExpirationSeconds, 60*60) })
}
