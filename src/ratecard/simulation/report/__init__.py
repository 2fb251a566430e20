"""What a simulation found, for people: a page, a spreadsheet, and the groups as CSV, JSON or Parquet.

`Report` holds the figures, each computed once; tables of plain values are made of it, and a format only writes those.
"""
