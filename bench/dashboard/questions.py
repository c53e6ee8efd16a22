"""What each group of benchmarks asks, how it is timed and checked, and why it comes out so."""

from __future__ import annotations

from fastgnb.dashboard import Question

QUESTIONS = [
    Question(
        "grid",
        "How fast are fit, predict and predict_proba compared with scikit-learn and the machine's "
        "ceiling, over seven shapes, both float types, and C and Fortran order?",
        "All five programs and the ceiling are called once a round, in up to fifteen rounds. A "
        "slow program drops out when it has spent eight seconds. Data are in memory, and X is "
        "larger than the caches.",
        "Means, variances, labels and probabilities are compared with a reference in float64 "
        "that none of the programs computes. A label may differ only where two classes tie to "
        "rounding.",
        "scikit-learn reads X several times and allocates arrays of the size of X or of rows "
        "times classes; fastgnb reads X once, and allocates the result only. With few features "
        "the ceiling is memory bandwidth, which a single addition per value nearly reaches. With "
        "many classes it is the rate of multiply-adds. float32 halves the bytes, but sums are in "
        "float64, so that it gains less where arithmetic is the limit.",
    ),
    Question(
        "others",
        "How fast are other libraries at one problem of 20 features and 10 classes?",
        "Every library is used as its documentation shows, on arrays that it takes without a "
        "copy, all in the same rounds. river learns one row at a time, so it is given 1,000 rows "
        "and compared by rows per second.",
        "As in the first question. mlpack, dask-ml and river define variances or priors "
        "differently, so 99% (river 98%) of their labels have to equal the reference's.",
        "mlpack's fit is compiled too, for one thread; its predict makes arrays of the size of X "
        "for each class. The matrix product in NumPy reads and writes arrays of the size of X. "
        "dask-ml runs NumPy in chunks, and river runs Python code for each value.",
    ),
    Question(
        "noise",
        "With many classes, does the speed depend on structure in the data?",
        "predict at 100 and at 1,000 classes, on data in which classes differ and on noise, in "
        "the rounds of the ceiling.",
        "As in the first question.",
        "A program that rules classes out early gains on data with structure only. fastgnb scores "
        "every class, so both should come out alike; a difference is noise.",
    ),
    Question(
        "labels",
        "What do labels of text cost?",
        "fit with labels of NumPy's text type and with Python's text objects, beside "
        "scikit-learn.",
        "As in the first question.",
        "scikit-learn sorts all labels. fastgnb hashes each one and sorts the distinct ones only; "
        "what is left is reading them, which Python's objects make slow.",
    ),
    Question(
        "stream",
        "What does partial_fit in chunks of 10,000 rows cost, compared with one fit?",
        "One fit and a hundred calls of partial_fit on the same rows, in the same rounds.",
        "Both models are compared with the exact parameters.",
        "Each call checks its input, starts its threads and merges its statistics into the "
        "model's, which takes about as long as reading 10,000 rows of 20 features.",
    ),
    Question(
        "one-row",
        "How long does a single row take, where validation is most of the time?",
        "200 calls are timed together, since one is too short for the clock.",
        "The result has to equal that of the same row among all rows.",
        "The kernel takes a microsecond. The rest is the check of the input, which fastgnb does "
        "once, without scikit-learn's general validation.",
    ),
    Question(
        "memory",
        "How much memory is used at the peak, beyond the data and the result?",
        "A process of its own loads the data, resets the peak that Linux records, and calls each "
        "method once.",
        "Its labels are compared with the reference.",
        "Kernels work in blocks that fit into the caches, so the peak is the statistics of each "
        "thread. It does not grow with the rows.",
    ),
    Question(
        "files",
        "How long do the commands take, compared with only reading the same columns?",
        "The command's own functions run in the process that times them, on uncompressed files "
        "in the page cache, alternately with pyarrow or NumPy reading the same columns, all at "
        "once and as a stream; the faster of these counts.",
        "The labels written are read again and compared with the reference.",
        "Reading from the page cache is a copy at memory bandwidth, so scoring and writing "
        "cannot hide behind it. From a disk, reading would take most of the time. Parsing CSV "
        "takes longer than scoring.",
    ),
    Question(
        "startup",
        "How long do imports and the first prediction of a saved model take?",
        "Whole processes are timed, five of each in turn, less the time of an interpreter that "
        "does nothing.",
        "The labels of the first prediction are compared with the reference.",
        "Importing fastgnb loads none of its dependencies. GaussianNB needs NumPy, Numba and "
        "scikit-learn, whose imports are nearly all of the time. A saved model is scored without "
        "scikit-learn.",
    ),
    Question(
        "cold",
        "How long does compiling all kernels take?",
        "`fastgnb warmup`, once, with an empty cache.",
        "The command has to say that it compiled something.",
        "Kernels are compiled for each type and order of X that needs its own machine code, and "
        "LLVM takes one to three seconds for each.",
    ),
    Question(
        "threads",
        "How much faster are two threads than one?",
        "predict with one and with two threads, in the same rounds.",
        "Both give the same labels to the bit.",
        "Where arithmetic is the limit, two threads are nearly twice as fast. Where memory is, "
        "they share its bandwidth.",
    ),
    Question(
        "busy",
        "How much slower are short calls while every core is busy with other processes?",
        "A hundred calls of 1,000 rows alone, then a hundred beside one spinning process per "
        "core, fifteen times. Medians are compared; the mean is in the target's detail.",
        "Labels are compared with the reference.",
        "Waiting threads sleep instead of spinning, and a call takes what blocks it can get, so "
        "that a busy machine slows calls in proportion. The mean contains the time that the "
        "scheduler gave to others.",
    ),
    Question(
        "accuracy",
        "How large are errors against exact arithmetic, at mean/sd up to 1e8?",
        "predict is timed too, but the question is about the error.",
        "Variances and joint log likelihoods are compared with exact rational arithmetic.",
        "fastgnb and scikit-learn subtract the mean before they square. The formulation by matrix "
        "products squares first, so its error grows with the square of mean/sd.",
    ),
    Question(
        "family",
        "How fast are the other members, compared with their counterparts in scikit-learn?",
        "fit and predict of both, in the same rounds. Full covariances are also compared with a "
        "matrix product.",
        "Nearly all labels (99.99%, quadratic 99.9%) have to equal the counterpart's.",
        "fit is one pass for all members, where scikit-learn centres copies of X. A linear "
        "discriminant's predict is one matrix product in both, which BLAS does at the machine's "
        "peak, so there is little or nothing to win.",
    ),
    Question(
        "scatter",
        "How fast is the full scatter of every class?",
        "It is timed alternately with scikit-learn's covariances, class by class, and with NumPy's "
        "matrix product.",
        "All covariances have to equal scikit-learn's to 1e-7.",
        "Rows are centred and gathered by class into blocks, which are multiplied as matrices. "
        "With many features this approaches the matrix product; with few, moving the rows "
        "takes longer.",
    ),
    Question(
        "selection",
        "How fast is StatsGridSearchCV, compared with GridSearchCV of the same estimator?",
        "Five folds and ten candidates, without the final fit.",
        "The mean scores have to equal GridSearchCV's to 1e-12.",
        "Each fold is learned once, and a candidate is estimated from statistics of the other "
        "folds. Scoring and one copy of the rows are what both have to do.",
    ),
    Question(
        "leave-one-out",
        "How long does it take to score all rows, each by a model of all others?",
        "The pass over all rows alone, and with the fit before it; predict of the same rows; and "
        "fits of 20 rows' others, compared by rows per second.",
        "Labels have to equal those of the 20 fits. The test suite compares joint log likelihoods "
        "with those of fits without a row.",
        "A row changes the mean and the variances of its own class, whose score takes a division "
        "for each feature. All other classes are scored as in predict.",
    ),
]  # fmt: skip
