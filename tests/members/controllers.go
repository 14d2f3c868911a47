package main

// What plays the controllers of a cluster, and its garbage: workloads become healthy a while after they changed,
// namespaces that are deleted end with what is in them, and definitions are established.

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/apis/batch"
	api "k8s.io/kubernetes/pkg/apis/core"
)

const (
	controllerName = "kube-controller-manager"
	revisionNote   = "deployment.kubernetes.io/revision"
	againAfter     = 50 * time.Millisecond
)

// healthyAfter is how long workloads take, in nanoseconds; below zero they never become healthy.
var healthyAfter atomic.Int64

// controllers act on what changes; they are there before anything does.
var controllers *stores

func terminating(name string) error {
	return fmt.Errorf("unable to create new content in namespace %s because it is being terminated", name)
}

func causeOfTerminating(name string) metav1.StatusCause {
	return metav1.StatusCause{
		Type:    v1.NamespaceTerminatingCause,
		Message: fmt.Sprintf("namespace %s is being terminated", name),
		Field:   "metadata.namespace",
	}
}

// changed is called after every change of a member, without its lock.
func changed(of *space, told event) {
	note(of, told)
	if told.now == nil {
		return
	}
	switch object := told.now.object.(type) {
	case *apps.Deployment:
		act(of, told.key, "apps", "deployments", object.Status.ObservedGeneration < object.Generation, deploymentDone)
	case *apps.StatefulSet:
		observed := object.Status.ObservedGeneration
		act(of, told.key, "apps", "statefulsets", observed == nil || *observed < object.Generation, statefulSetDone)
	case *apps.DaemonSet:
		act(of, told.key, "apps", "daemonsets", object.Status.ObservedGeneration < object.Generation, daemonSetDone)
	case *batch.Job:
		act(of, told.key, "batch", "jobs", object.Status.CompletionTime == nil, jobDone)
	case *apiextensions.CustomResourceDefinition:
		is := apiextensions.IsCRDConditionTrue(object, apiextensions.Established)
		if !is {
			update(of, told.key, schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}, established)
		} else if object.DeletionTimestamp != nil {
			go endDefinition(of, told.key, object)
		}
	case *api.Namespace:
		if object.DeletionTimestamp != nil {
			go endNamespace(of, object.Name)
		}
	}
}

// observedGeneration is the generation that a status is about; 0 where it says none.
func observedGeneration(object runtime.Object) int64 {
	switch object := object.(type) {
	case *apps.Deployment:
		return object.Status.ObservedGeneration
	case *apps.StatefulSet:
		if object.Status.ObservedGeneration != nil {
			return *object.Status.ObservedGeneration
		}
	case *apps.DaemonSet:
		return object.Status.ObservedGeneration
	}
	return 0
}

func act(of *space, key, group, resource string, isDue bool, done func(runtime.Object) bool) {
	after := healthyAfter.Load()
	if !isDue || after < 0 {
		return
	}
	time.AfterFunc(time.Duration(after), func() {
		update(of, key, schema.GroupResource{Group: group, Resource: resource}, done)
	})
}

// update changes a stored object, where there is something to change.
func update(of *space, key string, resource schema.GroupResource, change func(runtime.Object) bool) {
	found := (*controllers)[resource]
	out := found.newFunc()
	err := found.GuaranteedUpdate(
		inSpace(context.Background(), of), key, out, false, nil,
		func(object runtime.Object, _ storage.ResponseMeta) (runtime.Object, *uint64, error) {
			change(object)
			return object, nil, nil
		}, nil)
	if err != nil && !storage.IsNotFound(err) {
		fmt.Println("controllers:", key, err)
	}
}

func now() metav1.Time { return metav1.NewTime(time.Now().UTC().Truncate(time.Second)) }

// owned records what a controller set of a status, as a server does.
func owned(object metav1.Object, apiVersion string, fields map[string]any) {
	raw, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	var kept []metav1.ManagedFieldsEntry
	for _, each := range object.GetManagedFields() {
		if each.Manager != controllerName || each.Subresource != "status" {
			kept = append(kept, each)
		}
	}
	at := now()
	object.SetManagedFields(append(kept, metav1.ManagedFieldsEntry{
		Manager: controllerName, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: apiVersion, Time: &at,
		FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: raw}, Subresource: "status",
	}))
}

func leaves(names ...string) map[string]any {
	made := map[string]any{}
	for _, each := range names {
		if each != "." {
			each = "f:" + each
		}
		made[each] = map[string]any{}
	}
	return made
}

func condition(kind string, times ...string) (string, map[string]any) {
	return fmt.Sprintf(`k:{"type":%q}`, kind), leaves(append([]string{".", "message", "reason", "status", "type"}, times...)...)
}

func deploymentDone(object runtime.Object) bool {
	deployment := object.(*apps.Deployment)
	if deployment.Status.ObservedGeneration >= deployment.Generation {
		return false
	}
	notes := leaves("deployment.kubernetes.io/revision")
	if deployment.Annotations == nil {
		deployment.Annotations, notes["."] = map[string]string{}, map[string]any{}
	}
	number, _ := strconv.Atoi(deployment.Annotations[revisionNote])
	deployment.Annotations[revisionNote] = strconv.Itoa(number + 1)
	count, at := deployment.Spec.Replicas, now()
	deployment.Status = apps.DeploymentStatus{
		ObservedGeneration: deployment.Generation, Replicas: count, UpdatedReplicas: count, ReadyReplicas: count,
		AvailableReplicas: count,
		Conditions: []apps.DeploymentCondition{{
			Type: apps.DeploymentAvailable, Status: api.ConditionTrue, LastUpdateTime: at, LastTransitionTime: at,
			Reason: "MinimumReplicasAvailable", Message: "Deployment has minimum availability.",
		}, {
			Type: apps.DeploymentProgressing, Status: api.ConditionTrue, LastUpdateTime: at, LastTransitionTime: at,
			Reason: "NewReplicaSetAvailable", Message: fmt.Sprintf("ReplicaSet %q has successfully progressed.", deployment.Name),
		}},
	}
	fields := leaves("availableReplicas", "observedGeneration", "readyReplicas", "replicas", "updatedReplicas")
	conditions := leaves(".")
	for _, each := range []string{"Available", "Progressing"} {
		name, of := condition(each, "lastTransitionTime", "lastUpdateTime")
		conditions[name] = of
	}
	fields["f:conditions"] = conditions
	owned(deployment, "apps/v1", map[string]any{"f:metadata": map[string]any{"f:annotations": notes}, "f:status": fields})
	return true
}

func statefulSetDone(object runtime.Object) bool {
	set := object.(*apps.StatefulSet)
	generation, count := set.Generation, set.Spec.Replicas
	revision := fmt.Sprintf("%s-%d", set.Name, generation)
	set.Status = apps.StatefulSetStatus{
		ObservedGeneration: &generation, Replicas: count, ReadyReplicas: count, AvailableReplicas: count,
		CurrentReplicas: count, UpdatedReplicas: count, CurrentRevision: revision, UpdateRevision: revision,
		CollisionCount: new(int32),
	}
	owned(set, "apps/v1", map[string]any{"f:status": leaves(
		"availableReplicas", "collisionCount", "currentReplicas", "currentRevision", "observedGeneration",
		"readyReplicas", "replicas", "updateRevision", "updatedReplicas")})
	return true
}

func daemonSetDone(object runtime.Object) bool {
	set := object.(*apps.DaemonSet)
	set.Status = apps.DaemonSetStatus{ObservedGeneration: set.Generation}
	owned(set, "apps/v1", map[string]any{"f:status": leaves("observedGeneration")})
	return true
}

func jobDone(object runtime.Object) bool {
	job := object.(*batch.Job)
	if job.Status.CompletionTime != nil || (job.Spec.Suspend != nil && *job.Spec.Suspend) {
		return false
	}
	at, zero := now(), int32(0)
	job.Status = batch.JobStatus{
		StartTime: &at, CompletionTime: &at, Succeeded: 1, Ready: &zero,
		Conditions: []batch.JobCondition{
			{Type: batch.JobSuccessCriteriaMet, Status: api.ConditionTrue, LastProbeTime: at, LastTransitionTime: at,
				Reason: "CompletionsReached", Message: "Reached expected number of succeeded pods"},
			{Type: batch.JobComplete, Status: api.ConditionTrue, LastProbeTime: at, LastTransitionTime: at,
				Reason: "CompletionsReached", Message: "Reached expected number of succeeded pods"},
		},
	}
	owned(job, "batch/v1", map[string]any{"f:status": leaves("completionTime", "conditions", "ready", "startTime", "succeeded")})
	return true
}

func established(object runtime.Object) bool {
	crd := object.(*apiextensions.CustomResourceDefinition)
	at := now()
	crd.Status.AcceptedNames = crd.Spec.Names
	crd.Status.Conditions = []apiextensions.CustomResourceDefinitionCondition{
		{Type: apiextensions.NamesAccepted, Status: apiextensions.ConditionTrue, LastTransitionTime: at,
			Reason: "NoConflicts", Message: "no conflicts found"},
		{Type: apiextensions.Established, Status: apiextensions.ConditionTrue, LastTransitionTime: at,
			Reason: "InitialNamesAccepted", Message: "the initial names have been accepted"},
	}
	fields := leaves("acceptedNames", "conditions")
	names := leaves("kind", "listKind", "plural", "singular")
	conditions := map[string]any{}
	for _, each := range []string{"Established", "NamesAccepted"} {
		name, of := condition(each, "lastTransitionTime")
		conditions[name] = of
	}
	fields["f:acceptedNames"], fields["f:conditions"] = names, conditions
	owned(crd, "apiextensions.k8s.io/v1", map[string]any{"f:status": fields})
	crd.ManagedFields[len(crd.ManagedFields)-1].Manager = "kube-apiserver"
	return true
}

// endDefinition deletes the objects of a kind that ends, and then the definition.
func endDefinition(of *space, key string, crd *apiextensions.CustomResourceDefinition) {
	prefix := prefixOf(schema.GroupResource{Group: crd.Spec.Group, Resource: crd.Spec.Names.Plural})
	if endAll(of, func(at, _ string) bool { return at == prefix }) {
		remove(of, definitionsPrefix, key)
		return
	}
	time.AfterFunc(againAfter, func() { endDefinition(of, key, crd) })
}

// endNamespace deletes what is in a namespace that ends, and then the namespace.
func endNamespace(of *space, name string) {
	inside := "/" + name + "/"
	if endAll(of, func(prefix, key string) bool { return strings.HasPrefix(strings.TrimPrefix(key, prefix), inside) }) {
		key := "/namespaces/" + name
		if found := of.entryAt("/namespaces", key); found != nil && len(found.object.(*api.Namespace).Finalizers) == 0 {
			remove(of, "/namespaces", key)
			return
		}
	}
	if of.entryAt("/namespaces", "/namespaces/"+name) != nil {
		time.AfterFunc(againAfter, func() { endNamespace(of, name) })
	}
}

// endAll deletes what a function picks, and says whether all of it is gone: what has finalizers waits for these.
func endAll(of *space, picks func(prefix, key string) bool) bool {
	type place struct{ prefix, key string }
	var found []place
	of.mu.RLock()
	for prefix, all := range of.objects {
		for key := range all {
			if prefix != "/namespaces" && picks(prefix, key) {
				found = append(found, place{prefix, key})
			}
		}
	}
	of.mu.RUnlock()
	areGone := true
	for _, each := range found {
		areGone = remove(of, each.prefix, each.key) && areGone
	}
	return areGone
}

// remove deletes a stored object; one with finalizers is only marked.
func remove(of *space, prefix, key string) bool {
	for {
		found := of.entryAt(prefix, key)
		if found == nil {
			return true
		}
		object, err := meta.Accessor(found.object)
		if err != nil {
			return false
		}
		isKept := len(object.GetFinalizers()) > 0 && prefix != definitionsPrefix
		if !isKept {
			if of.exchange(prefix, key, found, nil) > 0 {
				return true
			}
			continue
		}
		if object.GetDeletionTimestamp() != nil {
			return false
		}
		marked := found.object.DeepCopyObject()
		at, zero := now(), int64(0)
		of2, _ := meta.Accessor(marked)
		of2.SetDeletionTimestamp(&at)
		of2.SetDeletionGracePeriodSeconds(&zero)
		if of.exchange(prefix, key, found, &entry{object: marked}) > 0 {
			return false
		}
	}
}
