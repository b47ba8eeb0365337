package warnings

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// file is a path inside a volume. from says which source of a projected volume writes it, and is "" in other volumes.
type file struct{ path, from string }

func (f file) String() string {
	if f.from == "" {
		return quoted(f.path)
	}
	return quoted(f.path) + " (" + f.from + ")"
}

// overlaps warns about files in a volume where one would overwrite the other, or would have to be its folder.
func (l *list) overlaps(v *corev1.Volume) {
	var of string
	var files []file
	switch {
	case v.ConfigMap != nil:
		of, files = "ConfigMap "+quoted(v.ConfigMap.Name), keyFiles(v.ConfigMap.Items, "")
	case v.Secret != nil:
		of, files = "Secret "+quoted(v.Secret.SecretName), keyFiles(v.Secret.Items, "")
	case v.DownwardAPI != nil:
		of, files = "DownwardAPI", fieldFiles(v.DownwardAPI.Items, "")
	case v.Projected != nil:
		l.projected(v)
		return
	}
	var seen []file
	for _, f := range files {
		seen = l.overlap(v.Name, of, seen, f)
	}
}

func (l *list) projected(v *corev1.Volume) {
	var seen []file
	for _, source := range v.Projected.Sources {
		if source == (corev1.VolumeProjection{}) {
			l.add(fmt.Sprintf("volume %q (Projected) has no sources provided", v.Name))
			continue
		}
		for _, f := range sourceFiles(&source) {
			seen = l.overlap(v.Name, "Projected", seen, f)
		}
	}
}

// sourceFiles returns the files of one source of a projected volume.
func sourceFiles(s *corev1.VolumeProjection) []file {
	switch {
	case s.ConfigMap != nil && s.ConfigMap.Items != nil:
		return keyFiles(s.ConfigMap.Items, "ConfigMap "+quoted(s.ConfigMap.Name))
	case s.Secret != nil && s.Secret.Items != nil:
		return keyFiles(s.Secret.Items, "Secret "+quoted(s.Secret.Name))
	case s.DownwardAPI != nil && s.DownwardAPI.Items != nil:
		return fieldFiles(s.DownwardAPI.Items, "DownwardAPI")
	case s.ServiceAccountToken != nil:
		return []file{{s.ServiceAccountToken.Path, "ServiceAccountToken"}}
	case s.ClusterTrustBundle != nil:
		name := s.ClusterTrustBundle.Name
		if name == nil {
			name = s.ClusterTrustBundle.SignerName
		}
		if name == nil {
			return nil
		}
		return []file{{s.ClusterTrustBundle.Path, "ClusterTrustBundle " + quoted(*name)}}
	case s.PodCertificate != nil:
		return []file{ // an empty path overlaps with nothing
			{s.PodCertificate.CertificateChainPath, "PodCertificate chain"}, {s.PodCertificate.KeyPath, "PodCertificate key"},
			{s.PodCertificate.CredentialBundlePath, "PodCertificate credential bundle"},
		}
	}
	return nil
}

func keyFiles(items []corev1.KeyToPath, from string) (files []file) {
	for _, item := range items {
		files = append(files, file{item.Path, from})
	}
	return files
}

func fieldFiles(items []corev1.DownwardAPIVolumeFile, from string) (files []file) {
	for _, item := range items {
		files = append(files, file{item.Path, from})
	}
	return files
}

// overlap warns about a file and those before it, and returns all of them.
func (l *list) overlap(volume, of string, seen []file, f file) []file {
	f.path = strings.TrimRight(f.path, "/")
	for _, other := range seen {
		if f.path != "" && other.path != "" && (below(f.path, other.path) || below(other.path, f.path)) {
			l.add(fmt.Sprintf("volume %q (%s): overlapping paths: %s with %s", volume, of, f, other))
		}
	}
	return append(seen, f)
}

// below reports whether a path is another one, or in it.
func below(path, folder string) bool { return strings.HasPrefix(path+"/", folder+"/") }
