package main

// CustomResourceDefinitions: each member has its own. What serves the objects of one is Kubernetes' handler, made once
// for every definition that differs, whichever members have it.

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"sort"
	"strings"
	"sync"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	listers "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
)

const definitionsPrefix = "/apiextensions.k8s.io/customresourcedefinitions"

// definitions are the handlers by the digest of the definition they are for.
type definitions struct {
	server   *server
	static   map[string]*spec.Schema
	mu       sync.Mutex
	handlers map[string]http.Handler
	specs    map[string][]byte
}

func newDefinitions(of *server, static map[string]*spec.Schema) (*definitions, error) {
	return &definitions{server: of, static: static, handlers: map[string]http.Handler{}, specs: map[string][]byte{}}, nil
}

// single is what a handler asks of an informer, for the one definition it is for.
type single struct {
	cache.SharedIndexInformer
	indexer cache.Indexer
}

func (s single) Informer() cache.SharedIndexInformer { return s.SharedIndexInformer }
func (s single) Lister() listers.CustomResourceDefinitionLister {
	return listers.NewCustomResourceDefinitionLister(s.indexer)
}

// definitionsOf returns the established definitions of a member, by name.
func definitionsOf(of *space) []*apiextensionsv1.CustomResourceDefinition {
	of.mu.RLock()
	defer of.mu.RUnlock()
	var found []*apiextensionsv1.CustomResourceDefinition
	for _, each := range of.objects[definitionsPrefix] {
		crd := each.object.(*apiextensions.CustomResourceDefinition)
		if !apiextensions.IsCRDConditionTrue(crd, apiextensions.Established) {
			continue
		}
		made := &apiextensionsv1.CustomResourceDefinition{}
		if err := apiextensionsserver.Scheme.Convert(crd, made, nil); err != nil {
			panic(err)
		}
		found = append(found, made)
	}
	sort.Slice(found, func(one, other int) bool { return found[one].Name < found[other].Name })
	return found
}

// serve answers what is about custom kinds, and says whether it did.
func (d *definitions) serve(w http.ResponseWriter, r *http.Request, info *request.RequestInfo, of *space) bool {
	if !strings.HasPrefix(r.URL.Path, "/apis") && !strings.HasPrefix(r.URL.Path, "/openapi/v3") {
		return false
	}
	of.mu.RLock()
	count := len(of.objects[definitionsPrefix])
	of.mu.RUnlock()
	if strings.HasPrefix(r.URL.Path, "/openapi/v3") {
		d.serveOpenAPI(w, r, of)
		return true
	}
	if count == 0 {
		return false
	}
	if !info.IsResourceRequest {
		return d.serveDiscovery(w, r, of)
	}
	for _, each := range definitionsOf(of) {
		if each.Spec.Group == info.APIGroup && each.Spec.Names.Plural == info.Resource {
			handler, err := d.handlerOf(each)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return true
			}
			handler.ServeHTTP(w, r)
			return true
		}
	}
	return false
}

func digestOf(crd *apiextensionsv1.CustomResourceDefinition) string {
	text, err := json.Marshal(crd.Spec)
	if err != nil {
		panic(err)
	}
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:16])
}

func (d *definitions) handlerOf(crd *apiextensionsv1.CustomResourceDefinition) (http.Handler, error) {
	digest := digestOf(crd)
	d.mu.Lock()
	defer d.mu.Unlock()
	if found := d.handlers[digest]; found != nil {
		return found, nil
	}
	common := crd.DeepCopy()
	common.UID = types.UID(digest)
	informer := cache.NewSharedIndexInformer(
		&cache.ListWatch{}, &apiextensionsv1.CustomResourceDefinition{}, 0,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	if err := informer.GetIndexer().Add(common); err != nil {
		return nil, err
	}
	made, err := apiextensionsserver.NewCustomResourceDefinitionHandler(
		nil, nil, single{informer, informer.GetIndexer()}, http.NotFoundHandler(), d.server.stores,
		d.server.config.AdmissionControl, nil, nil,
		func(resolver webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver { return resolver },
		1, authorizerfactory.NewAlwaysAllowAuthorizer(), time.Minute, time.Minute, d.static, 3<<20)
	if err != nil {
		return nil, err
	}
	d.handlers[digest] = made
	return made, nil
}

// serveDiscovery adds a member's own groups to those that every member has.
func (d *definitions) serveDiscovery(w http.ResponseWriter, r *http.Request, of *space) bool {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	crds := definitionsOf(of)
	switch len(parts) {
	case 1:
		return d.serveGroups(w, r, crds)
	case 2, 3:
		resources := &v1.APIResourceList{TypeMeta: v1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}}
		var group *apidiscoveryv2.APIGroupDiscovery
		for _, each := range groupsOf(crds) {
			if each.Name == parts[1] {
				group = &each
			}
		}
		if group == nil {
			return false
		}
		if len(parts) == 2 {
			writeJSON(w, groupOf(group))
			return true
		}
		for _, version := range group.Versions {
			if version.Version == parts[2] {
				resources.GroupVersion = parts[1] + "/" + parts[2]
				resources.APIResources = resourcesOf(version)
				writeJSON(w, resources)
				return true
			}
		}
	}
	return false
}

func groupOf(of *apidiscoveryv2.APIGroupDiscovery) v1.APIGroup {
	made := v1.APIGroup{TypeMeta: v1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: of.Name}
	for _, each := range of.Versions {
		made.Versions = append(made.Versions, v1.GroupVersionForDiscovery{
			GroupVersion: of.Name + "/" + each.Version, Version: each.Version})
	}
	made.PreferredVersion = made.Versions[0]
	return made
}

func resourcesOf(version apidiscoveryv2.APIVersionDiscovery) []v1.APIResource {
	var made []v1.APIResource
	for _, each := range version.Resources {
		made = append(made, v1.APIResource{
			Name: each.Resource, SingularName: each.SingularResource, Kind: each.ResponseKind.Kind,
			Namespaced: each.Scope == apidiscoveryv2.ScopeNamespace, Verbs: each.Verbs, ShortNames: each.ShortNames,
			Categories: each.Categories,
		})
		for _, part := range each.Subresources {
			made = append(made, v1.APIResource{
				Name: each.Resource + "/" + part.Subresource, Kind: part.ResponseKind.Kind, Verbs: part.Verbs,
				Group: part.ResponseKind.Group, Version: part.ResponseKind.Version,
				Namespaced: each.Scope == apidiscoveryv2.ScopeNamespace,
			})
		}
	}
	return made
}

func (d *definitions) serveGroups(w http.ResponseWriter, r *http.Request, crds []*apiextensionsv1.CustomResourceDefinition) bool {
	recorded := &recorder{header: http.Header{}}
	d.server.generic.Handler.ServeHTTP(recorded, r)
	if recorded.code != 0 && recorded.code != http.StatusOK {
		return false
	}
	var shape struct {
		Kind string `json:"kind"`
	}
	if json.Unmarshal(recorded.body, &shape) != nil {
		return false
	}
	for name, values := range recorded.header {
		if name != "Etag" && name != "Content-Length" {
			w.Header()[name] = values
		}
	}
	if shape.Kind == "APIGroupDiscoveryList" {
		var list apidiscoveryv2.APIGroupDiscoveryList
		if json.Unmarshal(recorded.body, &list) != nil {
			return false
		}
		list.Items = append(list.Items, groupsOf(crds)...)
		writeJSON(w, list)
		return true
	}
	var list v1.APIGroupList
	if json.Unmarshal(recorded.body, &list) != nil {
		return false
	}
	for _, each := range groupsOf(crds) {
		list.Groups = append(list.Groups, groupOf(&each))
	}
	writeJSON(w, list)
	return true
}

// groupsOf returns the groups of definitions as discovery has them.
func groupsOf(crds []*apiextensionsv1.CustomResourceDefinition) []apidiscoveryv2.APIGroupDiscovery {
	var groups []apidiscoveryv2.APIGroupDiscovery
	at := map[string]int{}
	for _, crd := range crds {
		if _, known := at[crd.Spec.Group]; !known {
			at[crd.Spec.Group] = len(groups)
			groups = append(groups, apidiscoveryv2.APIGroupDiscovery{ObjectMeta: v1.ObjectMeta{Name: crd.Spec.Group}})
		}
		group := &groups[at[crd.Spec.Group]]
		for _, version := range crd.Spec.Versions {
			if version.Served {
				addResource(group, crd, version)
			}
		}
	}
	return groups
}

func addResource(
	group *apidiscoveryv2.APIGroupDiscovery, crd *apiextensionsv1.CustomResourceDefinition,
	version apiextensionsv1.CustomResourceDefinitionVersion,
) {
	kind := &v1.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}
	scope := apidiscoveryv2.ScopeCluster
	if crd.Spec.Scope == apiextensionsv1.NamespaceScoped {
		scope = apidiscoveryv2.ScopeNamespace
	}
	names := crd.Status.AcceptedNames
	made := apidiscoveryv2.APIResourceDiscovery{
		Resource: names.Plural, SingularResource: names.Singular, Scope: scope, ResponseKind: kind,
		ShortNames: names.ShortNames, Categories: names.Categories,
		Verbs: []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"},
	}
	if version.Subresources != nil && version.Subresources.Status != nil {
		made.Subresources = append(made.Subresources, apidiscoveryv2.APISubresourceDiscovery{
			Subresource: "status", ResponseKind: kind, Verbs: []string{"get", "patch", "update"}})
	}
	if version.Subresources != nil && version.Subresources.Scale != nil {
		made.Subresources = append(made.Subresources, apidiscoveryv2.APISubresourceDiscovery{
			Subresource: "scale", Verbs: []string{"get", "patch", "update"},
			ResponseKind: &v1.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}})
	}
	for number := range group.Versions {
		if group.Versions[number].Version == version.Name {
			group.Versions[number].Resources = append(group.Versions[number].Resources, made)
			return
		}
	}
	group.Versions = append(group.Versions, apidiscoveryv2.APIVersionDiscovery{
		Version: version.Name, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent,
		Resources: []apidiscoveryv2.APIResourceDiscovery{made}})
}

// serveOpenAPI publishes the schemas of a member's custom kinds, as far as anybody asks: an index, and each version.
func (d *definitions) serveOpenAPI(w http.ResponseWriter, r *http.Request, of *space) {
	paths := map[string]map[string]string{}
	for _, crd := range definitionsOf(of) {
		for _, version := range crd.Spec.Versions {
			if !version.Served {
				continue
			}
			name := "apis/" + crd.Spec.Group + "/" + version.Name
			if strings.TrimPrefix(r.URL.Path, "/openapi/v3/") == name {
				content, err := d.specOf(crd, version.Name)
				if err != nil {
					http.Error(w, err.Error(), http.StatusInternalServerError)
					return
				}
				w.Header().Set("Content-Type", runtime.ContentTypeJSON)
				_, _ = w.Write(content)
				return
			}
			paths[name] = map[string]string{
				"serverRelativeURL": fmt.Sprintf("/openapi/v3/%s?hash=%s", name, strings.ToUpper(digestOf(crd)))}
		}
	}
	if r.URL.Path != "/openapi/v3" {
		http.NotFound(w, r)
		return
	}
	writeJSON(w, map[string]any{"paths": paths})
}

func (d *definitions) specOf(crd *apiextensionsv1.CustomResourceDefinition, version string) ([]byte, error) {
	key := digestOf(crd) + version
	d.mu.Lock()
	defer d.mu.Unlock()
	if found := d.specs[key]; found != nil {
		return found, nil
	}
	made, err := builder.BuildOpenAPIV3(crd, version, builder.Options{V2: false})
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(made)
	d.specs[key] = content
	return content, err
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	_ = json.NewEncoder(w).Encode(value)
}

// recorder keeps an answer, to be added to.
type recorder struct {
	header http.Header
	code   int
	body   []byte
}

func (r *recorder) Header() http.Header  { return r.header }
func (r *recorder) WriteHeader(code int) { r.code = code }
func (r *recorder) Write(content []byte) (int, error) {
	r.body = append(r.body, content...)
	return len(content), nil
}
