"""The shape of the house: imports go down only, dependencies stay in their rooms."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import fastgnb

PACKAGE = Path(fastgnb.__file__).parent

# From the top of the house to the bottom; a file imports files below its own line only.
FLOORS = [
    ["__main__"],
    ["cli"],
    ["demo"],
    ["_model_commands", "_row_commands"],
    ["_learn_rows", "_score_rows", "_warmup"],
    ["_unknown_categories"],
    ["_auto_columns", "_bad_rows", "_choices", "_summary"],
    ["_report", "_writers"],
    ["persist", "select"],
    ["_cross_validate"],
    ["_folds"],
    ["gaussian_bayes", "mixed", "naive_bayes", "pca"],
    ["_prepared"],
    ["_estimator"],
    ["family"],
    ["covariance"],
    ["scoring", "sources", "evaluation", "findings"],
    ["alignment", "mixed_params"],
    ["_npy_rows", "_values"],
    ["_batch", "_default_features"],
    ["_column_kinds"],
    ["_columns", "params"],
    ["_index_columns", "_readers", "mixed_stats", "rotation"],
    ["_csv_errors", "correlation"],
    ["_texts"],
    ["stats"],
    ["_categories", "subtraction"],
    ["_frames"],
    ["_validate", "pooling", "singular"],
    ["_arrow_values"],
    ["_arrow"],
    ["_labels"],
    ["kernels.__init__"],
    ["kernels.accumulate", "kernels.mixed", "kernels.scatter", "kernels.whitened"],
    ["kernels.score"],
    ["kernels.outputs"],
    [
        f"kernels.{name}"
        for name in ("encode", "far", "layout", "logs", "merge", "posterior", "product")
    ],
    ["kernels.rows"],
    ["_jit", "_lanes"],
    ["_code_cache"],
    ["_cache"],
    ["_atomic", "_learned", "_model_file", "_naming", "_turns"],
    ["_interrupt", "_limits", "_notice"],
    ["_context"],
    ["__init__"],
]
FLOOR = {name: level for level, names in enumerate(FLOORS) for name in names}

# Third-party packages that only these files may import.
ROOMS = {
    "numba": {"_code_cache", "_jit", "_lanes"},
    "llvmlite": {"_lanes"},
    "sklearn": {
        "_cross_validate",
        "_estimator",
        "_folds",
        "demo",
        "gaussian_bayes",
        "mixed",
        "naive_bayes",
        "pca",
        "persist",
        "select",
    },
    "safetensors": {"_model_file"},
}


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        yield ".".join(path.relative_to(PACKAGE).with_suffix("").parts), path


def imports(name, path):
    """Names of modules that a file imports: ours relative to the package, others by their top."""
    package = name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name.split(".")[0], False) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.split(".")[0], False
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1]
            base += node.module.split(".") if node.module else []
            for alias in node.names:
                whole = ".".join([*base, alias.name])
                yield whole if whole in FLOOR else ".".join(base) or "__init__", True


def test_every_file_has_a_floor():
    assert {name for name, _ in modules()} == set(FLOOR)


@pytest.mark.parametrize(("name", "path"), list(modules()), ids=[name for name, _ in modules()])
def test_imports_go_down_only(name, path):
    if name == "__init__":
        return  # its names are resolved on use
    for target, is_ours in imports(name, path):
        if is_ours and target != "kernels":
            where = target if target in FLOOR else f"{target}.__init__"
            allowed = FLOOR[where] > FLOOR[name] or is_for_types_only(path, target)
            assert allowed, f"{name} imports {target}, which is not below it"
        elif target in ROOMS:
            assert name in ROOMS[target], f"{name} imports {target}"


def is_for_types_only(path, target):
    """Whether every import of target stands under `if TYPE_CHECKING:`."""
    tree = ast.parse(path.read_text())
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    uses = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").endswith(target)
    ]
    return bool(uses) and all(id(node) in guarded for node in uses)


def test_importing_loads_no_dependency(python):
    code = (
        "import sys, fastgnb, fastgnb.cli\n"
        "print([m for m in ('numpy', 'numba', 'sklearn', 'pyarrow', 'safetensors', 'tqdm')"
        " if m in sys.modules])"
    )
    assert python(code).strip() == "[]"


def test_statistics_and_files_do_not_load_scikit_learn(python, tmp_path):
    code = (
        "import sys, fastgnb\n"
        "from fastgnb import persist\n"
        "stats = fastgnb.ClassStats.from_rows([[0.0], [1.0]], ['a', 'b'])\n"
        "persist.SavedModel.from_stats(stats).write(sys.argv[1])\n"
        "persist.read(sys.argv[1]).score(stats.mean)\n"
        "print('sklearn' in sys.modules)"
    )
    assert python(code, str(tmp_path / "m.fgnb")).strip() == "False"


def test_public_names_resolve():
    for name in fastgnb.__all__:
        assert getattr(fastgnb, name) is not None
        assert name in dir(fastgnb)
    with pytest.raises(AttributeError, match="module 'fastgnb' has no attribute 'nothing'"):
        _ = fastgnb.nothing


def test_no_room_for_leftovers():
    names = {part for name, _ in modules() for part in name.split(".")}
    assert not names & {"utils", "core", "common", "helpers", "misc"}


def test_functions_fit_on_a_screen():
    too_long = []
    for name, path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                docs = len((ast.get_docstring(node) or "").splitlines())
                if node.end_lineno - node.lineno + 1 - docs > 70:
                    too_long.append(f"{name}.{node.name}")
    assert not too_long
