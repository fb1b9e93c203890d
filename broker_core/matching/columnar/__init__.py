"""Evaluation of expressions on whole columns of the resource cache at once."""
