"""Many files on many machines: thin drivers for Ray, which is imported when it is needed."""
