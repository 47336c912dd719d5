from pmlbook.foundations.probability import entropy as entropy
from pmlbook.foundations.probability import mutual_information as mutual_information
from pmlbook.foundations.capacity import channel_capacity as channel_capacity
from pmlbook.foundations.leakage import epsilon_max as epsilon_max
from pmlbook.foundations.vulnerability import g_vulnerability as g_vulnerability
from pmlbook.foundations.vulnerability import min_entropy_leakage as min_entropy_leakage
from pmlbook.foundations.utility import FInformation as FInformation
from pmlbook.foundations.utility import alpha_information as alpha_information
from pmlbook.foundations.utility import ExpectedGain as ExpectedGain
from pmlbook.foundations.hypotheses import HypothesisDivergence as HypothesisDivergence
from pmlbook.beyond.leakage_variable import LeakageDistribution as LeakageDistribution
from pmlbook.beyond.leakage_variable import leakage_distribution as leakage_distribution
from pmlbook.beyond.envelope import leakage_envelope as leakage_envelope
from pmlbook.beyond.envelope import LeakageEnvelope as LeakageEnvelope, MergedTail as MergedTail
from pmlbook.beyond.cost_adversaries import cost_leakage as cost_leakage, cost_level as cost_level
from pmlbook.beyond.measures_atlas import alpha_lift as alpha_lift
from pmlbook.beyond.measures_atlas import maximal_alpha_leakage as maximal_alpha_leakage
from pmlbook.beyond.measures_atlas import sibson_information as sibson_information
