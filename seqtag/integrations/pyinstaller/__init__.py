"""Programs that PyInstaller freezes: it finds this folder by the entry point ``pyinstaller40``."""


def folders() -> list[str]:
    """Return the folders that have a hook for PyInstaller."""
    return list(__path__)
