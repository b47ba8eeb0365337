package envtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	admissionclient "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/documents"
)

// WebhookInstallOptions are admission webhooks, and the address of the server that the test runs for them.
type WebhookInstallOptions struct {
	// Paths are files, and directories of files, with webhook configurations: .json, .yaml and .yml.
	Paths []string
	// MutatingWebhooks and ValidatingWebhooks are configurations to install.
	MutatingWebhooks   []*admissionv1.MutatingWebhookConfiguration
	ValidatingWebhooks []*admissionv1.ValidatingWebhookConfiguration
	// IgnoreSchemeConvertible sets the conversion webhook of all definitions, whatever the scheme has.
	IgnoreSchemeConvertible bool
	// IgnoreErrorIfPathMissing skips Paths that do not exist. Without it they are an error.
	IgnoreErrorIfPathMissing bool
	// LocalServingHost and LocalServingPort are the address of the server for webhooks. PrepWithoutInstalling chooses a
	// free port of 127.0.0.1.
	LocalServingHost string
	LocalServingPort int
	// LocalServingCertDir is the directory with tls.crt and tls.key, the certificate for that server.
	LocalServingCertDir string
	// LocalServingCAData is the certificate of the authority that signed it.
	LocalServingCAData []byte
	// LocalServingHostExternalName is the host name by which the API server reaches that server. Default: LocalServingHost.
	LocalServingHostExternalName string
	// MaxTime limits the wait until the server has the configurations; then there is an error. Zero means 10 seconds.
	MaxTime time.Duration
	// PollInterval is the longest time between two polls; the first polls are closer together. Zero means 100 milliseconds.
	PollInterval time.Duration
}

// PrepWithoutInstalling makes the certificate, chooses the address, and reads the configurations into the options.
func (o *WebhookInstallOptions) PrepWithoutInstalling() error {
	if err := o.prepareCertificate(); err != nil {
		return fmt.Errorf("unable to set up webhook serving certs: %w", err)
	}
	for _, path := range o.Paths {
		files, err := filesAt(path)
		if errors.Is(err, os.ErrNotExist) && o.IgnoreErrorIfPathMissing {
			continue
		}
		if err != nil {
			return err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for doc, err := range documents.In(text) {
				if err == nil {
					err = o.read(doc)
				}
				if err != nil {
					return err
				}
			}
		}
	}
	return o.ModifyWebhookDefinitions()
}

// read adds the configuration in a document, if it is one.
func (o *WebhookInstallOptions) read(doc []byte) error {
	var of metav1.PartialObjectMetadata
	if err := yaml.Unmarshal(doc, &of); err != nil {
		return err
	}
	switch of.Kind {
	case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		if of.APIVersion != admissionv1.SchemeGroupVersion.String() {
			return fmt.Errorf("only v1 is supported right now for %s (name: %s)", of.Kind, of.Name)
		}
	}
	switch of.Kind {
	case "MutatingWebhookConfiguration":
		hook := &admissionv1.MutatingWebhookConfiguration{}
		o.MutatingWebhooks = append(o.MutatingWebhooks, hook)
		return yaml.Unmarshal(doc, hook)
	case "ValidatingWebhookConfiguration":
		hook := &admissionv1.ValidatingWebhookConfiguration{}
		o.ValidatingWebhooks = append(o.ValidatingWebhooks, hook)
		return yaml.Unmarshal(doc, hook)
	}
	return nil
}

// prepareCertificate makes a directory with a certificate.
func (o *WebhookInstallOptions) prepareCertificate() error {
	own, err := serverCertFor(o.LocalServingHost, o.LocalServingHostExternalName)
	if err != nil {
		return err
	}
	if o.LocalServingCertDir, err = os.MkdirTemp("", "envtest-serving-certs-"); err != nil {
		return err
	}
	o.LocalServingCAData = own.ca
	return own.write(o.LocalServingCertDir, "tls.crt", "tls.key")
}

// address returns the address of the server for webhooks, and chooses it if it is not set.
func (o *WebhookInstallOptions) address() (string, error) {
	if o.LocalServingPort == 0 {
		host := o.LocalServingHost
		if host == "" {
			host = "127.0.0.1"
		}
		listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			return "", fmt.Errorf("unable to grab random port for serving webhooks on: %w", err)
		}
		address := listener.Addr().(*net.TCPAddr)
		o.LocalServingHost, o.LocalServingPort = address.IP.String(), address.Port
		if err := listener.Close(); err != nil {
			return "", err
		}
	}
	host := o.LocalServingHostExternalName
	if host == "" {
		host = o.LocalServingHost
	}
	return net.JoinHostPort(host, strconv.Itoa(o.LocalServingPort)), nil
}

// ModifyWebhookDefinitions sets the certificate of all webhooks, and the URL of those that name a service with a path.
func (o *WebhookInstallOptions) ModifyWebhookDefinitions() error {
	address, err := o.address()
	if err != nil {
		return err
	}
	modify := func(c *admissionv1.WebhookClientConfig) {
		c.CABundle = o.LocalServingCAData
		if c.Service != nil && c.Service.Path != nil {
			url := "https://" + address + "/" + *c.Service.Path
			c.URL, c.Service = &url, nil
		}
	}
	for _, configuration := range o.MutatingWebhooks {
		for i := range configuration.Webhooks {
			modify(&configuration.Webhooks[i].ClientConfig)
		}
	}
	for _, configuration := range o.ValidatingWebhooks {
		for i := range configuration.Webhooks {
			modify(&configuration.Webhooks[i].ClientConfig)
		}
	}
	return nil
}

// Install creates or updates the configurations. It calls PrepWithoutInstalling if nobody has.
func (o *WebhookInstallOptions) Install(config *rest.Config) error {
	o.MaxTime, o.PollInterval = waits(o.MaxTime, o.PollInterval)
	if len(o.LocalServingCAData) == 0 {
		if err := o.PrepWithoutInstalling(); err != nil {
			return err
		}
	}
	if len(o.MutatingWebhooks)+len(o.ValidatingWebhooks) == 0 {
		return nil
	}
	client, err := admissionclient.NewForConfig(config)
	if err != nil {
		return err
	}
	for _, hook := range o.MutatingWebhooks {
		if err := ensure(client.MutatingWebhookConfigurations(), hook); err != nil {
			return err
		}
	}
	for _, hook := range o.ValidatingWebhooks {
		if err := ensure(client.ValidatingWebhookConfigurations(), hook); err != nil {
			return err
		}
	}
	return WaitForWebhooks(config, o.MutatingWebhooks, o.ValidatingWebhooks, *o)
}

// configurations are the objects of one of the two kinds.
type configurations[T any] interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	Create(ctx context.Context, obj T, opts metav1.CreateOptions) (T, error)
	Update(ctx context.Context, obj T, opts metav1.UpdateOptions) (T, error)
}

// ensure creates a configuration, or updates the one that exists, and sets it to the answer of the server.
func ensure[P interface {
	*T
	metav1.Object
}, T any](of configurations[P], hook P) error {
	ctx := context.Background()
	existing, err := of.Get(ctx, hook.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		existing, err = of.Create(ctx, hook, metav1.CreateOptions{})
	case err == nil:
		hook.SetResourceVersion(existing.GetResourceVersion())
		existing, err = of.Update(ctx, hook, metav1.UpdateOptions{})
	}
	if err == nil {
		*hook = *existing
	}
	return err
}

// Cleanup removes the directory of the certificate.
func (o *WebhookInstallOptions) Cleanup() error {
	if o.LocalServingCertDir == "" {
		return nil
	}
	return os.RemoveAll(o.LocalServingCertDir)
}

// WaitForWebhooks waits until the server has the configurations, or returns an error after options.MaxTime.
func WaitForWebhooks(config *rest.Config,
	mutatingWebhooks []*admissionv1.MutatingWebhookConfiguration,
	validatingWebhooks []*admissionv1.ValidatingWebhookConfiguration,
	options WebhookInstallOptions,
) error {
	client, err := admissionclient.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx := context.Background()
	var missing []func() error
	for _, hook := range mutatingWebhooks {
		missing = append(missing, func() error {
			_, err := client.MutatingWebhookConfigurations().Get(ctx, hook.Name, metav1.GetOptions{})
			return err
		})
	}
	for _, hook := range validatingWebhooks {
		missing = append(missing, func() error {
			_, err := client.ValidatingWebhookConfigurations().Get(ctx, hook.Name, metav1.GetOptions{})
			return err
		})
	}
	longest, interval := waits(options.MaxTime, options.PollInterval)
	return poll(longest, interval, func() (bool, error) {
		for len(missing) > 0 {
			if err := missing[0](); err != nil {
				if apierrors.IsNotFound(err) {
					return false, nil
				}
				return false, err
			}
			missing = missing[1:]
		}
		return true, nil
	})
}
