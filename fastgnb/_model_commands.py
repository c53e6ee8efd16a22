"""The commands that read no rows: merge, show, warmup. None needs an optional package."""

from __future__ import annotations

import argparse
import json

from . import persist
from ._atomic import check_writable, is_same_file, replacing
from ._report import model_dict, model_text, show_text
from .persist import SavedModel

__all__ = ["merge", "show", "warmup"]


def merge(args: argparse.Namespace) -> int:
    """`fastgnb merge`: the model of the rows of all models, as if trained on them at once."""
    check_writable(args.output)
    paths = [args.first, *args.others]
    for path in paths:
        if is_same_file(path, args.output):
            raise ValueError(f"{args.output}: the output would replace an input")
    first = persist.read(paths[0])
    stats = first.stats
    for path in paths[1:]:
        saved = persist.read(path)
        _check_alike(first, paths[0], saved, path)
        try:
            stats = stats + saved.stats
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: {error}") from error
    first.with_stats(stats).write(args.output)
    return 0


def _check_alike(a: SavedModel, here: str, b: SavedModel, there: str) -> None:
    """Statistics add whatever the parameters; the merged model can have only one of each."""
    for name in ("model", "options", "priors", "var_smoothing", "missing"):
        first, second = getattr(a, name), getattr(b, name)
        if first != second:
            raise ValueError(f"{there}: {name} is {second!r}, but {first!r} in {here}")


def show(args: argparse.Namespace) -> int:
    """`fastgnb show`."""
    is_file = args.json not in (None, "-")
    if is_file:
        check_writable(args.json)
        if is_same_file(args.model, args.json):
            raise ValueError(f"{args.json}: the output would replace an input")
    saved = persist.read(args.model)
    text = model_text(saved) if args.json is None else json.dumps(model_dict(saved), indent=1)
    if not is_file:
        show_text(text)
        return 0
    with replacing(args.json, last=True) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")
    return 0


def warmup(args: argparse.Namespace) -> int:
    """`fastgnb warmup`."""
    from ._warmup import compile_all

    show_text(str(compile_all()))
    return 0
