"""Exit codes: what a script can act on. They stand here and nowhere else."""

FINISHED = 0
UNSOUND = 1
"""``audit`` found problems in the cases."""
REFUSED = 2
RESUMABLE = 3
SIGNAL = 128
"""Ended by a signal, whose number is added."""
INTERRUPTED = SIGNAL + 2
READER_GONE = SIGNAL + 13
"""Whoever read the output has closed it, as ``head`` does; by convention the code of SIGPIPE."""

EXPLAINED = "exit codes: 0 finished; 1 the audit found problems; 2 wrong input, refused; 3 stopped, can be resumed; 130 or 143 interrupted, can be resumed"
