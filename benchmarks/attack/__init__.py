"""The attack on a run: everything that an agent, an endpoint, a file or a command line may say, as one bounded command.

``python -m benchmarks.attack`` prints a table of figures with their goals; ``texts``, ``conversations``, ``damage`` and
``arguments`` make the hostile material from a seed, and the test suite's property tests use the same four.
"""
