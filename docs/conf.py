"""Settings of the documentation site: `python -m sphinx -W -d build/doctrees docs build/site`.

Sphinx, MyST and the PyData theme are maintained by teams, and NumPy and scikit-learn depend on
them. They read the Markdown pages and the docstrings unchanged; neither the build nor the pages
fetch anything.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from seqtag.version import __version__ as release  # noqa: E402, F401

project = "seqtag"
html_title = "seqtag"
language = "en"
smartquotes = False  # options begin with two hyphens
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "site_pages",
]
exclude_patterns = ["play", "reference/python.md", "slides.md"]

# Markdown as code hosts read it.
myst_enable_extensions = ["alert", "dollarmath"]
myst_dmath_allow_space = myst_dmath_allow_digits = False
myst_heading_anchors = 3
html_math_renderer = "mathml"

# Docstrings. Libraries that need not be there to build the site are mocked.
autodoc_mock_imports = ["pyarrow", "ray", "sklearn", "spacy"]
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
default_role = "py:obj"
napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"

# Output that is shown after a command is no code.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 6,
    "logo": {"text": "seqtag"},
    "navigation_with_keys": False,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "show_prev_next": False,
}
html_sidebars = {"**": ["sidebar-nav-bs"], "index": [], "tutorial": []}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
