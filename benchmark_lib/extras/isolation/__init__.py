"""Agents in a process of their own, behind walls, and agents of Inspect."""
