// Command cert-manager runs cert-manager's own controllers and its cainjector in one process, against the API server of
// a test. Its real commands are separate Go modules that the module proxy does not serve, and they bring leader
// election, metrics, health and webhook servers that a test on loopback has no use for: this process listens nowhere.
//
// The four cert-manager.io CRDs should be established before it starts: informers retry a missing kind with a growing
// pause. Without cert-manager's webhook nothing refuses short durations, which is what makes renewal testable. Errors
// in the log about conflicts and Secrets not yet found are normal.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/klog/v2"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"

	// Each of these registers itself; controller.Known() holds exactly this choice. ACME, Vault, Venafi and the
	// ingress shim stay out: they would need more CRDs and a network.
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	_ "github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	_ "github.com/cert-manager/cert-manager/pkg/controller/issuers"

	// The issuer controllers look their implementation up by kind, in a registry of its own.
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
)

// Two workers let one slow object not hold up the others; a test has a handful of objects.
const workers = 2

func main() {
	// Not the global flags: importing controller-runtime defines -kubeconfig there.
	flags := flag.NewFlagSet("cert-manager", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "`file` that says how to reach the API server (required)")
	_ = flags.Parse(os.Args[1:]) // ExitOnError
	if *kubeconfig == "" || flags.NArg() > 0 {
		// An empty path would mean "the cluster this pod runs in", which is never a test's.
		flags.Usage()
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	ctrl.SetLogger(klog.Background()) // else controller-runtime drops its log, with a stack trace saying so
	if err := run(ctx, *kubeconfig); err != nil {
		fmt.Fprintln(os.Stderr, "cert-manager:", err)
		os.Exit(1)
	}
}

// run returns when ctx ends, or with the first error of any part: half a cert-manager would only make a test time out.
func run(ctx context.Context, kubeconfig string) error {
	factory, err := controller.NewContextFactory(ctx, controller.ContextOptions{
		Kubeconfig: kubeconfig,
		IssuerOptions: controller.IssuerOptions{
			ClusterResourceNamespace: "cert-manager", // where a ClusterIssuer's Secrets are, as its chart has it
		},
		// The defaults of cert-manager's own command, which the packages do not have: with no prefixes
		// CertificateRequests would lack their annotations, with no pause a failing request would be repeated at once.
		CertificateOptions: controller.CertificateOptions{
			CopiedAnnotationPrefixes: []string{
				"*", "-kubectl.kubernetes.io/", "-fluxcd.io/", "-argocd.argoproj.io/",
			},
			CertificateRequestMinimumBackoffDuration: time.Hour,
			CertificateRequestMaximumBackoffDuration: 32 * time.Hour,
		},
	})
	if err != nil {
		return err
	}

	group, groupCtx := errgroup.WithContext(ctx)
	if err := startControllers(groupCtx, group, factory); err != nil {
		return err
	}
	if err := startInjector(groupCtx, group, factory); err != nil {
		return err
	}
	if err := group.Wait(); ctx.Err() == nil {
		return err
	}
	return nil // asked to end; a controller that was still filling its cache calls that an error
}

func startControllers(ctx context.Context, group *errgroup.Group, factory *controller.ContextFactory) error {
	controllers := map[string]controller.Interface{}
	for name, construct := range controller.Known() {
		built, err := construct(factory)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		controllers[name] = built
	}

	// Only now: an informer that a controller asks for after the start would never run. All contexts of one factory
	// share the informers, so any context does.
	shared, err := factory.Build()
	if err != nil {
		return err
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())

	for name, built := range controllers {
		group.Go(func() error {
			if err := built.Run(workers, ctx); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
	return nil
}

func startInjector(ctx context.Context, group *errgroup.Group, factory *controller.ContextFactory) error {
	// The component's name becomes the field manager of the caBundles: "cert-manager-cainjector", as in a real cluster.
	component, err := factory.Build("cainjector")
	if err != nil {
		return err
	}
	scheme := component.Scheme
	if err := errors.Join(apiextensionsv1.AddToScheme(scheme), apiregistrationv1.AddToScheme(scheme)); err != nil {
		return err
	}
	manager, err := ctrl.NewManager(component.RESTConfig, ctrl.Options{
		Scheme:         scheme,
		LeaderElection: false,
		Metrics:        metricsserver.Options{BindAddress: "0"}, // "" would listen on :8080
		Client: client.Options{Cache: &client.CacheOptions{
			// The injectors watch only the metadata of Secrets; a cached read would start a second watch and could
			// see an older Secret than the event that caused it.
			DisableFor: []client.Object{&corev1.Secret{}},
		}},
	})
	if err != nil {
		return fmt.Errorf("cainjector: %w", err)
	}
	err = cainjector.RegisterAllInjectors(ctx, manager, cainjector.SetupOptions{
		EnableCertificatesDataSource: true, // the annotation cert-manager.io/inject-ca-from
		EnabledReconcilersFor: map[string]bool{
			cainjector.MutatingWebhookConfigurationName:   true,
			cainjector.ValidatingWebhookConfigurationName: true,
			cainjector.APIServiceName:                     true,
			cainjector.CustomResourceDefinitionName:       true,
		},
	})
	if err != nil {
		return fmt.Errorf("cainjector: %w", err)
	}
	group.Go(func() error {
		if err := manager.Start(ctx); err != nil {
			return fmt.Errorf("cainjector: %w", err)
		}
		return nil
	})
	return nil
}
