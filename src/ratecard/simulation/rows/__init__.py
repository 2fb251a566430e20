"""The sources of usage: files, frames, responses and billing exports; which of its columns and rows are read."""
