"""How much of a procedure's code is in the parameterised set already: P_redun, a cosine of TF-IDF.

Terms are character 3- to 5-grams within words, as scikit-learn's `char_wb` has them; word tokens let the boilerplate
that all procedures share dominate. It knows texts alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["alike", "redundancies"]

_LENGTHS = (3, 4, 5)
_BITS = 40  # of the longest gram, five bytes
_MOST_BYTES = 20_000  # of one text
_ROWS = 2000  # of the product at once
_DIGITS = 5  # kept of a cosine, so that equal texts have equal ones
_COMMON = 2048  # grams that are multiplied as a dense matrix: most texts have them, a sparse product is slow there


def redundancies(codes: Sequence[str], parameterised: Sequence[str]) -> list[float]:
    """For each code, the largest cosine to an element of the parameterised set; 0 where that is empty.

    Inverse document frequencies are those of both together, smoothed: ln((1 + n) / (1 + df)) + 1.
    """
    import numpy as np

    if not codes or not parameterised:
        return [0.0] * len(codes)
    vectors = _vectors([*codes, *parameterised])
    left, right = vectors[: len(codes)], vectors[len(codes) :]
    often = np.argsort(-right.getnnz(axis=0), kind="stable")
    common, rare = np.sort(often[:_COMMON]), np.sort(often[_COMMON:])
    common_right, rare_right = right[:, common].toarray().T, right[:, rare].T.tocsc()
    found: list[float] = []
    for at in range(0, len(codes), _ROWS):
        rows = left[at : at + _ROWS]
        cosines = rows[:, common].toarray() @ common_right
        rest = (rows[:, rare] @ rare_right).tocoo()
        cosines[rest.row, rest.col] += rest.data
        found += np.minimum(cosines.max(axis=1), 1.0).astype(float).round(_DIGITS).tolist()
    return found


def alike(codes: Sequence[str]) -> list[list[float]]:
    """The cosine of each two codes; of one to itself it is 1."""
    if not codes:
        return []
    vectors = _vectors(codes)
    found: list[list[float]] = (vectors @ vectors.T).toarray().clip(0.0, 1.0).astype(float).round(_DIGITS).tolist()
    return found


def _vectors(texts: Sequence[str]) -> Any:
    """Rows of length one, sparse."""
    import numpy as np
    from scipy import sparse

    keys = _keys(texts)
    held, counts = np.unique(keys, return_counts=True)
    documents = (held >> _BITS).astype(np.int64)
    grams, columns = np.unique(held & ((1 << _BITS) - 1), return_inverse=True)
    holding = np.bincount(columns, minlength=len(grams))
    idf = np.log((1 + len(texts)) / (1 + holding)) + 1
    values = counts * idf[columns]
    lengths = np.sqrt(np.bincount(documents, weights=values**2, minlength=len(texts)))
    shape = (len(texts), max(1, len(grams)))
    values = (values / lengths[documents]).astype(np.float32)
    return sparse.csr_matrix((values, (documents, columns)), shape=shape)


def _keys(texts: Sequence[str]) -> NDArray[np.uint64]:
    """One number for every gram of every text: the text's place above 40 bits, the bytes of the gram below."""
    import numpy as np

    encoded = [b" " + b" ".join(text.lower().encode()[:_MOST_BYTES].split()) + b" " for text in texts]
    stream = np.frombuffer(b"".join(encoded), np.uint8)
    owner = np.repeat(np.arange(len(texts), dtype=np.uint64), [len(one) for one in encoded])
    found = []
    for length in _LENGTHS:
        if len(stream) < length:
            continue
        last = len(stream) - length + 1
        is_within = owner[:last] == owner[length - 1 :]
        for place in range(1, length - 1):
            is_within &= stream[place : place + last] != ord(" ")
        gram = np.zeros(last, np.uint64)
        for place in range(length):
            gram = (gram << np.uint64(8)) | stream[place : place + last]
        found.append((owner[:last] << np.uint64(_BITS))[is_within] | gram[is_within])
    return np.concatenate(found) if found else np.zeros(0, np.uint64)
