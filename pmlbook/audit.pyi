from pmlbook.practice.audit import audit_leakage as audit_leakage, leakage_bracket as leakage_bracket
from pmlbook.practice.audit import noise_level as noise_level
from pmlbook.practice.interpretation import sentence_level as sentence_level, explain as explain
