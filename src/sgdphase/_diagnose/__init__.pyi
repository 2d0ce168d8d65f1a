from .answer import Diagnosis as Diagnosis
from .fitted.answer import FittedDiagnosis as FittedDiagnosis
from .run import diagnose as diagnose
from .run import diagnose_until_fitted as diagnose_until_fitted
