"""Tables for reports, and a reader of the HTML of a page that is strict about its structure."""

from __future__ import annotations

import datetime
import html.parser

import numpy as np
import pyarrow as pa
from table_files import write

from fastgnb import files, save
from fastgnb.report import write_report

VOID = {"br", "hr", "img", "input", "link", "meta"}


def blobs(n=300, d=3, k=3, seed=0, names=None, labels=None):
    """Classes around distinct means, as a table with a column `label`."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % k
    X = rng.normal(size=(n, d)) + rng.normal(size=(k, d))[codes]
    names = [f"x{j}" for j in range(d)] if names is None else names
    labels = [f"class {c}" for c in range(k)] if labels is None else labels
    table = dict(zip(names, X.T, strict=True))
    return table | {"label": pa.array([labels[c] for c in codes])}


DATE = datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.UTC)


def written(folder, table, *, estimator=None, **options):
    """Write a table, learn it, and return the page of the model on it, and the text of that."""
    path, model, output = (folder / name for name in ("rows.parquet", "model", "report.html"))
    write(table, path)
    given = {} if estimator is None else {"model": estimator}
    save(files.fit(path, target="label", **given), model)
    write_report(model, path, output, target="label", date=DATE, **options)
    text = output.read_text(encoding="utf-8")
    return parsed(text), text


class Element:
    """An element: its name, attributes, children, and the text in it."""

    def __init__(self, name, attributes):
        self.name, self.attributes, self.children, self.data = name, attributes, [], []

    def __getitem__(self, name):
        return self.attributes[name]

    def get(self, name, default=None):
        return self.attributes.get(name, default)

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()

    def all(self, name=None, **attributes):
        return [
            each
            for each in self.walk()
            if name in (None, each.name)
            and all(each.get(attribute(key)) == value for key, value in attributes.items())
        ]

    def one(self, name=None, **attributes):
        (found,) = self.all(name, **attributes)
        return found

    @property
    def text(self):
        return "".join(each if isinstance(each, str) else each.text for each in self.data)


def attribute(key):
    return key.rstrip("_").replace("_", "-")


class _Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self._open = [self.root]

    def handle_starttag(self, name, attributes):
        assert len(dict(attributes)) == len(attributes), f"an attribute twice: {name} {attributes}"
        element = Element(name, dict(attributes))
        self._open[-1].children.append(element)
        self._open[-1].data.append(element)
        if name not in VOID:
            self._open.append(element)

    def handle_startendtag(self, name, attributes):
        self.handle_starttag(name, attributes)
        if name not in VOID:
            self._open.pop()

    def handle_endtag(self, name):
        assert self._open[-1].name == name, f"</{name}> ends <{self._open[-1].name}>"
        self._open.pop()

    def handle_data(self, text):
        self._open[-1].data.append(text)


def parsed(text):
    """The root element of a page. Every element that begins must end, in order."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert len(reader._open) == 1
    return reader.root
