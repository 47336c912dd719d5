from pmlbook.foundations.leakage import pointwise_maximal_leakage as pointwise_maximal_leakage
from pmlbook.foundations.leakage import epsilon_pml as epsilon_pml
from pmlbook.foundations.leakage import maximal_leakage as maximal_leakage, local_dp as local_dp
from pmlbook.large_alphabets.optimal import optimal_mechanism as optimal_mechanism
from pmlbook.worst_case.min_leakage import min_leakage as min_leakage
from pmlbook.worst_case.frontier import worst_case_mechanism as worst_case_mechanism
from pmlbook.estimation.enumerated_design import estimation_mechanism as estimation_mechanism
from pmlbook.hamming.exact import dp_leakage as dp_leakage, min_distortion as min_distortion
from pmlbook.hamming.mutual_information import mi_leakage as mi_leakage
from pmlbook.per_record.certificate import per_record_leakage as per_record_leakage
from pmlbook.record_design.leakage_distortion import leakage_distortion as leakage_distortion
from pmlbook.record_design.leakage_distortion import distortion_leakage as distortion_leakage
from pmlbook.release.mechanism import Mechanism as Mechanism, Design as Design
from pmlbook.release.certificate import Certificate as Certificate
from pmlbook.numerics.validation import InvalidPrior as InvalidPrior
from pmlbook.numerics.validation import InvalidChannel as InvalidChannel
from pmlbook.numerics.linear_programmes import Infeasible as Infeasible
from pmlbook.numerics.linear_programmes import SolverFailed as SolverFailed
from pmlbook.numerics.linear_programmes import LooseBound as LooseBound
from pmlbook.budget.account import BudgetExceeded as BudgetExceeded
from pmlbook.budget.log import AlreadyReleased as AlreadyReleased
from pmlbook import measures as measures
from pmlbook import mechanisms as mechanisms
from pmlbook import robust as robust
from pmlbook import queries as queries
from pmlbook import records as records
from pmlbook import estimate as estimate
from pmlbook import audit as audit
from pmlbook import budget as budget

__version__: str
