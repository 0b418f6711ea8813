"""File locks: each is held by one process and ends with it, also if that one is killed.

The standard library has them by system only, and packages for them add a file that stays.
"""

from __future__ import annotations

import errno
import os
import sys

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_TAKEN = frozenset({errno.EACCES, errno.EAGAIN, errno.EDEADLK})
_PLACE = 1 << 20  # the byte that Windows locks; others can still read what precedes it


def acquire(number: int, *, shared: bool = False, wait: bool = False) -> bool:
    """Lock an open file until it is closed; return False if another process holds the lock.

    Parameters
    ----------
    number
        The file descriptor.
    shared
        Let other processes hold shared locks as well. On Windows all locks are exclusive.
    wait
        Wait until the file is free instead of returning False.

    Raises
    ------
    OSError
        If the file system has no locks.
    """
    while True:
        try:
            if sys.platform == "win32":
                os.lseek(number, _PLACE, os.SEEK_SET)
                # Windows waits ten seconds at most, and raises EDEADLK then.
                msvcrt.locking(number, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
            else:
                mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
                fcntl.flock(number, mode if wait else mode | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _TAKEN:
                raise
            if not wait:
                return False
        else:
            return True
