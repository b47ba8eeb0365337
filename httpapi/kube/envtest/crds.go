package envtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
)

// CRDInstallOptions are CustomResourceDefinitions, and how to install them.
type CRDInstallOptions struct {
	// Scheme says which definitions get the conversion webhook; see Environment.Scheme. Nil means client-go's scheme.
	Scheme *runtime.Scheme
	// Paths are files, and directories of files, with definitions: .json, .yaml and .yml.
	Paths []string
	// CRDs are definitions to install.
	CRDs []*apiextensionsv1.CustomResourceDefinition
	// ErrorIfPathMissing makes it an error if one of Paths does not exist.
	ErrorIfPathMissing bool
	// MaxTime limits the wait until the definitions are served; then there is an error. Zero means 10 seconds.
	MaxTime time.Duration
	// PollInterval is the longest time between two polls; the first polls are closer together. Zero means 100 milliseconds.
	PollInterval time.Duration
	// CleanUpAfterUse makes Stop delete the definitions.
	CleanUpAfterUse bool
	// WebhookOptions has the address and the certificate of the conversion webhooks.
	WebhookOptions WebhookInstallOptions
}

// withDefaults returns the options with their defaults.
func (o CRDInstallOptions) withDefaults() CRDInstallOptions {
	if o.Scheme == nil {
		o.Scheme = clientgoscheme.Scheme
	}
	o.MaxTime, o.PollInterval = waits(o.MaxTime, o.PollInterval)
	return o
}

func waits(longest, interval time.Duration) (time.Duration, time.Duration) {
	if longest == 0 {
		longest = 10 * time.Second
	}
	if interval == 0 {
		interval = 100 * time.Millisecond
	}
	return longest, interval
}

// InstallCRDs creates or updates the definitions in options.Paths and options.CRDs, and returns them when they are served. If they
// are not served after options.MaxTime, it returns an error.
func InstallCRDs(config *rest.Config, options CRDInstallOptions) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	options = options.withDefaults()
	if err := ReadCRDFiles(&options); err != nil {
		return nil, fmt.Errorf("unable to read CRD files: %w", err)
	}
	if err := injectConversion(options.CRDs, options.Scheme, options.WebhookOptions); err != nil {
		return nil, err
	}
	if err := CreateCRDs(config, options.CRDs); err != nil {
		return options.CRDs, fmt.Errorf("unable to create CRD instances: %w", err)
	}
	if err := WaitForCRDs(config, options.CRDs, options); err != nil {
		return options.CRDs, fmt.Errorf("something went wrong waiting for CRDs to appear as API resources: %w", err)
	}
	return options.CRDs, nil
}

// ReadCRDFiles adds the definitions in options.Paths to options.CRDs.
func ReadCRDFiles(options *CRDInstallOptions) error {
	found := map[string]*apiextensionsv1.CustomResourceDefinition{}
	var order []string
	for _, path := range options.Paths {
		crds, err := definitionsAt(path)
		if errors.Is(err, os.ErrNotExist) && !options.ErrorIfPathMissing {
			continue
		}
		if err != nil {
			return err
		}
		for _, d := range crds {
			key := d.crd.APIVersion + "/" + d.crd.Name
			if found[key] == nil {
				order = append(order, key)
			}
			found[key] = d.crd.DeepCopy()
		}
	}
	for _, key := range order {
		options.CRDs = append(options.CRDs, found[key])
	}
	return nil
}

// filesAt returns the .json, .yaml and .yml files of a directory, or a file.
func filesAt(path string) (files []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	for _, entry := range entries {
		if file := filepath.Join(path, entry.Name()); slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(file)) {
			files = append(files, file)
		}
	}
	return files, err
}

// injectConversion sets the conversion webhook of definitions whose types convert, and removes it from the others.
func injectConversion(crds []*apiextensionsv1.CustomResourceDefinition, types *runtime.Scheme, webhooks WebhookInstallOptions) error {
	if len(webhooks.LocalServingCAData) == 0 {
		return nil
	}
	address, err := webhooks.address()
	if err != nil {
		return err
	}
	url := "https://" + address + "/convert"
	kinds := map[schema.GroupKind]bool{}
	for _, crd := range crds {
		kinds[kindOf(crd)] = true
	}
	convert := convertibles(types, kinds)
	for _, crd := range crds {
		if crd.Spec.PreserveUnknownFields {
			continue
		}
		if !webhooks.IgnoreSchemeConvertible && !convert[kindOf(crd)] {
			crd.Spec.Conversion = nil // as generated, the definition names a service
			continue
		}
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
			Strategy: apiextensionsv1.WebhookConverter,
			Webhook: &apiextensionsv1.WebhookConversion{
				ConversionReviewVersions: []string{"v1", "v1beta1"},
				ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: webhooks.LocalServingCAData},
			},
		}
	}
	return nil
}

// CreateCRDs creates definitions, or updates the ones that exist. It sets them to the answers of the server.
func CreateCRDs(config *rest.Config, crds []*apiextensionsv1.CustomResourceDefinition) error {
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("unable to create client: %w", err)
	}
	ctx, definitions := context.Background(), client.ApiextensionsV1().CustomResourceDefinitions()
	for _, crd := range crds {
		err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			existing, err := definitions.Get(ctx, crd.Name, metav1.GetOptions{})
			switch {
			case apierrors.IsNotFound(err):
				existing, err = definitions.Create(ctx, crd, metav1.CreateOptions{})
			case err == nil:
				crd.ResourceVersion = existing.ResourceVersion
				existing, err = definitions.Update(ctx, crd, metav1.UpdateOptions{})
			}
			if err == nil {
				*crd = *existing
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("unable to create CRD %q: %w", crd.Name, err)
		}
	}
	return nil
}

// WaitForCRDs waits until discovery has the served versions of definitions, or returns an error after options.MaxTime.
func WaitForCRDs(config *rest.Config, crds []*apiextensionsv1.CustomResourceDefinition, options CRDInstallOptions) error {
	options = options.withDefaults()
	missing := map[schema.GroupVersion]map[string]bool{}
	for _, crd := range crds {
		for _, version := range crd.Spec.Versions {
			gv := schema.GroupVersion{Group: crd.Spec.Group, Version: version.Name}
			if !version.Served {
				continue
			}
			if missing[gv] == nil {
				missing[gv] = map[string]bool{}
			}
			missing[gv][crd.Spec.Names.Plural] = true
		}
	}
	if len(missing) == 0 {
		return nil
	}
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return err
	}
	return poll(options.MaxTime, options.PollInterval, func() (bool, error) {
		for gv, plurals := range missing {
			list, err := client.Discovery().ServerResourcesForGroupVersion(gv.String())
			if err != nil {
				return false, nil //nolint:nilerr // not there yet
			}
			for _, resource := range list.APIResources {
				delete(plurals, resource.Name)
			}
			if len(plurals) > 0 {
				return false, nil
			}
			delete(missing, gv)
		}
		return true, nil
	})
}

// poll calls done until it returns true or an error, first at short intervals, then at the given one.
func poll(longest, interval time.Duration, done wait.ConditionFunc) error {
	backoff := wait.Backoff{Duration: min(time.Millisecond, interval), Factor: 2, Steps: 30, Cap: interval}
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	return backoff.DelayFunc().Until(ctx, true, false, func(context.Context) (bool, error) { return done() })
}

// UninstallCRDs deletes the definitions in options.Paths and options.CRDs. It is no error if one does not exist.
func UninstallCRDs(config *rest.Config, options CRDInstallOptions) error {
	if err := ReadCRDFiles(&options); err != nil {
		return err
	}
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return err
	}
	for _, crd := range options.CRDs {
		err := client.ApiextensionsV1().CustomResourceDefinitions().Delete(context.Background(), crd.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}
