"""For type checkers, which see folders: the build puts models/ here (setup.py)."""

from models import LOCATION as LOCATION
from models import BuiltModel as BuiltModel
from models import build as build
from models import export as export
from models import is_name as is_name
from models import materialise as materialise
from models import names as names
from models import require_model as require_model
