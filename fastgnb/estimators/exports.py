"""A fitted estimator in the language of another engine: SQL, ONNX, Polars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .holder import ModelHolder


class ExportingClassifier(ModelHolder):
    """A classifier that other engines can score with."""

    def to_sql(
        self,
        dialect: str = "duckdb",
        *,
        columns: Sequence[str] | Mapping[str, str] | None = None,
        table: str | Sequence[str] | None = None,
        keep: Sequence[str] = (),
        joint: bool = False,
        proba: bool = False,
        evidence: bool = False,
    ) -> str:
        """Return scoring as SQL: an expression for the label, or a SELECT of a table.

        Parameters
        ----------
        dialect : {"duckdb", "sqlite", "postgres"}, default="duckdb"
            The database that runs it.
        columns : sequence of str of shape (n_features,), dict of str to str or None, default=None
            The columns of the features, in their order; or those of features whose columns have
            other names. None: the names of the features, or ``x0``, ``x1`` and so on.
        table : str, sequence of str or None, default=None
            A table or a view, with its schema before it where there is one: ``("main", "rows")``.
            None: return the expression only, for use in a SELECT of yours.
        keep : sequence of str, default=()
            Columns of the table that the SELECT returns before ``prediction``.
        joint : bool, default=False
            Whether the SELECT has a column ``joint_<class>`` for each class: joint log likelihoods.
        proba : bool, default=False
            Whether it has a column ``proba_<class>`` for each class.
        evidence : bool, default=False
            Whether it has a column ``log_evidence``: log p(x).

        Returns
        -------
        str
            SQL without a semicolon at its end.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted.
        ValueError
            If columns do not fit the features or are not distinct in that database, if a name or a
            label cannot be written in it, and for answers other than the label without a table.

        See Also
        --------
        to_onnx : A graph for ONNX runtimes.

        Notes
        -----
        Columns may have any numeric type. A row gets NULL in the place of each answer where
        ``predict`` would raise: for NULL or NaN, unless the model skips missing values, for
        infinity, and in SQLite for values of another type. The same goes for a row beyond 2^498
        (about 1e150) standard deviations, for which ``predict`` gives the nearest class. Ties go to
        the first class.

        Scores take the operations of ``predict`` in float64, except for fused multiply-adds. So
        they agree to about 1e-15 of their largest term, and labels agree unless classes are that
        close. Probabilities need ``exp``, which SQLite has if it is compiled with math functions.
        PostgreSQL raises where float64 underflows, and so probabilities below e^-700 are 0.

        Names and labels are quoted. A number that is no category of a feature counts as a category
        that was not seen, as any text does.

        The expression writes each score twice, and for full covariances each coordinate along an
        axis four times. The SELECT computes each of them once: its length is about 150 characters
        for each class and feature, and 60 for each class and pair of features with full
        covariances. A model with ``alpha=0`` in which a category never occurred in a class needs
        the SELECT.

        Examples
        --------
        >>> import sqlite3
        >>> from fastgnb import GaussianNB
        >>> model = GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], ["a", "a", "b", "b"])
        >>> rows = sqlite3.connect(":memory:")
        >>> _ = rows.execute("CREATE TABLE new AS SELECT 7 AS id, 5.5 AS width")
        >>> query = model.to_sql("sqlite", columns=["width"], table="new", keep=["id"])
        >>> rows.execute(query).fetchall()
        [(7, 'b')]
        """
        from ..export.sql import to_sql

        return to_sql(
            self.to_model(), dialect, columns=columns, table=table, keep=keep, joint=joint,
            proba=proba, evidence=evidence,
        )  # fmt: skip

    def to_onnx(self, dtype: Any = "float32") -> Any:
        """Return the model as an ONNX graph, for ``onnxruntime`` and other runtimes.

        Parameters
        ----------
        dtype : {"float32", "float64"}, default="float32"
            The type of the rows that the graph takes, and of the probabilities that it returns.

        Returns
        -------
        onnx.ModelProto
            The graph, checked by ``onnx.checker``. Write it by ``onnx.save``, or give
            ``SerializeToString()`` to a runtime.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted.
        ValueError
            If a label or category has no type in ONNX: whole numbers from 2^63 up.
        ImportError
            Without the extra ``onnx``.

        See Also
        --------
        to_sql : Scoring as SQL.

        Notes
        -----
        The input ``X`` has shape (n, n_features). With categorical features there is an input of
        shape (n, 1) for each feature instead, by its name, or ``x0``, ``x1`` and so on: strings,
        int64 or bool for categories, by their type, and ``dtype`` for the others. The outputs are
        ``label`` (n,), of int64 or strings, and ``probabilities`` (n, n_classes), as skl2onnx calls
        them. Labels that are booleans become 0 and 1.

        The graph computes in float64, whatever ``dtype`` is, so that labels are those of
        ``predict`` for the same rows, and probabilities agree to 1e-12, or to 1e-6 in float32. It
        takes n n_classes n_features numbers of memory for n rows: score in batches.

        A graph cannot raise. Rows for which ``predict`` raises, with NaN or infinity, have
        probabilities that are NaN, and any label. Where the model skips missing values, a missing
        text is ``""`` unless that is a category, and a whole number or a boolean cannot be missing.
        """
        from ..export.onnx_model import to_onnx

        return to_onnx(self.to_model(), dtype)

    def polars_expr(
        self,
        columns: Sequence[Any] | Mapping[str, Any] | None = None,
        *,
        proba: bool = False,
        evidence: bool = False,
    ) -> Any:
        """Return scoring as a Polars expression, for eager, lazy and streaming queries.

        Parameters
        ----------
        columns : sequence of shape (n_features,), dict of str to object or None, default=None
            The columns of the features, in their order, by name or as expressions; or those of
            features whose columns have other names. None: the names of the features, or ``x0``,
            ``x1`` and so on.
        proba : bool, default=False
            Add a field ``proba_<class>`` for each class.
        evidence : bool, default=False
            Add a field ``log_evidence``: log p(x).

        Returns
        -------
        polars.Expr
            The label of each row, named ``prediction``: Int64, String, Boolean or Float64, by the
            classes. With `proba` or `evidence` it is a struct of all answers: take it apart by
            ``unnest``, or by ``struct.field``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted.
        ValueError
            If columns do not fit the features. When the query runs, also for rows that ``predict``
            refuses.
        ImportError
            Without Polars.

        See Also
        --------
        to_sql : Scoring as SQL, without this package.
        fastgnb.files.predict_stream : Scoring of Arrow streams.

        Notes
        -----
        Answers are those of ``predict`` for the same rows, to the bit. Polars decides for how many
        rows at a time it calls the model: in a streaming query, for about 100,000.

        Examples
        --------
        >>> import polars as pl
        >>> from fastgnb import GaussianNB
        >>> model = GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], ["a", "a", "b", "b"])
        >>> frame = pl.LazyFrame({"width": [1.5, 5.5]})
        >>> frame.with_columns(model.polars_expr(["width"])).collect().rows()
        [(1.5, 'a'), (5.5, 'b')]
        """
        from ..export.polars_expr import polars_expr

        return polars_expr(self.to_model(), columns, proba=proba, evidence=evidence)
