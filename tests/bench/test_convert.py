"""Results of earlier schemas, and of Git's history, as files of the newest schema."""

from __future__ import annotations

import copy
import json
import shutil

import pytest
from children import finished

pytestmark = pytest.mark.any_version

pytest.importorskip("pyarrow")


@pytest.fixture
def schema_1(run):
    """A counterpart was called "twin", and products were timed beside every member."""
    old = copy.deepcopy(run)
    old["schema"] = 1
    del old["commit"], old["dirty"]
    first = old["rows"][0] | {"group": "family MixedNB"}
    old["rows"] = [first | {"program": program} for program in ("fastgnb", "twin", "product")]
    startup = {"group": "startup", "work": "process"}
    for program in ("python", "import numpy", "import fastgnb", "import fastgnb.naive_bayes"):
        median = 0.1 if program == "python" else 1.0
        old["rows"] += [first | startup | {"program": program, "median": median, "best": median}]
    extra = first["extra"] | {"found": {"parts": {"import numpy": 0.1}}}
    old["rows"] += [first | startup | {"program": "first predict", "extra": extra}]
    return old


def test_names_of_schema_1_are_replaced(schema_1):
    from bench import convert, runs

    new = convert.upgraded(schema_1, "abc1234")
    rows = runs.rows_of(new)
    assert [row.program for row in rows if row.group == "family MixedNB"] == [
        "fastgnb", "scikit-learn",
    ]  # fmt: skip
    assert rows[-2].program == "import fastgnb:GaussianNB"
    assert rows[-1].extra["output"] == {"steps": {"import numpy": 0.1}}
    assert (new["schema"], new["commit"], new["dirty"]) == (runs.SCHEMA, "abc1234", None)
    assert schema_1["schema"] == 1, "the run that was given is unchanged"


def test_commits_of_schema_2_are_split(run):
    from bench import convert

    for text, commit, dirty in (("12ab+", "12ab", True), ("12ab", "12ab", False)):
        new = convert.upgraded(run | {"schema": 2, "commit": text}, "other")
        assert (new["commit"], new["dirty"]) == (commit, dirty)
    assert new["rows"] == run["rows"]


def test_the_newest_schema_is_left_as_it_is(run):
    from bench import convert

    assert convert.upgraded(run, "other") is run


@pytest.mark.parametrize("schema", [None, 0, 4])
def test_unknown_schemas_are_an_error(run, schema):
    from bench import convert

    with pytest.raises(ValueError, match=r"Expected results of schema 1 to 3, got"):
        convert.upgraded(run | {"schema": schema})


def test_readers_name_the_script(schema_1, tmp_path):
    from bench import runs

    path = tmp_path / "old.json"
    path.write_text(json.dumps(schema_1))
    with pytest.raises(ValueError, match=r"expected results of schema 3, got 1\. .*bench\.convert"):
        runs.read([path])


def test_files_are_converted_once(schema_1, tmp_path, capsys):
    from bench import convert, runs

    path = tmp_path / "old.json"
    path.write_text(json.dumps(schema_1))
    words = [str(path), "--commit", "abc1234", "--output", str(tmp_path / "new")]
    assert convert.main(words) == 0
    (written,) = (tmp_path / "new").iterdir()
    assert capsys.readouterr().out.strip() == str(written)
    assert written.name == "2024-01-01T000000-quick.json"
    assert runs.read_file(written) == convert.upgraded(schema_1, "abc1234")
    assert convert.main(words) == 0
    assert capsys.readouterr().out == ""


def test_written_results_are_read_again(run, tmp_path):
    from bench import runs

    runs.write(run, tmp_path / "folder" / "run.json")
    assert runs.read_file(tmp_path / "folder" / "run.json") == run


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_versions_that_were_overwritten_are_recovered(run, schema_1, tmp_path):
    from bench import convert, runs

    def git(*words):
        name = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        command = ["git", "-C", str(tmp_path), *name, *words]
        return finished(command).stdout.strip()

    git("init", "-q")
    folder = tmp_path / "results"
    folder.mkdir()
    commits = []
    for date in ("2024-01-01T00:00:00", "2024-01-02T00:00:00"):
        (folder / "full.json").write_text(json.dumps(schema_1 | {"date": date}))
        (folder / "notes.txt").write_text(date)
        git("add", ".")
        git("commit", "-q", "-m", "Figures")
        commits.append(git("rev-parse", "HEAD"))
    output = ["--history", "--output", str(folder)]
    assert convert.main(output) == 0
    kept = [runs.read_file(path) for path in sorted(folder.glob("2024*.json"))]
    assert [run["date"] for run in kept] == ["2024-01-01T00:00:00", "2024-01-02T00:00:00"]
    assert [
        commit.startswith(run["commit"]) for run, commit in zip(kept, commits, strict=True)
    ] == [True, True]


def test_kept_results_record_commit_machine_versions_and_load(bench):
    from bench import runs

    paths = sorted((bench / "results").glob("*.json"))
    assert len(paths) >= 5
    for path in paths:
        run = runs.read_file(path)
        assert path.name == runs.file_name(run)
        assert run["commit"]
        assert {"cpu", "cores", "versions", "load", "load_after"} <= set(run["environment"])
        assert run["rows"]
