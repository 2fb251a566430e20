"""What if this price changed? The exact prices of recorded usage under any number of rate cards.

`rows` finds the usage and its columns. `groups` groups it into shapes: requests that differ only in summed quantities.
`prices` prices each shape once, with the code that prices single requests. `answers` joins the prices to the groups in
the engine, as integers, and `report` formats the answers.
"""
