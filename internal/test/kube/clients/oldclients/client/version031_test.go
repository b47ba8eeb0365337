//go:build !client032

package client

import coordinationv1 "k8s.io/api/coordination/v1"

// candidateForm is the API version and the media type in which client-go 0.31 writes candidates.
const candidateForm = "v1alpha1 application/json"

var strategy = []coordinationv1.CoordinatedLeaseStrategy{coordinationv1.OldestEmulationVersion}
