"""What if this price changed? Prices recorded usage under any number of rate cards, exactly.

`rows` says where usage is. `groups` makes shapes of it: requests that differ in nothing but summed quantities. `prices`
prices each shape once, with the code that prices single requests. `answers` joins the prices to the groups in the
engine, as integers, and `report` writes them down.
"""
