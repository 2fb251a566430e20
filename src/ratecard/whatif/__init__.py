"""The what-if page: move a price, and see at once what recorded usage would have cost.

`draft` are the changes as they stand on the page, `desk` prices usage under them, `save` makes a candidate of them: all
without a browser. `page` and what it is made of are the only modules that know NiceGUI.
"""
