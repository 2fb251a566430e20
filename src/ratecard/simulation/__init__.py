"""What if this price changed? Recorded usage under any number of rate cards, exactly.

The engine rolls usage up into shapes (`roll_up_sql`), the ordinary scalar code prices each shape once
(`priced_shape`), and the engine joins that back and adds integers (`comparison`). No formula stands here twice.
"""
