"""The order of the examples within a section: the first to read comes first."""

from __future__ import annotations

STORY = [
    "iris", "iris_regions", "wine_family", "digits_axes", "digits_sample", "flights_mixed",
    "partial_fit", "merge_flights", "forget",
    "grid_search",
    "tumours", "cutoff_flights", "calibration",
    "iris_normality", "wine_correlation", "copies", "flights_diagnosis", "tumour_features",
    "digits_separation",
]  # fmt: skip


class ReadingOrder:
    """A sort key of sphinx-gallery, made for each section; examples not listed come last."""

    def __init__(self, src_dir: str) -> None:
        self.src_dir = src_dir

    def __call__(self, filename: str) -> tuple[int, str]:
        name = filename.removeprefix("plot_").removesuffix(".py")
        return (STORY.index(name) if name in STORY else len(STORY), name)

    def __repr__(self) -> str:  # Sphinx compares settings by it
        return f"<{type(self).__name__}>"
