"""One target under atheris, which keeps inputs that reach code not reached before.

usage: python -m tests.fuzzing.guided TARGET [LIBFUZZER OPTION...]
"""

from __future__ import annotations

import sys


def main() -> None:
    """Instrument seqtag, and hand over to libFuzzer, which ends the process."""
    import atheris

    with atheris.instrument_imports(include=["seqtag"]):
        from tests.fuzzing.targets import TARGETS
    target = TARGETS[sys.argv[1]]
    target(b"")  # what is made once is not a slow input

    def run(data: bytes) -> None:
        target(data)

    atheris.Setup([sys.argv[0], *sys.argv[2:]], run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
