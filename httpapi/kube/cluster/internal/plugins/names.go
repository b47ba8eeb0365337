package plugins

// Optional returns the names of the plugins that run if they are asked for only: a kube-apiserver runs ServiceAccount unless envtest turns
// it off.
func Optional() []string { return []string{"ServiceAccount", "NodeRestriction"} }

// Names returns the names of the other plugins of a server, here and in package admission, in the order of a real server (upstream:
// kubeapiserver/options, AllOrderedPlugins). PodGroupProtection has nothing to do: its feature gate is off.
func Names() []string {
	return []string{
		"NamespaceLifecycle", "LimitRanger", "TaintNodesByCondition", "PodSecurity", "Priority", "DefaultTolerationSeconds",
		"DefaultStorageClass", "StorageObjectInUseProtection", "PodGroupProtection", "PersistentVolumeClaimResize", "RuntimeClass",
		"CertificateApproval", "CertificateSigning", "ClusterTrustBundleAttest", "CertificateSubjectRestriction", "DefaultIngressClass",
		"PodTopologyLabels", "NodeDeclaredFeatureValidator", "PodResizeValidator",
		"MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook", "ResourceQuota",
	}
}
