"""The scopes of well-known kinds that projects beside Kubernetes define, by API group.

They count where no CustomResourceDefinition of the source and no member tells the scope of a kind. Every version of a
kind has the same scope, and a project that changed one would break every object there is; so this table does not age,
it only lacks what is new.
"""

from collections.abc import Mapping

_NAMESPACED = {
    "": "BuildConfig DeploymentConfig ImageStream Route",
    "access.strimzi.io": "KafkaAccess",
    "acid.zalan.do": "OperatorConfiguration PostgresTeam postgresql",
    "acme.cert-manager.io": "Challenge Order",
    "actions.github.com": "AutoscalingListener AutoscalingRunnerSet EphemeralRunner EphemeralRunnerSet",
    "addons.cluster.x-k8s.io": "ClusterResourceSet ClusterResourceSetBinding",
    "aga.k8s.aws": "GlobalAccelerator",
    "agent.k8s.elastic.co": "Agent",
    "apm.k8s.elastic.co": "ApmServer",
    "app.kiegroup.org": "KieApp",
    "apps.emqx.io": "EMQX EmqxBroker EmqxEnterprise EmqxPlugin Rebalance",
    "apps.kruise.io": "AdvancedCronJob BroadcastJob CloneSet ContainerRecreateRequest DaemonSet EphemeralJob "
    "ImageListPullJob ImagePullJob PersistentPodState PodProbeMarker StatefulSet UnitedDeployment WorkloadSpread",
    "apps.openshift.io": "DeploymentConfig",
    "argoproj.io": "AnalysisRun AnalysisTemplate AppProject Application ApplicationSet CronWorkflow EventBus "
    "EventSource Experiment Rollout Sensor Workflow WorkflowArtifactGCTask WorkflowEventBinding WorkflowTaskResult "
    "WorkflowTaskSet WorkflowTemplate",
    "autoops.k8s.elastic.co": "AutoOpsAgentPolicy",
    "autoscaling.internal.knative.dev": "Metric PodAutoscaler",
    "autoscaling.k8s.elastic.co": "ElasticsearchAutoscaler",
    "autoscaling.k8s.io": "VerticalPodAutoscaler VerticalPodAutoscalerCheckpoint",
    "autoscaling.x-k8s.io": "CapacityBuffer ProvisioningRequest",
    "balancer.x-k8s.io": "Balancer",
    "batch.volcano.sh": "CronJob Job",
    "beat.k8s.elastic.co": "Beat",
    "bitnami.com": "SealedSecret",
    "bootstrap.cluster.x-k8s.io": "KubeadmConfig KubeadmConfigTemplate",
    "build.openshift.io": "Build BuildConfig",
    "caching.internal.knative.dev": "Image",
    "cdi.kubevirt.io": "DataImportCron DataSource DataVolume",
    "ceph.rook.io": "CephBlockPool CephBlockPoolRadosNamespace CephBucketNotification CephBucketTopic CephCOSIDriver "
    "CephClient CephCluster CephFilesystem CephFilesystemMirror CephFilesystemSubVolumeGroup CephNFS "
    "CephNVMeOFGateway CephObjectRealm CephObjectStore CephObjectStoreAccount CephObjectStoreUser CephObjectZone "
    "CephObjectZoneGroup CephRBDMirror",
    "cert-manager.io": "Certificate CertificateRequest Issuer",
    "chaos-mesh.org": "AWSChaos AzureChaos BlockChaos DNSChaos GCPChaos HTTPChaos IOChaos JVMChaos KernelChaos "
    "NetworkChaos PhysicalMachine PhysicalMachineChaos PodChaos PodHttpChaos PodIOChaos PodNetworkChaos Schedule "
    "StatusCheck StressChaos TimeChaos Workflow WorkflowNode",
    "cilium.io": "CiliumEndpoint CiliumEnvoyConfig CiliumGatewayClassConfig CiliumLocalRedirectPolicy "
    "CiliumNetworkPolicy CiliumNodeConfig",
    "cloud.google.com": "BackendConfig",
    "cluster.x-k8s.io": "Cluster ClusterClass Machine MachineDeployment MachineDrainRule MachineHealthCheck "
    "MachinePool MachineSet",
    "config.gatekeeper.sh": "Config",
    "config.kio.kasten.io": "Policy",
    "config.openshift.io": "ImagePolicy",
    "configuration.konghq.com": "IngressClassParameters KongConsumer KongConsumerGroup KongCustomEntity KongIngress "
    "KongPlugin KongUpstreamPolicy TCPIngress UDPIngress",
    "connection.gatekeeper.sh": "Connection",
    "controlplane.cluster.x-k8s.io": "KubeadmControlPlane KubeadmControlPlaneTemplate",
    "core.strimzi.io": "StrimziPodSet",
    "crd.projectcalico.org": "NetworkPolicy NetworkSet StagedKubernetesNetworkPolicy StagedNetworkPolicy",
    "csi.ceph.io": "CephConnection ClientProfile ClientProfileMapping Driver OperatorConfig",
    "dragonflydb.io": "Dragonfly",
    "elasticsearch.k8s.elastic.co": "Elasticsearch",
    "elbv2.k8s.aws": "ALBTargetControlConfig TargetGroupBinding",
    "enterprisesearch.k8s.elastic.co": "EnterpriseSearch",
    "eventing.keda.sh": "CloudEventSource",
    "eventing.knative.dev": "Broker EventPolicy EventTransform EventType RequestReply Trigger",
    "extensions.istio.io": "TrafficExtension WasmPlugin",
    "external-secrets.io": "ExternalSecret PushSecret SecretStore",
    "externaldns.k8s.io": "DNSEndpoint DNSRecord",
    "flagger.app": "AlertProvider Canary MetricTemplate",
    "fleet.cattle.io": "Bundle BundleDeployment BundleNamespaceMapping Cluster ClusterGroup ClusterRegistration "
    "ClusterRegistrationToken GitRepo GitRepoRestriction HelmOp ImageScan Policy Schedule",
    "flink.apache.org": "FlinkBlueGreenDeployment FlinkDeployment FlinkSessionJob FlinkStateSnapshot",
    "flows.knative.dev": "Parallel Sequence",
    "fluxcd.controlplane.io": "FluxInstance FluxReport ResourceSet ResourceSetInputProvider",
    "frrk8s.metallb.io": "BGPSessionState FRRConfiguration FRRK8sConfiguration",
    "gateway.envoyproxy.io": "Backend BackendTrafficPolicy ClientTrafficPolicy EnvoyExtensionPolicy EnvoyPatchPolicy "
    "EnvoyProxy HTTPRouteFilter SecurityPolicy",
    "gateway.k8s.aws": "ListenerRuleConfiguration LoadBalancerConfiguration TargetGroupConfiguration",
    "gateway.networking.k8s.io": "BackendTLSPolicy GRPCRoute Gateway HTTPRoute ListenerSet ReferenceGrant TCPRoute "
    "TLSRoute UDPRoute",
    "gateway.networking.x-k8s.io": "XBackend XBackendTrafficPolicy XListenerSet",
    "generators.external-secrets.io": "ACRAccessToken BeyondtrustWorkloadCredentialsDynamicSecret "
    "CloudsmithAccessToken ECRAuthorizationToken Fake GCRAccessToken GeneratorState GithubAccessToken "
    "GitlabDeployToken Grafana MFA Password QuayAccessToken SSHKey STSSessionToken UUID VaultDynamicSecret Webhook",
    "getambassador.io": "AuthService ConsulResolver DevPortal Host KubernetesEndpointResolver "
    "KubernetesServiceResolver Listener LogService Mapping Module RateLimitService TCPMapping TLSContext "
    "TracingService",
    "grafana.integreatly.org": "Grafana GrafanaAlertRuleGroup GrafanaContactPoint GrafanaDashboard GrafanaDatasource "
    "GrafanaFolder GrafanaLibraryPanel GrafanaManifest GrafanaMuteTiming GrafanaNotificationPolicy "
    "GrafanaNotificationPolicyRoute GrafanaNotificationTemplate GrafanaServiceAccount",
    "groupsnapshot.storage.k8s.io": "VolumeGroupSnapshot",
    "helm.cattle.io": "HelmChart HelmChartConfig",
    "helm.toolkit.fluxcd.io": "HelmRelease",
    "hub.traefik.io": "AIService API APIAuth APIBundle APICatalogItem APIPlan APIPortal APIPortalAuth APIRateLimit "
    "APIVersion ContentItem ManagedApplication ManagedSubscription Uplink",
    "image.openshift.io": "ImageStream",
    "image.toolkit.fluxcd.io": "ImagePolicy ImageRepository ImageUpdateAutomation",
    "inference.networking.k8s.io": "InferencePool",
    "inference.networking.x-k8s.io": "InferenceModelRewrite InferenceObjective InferencePoolImport",
    "infrastructure.cluster.x-k8s.io": "DevCluster DevClusterTemplate DevMachine DevMachinePool "
    "DevMachinePoolTemplate DevMachineTemplate",
    "ipam.cluster.x-k8s.io": "IPAddress IPAddressClaim",
    "jaegertracing.io": "Jaeger",
    "jetstream.nats.io": "Account Consumer KeyValue ObjectStore Stream StreamTemplate",
    "jobset.x-k8s.io": "JobSet",
    "k3s.cattle.io": "Addon",
    "k6.io": "PrivateLoadZone TestRun",
    "k8s.cni.cncf.io": "NetworkAttachmentDefinition",
    "k8s.mariadb.com": "Backup Connection Database ExternalMariaDB Grant MariaDB MaxScale PhysicalBackup "
    "PointInTimeRecovery Restore SqlJob User",
    "k8s.nginx.org": "Policy",
    "kafka.strimzi.io": "Kafka KafkaBridge KafkaConnect KafkaConnector KafkaMirrorMaker2 KafkaNodePool KafkaRebalance "
    "KafkaTopic KafkaUser",
    "keda.sh": "ScaledJob ScaledObject TriggerAuthentication",
    "keycloak.org": "Keycloak KeycloakBackup KeycloakClient KeycloakRealm KeycloakUser",
    "kibana.k8s.elastic.co": "Kibana",
    "kubeflow.org": "MPIJob Notebook PaddleJob PyTorchJob TFJob XGBoostJob",
    "kubevirt.io": "KubeVirt VirtualMachine VirtualMachineInstance VirtualMachineInstanceMigration "
    "VirtualMachineInstancePreset VirtualMachineInstanceReplicaSet",
    "kueue.x-k8s.io": "LocalQueue Workload",
    "kustomize.toolkit.fluxcd.io": "Kustomization",
    "kyverno.io": "CleanupPolicy Policy PolicyException UpdateRequest",
    "leaderworkerset.x-k8s.io": "LeaderWorkerSet",
    "linkerd.io": "ServiceProfile",
    "local.storage.openshift.io": "LocalVolume LocalVolumeDiscovery LocalVolumeSet",
    "logstash.k8s.elastic.co": "Logstash",
    "loki.grafana.com": "AlertingRule LokiStack RecordingRule RulerConfig",
    "longhorn.io": "BackingImage BackingImageDataSource BackingImageManager Backup BackupBackingImage BackupTarget "
    "BackupVolume Engine EngineFrontend EngineImage InstanceManager Node Orphan RecurringJob Replica Setting Shard "
    "ShardGroup ShareManager Snapshot SupportBundle SystemBackup SystemRestore Volume VolumeAttachment",
    "machine.openshift.io": "ControlPlaneMachineSet Machine MachineHealthCheck MachineSet",
    "maps.k8s.elastic.co": "ElasticMapsServer",
    "messaging.knative.dev": "Channel InMemoryChannel Subscription",
    "metacontroller.k8s.io": "ControllerRevision",
    "metallb.io": "BFDProfile BGPAdvertisement BGPPeer Community ConfigurationState IPAddressPool L2Advertisement "
    "ServiceBGPStatus ServiceL2Status",
    "minio.min.io": "Tenant",
    "mongodbcommunity.mongodb.com": "MongoDBCommunity",
    "monitoring.coreos.com": "Alertmanager AlertmanagerConfig PodMonitor Probe Prometheus PrometheusAgent "
    "PrometheusRule ScrapeConfig ServiceMonitor ThanosRuler",
    "monitoring.googleapis.com": "OperatorConfig PodMonitoring Rules",
    "multicluster.linkerd.io": "Link",
    "networking.gke.io": "FrontendConfig ManagedCertificate MultiClusterIngress MultiClusterService",
    "networking.internal.knative.dev": "Certificate Ingress ServerlessService",
    "networking.istio.io": "DestinationRule EnvoyFilter Gateway ProxyConfig ServiceEntry Sidecar VirtualService "
    "WorkloadEntry WorkloadGroup",
    "nfd.k8s-sigs.io": "NodeFeature NodeFeatureGroup",
    "notification.toolkit.fluxcd.io": "Alert Provider Receiver",
    "objectbucket.io": "ObjectBucketClaim",
    "opentelemetry.io": "ClusterObservability Instrumentation OpAMPBridge OpenTelemetryCollector TargetAllocator",
    "operator.victoriametrics.com": "VLAgent VLCluster VLDistributed VLSingle VLogs VMAgent VMAlert VMAlertmanager "
    "VMAlertmanagerConfig VMAnomaly VMAnomalyConfig VMAuth VMCluster VMDistributed VMNodeScrape VMPodScrape VMProbe "
    "VMRule VMScrapeConfig VMServiceScrape VMSingle VMStaticScrape VMUser VTCluster VTSingle",
    "operators.coreos.com": "CatalogSource ClusterServiceVersion InstallPlan OperatorCondition OperatorGroup "
    "Subscription",
    "packageregistry.k8s.elastic.co": "PackageRegistry",
    "policies.kyverno.io": "NamespacedDeletingPolicy NamespacedGeneratingPolicy NamespacedImageValidatingPolicy "
    "NamespacedMutatingPolicy NamespacedValidatingPolicy PolicyException",
    "policy.linkerd.io": "AuthorizationPolicy EgressNetwork HTTPLocalRateLimitPolicy HTTPRoute MeshTLSAuthentication "
    "NetworkAuthentication Server ServerAuthorization",
    "postgres-operator.crunchydata.com": "CrunchyBridgeCluster PGAdmin PGUpgrade PostgresCluster",
    "postgresql.cnpg.io": "Backup Cluster Database DatabaseRole FailoverQuorum ImageCatalog Pooler Publication "
    "ScheduledBackup Subscription",
    "projectcalico.org": "NetworkPolicy NetworkSet StagedKubernetesNetworkPolicy StagedNetworkPolicy",
    "projectcontour.io": "ContourConfiguration ContourDeployment ExtensionService HTTPProxy TLSCertificateDelegation",
    "protection.crossplane.io": "Usage",
    "provisioning.cattle.io": "Cluster",
    "rabbitmq.com": "Binding Exchange Federation OperatorPolicy Permission Policy Queue RabbitmqCluster "
    "SchemaReplication Shovel SuperStream TopicPermission User Vhost",
    "ray.io": "RayCluster RayCronJob RayJob RayService",
    "reports.kyverno.io": "EphemeralReport",
    "resolution.tekton.dev": "ResolutionRequest",
    "route.openshift.io": "Route",
    "s3.services.k8s.aws": "Bucket",
    "sagemaker.services.k8s.aws": "NotebookInstance",
    "scheduling.volcano.sh": "PodGroup",
    "secrets-store.csi.x-k8s.io": "SecretProviderClass SecretProviderClassPodStatus",
    "secrets.hashicorp.com": "CSISecrets HCPAuth HCPVaultSecretsApp SecretTransformation VaultAuth VaultAuthGlobal "
    "VaultConnection VaultDynamicSecret VaultPKISecret VaultStaticSecret",
    "security.istio.io": "AuthorizationPolicy PeerAuthentication RequestAuthentication",
    "services.k8s.aws": "AdoptedResource FieldExport",
    "serving.knative.dev": "Configuration DomainMapping Revision Route Service",
    "sinks.knative.dev": "IntegrationSink JobSink",
    "snapshot.storage.k8s.io": "VolumeSnapshot",
    "source.toolkit.fluxcd.io": "Bucket ExternalArtifact GitRepository HelmChart HelmRepository OCIRepository",
    "sources.knative.dev": "ApiServerSource ContainerSource IntegrationSource PingSource SinkBinding",
    "sparkoperator.k8s.io": "ScheduledSparkApplication SparkApplication SparkConnect",
    "split.smi-spec.io": "TrafficSplit",
    "stackconfigpolicy.k8s.elastic.co": "StackConfigPolicy",
    "status.gatekeeper.sh": "ConfigPodStatus ConnectionPodStatus ConstraintPodStatus ConstraintTemplatePodStatus "
    "ExpansionTemplatePodStatus MutatorPodStatus ProviderPodStatus",
    "sts.min.io": "PolicyBinding",
    "tailscale.com": "ProxyGroupPolicy",
    "talos.dev": "ServiceAccount",
    "tekton.dev": "CustomRun Pipeline PipelineRun StepAction Task TaskRun VerificationPolicy",
    "telemetry.istio.io": "Telemetry",
    "tempo.grafana.com": "TempoMonolithic TempoStack",
    "traefik.containo.us": "IngressRoute IngressRouteTCP IngressRouteUDP Middleware MiddlewareTCP ServersTransport "
    "TLSOption TLSStore TraefikService",
    "traefik.io": "IngressRoute IngressRouteTCP IngressRouteUDP Middleware MiddlewareTCP ServersTransport "
    "ServersTransportTCP TLSOption TLSStore TraefikService",
    "triggers.tekton.dev": "EventListener Interceptor Trigger TriggerBinding TriggerTemplate",
    "upgrade.cattle.io": "Plan",
    "velero.io": "Backup BackupRepository BackupStorageLocation DataDownload DataUpload DeleteBackupRequest "
    "DownloadRequest PodVolumeBackup PodVolumeRestore Restore Schedule ServerStatusRequest VolumeSnapshotLocation",
    "volsync.backube": "ReplicationDestination ReplicationSource",
    "vpcresources.k8s.aws": "SecurityGroupPolicy",
    "wgpolicyk8s.io": "PolicyReport",
    "workload.linkerd.io": "ExternalWorkload",
    "zookeeper.pravega.io": "ZookeeperCluster",
}
_CLUSTER_SCOPED = {
    "apiextensions.crossplane.io": "CompositeResourceDefinition Composition CompositionRevision EnvironmentConfig "
    "ManagedResourceActivationPolicy ManagedResourceDefinition Usage",
    "apps.kruise.io": "NodeImage NodePodProbe ResourceDistribution SidecarSet",
    "argoproj.io": "ClusterAnalysisTemplate ClusterWorkflowTemplate",
    "autoscaling.x-k8s.io": "CapacityQuota",
    "cdi.kubevirt.io": "CDI CDIConfig ObjectTransfer StorageProfile",
    "cert-manager.io": "ClusterIssuer",
    "chaos-mesh.org": "RemoteCluster",
    "cilium.io": "CiliumBGPAdvertisement CiliumBGPClusterConfig CiliumBGPNodeConfig CiliumBGPNodeConfigOverride "
    "CiliumBGPPeerConfig CiliumBGPPeeringPolicy CiliumCIDRGroup CiliumClusterwideEnvoyConfig "
    "CiliumClusterwideNetworkPolicy CiliumEgressGatewayPolicy CiliumEndpointSlice CiliumExternalWorkload "
    "CiliumIdentity CiliumL2AnnouncementPolicy CiliumLoadBalancerIPPool CiliumNode CiliumPodIPPool",
    "cloud.google.com": "ComputeClass",
    "config.openshift.io": "APIServer Authentication Backup Build CRIOCredentialProviderConfig ClusterImagePolicy "
    "ClusterMonitoring ClusterOperator ClusterVersion Console DNS FeatureGate Image ImageContentPolicy "
    "ImageDigestMirrorSet ImageTagMirrorSet Infrastructure Ingress InsightsDataGather Network Node OAuth OperatorHub "
    "PKI Project Proxy Scheduler",
    "configuration.konghq.com": "KongClusterPlugin KongLicense KongVault",
    "console.openshift.io": "ConsoleCLIDownload ConsoleExternalLogLink ConsoleLink ConsoleNotification ConsolePlugin",
    "crd.k8s.amazonaws.com": "ENIConfig",
    "crd.projectcalico.org": "BGPConfiguration BGPFilter BGPPeer BlockAffinity CalicoNodeStatus ClusterInformation "
    "FelixConfiguration GlobalNetworkPolicy GlobalNetworkSet HostEndpoint IPAMBlock IPAMConfig IPAMHandle IPPool "
    "IPReservation KubeControllersConfiguration StagedGlobalNetworkPolicy Tier",
    "elbv2.k8s.aws": "IngressClassParams",
    "eventing.keda.sh": "ClusterCloudEventSource",
    "expansion.gatekeeper.sh": "ExpansionTemplate",
    "external-secrets.io": "ClusterExternalSecret ClusterPushSecret ClusterSecretStore",
    "externaldata.gatekeeper.sh": "Provider",
    "fleet.cattle.io": "Content",
    "frrk8s.metallb.io": "FRRNodeState",
    "gateway.networking.k8s.io": "GatewayClass",
    "gateway.networking.x-k8s.io": "XMesh",
    "generators.external-secrets.io": "ClusterGenerator",
    "groupsnapshot.storage.k8s.io": "VolumeGroupSnapshotClass VolumeGroupSnapshotContent",
    "helm.crossplane.io": "ProviderConfig ProviderConfigUsage Release",
    "hub.traefik.io": "AccessControlPolicy",
    "iam.kubesphere.io": "Group GroupBinding User WorkspaceRole WorkspaceRoleBinding",
    "imageregistry.operator.openshift.io": "Config ImagePruner",
    "karpenter.k8s.aws": "EC2NodeClass",
    "karpenter.sh": "NodeClaim NodeOverlay NodePool",
    "kataconfiguration.openshift.io": "KataConfig",
    "keda.sh": "ClusterTriggerAuthentication",
    "kubernetes.crossplane.io": "Object ObservedObjectCollection ProviderConfig ProviderConfigUsage",
    "kueue.openshift.io": "Kueue",
    "kueue.x-k8s.io": "AdmissionCheck ClusterQueue Cohort MultiKueueCluster MultiKueueConfig "
    "ProvisioningRequestConfig ResourceFlavor Topology WorkloadPriorityClass",
    "kyverno.io": "ClusterCleanupPolicy ClusterPolicy GlobalContextEntry",
    "metacontroller.k8s.io": "CompositeController DecoratorController",
    "migration.projectcalico.org": "DatastoreMigration",
    "monitoring.googleapis.com": "ClusterNodeMonitoring ClusterPodMonitoring ClusterRules GlobalRules",
    "mutations.gatekeeper.sh": "Assign AssignImage AssignMetadata ModifySet",
    "networking.internal.knative.dev": "ClusterDomainClaim",
    "nfd.k8s-sigs.io": "NodeFeatureRule",
    "nmstate.io": "NMState NodeNetworkConfigurationPolicy NodeNetworkState",
    "notification.kubesphere.io": "Config NotificationConfig NotificationManager NotificationReceiver "
    "NotificationRouter NotificationSilence Receiver",
    "nvidia.com": "ClusterPolicy GPUCluster NVIDIADriver",
    "objectbucket.io": "ObjectBucket",
    "observability.open-cluster-management.io": "MultiClusterObservability",
    "operator.openshift.io": "SpiffeCSIDriver SpireAgent SpireOIDCDiscoveryProvider SpireServer",
    "operator.tigera.io": "APIServer GatewayAPI Goldmane ImageSet Installation Istio ManagementClusterConnection "
    "TigeraStatus Whisker",
    "operators.coreos.com": "OLMConfig Operator",
    "ops.crossplane.io": "CronOperation Operation WatchOperation",
    "pkg.crossplane.io": "Configuration ConfigurationRevision DeploymentRuntimeConfig Function FunctionRevision "
    "ImageConfig Lock Provider ProviderRevision",
    "policies.kyverno.io": "DeletingPolicy GeneratingPolicy ImageValidatingPolicy MutatingPolicy ValidatingPolicy",
    "policy.networking.k8s.io": "ClusterNetworkPolicy",
    "populator.storage.k8s.io": "VolumePopulator",
    "postgresql.cnpg.io": "ClusterImageCatalog",
    "projectcalico.org": "BGPConfiguration BGPFilter BGPPeer BlockAffinity CalicoNodeStatus ClusterInformation "
    "FelixConfiguration GlobalNetworkPolicy GlobalNetworkSet HostEndpoint IPAMBlock IPAMConfiguration IPAMHandle "
    "IPPool IPReservation KubeControllersConfiguration StagedGlobalNetworkPolicy Tier",
    "protection.crossplane.io": "ClusterUsage",
    "reports.kyverno.io": "ClusterEphemeralReport",
    "runtime.cluster.x-k8s.io": "ExtensionConfig",
    "scheduling.volcano.sh": "Queue",
    "security.openshift.io": "SecurityContextConstraints",
    "snapshot.storage.k8s.io": "VolumeSnapshotClass VolumeSnapshotContent",
    "spire.spiffe.io": "ClusterFederatedTrustDomain ClusterSPIFFEID",
    "syncset.gatekeeper.sh": "SyncSet",
    "tailscale.com": "Connector DNSConfig PeerRelay ProxyClass ProxyGroup Recorder Tailnet",
    "tekton.dev": "ClusterTask",
    "templates.gatekeeper.sh": "ConstraintTemplate",
    "tenant.kubesphere.io": "Workspace WorkspaceTemplate",
    "triggers.tekton.dev": "ClusterInterceptor ClusterTriggerBinding",
    "trust.cert-manager.io": "Bundle",
    "vpcresources.k8s.aws": "CNINode",
    "wgpolicyk8s.io": "ClusterPolicyReport",
}

WELL_KNOWN: Mapping[tuple[str, str], bool] = {
    (group, kind): is_namespaced
    for table, is_namespaced in ((_NAMESPACED, True), (_CLUSTER_SCOPED, False))
    for group, kinds in table.items()
    for kind in kinds.split()
}
"""The scopes of kinds by group and kind; True is namespaced."""
