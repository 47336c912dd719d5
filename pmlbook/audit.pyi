from pmlbook.practice.audit import audit_leakage as audit_leakage, leakage_bracket as leakage_bracket
from pmlbook.practice.interpretation import sentence_level as sentence_level, explain as explain
from pmlbook.beyond.additive_noise import additive_noise_leakage as additive_noise_leakage
from pmlbook.beyond.additive_noise import noise_scale as noise_scale
from pmlbook.beyond.line_priors import DensityRange as DensityRange, SampleBand as SampleBand
