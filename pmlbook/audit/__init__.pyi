from .sentences import explain as explain
from .sentences import sentence_level as sentence_level
from .other_mechanisms import audit_leakage as audit_leakage
from .other_mechanisms import leakage_bracket as leakage_bracket
