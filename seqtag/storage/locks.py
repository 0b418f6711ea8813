"""File locks: each is held by one process and ends with it, also if that one is killed.

Packages for them add a file that stays.
"""

from __future__ import annotations

import fcntl


def acquire(number: int, *, wait: bool = False) -> bool:
    """Lock an open file until it is closed; return False if another process holds the lock.

    Parameters
    ----------
    number
        The file descriptor.
    wait
        Wait until the file is free instead of returning False.

    Raises
    ------
    OSError
        If the file system has no locks.
    """
    try:
        fcntl.flock(number, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True
