package main

// The one API server that answers for all members: Kubernetes' own handlers, registries, validation, defaults and
// schemas, over the storage in memory.

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	apiopenapi "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/apiserver/pkg/util/openapi"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	basecompatibility "k8s.io/component-base/compatibility"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	apiextensionsopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/capabilities"
	generatedopenapi "k8s.io/kubernetes/pkg/generated/openapi"
	"k8s.io/kubernetes/pkg/kubelet/client"
	policystore "k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicy/storage"
	bindingstore "k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicybinding/storage"
	mutatingstore "k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration/storage"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/resolver"
	judgingstore "k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy/storage"
	judgedstore "k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicybinding/storage"
	validatingstore "k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration/storage"
	appsrest "k8s.io/kubernetes/pkg/registry/apps/rest"
	authorizationrest "k8s.io/kubernetes/pkg/registry/authorization/rest"
	autoscalingrest "k8s.io/kubernetes/pkg/registry/autoscaling/rest"
	batchrest "k8s.io/kubernetes/pkg/registry/batch/rest"
	coordinationrest "k8s.io/kubernetes/pkg/registry/coordination/rest"
	configmapstore "k8s.io/kubernetes/pkg/registry/core/configmap/storage"
	endpointsstore "k8s.io/kubernetes/pkg/registry/core/endpoint/storage"
	eventstore "k8s.io/kubernetes/pkg/registry/core/event/storage"
	limitrangestore "k8s.io/kubernetes/pkg/registry/core/limitrange/storage"
	namespacestore "k8s.io/kubernetes/pkg/registry/core/namespace/storage"
	nodestore "k8s.io/kubernetes/pkg/registry/core/node/storage"
	volumestore "k8s.io/kubernetes/pkg/registry/core/persistentvolume/storage"
	claimstore "k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim/storage"
	podstore "k8s.io/kubernetes/pkg/registry/core/pod/storage"
	podtemplatestore "k8s.io/kubernetes/pkg/registry/core/podtemplate/storage"
	replicationstore "k8s.io/kubernetes/pkg/registry/core/replicationcontroller/storage"
	quotastore "k8s.io/kubernetes/pkg/registry/core/resourcequota/storage"
	secretstore "k8s.io/kubernetes/pkg/registry/core/secret/storage"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator"
	"k8s.io/kubernetes/pkg/registry/core/service/portallocator"
	servicestore "k8s.io/kubernetes/pkg/registry/core/service/storage"
	accountstore "k8s.io/kubernetes/pkg/registry/core/serviceaccount/storage"
	discoveryrest "k8s.io/kubernetes/pkg/registry/discovery/rest"
	networkingrest "k8s.io/kubernetes/pkg/registry/networking/rest"
	noderest "k8s.io/kubernetes/pkg/registry/node/rest"
	policyrest "k8s.io/kubernetes/pkg/registry/policy/rest"
	rbacrest "k8s.io/kubernetes/pkg/registry/rbac/rest"
	schedulingrest "k8s.io/kubernetes/pkg/registry/scheduling/rest"
	storagerest "k8s.io/kubernetes/pkg/registry/storage/rest"

	"k8s.io/kubernetes/plugin/pkg/admission/nodetaint"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/storageobjectinuseprotection"

	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/authorization/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
)

const serverVersion = "1.36"

// stores are the storages by resource, for what plays the controllers.
type stores map[schema.GroupResource]*store

// GetRESTOptions gives a registry its storage, once.
func (s stores) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	codec, err := storageCodec(resource)
	if err != nil {
		return generic.RESTOptions{}, err
	}
	config := storagebackend.ConfigForResource{GroupResource: resource, Config: storagebackend.Config{Codec: codec}}
	return generic.RESTOptions{
		StorageConfig:           &config,
		EnableGarbageCollection: true,
		DeleteCollectionWorkers: 1,
		ResourcePrefix:          prefixOf(resource),
		Decorator: func(
			config *storagebackend.ConfigForResource, prefix string, _ func(runtime.Object) (string, error),
			newFunc func() runtime.Object, _ func() runtime.Object, _ storage.AttrFunc, _ storage.IndexerFuncs,
			_ *cache.Indexers,
		) (storage.Interface, factory.DestroyFunc, error) {
			made := &store{prefix: prefix, codec: config.Codec, newFunc: newFunc}
			s[resource] = made
			return made, func() {}, nil
		},
	}, nil
}

func prefixOf(resource schema.GroupResource) string {
	if resource.Group == "" {
		return "/" + resource.Resource
	}
	return "/" + resource.Group + "/" + resource.Resource
}

// storageCodec writes objects as etcd has them: the newest stable version of their group, as protobuf.
func storageCodec(resource schema.GroupResource) (runtime.Codec, error) {
	scheme, codecs, media := legacyscheme.Scheme, runtime.StorageSerializer(legacyscheme.Codecs), runtime.ContentTypeProtobuf
	if resource.Group == apiextensions.GroupName {
		scheme, codecs, media = apiextensionsserver.Scheme, apiextensionsserver.Codecs, runtime.ContentTypeJSON
	} else if !legacyscheme.Scheme.IsGroupRegistered(resource.Group) {
		return unstructured.UnstructuredJSONScheme, nil
	}
	version := schema.GroupVersion{Group: resource.Group, Version: "v1"}
	if found := scheme.PrioritizedVersionsForGroup(resource.Group); len(found) > 0 {
		version = found[0]
	}
	codec, _, err := serverstorage.NewStorageCodec(serverstorage.StorageCodecConfig{
		StorageMediaType:  media,
		StorageSerializer: codecs,
		StorageVersion:    version,
		MemoryVersion:     schema.GroupVersion{Group: resource.Group, Version: runtime.APIVersionInternal},
	})
	return codec, err
}

// server is what answers: Kubernetes' handlers, and the storages below them.
type server struct {
	handler http.Handler
	stores  stores
	generic *genericapiserver.GenericAPIServer
	config  *genericapiserver.Config
	crds    *definitions
}

func newServer() (*server, error) {
	capabilities.Setup(true, 0)
	made := &server{stores: stores{}}
	config := genericapiserver.NewConfig(legacyscheme.Codecs)
	config.EffectiveVersion = basecompatibility.NewEffectiveVersionFromString(serverVersion, serverVersion, serverVersion)
	config.ExternalAddress = "127.0.0.1:443"
	config.LoopbackClientConfig = &restclient.Config{Host: "https://127.0.0.1:1"}
	config.RESTOptionsGetter = made.stores
	chain, err := admissions(made.stores)
	if err != nil {
		return nil, err
	}
	config.AdmissionControl = chain
	config.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	config.EnableMetrics, config.EnableProfiling, config.EnableIndex = false, false, false
	config.SkipOpenAPIInstallation = true
	config.BuildHandlerChainFunc = func(handler http.Handler, config *genericapiserver.Config) http.Handler {
		return handler
	}
	definitions := openapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(allDefinitions)
	namer := apiopenapi.NewDefinitionNamer(legacyscheme.Scheme, apiextensionsserver.Scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions, namer)
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, namer)
	config.OpenAPIV3Config.Info.Title = "Kubernetes"
	config.OpenAPIConfig.Info.Title = "Kubernetes"
	complete := config.Complete(nil)
	found, err := complete.New("members", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, err
	}
	made.generic, made.config, made.handler = found, config, found.Handler
	if err := made.install(); err != nil {
		return nil, err
	}
	return made, nil
}

func allDefinitions(callback common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	all := generatedopenapi.GetOpenAPIDefinitions(callback)
	for name, each := range apiextensionsopenapi.GetOpenAPIDefinitions(callback) {
		if _, known := all[name]; !known {
			all[name] = each
		}
	}
	return all
}

type provider interface {
	NewRESTStorage(serverstorage.APIResourceConfigSource, generic.RESTOptionsGetter) (genericapiserver.APIGroupInfo, error)
}

// install serves the groups that fleets are made of, in their stable versions.
func (s *server) install() error {
	enabled := serverstorage.NewResourceConfig()
	for _, each := range []string{
		"v1", "apps/v1", "authorization.k8s.io/v1", "autoscaling/v1", "autoscaling/v2", "batch/v1",
		"coordination.k8s.io/v1", "discovery.k8s.io/v1", "networking.k8s.io/v1", "node.k8s.io/v1", "policy/v1",
		"rbac.authorization.k8s.io/v1", "scheduling.k8s.io/v1", "storage.k8s.io/v1",
	} {
		version, err := schema.ParseGroupVersion(each)
		if err != nil {
			return err
		}
		enabled.EnableVersions(version)
	}
	allowed := authorizerfactory.NewAlwaysAllowAuthorizer()
	core, err := coreGroup(s.stores)
	if err != nil {
		return err
	}
	if err := s.generic.InstallLegacyAPIGroup(genericapiserver.DefaultLegacyAPIPrefix, core); err != nil {
		return err
	}
	var groups []*genericapiserver.APIGroupInfo
	for _, each := range []provider{
		authorizationrest.RESTStorageProvider{Authorizer: allowed, RuleResolver: allowed},
		autoscalingrest.RESTStorageProvider{},
		batchrest.RESTStorageProvider{},
		coordinationrest.RESTStorageProvider{},
		discoveryrest.StorageProvider{},
		networkingrest.RESTStorageProvider{},
		noderest.RESTStorageProvider{},
		policyrest.RESTStorageProvider{},
		rbacrest.RESTStorageProvider{Authorizer: allowed},
		schedulingrest.RESTStorageProvider{},
		storagerest.RESTStorageProvider{},
		appsrest.StorageProvider{},
	} {
		group, err := each.NewRESTStorage(enabled, s.stores)
		if err != nil {
			return err
		}
		groups = append(groups, &group)
	}
	admissions, err := admissionGroup(s.stores)
	if err != nil {
		return err
	}
	groups = append(groups, admissions)
	crds, err := customresourcedefinition.NewREST(apiextensionsserver.Scheme, s.stores)
	if err != nil {
		return err
	}
	group := genericapiserver.NewDefaultAPIGroupInfo(
		apiextensions.GroupName, apiextensionsserver.Scheme, runtime.NewParameterCodec(apiextensionsserver.Scheme), apiextensionsserver.Codecs)
	group.PrioritizedVersions = []schema.GroupVersion{apiextensionsv1.SchemeGroupVersion}
	group.VersionedResourcesStorageMap["v1"] = map[string]rest.Storage{
		"customresourcedefinitions":        crds,
		"customresourcedefinitions/status": customresourcedefinition.NewStatusREST(apiextensionsserver.Scheme, crds),
	}
	groups = append(groups, &group)
	if err := s.generic.InstallAPIGroups(groups...); err != nil {
		return err
	}
	s.crds, err = newDefinitions(s, group.StaticOpenAPISpec)
	return err
}

// coreGroup is what the package for the core group makes, without what needs a server of its own.
func coreGroup(from stores) (*genericapiserver.APIGroupInfo, error) {
	_, network, err := net.ParseCIDR("10.0.0.0/12")
	if err != nil {
		return nil, err
	}
	addresses, err := ipallocator.NewInMemory(network)
	if err != nil {
		return nil, err
	}
	ports, err := portallocator.NewInMemory(utilnet.PortRange{Base: 30000, Size: 2768})
	if err != nil {
		return nil, err
	}
	var first error
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	configMaps, err := configmapstore.NewREST(from)
	keep(err)
	secrets, err := secretstore.NewREST(from)
	keep(err)
	spaces, spaceStatus, spaceFinalize, err := namespacestore.NewREST(from)
	keep(err)
	events, err := eventstore.NewREST(from, 3600)
	keep(err)
	quotas, quotaStatus, err := quotastore.NewREST(from)
	keep(err)
	templates, err := podtemplatestore.NewREST(from)
	keep(err)
	replicating, err := replicationstore.NewStorage(from)
	keep(err)
	limits, err := limitrangestore.NewREST(from)
	keep(err)
	volumes, volumeStatus, err := volumestore.NewREST(from)
	keep(err)
	claims, claimStatus, err := claimstore.NewREST(from)
	keep(err)
	endpoints, err := endpointsstore.NewREST(from)
	keep(err)
	nodes, err := nodestore.NewStorage(from, client.KubeletClientConfig{Port: 10250, PreferredAddressTypes: []string{"InternalIP"}}, nil)
	keep(err)
	if first != nil {
		return nil, first
	}
	pods, err := podstore.NewStorage(from, nodes.KubeletConnectionInfo, nil, nil, nil)
	keep(err)
	accounts, err := accountstore.NewREST(from, nil, nil, 0, nil, nil, nil, false, 0)
	keep(err)
	if first != nil {
		return nil, first
	}
	services, serviceStatus, _, err := servicestore.NewREST(
		from, api.IPv4Protocol, map[api.IPFamily]ipallocator.Interface{api.IPv4Protocol: addresses}, ports, kept{endpoints},
		pods.Pod, nil)
	keep(err)
	if first != nil {
		return nil, first
	}
	group := genericapiserver.NewDefaultAPIGroupInfo("", legacyscheme.Scheme, legacyscheme.ParameterCodec, legacyscheme.Codecs)
	group.PrioritizedVersions = []schema.GroupVersion{{Version: "v1"}}
	group.VersionedResourcesStorageMap["v1"] = map[string]rest.Storage{
		"configmaps": configMaps, "secrets": secrets, "events": events, "limitranges": limits, "endpoints": endpoints,
		"namespaces": spaces, "namespaces/status": spaceStatus, "namespaces/finalize": spaceFinalize,
		"resourcequotas": quotas, "resourcequotas/status": quotaStatus,
		"persistentvolumes": volumes, "persistentvolumes/status": volumeStatus,
		"persistentvolumeclaims": claims, "persistentvolumeclaims/status": claimStatus,
		"nodes": nodes.Node, "nodes/status": nodes.Status,
		"pods": pods.Pod, "pods/status": pods.Status,
		"podtemplates": templates, "replicationcontrollers": replicating.Controller,
		"replicationcontrollers/status": replicating.Status, "replicationcontrollers/scale": replicating.Scale,
		"serviceaccounts": accounts,
		"services":        services, "services/status": serviceStatus,
	}
	return &group, nil
}

// kept are Endpoints that stay when the Service of their name is deleted: which member that was in is not known there.
type kept struct{ *endpointsstore.REST }

func (kept) Delete(
	_ context.Context, name string, _ rest.ValidateObjectFunc, _ *metav1.DeleteOptions,
) (runtime.Object, bool, error) {
	return nil, false, errors.NewNotFound(schema.GroupResource{Resource: "endpoints"}, name)
}

// admissionGroup serves what intercepts writes, which intercepts nothing here.
func admissionGroup(from stores) (*genericapiserver.APIGroupInfo, error) {
	allowed := authorizerfactory.NewAlwaysAllowAuthorizer()
	mutating, err := mutatingstore.NewREST(from)
	if err != nil {
		return nil, err
	}
	validating, err := validatingstore.NewREST(from)
	if err != nil {
		return nil, err
	}
	policies, err := policystore.NewREST(from, allowed, resolver.ResourceResolverFunc(guessed))
	if err != nil {
		return nil, err
	}
	bindings, err := bindingstore.NewREST(from, allowed, nil, resolver.ResourceResolverFunc(guessed))
	if err != nil {
		return nil, err
	}
	judging, judgingStatus, err := judgingstore.NewREST(from, allowed, resolver.ResourceResolverFunc(guessed))
	if err != nil {
		return nil, err
	}
	judged, err := judgedstore.NewREST(from, allowed, nil, resolver.ResourceResolverFunc(guessed))
	if err != nil {
		return nil, err
	}
	group := genericapiserver.NewDefaultAPIGroupInfo(
		"admissionregistration.k8s.io", legacyscheme.Scheme, legacyscheme.ParameterCodec, legacyscheme.Codecs)
	group.PrioritizedVersions = []schema.GroupVersion{{Group: "admissionregistration.k8s.io", Version: "v1"}}
	group.VersionedResourcesStorageMap["v1"] = map[string]rest.Storage{
		"mutatingwebhookconfigurations": mutating, "validatingwebhookconfigurations": validating,
		"mutatingadmissionpolicies": policies, "mutatingadmissionpolicybindings": bindings,
		"validatingadmissionpolicies": judging, "validatingadmissionpolicies/status": judgingStatus,
		"validatingadmissionpolicybindings": judged,
	}
	return &group, nil
}

// noConfiguration is that of admission plugins.
type noConfiguration struct{}

func (noConfiguration) ConfigFor(string) (io.Reader, error) { return nil, nil }

// admissions are the plugins that a server has by default, as far as they ask no other object.
func admissions(from stores) (admission.Interface, error) {
	plugins := admission.NewPlugins()
	nodetaint.Register(plugins)
	storageobjectinuseprotection.Register(plugins)
	names := []string{nodetaint.PluginName, storageobjectinuseprotection.PluginName}
	chain, err := plugins.NewFromPlugins(names, noConfiguration{}, admission.PluginInitializers{}, admission.Decorators{})
	if err != nil {
		return nil, err
	}
	return admission.NewChainHandler(lifecycle{from}, chain), nil
}

// guessed names the resource of a kind, for policies whose parameters are objects of it.
func guessed(kind schema.GroupVersionKind) (schema.GroupVersionResource, error) {
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return plural, nil
}

// lifecycle refuses what is written into a namespace that is not there, or ends: as the admission plugin of that name.
type lifecycle struct{ stores stores }

var spacesResource = schema.GroupResource{Resource: "namespaces"}

func (lifecycle) Handles(operation admission.Operation) bool { return operation != admission.Connect }

func (l lifecycle) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	isSpace := a.GetResource().GroupResource() == spacesResource
	if a.GetNamespace() == "" || isSpace || a.GetOperation() == admission.Delete ||
		strings.HasSuffix(a.GetResource().Resource, "reviews") {
		return nil
	}
	found := spaceOf(ctx).entryAt("/namespaces", "/namespaces/"+a.GetNamespace())
	if found == nil {
		return errors.NewNotFound(spacesResource, a.GetNamespace())
	}
	if a.GetOperation() != admission.Create || found.object.(*api.Namespace).Status.Phase != api.NamespaceTerminating {
		return nil
	}
	refused := admission.NewForbidden(a, terminating(a.GetNamespace()))
	if status, ok := refused.(*errors.StatusError); ok {
		status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes, causeOfTerminating(a.GetNamespace()))
	}
	return refused
}

var (
	_     admission.MutationInterface = lifecycle{}
	admin                             = &user.DefaultInfo{Name: "admin", Groups: []string{"system:masters", "system:authenticated"}}
)

// asMember returns a request as one of a member, by its administrator.
func (s *server) asMember(r *http.Request, of *space) (*http.Request, *request.RequestInfo, error) {
	info, err := s.config.RequestInfoResolver.NewRequestInfo(r)
	if err != nil {
		return nil, nil, err
	}
	ctx := audit.WithAuditContext(request.WithUser(request.WithRequestInfo(inSpace(r.Context(), of), info), admin))
	return r.WithContext(ctx), info, nil
}
