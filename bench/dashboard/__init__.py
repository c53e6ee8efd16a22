"""The page of all kept results: `python -m bench.dashboard bench/results --output site/`.

`model` turns a run into figures and comparisons, `questions` says what is asked and how, and
`fastgnb.dashboard` draws the page.
"""
