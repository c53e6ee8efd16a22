"""Models in the language of other engines: SQL, ONNX, Polars.

In: a `Model`. Out: text or a graph that scores rows elsewhere, without this package. Both are
written from the terms of the scores, which are the same for every member of the family: constants,
squares of features or of coordinates along axes, and logarithms of probabilities of categories.

Where to start
    terms.py         a model as terms
    sql.py           `to_sql`: an expression, or by sql_select.py a SELECT
    sql_rows.py      a row in SQL: which values can be scored, and its scores
    sql_scores.py    scores as SQL expressions
    sql_dialects.py  quoting, numbers and functions of each database
    onnx_model.py    `to_onnx`: inputs, labels, probabilities and metadata
    onnx_scores.py   scores as ONNX operators
    onnx_graph.py    a graph, node by node
    polars_expr.py   `polars_expr`: scoring as an expression, which calls this package

May import: `model`, `estimate`, `stats`, `input`, `kernels`, `_system`.
"""
