from .certificate import Certificate as Certificate
from .estimation import Estimate as Estimate
from .mechanism import Design as Design
from .mechanism import DesignWarning as DesignWarning
from .mechanism import Mechanism as Mechanism
