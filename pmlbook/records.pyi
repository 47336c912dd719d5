from pmlbook.per_record.certificate import Adversary as Adversary, leakage_curve as leakage_curve
from pmlbook.per_record.parity import parity_leakage as parity_leakage
from pmlbook.per_record.composition import audit_pair as audit_pair, PairAudit as PairAudit
from pmlbook.per_record.noise import noisy_leakage as noisy_leakage, NoisyLeakage as NoisyLeakage
from pmlbook.per_record.noise import dp_leakage_bound as dp_leakage_bound
from pmlbook.per_record.noise import ratio_information as ratio_information
