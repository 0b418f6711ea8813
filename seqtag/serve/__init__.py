"""Server for models: a page to try them on, and HTTP interfaces."""
