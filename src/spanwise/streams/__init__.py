"""Where batches come from.

`digits` is not imported here, as it needs scikit-learn: `from spanwise.streams.digits import RotatingDigits`.
"""

from spanwise.streams.batch import Batch, Stream
from spanwise.streams.synthetic import Abrupt, CovariateShift, Gradual, LabelShift, Recurring, Stationary

__all__ = ["Abrupt", "Batch", "CovariateShift", "Gradual", "LabelShift", "Recurring", "Stationary", "Stream"]
