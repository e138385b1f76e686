"""`qnn-net-run` and `qnn-profile-viewer`: snpe-net-run and snpe-diagview by QNN's options."""

from hexsim.snpe.option_tables import tools
from hexsim.snpe.tools.diagview import diagview
from hexsim.snpe.tools.net_run import net_run

TOOLS = tools({"qnn-net-run": net_run, "qnn-profile-viewer": diagview})
