"""HTML pages: single files that open from a disk and load nothing from a network.

Files within
    shell          the parts of every page: document, styles, data, and the policy for scripts
    network_page   a network: drawing, list of layers, and the details of each
    network_facts  the data of that page
    histogram      how often the values of a weight occur
    report         a page of figures: a summary, charts and tables, a search for layers
    repetition     a short form for columns with repeated values
    figures        the figures, one file each
    case_figures   the figures of one network on one runtime
    command_pages  the page of each command that has one
    model_page     everything about a model on a chip

The `.css`, `.js` and `.html` files in this folder are copied into pages unchanged.
"""

from hexsim.reports.pages.network_page import network_page

__all__ = ["network_page"]
