"""The commands that read no rows: merge, reestimate, show, warmup. None needs an extra."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from .._system.atomic import atomic_write
from ..files.jobs.merge_models import merge_models, reestimate_model
from ..files.models.model_file import read
from ..files.outputs import check_output
from ..files.phrases import counted
from ..model.model import Model
from .options import given_options
from .standard_streams import deliver, shown
from .streams import print_stdout
from .summary import messages_of, print_done, shape_of
from .texts import model_dict, model_text

__all__ = ["merge", "reestimate", "show", "warmup"]


def merge(args: argparse.Namespace) -> int:
    """`fastgnb merge`."""
    start = time.perf_counter()
    models = [args.first, *args.others]
    merged = merge_models(
        models, given_options(args), args.model_type, args.output, messages_of(args),
        again=args.again,
    )  # fmt: skip
    _finish(args, [counted(len(models), "model"), *_contents(merged.model)], start)
    return 0


def reestimate(args: argparse.Namespace) -> int:
    """`fastgnb reestimate`."""
    start = time.perf_counter()
    made = reestimate_model(args.model, given_options(args), args.model_type, args.output)
    _finish(args, [made.model.member.name, *_contents(made.model)], start)
    return 0


def show(args: argparse.Namespace) -> int:
    """`fastgnb show`."""
    is_file = args.json not in (None, "-")
    if is_file:
        check_output(args.json, [args.model])
    saved = read(args.model)
    text = model_text(saved) if args.json is None else json.dumps(model_dict(saved), indent=1)
    if not is_file:
        print_stdout(text)
        return 0
    with atomic_write(args.json, final=True) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")
    return 0


def warmup(args: argparse.Namespace) -> int:
    """`fastgnb warmup`."""
    from .warmup import compile_all

    print_stdout(str(compile_all()))
    return 0


def _contents(model: Model) -> list[str]:
    return [*shape_of(model), f"total weight {model.stats.count.sum():,.12g}"]


def _finish(args: argparse.Namespace, parts: list[Any], start: float) -> None:
    deliver(args)
    if not args.quiet:
        print_done(args.command, parts, shown(args, str(args.output)), time.perf_counter() - start)
