"""The report on a model as one page of HTML."""
