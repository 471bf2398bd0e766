"""Agents in separate processes, behind walls, and Inspect agents."""
