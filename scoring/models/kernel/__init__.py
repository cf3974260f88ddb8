"""Products on a processor's tile units (Intel AMX); importing this package registers them.

All of it is in this folder. Delete the folder and the one line that imports it (``scoring.models.encoder``), and oneDNN
multiplies.
"""

from scoring.models.kernel.linear import AmxLinear
from scoring.models.products import LINEARS

__all__ = ["AmxLinear"]

LINEARS.insert(0, AmxLinear)
