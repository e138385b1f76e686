"""Pages: one HTML file each, which opens from a disk and asks no network for anything.

Files within
    shell          what every page has: the document, its styles, its data, and who may run scripts
    network_page   a network: drawing, list of layers, and what is known of each
    network_facts  the data of that page
    histogram      how often the values of a weight occur
    report         a page of figures: a summary, charts and tables, a search for layers
    repetition     how columns that repeat are written short
    figures        the figures, one file each
    case_figures   those of one network on one runtime
    command_pages  the page of each command that has --html
    model_page     everything about a model on a chip

The `.css`, `.js` and `.html` files beside them go into pages as they are.
"""

from hexsim.reports.pages.network_page import network_page

__all__ = ["network_page"]
