package defaults

import certificatesv1 "k8s.io/api/certificates/v1"

func addCertificates(r rules) {
	on(r, func(s *certificatesv1.PodCertificateRequestSpec) { pointer(&s.MaxExpirationSeconds, 24*60*60) })
}
