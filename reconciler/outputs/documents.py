"""Every document that ``-o json`` prints, in the order of the reference."""

from .application import ApplicationDocument
from .backtest import BacktestDocument
from .bisection import BisectionDocument
from .blame import BlameDocument
from .claims import PolicyStatusDocument
from .cluster_explanation import ClusterExplanationDocument
from .cluster_status import ClusterStatusDocument
from .diagnosis import DiagnosisDocument
from .difference import DifferenceDocument
from .document import OutputDocument
from .fleet_status import FleetStatusDocument
from .headroom import HeadroomDocument
from .history import HistoryDocument
from .import_report import ImportReportDocument
from .lists import ClusterListDocument, NamespaceListDocument, ObjectListDocument, PolicyListDocument
from .live_difference import LiveDifferenceDocument
from .losses import LossesDocument
from .matrix import MatrixDocument
from .object_explanation import ObjectExplanationDocument
from .object_status import ObjectStatusDocument
from .overview import OverviewDocument
from .pods import PodsDocument
from .policy_explanation import PolicyExplanationDocument
from .policy_test_results import PolicyTestResultsDocument
from .reconciliation import ReconciliationDocument
from .rejoining import RejoiningDocument
from .rendering import RenderingDocument
from .rollback import RollbackDocument
from .rollouts import RolloutsDocument
from .search import SearchDocument
from .simulation import SimulationDocument
from .source_edit import SourceEditDocument
from .timeline import TimelineDocument
from .validation import ValidationDocument
from .verification import VerificationDocument
from .waiting import WaitingDocument

DOCUMENTS: tuple[type[OutputDocument], ...] = (
    RenderingDocument,
    DifferenceDocument,
    LiveDifferenceDocument,
    SourceEditDocument,
    RollbackDocument,
    ObjectExplanationDocument,
    ClusterExplanationDocument,
    PolicyExplanationDocument,
    ValidationDocument,
    PolicyTestResultsDocument,
    ReconciliationDocument,
    RejoiningDocument,
    ApplicationDocument,
    OverviewDocument,
    FleetStatusDocument,
    ClusterStatusDocument,
    ObjectStatusDocument,
    PodsDocument,
    PolicyStatusDocument,
    ObjectListDocument,
    ClusterListDocument,
    PolicyListDocument,
    NamespaceListDocument,
    MatrixDocument,
    SearchDocument,
    RolloutsDocument,
    HistoryDocument,
    TimelineDocument,
    BlameDocument,
    BisectionDocument,
    SimulationDocument,
    LossesDocument,
    BacktestDocument,
    HeadroomDocument,
    WaitingDocument,
    VerificationDocument,
    DiagnosisDocument,
    ImportReportDocument,
)
