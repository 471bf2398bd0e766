"""Loads what commands need when it is imported, in the process that they are forked from."""

import commands

commands.load()
