"""The results of a simulation for people: a page, a spreadsheet, and the groups as CSV, JSON or Parquet.

`Report` holds the figures, each computed once; tables of plain values are made from it, and a format only writes these.
"""
