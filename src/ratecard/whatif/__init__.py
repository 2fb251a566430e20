"""The what-if page: move a price, and see at once what recorded usage would have cost.

`draft` has the changes on the page, `draft_pricer` prices usage under them, `candidate_file` saves and opens them: all
without a browser. Only `page`, `controls`, `save_dialog` and `app`, which serves them, use NiceGUI.
"""
