"""HTML pages: single files that open from a disk and load nothing from a network.

Files within
    page           a page of figures: the document, its styles and scripts, and the policy for them
    figures        the figures, by subject
    command_pages  the page of each command that has one
    decision_page  that of a decision
    sweep_page     that of a sweep
    network_page   a network: drawing, list of layers, and the details of each

The `.css`, `.js` and `.html` files in this folder are copied into pages unchanged.
"""
