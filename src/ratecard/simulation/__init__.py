"""What if this price changed? Prices recorded usage under any number of rate cards, exactly.

`usage` groups rows into shapes: requests that differ in nothing but summed quantities. `pricing` prices each shape once
with the code that prices single requests. `results` joins the prices to the groups in the engine, as integers.
"""
