"""The Sphinx project of the documentation.

    python -m sphinx -W -n -b html docs docs/_build/html

It needs the extra ``docs`` and no network: pages load nothing from elsewhere, formulas are MathML,
and no inventories of other projects are fetched. What is special to this project is in
``_extensions``, and what is mended of the theme in ``_static/fastgnb.css``.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_extensions"))
os.environ["FASTGNB_QUIET"] = "1"  # no line about compiling in the output of the examples

import fastgnb  # noqa: E402

project = "fastgnb"
author = "The fastgnb developers"
copyright = author  # noqa: A001
version = release = fastgnb.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "command_line",
    "mathml",
    "name_links",
    "page_fixes",
    "public_names",
    "repository_links",
]
exclude_patterns = ["_build", "_extensions", "_templates", "examples", "pictures"]
templates_path = ["_templates"]
nitpicky = True
default_role = "literal"  # name_links makes links of those that are public names
show_warning_types = True

# API reference ------------------------------------------------------------------------------------

autosummary_generate = True
autodoc_mock_imports = ["pyspark"]  # large; classes of fastgnb.spark derive from its own
autodoc_typehints = "none"  # the docstrings have types, in numpydoc's words
numpydoc_show_class_members = False  # templates/autosummary/class.rst lists them
numpydoc_xref_param_type = False
add_module_names = False
toc_object_entries_show_parents = "hide"

nitpick_ignore_regex: list[tuple[str, str]] = []

# Markdown -----------------------------------------------------------------------------------------

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_block"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

# Examples -----------------------------------------------------------------------------------------

warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    "backreferences_dir": "api/backreferences",
    "doc_module": ("fastgnb",),
    "reference_url": {"fastgnb": None},
    "within_subsection_order": "gallery_order.ReadingOrder",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1,
    "write_computation_times": False,  # a page that loads scripts from elsewhere
    "plot_gallery": "True",
    "thumbnail_size": (400, 280),
    "matplotlib_animations": False,
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Pages --------------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "fastgnb"
html_logo = "_static/logo.svg"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["fastgnb.css"]
html_js_files = [("fastgnb.js", {"defer": "defer"})]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = True
html_theme_options = {
    "logo": {"text": "fastgnb", "alt_text": "fastgnb"},
    "github_url": "https://github.com/fastgnb/fastgnb",
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_center": [],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {
    page: [] for page in ("index", "quickstart", "how_it_works", "changelog", "benchmarks/index")
}
html_context = {"default_mode": "auto"}
