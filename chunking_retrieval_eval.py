#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# /// script
# requires-python = ">=3.8"
# dependencies = []
# ///
"""What does a way of cutting text into chunks buy, and what does it cost?

Part 1 is the benchmark: a tokenizer, BM25, three chunkers, the judge, and the
table of five strategies. It runs alone, and is short enough for a blog post.
Part 2 is the workbench around it: your own data, more chunkers and retrievers,
diagnosis, statistics, exports and the command line.
"""

from __future__ import annotations

# ======================== Part 1: the benchmark =============================
# To quote it: copy from the line above to the line before
# "# ======================== Part 2: the workbench". Put a CORPUS, a list of
# (topic, paragraph), and QUERIES, a list of ((topic, ...), query), above it,
# and report(CORPUS, QUERIES) below it. Sizes are in characters; STRATEGIES may
# hold any fixed:SIZE, overlap:SIZE/OVERLAP and para:LIMIT.
import re
import unicodedata
from collections import Counter, defaultdict, namedtuple
from functools import lru_cache
from itertools import accumulate
from math import fsum, inf, log

STRATEGIES = ["fixed:50", "overlap:50/15", "para:90", "para:180", "fixed:500"]
COVERED = 0.6  # the share of a paragraph's tokens that a chunk must hold

# A slice is (start, end) in characters. A place is a slice of a document that
# is known by its number, (document, start, end), and so is a chunk.
Document = namedtuple("Document", "text paragraphs")  # paragraphs: slices
Gold = namedtuple("Gold", "name places")  # a topic, and where it stands
Query = namedtuple("Query", "text golds")  # golds: all that it needs
# What a strategy did. costs: the tokens of each chunk; ranked: for each query
# the numbers of its best chunks, best first; covers: {gold: chunk numbers}.
Run = namedtuple("Run", "strategy chunks costs ranked covers")


# ---- tokenizer: words, and bigrams where words are not set apart -----------
UNSPACED = re.compile(
    "(CJK|IDEOGRAPHIC|HANGZHOU|HIRAGANA|KATAKANA|HENTAIGANA|HANGUL"
    r"|THAI|LAO|KHMER|MYANMAR)\b"
)
STRETCH = re.compile("s[sm]*|u[um]*")


@lru_cache(maxsize=None)
def letter_class(character):
    """The class "s" of a script that uses spaces, "u" without, "m" a mark."""
    major = unicodedata.category(character)[0]
    if major == "M":
        return "m"
    if major not in "LN":
        return "-"
    return "u" if UNSPACED.match(unicodedata.name(character, "")) else "s"


def tokenize(text):
    """Words of scripts that use spaces, character bigrams of the others."""
    text = unicodedata.normalize("NFKC", text).casefold()
    classes = "".join(map(letter_class, text))
    tokens = []
    for stretch in STRETCH.finditer(classes):
        piece = text[stretch.start() : stretch.end()]
        if stretch[0][0] == "s" or len(piece) == 1:
            tokens.append(piece)
        else:
            tokens += map("".join, zip(piece, piece[1:]))
    return tokens


# ---- retriever: which texts match a query best -----------------------------
class BM25:
    """An inverted index of texts, which are known by their number from 0."""

    def __init__(self, texts, k1=1.5, b=0.75):
        self.k1, self.b = k1, b
        self.index(map(tokenize, texts))

    def index(self, bags):
        """Note each text under each of its tokens, once a time it has it."""
        postings, lengths = defaultdict(list), []
        for number, tokens in enumerate(bags):
            lengths.append(len(tokens))
            for token in tokens:
                postings[token].append(number)
        average = sum(lengths) / max(len(lengths), 1) or 1
        self.norms = [
            self.k1 * (1 - self.b + self.b * length / average)
            for length in lengths
        ]
        self.postings = postings

    def weights(self, token):
        """{text number: what one token of a query adds to its score}."""
        counts = Counter(self.postings.get(token, ()))
        total, holders = len(self.norms), len(counts)
        idf = log(1 + (total - holders + 0.5) / (holders + 0.5))
        most, norms = self.k1 + 1, self.norms
        return {
            number: idf * tf * most / (tf + norms[number])
            for number, tf in counts.items()
        }

    def scores(self, query):
        """The score of every text, to 9 decimals, so that ties are ties."""
        scores = [0.0] * len(self.norms)
        for token in tokenize(query):
            for number, weight in self.weights(token).items():
                scores[number] += weight
        return [round(score, 9) for score in scores]

    def topk(self, query, k):
        """The numbers of the k best texts; none that scores 0 is there."""
        scores = self.scores(query)
        found = [number for number, score in enumerate(scores) if score > 0]
        # The sort is stable: of equals the earlier text goes first.
        return sorted(found, key=lambda number: -scores[number])[:k]


# ---- chunkers: from a document to slices of it -----------------------------
def check_overlap(size, overlap):
    """ValueError for an overlap with which no window would advance."""
    if not 0 <= overlap < size:
        right = "an overlap from 0 to under the size"
        raise ValueError(f"size {size}, overlap {overlap} ({right})")


def chunk_overlap(text, size, overlap):
    """Windows of `size` characters, each sharing `overlap` with the next."""
    check_overlap(size, overlap)
    starts = range(0, max(len(text) - overlap, 1), size - overlap)
    windows = [(start, min(start + size, len(text))) for start in starts]
    return [(start, end) for start, end in windows if text[start:end].strip()]


def chunk_fixed(text, size):
    """Every `size` characters, without overlap."""
    return chunk_overlap(text, size, 0)


def chunk_para(paragraphs, limit):
    """Whole paragraphs, joined while they fit in `limit` characters."""
    chunks = []
    for start, end in paragraphs:
        if chunks and end - chunks[-1][0] <= limit:
            start = chunks.pop()[0]
        chunks.append((start, end))
    return chunks


def cut(strategy, document):
    """The slices that a strategy makes of a document."""
    chunker, _, numbers = strategy.partition(":")
    if chunker not in ("fixed", "overlap", "para"):
        raise ValueError(f"no strategy {strategy} (fixed, overlap or para)")
    sizes = [int(number) for number in numbers.split("/")]
    if chunker == "fixed":
        return chunk_fixed(document.text, *sizes)
    if chunker == "overlap":
        return chunk_overlap(document.text, *sizes)
    return chunk_para(document.paragraphs, *sizes)


# ---- judge: which chunks cover a gold --------------------------------------
def share_held(wanted, held):
    """The share of the tokens `wanted` that are among `held`, both sets."""
    return len(wanted & held) / max(len(wanted), 1)


def by_wording(gold, chunks, tokens_of, covered=COVERED):
    """The numbers of the chunks that cover any one place of a gold."""
    return {
        number
        for number, chunk in enumerate(chunks)
        for place in gold.places
        if share_held(tokens_of(place), tokens_of(chunk)) >= covered
    }


def answered(query, sent, covers):
    """Whether each gold of a query is covered by a chunk that is sent."""
    return all(not covers[gold].isdisjoint(sent) for gold in query.golds)


# ---- one strategy, one round -----------------------------------------------
def evaluate(strategy, documents, queries, depth):
    """Chunk, index, retrieve `depth` chunks a query, judge: a Run."""
    chunks = [
        (number, start, end)
        for number, document in enumerate(documents)
        for start, end in cut(strategy, document)
    ]

    def text_of(place):
        number, start, end = place
        return documents[number].text[start:end]

    @lru_cache(maxsize=None)
    def tokens_of(place):
        return set(tokenize(text_of(place)))

    texts = [text_of(chunk) for chunk in chunks]
    index = BM25(texts)
    golds = dict.fromkeys(gold for query in queries for gold in query.golds)
    return Run(
        strategy,
        chunks,
        costs=[len(tokenize(text)) for text in texts],
        ranked=[index.topk(query.text, depth) for query in queries],
        covers={gold: by_wording(gold, chunks, tokens_of) for gold in golds},
    )


def mean(values):
    """The mean of a list, the same on every Python; None of an empty one."""
    return fsum(values) / len(values) if values else None


def measure(run, queries, k):
    """One row of the table. A query is answered when all its golds are.

    tokens is the mean cost of the k chunks sent: the price of recall@k.
    """

    def recall(at, least_golds=0, most_golds=inf):
        return mean(
            [
                answered(query, ranked[:at], run.covers)
                for query, ranked in zip(queries, run.ranked)
                if least_golds <= len(query.golds) <= most_golds
            ]
        )

    costs = [sum(run.costs[n] for n in ranked[:k]) for ranked in run.ranked]
    return {
        "strategy": run.strategy,
        "chunks": len(run.chunks),
        "recall@1": recall(1),
        f"recall@{k}": recall(k),
        f"single@{k}": recall(k, most_golds=1),
        f"multi@{k}": recall(k, least_golds=2),
        "tokens": mean(costs),
    }


# ---- report: the data, the rounds, the table -------------------------------
def join(corpus):
    """The corpus as one document, and {topic: Gold}."""
    ends = list(accumulate(len(paragraph) for _, paragraph in corpus))
    slices = list(zip([0, *ends], ends))
    places = defaultdict(list)
    for (topic, _), (start, end) in zip(corpus, slices):
        places[topic].append((0, start, end))
    text = "".join(paragraph for _, paragraph in corpus)
    golds = {topic: Gold(topic, tuple(places[topic])) for topic in places}
    return [Document(text, slices)], golds


def with_golds(queries, golds):
    """The queries, each with the golds of its topics, every topic once."""
    asked = []
    for topics, text in queries:
        if isinstance(topics, str):  # a forgotten comma: ("topic") is a text
            topics = [topics]
        for topic in topics or [""]:  # a query that needs nothing, too
            if topic not in golds:
                known = ", ".join(golds)
                raise ValueError(f'unknown topic "{topic}" (known: {known})')
        needed = [golds[topic] for topic in dict.fromkeys(topics)]
        asked.append(Query(text, needed))
    return asked


def cell(key, value):
    """A figure as the table shows it."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.1f}" if key == "tokens" else f"{value:.3f}"
    return str(value)


def table(rows):
    """Rows {name: figure} as aligned lines under their names."""
    lines = [list(rows[0])]
    lines += [[cell(*item) for item in row.items()] for row in rows]
    first, *others = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join(
        "  ".join([line[0].ljust(first), *map(str.rjust, line[1:], others)])
        for line in lines
    )


def report(corpus, queries, k=3, rounds=3):
    """Evaluate every strategy anew in each round, and print the table."""
    documents, golds = join(corpus)
    queries = with_golds(queries, golds)
    runs = [
        [evaluate(strategy, documents, queries, k) for strategy in STRATEGIES]
        for _ in range(rounds)
    ]
    print(table([measure(run, queries, k) for run in runs[0]]))
    same = all(again == runs[0] for again in runs)
    print(f"{rounds} rounds {'agree exactly' if same else 'disagree'}.")


# ======================== Part 2: the workbench =============================
# Data flows one way, and the rooms that it passes stand in that order: read,
# validate, plan, index, rank, judge, measure, compare, conclude, print.
import gc
import json
import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from array import array
from bisect import bisect_left, bisect_right
from contextlib import contextmanager
from functools import partial
from heapq import merge, nlargest, nsmallest
from itertools import chain, combinations, groupby, product
from math import ceil, comb, floor, sqrt
from operator import add, itemgetter, mul
from operator import index as as_index
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Collection,
    Iterable,
    Iterator,
    NamedTuple,
    NoReturn,
    Sequence,
    TextIO,
    Tuple,
    Union,
)

if TYPE_CHECKING:  # the first takes long to import
    from argparse import _ArgumentGroup
    from concurrent.futures import Executor

VERSION = "1.0.0"
Slice = Tuple[int, int]  # (start, end), in characters
Place = Tuple[int, int, int]  # (document number, start, end)
HERE = os.path.dirname(__file__)  # where corpus.py and queries.py stand


# ---- words: how texts, names and numbers are said --------------------------
def plural(count: int, noun: str) -> str:
    """A number with its noun: 1 and "query" is "1 query", 3 "3 queries"."""
    if count == 1:
        return f"{count} {noun}"
    if noun.endswith("y"):
        return f"{count} {noun[:-1]}ies"
    return f"{count} {noun}s"


def verb(count: int, several: str) -> str:
    """The verb of a count: "need" for 3, "needs" for 1; "are" and "is"."""
    if count != 1:
        return several
    return {"are": "is", "have": "has"}.get(several, several + "s")


def either(items: Sequence[object]) -> str:
    """The items as alternatives: "1, 3 or 5"."""
    *others, last = map(str, items)
    return f"{', '.join(others)} or {last}" if others else last


def shortened(text: str, width: int = 60) -> str:
    """A text on one line, the middle of a long one left out."""
    line = " ".join(text.split())
    if len(line) <= width:
        return line
    return line[: width * 2 // 3] + " ... " + line[-width // 3 :]


def quoted(text: object, width: int = 60) -> str:
    """A text in quotes on one line, the middle of a long one left out."""
    return f'"{shortened(str(text), width)}"'


def told(value: object) -> str:
    """A value as JSON spells it, or Python what JSON cannot, on one line."""
    try:
        return shortened(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError):
        return shortened(repr(value))


def nearest(name: str, names: Iterable[str]) -> str:
    """The hint `; the nearest is "..."`, empty where no name is near."""
    from difflib import get_close_matches

    by_folded = {other.casefold(): other for other in names}
    found = get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.5)
    if not found:
        return ""
    return "; the nearest is " + quoted(by_folded[found[0]])


def wrapped(text: str, indent: int = 2) -> str:
    """A text in lines of 80 columns, or of a narrower terminal's.

    The lines after the first are indented by so many spaces.
    """
    from textwrap import fill

    width = 80
    if os.isatty(1) and sys.stdout is sys.__stdout__:
        width = min(os.get_terminal_size(1).columns or width, width)
    return fill(
        text,
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def emit(text: str, stream: TextIO | None) -> None:
    r"""Write UTF-8 with \n to any text stream, whatever the locale."""
    if stream is None:  # it was closed before the start
        return
    if not hasattr(stream, "buffer"):  # a notebook's, or a StringIO
        stream.write(text)
        return
    stream.flush()
    stream.buffer.write(text.encode("utf-8", "backslashreplace"))
    stream.buffer.flush()


# ---- errors: what is wrong with data or arguments, in one line -------------
class InputError(ValueError):
    """A fault in data or arguments, or several: one an argument.

    Each is "WHERE: what is wrong (what would be right)". main prints it on a
    line of its own, after "error: ".
    """

    def __str__(self) -> str:
        """All that is wrong, a line each."""
        return "\n".join(self.args)


class ResultError(Exception):
    """What a user's code gave and should not, as an error says it."""


MOST_FAULTS = 20  # that are told at once


@contextmanager
def errors_named(where: str, right: str) -> Iterator[None]:
    """Turn what a user's code or data raises into an InputError.

    `where` is a file or a module.function. The line is added: the last one of
    the file's own code, or that of its syntax error.
    """
    try:
        yield
    except InputError:
        raise
    except ResultError as error:
        raise InputError(f"{where}: {error} ({right})") from error
    except (Exception, SystemExit) as error:
        what = f"it raised {type(error).__name__}: {quoted(error, 200)}"
        if isinstance(error, OSError) and error.strerror:
            what = error.strerror.lower()
        at = where_raised(error, where)
        raise InputError(f"{at}: {what} ({right})") from error


def where_raised(error: BaseException, where: str) -> str:
    """A file with the line of an error, or a module.function with both."""
    if os.path.isfile(where):
        line = line_of(error, where)
        return f"{where}:{line}" if line else where
    module = sys.modules.get(where.rpartition(".")[0])
    file = getattr(module, "__file__", None) or ""
    line = line_of(error, file)
    return f"{where} ({os.path.basename(file)}:{line})" if line else where


def line_of(error: BaseException, file: str) -> int | None:
    """The line of a file, from 1, that an error tells; None if it does not."""
    from traceback import extract_tb

    frames = extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == file]
    if lines:
        return lines[-1]
    return getattr(error, "lineno", None)


def system_error(error: OSError, where: str) -> str:
    """What the system says is wrong, as an InputError says it."""
    path = error.filename or where
    why = str(error.strerror or error).lower()
    right = " (what can be read, or written to)"
    if isinstance(error, FileNotFoundError):
        right = nearest_file(path) or " (a path that exists)"
    elif isinstance(error, IsADirectoryError):
        why, right = "it is a directory", " (a file)"
    elif isinstance(error, PermissionError):
        right = " (what this user may read, or write to)"
    return f"{path}: {why}{right}"


def nearest_file(path: str) -> str:
    """The hint of a file beside a path that does not exist, or nothing."""
    folder, name = os.path.split(path)
    try:
        return nearest(name, os.listdir(folder or "."))
    except OSError:  # there is no such folder either
        return ""


def warn(where: str, oddities: dict[str, list[str]]) -> None:
    """Say on standard error what is odd but usable: {what: [each such]}."""
    for what, texts in oddities.items():
        if texts:
            few = ", ".join(quoted(text) for text in texts[:3])
            more = ", ..." if len(texts) > 3 else ""
            line = f"{where}: {what}: {len(texts)} ({few}{more})"
            emit(f"warning: {line}\n", sys.stderr)


@lru_cache(maxsize=None)
def warn_once(where: str, what: str) -> None:
    """Say on standard error what is odd, once in a run."""
    show_progress("")
    emit(f"warning: {where}: {what}\n", sys.stderr)


# ---- files: text, JSON, fields ---------------------------------------------
def read_text(path: str) -> str:
    """The text of a file in UTF-8, without its byte order mark.

    What ends in .gz is unpacked. InputError names a wrong byte and its line,
    or why nothing can be read.
    """
    try:
        if path.lower().endswith(".gz"):
            return unpacked(path).decode("utf-8-sig")
        with open(path, encoding="utf-8-sig", newline="") as file:
            return file.read()
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        byte = f"byte 0x{error.object[error.start]:02x}"
        message = f"{path}:{line}: {byte} is not UTF-8 (save it as UTF-8)"
        raise InputError(message) from error
    except OSError as error:
        raise InputError(system_error(error, path)) from error


def unpacked(path: str) -> bytes:
    """What is in a gzip file."""
    import gzip
    import zlib

    try:
        with gzip.open(path) as file:
            return file.read()
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        what = "it is not a gzip file, or only a part of one"
        raise InputError(f"{path}: {what} (pack it again)") from error


def parse_json(text: str, where: str) -> Any:
    """The value of a JSON text that stands at FILE:LINE, or is all of FILE."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        start = json_fault_start(text, error.pos)
        if os.path.isfile(where):
            line = text.count("\n", 0, start) + 1
            where = f"{where}:{line}"
        fault = json_fault(text[start:].strip(), error.msg)
        raise InputError(f"{where}: {fault}") from error
    except (ValueError, RecursionError) as error:
        what = "its JSON is nested too deep, or a number is too long"
        right = "less nesting, shorter numbers"
        raise InputError(f"{where}: {what} ({right})") from error


def json_fault_start(text: str, position: int) -> int:
    """Where a fault begins that json found at a position.

    Of a comma before } or ] only Python 3.13 and later give the position.
    """
    before = text[:position].rstrip()
    if before.endswith(",") and text[position : position + 1] in ("}", "]"):
        return len(before) - 1
    return position


def json_fault(rest: str, message: str) -> str:
    """What is wrong with JSON, and what would be right.

    The rest begins with the fault. The message is json's own; most are in
    other words from version to version.
    """
    if not rest:
        return 'its JSON ends too soon (close every ", [ and {)'
    if message.startswith("Extra"):
        right = "one value; in JSON lines, one on each line"
        return f"more follows the first JSON value: {quoted(rest)} ({right})"
    right = 'JSON such as {"name": "text"}'
    if re.match(r",\s*[}\]]", rest):
        right = "no comma before } or ]"
    elif re.match(r"['‘’“”\w]", rest):
        right = "names and texts in straight double quotes"
    elif rest[0] == "\\":
        right = "in a text, write a backslash twice"
    return f"invalid JSON at {quoted(rest, 30)} ({right})"


# What begins with a list, or an object that goes on to the next line.
JSON_OVER_LINES = r"\s*(?:\[|\{(?:[^\n]*[,:{\[])?[ \t]*\r?\n)"


def read_jsonl(path: str, known: Sequence[str]) -> list[tuple[str, Any]]:
    """[(FILE:LINE, value)] of the lines that are not blank.

    An InputError stands for a value that is no JSON. A file may also hold one
    list, or one object, over as many lines as it takes. It warns of keys that
    are not `known`.
    """
    text = read_text(path)
    if re.match(JSON_OVER_LINES, text):
        rows = json_items(text, path)
    else:
        rows = json_lines(text, path)
    refuse_format(path, rows, known)
    unknown = []
    for _, row in rows:
        if isinstance(row, dict):
            unknown += [key for key in row if key not in known]
    warn(path, {f"keys not used (known: {', '.join(known)})": unknown})
    return rows


def refuse_format(path: str, rows: list, known: Sequence[str]) -> None:
    """The InputError of a file that another option reads, by its first row."""
    first = rows[0][1] if rows else None
    if not isinstance(first, dict):
        return
    if isinstance(first.get("data"), list):
        raise InputError(f"{path}: this is SQuAD's format (--squad {path})")
    if "_id" in first and "_id" not in known:
        raise InputError(f"{path}: this is BEIR's format (--beir FOLDER)")


def json_lines(text: str, path: str) -> list[tuple[str, Any]]:
    """[(FILE:LINE, value or InputError)] of lines of JSON."""
    rows: list[tuple[str, Any]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where = f"{path}:{number}"
            try:
                rows.append((where, parse_json(line, where)))
            except InputError as error:
                rows.append((where, error))
    return rows


def json_items(text: str, path: str) -> list[tuple[str, Any]]:
    """[(WHERE, value)] of what one JSON list holds; of an object, itself."""
    found = parse_json(text, path)
    if not isinstance(found, list):
        return [(path, found)]
    return [(f"{path}: [{n}]", value) for n, value in enumerate(found)]


class FieldType(NamedTuple):
    """What a field may hold: its types, and how an error says it."""

    types: tuple[type, ...]
    right: str


TEXT = FieldType((str,), "a text, not blank")
NUMBER = FieldType((int,), "a whole number")
LIST = FieldType((list, tuple), "a list")
GOLDS = FieldType((str, list, tuple), "a topic or passage, or a list")
REFERENCES = FieldType(
    (list, tuple),
    'a list of {"content", "start_index"}; quotes alone go under "gold"',
)
ANY_TEXT = FieldType((str,), "a text")
ID = FieldType((str, int), "a text or a whole number")
KINDS = {
    str: "the text",
    bool: "the truth value",
    int: "the number",
    float: "the number",
    list: "the list",
    tuple: "the list",
    dict: "the object",
}


def optional_field(
    item: Any, where: str, keys: Sequence[str], expected: FieldType = TEXT
) -> Any:
    """What an object has under the first of these keys that it has, or None.

    InputError if the item is one, or no object, or holds what it should not.
    """
    if isinstance(item, InputError):
        raise item
    if not isinstance(item, dict):
        what = f"{told(item)} is not an object"
        raise InputError(f'{where}: {what} (an object with "{keys[0]}")')
    for key in keys:
        value = item.get(key)
        if value is None:
            continue
        if not isinstance(value, expected.types):
            kind = KINDS.get(type(value), type(value).__name__)
            given = f"{kind} {told(value)}"
            raise InputError(f'{where}: "{key}" is {given} ({expected.right})')
        if expected is TEXT and is_blank(value):
            raise InputError(f'{where}: "{key}" is blank ({expected.right})')
        return value
    return None


def is_blank(value: object) -> bool:
    """Whether a value is, or reads as, a text without a character."""
    return not str(value).strip()


def field(
    item: Any, where: str, keys: Sequence[str], expected: FieldType = TEXT
) -> Any:
    """What optional_field gives; InputError where it gives None."""
    value = optional_field(item, where, keys, expected)
    if value is None:
        names = '" or "'.join(keys)
        missing = f'"{names}" is missing in {told(item)}'
        raise InputError(f"{where}: {missing} ({expected.right})")
    return value


def reader_for(
    path: str, readers: dict[str, Callable], content: str
) -> Callable:
    """The reader for a path by its ending, or for "a directory".

    OSError where there is nothing, InputError where none reads the content.
    """
    os.stat(path)  # an OSError where there is nothing
    root, ending = os.path.splitext(path.lower())
    if ending == ".gz":
        ending = os.path.splitext(root)[1] + ending
    if os.path.isdir(path):
        ending = "a directory"
    if ending not in readers:
        known = ", ".join(readers)
        what = f"{ending} cannot hold {content}"
        if not ending:
            what = "its name has no ending, which would tell the format"
        raise InputError(f"{path}: {what} ({known})")
    return readers[ending]


# ---- Markdown: lines -------------------------------------------------------
# The lines of a text, as GitHub reads them, and what is made of them:
#
#     # Ports {#net}        heading  \  section guide#net, "guide > Ports",
#     <!-- ports.all -->    comment   } which is guide#ports.all too; and one
#                           blank     } block: a heading goes with the block
#     Open both of          text     /  after it
#     | 80 | web |          table
#     ```sh                 fence    \  one line, and with the text above it
#     ...                   fence    /  one block, to the next blank line
class Line(NamedTuple):
    """A line, without the white space after it.

    A fence, a comment, front matter, other HTML, and a heading with its
    underline are one line each, however many they take.
    """

    kind: str  # "fence", "heading", "table", "blank", or one of PROSE
    start: int
    end: int


PROSE = ("text", "code", "comment", "matter")  # code: set off by its indent
# What is compiled here is asked of each line, the other patterns seldom.
LIST_MARK = r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)"
LIST_MARKS = re.compile(rf"(?:{LIST_MARK})+")
LIST_AFTER_TEXT = re.compile(r"(?:[-*+]|1[.)])[ \t]+\S")
FENCE = re.compile(rf"(?:{LIST_MARK})*(?P<mark>`{{3,}}(?!.*`)|~{{3,}})")
HEADING = re.compile(r"#{1,6}(?![^ \t])")
UNDERLINE = re.compile(r"=+|-+")
RULE = re.compile(r"([-*_])[ \t]*(?:\1[ \t]*){2,}")
UNDER_NAMES = r"\|?(?:[ \t]*:?-+:?[ \t]*\|)*(?:[ \t]*:?-+:?)?"
FRONT_MATTER = (
    r"---[ \t]*\r?\n(?=\S)(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)"
)
TAG = r"""</?[A-Za-z][A-Za-z0-9-]*(?:\s+[A-Za-z_:][\w.:-]*"""
TAG += r"""(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+))?)*\s*/?>"""
BLOCK_TAG = (
    "(?i)</?(?:address|article|aside|base|basefont|blockquote|body|caption|"
    "center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|"
    "figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|"
    "legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|"
    "param|section|source|summary|table|tbody|td|tfoot|th|thead|title|tr|"
    r"track|ul)(?=\s|/?>|$)"
)
VERBATIM_TAG = r"(?i)<(?:pre|script|style|textarea)(?=[\s>]|$)"
END_OF_VERBATIM = "(?i)</(?:pre|script|style|textarea)>"
END_OF_COMMENT = "-->"
BEFORE_BLANK_LINE = r"(?m)$(?=\n[ \t]*\r?$)"


def width(text: str) -> int:
    """The columns that a text takes; a tab goes on to the next fourth."""
    return len(text.expandtabs(4))


def count_cells(row: str) -> int:
    """The cells of a table's row."""
    return len(re.findall(r"(?<!\\)\|", row.strip().strip("|"))) + 1


def end_of_fence(mark: str, margin: int) -> str:
    """The pattern of the last line of a fence, by the mark that opens it.

    In a list the margin is the column of its text. A fence there ends by its
    mark alone, as it is meant, though what is in it be indented too little.
    """
    blank = rf"[ \t]{{0,{margin + 3}}}" if margin else " {0,3}"
    return rf"(?m)\n{blank}{mark}{mark[0]}*[ \t]*\r?$"


class Scanner:
    """Finds the lines of a Markdown text, as cmark-gfm does.

    But it takes a quote for text, and of lists knows only the indent.
    """

    def __init__(self, text: str):
        self.text = text
        self.lines: list[Line] = []
        self.margins = [0]  # the columns of what stands in open list items
        self.is_within = True  # whether the line at hand may be in the last
        self.is_open = False  # whether a paragraph may go on
        self.first = -1  # its first line; -1 if no underline makes it a title

    def scan(self) -> list[Line]:
        """All lines of the text."""
        position = 0
        matter = re.match(FRONT_MATTER, self.text)
        if matter:
            position = self.add("matter", 0, matter.end())
        while position < len(self.text):
            position = self.read(position)
        return self.lines

    def add(self, kind: str, start: int, end: int) -> int:
        """Add a line; where the next one begins."""
        trimmed = start + len(self.text[start:end].rstrip())
        self.lines.append(Line(kind, start, trimmed))
        return end

    def line_end(self, position: int) -> int:
        """Where the line after that of a position begins."""
        return self.text.find("\n", position) + 1 or len(self.text)

    def read(self, start: int) -> int:
        """Add what begins at a position; where the next line begins."""
        end = self.line_end(start)
        row = self.text[start:end]
        line = row.strip(" \t\r\n")
        if not line or line.isspace():
            self.is_open = False
            return self.add("blank", start, end)
        indent = width(row[: row.index(line[0])])
        self.is_within = indent >= self.margins[-1]
        while self.margins[-1] > indent:
            self.margins.pop()
        if indent >= self.margins[-1] + 4:
            return self.add("text" if self.is_open else "code", start, end)
        kind, closing = self.block(line, indent)
        if closing:
            self.is_open = False
            last = re.compile(closing).search(self.text, start)
            end = self.line_end(last.end()) if last else len(self.text)
        elif self.is_underline(line):
            kind, start = "heading", self.lines[self.first].start
            del self.lines[self.first :]
            self.is_open = False
        else:
            kind = self.kind(line, indent)
        return self.add(kind, start, end)

    def block(self, line: str, indent: int) -> tuple[str, str | None]:
        """The kind of the block that a line opens, and the pattern of its end.

        The pattern is None where it opens none.
        """
        if line[0] == "<":
            return self.html(line)
        fence = FENCE.match(line)
        if not fence:
            return "text", None
        before = line[: fence.start("mark")]
        if before:  # the marks of the list item that the fence stands in
            self.margins.append(indent + width(before))
        return "fence", end_of_fence(fence["mark"], self.margins[-1])

    def html(self, line: str) -> tuple[str, str | None]:
        """What `block` gives for a line that begins with <."""
        if line.startswith("<!--"):
            return "comment", END_OF_COMMENT
        if re.match(VERBATIM_TAG, line):
            return "text", END_OF_VERBATIM
        is_alone = not self.goes_on() and bool(re.fullmatch(TAG, line))
        if is_alone or re.match(BLOCK_TAG, line):
            return "text", BEFORE_BLANK_LINE
        return "text", None

    def goes_on(self) -> bool:
        """Whether the line at hand stands in the open paragraph."""
        return self.is_open and self.is_within

    def is_underline(self, line: str) -> bool:
        """Whether a line makes the paragraph above it a heading."""
        is_title = self.goes_on() and self.first >= 0
        return is_title and bool(UNDERLINE.fullmatch(line))

    def kind(self, line: str, indent: int) -> str:
        """The kind of a line that opens no block and underlines nothing."""
        if RULE.fullmatch(line):
            self.is_open = False
            return "text"
        marks = self.list_marks(line)
        if marks:
            self.margins.append(indent + width(marks))
        if HEADING.match(line, len(marks)):
            self.is_open = False
            return "heading"
        kind = "table" if "|" in line and self.is_table(line) else "text"
        if marks or not self.is_open:
            self.is_open, self.first = True, len(self.lines)
        elif not self.is_within:  # the paragraph of an item goes on outside
            self.first = -1
        if line[0] == ">":
            self.first = -1
        return kind

    def list_marks(self, line: str) -> str:
        """The marks of the list items that a line opens, or nothing."""
        marks = LIST_MARKS.match(line)
        if not marks:
            return ""
        if self.goes_on() and not LIST_AFTER_TEXT.match(line):
            return ""  # such as a year at the start of a line
        return marks[0]

    def is_table(self, line: str) -> bool:
        """Whether a line with a | is of a table: a row, or under its names."""
        above = self.lines[-1] if self.lines else Line("blank", 0, 0)
        if self.is_under_names(line, above):
            self.lines[-1] = above._replace(kind="table")
            self.first = -1
            return True
        return line[0] == "|" or above.kind == "table"

    def is_under_names(self, line: str, above: Line) -> bool:
        """Whether a line sets the names of columns in the one above apart."""
        if not self.is_open or "-" not in line:
            return False
        if not re.fullmatch(UNDER_NAMES, line):
            return False
        names = self.text[above.start : above.end]
        return count_cells(names) == count_cells(line)


def scan(text: str) -> list[Line]:
    """The lines of a Markdown text."""
    return Scanner(text).scan()


# ---- Markdown: blocks, sections, what GitHub does not show -----------------
def blocks(lines: Iterable[Line]) -> list[Slice]:
    """The paragraphs of a text, as slices: what blank lines set apart.

    A fence belongs to one block whatever it holds. A heading opens a block,
    and the block after it belongs to it. White space after a block is in none.
    """
    found: list[Slice] = []
    is_open = only_headings = False
    for kind, start, end in lines:
        if kind == "blank":
            is_open = is_open and only_headings
            continue
        if kind == "heading" and not only_headings:
            is_open = False
        if is_open:
            start = found.pop()[0]
        found.append((start, end))
        is_open, only_headings = True, kind == "heading"
    return found


CODE_SPAN = r"(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)|`+"
COMMENTS = r"(?P<before>^[ \t]*)?(?P<comments>{0}(?:[ \t]*{0})*)"
COMMENTS += r"(?P<after>[ \t]*\r?(?:\n|\Z))?"
COMMENT_IN_TEXT = rf"(?ms)\\.|{CODE_SPAN}|{COMMENTS.format('<!--.*?(?<=--)>')}"
COMMENT_BLOCK = "(?ms)" + COMMENTS.format(r"<!--(?:.*?(?<=--)>|.*\Z)")
COMMENT_ID = r"<!--\s*(\w[\w.:-]*)\s*-->"


def hidden(text: str, lines: list[Line]) -> Iterator[Slice]:
    """What of a Markdown text GitHub does not show, in order.

    That is front matter, and comments outside code. A comment alone on its
    line goes with its line end.
    """
    starts = [*(line.start for line in lines), len(text)]
    reach = 0
    if lines and lines[0].kind == "matter":
        reach = starts[1]
        yield 0, reach
    while True:
        found = text.find("<!--", reach)
        if found < 0:
            return
        first, last = run_around(lines, bisect_right(starts, found) - 1)
        start, reach = starts[first], starts[last]
        yield from comments(inline_kind(lines[first]), text, (start, reach))


def inline_kind(line: Line) -> str:
    """The kind of a line, "text" for all that may hold comments and code."""
    return "text" if line.kind in ("heading", "table") else line.kind


def run_around(lines: list[Line], number: int) -> tuple[int, int]:
    """The numbers of the first line of a run of one kind, and of the next."""
    kind = inline_kind(lines[number])
    first, last = number, number + 1
    while first and inline_kind(lines[first - 1]) == kind:
        first -= 1
    while last < len(lines) and inline_kind(lines[last]) == kind:
        last += 1
    return first, last


def comments(kind: str, text: str, stretch: Slice) -> Iterator[Slice]:
    """The comments in a stretch of a text, by its inline_kind."""
    if kind not in ("comment", "text"):
        return
    pattern = COMMENT_BLOCK
    start, end = stretch
    if kind == "text":
        pattern = COMMENT_IN_TEXT
        last = text.rfind("-->", start, end)
        if last < 0:
            return
        # Behind the last end, nothing need be looked for in vain.
        end = text.find("\n", last, end) + 1 or end
    for found in re.compile(pattern).finditer(text, start, end):
        if None not in (found["before"], found["after"]):  # a line of its own
            yield found.span()
        elif found["comments"]:
            yield found.span("comments")


def without_comments(text: str) -> str:
    """A piece of Markdown without its comments."""
    end = text.rfind("-->") + 1  # behind it, none is looked for in vain
    shown = re.sub(
        COMMENT_IN_TEXT,
        lambda found: "" if found["comments"] else found[0],
        text[: end + 2],
    )
    return shown + text[end + 2 :] if end else text


# ---- Markdown: sections ----------------------------------------------------
EXPLICIT_ID = r"\{#([^{}\s]+)\}$"
SECTION_MARK = r"(?<!\S)#+$"  # the #s that may close a heading
# What is no text in a heading, or is the text of something else.
INLINE = (
    rf"(?s)\\(?P<escaped>[!-/:-@\[-`{{-~])|{CODE_SPAN}"
    r"|<(?P<address>[A-Za-z][A-Za-z0-9+.-]+:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>"
    rf"|<!--.*?(?<=--)>|{TAG}"
    r"|(?P<entity>&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z0-9]+);)"
)
BRACKETED = r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]"
TARGET = r"\(\s*[^\s()]*(?:\([^\s()]*\)[^\s()]*)*"
TARGET += r"""(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)"""
LINK = BRACKETED + TARGET
# A mark, what goes up to the next such mark and does not open one, the mark.
UNDERSCORED = (
    r"(?<!\w)(_{1,3})(?=[^\s_])((?:(?!(?<!\w)\1[^\s_]).)+?)"
    r"(?<=[^\s_])\1(?!\w)"
)
LONG_TITLE = 1000  # in a longer one it takes too long to pair marks


def anchored(text: str) -> str:
    """What of a text GitHub's anchors keep, in lower case; and NUL."""
    return "".join(
        c
        for c in text.lower()
        if c in "- \0"
        or unicodedata.category(c)[0] in "LM"
        or unicodedata.category(c) in ("Nd", "Nl", "Pc")
    )


def literal(found: re.Match) -> str:
    """What a match of INLINE shows, between marks that are no letters.

    A _ in it is no mark any more, and stands as NUL.
    """
    from html import unescape

    shown = found["escaped"] or found["code"] or found["address"] or ""
    if found["entity"]:
        shown = unescape(found["entity"])
    if shown.strip() and shown[0] == shown[-1] == " ":  # `` `code` ``
        shown = shown[1:-1]
    return "*" + anchored(shown).replace("_", "\0") + "*"


def slug(title: str) -> str:
    """GitHub's anchor of a heading, of what it shows."""
    if len(title) <= LONG_TITLE:
        title = re.sub(INLINE, literal, title)
        title = re.sub("!" + LINK, "*", title)  # an image
        title = re.sub(LINK, r"*\1*", title)
        marked = ""
        while marked != title:  # _a __b__ c_
            marked, title = title, re.sub(UNDERSCORED, r"\2", title)
    return anchored(title).replace(" ", "-").replace("\0", "_")


def numbered(anchor: str, seen: dict[str, int]) -> str:
    """An anchor as a file has it once: the second "a" is "a-1".

    `seen` counts the anchors of the file so far.
    """
    first = anchor
    while anchor in seen:
        seen[first] += 1
        anchor = f"{first}-{seen[first]}"
    seen[anchor] = 0
    return anchor


class Section(NamedTuple):
    """What stands under a heading and its subheadings."""

    topic: str  # "guide#install"; the whole file is "guide"
    start: int
    end: int
    path: str  # "guide > Install", as --context puts it before a chunk


class Heading(NamedTuple):
    """A heading of a file; the file itself is one of level 0."""

    start: int
    level: int
    title: str  # without its id
    anchors: list[str]  # what stands for it after the # of a topic


def read_heading(source: str) -> tuple[int, str]:
    """The level of a heading, and its title as it is written."""
    source = source.strip()
    item = LIST_MARKS.match(source)
    if item:
        source = source[item.end() :]
    marks = HEADING.match(source)
    if marks:
        title = source[marks.end() :].strip()
        return marks.end(), re.sub(SECTION_MARK, "", title).rstrip()
    *rows, under = source.split("\n")
    title = "\n".join(row.strip() for row in rows)
    return 1 if "=" in under else 2, title


def ids_in_comments(text: str, lines: list[Line]) -> dict[int, list[str]]:
    """{start of a heading: ids that comments right under or over it hold}.

    One between two headings is of the upper.
    """
    ids = defaultdict(list)
    for number, line in enumerate(lines):
        if line.kind != "comment":
            continue
        found = re.fullmatch(COMMENT_ID, text[line.start : line.end])
        for near in (
            lines[number - 1 : number],
            lines[number + 1 : number + 2],
        ):
            if found and near and near[0].kind == "heading":
                ids[near[0].start].append(found[1])
                break
    return ids


def headings(text: str, lines: list[Line]) -> Iterator[Heading]:
    """The headings among the lines of a text."""
    ids = ids_in_comments(text, lines)
    seen: dict[str, int] = {}
    for line in lines:
        if line.kind == "heading":
            level, written = read_heading(text[line.start : line.end])
            title = without_comments(written).strip()
            explicit = re.findall(EXPLICIT_ID, title)
            anchor, *_ = explicit or [numbered(slug(written), seen)]
            title = re.sub(EXPLICIT_ID, "", title).rstrip()
            anchors = dict.fromkeys([anchor, *ids[line.start]])
            title = title.replace("\n", " ")
            yield Heading(line.start, level, title, list(anchors))


def sections(text: str, lines: list[Line], stem: str) -> list[Section]:
    """The sections of a file, `stem` being its name without the ending."""
    found = [Heading(0, 0, stem, []), *headings(text, lines)]
    ends = section_ends([heading.level for heading in found])
    starts = [heading.start for heading in found] + [len(text)]
    made = []
    path: list[Heading] = []  # those that are open
    for heading, end in zip(found, ends):
        path = [above for above in path if above.level < heading.level]
        path.append(heading)
        titles = " > ".join(above.title for above in path)
        topics = [f"{stem}#{anchor}" for anchor in heading.anchors] or [stem]
        for topic in topics:
            made.append(Section(topic, heading.start, starts[end], titles))
    return made


def section_ends(levels: list[int]) -> list[int]:
    """For each heading, by its level, the number of the one that ends it.

    That is the next one that is not deeper, or their number if there is none.
    """
    ends = [len(levels)] * len(levels)
    waiting: list[int] = []
    for number, level in enumerate(levels):
        while waiting and levels[waiting[-1]] >= level:
            ends[waiting.pop()] = number
        waiting.append(number)
    return ends


# ---- corpora: documents and topics -----------------------------------------
class Cut(NamedTuple):
    """A slice of a file that is taken out of its text."""

    start: int
    end: int
    before: int  # characters that are taken out before it


def make_cuts(slices: Iterable[Slice]) -> list[Cut]:
    """Slices of a file, in order, as Cuts."""
    cuts: list[Cut] = []
    before = 0
    for start, end in slices:
        cuts.append(Cut(start, end, before))
        before += end - start
    return cuts


def moved(position: int, cuts: Sequence[Cut]) -> int:
    """Where a position in a file is in its text, from which cuts are taken."""
    number = bisect_left(cuts, (position,)) - 1
    if number < 0:
        return position
    start, end, before = cuts[number]
    return position - before - (min(end, position) - start)


class NamedDocument(NamedTuple):
    """A Document of Part 1 that has a name and headings."""

    name: str
    text: str
    paragraphs: Sequence[Slice]
    headings: Sequence = ()  # (start, "title > subtitle") of each, in order
    cuts: Sequence[Cut] = ()  # what of its file is not in the text, in order


class RuledGold(NamedTuple):
    """A Gold of Part 1 that says by which rule it is covered."""

    name: str
    rule: str  # "wording" (a topic), "section" or "quote": see coverage
    places: tuple[Place, ...]  # any one is enough


class Question(NamedTuple):
    """A Query of Part 1, and what else its file says of it."""

    text: str
    golds: tuple[RuledGold, ...]
    id: str = ""  # its name, if it has one
    category: str = ""
    distractors: tuple[RuledGold, ...] = ()  # golds that should not arrive


class Data(NamedTuple):
    """A corpus, and what is asked of it."""

    documents: list[NamedDocument]
    topics: dict[str, RuledGold]
    queries: Sequence = ()  # of Question
    skipped: int = 0  # queries of the file that cannot be used


def rows_py(
    path: str, name: str, first: str, second: str
) -> Iterator[tuple[str, Any]]:
    """(WHERE, {first, second, "doc"}) of each pair that a Python file lists.

    The file is run. What it calls `name` is a list of pairs, or a dict of
    such lists by document; InputError for anything else. An InputError stands
    for what is no pair.
    """
    source = read_text(path)
    scope = {"__name__": os.path.basename(path)[:-3], "__file__": path}
    with errors_named(path, f"Python that defines {name}"):
        exec(compile(source, path, "exec"), scope)
    found: Any = scope.get(name)
    lists: Iterable[Any] = [(None, found)]
    if isinstance(found, dict):
        lists = found.items()
    for document, pairs in lists:
        spot = name if document is None else f"{name}[{document!r}]"
        if not isinstance(pairs, (list, tuple)):
            right = f"a list of ({first}, {second}) pairs"
            right += ", or a dict of such lists by document"
            kind = "not a list"
            if document is None:
                kind = "neither a list nor a dict"
            raise InputError(f"{path}: {spot} is {kind} ({right})")
        for number, pair in enumerate(pairs):
            where = f"{path}: {spot}[{number}]"
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                what = f"{told(pair)} is not a pair"
                fault = InputError(f"{where}: {what} (({first}, {second}))")
                yield where, fault
                continue
            yield where, {first: pair[0], second: pair[1], "doc": document}


def assemble(contents: Iterable[tuple[str, list]], joint: str) -> Data:
    """Data of (document name, [(topic, paragraph)]) pairs.

    The paragraphs of a document are joined by `joint`.
    """
    documents, places = [], defaultdict(list)
    for number, (name, pairs) in enumerate(contents):
        slices: list[Slice] = []
        end = 0
        for topic, paragraph in pairs:
            start = end + len(joint) if slices else 0
            end = start + len(paragraph)
            slices.append((start, end))
            places[topic].append((number, start, end))
        text = joint.join(paragraph for _, paragraph in pairs)
        documents.append(NamedDocument(name, text, slices))
    topics = {
        topic: RuledGold(topic, "wording", tuple(places[topic]))
        for topic in places
    }
    return Data(documents, topics)


def corpus_rows(
    rows: Iterable[tuple[str, dict]], joint: str, name: str = ""
) -> Data:
    """Data of rows (WHERE, {"topic", "text", "doc"}).

    The rows of a "doc" are a document. A row without one belongs to the
    document `name`, or, if that is empty, is its own.
    """
    contents, headings = defaultdict(list), {}
    for where, row in rows:
        topic = field(row, where, ["topic"])
        title = optional_field(row, where, ["doc"])
        text = field(row, where, ["text"])
        contents[title or name or os.path.basename(where)].append(
            (topic, text)
        )
        if title:
            headings[title] = [(0, title)]
    data = assemble(contents.items(), joint)
    documents = [
        document._replace(headings=headings.get(document.name, []))
        for document in data.documents
    ]
    return data._replace(documents=documents)


def prose_files(path: str) -> list[str]:
    """The names of the .md and .txt files in a folder, or in one below it.

    They are sorted, relative to the folder, with / between their parts.
    What is hidden is left out; what is neither is warned of.
    """

    def unreadable(error: OSError) -> None:
        raise error

    names = []
    for root, _, files in os.walk(path, onerror=unreadable):
        for file in files:
            name = os.path.relpath(os.path.join(root, file), path)
            names.append(name.replace(os.sep, "/"))
    names = sorted(name for name in names if "/." not in "/" + name)
    endings = (".md", ".txt")
    prose = [name for name in names if name.lower().endswith(endings)]
    others = [name for name in names if not name.lower().endswith(endings)]
    warn(path, {"files skipped, neither .md nor .txt": others})
    return prose


def read_prose(path: str, name: str) -> tuple[NamedDocument, list[Section]]:
    """The document that a Markdown or text file makes, and its sections.

    From Markdown front matter and comments are taken out.
    """
    text = read_text(path)
    lines = scan(text)
    found = sections(text, lines, name)
    document = NamedDocument(name, text, blocks(lines))
    if path.lower().endswith(".md"):
        cuts = make_cuts(hidden(text, lines))
        if cuts:
            warn_of_open_comment(path, text[slice(*cuts[-1][:2])])
            document = without_cuts(document, lines, cuts)
            found = [moved_section(section, cuts) for section in found]
    paths = {section.start: section.path for section in found}
    document = document._replace(headings=sorted(paths.items()))
    return document, found if document.text else []


def warn_of_open_comment(path: str, last: str) -> None:
    """Warn if the last that a file loses is a comment without end."""
    if last.lstrip().startswith("<!--") and not last.rstrip().endswith("-->"):
        what = "a comment without its -->, which hides the rest of the file"
        warn(path, {what: [last]})


def without_cuts(
    document: NamedDocument, lines: Iterable[Line], cuts: list[Cut]
) -> NamedDocument:
    """A document without what is cut out of its file; lines: of the file."""
    ends = [0, *(cut.end for cut in cuts)]
    starts = [*(cut.start for cut in cuts), len(document.text)]
    kept = map(slice, ends, starts)
    text = "".join(map(document.text.__getitem__, kept))
    shown = [line for line in lines if not is_cut(line, cuts)]
    paragraphs = []
    for piece in blocks(shown):
        start, end = (moved(position, cuts) for position in piece)
        paragraphs.append((start, start + len(text[start:end].rstrip())))
    return document._replace(text=text, paragraphs=paragraphs, cuts=cuts)


def is_cut(line: Line, cuts: list[Cut]) -> bool:
    """Whether nothing of a line is left."""
    if line.kind not in ("comment", "matter"):
        return False
    return moved(line.start, cuts) == moved(line.end, cuts)


def moved_section(section: Section, cuts: list[Cut]) -> Section:
    """A section of a file as it stands in its text."""
    start, end = moved(section.start, cuts), moved(section.end, cuts)
    return section._replace(start=start, end=end)


def corpus_prose(path: str) -> Data:
    """Data of a Markdown or text file, or of a folder of them.

    A file is a document, its sections are topics.
    """
    folder, names = os.path.dirname(path), [os.path.basename(path)]
    if os.path.isdir(path):
        folder, names = path, prose_files(path)
    documents: list[NamedDocument] = []
    files: dict[str, str] = {}  # by the name of their document
    places = defaultdict(list)
    for name in names:
        file, stem = os.path.join(folder, name), os.path.splitext(name)[0]
        if stem in files:
            what = f"{files[stem]} is called {quoted(stem)} too"
            raise InputError(f"{file}: {what} (rename one)")
        files[stem] = name
        document, found = read_prose(file, stem)
        for topic, start, end, _ in found:
            places[topic].append((len(documents), start, end))
        documents.append(document)
    if not documents:
        raise InputError(
            f"{path}: it holds no .md or .txt file (a folder of texts)"
        )
    shared = [topic for topic in places if len(places[topic]) > 1]
    warn(path, {"names that several sections share; any counts": shared})
    topics = {
        topic: RuledGold(topic, "section", tuple(places[topic]))
        for topic in places
    }
    return Data(documents, topics)


def corpus_py(path: str) -> Data:
    """Data of a file like corpus.py; a list is one document."""
    return corpus_rows(rows_py(path, "CORPUS", "topic", "text"), "", "corpus")


def corpus_jsonl(path: str) -> Data:
    """Data of a file whose lines are {"topic", "text"}, optionally "doc"."""
    return corpus_rows(read_jsonl(path, ["topic", "text", "doc"]), "\n")


CORPUS_READERS = {
    ".py": corpus_py,
    ".jsonl": corpus_jsonl,
    ".jsonl.gz": corpus_jsonl,
    ".json": corpus_jsonl,
    ".md": corpus_prose,
    ".txt": corpus_prose,
    "a directory": corpus_prose,
}


def read_corpus(path: str) -> Data:
    """Data without queries; the ending of the path tells the format.

    InputError for what is wrong in it, OSError where it cannot be found.
    """
    data = reader_for(path, CORPUS_READERS, "a corpus")(path)
    folded = {
        topic: unicodedata.normalize("NFKC", topic).casefold()
        for topic in data.topics
    }
    times = Counter(folded.values())
    alike = [topic for topic in folded if times[folded[topic]] > 1]
    warn(
        path,
        {
            "topics that differ only in capitals or full width, kept apart": (
                alike
            )
        },
    )
    return data


# ---- quotes: where they stand, though they be typed otherwise --------------
GAP = r"\s+"
# What rendered Markdown does not show: marks, a link's target; and characters
# without width.
UNSEEN = r"\]\([^()\n]*\)|!?\[|\]|[\s*_`~\\\u00ad\u200b-\u200f\u2060\ufeff]+"


def squeeze(text: str, gap: str = GAP) -> tuple[str, array]:
    """A text without its gaps, and the position of each character left."""
    positions = array("L")
    end = 0
    for found in re.finditer(gap, text):
        start, after = found.span()
        positions.extend(range(end, start))
        end = after
    positions.extend(range(end, len(text)))
    return "".join(re.split(gap, text)), positions


@lru_cache(maxsize=None)
def plain_twin(character: str) -> str:
    """The plain quote, dash or character of usual width that one looks like.

    Itself if it has no such twin.
    """
    if character in "‘’‚‛′":
        return "'"
    if character in "“”„‟″":
        return '"'
    if character == "−" or unicodedata.category(character) == "Pd":
        return "-"
    if unicodedata.decomposition(character).startswith(("<wide", "<narrow")):
        return unicodedata.normalize("NFKC", character)
    return character


def loosen(text: str) -> tuple[str, array]:
    """What `squeeze` gives, without all that a reader cannot see."""
    twins = {ord(character): plain_twin(character) for character in set(text)}
    return squeeze(text.translate(twins), UNSEEN)


def ignored(quote: str, passage: str) -> str:
    """What differs between a quote and the passage that `loosen` finds."""
    marks = [
        Counter(re.sub(r"\]\(.*?\)", "", text)) for text in (quote, passage)
    ]
    differing = (marks[0] - marks[1]) + (marks[1] - marks[0])
    named = []
    for mark in sorted(differing):
        is_twin = plain_twin(mark) != mark
        if is_twin or (re.fullmatch(UNSEEN, mark) and not mark.isspace()):
            shown = f"{mark} (U+{ord(mark):04X})"
            named.append(shown if mark.isprintable() else shown[3:-1])
    return ", ".join(named) or "a link's target"


def find_plain(
    wanted: str, plain: str, positions: array, near: int | None
) -> list[Slice]:
    """The slices of a text where a squeezed quote stands in it, squeezed too.

    With a position `near`, only the one nearest to it.
    """
    found: list[Slice] = []
    at = plain.find(wanted) if wanted else -1
    while at >= 0:
        last = at + len(wanted) - 1
        found.append((positions[at], positions[last] + 1))
        at = plain.find(wanted, at + 1)
    if near is None or not found:
        return found
    return [min(found, key=lambda piece: abs(piece[0] - near))]


def find_quote(
    quote: str, text: str, near: int | None, squeezed: Callable
) -> list[Slice]:
    """The slices of a text that are a quote, white space aside.

    With a position `near`, only the one nearest to it. squeezed(text) gives
    what `squeeze` gives.
    """
    if near is not None and near >= 0 and text.startswith(quote, near):
        return [(near, near + len(quote))]
    plain, positions = squeezed(text)
    return find_plain("".join(quote.split()), plain, positions, near)


class GoldFinder:
    """Finds golds in a corpus; notes what is odd about them."""

    SHORT, MANY = 10, 3  # characters, and places, of a doubtful quote

    def __init__(self, data: Data, note: Callable[[str, str], None]):
        self.documents, self.topics = data.documents, data.topics
        self.note = note  # note(what is odd, gold)
        self.squeezed = lru_cache(maxsize=None)(squeeze)
        self.loosened = lru_cache(maxsize=None)(loosen)
        self.sections = {  # by the words of their headings
            "".join(section.words.split()): section.topic
            for section in section_names(data)
        }

    def gold(
        self, name: str, near: int | None, within: Sequence[int]
    ) -> RuledGold:
        """The topic of a name, or the places where it is quoted from.

        With a position `near` in its file it is a quote, whatever the topics
        are called. There are no places where it stands nowhere.
        """
        if near is None and name in self.topics:
            return self.topics[name]
        places = self.exact_places(name, near, within)
        if not places and "<!--" in name:
            places = self.exact_places(without_comments(name), near, within)
        if not places:
            places = self.loose_places(name, near, within)
        if near is None and places:
            self.doubt(name, len(places))
        return RuledGold(name, "quote", tuple(places))

    def start_in(self, document: int, near: int | None) -> int | None:
        """Where a position in the file of a document is in its text."""
        if near is None:
            return None
        return moved(near, self.documents[document].cuts)

    def exact_places(
        self, quote: str, near: int | None, within: Sequence[int]
    ) -> list[Place]:
        """The places of a quote, white space aside."""
        places = []
        is_near = near is None
        for number in within:
            text = self.documents[number].text
            start = self.start_in(number, near)
            for piece in find_quote(quote, text, start, self.squeezed):
                places.append((number, *piece))
                is_near = is_near or piece[0] == start
        if places and not is_near:
            self.note("golds not at their start_index, found near it", quote)
        return places

    def loose_places(
        self, quote: str, near: int | None, within: Sequence[int]
    ) -> list[Place]:
        """The places of a quote, but for what cannot be seen."""
        wanted, _ = loosen(quote)
        places = []
        for number in within:
            text = self.documents[number].text
            start = self.start_in(number, near)
            plain, positions = self.loosened(text)
            for piece in find_plain(wanted, plain, positions, start):
                places.append((number, *piece))
        if places:
            number, start, end = places[0]
            passage = self.documents[number].text[start:end]
            self.note(f"golds found ignoring {ignored(quote, passage)}", quote)
        return places

    def doubt(self, quote: str, count: int) -> None:
        """Note what may be wrong with a quote that stands so many times."""
        words = "".join(quote.lstrip("#").split())
        if words in self.sections:
            what = "golds that quote a heading alone, not its section"
            self.note(what, self.sections[words])
        elif len(quote.strip()) < self.SHORT:
            what = f"golds of under {self.SHORT} characters, which may match "
            what += "by chance"
            self.note(what, quote)
        if count > self.MANY:
            what = f"golds that stand in more than {self.MANY} places, any of "
            what += "which counts"
            self.note(what, quote)


class SectionName(NamedTuple):
    """A section that a topic names."""

    document: int
    anchor: str  # what stands after the # of its topic
    words: str  # of its heading
    topic: str


def section_names(data: Data) -> list[SectionName]:
    """The names of all sections under headings."""
    names = []
    for topic, gold in data.topics.items():
        for number, start, _ in gold.places if gold.rule == "section" else ():
            document = data.documents[number]
            anchor = topic[len(document.name) + 1 :]
            if anchor:
                above = bisect_left(document.headings, (start + 1,)) - 1
                words = document.headings[above][1].rpartition(" > ")[2]
                names.append(SectionName(number, anchor, words, topic))
    return names


# ---- advice: what a gold that stands nowhere may mean ----------------------
def parting(gold: str, passage: str) -> str:
    """What a gold and a passage have where they part; "" if little is alike.

    It is looked for at the end of the longest piece that they share, or where
    that is the gold's, at its beginning.
    """
    from difflib import SequenceMatcher

    around = 16  # characters on either side
    matcher = SequenceMatcher(None, gold, passage, autojunk=False)
    ours, theirs, size = matcher.find_longest_match(
        0, len(gold), 0, len(passage)
    )
    if 2 * size < len(gold) or size < around:
        return ""
    if ours + size < len(gold):
        ours, theirs = ours + size, theirs + size
    mine, other = (
        quoted(f"...{text[max(0, at - around) : at + around]}...")
        for text, at in ((gold, ours), (passage, theirs))
    )
    return f"has {other} where this has {mine}"


class Scope(NamedTuple):
    """Where the golds of a query are looked for."""

    where: str  # of the query
    documents: Sequence[int]  # their numbers
    words: str  # how an error calls them


class MissingGold(NamedTuple):
    """A gold that is no topic, and no passage of where it was looked for."""

    name: str
    scope: Scope


class Advice:
    """What golds that stand nowhere may mean."""

    def __init__(self, data: Data, numbers: dict[str, list[int]]):
        self.data = data
        self.numbers = numbers  # of documents, by name
        self.sections = section_names(data)
        self.index = lru_cache(maxsize=None)(self.new_index)

    def fault(self, gold: MissingGold) -> str:
        """What an error says of a gold."""
        where, documents, words = gold.scope
        hint = self.nearest_section(gold.name, documents)
        if not hint and "#" not in gold.name:
            hint = nearest(gold.name, self.data.topics)
        hint = hint or self.nearest_passage(gold.name, documents)
        what = f"{quoted(gold.name)} is not a topic, and not found in"
        return f"{where}: {what} {words}{hint}"

    def anchors(self, documents: Sequence[int]) -> dict[str, str]:
        """{anchor, and title as an anchor: topic} of these documents."""
        topics = {}
        for number, anchor, title, topic in self.sections:
            if number in documents:
                topics[slug(title)] = topics[anchor] = topic
        return topics

    def nearest_section(self, gold: str, documents: Sequence[int]) -> str:
        """The hint of the section that a gold looks like, or nothing.

        After a # the nearest one is named, of the document that stands before
        it, or else one that is called so elsewhere; without a # it has to be
        the words of a heading.
        """
        from difflib import get_close_matches

        before, mark, words = gold.rpartition("#")
        if before.strip("#"):
            documents = self.numbers.get(before, ())
        topics = self.anchors(documents)
        wanted = slug(words.strip())
        longer = [name for name in topics if mark and wanted in name]
        near = sorted(longer, key=len) or get_close_matches(
            wanted, topics, 1, 0.01 if mark else 0.9
        )
        if not near:
            topics = self.anchors(range(len(self.data.documents)))
            near = list(topics.keys() & {wanted})
        if not near:
            return ""
        return f"; the nearest section is {quoted(topics[near[0]])}"

    def nearest_passage(self, gold: str, documents: Sequence[int]) -> str:
        """The hint of what in the documents a gold is most like."""
        size = 20
        while size < min(len(gold), 160):
            size *= 2
        passages, index = self.index(size, tuple(documents))
        for best in index.topk(gold, 1):
            passage = passages[best]
            return "; the nearest passage " + (
                parting(gold, passage) or "is " + quoted(passage, 80)
            )
        return " (a topic, or a passage as it stands there)"

    def new_index(
        self, size: int, documents: Sequence[int]
    ) -> tuple[list[str], MaxScore]:
        """Passages, each twice the size, that overlap; and their index."""
        passages = []
        for number in documents:
            text = self.data.documents[number].text
            for start, end in chunk_overlap(text, 2 * size, size):
                passages.append(text[start:end])
        return passages, MaxScore.of_tokens(map(quick_tokenize, passages))


# ---- queries: rows, and what they ask for ----------------------------------
QUERY_NAMES = ["query", "question"]
QUERY_KEYS = [*QUERY_NAMES, "gold", "doc", "references", "corpus_id"]
QUERY_KEYS += ["id", "category", "distractors"]


def open_csv(path: str) -> Any:
    """The csv.DictReader of a file; InputError where a column is missing.

    Commas, semicolons or tabs part the columns; their names are in any case.
    """
    import csv
    import io

    csv.field_size_limit(2**31 - 1)
    text = read_text(path).replace("\0", "")  # before 3.11, csv takes no NUL
    most: list[str] = []
    for delimiter in ",;\t":
        file = io.StringIO(text, newline="")
        rows = csv.DictReader(file, delimiter=delimiter)
        names = [name.strip().lower() for name in rows.fieldnames or ()]
        if {*QUERY_NAMES} & {*names} and {"gold", "references"} & {*names}:
            rows.fieldnames = names
            return rows
        most = max(most, names, key=len)
    given = " and ".join(map(quoted, most)) or "none"
    right = "it needs query or question, and gold or references"
    raise InputError(f"{path}:1: its columns are {given} ({right})")


def queries_csv(path: str) -> Iterator[tuple[str, Any]]:
    """(FILE:LINE, {column: value}) of each row that is not blank.

    An InputError stands for a row that cannot be read.
    """
    rows = open_csv(path)
    for row in rows:
        where = f"{path}:{rows.line_num}"
        cells = chain.from_iterable(filter(None, row.values()))
        if is_blank("".join(cells)):
            continue
        if None in row:
            what = "it has more cells than the header"
            right = "put a cell that holds a separator in quotes"
            yield where, InputError(f"{where}: {what} ({right})")
        else:
            yield where, read_cells(row, where)


def read_cells(row: dict, where: str) -> dict | InputError:
    """The cells of a row, but for empty ones, lists read from their JSON.

    The query stays though it be empty: then it is still to be written.
    """
    cells: dict[str, Any] = {}
    for column, cell in row.items():
        if cell or (cell == "" and column in QUERY_NAMES):
            cells[column] = cell
    for column in ("gold", "references", "distractors"):
        cell = cells.get(column, "")
        if re.fullmatch(r"(?s)\s*\[.*\]\s*", cell):
            try:
                cells[column] = parse_json(cell, where)
            except InputError as error:
                return error
    return cells


def queries_jsonl(path: str) -> Iterable[tuple[str, Any]]:
    """The rows of a file of {"query", "gold"} lines."""
    return read_jsonl(path, QUERY_KEYS)


def queries_py(path: str) -> Iterable[tuple[str, Any]]:
    """The rows of a file like queries.py."""
    return rows_py(path, "QUERIES", "gold", "query")


def names_in(row: dict, where: str, key: str) -> list[str]:
    """The golds that a row names under a key: one, or a list."""
    found = field(row, where, [key], GOLDS)
    named = [found] if isinstance(found, str) else found
    return [field({key: name}, where, [key]) for name in named]


def golds_of_row(row: dict, where: str) -> list[tuple[str, int | None]]:
    """The golds that a row names; an empty list if nothing answers it.

    (topic or quote, None) of "gold", (quote, position) of "references".
    """
    references = optional_field(row, where, ["references"], REFERENCES)
    if references or (references is not None and "gold" not in row):
        return [
            (
                field(item, where, ["content"]),
                field(item, where, ["start_index"], NUMBER),
            )
            for item in references
        ]
    names = names_in(row, where, "gold")
    if not names and isinstance(row["gold"], tuple):  # forgotten, in Python
        missing = f'"gold" is missing in {quoted(row)}'
        raise InputError(f"{where}: {missing} ({GOLDS.right})")
    return [(name, None) for name in names]


class QueryBuilder:
    """Makes questions of rows; collects faults, and what is odd."""

    def __init__(self, data: Data):
        self.data = data
        self.faults: list[str | MissingGold] = []
        self.odd: dict[str, list[str]] = defaultdict(list)
        self.skipped: Counter[str] = Counter()  # by why
        self.ids: dict[str, str] = {}  # where each id is given
        self.found = 0  # golds that stand somewhere
        self.finder = GoldFinder(data, self.note)
        self.numbers: dict[str, list[int]] = defaultdict(list)
        for number, document in enumerate(data.documents):
            short_name = document.name.rpartition("/")[2]
            self.numbers[short_name].append(number)
        for number, document in enumerate(data.documents):
            self.numbers[document.name] = [number]  # goes before short names

    def note(self, what: str, name: str) -> None:
        """Remember an oddity, to be warned of once all queries are read."""
        self.odd[what].append(name)

    def questions(self, rows: Iterable[tuple[str, Any]]) -> list[Question]:
        """The Questions of rows (WHERE, row), but for those skipped."""
        found = []
        for where, row in rows:
            try:
                question = self.question(where, row)
            except InputError as error:
                self.faults += error.args
                continue
            if question:
                found.append(question)
        return found

    def question(self, where: str, row: Any) -> Question | None:
        """The Question of a row, or None if it is skipped.

        InputError for what is wrong with it.
        """
        text = field(row, where, QUERY_NAMES, ANY_TEXT)
        name = optional_field(row, where, ["id"], ID)
        if name is not None:
            where = self.where_named(str(name), where)
        named = golds_of_row(row, where)
        if is_blank(text):
            self.skip("without a text yet", [gold for gold, _ in named])
            return None
        if not named:
            self.skip("without a gold (unanswerable)", [text])
            return None
        if not quick_tokenize(text):
            what = f"the query {quoted(text)} has no token"
            raise InputError(
                f"{where}: {what} (a text with letters or digits)"
            )
        scope = self.scope(row, where)
        golds = self.golds(named, scope)
        return Question(
            text,
            golds,
            "" if name is None else str(name),
            optional_field(row, where, ["category"]) or "",
            self.distractors(row, golds, scope),
        )

    def where_named(self, name: str, where: str) -> str:
        """How errors call a query of this id; InputError for its second."""
        if name in self.ids:
            what = f"{self.ids[name]} has the id {quoted(name)} too"
            raise InputError(f"{where}: {what} (an id of its own)")
        self.ids[name] = where
        return f"{where}, query {quoted(name)}"

    def skip(self, why: str, texts: list[str]) -> None:
        """Note that a query is skipped; texts: what tells it from others."""
        self.skipped[why] += 1
        self.note(f"queries {why}, skipped", " and ".join(texts))

    def scope(self, row: dict, where: str) -> Scope:
        """Where the golds of a row are looked for."""
        name = optional_field(row, where, ["corpus_id", "doc"])
        if name is None:
            return Scope(where, range(len(self.data.documents)), "the corpus")
        return Scope(where, self.called(name, where), quoted(name))

    def called(self, name: str, where: str) -> list[int]:
        """The number of the one document of a name, with its path or not."""
        found = self.numbers.get(name, [])
        if len(found) > 1:
            names = [self.data.documents[number].name for number in found]
            what = f"{len(found)} documents are called {quoted(name)}"
            right = "one of these: " + ", ".join(map(quoted, names[:3]))
            raise InputError(f"{where}: {what} ({right})")
        if not found:
            what = f"no document is called {quoted(name)}"
            raise InputError(f"{where}: {what}{self.nearest_document(name)}")
        return found

    def nearest_document(self, name: str) -> str:
        """The hint of what a document may be called instead."""
        stem = os.path.splitext(name)[0]
        if stem in self.numbers:
            return f"; the nearest is {quoted(stem)}"
        some = next(iter(self.numbers))
        return nearest(name, self.numbers) or (
            f" (such as {quoted(some)}; --check lists them)"
        )

    def golds(
        self, named: Iterable[tuple[str, int | None]], scope: Scope
    ) -> tuple[RuledGold, ...]:
        """The golds of these names, each once; what is missing is a fault."""
        golds: dict[tuple, RuledGold] = {}
        for name, near in named:
            gold = self.finder.gold(name, near, scope.documents)
            if gold.places:
                self.found += 1
            else:
                self.faults.append(MissingGold(name, scope))
            key = gold.rule, gold.places
            if key in golds:
                what = "golds that the same query names twice, counted once"
                self.note(what, name)
            golds.setdefault(key, gold)
        return tuple(golds.values())

    def distractors(
        self, row: dict, golds: tuple[RuledGold, ...], scope: Scope
    ) -> tuple[RuledGold, ...]:
        """What should not arrive for a row's query.

        InputError for what should arrive as well.
        """
        if optional_field(row, scope.where, ["distractors"], GOLDS) is None:
            return ()
        names = names_in(row, scope.where, "distractors")
        found = self.golds([(name, None) for name in names], scope)
        wanted = [gold.places for gold in golds if gold.places]
        for distractor in found:
            if distractor.places in wanted:
                what = f"{quoted(distractor.name)} is a gold and a distractor"
                raise InputError(f"{scope.where}: {what} (one or the other)")
        return found

    def all_faults(self, path: str) -> list[str | MissingGold]:
        """All faults; but one for all golds, if none of several is found."""
        texts = [fault for fault in self.faults if isinstance(fault, str)]
        missing = len(self.faults) - len(texts)
        if missing < 2 or self.found:
            return self.faults
        what = f"none of its {missing} golds is in the corpus"
        right = "quotes of this --corpus, or names of its topics"
        return [f"{path}: {what} ({right})", *texts]

    def refuse_faults(self, path: str) -> None:
        """Raise the InputError of all faults, if there are."""
        faults = self.all_faults(path)
        if not faults:
            return
        advice = Advice(self.data, self.numbers)
        told = [
            fault if isinstance(fault, str) else advice.fault(fault)
            for fault in faults[:MOST_FAULTS]
        ]
        more = len(faults) - len(told)
        if more:
            what = f"and {plural(more, 'more fault')}"
            told.append(f"{path}: {what} (mend those above first)")
        raise InputError(*told)

    def refuse_none(self, path: str) -> None:
        """Raise the InputError of a file of which no query is left."""
        skipped = sum(self.skipped.values())
        what = "it holds no query"
        right = "at least one"
        if skipped:
            whys = [f"{n} {why}" for why, n in self.skipped.items()]
            what = f"no query can be asked: {', '.join(whys)}"
            right = "write at least one, with its text and its gold"
        raise InputError(f"{path}: {what} ({right})")


QUERY_READERS = {
    ".py": queries_py,
    ".csv": queries_csv,
    ".tsv": queries_csv,
    ".jsonl": queries_jsonl,
    ".jsonl.gz": queries_jsonl,
    ".json": queries_jsonl,
}


def read_queries(path: str, data: Data) -> Data:
    """The data with the queries at a path; its ending tells the format.

    Each gold is a topic of the data, or a quote that stands in it. InputError
    for all that is wrong, OSError where the path cannot be found.
    """
    builder = QueryBuilder(data)
    rows_of = reader_for(path, QUERY_READERS, "queries")
    questions = builder.questions(rows_of(path))
    builder.refuse_faults(path)
    if not questions:
        builder.refuse_none(path)
    for text in repeated(questions):
        what = "queries asked more than once, counted each time"
        builder.note(what, text)
    warn(path, builder.odd)
    skipped = sum(builder.skipped.values())
    return data._replace(queries=questions, skipped=skipped)


def repeated(questions: Iterable[Question]) -> list[str]:
    """The texts of questions that are asked more than once."""
    by_text = defaultdict(list)
    for question in questions:
        by_text[question.text].append(question.golds)
    return [
        text for text, golds in by_text.items() if len(golds) > len(set(golds))
    ]


# ---- SQuAD: corpus and queries in one file ---------------------------------
class SquadQuestion(NamedTuple):
    """A question of the file."""

    where: str
    content: Any  # the object; nothing of it is checked yet
    context_where: str  # the WHERE of its context


def squad_contents(
    articles: list, path: str
) -> tuple[list[tuple[str, list]], list[SquadQuestion]]:
    """[(title, [(WHERE, context)])] of the articles, and their questions."""
    contents, asked = [], []
    for a, article in enumerate(articles):
        at = f"{path}: data[{a}]"
        contexts: list[tuple[str, str]] = []
        for p, part in enumerate(field(article, at, ["paragraphs"], LIST)):
            where = f"{at}.paragraphs[{p}]"
            contexts.append((where, field(part, where, ["context"])))
            for q, content in enumerate(field(part, where, ["qas"], LIST)):
                asked.append(
                    SquadQuestion(f"{where}.qas[{q}]", content, where)
                )
        if contexts:
            title = str(article.get("title") or "").strip()
            contents.append((title or f"article {a + 1}", contexts))
    return contents, asked


class SquadReader:
    """Makes queries of SQuAD's questions; collects what is odd."""

    def __init__(self, data: Data):
        self.documents = data.documents
        self.contexts = data.topics  # by their WHERE
        self.odd: dict[str, list[str]] = defaultdict(list)
        self.squeezed = lru_cache(maxsize=None)(squeeze)

    def query(self, asked: SquadQuestion) -> Question | None:
        """A question to be asked, or None if it has no usable answer."""
        where, content, _ = asked
        text = ""
        if not (
            isinstance(content, dict) and is_blank(content.get("question"))
        ):
            text = field(content, where, ["question"])
        answers = []
        if not content.get("is_impossible"):
            answers = field(content, where, ["answers"], LIST)
        places = self.places(answers, asked)
        query = None
        if places:
            first = next(iter(places.values()))
            query = Question(text, (RuledGold(first, "quote", tuple(places)),))
        else:
            why = "all answers dropped" if answers else "unanswerable"
            self.odd[f"questions skipped, {why}"].append(text)
        if not tokenize(text):
            what = "questions without a token, which can find nothing"
            self.odd[what].append(text)
        return query

    def places(self, answers: list, asked: SquadQuestion) -> dict[tuple, str]:
        """{place: answer}, each answer where it stands in its context.

        One that does not stand at its answer_start is looked for nearest to
        it; one that stands nowhere is dropped.
        """
        number, left, right = self.contexts[asked.context_where].places[0]
        context = self.documents[number].text[left:right]
        places = {}
        for answer in answers:
            quote = field(answer, asked.where, ["text"])
            start = field(answer, asked.where, ["answer_start"], NUMBER)
            found = find_quote(quote, context, start, self.squeezed)
            for begin, end in found:
                places[number, left + begin, left + end] = quote
            if not found:
                what = "answers that stand nowhere in their context, dropped"
                self.odd[what].append(quote)
            elif found[0][0] != start:
                what = "answers not at their answer_start, found near it"
                self.odd[what].append(quote)
        return places


def read_squad(path: str) -> Data:
    """The articles and questions of a file in SQuAD's JSON.

    Articles are documents, contexts paragraphs, answers quotes. What cannot
    be used is skipped, counted and warned of. InputError for what is wrong.
    """
    articles = field(parse_json(read_text(path), path), path, ["data"], LIST)
    contents, asked = squad_contents(articles, path)
    data = assemble(contents, "\n")
    reader = SquadReader(data)
    found = [reader.query(question) for question in asked]
    queries = [query for query in found if query is not None]
    warn(path, reader.odd)
    if not queries:
        what = "no question has an answer that stands in its context"
        raise InputError(f"{path}: {what} (at least one)")
    documents = [
        document._replace(headings=[(0, document.name)])
        for document in data.documents
    ]
    return Data(documents, {}, queries, len(asked) - len(queries))


# ---- BEIR: corpus, queries and relevance in one folder ---------------------
def beir_documents(path: str) -> list[NamedDocument]:
    """The documents of a corpus.jsonl, called by their "_id".

    A title and a newline precede the text.
    """
    documents: dict[str, NamedDocument] = {}
    for where, row in read_jsonl(path, ["_id", "title", "text", "metadata"]):
        name = str(field(row, where, ["_id"], ID))
        if name in documents:
            what = f"an earlier document has the _id {quoted(name)} too"
            raise InputError(f"{where}: {what} (an _id of its own)")
        text = field(row, where, ["text"], ANY_TEXT)
        title = optional_field(row, where, ["title"], ANY_TEXT) or ""
        headings = []
        if not is_blank(title):
            text = f"{title}\n{text}"
            headings = [(0, title)]
        paragraphs = blocks(scan(text))
        documents[name] = NamedDocument(name, text, paragraphs, headings)
    return list(documents.values())


def qrels_path(folder: str) -> str:
    """The test.tsv in a folder, or its only .tsv file."""
    names = [name for name in os.listdir(folder) if name.endswith(".tsv")]
    if "test.tsv" in names:
        names = ["test.tsv"]
    if len(names) != 1:
        what = f"there are {len(names)} .tsv files, and none is test.tsv"
        raise InputError(f"{folder}: {what} (one test.tsv, or one file)")
    return os.path.join(folder, names[0])


def read_qrels(path: str) -> dict[str, list[str]]:
    """{query id: the ids of documents of a relevance over 0}."""
    relevant = defaultdict(list)
    for number, line in enumerate(read_text(path).split("\n"), 1):
        cells = line.strip().split("\t")
        if cells == [""] or (number == 1 and cells[2:] == ["score"]):
            continue
        if len(cells) != 3 or not re.fullmatch(r"-?\d+(\.0*)?", cells[2]):
            right = "query id, tab, document id, tab, a whole number"
            what = f"{quoted(line)} is not a row"
            raise InputError(f"{path}:{number}: {what} ({right})")
        query, document, relevance = cells
        if float(relevance) > 0:
            relevant[query].append(document)
    return relevant


class BeirReader:
    """Makes questions of BEIR's queries; collects what is odd."""

    def __init__(
        self, documents: list[NamedDocument], relevant: dict[str, list[str]]
    ):
        self.documents, self.relevant = documents, relevant
        self.numbers = {doc.name: n for n, doc in enumerate(documents)}
        self.odd: dict[str, list[str]] = defaultdict(list)

    def question(self, where: str, row: Any) -> Question | None:
        """The Question of a row, or None if no document is relevant."""
        name = str(field(row, where, ["_id"], ID))
        text = field(row, where, ["text"])
        names = list(dict.fromkeys(self.relevant.pop(name, ())))
        places = tuple(filter(None, map(self.place, names)))
        if not places:
            self.odd["queries without a relevant document, skipped"].append(
                text
            )
            return None
        if not quick_tokenize(text):
            what = "queries without a token, which can find nothing"
            self.odd[what].append(text)
        label = self.documents[places[0][0]].name
        if len(places) > 1:
            label += f" or {plural(len(places) - 1, 'other')}"
        return Question(text, (RuledGold(label, "section", places),), name)

    def place(self, name: str) -> Place | None:
        """The place of a document, whole; None if there is nothing of it."""
        number = self.numbers.get(name)
        if number is not None and self.documents[number].text:
            return number, 0, len(self.documents[number].text)
        what = "relevant documents missing or empty in corpus.jsonl"
        self.odd[what].append(name)
        return None


def read_beir(folder: str) -> Data:
    """The corpus and queries of a folder of BEIR's.

    The gold of a query is the whole of any document that is relevant. What
    cannot be used is skipped, counted and warned of. InputError for what is
    wrong, OSError where there is no qrels folder.
    """
    documents = beir_documents(os.path.join(folder, "corpus.jsonl"))
    path = os.path.join(folder, "queries.jsonl")
    rows = read_jsonl(path, ["_id", "text", "metadata"])
    relevant = read_qrels(qrels_path(os.path.join(folder, "qrels")))
    reader = BeirReader(documents, relevant)
    found = [reader.question(where, row) for where, row in rows]
    questions = [question for question in found if question is not None]
    what = "queries of the qrels that queries.jsonl lacks"
    reader.odd[what] = list(reader.relevant)
    warn(folder, reader.odd)
    if not questions:
        what = "no query has a relevant document in corpus.jsonl"
        right = "a row of qrels with an id of each file and a score over 0"
        raise InputError(f"{path}: {what} ({right})")
    return Data(documents, {}, questions, len(found) - len(questions))


# ---- the user's own: module.function ---------------------------------------
def find_function(name: str) -> Any:
    """What module.function names: installed, or in the working directory.

    InputError for what goes wrong when it is imported.
    """
    from importlib import import_module

    module, _, function = name.rpartition(".")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    with errors_named(name, "module.function, importable from here"):
        found = import_module(module)
        if not hasattr(found, function):
            hint = nearest(function, dir(found))
            raise ResultError(f"{module} has no {quoted(function)}{hint}")
        return getattr(found, function)


def find_own(what: str, name: str, ours: Iterable[str]) -> Any:
    """The user's function of a name that is none of ours.

    InputError, with the nearest of ours, for a name without a dot.
    """
    if "." not in name:
        hint = nearest(name, ours)
        right = ", ".join([*ours, "or module.function"])
        message = f"there is no such {what}{hint} ({right})"
        raise InputError(f"{what} {quoted(name)}: {message}")
    return find_function(name)


def own_chunks(
    name: str, function: Callable, document: NamedDocument
) -> list[Slice]:
    """The slices that the user's function makes of a document, sorted.

    It takes the text and gives (start, end) pairs, or strings, which are
    placed in order. InputError for what it raises, or gives and should not.
    """
    text = document.text
    right = "chunks as strings, in the order of the text, or as "
    right += "(start, end) pairs"
    placer = Placer(document)
    with errors_named(name, right):
        found = function(text) if text else []
        if isinstance(found, str):
            raise ResultError("it gave one string, not a list")
        slices = placer.slices(found)
    if placer.is_unsure:
        what = "strings that occur more than once were placed by their "
        what += "order (give (start, end) pairs to be exact)"
        warn_once(name, what)
    return sorted(piece for piece in slices if text[slice(*piece)].strip())


class OwnString(NamedTuple):
    """A string that a user's chunker gave, and which of its chunks it is."""

    number: int  # from 1
    text: str
    plain: str  # without white space


class Placer:
    """Finds the slices of what a user's chunker gave of a document.

    Strings are placed in order, white space aside. Where one could stand in
    several places it goes as far on as leaves no gap after the one before,
    and leaves room for all that follow.
    """

    def __init__(self, document: NamedDocument):
        self.document = document
        self.plain, self.positions = squeeze(document.text)
        self.is_unsure = False  # whether a string could stand elsewhere

    def slices(self, pieces: Iterable) -> list[Slice]:
        """The slices of strings and of pairs; ResultError for what is none.

        A blank string has none.
        """
        strings, slices = [], []
        for number, piece in enumerate(pieces, 1):
            if not isinstance(piece, str):
                slices.append(self.slice_of_pair(number, piece))
            elif piece.strip():
                plain = "".join(piece.split())
                strings.append(OwnString(number, piece, plain))
        for string, begin in zip(strings, self.places(strings)):
            last = begin + len(string.plain) - 1
            slices.append((self.positions[begin], self.positions[last] + 1))
        return slices

    def slice_of_pair(self, number: int, piece: Any) -> Slice:
        """The slice that a (start, end) pair is."""
        start = end = -1
        if isinstance(piece, (list, tuple)):
            start, end = map(as_index, piece)
        length = len(self.document.text)
        if not 0 <= start <= end <= length:
            which = f"chunk {number} of {quoted(self.document.name)}"
            raise ResultError(
                f"{which} is {piece!r}, but the text has {length} characters"
            )
        return start, end

    def places(self, strings: list[OwnString]) -> list[int]:
        """Where each string begins in the text without its white space."""
        first, last = self.first_places(strings), self.last_places(strings)
        joined = "".join(string.plain for string in strings)
        self.is_unsure = first != last and joined != self.plain
        places, begin, end = [], -1, 0
        for string, limit in zip(strings, last):
            plain, least = string.plain, begin + 1
            begin = self.plain.rfind(
                plain, least, min(end, limit) + len(plain)
            )
            if begin < 0:
                begin = self.plain.find(plain, least)
            end = begin + len(plain)
            places.append(begin)
        return places

    def first_places(self, strings: list[OwnString]) -> list[int]:
        """The first place of each string after that of the one before."""
        places, begin = [], -1
        for number, text, plain in strings:
            begin = self.plain.find(plain, begin + 1)
            if begin < 0:
                what = "does not occur in"
                if plain in self.plain:
                    what = "does not follow the one before in"
                name = quoted(self.document.name)
                raise ResultError(
                    f"chunk {number}, {quoted(text)}, {what} {name}"
                )
            places.append(begin)
        return places

    def last_places(self, strings: list[OwnString]) -> list[int]:
        """The last place of each string before that of the one after."""
        places, begin = [], len(self.plain)
        for _, _, plain in reversed(strings):
            begin = self.plain.rfind(plain, 0, begin - 1 + len(plain))
            places.append(begin)
        return places[::-1]


def takes_slices(factory: Callable) -> bool:
    """Whether a maker of retrievers has a second parameter, and no default.

    It gets what late chunking needs: for each text the slice that it is.
    """
    from inspect import Parameter, signature

    try:
        parameters = list(signature(factory).parameters.values())
    except (TypeError, ValueError):  # of what is not written in Python
        return False
    named = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    needed = [
        each
        for each in parameters
        if each.kind in named and each.default is Parameter.empty
    ]
    return len(needed) > 1


class OwnRetriever:
    """The retriever that the user's factory makes, its answers checked.

    slices: for each text the (document's text, start, end) that it is of.
    """

    RIGHT = "an object made from texts, whose topk(query, k) gives numbers "
    RIGHT += "of texts, from 0, best first"

    def __init__(
        self,
        name: str,
        factory: Callable,
        texts: list[str],
        slices: list[tuple[str, int, int]],
    ):
        self.name, self.count = name, len(texts)
        with errors_named(name, self.RIGHT):
            if takes_slices(factory):
                self.made = factory(texts, slices)
            else:
                self.made = factory(texts)
            if not hasattr(self.made, "topk"):
                raise ResultError(f"it gave {self.made!r}, without topk")
        if hasattr(self.made, "scores"):
            self.scores = self.checked_scores

    def topk(self, query: str, k: int) -> list[int]:
        """What the user's topk gives; InputError if it is no text's number."""
        with errors_named(self.name, self.RIGHT):
            found = [as_index(n) for n in self.made.topk(query, k)]
            for number in found:
                if not 0 <= number < self.count:
                    texts = plural(self.count, "text")
                    raise ResultError(f"topk gave {number}, of {texts}")
        return found

    def checked_scores(self, query: str) -> list[float]:
        """The score of each text, which --explain shows if there is one."""
        with errors_named(
            self.name, "scores(query) gives a number for each text"
        ):
            found = self.made.scores(query)
            return [float(found[number]) for number in range(self.count)]


def count_tokens(name: str, text: str) -> int:
    """How many tokens the user's module.function counts in a text."""
    with errors_named(name, "it takes a text and gives a whole number from 0"):
        found = find_function(name)(text)
        if not hasattr(found, "__index__") or found < 0:
            raise ResultError(f"it gave {found!r}")
        return as_index(found)


# ---- sizes: what fits in a chunk, in characters or in tokens ---------------
SPACE = re.compile(r"\s*")
JOINER = "\u200d"  # joins emoji, and letters of Indian scripts
SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
FEW = 16  # characters that a cut may move, for a grapheme's sake


def after_space(text: str, position: int) -> int:
    """The position after the white space, if any, that begins at one."""
    space = SPACE.match(text, position)
    return space.end() if space else position


def characters(text: str, start: int, end: int) -> int:
    """The characters of a slice; a line end of Windows counts as one."""
    return end - start - text.count("\r\n", start, end)


def farthest(holds: Callable[[int], bool], most: int, guess: int) -> int:
    """The last number up to `most` that holds, if all before it do, or 0.

    It is found by doubling a guess, and then by halving.
    """
    low, high = 0, min(max(guess, 1), most)
    while holds(high):
        if high == most:
            return most
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


class Ruler(NamedTuple):
    """What fits in a chunk of a text, in characters or in tokens.

    A longer slice is taken to measure as much or more.
    """

    text: str
    measure: Callable[[int, int], int]  # (start, end) -> its size
    size: int  # of a chunk, at most
    overlap: int = 0  # of what it repeats

    def fits(self, start: int, end: int) -> bool:
        """Whether a slice fits; white space at its end does not count."""
        end = start + len(self.text[start:end].rstrip())
        return self.measure(start, end) <= self.size

    def longest(self, start: int, limit: int) -> int:
        """The last end, up to a limit, with which a slice fits."""
        return start + farthest(
            lambda count: self.measure(start, start + count) <= self.size,
            limit - start,
            self.size,
        )

    def reach(self, start: int, limit: int) -> int:
        """What `longest` gives, with the white space after it."""
        return after_space(self.text, self.longest(start, limit))

    def tail(self, least: int, start: int, kept: int) -> int:
        """Where the overlap before `start` begins, from `least` on.

        It is the longest that leaves room for what is kept whole, up to
        `kept`.
        """
        if not self.overlap:
            return start
        return start - farthest(
            lambda count: (
                self.measure(start - count, start) <= self.overlap
                and self.fits(start - count, kept)
            ),
            start - least,
            self.overlap,
        )


def ruler_of(
    document: NamedDocument,
    tokens: Callable | None,
    size: int,
    overlap: int = 0,
) -> Ruler:
    """The Ruler of a document; ValueError for an overlap not under the size.

    tokens(start, end) counts those of a slice; without it the sizes are in
    characters.
    """
    check_overlap(size, overlap)
    measure = tokens or partial(characters, document.text)
    return Ruler(document.text, measure, size, overlap)


def is_torn(text: str, position: int) -> bool:
    """Whether a cut here would tear a letter from its mark, or an emoji."""
    before = text[max(position - 1, 0) : position]
    after = text[position : position + 1]
    if not before or not after or before in "\r\n":
        return before + after == "\r\n"
    if JOINER in (before, after) or after in SKIN_TONES:
        return True
    return letter_class(after) == "m"


def whole_graphemes(text: str, position: int, limit: int) -> int:
    """The position, moved towards a limit to where it tears no grapheme.

    It stays where it is if that takes more than a few characters.
    """
    step = 1 if position < limit else -1
    for moved in range(position, limit + step, step)[:FEW]:
        if not is_torn(text, moved):
            return moved
    return position


# ---- more chunkers ---------------------------------------------------------
# Each takes a document, what counts the tokens of a slice of it (None where
# sizes are in characters), and the numbers of its strategy.
BRACKETS = r"[”’」』）】》〉〕］｝»)\]]*"
CLOSING = rf"""{BRACKETS}(?:(?:"'?|'"?){BRACKETS})?"""
ENDS = (
    "。！？；…｡"
    r"\u0964\u0965"  # dandas of Indian scripts
    r"\u06d4\u061f"  # full stop and question mark of Arabic scripts
    r"\u1362\u1367"  # those of Ethiopic
    r"\u104b\u17d4\u17d5"  # full stops of Myanmar and Khmer
)
CJK = (
    r"[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
SHORT_FORMS = "Dr Mr Mrs Ms Prof Rev St Fig Figs fig figs Eq Eqs Vol vs cf"
NO_SHORT_FORM = "".join(rf"(?<!\b{form}\.)" for form in SHORT_FORMS.split())
OUTSIDE_TITLE = r"(?![^《》\n]{0,50}》)"
SENTENCE_END = (
    rf"(?:(?:[{ENDS}]|．(?!\d))[{ENDS}．]*{OUTSIDE_TITLE}{CLOSING}"
    # Without a space after Han, Kana and Hangul, but not in 图.png.
    rf"|(?:[!?;]|\.(?![0-9A-Za-z]))(?<={CJK}.)[!?;.]*{OUTSIDE_TITLE}{CLOSING}"
    # Not after another mark, or a letter between two stops: e.g., U.S.
    rf"|[.!?](?<![.!?].)(?<!\.[^\W\d_]\.){NO_SHORT_FORM}"
    rf"[.!?]*{OUTSIDE_TITLE}{CLOSING}(?=\s|\Z))"
)
SENTENCE = rf"(?:{SENTENCE_END}|\n)\s*"
LIST_NUMBER = re.compile(r"\s*(?:[#>*+-]+\s+)*\d{1,3}(?:\.\d+)*[.．)]\s*")
SEPARATORS = {  # the coarsest first
    "blank line": r"\n\s*\n\s*",
    "newline": r"\n\s*",
    "sentence end": SENTENCE,
    "comma": r"[，、,]\s*",
    "space": r"\s+",
}


def chunk_windows(
    document: NamedDocument,
    tokens: Callable | None,
    size: int,
    overlap: int = 0,
) -> list[Slice]:
    """Windows of a size, each sharing the overlap with the next."""
    text = document.text
    if tokens is None:
        return chunk_overlap(text, size, overlap)
    ruler = ruler_of(document, tokens, size, overlap)
    return windows(ruler, (0, len(text)))


def windows(ruler: Ruler, piece: Slice) -> list[Slice]:
    """Windows of a slice, as long as they fit; none is only white space."""
    start, end = piece
    found = []
    begin = start
    while start < end:
        stop = max(ruler.longest(begin, end), start + 1)
        if ruler.text[begin:stop].strip():
            found.append((begin, stop))
        begin = ruler.tail(begin + 1, stop, stop + 1)
        start = stop
    return found


def chunk_paragraphs(
    document: NamedDocument, tokens: Callable | None, limit: int
) -> list[Slice]:
    """Whole paragraphs, joined while they fit; a longer one stays whole."""
    if tokens is None:
        return chunk_para(document.paragraphs, limit)
    return join_pieces(ruler_of(document, tokens, limit), document.paragraphs)


def join_pieces(ruler: Ruler, pieces: Sequence[Slice]) -> list[Slice]:
    """Pieces joined while they fit; a longer one stays whole."""
    ends = [end for _, end in pieces]
    joined = []
    first = 0
    while first < len(pieces):
        start = pieces[first][0]
        after = bisect_right(ends, ruler.reach(start, ends[-1]))
        after = max(after, first + 1)
        joined.append((start, ends[after - 1]))
        first = after
    return joined


def chunk_parent(
    document: NamedDocument, tokens: Callable | None, size: int, limit: int
) -> list[tuple[Slice, Slice]]:
    """(child, parent) pairs: fixed:size within each chunk of para:limit.

    ValueError for children that are longer than their parents.
    """
    if limit < size:
        raise ValueError(
            f"children of {size} in parents of {limit} "
            f"(the children first: parent:{limit}/{size})"
        )
    pairs = []
    for start, end in chunk_paragraphs(document, tokens, limit):
        if tokens is None:
            found = chunk_fixed(document.text[start:end], size)
            children = [(start + left, start + right) for left, right in found]
        else:
            ruler = ruler_of(document, tokens, size)
            children = windows(ruler, (start, end))
        pairs += [(child, (start, end)) for child in children]
    return pairs


def split(pattern: str, text: str, piece: Slice, body: int = 0) -> list[Slice]:
    """A slice of a text, cut after each match of a pattern into slices.

    No cut parts what stands before `body` from what follows, nor a list
    number from its item, nor a grapheme.
    """
    start, end = piece
    cuts = [start]
    for match in re.compile(pattern).finditer(text, start, end):
        cut = match.end()
        is_number = LIST_NUMBER.fullmatch(text, cuts[-1], cut)
        if cut > body and not is_number and not is_torn(text, cut):
            cuts.append(cut)
    if cuts[-1] < end:
        cuts.append(end)
    return list(zip(cuts, cuts[1:]))


def pack(ruler: Ruler, groups: Iterable[list[Slice]]) -> list[Slice]:
    """Chunks of the neighbouring pieces of each group, joined while they fit.

    A piece over the size is cut at it. A chunk starts with the overlap, which
    gives way only to a piece that is kept whole.
    """
    chunks: list[Slice] = []
    for group in filter(None, groups):
        start = group[0][0]
        cuts = [start, *(end for _, end in group)]
        while start < cuts[-1]:
            least = chunks[-1][0] + 1 if chunks else start
            chunks.append(next_chunk(ruler, cuts, start, least))
            start = chunks[-1][1]
    text = ruler.text
    return [(start, end) for start, end in chunks if text[start:end].strip()]


def next_chunk(ruler: Ruler, cuts: list[int], start: int, least: int) -> Slice:
    """The chunk that goes on at `start`, its overlap from `least` on.

    It ends at the last of the cuts that it can reach, or between two.
    """
    kept = end_of_kept(ruler, cuts, start)
    tail = ruler.tail(least, start, kept)
    begin = whole_graphemes(ruler.text, tail, start)
    reach = max(ruler.reach(begin, cuts[-1]), kept)
    end = cuts[bisect_right(cuts, reach) - 1]
    if end <= start:
        end = whole_graphemes(ruler.text, reach, kept)
    return begin, end


def end_of_kept(ruler: Ruler, cuts: list[int], start: int) -> int:
    """The end of what is kept whole at `start`, between two of the cuts.

    That is a whole piece, if it fits, or else a grapheme or a character.
    """
    number = bisect_right(cuts, start)
    piece_end = cuts[number]
    if cuts[number - 1] == start and ruler.fits(start, piece_end):
        return piece_end
    end = whole_graphemes(ruler.text, start + 1, piece_end)
    return end if ruler.fits(start, end) else start + 1


def fitting_runs(
    ruler: Ruler, piece: Slice, separators: Sequence[str], body: int = 0
) -> Iterator[list[Slice]]:
    """Runs of neighbouring pieces that fit, as coarse as may be.

    What no separator can cut finely enough is a run too.
    """
    separator, *finer = separators
    pieces = split(separator, ruler.text, piece, body)
    for fits, run in groupby(pieces, lambda piece: ruler.fits(*piece)):
        if fits or not finer:
            yield list(run)
            continue
        for longer in run:
            yield from fitting_runs(ruler, longer, finer, body)


def cut_text(ruler: Ruler, piece: Slice, body: int = 0) -> list[Slice]:
    """A slice, cut at the coarsest of SEPARATORS that works.

    What stands before `body` keeps to what follows it.
    """
    separators = list(SEPARATORS.values())
    return pack(ruler, fitting_runs(ruler, piece, separators, body))


def chunk_sentence(
    document: NamedDocument,
    tokens: Callable | None,
    size: int,
    overlap: int = 0,
) -> list[Slice]:
    """Whole sentences, joined up to a size; a longer one is cut at it."""
    ruler = ruler_of(document, tokens, size, overlap)
    whole = (0, len(document.text))
    return pack(ruler, [split(SENTENCE, document.text, whole)])


def chunk_recursive(
    document: NamedDocument,
    tokens: Callable | None,
    size: int,
    overlap: int = 0,
) -> list[Slice]:
    """Cut at the coarsest of SEPARATORS that works, joined up to a size.

    A separator stays with the piece that it ends. After LangChain's
    RecursiveCharacterTextSplitter.
    """
    ruler = ruler_of(document, tokens, size, overlap)
    return cut_text(ruler, (0, len(document.text)))


def likeness(one: set, other: set) -> float:
    """The cosine of two sets of characters, 0 to 1; 1 if either is empty."""
    if not one or not other:
        return 1.0
    return len(one & other) / sqrt(len(one) * len(other))


def chunk_semantic(
    document: NamedDocument,
    tokens: Callable | None,
    threshold: str,
    limit: int = 0,
) -> list[Slice]:
    """Cut between neighbouring sentences that are unlike, then at a limit.

    Unlike: their likeness is under a threshold, "0.45", or their distance, 1
    less the likeness, over a percentile of all distances, "p95". After
    LangChain's SemanticChunker. Without a limit chunks may be of any length.
    """
    text = document.text
    sentences = split(SENTENCE, text, (0, len(text)))
    sets = [
        set("".join(text[start:end].casefold().split()))
        for start, end in sentences
    ]
    distances = [1 - likeness(*pair) for pair in zip(sets, sets[1:])]
    bound = distance_bound(threshold, distances)
    groups: list[list[Slice]] = [[]]
    for sentence, distance in zip(sentences, [0.0, *distances]):
        if distance > bound + 1e-12:
            groups.append([])
        groups[-1].append(sentence)
    return pack(ruler_of(document, tokens, limit or len(text) + 1), groups)


def distance_bound(threshold: str, distances: list[float]) -> float:
    """The distance over which semantic cuts: for "0.45" it is 0.55."""
    if not threshold.startswith("p"):
        return 1 - float(threshold)
    ordered = sorted(distances) or [0.0]
    return ordered[(len(ordered) - 1) * int(threshold[1:]) // 100]


class Atom(NamedTuple):
    """What structure keeps together, without the white space after it.

    Headings, and then a fence, a table with its note, or a paragraph; either
    part may be missing.
    """

    start: int
    body: int  # where what follows the headings starts
    end: int
    is_whole: bool  # a fence or a table, which is never cut


def skip(lines: list[Line], number: int, *kinds: str) -> int:
    """The number of the first line, from this one on, of no such kind."""
    while number < len(lines) and lines[number].kind in kinds:
        number += 1
    return number


def kind_at(lines: list[Line], number: int) -> str:
    """The kind of a line, or "end" after the last."""
    return lines[number].kind if number < len(lines) else "end"


def end_of_body(ruler: Ruler, lines: list[Line], body: int) -> int:
    """The number of the line after the fence, table or paragraph at `body`.

    The text after a table is its note, if both fit.
    """
    kind = kind_at(lines, body)
    if kind == "fence":
        return body + 1
    if kind != "table":
        return skip(lines, body, *PROSE)
    after = skip(lines, body, "table")
    note = skip(lines, after, "blank")
    end = skip(lines, note, *PROSE)
    if ruler.fits(lines[body].start, lines[end - 1].end):
        return end
    return after


def atoms(ruler: Ruler) -> Iterator[Atom]:
    """The atoms of a Markdown text, in order."""
    # The lines of a text, and its atoms:
    #
    #     # One             heading  \  headings, and the
    #     Some text.        text     /  paragraph under them
    #                       blank
    #     | a | b |         table    \  a table, and the
    #     Note on it.       text     /  note after it
    text = ruler.text
    lines = scan(text)
    starts = [line.start for line in lines] + [len(text)]
    first = skip(lines, 0, "blank")
    while first < len(lines):
        body = first
        if lines[first].kind == "heading":
            body = skip(lines, first, "heading", "blank")
        after = end_of_body(ruler, lines, body)
        start = starts[first]
        end = start + len(text[start : starts[after]].rstrip())
        is_whole = kind_at(lines, body) in ("fence", "table")
        yield Atom(start, starts[body], end, is_whole)
        first = skip(lines, after, "blank")


def chunk_structure(
    document: NamedDocument,
    tokens: Callable | None,
    size: int,
    least: int = 0,
) -> list[Slice]:
    """A chunk for what stands under each Markdown heading.

    One under a least size joins the next. One over the size is cut by
    `recursive`, but never in a fence, in a table, before a note that fits
    with it, or after a heading that fits with some of what follows.
    """
    ruler = ruler_of(document, tokens, size)
    small = ruler._replace(size=least - 1)
    parts: list[list[Slice]] = []
    full = 0  # up to where the last part is small
    for atom in atoms(ruler):
        has_heading = atom.body > atom.start
        if not parts or (has_heading and atom.start > full):
            parts.append([])
            full = small.longest(atom.start, len(document.text))
        parts[-1] += pieces_of(ruler, atom)
    return [piece for part in parts for piece in join_pieces(ruler, part)]


def pieces_of(ruler: Ruler, atom: Atom) -> list[Slice]:
    """The pieces of an atom that fit, or are a fence or table that does not.

    Its headings give way before the size does.
    """
    start, body, end, is_whole = atom
    if ruler.fits(start, end) or (is_whole and not ruler.fits(body, end)):
        return [(start, end)]
    if is_whole:
        return [*cut_text(ruler, (start, body)), (body, end)]
    if body > start:
        body = after_space(ruler.text, body)
        if ruler.longest(start, end) > body:
            # Only the first piece makes room for the headings.
            first = cut_text(ruler, (start, end), body)[0]
            return [first, *cut_text(ruler, (first[1], end))]
    return cut_text(ruler, (start, end))


# ---- strategies: a chunker with its numbers --------------------------------
class Chunker(NamedTuple):
    """A chunker of ours, and how a strategy spells its numbers."""

    chunk: Callable  # (document, tokens, *numbers) -> slices; parent: pairs
    numbers: str  # a regular expression
    examples: str


WHOLE_NUMBER = r"[1-9]\d{0,8}"
SIZE = WHOLE_NUMBER + "t?"  # in tokens with a t
OVERLAP = r"\d{1,9}[t%]?"
THRESHOLD = r"(0?\.\d+|p\d\d?|p100)"
CHUNKERS = {
    "fixed": Chunker(chunk_windows, SIZE, "fixed:50, fixed:64t"),
    "overlap": Chunker(
        chunk_windows,
        f"{SIZE}/{OVERLAP}",
        "overlap:50/15, overlap:300/15%",
    ),
    "para": Chunker(chunk_paragraphs, SIZE, "para:90"),
    "sentence": Chunker(
        chunk_sentence, f"{SIZE}(/{OVERLAP})?", "sentence:300/45"
    ),
    "recursive": Chunker(
        chunk_recursive,
        f"{SIZE}(/{OVERLAP})?",
        "recursive:200, recursive:200/30",
    ),
    "semantic": Chunker(
        chunk_semantic,
        f"{THRESHOLD}(/{SIZE})?",
        "semantic:0.45, semantic:p95, semantic:p95/400",
    ),
    "structure": Chunker(
        chunk_structure,
        f"{SIZE}(/{OVERLAP})?",
        "structure:480, structure:480/40",
    ),
    "parent": Chunker(chunk_parent, f"{SIZE}/{SIZE}", "parent:50/180"),
}


def find_chunker(name: str) -> Callable:
    """The chunker of a name, as Chunker has it.

    InputError where there is none of ours, and no module.function.
    """
    if name in CHUNKERS:
        return CHUNKERS[name].chunk
    function = find_own("strategy", name, CHUNKERS)
    return lambda document, tokens: own_chunks(name, function, document)


def parse_numbers(numbers: str) -> list:
    """The numbers of a strategy; per cent are of the first, rounded down.

    "300t/15%" gives [300, 45]; what is neither stays a text: "p95".
    """
    parsed: list = []
    for number in filter(None, numbers.split("/")):
        size = number.rstrip("t")
        if size.isdigit():
            parsed.append(int(size))
        elif number.endswith("%"):
            parsed.append(parsed[0] * int(number[:-1]) // 100)
        else:
            parsed.append(number)
    return parsed


def units(numbers: str) -> set[str]:
    """The units of a strategy's sizes, "t" for tokens, "" for characters.

    Per cent and thresholds have none.
    """
    return set(re.findall(r"(?:^|/)\d+(t?)(?=/|$)", numbers))


def expand(specs: Iterable[str]) -> list[str]:
    """Specs with their lists multiplied out, each checked, each once.

    ["fixed:50,100"] gives ["fixed:50", "fixed:100"]. InputError for what is
    wrong with one.
    """
    found: dict[str, None] = {}
    for spec in specs:
        has_pairs = "," in spec and spec.count("/") > 1  # 200/40,400/80
        if spec.count(":") > 1 or has_pairs:
            what = f"strategy {quoted(spec)}: it names more than one strategy"
            raise InputError(f"{what} (an -s for each)")
        parts = [part.split(",") for part in re.split("([:/])", spec)]
        for choice in product(*parts):
            found["".join(choice)] = None
    for spec in found:
        check_spec(spec)
    return list(found)


def check_spec(spec: str) -> None:
    """InputError for a spec of no chunker, or with numbers it can't take."""
    name, _, numbers = spec.partition(":")
    find_chunker(name)
    if name in CHUNKERS:
        _, pattern, examples = CHUNKERS[name]
        is_spelled = bool(re.fullmatch(pattern, numbers, re.ASCII))
    else:
        examples, is_spelled = name, spec == name
    if not is_spelled:
        right = f"such as {examples}; sizes are whole numbers from 1, "
        right += "in characters, or in tokens with a t"
        what = "misspelt" if numbers else "its size is missing"
        raise InputError(f"strategy {quoted(spec)}: {what} ({right})")
    if len(units(numbers)) > 1:
        what = f"strategy {quoted(spec)}: it mixes tokens with characters"
        raise InputError(f"{what} (a t after both sizes, or after none)")
    try:
        plan(spec, [NamedDocument("", "", [])])
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"strategy {quoted(spec)}: {error}") from error


def chunk(
    spec: str, text: str, paragraphs: Sequence[Slice] | None = None
) -> list[Slice]:
    """The slices that any strategy makes of a text; of parent the searched.

    The paragraphs, slices too, are by default the blocks between blank lines.
    Sizes in tokens count what `tokenize` gives. InputError says what is wrong
    with the spec.
    """
    check_spec(spec)
    if paragraphs is None:
        paragraphs = blocks(scan(text))
    document = NamedDocument("", text, paragraphs)
    searched = plan(spec, [document]).searched
    return [(start, end) for _, start, end in searched]


# ---- windows: where the first of them starts -------------------------------
def shifted_windows(
    offset: int,
    document: NamedDocument,
    tokens: Callable | None,
    size: int,
    overlap: int = 0,
) -> list[Slice]:
    """What chunk_windows gives from an offset on, in the unit of the sizes.

    What stands before the first window is a chunk of its own.
    """
    ruler = ruler_of(document, tokens, size, overlap)
    text, end = ruler.text, len(ruler.text)
    first = min(offset, end)
    if tokens:
        first = ruler._replace(size=offset).longest(0, end)
    slices = [(0, first)] if text[:first].strip() else []
    if tokens:
        return slices + windows(ruler, (first, end))
    for left, right in chunk_overlap(text[first:], size, overlap):
        slices.append((first + left, first + right))
    return slices


def asked_size(strategy: str) -> int | None:
    """The size that a strategy asks of a chunk that is sent, if any."""
    name, _, spelled = strategy.partition(":")
    numbers = parse_numbers(spelled)
    if name in ("parent", "semantic"):
        numbers = numbers[1:]
    return numbers[0] if numbers else None


def window_offsets(strategy: str, count: int) -> list[int]:
    """Up to `count` offsets, spread evenly over a window's step, from 0.

    They are fewer where the step is shorter; of what makes no windows it is
    only 0.
    """
    name, _, spelled = strategy.partition(":")
    if name not in ("fixed", "overlap"):
        return [0]
    size, overlap = [*parse_numbers(spelled), 0][:2]
    step = size - overlap
    count = min(count, step)  # more would be the same again
    return sorted({number * step // count for number in range(count)})


# ---- places: lengths, in characters ----------------------------------------
def length(place: Place) -> int:
    """The characters of a place."""
    return place[2] - place[1]


def union_length(places: Iterable[tuple]) -> int:
    """How many characters stand in at least one of these places."""
    total = 0
    last, reach = -1, 0  # the document so far, and up to where it is counted
    for document, start, end in sorted(places):
        if document != last:
            last, reach = document, 0
        if end > reach:
            total += end - max(start, reach)
            reach = end
    return total


def common_length(places: Iterable[tuple], others: Sequence[tuple]) -> int:
    """How many characters two short lists of places have in common."""
    common = []
    for document, start, end in places:
        for other, left, right in others:
            if document == other and left < end and start < right:
                part = document, max(start, left), min(end, right)
                common.append(part)
    return union_length(common)


# ---- plan: what is searched, and what is sent for it -----------------------
class Plan(NamedTuple):
    """What a strategy makes of documents, as places.

    What is searched is what is sent, but for `parent`.
    """

    chunks: list[Place]  # what can be sent, each once
    searched: list[Place]  # what is indexed
    owner: list[int]  # for each searched place, its chunk's number in `chunks`
    most_slices: int  # the most searched places that share one chunk


def plan(
    strategy: str,
    documents: Sequence,
    count: Callable | None = None,
    offset: int = 0,
) -> Plan:
    """The Plan of a strategy for documents; ValueError for its numbers.

    Where sizes are in tokens, count(document number, start, end) counts those
    of a slice, by default as `tokenize` does. With an offset, which only
    windows can have, the first of them starts there in every document.
    """
    name, _, spelled = strategy.partition(":")
    chunker, numbers = find_chunker(name), parse_numbers(spelled)
    count = count or TokenStore(documents).count
    if offset:
        chunker = partial(shifted_windows, offset)
    searched, sent = [], []
    for number, document in enumerate(documents):
        tokens = partial(count, number) if "t" in spelled else None
        found = chunker(document, tokens, *numbers)
        if name != "parent":
            found = [(piece, piece) for piece in found]
        for child, parent in found:
            searched.append((number, *child))
            sent.append((number, *parent))
    chunks = list(dict.fromkeys(sent))
    number_of = {place: number for number, place in enumerate(chunks)}
    owner = [number_of[place] for place in sent]
    most_slices = max(Counter(owner).values(), default=1)
    return Plan(chunks, searched, owner, most_slices)


# ---- index: the texts searched, and the retrievers over them ---------------
ASCII_WORD = re.compile("[a-z0-9]+")
# NFKC is slow where it has something to rewrite, such as these marks.
FULL_WIDTH = "，：；！？（）"


def quick_tokenize(text: str) -> list[str]:
    """What `tokenize` gives, sooner for ASCII and for Chinese."""
    if text.isascii():
        return ASCII_WORD.findall(text.lower())
    for mark in FULL_WIDTH:
        text = text.replace(mark, " ")  # no token holds one
    return tokenize(text)


class TokenStore:
    """The tokens of slices of documents, each document tokenized once.

    A document is tokenized in pieces that no token crosses, nor anything that
    NFKC joins: each ends after white space or a mark. A slice takes the
    tokens of whole pieces as they are; what it cuts is tokenized on its own.
    """

    PIECE = re.compile(
        r"(?s).{24}[^\s，。、；：！？]*[\s，。、；：！？]*|.+\Z"
    )

    def __init__(self, documents: Sequence):
        self.documents = documents
        self.tokenized: dict[int, tuple[array, array, list[str]]] = {}
        self.one_object: dict[str, str] = {}  # for each token

    def pieces(self, number: int) -> tuple[array, array, list[str]]:
        """Of a document the ends of its pieces, and all its tokens.

        The ends are counted from 0, once in characters, once in tokens.
        """
        if number not in self.tokenized:
            ends, token_ends = array("L", [0]), array("L", [0])
            tokens: list[str] = []
            same = self.one_object.setdefault
            for piece in self.PIECE.finditer(self.documents[number].text):
                found = quick_tokenize(piece[0])
                tokens.extend(map(same, found, found))
                ends.append(piece.end())
                token_ends.append(len(tokens))
            self.tokenized[number] = ends, token_ends, tokens
            if len(self.tokenized) == len(self.documents):
                self.one_object.clear()  # nothing will ask it again
        return self.tokenized[number]

    def tokens(self, place: Place) -> list[str]:
        """What `tokenize` gives of the text of a place."""
        number, start, end = place
        text = self.documents[number].text
        ends, token_ends, tokens = self.pieces(number)
        first, last = bisect_left(ends, start), bisect_right(ends, end) - 1
        if last <= first:  # it holds no whole piece
            return quick_tokenize(text[start:end])
        head = quick_tokenize(text[start : ends[first]])
        tail = quick_tokenize(text[ends[last] : end])
        return head + tokens[token_ends[first] : token_ends[last]] + tail

    def count(self, number: int, start: int, end: int) -> int:
        """How many tokens a slice of the document of a number has."""
        return len(self.tokens((number, start, end)))


class Term(NamedTuple):
    """A token of a query in an index."""

    most: float  # the most that it adds to any score
    times: int  # how often the query repeats it
    weights: dict  # {text number: what it adds each time}


class MaxScore(BM25):
    """BM25 whose topk is the same, and skips texts that cannot win.

    Terms are added in descending order of the most that they add. Once the
    terms left add too little for a text to reach the k best, no new text is
    taken up, and those too far behind are dropped (Turtle and Flood 1995).
    """

    def __init__(self, texts: Iterable[str], k1=1.5, b=0.75):
        super().__init__(texts, k1, b)
        self.name = f"bm25(k1={k1:g}, b={b:g})"
        self.known: dict[str, tuple[float, dict]] = {}

    @classmethod
    def of_tokens(cls, bags: Iterable[list[str]]) -> MaxScore:
        """The index of texts that are tokenized already."""
        made = cls([])
        made.index(bags)
        return made

    def terms(self, query: str) -> list[Term]:
        """The tokens of a query that the index has, the heaviest first."""
        terms = []
        for token, times in Counter(quick_tokenize(query)).items():
            if token not in self.postings:
                continue
            if token not in self.known:
                weights = self.weights(token)
                self.known[token] = max(weights.values()), weights
            most, weights = self.known[token]
            terms.append(Term(times * most, times, weights))
        return sorted(terms, key=lambda term: -term.most)

    def topk(self, query: str, k: int) -> list[int]:
        """What BM25.topk gives."""
        terms = self.terms(query)
        left = total = fsum(term.most for term in terms)
        scores: dict[int, float] = {}
        kth = 0.0  # the k-th best score so far, less what rounding may hide
        for term in terms:
            if kth > left:
                scores = raised(scores, term, kth - left)
            else:
                add_term(scores, term)
            left -= term.most
            # Sooner, few texts could be dropped: it would not pay.
            if total > 7 * left and len(scores) >= k > 0:
                kth = nlargest(k, scores.values())[-1] - 1e-6
        return best_numbers(scores, scores.values(), k)


def add_term(scores: dict[int, float], term: Term) -> None:
    """Add to the scores of all texts what a term adds."""
    _, times, weights = term
    for text, weight in weights.items():
        if text in scores:
            scores[text] += times * weight
        else:
            scores[text] = times * weight


def raised(
    scores: dict[int, float], term: Term, least: float
) -> dict[int, float]:
    """The scores over `least`, with what a term adds; no new text."""
    _, times, weights = term
    weight_of = weights.get
    return {
        text: score + times * weight_of(text, 0)
        for text, score in scores.items()
        if score > least
    }


def best_numbers(
    numbers: Iterable[int],
    scores: Collection[float],
    k: int,
    scale: float = 1.0,
) -> list[int]:
    """The numbers of the k best scores, best first.

    As BM25.topk has it: scores, times the scale, count to 9 decimals, of
    equals the lower number goes first, and what scores 0 is not there.
    """
    least = 0.0
    if 0 < k < len(scores):  # round only what may be among them
        least = nlargest(k, scores)[-1] - 1e-8 / scale
    likely = [
        (-round(scale * score, 9), number)
        for number, score in zip(numbers, scores)
        if score >= least
    ]
    return [number for score, number in nsmallest(k, likely) if score]


class ScoreIndex:
    """A retriever that scores every text; base of the two below."""

    name: str

    def __init__(self, texts: Iterable[str]):
        self.index(map(tokenize, texts))

    @classmethod
    def of_tokens(cls, bags: Iterable[list[str]]) -> ScoreIndex:
        """The index of texts that are tokenized already."""
        made = cls([])
        made.index(bags)
        return made

    def index(self, bags: Iterable[list[str]]) -> None:
        """Take in the tokens of the texts."""
        raise NotImplementedError

    def scores(self, query: str) -> list[float]:
        """The score of each text for a query, from 0."""
        raise NotImplementedError

    def topk(self, query: str, k: int) -> list[int]:
        """The numbers of the k best texts, best first."""
        scores = self.scores(query)
        return best_numbers(range(len(scores)), scores, k)


class HashIndex(ScoreIndex):
    """A mock embedding, ranked by cosine, after the tuning article.

    The MD5 of each token picks four of 128 dimensions; a text is the vector
    of how often each is picked. It shows what a retriever gives that knows no
    language.
    """

    name = "hash(mock embedding)"
    SIZE = 128

    # A column is what all texts have in one dimension, packed into one whole
    # number of 64 bits a text. So the dot products of a query with all texts
    # are a sum of few whole numbers: the columns that its tokens pick.

    def index(self, bags: Iterable[list[str]]) -> None:
        """Take in the tokens of the texts."""
        self.dimensions: dict[str, list[int]] = {}  # of each token
        vectors = [self.vector(tokens) for tokens in bags]
        self.inverses = [1 / norm(vector) for vector in vectors]
        self.columns = [
            int.from_bytes(array("Q", column).tobytes(), sys.byteorder)
            for column in zip(*vectors)
        ]

    def vector(self, tokens: list[str]) -> list[int]:
        """How often the tokens pick each dimension."""
        from hashlib import md5

        counts = [0] * self.SIZE
        for token in tokens:
            if token not in self.dimensions:
                digest = md5(token.encode(errors="replace")).digest()
                picked = [byte % self.SIZE for byte in digest[:4]]
                self.dimensions[token] = picked
            for dimension in self.dimensions[token]:
                counts[dimension] += 1
        return counts

    def unscaled(self, query: str) -> tuple[list[float], float]:
        """The cosines with all texts before one scale, and that scale."""
        vector = self.vector(tokenize(query))
        packed = 0
        for count, column in zip(vector, self.columns):
            if count == 1:  # mostly so, and a sum is sooner than a product
                packed += column
            elif count:
                packed += count * column
        products = array("Q")
        size = products.itemsize * len(self.inverses)
        products.frombytes(packed.to_bytes(size, sys.byteorder))
        return list(map(mul, products, self.inverses)), 1 / norm(vector)

    def scores(self, query: str) -> list[float]:
        """The cosine of the query with each text, 0 to 1."""
        scores, scale = self.unscaled(query)
        return [scale * score for score in scores]

    def topk(self, query: str, k: int) -> list[int]:
        """The numbers of the k best texts, best first."""
        scores, scale = self.unscaled(query)
        return best_numbers(range(len(scores)), scores, k, scale)


def norm(vector: Sequence[int]) -> float:
    """The length of a vector, or 1 where it is 0, so that it can divide."""
    return sqrt(sum(map(mul, vector, vector))) or 1


class HybridIndex(ScoreIndex):
    """BM25 and the mock embedding, fused by reciprocal rank.

    A text scores the sum of 1 / (60 + rank) over the top 50 of each (Cormack,
    Clarke and Buettcher 2009).
    """

    def index(self, bags: Iterable[list[str]]) -> None:
        """Take in the tokens of the texts."""
        bags = list(bags)
        self.count = len(bags)
        self.bm25 = MaxScore.of_tokens(bags)
        self.hash = HashIndex.of_tokens(bags)
        self.name = f"hybrid({self.bm25.name} + {self.hash.name})"

    def scores(self, query: str) -> list[float]:
        """The fused score of each text."""
        scores = [0.0] * self.count
        for found in (self.bm25.topk(query, 50), self.hash.topk(query, 50)):
            for position, number in enumerate(found, 1):
                scores[number] += 1 / (60 + position)
        return scores


RETRIEVERS = {"bm25": MaxScore, "hash": HashIndex, "hybrid": HybridIndex}


def find_retriever(name: str) -> Callable:
    """What makes the retriever of a name: from texts, a user's with slices.

    InputError where there is none of ours, and no module.function.
    """
    if name in RETRIEVERS:
        return RETRIEVERS[name]
    factory = find_own("retriever", name, RETRIEVERS)
    return partial(OwnRetriever, name, factory)


# ---- set-up: how strategies are tried, and what is indexed -----------------
class Setup(NamedTuple):
    """How strategies are tried."""

    retriever: str = "bm25"
    depth: int = 10  # how many chunks are ranked for a query, at least
    budget: int = 0  # tokens to send, for which it must be deep; 0: none
    count_by: str = ""  # module.function that counts tokens; "" for ours
    context: bool = False  # whether titles and headings go before a chunk
    covered: tuple[float, ...] = (COVERED,)  # the first decides: see Trial
    offset: int = 0  # where the first window of a document starts
    explained: tuple[int, ...] = ()  # the queries that --explain asks for


DEFAULTS = Setup()


class Contents:
    """The texts and tokens of places, as they are indexed and paid for."""

    def __init__(self, documents: Sequence, setup: Setup, store: TokenStore):
        self.documents, self.setup, self.store = documents, setup, store
        self.counts: dict[Place, int] = {}  # of the tokens that were asked for

    def prefix(self, place: Place) -> str:
        """The headings that --context puts before a chunk, or nothing."""
        if not self.setup.context:
            return ""
        number, start, _ = place
        headings = self.documents[number].headings
        above = bisect_left(headings, (start + 1,)) - 1
        return headings[above][1] + "\n" if above >= 0 else ""

    def text(self, place: Place) -> str:
        """The text of a chunk, its prefix included."""
        number, start, end = place
        return self.prefix(place) + self.documents[number].text[start:end]

    def tokens(self, place: Place) -> list[str]:
        """The tokens of a chunk, its prefix included."""
        tokens = self.store.tokens(place)
        prefix = self.prefix(place)
        if prefix:
            tokens = tokenize(prefix) + tokens
        self.counts[place] = len(tokens)
        return tokens

    def length(self, place: Place) -> int:
        """The characters of a chunk, its prefix included."""
        return len(self.prefix(place)) + length(place)

    def count(self, number: int, start: int, end: int) -> int:
        """How many tokens a slice of the document of a number has.

        That is what sizes in tokens count; a prefix is not in them.
        """
        if not self.setup.count_by:
            return self.store.count(number, start, end)
        text = self.documents[number].text[start:end]
        return count_tokens(self.setup.count_by, text)

    def cost(self, place: Place) -> int:
        """How many tokens a chunk costs."""
        if self.setup.count_by:
            return count_tokens(self.setup.count_by, self.text(place))
        if place not in self.counts:
            self.tokens(place)
        return self.counts[place]


def make_index(retriever: str, contents: Contents, places: list[Place]) -> Any:
    """The retriever of a name over these places, which it knows by number."""
    maker: Any = find_retriever(retriever)
    if hasattr(maker, "of_tokens"):
        return maker.of_tokens(contents.tokens(place) for place in places)
    texts = [contents.text(place) for place in places]
    slices = [
        (contents.documents[number].text, start, end)
        for number, start, end in places
    ]
    return maker(texts, slices)


# ---- rank: the chunks of a query, best first -------------------------------
def rank(index: Any, plan: Plan, query: str, depth: int) -> list[int]:
    """The numbers of the `depth` best chunks for a query's text, best first.

    Each is there once, where the best of the places that share it stands.
    """
    # Among so many searched places there are `depth` chunks, if there can be.
    count = min(depth * plan.most_slices, len(plan.searched))
    ranked = [plan.owner[number] for number in index.topk(query, count)]
    return list(dict.fromkeys(ranked))[:depth]


def rank_for(
    index: Any, plan: Plan, query: str, setup: Setup, costs: list[int]
) -> list[int]:
    """The ranking of a query, deep enough for the budget.

    costs: the tokens of each chunk.
    """
    depth = setup.depth
    ranked = rank(index, plan, query, depth)
    while setup.budget and depth < len(plan.chunks):
        if sum(costs[number] for number in ranked) > setup.budget:
            break
        depth *= 2
        ranked = rank(index, plan, query, depth)
    return ranked


def explain_rank(index: Any, plan: Plan, query: str) -> Explained:
    """The ranking of a query among all chunks, and their scores.

    A chunk has the score of the best place that shares it.
    """
    ranked = rank(index, plan, query, len(plan.chunks))
    if not hasattr(index, "scores"):
        return Explained(ranked, None)
    best: dict[int, float] = {}
    for number, score in zip(plan.owner, index.scores(query)):
        best[number] = max(score, best.get(number, score))
    return Explained(ranked, best)


# ---- judge: how much of a gold a chunk covers ------------------------------
def share_by_position(gold: RuledGold, place: Place, chunk: Place) -> float:
    """The share of a quote's characters that a chunk holds, 0 to 1.

    Of a section, that of the shorter of section and chunk.
    """
    whole = length(place)
    if gold.rule == "section":
        whole = min(whole, length(chunk))
    return common_length([place], [chunk]) / whole


def coverage(
    gold: RuledGold, place: Place, chunk: Place, tokens_of: Callable
) -> float:
    """The share of a gold's place that a chunk holds, 0 to 1, by its rule.

    Of a topic of labelled paragraphs that of its distinct tokens:
    tokens_of(place) is their set.
    """
    if gold.rule == "wording":
        return share_held(tokens_of(place), tokens_of(chunk))
    return share_by_position(gold, place, chunk)


def judge(
    golds: Sequence[RuledGold],
    chunks: list[Place],
    tokens_of: Callable,
    covered: float = COVERED,
) -> dict[RuledGold, set[int]]:
    """{gold: the numbers of the chunks that cover it}.

    The chunks are in order of their starts. tokens_of(place) is the set of
    its tokens.
    """
    worded = [gold for gold in golds if gold.rule == "wording"]
    placed = [gold for gold in golds if gold.rule != "wording"]
    return {
        **judge_by_wording(worded, chunks, tokens_of, covered),
        **judge_by_position(placed, chunks, covered),
    }


def judge_by_position(
    golds: Iterable[RuledGold], chunks: list, covered: float
) -> dict[RuledGold, set[int]]:
    """{gold: the numbers of the chunks that cover it} of quotes, sections."""
    ends = [(document, end) for document, _, end in chunks]
    reach = list(accumulate(ends, max))  # the farthest end so far
    covers: dict[RuledGold, set[int]] = {}
    for gold in golds:
        covers[gold] = set()
        for place in gold.places:
            document, start, end = place
            first = bisect_right(reach, (document, start))
            for number in range(first, bisect_left(chunks, (document, end))):
                share = share_by_position(gold, place, chunks[number])
                if share >= covered:
                    covers[gold].add(number)
    return covers


def judge_by_wording(
    golds: Sequence[RuledGold],
    chunks: list,
    tokens_of: Callable,
    covered: float,
) -> dict[RuledGold, set[int]]:
    """{gold: what by_wording of Part 1 gives}, without looking at all pairs.

    A chunk that holds enough of a place's tokens holds some of the rarest of
    them, whichever it lacks. Only such chunks are looked at.
    """
    if not golds:
        return {}
    holders = defaultdict(list)  # token -> the chunks that hold it
    for number, chunk in enumerate(chunks):
        for token in tokens_of(chunk):
            holders[token].append(number)

    def covering(place: Place) -> Iterator[int]:
        wanted = tokens_of(place)
        needed = least_held(len(wanted), covered)
        some = max(1, needed // 4)
        lists = sorted((holders[token] for token in wanted), key=len)
        rarest = lists[: len(wanted) - needed + some]
        times = Counter(chain.from_iterable(rarest))
        for number in times:
            if times[number] >= some:
                held = tokens_of(chunks[number])
                if share_held(wanted, held) >= covered:
                    yield number

    return {
        gold: set(chain.from_iterable(map(covering, gold.places)))
        for gold in golds
    }


def floor_causes(
    golds: Sequence[RuledGold],
    chunks: Sequence[Place],
    tokens_of: Callable,
    covered: float,
) -> dict[RuledGold, str]:
    """Why no chunk covers these golds, {gold: "empty", "long" or "torn"}.

    A gold has no token, is too long for any of these chunks, or is cut in
    two wherever it stands.
    """

    def size(rule: str, place: Place) -> int:
        return len(tokens_of(place)) if rule == "wording" else length(place)

    largest = {
        rule: max((size(rule, chunk) for chunk in chunks), default=0)
        for rule in {gold.rule for gold in golds}
    }
    causes = {}
    for gold in golds:
        sizes = [size(gold.rule, place) for place in gold.places]
        least = min(filter(None, sizes), default=0)
        if not least:
            causes[gold] = "empty"
        elif 0 < largest[gold.rule] / least < covered:
            causes[gold] = "long"
        else:
            causes[gold] = "torn"
    return causes


def least_held(wanted: int, covered: float) -> int:
    """The least number of `wanted` tokens that is a share of `covered`."""
    held = floor(covered * wanted)
    while held / max(wanted, 1) < covered:
        held += 1
    return held


# ---- trial: one strategy, one round ----------------------------------------
class Explained(NamedTuple):
    """All that a retriever says of a query."""

    ranked: list[int]  # the numbers of all chunks that it finds, best first
    scores: dict[int, float] | None  # of all chunks, if it has scores


class Trial(NamedTuple):
    """What one strategy did in one round: a Run of Part 1, and more."""

    strategy: str
    retriever: str
    chunks: list[Place]  # what can be sent
    costs: list[int]  # the tokens of each
    indexed: int  # characters in the index
    ranked: list[list[int]]  # for each query its chunks' numbers, best first
    explained: dict[int, Explained]  # by the numbers of queries, from 0
    covered: float  # the share of a gold that a chunk must hold to cover it
    covers: dict[RuledGold, set[int]]  # the numbers of the chunks that do
    other_covers: dict[float, dict]  # the same for other shares
    causes: dict[RuledGold, str]  # floor_causes of what no chunk covers


def trial(
    strategy: str,
    documents: Sequence,
    queries: Sequence,
    setup: Setup = DEFAULTS,
    store: TokenStore | None = None,
) -> Trial:
    """Plan, index, rank and judge one strategy: Part 2's evaluate.

    It takes and gives what can be pickled. `store` keeps what strategies of
    one round share. InputError for what a user's own function does wrong,
    ValueError for a strategy's numbers.
    """
    store = store or TokenStore(documents)
    contents = Contents(documents, setup, store)
    planned = plan(strategy, documents, contents.count, setup.offset)
    chunks = planned.chunks
    index = make_index(setup.retriever, contents, planned.searched)
    costs = [contents.cost(chunk) for chunk in chunks]
    ranked = [
        rank_for(index, planned, query.text, setup, costs) for query in queries
    ]
    explained = {
        number: explain_rank(index, planned, queries[number].text)
        for number in setup.explained
    }

    @lru_cache(maxsize=None)
    def tokens_of(place: Place) -> set:
        # Without the headings of --context: they are none of the gold's text.
        return set(store.tokens(place))

    covered, *other_shares = setup.covered
    judged = partial(judge, golds_to_judge(queries), chunks, tokens_of)
    covers = judged(covered)
    lost = [gold for gold in golds_of(queries) if not covers[gold]]
    return Trial(
        strategy,
        index.name,
        chunks,
        costs,
        sum(contents.length(place) for place in planned.searched),
        ranked,
        explained,
        covered,
        covers,
        dict(zip(other_shares, map(judged, other_shares))),
        floor_causes(lost, chunks, tokens_of, covered),
    )


def golds_of(queries: Iterable[Query]) -> list[RuledGold]:
    """The golds of all queries, each once."""
    return list(
        dict.fromkeys(chain.from_iterable(query.golds for query in queries))
    )


def golds_to_judge(queries: Sequence[Query]) -> list[RuledGold]:
    """The golds of all queries, and those that should not arrive."""
    others = chain.from_iterable(map(distractors_of, queries))
    return list(dict.fromkeys([*golds_of(queries), *others]))


def distractors_of(query: Query) -> Sequence[RuledGold]:
    """The golds that should not arrive; a Query of Part 1 has none."""
    return getattr(query, "distractors", ())


def judged_at(trial: Trial, covered: float) -> Trial:
    """The same trial, judged by another of the shares it was set up with."""
    if covered == trial.covered:
        return trial
    return trial._replace(covered=covered, covers=trial.other_covers[covered])


# ---- sweep: many strategies, each round from the start ---------------------
class Job(NamedTuple):
    """A strategy, how it is tried, and its name in tables."""

    strategy: str
    setup: Setup
    label: str


def run_rounds(
    jobs: Sequence[Job],
    documents: Sequence,
    queries: Sequence,
    rounds: int = 3,
) -> Iterator[Trial]:
    """The Trials of all jobs, round after round, each when it is done.

    Nothing is carried from one round to the next. A Trial that is equal to
    that of the first round is the same object, so that it is kept once.
    """
    firsts: list[Trial] = []
    for _ in range(rounds):
        store = TokenStore(documents)
        for number, (strategy, setup, _) in enumerate(jobs):
            found = trial(strategy, documents, queries, setup, store)
            if len(firsts) < len(jobs):
                firsts.append(found)
            elif found == firsts[number]:
                found = firsts[number]
            yield found


def by_job(trials: Iterable[Trial], jobs: int) -> list[list[Trial]]:
    """Trials in the order of run_rounds, as a list of rounds for each job."""
    trials = list(trials)
    return [trials[first::jobs] for first in range(jobs)]


def job_rounds(
    job: Job, documents: Sequence, queries: Sequence, rounds: int
) -> list[Trial]:
    """The Trials of one job, one a round; what sweep gives an executor."""
    return list(run_rounds([job], documents, queries, rounds))


def sweep(
    strategies: Iterable[str],
    documents: Sequence,
    queries: Sequence,
    setups: Sequence[Setup] = (DEFAULTS,),
    rounds: int = 3,
    executor: Executor | None = None,
) -> list[list[Trial]]:
    """For each strategy with each setup its Trials, one a round.

    They run here, or on any concurrent.futures.Executor.
    """
    jobs = [Job(*pair, label=pair[0]) for pair in product(strategies, setups)]
    if executor is None:
        trials = run_rounds(jobs, documents, queries, rounds)
        return by_job(trials, len(jobs))
    futures = [
        executor.submit(job_rounds, job, documents, queries, rounds)
        for job in jobs
    ]
    return [future.result() for future in futures]


# ---- cutoffs: what of a ranking is sent ------------------------------------
class TopK(NamedTuple):
    """The first k chunks of a ranking are sent."""

    k: int

    @property
    def label(self) -> str:
        """How figures name it: the 3 of recall@3."""
        return str(self.k)

    @property
    def words(self) -> str:
        """How a sentence names it."""
        return plural(self.k, "chunk")

    @property
    def room(self) -> str:
        """What all that is sent fits in."""
        return f"the top {self.k}"

    @property
    def limit(self) -> int:
        """What the chunks that are sent may come to, by their price."""
        return self.k

    def price(self, cost: int) -> int:
        """What a chunk of so many tokens counts towards the limit."""
        return 1

    def sends(self, ranked: list[int], costs: list[int]) -> list[int]:
        """The chunks of a ranking that are sent; costs: tokens of each."""
        return ranked[: self.k]


class Budget(NamedTuple):
    """Chunks of a ranking are sent until the next would not fit."""

    tokens: int

    @property
    def label(self) -> str:
        """How figures name it: the 350t of recall@350t."""
        return f"{self.tokens}t"

    @property
    def words(self) -> str:
        """How a sentence names it."""
        return f"{self.tokens} tokens"

    @property
    def room(self) -> str:
        """What all that is sent fits in."""
        return self.words

    @property
    def limit(self) -> int:
        """What the chunks that are sent may come to, by their price."""
        return self.tokens

    def price(self, cost: int) -> int:
        """What a chunk of so many tokens counts towards the limit."""
        return cost

    def sends(self, ranked: list[int], costs: list[int]) -> list[int]:
        """The chunks of a ranking that are sent; costs: tokens of each."""
        totals = accumulate(costs[number] for number in ranked)
        return ranked[: sum(total <= self.tokens for total in totals)]


Cutoff = Union[TopK, Budget]


def is_saturated(trial: Trial, cutoff: Cutoff) -> bool:
    """Whether every chunk there is can be sent."""
    return sum(map(cutoff.price, trial.costs)) <= cutoff.limit


# ---- measure: every figure is a function of a trial ------------------------
MOST_NEEDS = 12  # the golds of a query for which chance is worked out
MOST_SETS = 10_000  # the sets of a query's golds that a ceiling looks at


def needs_of(trial: Trial, query: Query) -> set[frozenset]:
    """For each gold of a query the chunks that cover it; equal sets once."""
    return {frozenset(trial.covers[gold]) for gold in query.golds}


def is_reachable(trial: Trial, query: Query, cutoff: Cutoff) -> bool | None:
    """Whether some choice of chunks that could be sent answers a query.

    None where a query has so many golds that it would take too long to tell.
    """
    needs = needs_of(trial, query)
    if frozenset() in needs:
        return False
    if isinstance(cutoff, TopK) and len(needs) <= cutoff.k:
        return True
    prices = {
        chunk: cutoff.price(trial.costs[chunk])
        for chunk in frozenset().union(*needs)
    }
    return can_be_met(needs, prices, cutoff.limit)


def can_be_met(
    needs: Iterable[frozenset], prices: dict[int, int], limit: int
) -> bool | None:
    """Whether chunks that cost no more than a limit meet all needs.

    prices: {chunk: its price}. None where there are too many sets of needs.
    """
    bits: dict[int, int] = Counter()  # a bit for each need that a chunk meets
    everything = 0
    for number, chunks in enumerate(needs):
        everything += 1 << number
        for chunk in chunks:
            bits[chunk] += 1 << number
    cheapest: dict[int, int] = {}  # {bits: the least price of such a chunk}
    for chunk, pattern in bits.items():
        price = prices[chunk]
        cheapest[pattern] = min(price, cheapest.get(pattern, price))
    least = {0: 0}  # {bits: the least price of chunks that have them together}
    for pattern, price in cheapest.items():
        for had, total in list(least.items()):
            both = had | pattern
            if total + price <= least.get(both, limit):
                least[both] = total + price
        if len(least) > MOST_SETS:
            return None
    return everything in least


def chance(trial: Trial, query: Query, cutoff: Cutoff) -> float | None:
    """The probability that k different chunks drawn at random answer a query.

    Exact, by inclusion and exclusion over the query's golds. None for more
    than 12 of them, and under a budget, where it has no closed form.
    """
    needs = needs_of(trial, query)
    if not isinstance(cutoff, TopK) or len(needs) > MOST_NEEDS:
        return None
    if frozenset() in needs:
        return 0.0
    total = len(trial.chunks)
    drawn = min(cutoff.k, total)
    ways = 0
    for count in range(len(needs) + 1):
        for missed in combinations(needs, count):
            others = total - len(frozenset().union(*missed))
            ways += (-1) ** count * comb(others, drawn)
    return ways / comb(total, drawn)


def at_least(chances: Iterable[float], count: int) -> float:
    """The probability that so many or more of independent events happen.

    Event by event (Poisson-binomial), to some 15 places: of the numbers of
    events so far those that are less likely than 1e-18 are let go, so that
    long lists stay short.
    """
    if count == 0:
        return 1.0
    reached = 0.0
    least, parts = 0, [1.0]  # how likely `least` events are, one more, ...
    for chance in chances:
        stay = [(1 - chance) * part for part in parts]
        move = [chance * part for part in parts]
        parts = list(map(add, [*stay, 0.0], [0.0, *move]))
        if least + len(parts) > count:
            reached += parts.pop()
        while parts and parts[-1] < 1e-18:
            parts.pop()
        while parts and parts[0] < 1e-18:
            del parts[0]
            least += 1
    return min(1.0, reached)


def reciprocal_rank(trial: Trial, query: Query, ranked: list[int]) -> float:
    """1 / rank of the first of ten chunks that covers any gold, or else 0."""
    useful = set().union(*(trial.covers[gold] for gold in query.golds))
    ten = list(dict.fromkeys(ranked))[:10]
    for position, number in enumerate(ten, 1):
        if number in useful:
            return 1 / position
    return 0.0


def answer_figures(
    trial: Trial, query: Query, ranked: list[int], cutoff: Cutoff
) -> dict:
    """Whether a query was answered, could have been, and at what cost."""
    at = f"@{cutoff.label}"
    sent = cutoff.sends(ranked, trial.costs)
    hit = answered(query, sent, trial.covers)
    reachable = hit or is_reachable(trial, query, cutoff)
    return {
        "recall" + at: hit,
        "tokens": sum(trial.costs[number] for number in sent),
        "ceiling" + at: reachable,
        "chance" + at: chance(trial, query, cutoff),
        "cut": None if reachable is None else not reachable,
        "outranked": None if reachable is None else reachable and not hit,
        "sent": len(sent),
        "rr": reciprocal_rank(trial, query, ranked),
        "distractors" + at: sum(
            not trial.covers[gold].isdisjoint(sent)
            for gold in distractors_of(query)
        ),
    }


def position_figures(
    trial: Trial, query: Query, sent: list[int], at: str
) -> dict:
    """What was sent of a query's golds, in characters and by position.

    char_: as in Chroma's report (Smith and Troynikov 2024), with the place of
    a gold of which most was sent. evidence, complete: pieces may add up.
    """
    chunks = [trial.chunks[number] for number in sent]
    best, found = [], []
    for gold in query.golds:
        share, place = best_place(gold, chunks)
        best.append(place)
        found.append(share >= trial.covered)
    paid = sum(map(length, chunks))
    wanted, both = union_length(best), common_length(best, chunks)
    return {
        "char_recall": both / wanted,
        "char_precision": both / max(1, paid),
        "char_iou": both / (paid + wanted - both),
        "redundancy": (paid - union_length(chunks)) / max(1, paid),
        "evidence" + at: mean(found),
        "complete" + at: all(found),
    }


def best_place(gold: RuledGold, chunks: list) -> tuple[float, tuple]:
    """(share, place) of a gold's place that lies most in these chunks.

    Of equals the one that is listed first.
    """
    shares = [
        common_length([place], chunks) / length(place) for place in gold.places
    ]
    share = max(shares)
    return share, gold.places[shares.index(share)]


def query_columns(
    trial: Trial, queries: Sequence, cutoff: Cutoff
) -> dict[str, list]:
    """Every figure at a cutoff as a column, {name: one value a query}."""
    columns = defaultdict(list)
    for query, ranked in zip(queries, trial.ranked):
        sent = cutoff.sends(ranked, trial.costs)
        figures = answer_figures(trial, query, ranked, cutoff)
        at = f"@{cutoff.label}"
        figures.update(position_figures(trial, query, sent, at))
        for name, value in figures.items():
            columns[name].append(value)
    return columns


def hits_of(
    trial: Trial, queries: Sequence, cutoff: Cutoff, figure: str
) -> list[bool]:
    """The column "recall" or "complete" of query_columns, alone."""
    hits = []
    for query, ranked in zip(queries, trial.ranked):
        sent = cutoff.sends(ranked, trial.costs)
        if figure == "recall":
            hits.append(answered(query, sent, trial.covers))
        else:
            hits.append(position_figures(trial, query, sent, "")[figure])
    return hits


def cutoff_figures(
    columns: dict[str, list], queries: Sequence, cutoff: Cutoff
) -> dict:
    """Every figure at a cutoff, {name: mean, number, or None}.

    One that some query has not is None.
    """
    at = f"@{cutoff.label}"
    hits, luck = columns["recall" + at], columns["chance" + at]
    single: list[bool] = []
    multi: list[bool] = []
    for query, hit in zip(queries, hits):
        (single if len(query.golds) == 1 else multi).append(hit)
    figures = {
        "recall" + at: mean(hits),
        "single" + at: mean(single),
        "multi" + at: mean(multi),
    }
    for name, values in columns.items():
        if None in values:
            figures[name] = None
        elif name in ("cut", "outranked"):
            figures[name] = sum(values)
        else:
            figures[name] = mean(values)
    is_known = figures["chance" + at] is not None
    figures["chance_p" + at] = at_least(luck, sum(hits)) if is_known else None
    figures["tokens" + at] = figures["tokens"]
    return figures


def measure_trial(
    trial: Trial, data: Data, cutoffs: Sequence
) -> tuple[dict, dict[str, list]]:
    """Every figure of a trial, after its names; and its column by query.

    What has no @k in its name is of the last cutoff.
    """
    row = {
        "strategy": trial.strategy,
        "retriever": trial.retriever,
        "chunks": len(trial.chunks),
    }
    columns: dict[str, list] = {}
    for cutoff in cutoffs:
        found = query_columns(trial, data.queries, cutoff)
        if not any(map(distractors_of, data.queries)):
            del found[f"distractors@{cutoff.label}"]
        row.update(cutoff_figures(found, data.queries, cutoff))
        columns.update(found)
    characters = sum(len(document.text) for document in data.documents)
    row["longest"] = max(trial.costs, default=0)
    row["index_growth"] = trial.indexed / characters
    return row, columns


class Result(NamedTuple):
    """What a strategy did in all its rounds."""

    label: str  # its name in tables
    trial: Trial  # of the first round
    row: dict  # {figure: mean of the rounds}
    spread: dict | None  # {figure: [least, most]}; None if all rounds agree
    columns: dict[str, list]  # {figure: one value a query}; first round
    categories: dict[str, dict]  # {category: {figure: mean}}; first round
    answers: list  # of each query a dict as in the JSON; first round


def run_jobs(
    jobs: Sequence[Job],
    data: Data,
    cutoffs: Sequence[Cutoff],
    rounds: int,
    watch: Callable = iter,
) -> list[Result]:
    """The Results of jobs; watch(trials) may tell of them as they pass."""
    trials = run_rounds(jobs, data.documents, data.queries, rounds)
    return [
        summarize(job.label, found, data, cutoffs)
        for job, found in zip(jobs, by_job(watch(trials), len(jobs)))
    ]


def summarize(
    label: str, rounds: list[Trial], data: Data, cutoffs: Sequence
) -> Result:
    """The Result of one strategy's rounds."""
    first = rounds[0]
    varies = any(trial != first for trial in rounds)
    if not varies:
        rounds = [first]
    measured = [measure_trial(trial, data, cutoffs) for trial in rounds]
    means, spread = means_and_spread([row for row, _ in measured])
    row = {"name": label, **means}
    for cutoff in cutoffs:
        recall = row[f"recall@{cutoff.label}"]
        row[f"ci@{cutoff.label}"] = wilson(recall, len(data.queries))
    answers = list(answers_of(first, data, cutoffs))
    _, columns = measured[0]
    return Result(
        label,
        first,
        row,
        spread if varies else None,
        columns,
        category_figures(columns, data, cutoffs),
        answers,
    )


def category_figures(
    columns: dict[str, list], data: Data, cutoffs: Sequence
) -> dict[str, dict]:
    """{category: {"queries": how many, "recall@3": mean, ...}}.

    complete@k is there, too, where it decides.
    """
    members = defaultdict(list)
    for number, query in enumerate(data.queries):
        if query.category:
            members[query.category].append(number)
    figures = dict.fromkeys(["recall", decisive(data)])
    found: dict[str, dict] = {}
    for category, numbers in members.items():
        found[category] = {"queries": len(numbers)}
        for figure, cutoff in product(figures, cutoffs):
            name = f"{figure}@{cutoff.label}"
            values = [columns[name][number] for number in numbers]
            found[category][name] = mean(values)
    return found


def means_and_spread(rows: list[dict]) -> tuple[dict, dict]:
    """({figure: mean of the rows}, {figure: [least, most]} where they differ).

    A figure that some row has not is None.
    """
    means, spread = dict(rows[0]), {}
    for key in means:
        values = [row[key] for row in rows]
        if None in values:
            means[key] = None
        elif len(set(values)) > 1:
            spread[key] = [min(values), max(values)]
            means[key] = mean(values)
    return means, spread


def labels_of(query: Question) -> dict[str, str]:
    """The id and the category of a query, as far as it has them."""
    labels = {"id": query.id, "category": query.category}
    return {key: label for key, label in labels.items() if label}


def answers_of(trial: Trial, data: Data, cutoffs: Sequence) -> Iterator[dict]:
    """What a trial did for each query, as the JSON has it."""
    decides = decisive(data)
    for query, ranked in zip(data.queries, trial.ranked):
        top = cutoffs[-1].sends(ranked, trial.costs)
        places = [trial.chunks[number] for number in top]
        answer = {
            **labels_of(query),
            "query": query.text,
            "gold": [gold.name for gold in query.golds],
            "top": [
                (data.documents[number].name, start, end)
                for number, start, end in places
            ],
        }
        for cutoff in cutoffs:
            sent = cutoff.sends(ranked, trial.costs)
            hit = answered(query, sent, trial.covers)
            answer[f"answered@{cutoff.label}"] = hit
            if decides == "complete":
                figures = position_figures(trial, query, sent, "")
                answer[f"complete@{cutoff.label}"] = figures["complete"]
        answer["missing"] = [
            gold.name
            for gold in query.golds
            if trial.covers[gold].isdisjoint(top)
        ]
        answer["tokens"] = sum(trial.costs[number] for number in top)
        yield answer


# ---- compare: what can be told from chance ---------------------------------
Z95 = 1.959963984540054  # the normal quantile of a 95 % interval
Z80 = 0.84  # that of 80 % power


def wilson(share: float, total: int) -> list[float]:
    """The 95 % interval [low, high] of a share of `total` (Wilson 1927)."""
    z = Z95
    middle = share + z * z / (2 * total)
    variance = share * (1 - share) / total + z * z / (4 * total * total)
    half = z * sqrt(variance)
    scale = 1 + z * z / total
    low, high = (middle - half) / scale, (middle + half) / scale
    return [max(0.0, low), min(1.0, high)]


def paired_interval(wins: float, losses: float, total: float) -> list[float]:
    """The 95 % interval [low, high] of a difference of paired shares.

    Of `total` queries so many were won, so many lost (Bonett and Price 2012).
    """
    won, lost = (wins + 1) / (total + 2), (losses + 1) / (total + 2)
    gain = won - lost
    half = Z95 * sqrt((won + lost - gain * gain) / (total + 2))
    return [max(-1.0, gain - half), min(1.0, gain + half)]


def mcnemar(wins: int, losses: int) -> float:
    """The exact two-sided p of so many wins and losses (McNemar 1947).

    The probability of these or more uneven ones if a coin tossed them.
    """
    tosses = wins + losses
    ways = sum(comb(tosses, heads) for heads in range(min(wins, losses) + 1))
    return min(1.0, 2 * ways / 2**tosses)


def holm(ps: Sequence[float]) -> list[float]:
    """The p-values adjusted for being several (Holm 1979), in their order."""
    adjusted = [0.0] * len(ps)
    least = 0.0
    for rank, number in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        least = max(least, min(1.0, (len(ps) - rank) * ps[number]))
        adjusted[number] = least
    return adjusted


def wins_needed(tests: int) -> int:
    """How many wins without a loss are told from chance among `tests`."""
    wins = 1
    while tests * mcnemar(wins, 0) >= 0.05:
        wins += 1
    return wins


def queries_needed(
    wins: int, losses: int, total: int, tests: int
) -> int | None:
    """How many queries would tell such a difference in 80 % of the cases.

    An estimate, for one of so many tests (Connor 1987, with the level of
    Bonferroni). None where there is no difference.
    """
    from statistics import NormalDist

    gain, uneven = (wins - losses) / total, (wins + losses) / total
    if not gain:
        return None
    z = NormalDist().inv_cdf(1 - 0.025 / tests)
    root = z * sqrt(uneven) + Z80 * sqrt(uneven - gain * gain)
    return ceil((root / gain) ** 2)


class Outcome(NamedTuple):
    """How one strategy did for each query at one cutoff."""

    label: str
    hits: list[bool]
    is_saturated: bool


def outcomes_at(
    results: Sequence[Result], data: Data, cutoff: Cutoff, covered: float
) -> list[Outcome]:
    """The Outcomes of the results, by what decides for these data.

    covered: the share of a gold that a chunk must hold.
    """
    figure = decisive(data)
    found = []
    for label, trial, *_ in results:
        again = judged_at(trial, covered)
        hits = hits_of(again, data.queries, cutoff, figure)
        found.append(Outcome(label, hits, is_saturated(trial, cutoff)))
    return found


def decisive(data: Data) -> str:
    """The figure that comparisons and the choice go by.

    It is complete@k where a gold is a section, of which recall@k counts a
    scrap, and recall@k elsewhere.
    """
    golds = chain.from_iterable(query.golds for query in data.queries)
    if any(gold.rule == "section" for gold in golds):
        return "complete"
    return "recall"


def metric_at(data: Data, cutoff: Cutoff) -> str:
    """The name of the figure that decides at a cutoff: "recall@3"."""
    return f"{decisive(data)}@{cutoff.label}"


def compare(by_metric: dict[str, list[Outcome]], baseline: str) -> list[dict]:
    """Each other strategy against the one labelled `baseline`, for the JSON.

    by_metric: {metric: Outcomes}. All that is tested is one family for Holm,
    whatever the metric. What is saturated is not tested.
    """
    rows: list[dict] = []
    tested = []  # (row, the baseline's hits)
    for metric, outcomes in by_metric.items():
        base = next(each for each in outcomes if each.label == baseline)
        for other in outcomes:
            if other is base:
                continue
            row: dict[str, Any] = {"metric": metric, "baseline": baseline}
            row["strategy"] = other.label
            row.update(compare_outcomes(other, base))
            rows.append(row)
            if row["p"] is not None:
                tested.append((row, base.hits))
    adjusted = holm([row["p"] for row, _ in tested])
    for (row, hits), p_holm in zip(tested, adjusted):
        row.update(verdict_of(row, p_holm, hits, len(tested)))
    return rows


def compare_outcomes(ours: Outcome, theirs: Outcome) -> dict:
    """Wins, losses, the difference and p of answers to the same queries.

    Queries are numbered from 1. What verdict_of adds is None so far.
    """
    gains = [hit - other for hit, other in zip(ours.hits, theirs.hits)]
    won = [number for number, gain in enumerate(gains, 1) if gain > 0]
    lost = [number for number, gain in enumerate(gains, 1) if gain < 0]
    p = None
    if not ours.is_saturated and not theirs.is_saturated:
        p = mcnemar(len(won), len(lost))
    return {
        "difference": mean(gains),
        "interval": paired_interval(len(won), len(lost), len(gains)),
        "wins": won,
        "losses": lost,
        "p": p,
        "p_holm": None,
        "verdict": None,
        "decidable": None,
        "queries_needed": None,
    }


def verdict_of(row: dict, p_holm: float, base: list[bool], tests: int) -> dict:
    """What the adjusted p of a comparison says, for the JSON.

    base: the baseline's hits; tests: the comparisons of the family.
    """
    wins, losses = len(row["wins"]), len(row["losses"])
    is_decided = p_holm < 0.05
    verdict = "undecided"
    if is_decided:
        verdict = "better" if wins > losses else "worse"
    can_be = most_one_way(base) >= wins_needed(tests)
    return {
        "p_holm": p_holm,
        "verdict": verdict,
        "decidable": is_decided or can_be,
        "queries_needed": queries_needed(wins, losses, len(base), tests),
    }


def most_one_way(base: list[bool]) -> int:
    """The most queries that any strategy could win, or lose, against this."""
    return max(base.count(True), base.count(False))


# ---- compare: the spread of other figures ----------------------------------
RESAMPLES = 2000
UNIT = 2**50  # how many of the whole numbers of a sum make 1
FIELD = 128  # bits of a sum: each is less, whatever the number of queries


def paragraph_groups(data: Data) -> list[int]:
    """For each query the number of its group, from 0.

    Queries belong together whose first gold's first place starts in the same
    paragraph: their answers go together, so they count as one observation.
    """
    numbers: dict[tuple, int] = {}
    groups = []
    for query in data.queries:
        document, start, _ = query.golds[0].places[0]
        paragraphs = data.documents[document].paragraphs
        spot = document, bisect_right(paragraphs, (start, inf))
        groups.append(numbers.setdefault(spot, len(numbers)))
    return groups


def spreads(
    results: Sequence[Result], data: Data, baseline: str, cutoff: Cutoff
) -> list[dict]:
    """The other figures of each strategy against the baseline, for the JSON.

    Each is a mean paired difference with its 95 % interval, by bootstrap over
    groups of queries (Efron and Tibshirani 1993, the percentiles). The
    interval is None with a single group.
    """
    names = ["char_recall", "char_precision", "char_iou", "rr"]
    names.append(f"evidence@{cutoff.label}")
    base = next(each for each in results if each.label == baseline)
    rows, gains = [], []
    for result in results:
        if result is base:
            continue
        for name in names:
            pairs = zip(result.columns[name], base.columns[name])
            gains.append([ours - theirs for ours, theirs in pairs])
            row: dict[str, Any] = {"metric": name, "baseline": baseline}
            row["strategy"] = result.label
            rows.append(row)
    intervals = bootstrap(gains, paragraph_groups(data))
    for row, column, interval in zip(rows, gains, intervals):
        row.update(difference=mean(column), interval=interval)
    return rows


def bootstrap(
    columns: Sequence[Sequence[float]], groups: Sequence[int]
) -> list[list[float] | None]:
    """The 95 % interval of the mean of each column, groups drawn anew.

    The values are from -1 to 1; groups: the number of each row's group, from
    0. None where there is one group.
    """
    count = max(groups, default=0) + 1
    if count < 2 or not columns:
        return [None for _ in columns]
    tail = RESAMPLES // 40  # 2.5 % at either end
    intervals: list[list[float] | None] = []
    for means in zip(*resampled(columns, groups, count)):
        ordered = sorted(means)
        intervals.append([ordered[tail], ordered[-tail - 1]])
    return intervals


def resampled(
    columns: Sequence[Sequence[float]], groups: Sequence[int], count: int
) -> Iterator[list[float]]:
    """The means of the columns, each time of `count` groups drawn anew.

    They are the same on every Python: so is what Random.random gives, and so
    are sums of whole numbers.
    """
    from random import Random

    members = Counter(groups)
    sizes = [members[group] for group in range(count)]
    totals = [group_totals(column, groups, count) for column in columns]
    bundles = [bundle(row) for row in zip(*totals)]
    toss = Random(0).random
    for _ in range(RESAMPLES):
        take = itemgetter(*[int(toss() * count) for _ in range(count)])
        drawn = UNIT * sum(take(sizes))
        sums = unbundle(sum(take(bundles)), len(columns))
        yield [(total - drawn) / drawn for total in sums]


def group_totals(
    column: Sequence[float], groups: Sequence[int], count: int
) -> list[int]:
    """The sum of a column over each of `count` groups, in UNITs.

    Each value counts 1 more than it is, so that no sum is negative.
    """
    members: list[list[float]] = [[] for _ in range(count)]
    for value, group in zip(column, groups):
        members[group].append(value)
    return [
        round(UNIT * fsum(values)) + UNIT * len(values) for values in members
    ]


def bundle(numbers: Sequence[int]) -> int:
    """Numbers side by side in one, so that one sum adds them all."""
    return sum(number << FIELD * n for n, number in enumerate(numbers))


def unbundle(total: int, count: int) -> list[int]:
    """So many numbers out of a bundle, or out of a sum of bundles."""
    mask = (1 << FIELD) - 1
    return [total >> FIELD * n & mask for n in range(count)]


# ---- conclude: the frontier ------------------------------------------------
class Point(NamedTuple):
    """What a strategy gives and takes, at the last cutoff."""

    recall: float  # or complete: see decisive
    tokens: float


def is_beaten(point: Point, other: Point) -> bool:
    """Whether another point is as good and as cheap, and better in one."""
    as_good = other.recall >= point.recall and other.tokens <= point.tokens
    return as_good and other != point


def frontier(points: dict[str, Point]) -> list[str]:
    """The labels of the points that no other beats, the cheapest first."""
    by_cost = sorted(points, key=lambda label: points[label].tokens)
    return [
        label
        for label in by_cost
        if not any(
            is_beaten(points[label], other) for other in points.values()
        )
    ]


def elbow(points: dict[str, Point]) -> str | None:
    """The label of the frontier's point farthest above the chord of its ends.

    Both axes are scaled to 0..1 (Satopaa and others 2011). Of equals the
    cheaper; None where no point is above the chord.
    """
    best = frontier(points)
    if not best:
        return None
    first, last = points[best[0]], points[best[-1]]
    height, width = last.recall - first.recall, last.tokens - first.tokens
    above = {}
    for label in best:
        recall, tokens = points[label]
        rise, run = recall - first.recall, tokens - first.tokens
        above[label] = round(rise * width - run * height, 9)
    bends = [label for label in best if above[label] > 0]
    if not bends:
        return None
    return max(bends, key=above.__getitem__)


# ---- conclude: the choice --------------------------------------------------
class Candidate(NamedTuple):
    """A strategy that can be chosen, and what it did for each query."""

    label: str
    hits: list[bool]
    costs: list[int]  # tokens


class Chooser:
    """The rule of the choice, for all queries or for all but one.

    The reference is the candidate with the best recall, of equals the dearer,
    so that a cheap one has to prove itself. As good is what is shown to be
    within a margin of it: the interval of the difference ends above -margin.
    The choice is the cheapest of these.
    """

    def __init__(self, candidates: Sequence[Candidate], margin: float):
        self.candidates, self.margin = candidates, margin
        self.asked = len(candidates[0].hits)
        self.answered = [sum(each.hits) for each in candidates]
        self.spent = [sum(each.costs) for each in candidates]
        self.gains: dict[tuple[int, int], int] = {}

    def standing(self, number: int, without: int | None) -> tuple[int, int]:
        """(queries answered, tokens spent) by a candidate."""
        if without is None:
            return self.answered[number], self.spent[number]
        _, hits, costs = self.candidates[number]
        answered = self.answered[number] - hits[without]
        return answered, self.spent[number] - costs[without]

    def gained(self, ours: int, theirs: int, without: int | None) -> int:
        """How many queries one candidate answers and another does not."""
        mine, other = self.candidates[ours].hits, self.candidates[theirs].hits
        if (ours, theirs) not in self.gains:
            gains = sum(hit > rival for hit, rival in zip(mine, other))
            self.gains[ours, theirs] = gains
        left_out = without is not None and mine[without] > other[without]
        return self.gains[ours, theirs] - left_out

    def as_good(self, without: int | None = None) -> list[int]:
        """The candidates shown to be as good, the reference first."""
        numbers = range(len(self.candidates))
        asked = self.asked - (without is not None)
        standings = [self.standing(number, without) for number in numbers]
        best = max(numbers, key=standings.__getitem__)
        found = [best]
        for number in numbers:
            wins = self.gained(number, best, without)
            losses = self.gained(best, number, without)
            low, _ = paired_interval(wins, losses, asked)
            if number != best and low > -self.margin:
                found.append(number)
        return found

    def choose(self, without: int | None = None) -> int:
        """The choice: of equally cheap ones that which answers most."""

        def price(number: int) -> tuple[int, int]:
            answered, spent = self.standing(number, without)
            return spent, -answered

        return min(self.as_good(without), key=price)

    def leave_one_out(self) -> float | None:
        """The share of queries answered by what the others choose.

        None for a single query.
        """
        if self.asked < 2:
            return None
        chosen = [self.choose(without=query) for query in range(self.asked)]
        return mean(
            [
                self.candidates[number].hits[query]
                for query, number in enumerate(chosen)
            ]
        )


def queries_to_show(
    wins: int, losses: int, total: int, margin: float
) -> int | None:
    """The least number of queries that would show such a one as good.

    Wins and losses grow with the queries. None where it is the margin or more
    below, so that more queries would not help.
    """
    if (wins - losses) / total <= -margin:
        return None

    def is_shown(count: int) -> bool:
        scale = count / total
        low, _ = paired_interval(wins * scale, losses * scale, count)
        return low > -margin

    high = 1
    while not is_shown(high):
        high *= 2
    low = high // 2  # not enough
    while high - low > 1:
        middle = (low + high) // 2
        if is_shown(middle):
            high = middle
        else:
            low = middle
    return high


def why_excluded(result: Result, cutoff: Cutoff) -> str:
    """Why a strategy cannot be chosen; nothing if it can."""
    if is_saturated(result.trial, cutoff):
        return f"all chunks fit in {cutoff.room}"
    if not result.row[f"recall@{cutoff.label}"]:
        return "nothing answered"
    luck = result.row[f"chance_p@{cutoff.label}"]
    if luck is not None and luck >= 0.05:
        return "not shown to beat random chunks"
    return ""


def choose(candidates: Sequence[Candidate], margin: float) -> dict:
    """The choice among candidates, as the JSON has it."""
    chooser = Chooser(candidates, margin)
    as_good = chooser.as_good()
    best, chosen = as_good[0], chooser.choose()
    answered, spent = chooser.standing(chosen, None)
    cheaper = []
    for number, candidate in enumerate(candidates):
        is_cheaper = chooser.spent[number] < chooser.spent[chosen]
        if is_cheaper and number not in as_good:
            wins = chooser.gained(number, best, None)
            losses = chooser.gained(best, number, None)
            need = queries_to_show(wins, losses, chooser.asked, margin)
            cheaper.append(
                {
                    "strategy": candidate.label,
                    "recall": chooser.answered[number] / chooser.asked,
                    "tokens": chooser.spent[number] / chooser.asked,
                    "queries_needed": need,
                }
            )
    return {
        "strategy": candidates[chosen].label,
        "reference": candidates[best].label,
        "margin": margin,
        "recall": answered / chooser.asked,
        "tokens": spent / chooser.asked,
        "leave_one_out": chooser.leave_one_out(),
        "as_good": [candidates[number].label for number in as_good],
        "cheaper": cheaper,
    }


def choice_of(
    results: Sequence[Result], cutoff: Cutoff, metric: str, margin: float
) -> dict | None:
    """The choice among results by a metric, as the JSON has it.

    It names the metric, and what was excluded, {why: labels}. None if nothing
    can be chosen.
    """
    candidates = [
        Candidate(each.label, each.columns[metric], each.columns["tokens"])
        for each in results
        if not why_excluded(each, cutoff)
    ]
    if not candidates:
        return None
    chosen = choose(candidates, margin)
    found = excluded(results, cutoff)
    return {**chosen, "metric": metric, "excluded": found}


def excluded(
    results: Sequence[Result], cutoff: Cutoff
) -> dict[str, list[str]]:
    """{why: the labels of results that cannot be chosen}."""
    found = defaultdict(list)
    for result in results:
        why = why_excluded(result, cutoff)
        if why:
            found[why].append(result.label)
    return found


# ---- conclude: what the result hangs on ------------------------------------
class Shift(NamedTuple):
    """The recall of a strategy for each place where windows may start."""

    strategy: str  # its label
    offsets: list[int]  # of the first window, in characters
    recall: list[float]


def shift_jobs(jobs: Sequence[Job], count: int) -> list[Job]:
    """The jobs again, for each other offset of their windows."""
    shifted = []
    for job in jobs:
        plain = job.setup._replace(explained=(), covered=job.setup.covered[:1])
        for offset in window_offsets(job.strategy, count):
            if offset:
                setup = plain._replace(offset=offset)
                shifted.append(job._replace(setup=setup))
    return shifted


def run_shifts(
    jobs: Sequence[Job], data: Data, cutoff: Cutoff, watch: Callable = iter
) -> list[float]:
    """The recall of each job at a cutoff, in one round."""
    figure = decisive(data)
    trials = run_rounds(jobs, data.documents, data.queries, rounds=1)
    return [
        fsum(hits_of(trial, data.queries, cutoff, figure)) / len(data.queries)
        for trial in watch(trials)
    ]


def collect_shifts(
    results: Sequence[Result],
    jobs: Sequence[Job],
    recalls: Sequence[float],
    metric: str,
) -> list[Shift]:
    """A Shift for each result: what it gave, and what its shifted jobs did."""
    found = []
    for result in results:
        offsets, recall = [0], [result.row[metric]]
        for job, value in zip(jobs, recalls):
            if job.label == result.label:
                offsets.append(job.setup.offset)
                recall.append(value)
        found.append(Shift(result.label, offsets, recall))
    return found


def pairs_won(ours: Shift, theirs: Shift) -> tuple[int, int, int]:
    """In how many pairs of offsets one strategy wins, ties and loses."""
    pairs = list(product(ours.recall, theirs.recall))
    wins = sum(mine > other for mine, other in pairs)
    ties = sum(mine == other for mine, other in pairs)
    return wins, ties, len(pairs) - wins - ties


# ---- conclude: the report --------------------------------------------------
class Report(NamedTuple):
    """All that was measured and concluded, once, before anything prints."""

    data: Data
    results: list  # of Result
    comparisons: list  # dicts, as the JSON has them
    cutoffs: list
    settings: dict  # what was asked for, as the JSON has it
    points: dict  # {label: Point}
    frontier: list  # labels, the cheapest first
    elbow: str | None  # a label
    choice: dict | None  # as the JSON has it
    thresholds: list  # of dicts, as the JSON has them
    cut_levels: dict  # {label: cut_levels(...)} of recursive chunkers
    shifts: Sequence = ()  # of Shift
    spreads: Sequence = ()  # of dicts, as the JSON has them
    notes: Sequence = ()  # of Note

    @property
    def last(self) -> Cutoff:
        """The last cutoff, to which figures without @k belong."""
        return self.cutoffs[-1]

    @property
    def baseline(self) -> str:
        """The label of what the others are compared with."""
        return self.settings["baseline"]

    @property
    def metric(self) -> str:
        """The figure that decides: recall@3, or complete@3."""
        return metric_at(self.data, self.last)


def result_of(report: Report, label: str) -> Result:
    """The Result of a label."""
    return next(each for each in report.results if each.label == label)


def conclude(
    data: Data, results: list, cutoffs: list, settings: dict
) -> Report:
    """The Report of results; where rounds disagree, nothing is tested."""
    last = cutoffs[-1]
    metric = metric_at(data, last)
    points = {
        each.label: Point(each.row[metric], each.row["tokens"])
        for each in results
    }
    believed = {
        each.label: points[each.label]
        for each in results
        if not is_saturated(each.trial, last)
    }
    comparisons = compare_at(results, data, cutoffs, settings)
    choice = None
    if settings["deterministic"]:
        choice = choice_of(results, last, metric, settings["margin"])
    report = Report(
        data,
        results,
        comparisons,
        cutoffs,
        settings,
        points,
        frontier(believed),
        elbow(believed),
        choice,
        thresholds_of(results, data, cutoffs, settings),
        levels_of(results, data),
    )
    return report._replace(notes=notes(report))


def compare_at(
    results: Sequence[Result],
    data: Data,
    cutoffs: Sequence[Cutoff],
    settings: dict,
    covered: float | None = None,
) -> list[dict]:
    """The comparisons of results at all cutoffs, as the JSON has them.

    covered: the share of a gold that a chunk must hold, if another than the
    first. Where rounds disagree, what is tested is None.
    """
    share = covered or results[0].trial.covered
    by_metric = {
        metric_at(data, cutoff): outcomes_at(results, data, cutoff, share)
        for cutoff in cutoffs
    }
    rows = compare(by_metric, settings["baseline"])
    if not settings["deterministic"]:
        tested = ("p", "p_holm", "verdict", "decidable", "queries_needed")
        for row in rows:
            row.update(dict.fromkeys(tested))
    return rows


def thresholds_of(
    results: Sequence[Result],
    data: Data,
    cutoffs: Sequence[Cutoff],
    settings: dict,
) -> list[dict]:
    """The recall and the verdicts at each other threshold, for the JSON.

    They are of the last cutoff, of the same rankings.
    """
    metric = metric_at(data, cutoffs[-1])
    found = []
    for covered in results[0].trial.other_covers:
        outcomes = outcomes_at(results, data, cutoffs[-1], covered)
        rows = compare_at(results, data, cutoffs, settings, covered)
        found.append(
            {
                "covered": round(100 * covered),
                "recall": {each.label: mean(each.hits) for each in outcomes},
                "verdicts": {
                    row["strategy"]: row["verdict"]
                    for row in rows
                    if row["metric"] == metric
                },
            }
        )
    return found


def levels_of(results: Sequence[Result], data: Data) -> dict[str, dict]:
    """{label: cut_levels(...)} of the recursive chunkers."""
    return {
        each.label: cut_levels(each.trial, data.documents)
        for each in results
        if each.trial.strategy.startswith("recursive:")
    }


def cut_levels(trial: Trial, documents: Sequence) -> dict[str, int]:
    """{separator, or "character": how many cuts follow one}.

    Of SEPARATORS the coarsest that stands right before a cut counts.
    """
    counts = dict.fromkeys([*SEPARATORS, "character"], 0)
    patterns = {
        level: re.compile(rf"(?:{pattern})\Z")
        for level, pattern in SEPARATORS.items()
    }
    for (document, _, end), following in zip(trial.chunks, trial.chunks[1:]):
        if following[0] != document:
            continue
        before = documents[document].text[max(0, end - 99) : end]
        found = "character"
        for level, pattern in patterns.items():
            if pattern.search(before):
                found = level
                break
        counts[found] += 1
    return counts


# ---- notes: what the figures do not say for themselves ---------------------
class Note(NamedTuple):
    """A sentence that is true of some strategies."""

    kind: str
    strategies: list[str]  # their labels
    text: str


def first_ten(numbers: Sequence[object]) -> str:
    """The first ten of a list, and how many more: "1, 2 and 5 more"."""
    shown = ", ".join(map(str, numbers[:10]))
    more = len(numbers) - 10
    return f"{shown} and {more} more" if more > 0 else shown


def percent(share: float) -> str:
    """A share as "5.5 %"."""
    return f"{100 * share:.1f} %"


def note_varies(report: Report, result: Result) -> Iterator[str]:
    """Rounds disagree."""
    if result.spread is None:
        return
    text = f"Its {report.settings['rounds']} runs differ"
    if result.spread:
        text += f" in {plural(len(result.spread), 'figure')}: the table "
        text += "shows the mean and [least, most]. "
    else:
        text += " in their rankings, but in no figure. "
    text += "Differences are not tested; details of single questions are of "
    yield text + "the first run."


def note_lost(report: Report, result: Result) -> Iterator[str]:
    """A chunker leaves text out, or a budget fits no chunk."""
    trial = result.trial
    if ":" not in trial.strategy:  # ours leave nothing out
        share = share_left_out(trial, report.data.documents)
        if share:
            left_out = percent(share)
            yield f"Leaves {left_out} of the text out: nothing can find it."
    starved = 0
    for ranked in trial.ranked:
        starved += bool(ranked) and not report.last.sends(ranked, trial.costs)
    if starved:
        yield (
            f"Sends nothing for {plural(starved, 'question')}: the best chunk "
            f"alone is over {report.last.limit} tokens."
        )


def share_left_out(trial: Trial, documents: Sequence) -> float:
    """The share of the corpus that is in no chunk; white space aside."""
    words = [
        (number, *word.span())
        for number, document in enumerate(documents)
        for word in re.finditer(r"\S+", document.text)
    ]
    chunks = trial.chunks
    outside = union_length([*words, *chunks]) - union_length(chunks)
    return outside / union_length(words)


def note_saturated(report: Report, result: Result) -> Iterator[str]:
    """Every chunk can be sent."""
    count = len(result.trial.chunks)
    for cutoff in report.cutoffs:
        if is_saturated(result.trial, cutoff):
            why = "there is no chunk"
            if count:
                which = "the only chunk fits"
                if count > 1:
                    which = f"all {count} chunks fit"
                why = f"{which} in {cutoff.room}"
            yield f"recall@{cutoff.label} means nothing: {why}."


def note_unmatched(report: Report, result: Result) -> Iterator[str]:
    """Queries for which nothing is retrieved, so that they cost nothing."""
    trial = result.trial
    unmatched = [
        number for number, ranked in enumerate(trial.ranked, 1) if not ranked
    ]
    if not unmatched:
        return
    count = len(unmatched)
    asked = f"{plural(count, 'question')} ({query_names(report, unmatched)})"
    why = ""
    if trial.retriever.startswith("bm25("):
        why = f", which {verb(count, 'share')} no token with any chunk"
    yield (
        f"Retrieves nothing for {asked}{why}: nothing is sent, which counts "
        "as 0 tokens."
    )


def note_unknown(report: Report, result: Result) -> Iterator[str]:
    """Figures that would take too long to be exact."""
    for cutoff in report.cutoffs:
        names = [f"ceiling@{cutoff.label}"]
        if isinstance(cutoff, TopK):  # under a budget it is never known
            names.append(f"chance@{cutoff.label}")
        for name in names:
            many = result.columns[name].count(None)
            if many:
                count = plural(many, "question")
                need = verb(many, "need")
                yield f"{name} is not computed: {count} {need} too many golds."


def note_chance(report: Report, result: Result) -> Iterator[str]:
    """Luck does as well."""
    for cutoff in report.cutoffs:
        at = f"@{cutoff.label}"
        luck = result.row["chance_p" + at]
        if is_saturated(result.trial, cutoff) or not result.row["recall" + at]:
            continue
        if luck is None:
            continue
        if luck >= 0.05:
            said = "may be luck" if luck < 0.5 else "is no better than luck"
            yield (
                f"recall{at} {said}: random chunks do as well in "
                f"{percent(luck)} of draws."
            )
        elif result.row["chance" + at] >= 0.5:
            share = percent(result.row["chance" + at])
            chunks = plural(len(result.trial.chunks), "chunk")
            yield (
                f"recall{at} is easily high: of {chunks}, random draws of "
                f"{cutoff.label} answer {share} of the questions."
            )


def note_floor(report: Report, result: Result) -> Iterator[str]:
    """No chunk covers a gold, whatever is retrieved."""
    causes = result.trial.causes
    if not causes:
        return
    count = sum(
        any(gold in causes for gold in query.golds)
        for query in report.data.queries
    )
    lost = Counter((cause, gold.rule) for gold, cause in causes.items())
    reasons = []
    for cause, rule in sorted(lost):
        number = lost[cause, rule]
        several, why = CAUSES[cause]
        if cause == "torn" and ":" not in result.trial.strategy:
            why += " or left out"
        golds = plural(number, gold_noun(rule))
        reasons.append(f"{golds} {verb(number, several)} {why}")
    asked = plural(count, "question")
    said = f"{asked} cannot be answered with these chunks"
    if decisive(report.data) == "complete":
        said = f"recall cannot count {asked}, whatever is sent"
    yield f"{said}: {', '.join(reasons)}."


CAUSES = {
    "empty": ("have", "no token to match"),
    "long": ("are", "too long for a chunk"),
    "torn": ("are", "split across chunks"),
}


def gold_noun(rule: str) -> str:
    """What a gold with this rule is called."""
    return {"wording": "topic", "quote": "passage"}.get(rule, rule)


def note_touched(report: Report, result: Result) -> Iterator[str]:
    """Of a section a scrap arrives, and recall counts it."""
    if decisive(report.data) != "complete":
        return
    at = f"@{report.last.label}"
    recall, complete = "recall" + at, "complete" + at
    pairs = zip(result.columns[recall], result.columns[complete])
    scraps = sum(hit and not whole for hit, whole in pairs)
    if scraps:
        share = f"{100 * result.trial.covered:.0f} %"
        yield (
            f"{recall} flatters: for {plural(scraps, 'question')} it counts a "
            f"section of which less than {share} arrived. {complete}, which "
            f"takes {share}, is {result.row[complete]:.3f}."
        )


def note_ceiling(report: Report, result: Result) -> Iterator[str]:
    """The ranker is perfect; k or the chunks stand in the way."""
    for cutoff in report.cutoffs:
        at = f"@{cutoff.label}"
        recall, most = result.row["recall" + at], result.row["ceiling" + at]
        is_full = is_saturated(result.trial, cutoff)
        if result.spread is not None or is_full:
            continue
        if 0 < recall == most < 1:
            yield (
                f"recall{at} is as high as any ranker could get with these "
                f"chunks: {ceiling_reason(report, result, cutoff)}."
            )


def ceiling_reason(report: Report, result: Result, cutoff: Cutoff) -> str:
    """What stands in the way of the queries that a perfect ranker missed."""
    covers = result.trial.covers
    hits = result.columns[f"recall@{cutoff.label}"]
    torn = beyond = 0
    for query, hit in zip(report.data.queries, hits):
        if not all(covers[gold] for gold in query.golds):
            torn += 1
        elif not hit:
            beyond += 1
    reasons = []
    if beyond:
        need = f"{plural(beyond, 'question')} {verb(beyond, 'need')}"
        reasons.append(f"{need} more than {cutoff.words}")
    if torn:
        need = f"{plural(torn, 'question')} {verb(torn, 'need')}"
        reasons.append(f"{need} what no chunk holds")
    return ", and ".join(reasons)


def note_oversize(report: Report, result: Result) -> Iterator[str]:
    """Chunks far over the size that was asked for."""
    size = asked_size(result.trial.strategy)
    if size is None:
        return
    lengths, unit = list(map(length, result.trial.chunks)), "characters"
    if units(result.trial.strategy.partition(":")[2]) == {"t"}:
        lengths, unit = result.trial.costs, "tokens"
    over = sum(found > 2 * size for found in lengths)
    if over:
        chunks = f"{plural(over, 'chunk')} {verb(over, 'are')}"
        yield (
            f"{chunks} more than twice as long as asked for; the "
            f"longest has {max(lengths)} {unit}."
        )


def note_depth(report: Report, result: Result) -> Iterator[str]:
    """A recursive chunker that often found no good place to cut."""
    cuts = report.cut_levels.get(result.label, {})
    total = sum(cuts.values())
    fell = cuts["space"] + cuts["character"] if cuts else 0
    if fell and fell / total >= 0.2:
        yield (
            f"{percent(fell / total)} of its cuts fall at a space or within a "
            "word, for want of a better place."
        )


def note_mixed(report: Report, result: Result) -> Iterator[str]:
    """A comparison that changes two things at once."""
    base = result_of(report, report.baseline)
    ours, theirs = result.trial, base.trial
    is_other_ranker = ours.retriever != theirs.retriever
    if is_other_ranker and ours.strategy != theirs.strategy:
        yield (
            f"Differs from {base.label} in its chunks and in its retriever, "
            "so the result cannot be credited to either alone."
        )


NOTES = {  # the weightiest first
    "varies": note_varies,
    "lost": note_lost,
    "saturated": note_saturated,
    "unmatched": note_unmatched,
    "chance": note_chance,
    "floor": note_floor,
    "touched": note_touched,
    "ceiling": note_ceiling,
    "oversize": note_oversize,
    "depth": note_depth,
    "mixed": note_mixed,
    "unknown": note_unknown,
}


def notes(report: Report) -> list[Note]:
    """The Notes that hold; strategies of which one is true share it."""
    found = []
    for kind, texts_of in NOTES.items():
        true_of = defaultdict(list)
        for result in report.results:
            for text in texts_of(report, result):
                true_of[text].append(result.label)
        found += [Note(kind, true_of[text], text) for text in true_of]
    return found


# ---- print: what stands above the table ------------------------------------
TOKENIZER = "words, and character bigrams of scripts without spaces"


def facts(data: Data) -> dict[str, dict]:
    """The corpus and the queries in numbers, as the JSON has them.

    The SHA-256 are of what was loaded.
    """
    documents = [
        (document.name, document.text, document.paragraphs)
        for document in data.documents
    ]
    asked = [
        (query.text, [tuple(gold) for gold in query.golds])
        for query in data.queries
    ]
    single = sum(len(golds) == 1 for _, golds in asked)
    return {
        "corpus": {
            "documents": len(documents),
            "paragraphs": sum(len(slices) for _, _, slices in documents),
            "topics": len(data.topics),
            "characters": sum(len(text) for _, text, _ in documents),
            "sha256": fingerprint((documents, sorted(data.topics))),
        },
        "queries": {
            "total": len(asked),
            "single": single,
            "multi": len(asked) - single,
            "skipped": data.skipped,
            "sha256": fingerprint(asked),
        },
    }


def fingerprint(value: object) -> str:
    """The SHA-256 of a value's ASCII spelling, in hexadecimal."""
    from hashlib import sha256

    return sha256(ascii(value).encode()).hexdigest()


def data_lines(data: Data) -> dict[str, str]:
    """What is said of the corpus and of the queries, {name: text}."""
    corpus, queries = facts(data).values()
    lines = {}
    nouns = ("document", "paragraph", "topic", "character")
    sizes = ", ".join(plural(corpus[noun + "s"], noun) for noun in nouns)
    if own_sections(data):
        sizes = re.sub("(topics?)", r"\1 (files and sections)", sizes)
    lines["corpus"] = f"{sizes}; SHA-256 {corpus['sha256'][:16]}"
    if data.queries:
        asked = f"{queries['total']} ({needs_text(data)})"
        if data.skipped:
            asked += f", {data.skipped} skipped"
        lines["questions"] = f"{asked}; SHA-256 {queries['sha256'][:16]}"
    return lines


def asked_noun(data: Data) -> str:
    """What the questions need: "topic", "passage", "section" or "gold"."""
    rules = {gold.rule for query in data.queries for gold in query.golds}
    return gold_noun(rules.pop()) if len(rules) == 1 else "gold"


def needs_text(data: Data) -> str:
    """How much the questions need: "8 need one topic, 6 need two"."""
    noun = asked_noun(data)
    needs = [len(query.golds) for query in data.queries]
    single, multi = needs.count(1), len(needs) - needs.count(1)
    most = "two" if max(needs) == 2 else "several"
    who = "each" if len(needs) > 1 else "it"
    if not multi:
        return f"{who} needs one {noun}"
    if not single:
        return f"{who} needs {most} {noun}s"
    one = f"{single} {verb(single, 'need')} one {noun}"
    return f"{one}, {multi} {verb(multi, 'need')} {most}"


FEW_QUESTIONS = 5  # under so many, a column of its own says little


def few_text(data: Data) -> str:
    """Which of the columns single and multi rest on few questions, if any."""
    several = sum(len(query.golds) > 1 for query in data.queries)
    counts = {"single": len(data.queries) - several, "multi": several}
    if not all(counts.values()):
        return ""  # neither column is there
    column = min(counts, key=counts.__getitem__)
    if counts[column] >= FEW_QUESTIONS:
        return ""
    return f" {column} rests on {plural(counts[column], 'question')}."


def questions_sentence(data: Data) -> str:
    """How many questions there are, what they need, and of which text."""
    count = len(data.documents)
    characters = sum(len(document.text) for document in data.documents)
    text = f"one text of {characters} characters"
    if count > 1:
        text = f"{count} texts of {characters} characters in all"
    asked = plural(len(data.queries), "question")
    said = f"{asked} ({needs_text(data)}), {text}."
    said += few_text(data)
    if data.skipped:
        more = plural(data.skipped, "more question")
        said += f" {more} cannot be used."
    return said


def found_sentence(report: Report) -> str:
    """When what a question needs counts as found, and by which retriever."""
    settings = report.settings
    names = dict.fromkeys(each.row["retriever"] for each in report.results)
    by = either(list(names))
    sent = f"one of the best chunks by {by}, up to {settings['budget']} "
    sent += "tokens in all,"
    if settings["k"] == [1]:
        sent = f"the top chunk by {by}"
    elif settings["k"]:
        sent = f"one of the top {either(settings['k'])} chunks by {by}"
    share = f"{settings['covered']} %"
    noun = asked_noun(report.data)
    what = "What is needed" if noun == "gold" else f"A {noun}"
    said = f"{what} is found when {sent} holds {share} of it"
    if noun == "section":
        said = (
            f"Recall counts a section if {sent} shares with it at "
            f"least {share} of the shorter of the two"
        )
    elif decisive(report.data) == "complete":
        said += f" (a section, if it shares {share} of the shorter of the two)"
    said += "."
    if settings["budget"]:
        said += " At 1, it is the top chunk, whatever its tokens."
    if decisive(report.data) == "complete":
        why = "" if noun == "section" else "since some are sections, "
        said += (
            f" Complete counts a {noun} of which at least {share} was sent; "
            f"{why}verdicts and choice go by it."
        )
    return said


def sizes_text(report: Report) -> str:
    """The unit of the strategies' sizes."""
    found: set[str] = set()
    for result in report.results:
        found |= units(result.trial.strategy.partition(":")[2])
    if found == {"t"}:
        return "tokens"
    return (
        "characters, or tokens if marked t" if "t" in found else "characters"
    )


def header(report: Report) -> str:
    """What was measured, and how, in a few sentences."""
    settings = report.settings
    cost = "words or character pairs, not an LLM's"
    if settings["count"] != "tokens":
        cost = f"as {settings['count']} counts them"
    said = [questions_sentence(report.data), found_sentence(report)]
    if settings["context"]:
        said.append("Titles and headings go before each chunk.")
    said.append(f"Sizes: {sizes_text(report)}. Tokens: {cost}.")
    agree = " agree" if settings["deterministic"] else " disagree"
    if settings["rounds"] == 1:
        agree = ""
    said.append(plural(settings["rounds"], "run") + agree + ".")
    return " ".join(said)


# ---- print: tables ---------------------------------------------------------
# The figures of each table by name, {} being the last cutoff. A name that ends
# in @ or _ stands for all that begin so. A bare run prints the first table.
TABLES = [
    ["chunks", "recall@", "complete@", "single@{}", "multi@{}", "tokens"],
    ["ceiling@", "chance@", "chance_p@", "cut", "outranked"],
    ["evidence@", "complete@", "rr", "sent", "longest", "distractors@"],
    ["char_", "redundancy", "index_growth"],
    ["ci@"],
    ["tokens@"],
]


def figure_text(key: str, value: Any) -> str:
    """A figure of Part 2 as tables show it."""
    if isinstance(value, float) and key.startswith(("tokens", "sent")):
        return f"{value:.1f}"
    return cell(key, value)


def figure_of(result: Result, key: str) -> str:
    """A figure of a result; with its range where rounds vary."""
    value = result.row[key]
    if isinstance(value, list):
        return "-".join(figure_text(key, end) for end in value)
    text = figure_text(key, value)
    if result.spread and key in result.spread:
        least, most = (figure_text(key, end) for end in result.spread[key])
        text += f" [{least}, {most}]"
    return text


def figure_names(row: dict, patterns: list[str], label: str) -> list[str]:
    """The names in a row that the patterns of a table in TABLES ask for."""
    names = []
    for pattern in patterns:
        if pattern.endswith(("@", "_")):
            names += [name for name in row if name.startswith(pattern)]
        else:
            names.append(pattern.format(label))
    return names


def figure_table(report: Report, patterns: list[str]) -> list[dict]:
    """The rows of a table in TABLES."""
    row = report.results[0].row
    names = figure_names(row, patterns, report.last.label)
    rows = []
    for result in report.results:
        texts = {name: figure_of(result, name) for name in names}
        rows.append({"strategy": result.label, **texts})
    return rows


def main_table(report: Report) -> list[dict]:
    """The rows of the table of a bare run.

    single@k and multi@k are there where queries are of both kinds; complete@k
    where a gold is a section; the frontier where there are many strategies.
    """
    patterns = list(TABLES[0])
    if decisive(report.data) == "recall":
        patterns.remove("complete@")
    if len({len(query.golds) > 1 for query in report.data.queries}) == 1:
        patterns.remove("single@{}")
        patterns.remove("multi@{}")
    rows = figure_table(report, patterns)
    if len(rows) > len(STRATEGIES):
        for row in rows:
            is_best = row["strategy"] in report.frontier
            row["frontier"] = "*" if is_best else "-"
    return rows


def detail_tables(report: Report) -> list[list[dict]]:
    """The figures that the main table leaves out, as tables.

    Each is a list of rows {name: text}.
    """
    found = [figure_table(report, patterns) for patterns in TABLES[1:]]
    rows = [comparison_row(report, row) for row in report.comparisons]
    found.append(rows)
    found.append([spread_row(row) for row in report.spreads])
    found.append(category_table(report))
    levels = report.cut_levels.items()
    found.append([{"cuts after": label, **cuts} for label, cuts in levels])
    return [rows for rows in found if rows]


def category_table(report: Report) -> list[dict]:
    """The rows on the figure that decides, a column a category."""
    rows = []
    for result in report.results:
        row: dict[str, Any] = {f"{report.metric} of": result.label}
        for category, figures in result.categories.items():
            count = plural(figures["queries"], "query")
            row[f"{category} ({count})"] = figures[report.metric]
        if result.categories:
            rows.append(row)
    return rows


def query_names(report: Report, numbers: Sequence[int]) -> str:
    """The ids of queries, from 1, or their numbers; the first ten."""
    queries = report.data.queries
    return first_ten([queries[n - 1].id or n for n in numbers])


def comparison_row(report: Report, row: dict) -> dict:
    """A comparison as tables show it."""
    return {
        f"against {row['baseline']}": row["strategy"],
        "metric": row["metric"],
        "difference": f"{row['difference']:+.3f}",
        "95 % interval, not adjusted": interval_text(row["interval"]),
        "p": row["p"],
        "adjusted p": row["p_holm"],
        "verdict": row["verdict"],
        "questions won": query_names(report, row["wins"]) or "-",
        "questions lost": query_names(report, row["losses"]) or "-",
    }


def spread_row(row: dict) -> dict:
    """A difference with its bootstrap interval as tables show it."""
    return {
        f"against {row['baseline']}": row["strategy"],
        "metric": row["metric"],
        "difference": f"{row['difference']:+.3f}",
        "95 % interval (bootstrap)": interval_text(row["interval"]),
    }


def interval_text(interval: list[float] | None) -> str:
    """An interval of a difference: "-0.032 to +0.115"."""
    if interval is None:
        return "-"
    low, high = interval
    return f"{low:+.3f} to {high:+.3f}"


def threshold_table(report: Report) -> list[dict]:
    """The rows on how recall depends on the share that covers a gold."""
    first = report.settings["covered"]
    rows = []
    for result in report.results:
        row = {report.metric: result.label}
        row[f"{first} %"] = cell("", result.row[report.metric])
        for threshold in report.thresholds:
            recall = threshold["recall"][result.label]
            row[f"{threshold['covered']} %"] = cell("", recall)
        rows.append(row)
    return rows


def shift_table(report: Report) -> list[dict]:
    """The rows on how recall depends on where the first window starts."""
    base = next(
        each for each in report.shifts if each.strategy == report.baseline
    )
    rows = []
    for shift in report.shifts:
        recall = shift.recall
        row: dict[str, Any] = {report.metric: shift.strategy}
        row["at 0"] = recall[0]
        row["mean"], row["least"] = mean(recall), min(recall)
        row["most"], row["starts"] = max(recall), len(recall)
        pairs = "-"
        if shift is not base:
            pairs = "{} {} {}".format(*pairs_won(shift, base))
        row["pairs won, tied, lost"] = pairs
        rows.append(row)
    return rows


# ---- print: sentences ------------------------------------------------------
NOTED = 12  # the strategies whose notes a page shows


def notes_by_strategy(report: Report) -> dict[str, list[str]]:
    """{label, or "all rows": the texts of its notes}, the weightiest first."""
    texts = defaultdict(list)
    for note in report.notes:
        labels = note.strategies
        if len(labels) == len(report.results) > 1:
            labels = ["all rows"]
        for label in labels:
            texts[label].append(note.text)
    return texts


def note_lines(report: Report) -> list[str]:
    """The notes, a strategy at a time, its name first."""
    texts = notes_by_strategy(report)
    shown = list(texts)[:NOTED]
    width = max((len(label) for label in shown), default=0)
    lines = []
    for label in shown:
        name = label
        for text in texts[label]:
            lines.append(wrapped(f"{name:<{width}}  {text}", width + 2))
            name = ""
    if len(texts) > NOTED:
        more = len(texts) - NOTED
        strategies = plural(more, "more strategy")
        lines.append(f"Notes on {strategies}: see --format json.")
    return lines


def told_rows(report: Report, metric: str) -> list[dict]:
    """The tested comparisons of a metric, by verdict."""
    rows = [
        row
        for row in report.comparisons
        if row["metric"] == metric and row["verdict"]
    ]
    order = ["better", "worse", "undecided"]
    return sorted(rows, key=lambda row: order.index(row["verdict"]))


def p_text(p: float) -> str:
    """A p-value with three decimals."""
    return "p < 0.001" if p < 0.0005 else f"p = {p:.3f}"


def verdict_cells(row: dict) -> list[str]:
    """The cells of a comparison's line."""
    needed = ""
    if row["verdict"] == "undecided":
        needed = "no difference seen"
        if row["queries_needed"]:
            needed = f"needs about {row['queries_needed']}"
    return [
        row["verdict"],
        row["strategy"],
        f"{row['difference']:+.3f}",
        f"{len(row['wins'])} won, {len(row['losses'])} lost",
        p_text(row["p_holm"]),
        needed,
    ]


def verdict_table(rows: list[dict]) -> list[str]:
    """The first ten comparisons, a line each, and how many more there are."""
    cells = [verdict_cells(row) for row in rows[:10]]
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = []
    for line in cells:
        padded = [text.ljust(width) for text, width in zip(line, widths)]
        lines.append(("  " + "  ".join(padded)).rstrip())
    if len(rows) > 10:
        lines.append(f"  and {len(rows) - 10} more (--detail has all)")
    return lines


def verdict_lines(report: Report) -> list[str]:
    """The comparisons at the last cutoff, and at others what was decided."""
    if len(report.results) == 1 or not report.settings["deterministic"]:
        return []
    rows = told_rows(report, report.metric)
    lines = [nothing_compared(report)]
    if rows:
        title = f"Compared with the baseline, {report.baseline}, by "
        title += f"{report.metric} ({family_text(report)}):"
        lines = [wrapped(title, 2), *verdict_table(rows)]
    lines += decided_elsewhere(report)
    if any(row["verdict"] == "undecided" for row in rows):
        lines.append(wrapped(undecided_text(report, rows), 0))
    return lines


def decided_elsewhere(report: Report) -> Iterator[str]:
    """The comparisons that were decided at another cutoff than the last."""
    for cutoff in report.cutoffs[:-1]:
        metric = metric_at(report.data, cutoff)
        rows = [
            row
            for row in told_rows(report, metric)
            if row["verdict"] != "undecided"
        ]
        if rows:
            yield f"By {metric}:"
            yield from verdict_table(rows)


def tested_rows(report: Report) -> list[dict]:
    """The comparisons that were tested."""
    return [row for row in report.comparisons if row["p"] is not None]


def family_text(report: Report) -> str:
    """For which comparisons p is adjusted, and where those not shown are."""
    tested = Counter(row["metric"] for row in tested_rows(report))
    total, shown = sum(tested.values()), tested.pop(report.metric)
    if total == 1:
        return "p of this one comparison"
    said = f"p is adjusted for all {total} comparisons"
    if tested:
        others = [f"{count} by {metric}" for metric, count in tested.items()]
        said += f": {shown} here, {', '.join(others)} in --detail"
    return said


def nothing_compared(report: Report) -> str:
    """Why no comparison at the last cutoff could be tested."""
    base = result_of(report, report.baseline)
    who = f"every strategy but the baseline, {base.label},"
    if is_saturated(base.trial, report.last):
        who = f"the baseline, {base.label},"
    why = f"has so few chunks that all fit in {report.last.room}"
    return wrapped(f"Nothing is compared by {report.metric}: {who} {why}.", 0)


def undecided_text(report: Report, rows: list[dict]) -> str:
    """What undecided means, and what it would take to decide."""
    said = []
    if not any(row["decidable"] for row in rows):
        hits = result_of(report, report.baseline).columns[report.metric]
        answered, missed = hits.count(True), hits.count(False)
        needed = wins_needed(len(tested_rows(report)))
        base = report.baseline
        said.append(
            f"No difference from {base} could be shown with these questions: "
            f"it takes {needed} won and none lost, or the reverse, but only "
            f"the {missed} that {base} misses can be won, and only the "
            f"{answered} that it answers can be lost."
        )
    count = len(report.data.queries)
    asked = f"{plural(count, 'question')} {verb(count, 'are')}"
    said.append(
        f"Undecided does not mean equal: {asked} too few to tell which is "
        "better."
    )
    doubtful = [row for row in rows if row["verdict"] == "undecided"]
    if any(row["queries_needed"] for row in doubtful):
        said.append(
            '"Needs" estimates how many questions in all would probably '
            "settle a difference of this size among so many comparisons."
        )
    return " ".join(said)


def choice_parts(report: Report) -> list[str]:
    """What to choose and what that gives; then how sure it is, and why.

    Two paragraphs; one where there is no choice, none where runs disagree.
    """
    choice, asked = report.choice, len(report.data.queries)
    if not report.settings["deterministic"]:
        return []
    if choice is None:
        said = ["Nothing here can be chosen."]
        return [" ".join([*said, *excluded_text(report)])]
    label = choice["strategy"]
    standing = standing_text(report, label)
    if len(report.results) == 1:
        return [" ".join([f"{label} {standing}", *missed_text(report, label)])]
    said = [f"Choose {label}{doubt_text(report, choice)}: it {standing}"]
    said += missed_text(report, label)
    why = [*sureness_text(report), *cheaper_text(choice, asked)]
    why += excluded_text(report)
    return [" ".join(said), " ".join(why)]


def doubt_text(report: Report, choice: dict) -> str:
    """What of a choice is a guess, in brackets; nothing if it is shown."""
    asked = len(report.data.queries)
    if not is_guess(choice, asked):
        return ""
    guess = f"a guess, with {plural(asked, 'question')}"
    base = report.baseline
    if not is_shown_better(report, choice["strategy"]):
        return f" ({guess})"
    known = {choice["strategy"], base}.union(*choice["excluded"].values())
    if all(result.label in known for result in report.results):
        return ""
    return f" (better than {base}; among the others {guess})"


def missed_text(report: Report, label: str) -> Iterator[str]:
    """Which queries a strategy misses, and how to look into them."""
    hits = result_of(report, label).columns[report.metric]
    missed = [number for number, hit in enumerate(hits, 1) if not hit]
    if missed:
        noun = "question" if len(missed) == 1 else "questions"
        first = query_names(report, missed[:1])
        yield (
            f"It misses {noun} {query_names(report, missed)} (--explain "
            f"{first} says why)."
        )


def is_shown_better(report: Report, label: str) -> bool:
    """Whether a strategy is shown to be better than the baseline."""
    return any(
        row["verdict"] == "better" and row["strategy"] == label
        for row in report.comparisons
        if row["metric"] == report.metric
    )


def excluded_text(report: Report) -> Iterator[str]:
    """What could not be chosen, and why."""
    parts = [
        f"{first_ten(labels)} ({why})"
        for why, labels in excluded(report.results, report.last).items()
    ]
    if parts:
        yield f"Not considered: {'; '.join(parts)}."


def sureness_text(report: Report) -> Iterator[str]:
    """How the choice stands beside the best, and on queries left out."""
    choice = report.choice or {}
    label, best = choice["strategy"], choice["reference"]
    if label != best:
        recall, tokens = report.points[best]
        yield (
            f"{best} has {recall:.3f} for {tokens:.1f} tokens; {label} is "
            f"shown to come within {choice['margin']:g} of it (--margin)."
        )
    share = choice["leave_one_out"]
    if share is not None:
        asked = len(report.data.queries)
        others, found = plural(asked - 1, "question"), round(share * asked)
        yield (
            f"Leave-one-out {report.metric}, the fairer figure, is "
            f"{share:.3f}: chosen on {others} and tried on the one left out, "
            f"each in turn, the choice answers {found} of {asked}."
        )
    row = result_of(report, label).row
    if row[f"chance_p@{report.last.label}"] is None:
        why = "a question needs too many golds"
        if not isinstance(report.last, TopK):
            why = "with a budget, that is not computed"
        yield f"Whether {label} beats random chunks is not known: {why}."


def standing_text(report: Report, label: str) -> str:
    """What a strategy answered, its interval and its price."""
    hits = result_of(report, label).columns[report.metric]
    share = mean(hits)
    low, high = wilson(share, len(hits))
    found = "found what"
    if decisive(report.data) == "complete":
        found = f"sent at least {report.settings['covered']} % of all that"
    need = verb(len(hits), "need")
    return (
        f"{found} {sum(hits)} of {plural(len(hits), 'question')} {need} "
        f"({share:.3f}; 95 % interval {low:.2f} to {high:.2f}) for "
        f"{report.points[label].tokens:.1f} tokens a question."
    )


def is_guess(choice: dict, asked: int) -> bool:
    """Whether so few queries could not show even equals to be as good.

    choice: as the JSON has it; asked: the number of queries.
    """
    least = queries_to_show(0, 0, 1, choice["margin"])
    return least is not None and asked < least


def cheaper_text(choice: dict, asked: int) -> Iterator[str]:
    """What it would take to show that cheaper strategies are as good.

    choice: as the JSON has it; asked: the number of queries.
    """
    best, margin = choice["reference"], choice["margin"]
    if not margin:
        yield (
            f"{best} has the best {choice['metric']} of those considered; "
            "with a margin of 0, no cheaper one can be shown to be as good."
        )
        return
    if is_guess(choice, asked):
        yield from guess_text(choice)
        return
    helped, beyond = [], []
    for row in choice["cheaper"]:
        name, needed = row["strategy"], row["queries_needed"]
        if needed is None:
            beyond.append(name)
        elif needed > 100_000:
            helped.append(f"{name} (would take over 100000 questions)")
        else:
            helped.append(f"{name} (would take about {needed} questions)")
    if helped:
        yield (
            f"Cheaper, but not shown to come within {margin:g} of {best}: "
            f"{first_ten(helped)}."
        )
    if beyond:
        yield (
            f"Cheaper, but {margin:g} or more below {best}, so that more "
            "questions would not help at this difference: "
            f"{first_ten(beyond)}."
        )


def guess_text(choice: dict) -> Iterator[str]:
    """What is not known of a choice among too few queries."""
    margin = choice["margin"]
    least = queries_to_show(0, 0, 1, margin)
    yield (
        f"With fewer than {least} questions this is just the best "
        f"{choice['metric']}: no cheaper strategy can be shown to come within "
        f"{margin:g} of it."
    )
    equals = [
        row for row in choice["cheaper"] if row["recall"] == choice["recall"]
    ]
    if equals:
        equals.sort(key=itemgetter("tokens"))
        names = [row["strategy"] for row in equals]
        yield (
            f"Cheaper, with the same {choice['metric']}: {first_ten(names)}. "
            "Of equals the dearest is chosen, since a cheaper one has to "
            "prove itself; to save tokens at that risk, take "
            f"{names[0]} ({equals[0]['tokens']:.1f} tokens)."
        )


def threshold_text(report: Report) -> str:
    """Which verdicts change with the share that covers a gold."""
    first = report.settings["covered"]
    if not report.settings["deterministic"]:
        return "Nothing is tested, since runs disagree."
    before = {
        row["strategy"]: row["verdict"]
        for row in report.comparisons
        if row["metric"] == report.metric
    }
    changes = []
    for threshold in report.thresholds:
        for label, verdict in threshold["verdicts"].items():
            if verdict != before[label]:
                at = f"{threshold['covered']} %"
                changes.append(f"{label} is {verdict} at {at}")
    if not changes and {*before.values()} <= {"undecided", None}:
        base = report.baseline
        return f"No difference from {base} is shown at any of these shares."
    if not changes:
        return f"No verdict at {first} % changes at the other shares."
    return f"Verdicts that differ from those at {first} %: " + (
        first_ten(changes) + "."
    )


def moved_text(report: Report, moved: list[Shift]) -> str:
    """What the start moves most, and how far it moves the choice."""

    def spread(shift: Shift) -> float:
        return max(shift.recall) - min(shift.recall)

    def ends(shift: Shift) -> str:
        return f"from {min(shift.recall):.3f} to {max(shift.recall):.3f}"

    wide = max(moved, key=spread)
    if not spread(wide):
        return "The start of the first window changes no recall."
    name = wide.strategy
    choice = (report.choice or {}).get("strategy")
    if name == choice and len(report.shifts) > 1:
        name += ", the choice,"
    said = f"The start of the first window alone moves {name} {ends(wide)}."
    for shift in moved:
        if shift.strategy == choice and shift is not wide:
            said += f" The choice, {choice}, ranges {ends(shift)}."
    return said


def shift_text(report: Report) -> str:
    """What the start of the windows decides."""
    moved = [each for each in report.shifts if len(each.offsets) > 1]
    if not report.settings["deterministic"]:
        return "Runs disagree, so what starts change cannot be told apart."
    if not moved:
        return "No strategy here has windows whose start can be shifted."
    said = moved_text(report, moved)
    asked = report.settings["starts"]
    fewer = [each for each in moved if len(each.offsets) < asked]
    if fewer:
        names = [f"{each.strategy} ({len(each.offsets)})" for each in fewer]
        said += f" Fewer starts than {asked}, as the step is shorter: "
        said += first_ten(names) + "."
    return said


def fragility_parts(report: Report) -> list[str]:
    """The tables and sentences that --covered and --shifts ask for."""
    parts = []
    if report.thresholds:
        title = "How recall depends on the share of a gold that must arrive:"
        lines = [title, table(threshold_table(report)), ""]
        parts.append("\n".join([*lines, wrapped(threshold_text(report), 0)]))
    if report.shifts:
        title = "How recall depends on where the first window starts, and in "
        title += "how many of all pairs of starts (not of questions) each "
        title += f"strategy wins, ties and loses against {report.baseline}:"
        lines = [wrapped(title, 0), table(shift_table(report)), ""]
        parts.append("\n".join([*lines, wrapped(shift_text(report), 0)]))
    return parts


def detail_lines(report: Report) -> list[str]:
    """What --detail says of the data and of the frontier."""
    lines = [
        wrapped(f"{name:<10} {text}", 11)
        for name, text in data_lines(report.data).items()
    ]
    lines.append(wrapped(f"tokenizer  {TOKENIZER}", 11))
    best = ", ".join(report.frontier) or "none"
    lines.append(wrapped(f"frontier   {best}", 11))
    lines.append(wrapped(f"elbow      {report.elbow or 'none'}", 11))
    return lines


def to_text(report: Report, detail: bool = False) -> str:
    """What was measured, the table, and what to make of it, for a person.

    With detail, the other tables too.
    """
    parts = [
        wrapped(header(report), 0),
        table(main_table(report)),
        "\n".join(note_lines(report)),
        "\n".join(verdict_lines(report)),
        *(wrapped(part, 0) for part in choice_parts(report)),
        *fragility_parts(report),
    ]
    if detail:
        parts.append("\n".join(detail_lines(report)))
        parts += map(table, detail_tables(report))
    return "\n\n".join(filter(None, parts))


def to_markdown(report: Report, detail: bool = False) -> str:
    """The table, the notes and the choice, in Markdown.

    With detail, what was measured and all other figures too.
    """
    lines = [
        f"- **{label}**: {' '.join(texts)}"
        for label, texts in notes_by_strategy(report).items()
    ]
    parts = [markdown_table(main_table(report)), "\n".join(lines)]
    parts.append(" ".join(choice_parts(report)))
    if report.thresholds:
        parts.append(markdown_table(threshold_table(report)))
        parts.append(threshold_text(report))
    if report.shifts:
        parts.append(markdown_table(shift_table(report)))
        parts.append(shift_text(report))
    if detail:
        parts.append(header(report))
        lines = [
            f"- {' '.join(line.split())}" for line in detail_lines(report)
        ]
        parts.append("\n".join(lines))
        parts += map(markdown_table, detail_tables(report))
    return "\n\n".join(filter(None, parts))


def markdown_table(rows: list[dict]) -> str:
    """Rows {name: figure} as a table in Markdown."""
    names = list(rows[0])
    lines = [names, [":--"] + ["--:"] * (len(names) - 1)]
    lines += [[cell(*item) for item in row.items()] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# ---- print: what other programs read ---------------------------------------
COMPARED = [  # what the CSV has of a comparison
    "difference",
    "interval",
    "wins",
    "losses",
    "p",
    "p_holm",
    "verdict",
]


def csv_line(report: Report, result: Result) -> dict:
    """The figures of a strategy, {column: value}."""
    chosen = report.choice["strategy"] if report.choice else None
    line = dict(result.row, frontier=result.label in report.frontier)
    line["choice"] = result.label == chosen
    for category, figures in result.categories.items():
        for name, value in figures.items():
            line[f"{name} of {category}"] = value
    for key, ends in (result.spread or {}).items():
        line[f"range of {key}"] = ends
    return line


def to_csv(report: Report, detail: bool = False) -> str:
    """All figures and comparisons, a line a strategy, unrounded.

    A byte order mark tells a spreadsheet of UTF-8.
    """
    import csv
    import io

    lines = {
        result.label: csv_line(report, result) for result in report.results
    }
    for row in report.comparisons:
        for key in COMPARED:
            name = f"{key} of {row['metric']}"
            lines[row["strategy"]][name] = row[key]
    out = io.StringIO()
    columns = dict.fromkeys(chain.from_iterable(lines.values()))
    writer = csv.DictWriter(out, list(columns), lineterminator="\n")
    writer.writeheader()
    for line in lines.values():
        for key, value in line.items():
            if isinstance(value, list):
                line[key] = " ".join(map(str, value))
        writer.writerow(line)
    return "\ufeff" + out.getvalue().rstrip("\n")


def to_json(report: Report, detail: bool = False) -> str:
    """Everything, unrounded, with detail or without."""
    strategies = []
    for result in report.results:
        entry = dict(result.row)
        if result.spread:
            entry["range"] = result.spread
        if result.categories:
            entry["categories"] = result.categories
        strategies.append({**entry, "queries": result.answers})
    content = {
        "version": VERSION,
        "tokenizer": TOKENIZER,
        **report.settings,
        **facts(report.data),
        "strategies": strategies,
        "comparisons": report.comparisons,
        "differences": report.spreads,
        "choice": report.choice,
        "thresholds": report.thresholds,
        "shifts": [shift._asdict() for shift in report.shifts],
        "frontier": report.frontier,
        "elbow": report.elbow,
        "notes": [note._asdict() for note in report.notes],
    }
    return json.dumps(content, ensure_ascii=False)


def save(path: str, text: str) -> None:
    """Write a file in UTF-8 with plain line ends, and the folders above it.

    InputError where that cannot be done.
    """
    folder = os.path.dirname(path) or "."
    with errors_named(folder, "a folder that files can be written to"):
        os.makedirs(folder, exist_ok=True)
    right = "a file that can be written"
    with errors_named(path, right), open(
        path, "w", encoding="utf-8", newline="\n"
    ) as out:
        out.write(text)


def write_trec(report: Report, folder: str) -> None:
    """Write NAME.run and NAME.qrels of each strategy for trec_eval.

    A chunk is called document:start-end. Its score is minus its rank, its
    relevance how many golds it covers.
    """
    for result in report.results:
        name = re.sub(r"[^\w.%-]+", "-", result.label)
        path = os.path.join(folder, name)
        save(path + ".run", "".join(run_lines(result.trial, name)))
        queries = report.data.queries
        save(path + ".qrels", "".join(qrels_lines(result.trial, queries)))


def chunk_id(chunk: Place) -> str:
    """The name of a chunk in TREC files."""
    return "{}:{}-{}".format(*chunk)


def run_lines(trial: Trial, name: str) -> Iterator[str]:
    """The lines of a run file; queries are numbered from 1."""
    for query, ranked in enumerate(trial.ranked, 1):
        for position, number in enumerate(dict.fromkeys(ranked), 1):
            chunk = chunk_id(trial.chunks[number])
            yield f"{query} Q0 {chunk} {position} {-position} {name}\n"


def qrels_lines(trial: Trial, queries: Sequence) -> Iterator[str]:
    """The lines of a qrels file.

    A query that no chunk covers a gold of has a line of 0, so that it counts.
    """
    for number, query in enumerate(queries, 1):
        covers = [trial.covers[gold] for gold in query.golds]
        grades = Counter(chain.from_iterable(covers))
        if not grades:
            yield f"{number} 0 none 0\n"
        for chunk in sorted(grades):
            name = chunk_id(trial.chunks[chunk])
            yield f"{number} 0 {name} {grades[chunk]}\n"


# ---- pages: what a person looks into ---------------------------------------
class Shortfall(NamedTuple):
    """Why a gold that a query needs is not covered by what was sent."""

    gold: RuledGold
    sent_share: float  # of its best place, in all that was sent together
    best_share: float  # the coverage by the best single chunk there is
    reason: str


def diagnose(
    report: Report, trial: Trial, query_number: int
) -> Iterator[Shortfall]:
    """The Shortfalls of a query, by its number from 0."""
    documents = report.data.documents
    query = report.data.queries[query_number]
    sent = report.last.sends(trial.ranked[query_number], trial.costs)
    ranked = trial.explained[query_number].ranked
    chunks = [trial.chunks[chunk] for chunk in sent]

    @lru_cache(maxsize=None)
    def tokens_of(place: Place) -> set:
        document, start, end = place
        return set(tokenize(documents[document].text[start:end]))

    for gold in query.golds:
        covering = trial.covers[gold]
        if not covering.isdisjoint(sent):
            continue
        shares = [
            coverage(gold, place, chunk, tokens_of)
            for place, chunk in product(gold.places, trial.chunks)
        ]
        ranks = [n for n, chunk in enumerate(ranked, 1) if chunk in covering]
        reason = "what holds enough was not retrieved"
        if not covering:
            reason = "no chunk holds enough"
        elif ranks:
            reason = f"the first chunk that holds enough is ranked {ranks[0]}"
        sent_share, _ = best_place(gold, chunks)
        yield Shortfall(gold, sent_share, max(shares, default=0.0), reason)


def verdict_on(report: Report, trial: Trial, query_number: int) -> str:
    """Whether a query was answered, and if not by whose fault."""
    query = report.data.queries[query_number]
    sent = report.last.sends(trial.ranked[query_number], trial.costs)
    if answered(query, sent, trial.covers):
        is_whole = position_figures(trial, query, sent, "")["complete"]
        if decisive(report.data) == "complete" and not is_whole:
            return "touched: of a section too little was sent"
        return "answered"
    if not trial.explained[query_number].ranked:
        if trial.retriever.startswith("bm25("):
            return "missed, unmatched: it shares no token with any chunk"
        return "missed, unmatched: nothing is retrieved"
    if not sent:
        return f"missed, nothing sent: one chunk is over {report.last.words}"
    if is_reachable(trial, query, report.last) is not False:
        return (
            f"missed, outranked: {why_outranked(trial, query_number, query)}"
        )
    if all(trial.covers[gold] for gold in query.golds):
        return f"missed, cut: it needs more than {report.last.words}"
    return "missed, cut: no chunk holds enough of what it needs"


def why_outranked(trial: Trial, query_number: int, query: Question) -> str:
    """Why chunks that would answer a query were not sent."""
    found = trial.explained[query_number].ranked
    if all(not trial.covers[gold].isdisjoint(found) for gold in query.golds):
        return (
            "some chunks would answer it, but the ranker did not rank them "
            "high enough"
        )
    if trial.retriever.startswith("bm25("):
        return "a chunk that it needs shares no token with it"
    return "a chunk that it needs is not retrieved at all"


class View(NamedTuple):
    """How chunks are shown."""

    documents: Sequence
    only: int | None = None  # the number of the one document that is shown
    is_full: bool = False  # whether the whole text of a chunk is


def chunk_lines(
    view: View,
    trial: Trial,
    numbers: Iterable[int],
    golds: Collection[RuledGold] = (),
    scores: dict | None = None,
    focus: Sequence[RuledGold] = (),
) -> Iterator[str]:
    """What there is to know of these chunks, in their order, and their text.

    Of each its place, tokens, score, and which of the golds it covers; then
    the part that covers a gold in focus, or its ends, or all of it.
    """
    names: dict[int, dict] = defaultdict(dict)  # of golds covered, each once
    for gold in golds:
        for number in trial.covers[gold]:
            names[number][quoted(gold.name, 30)] = None
    for position, number in enumerate(numbers, 1):
        chunk = trial.chunks[number]
        document_number, start, end = chunk
        if view.only not in (None, document_number):
            continue
        document = view.documents[document_number]
        said = [f"{document.name} {start}-{end}"]
        said.append(plural(trial.costs[number], "token"))
        if scores:
            said.append(f"score {scores[number]:.3f}")
        if number in names:
            said.append("covers " + " and ".join(names[number]))
        yield wrapped(f"{position:>6}. {', '.join(said)}", 8)
        covered = [gold for gold in focus if number in trial.covers[gold]]
        yield from shown_text(view, chunk, covered)


def shown_text(
    view: View, chunk: Place, golds: Sequence[RuledGold]
) -> Iterator[str]:
    """The lines of a chunk's text: all of them, or an excerpt."""
    number, start, end = chunk
    document = view.documents[number]
    if view.is_full:
        for line in document.text[start:end].splitlines():
            yield f"        {line}".rstrip()
    else:
        yield "        " + excerpt(document, chunk, golds)


EXCERPT = 60  # characters of a chunk that are shown
EXCERPT_KEY = "~ marks where a paragraph is cut, ... where text is left out."


def excerpt(
    document: NamedDocument, chunk: Place, golds: Sequence[RuledGold]
) -> str:
    """What a chunk says, on one line: the part that covers one of the golds.

    Without golds, its ends. A ~ marks where a paragraph is cut, dots what is
    left out.
    """
    _, start, end = chunk
    _, left, right = common_part(chunk, golds) or chunk
    spare = max(0, EXCERPT - (right - left)) // 2
    left, right = max(start, left - spare), min(end, right + spare)
    before = "... " if left > start else tear(document.paragraphs, start)
    after = " ..." if right < end else tear(document.paragraphs, end)
    return before + quoted(document.text[left:right], EXCERPT)[1:-1] + after


def common_part(chunk: Place, golds: Sequence[RuledGold]) -> Place | None:
    """The longest part that a chunk has in common with a place of a gold."""
    document, start, end = chunk
    parts = []
    for other, left, right in chain.from_iterable(g.places for g in golds):
        if other == document and left < end and start < right:
            parts.append((document, max(start, left), min(end, right)))
    return max(parts, key=length) if parts else None


def tear(paragraphs: Sequence[Slice], position: int) -> str:
    """The mark ~ if a position is within a paragraph, or else nothing."""
    start, end = paragraphs[bisect_left(paragraphs, (position,)) - 1]
    return "~" if start < position < end else ""


def explain(
    report: Report, view: View, numbers: Sequence[int]
) -> Iterator[str]:
    """The lines on these queries, numbered from 0.

    What each strategy sent, what is missing, and why.
    """
    if numbers:
        yield "\n" + EXCERPT_KEY
    for query_number in numbers:
        query = report.data.queries[query_number]
        golds = query.golds
        yield ""
        named = f" ({query.id})" if query.id else ""
        title = f"question {query_number + 1}{named}: {query.text}"
        yield wrapped(title, 2)
        needs = " and ".join(quoted(gold.name) for gold in golds)
        yield wrapped(f"  needs {needs}", 4)
        for label, trial, *_ in report.results:
            verdict = verdict_on(report, trial, query_number)
            yield wrapped(f"  {label}: {verdict}", 4)
            sent = report.last.sends(trial.ranked[query_number], trial.costs)
            scores = trial.explained[query_number].scores
            yield from chunk_lines(
                view, trial, sent, golds, scores, focus=golds
            )
            for shortfall in diagnose(report, trial, query_number):
                yield wrapped("    " + shortfall_text(shortfall), 6)


def shortfall_text(shortfall: Shortfall) -> str:
    """What is missing, how near the chunks come, and why."""
    gold, sent_share, best_share, reason = shortfall
    return (
        f"missing {quoted(gold.name, 30)}: the chunks sent hold "
        f"{100 * sent_share:.0f} % of it together, the best single chunk of "
        f"all holds {100 * best_share:.0f} %; {reason}"
    )


def list_chunks(report: Report, view: View) -> Iterator[str]:
    """The lines on all chunks of each strategy, and what each covers."""
    yield "\n" + EXCERPT_KEY
    for label, trial, *_ in report.results:
        line = f"\n{label}: {plural(len(trial.chunks), 'chunk')}"
        if len(trial.costs) > 1:
            dearest = trial.costs.index(max(trial.costs))
            line += f", most tokens in number {dearest + 1}"
        yield line
        numbers = range(len(trial.chunks))
        yield from chunk_lines(view, trial, numbers, trial.covers)


def ask(
    question: str, jobs: Sequence[Job], view: View, cutoff: Cutoff
) -> Iterator[str]:
    """The lines on what each job retrieves for a question without golds."""
    yield wrapped(f"What is retrieved for {quoted(question)}:", 2)
    yield EXCERPT_KEY
    asked = [Query(question, ())]
    for strategy, setup, label in jobs:
        setup = setup._replace(explained=(0,))
        found = trial(strategy, view.documents, asked, setup)
        sent = cutoff.sends(found.ranked[0], found.costs)
        cost = plural(sum(found.costs[number] for number in sent), "token")
        yield f"\n{label}: {plural(len(sent), 'chunk')}, {cost}"
        scores = found.explained[0].scores
        yield from chunk_lines(view, found, sent, scores=scores)


# ---- pages: what to know of data before a run ------------------------------
# Sizes that people use, in characters.
USUAL = [50, 100, 150, 200, 300, 400, 600, 800, 1200, 1600, 2400, 3200]
LISTED = 30  # the documents that --check has a line for


def check(data: Data, options: Namespace) -> str:
    """What to know of data before choosing sizes, and a first command."""
    paragraphs = [
        document.text[start:end]
        for document in data.documents
        for start, end in document.paragraphs
    ]
    tokens = [quick_tokenize(text) for text in paragraphs]
    golds = {gold for query in data.queries for gold in query.golds}
    golds = golds or set(data.topics.values())
    lengths = [min(map(length, gold.places)) for gold in golds]
    ratio = sum(map(len, paragraphs)) / sum(map(len, tokens))
    repeated = len(paragraphs) - len(set(paragraphs))
    near = "paragraph and section" if own_sections(data) else "paragraph"
    lines = [
        wrapped(f"{name:<10} {text}", 11)
        for name, text in data_lines(data).items()
    ]
    lines += [
        "",
        "Three numbers are the least, the median and the most.",
        "",
        *document_lines(data),
        "",
        span_line("characters a paragraph", list(map(len, paragraphs))),
        span_line("tokens a paragraph", list(map(len, tokens))),
        span_line("characters a gold", lengths),
        f"characters a token         {ratio:.2f}",
        f"golds                      {gold_kinds(golds)}",
        f"paragraphs that repeat     {repeated}",
        f"questions without a match  {unmatched_queries(data, tokens)}",
        "",
        f"to begin with, usual sizes near the median {near}:",
        f"  python chunking_retrieval_eval.py{data_options(options)}"
        f" {first_strategies(data)}",
    ]
    return "\n".join(lines)


def own_sections(data: Data) -> list[Place]:
    """Where the sections under headings stand, the files themselves aside."""
    places = [
        place
        for topic, gold in data.topics.items()
        if gold.rule == "section" and "#" in topic
        for place in gold.places
    ]
    return sorted(places)


def document_lines(data: Data) -> list[str]:
    """A table on the documents, or on the first thirty, as lines."""
    sizes = defaultdict(list)
    store = TokenStore(data.documents)
    for place in own_sections(data):
        sizes[place[0]].append(len(store.tokens(place)))
    rows = []
    for number, document in enumerate(data.documents[:LISTED]):
        whole = number, 0, len(document.text)
        row = {"": "", "characters": len(document.text)}
        row["tokens"] = len(store.tokens(whole))
        if sizes:
            row["sections"] = len(sizes[number])
            row["tokens a section"] = span(sizes[number])
        rows.append(row)
    # Names come last, where a Han character's two columns move nothing.
    names = ["document", *(document.name for document in data.documents)]
    lines = [
        f"{line}  {name}" for line, name in zip(table(rows).split("\n"), names)
    ]
    more = len(data.documents) - LISTED
    if more > 0:
        lines.append(f"  and {plural(more, 'more document')}")
    return lines


def span(values: list[int]) -> str:
    """Least, median and most of some numbers, a dash if there are none."""
    from statistics import median_high

    if not values:
        return "-"
    return f"{min(values)}, {median_high(values)}, {max(values)}"


def span_line(what: str, values: list[int]) -> str:
    """The line on least, median and most."""
    return f"{what:<25}  {span(values)}"


def usual(lengths: Sequence[int]) -> int:
    """The number, in USUAL, of the size nearest to the median of lengths."""
    from statistics import median_high

    middle = median_high(lengths)
    if middle > 2 * USUAL[-1]:  # a text without paragraphs
        middle = 400
    ratios = [max(size / middle, middle / size) for size in USUAL]
    return ratios.index(min(ratios))


def first_strategies(data: Data) -> str:
    """Strategies to begin with, as options of the command line.

    Their sizes go from the median paragraph to the median section, or to
    either side of the paragraph where there are no sections.
    """
    paragraphs = [
        end - start
        for document in data.documents
        for start, end in document.paragraphs
    ]
    sections = list(map(length, own_sections(data)))
    middle = usual(paragraphs)
    ends = [max(0, middle - 1), min(middle + 1, len(USUAL) - 1)]
    if sections:
        ends = sorted([middle, usual(sections)])
        middle = sum(ends) // 2
    sizes = [USUAL[number] for number in sorted({*ends, middle})]
    given = f"-s fixed:{','.join(map(str, sizes))} -s para:{sizes[-1]}"
    given += f" -s sentence:{USUAL[middle]} -s recursive:{USUAL[middle]}"
    if sections:
        given += f" -s structure:{sizes[-1]}"
    return given


def unmatched_queries(data: Data, tokens: list[list[str]]) -> str:
    """How many queries share no token with the corpus, and three of them."""
    known = set(chain.from_iterable(tokens))
    strange = [
        quoted(query.text)
        for query in data.queries
        if known.isdisjoint(tokenize(query.text))
    ]
    if not strange:
        return "0"
    more = "; ..." if len(strange) > 3 else ""
    return f"{len(strange)}: {'; '.join(strange[:3])}{more}"


def gold_kinds(golds: Iterable[RuledGold]) -> str:
    """How many golds there are of each kind: "2 passages, 1 section"."""
    kinds = Counter(gold_noun(gold.rule) for gold in golds)
    return ", ".join(plural(kinds[kind], kind) for kind in sorted(kinds))


# ---- pages: what a query file is written from ------------------------------
def list_topics(data: Data) -> Iterator[str]:
    """A line a topic: its name, and what it stands for.

    InputError where there is none.
    """
    if not data.topics:
        what = "this corpus has no topics"
        raise InputError(f"--topics: {what} (quote passages as golds)")
    words = {name.topic: name.words for name in section_names(data)}
    for topic, gold in data.topics.items():
        if gold.rule == "wording":
            yield f"{topic}  {plural(len(gold.places), 'paragraph')}"
        else:
            yield f"{topic}  {words.get(topic, 'the whole file')}"


class Passage(NamedTuple):
    """A sentence of the corpus."""

    start: int  # counted through all documents
    end: int
    place: Place


def sentences(text: str) -> Iterator[Slice]:
    """The whole sentences of a text's prose, without list marks.

    Headings, tables, code and HTML are no prose.
    """
    pattern = rf"{SENTENCE_END}\s*|\n(?=[ \t]*{LIST_MARK})"
    for kind, run in groupby(scan(text), lambda line: line.kind):
        lines = list(run)
        if kind != "text":
            continue
        for start, end in split(
            pattern, text, (lines[0].start, lines[-1].end)
        ):
            sentence = text[start:end].strip()
            marks = LIST_MARKS.match(sentence)
            if marks:
                sentence = sentence[marks.end() :]
            is_whole = re.search(rf"{SENTENCE_END}\Z", sentence)
            if is_whole and sentence[0] not in "<>|":
                start = text.index(sentence, start)
                yield start, start + len(sentence)


def draft_passages(data: Data) -> list[Passage]:
    """The sentences of 40 to 200 characters that are not said again."""
    passages = []
    before = 0
    for number, document in enumerate(data.documents):
        for left, right in document.paragraphs:
            for start, end in sentences(document.text[left:right]):
                if 40 <= end - start <= 200:
                    start, end = left + start, left + end
                    place = number, start, end
                    passages.append(
                        Passage(before + start, before + end, place)
                    )
        before += len(document.text)
    said = [squeezed_place(data, passage.place) for passage in passages]
    times = Counter(said)
    return [
        passage for passage, words in zip(passages, said) if times[words] == 1
    ]


def squeezed_place(data: Data, place: Place) -> str:
    """The text of a place without its white space."""
    number, start, end = place
    return "".join(data.documents[number].text[start:end].split())


def outward(passages: Sequence[Passage], position: float) -> Iterator[int]:
    """The numbers of passages, in order, from the nearest to a position on."""
    first = bisect_left(passages, (position,))
    before = (
        (max(0, position - passages[n].end), n)
        for n in range(first - 1, -1, -1)
    )
    after = (
        (passages[n].start - position, n) for n in range(first, len(passages))
    )
    for _, number in merge(before, after):
        yield number


def draft(data: Data, count: int) -> Iterator[str]:
    """Lines of JSON with passages to ask for, spread evenly over the corpus.

    InputError where there are not so many that stand once.
    """
    passages = draft_passages(data)
    texts = ["".join(document.text.split()) for document in data.documents]

    @lru_cache(maxsize=None)
    def stands_once(number: int) -> bool:
        words = squeezed_place(data, passages[number].place)
        return sum(text.count(words) for text in texts) == 1

    total = sum(len(document.text) for document in data.documents)
    chosen: set[int] = set()
    for step in range(count):
        position = (2 * step + 1) * total / (2 * count)
        for number in outward(passages, position):
            if number not in chosen and stands_once(number):
                chosen.add(number)
                break
        else:
            found = plural(len(chosen), "sentence")
            what = f"the corpus has only {found} of 40 to 200 characters"
            right = f"at most {len(chosen)}; repeats do not count"
            raise InputError(f"--draft {count}: {what} ({right})")
    for number in sorted(chosen):
        document, start, end = passages[number].place
        gold = data.documents[document].text[start:end]
        line = {"query": "", "gold": [gold]}
        line["doc"] = data.documents[document].name
        yield json.dumps(line, ensure_ascii=False)


# ---- picture: cost against recall ------------------------------------------
STYLE = """\
text{font:12px sans-serif;fill:#444}.grid{stroke:#8884}.bar{stroke:#8888}\
.other{fill:#888}.best{fill:#0969da}.choice{font-weight:bold}
.full{fill:none;stroke:#888;stroke-width:2}\
.line{fill:none;stroke:#0969da}.limit{stroke:#bf5700;stroke-width:2}\
.luck{fill:#bf5700}@media(prefers-color-scheme:dark){
text{fill:#ccc}.best{fill:#58a6ff}.line{stroke:#58a6ff}\
.limit{stroke:#ff9d4d}.luck{fill:#ff9d4d}}"""
LEFT, RIGHT, TOP, BOTTOM = 60, 700, 40, 390  # of the plot, in pixels
LABEL_HEIGHT = 14


class Box(NamedTuple):
    """A rectangle in the picture, in pixels from its top left corner."""

    left: float
    top: float
    right: float
    bottom: float


def are_apart(one: Box, other: Box) -> bool:
    """Whether two boxes do not overlap."""
    beside = one.right <= other.left or other.right <= one.left
    return beside or one.bottom <= other.top or other.bottom <= one.top


def label_box(x: float, y: float, width: float, taken: list[Box]) -> Box:
    """Where a label has the most room near a spot; of equals the nearest."""
    best, fewest = Box(LEFT, TOP - 10, LEFT + width, TOP + 4), inf
    for far in range(0, 340, 5):
        for top in (y - 7 - far, y - 7 + far):
            for left in (x + 9, x - 9 - width, x - width / 2):
                right, bottom = left + width, top + LABEL_HEIGHT
                is_beside = left < LEFT or right > RIGHT + LABEL_HEIGHT
                if is_beside or top <= TOP - 10 or bottom >= BOTTOM - 2:
                    continue
                box = Box(left, top, right, bottom)
                clashes = sum(not are_apart(box, other) for other in taken)
                if clashes < fewest:
                    best, fewest = box, clashes
    return best


def axis_step(most: int) -> int:
    """The distance of the marks on an axis, so that at most 7 reach `most`."""
    power = 1
    while True:
        for digit in (1, 2, 5):
            if most <= 6 * digit * power:
                return digit * power
        power *= 10


def y_of(share: float) -> float:
    """Where a share, 0 to 1, stands in the picture, in pixels from its top."""
    return BOTTOM - (BOTTOM - TOP) * share


def to_svg(report: Report) -> str:
    """The figure that decides against tokens, at the last cutoff, as SVG.

    Every strategy is a labelled point, hollow where it is saturated. The
    frontier is joined; the elbow and the choice are named. Bars are the 95 %
    intervals, dashes the ceilings, squares what chance gives.
    """
    from html import escape

    most = ceil(max(point.tokens for point in report.points.values())) or 1
    step = axis_step(most)
    marks = range(0, most + step, step)
    scale = (RIGHT - LEFT) / marks[-1]
    spots = {
        label: (LEFT + scale * point.tokens, y_of(point.recall))
        for label, point in report.points.items()
    }
    joined = [spots[label] for label in report.frontier]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in joined)
    names = dict.fromkeys(each.row["retriever"] for each in report.results)
    title = f"{report.metric} against tokens, {', '.join(names)}"
    line = [f'<path class="line" d="M{path}"/>'] if joined else []
    return "\n".join(
        [
            '<svg xmlns="http://www.w3.org/2000/svg" '
            'viewBox="0 0 720 440" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}</style>",
            *svg_legend(report.metric),
            '<text x="700" y="432" text-anchor="end">'
            "tokens sent a question</text>",
            *svg_axes(marks, scale),
            *line,
            *svg_points(report, spots),
            *svg_labels(report, spots),
            "</svg>",
            "",
        ]
    )


def svg_legend(metric: str) -> Iterator[str]:
    """The line above the plot: what is drawn, and each sign with its name."""
    yield f'<text x="{LEFT}" y="20">{metric}</text>'
    signs = [
        ('<path class="bar" d="M{0} 9v14"/>', "95 % interval"),
        ('<path class="limit" d="M{0} 16h10"/>', "ceiling"),
        ('<rect class="luck" x="{0}" y="13" width="5" height="5"/>', "chance"),
        ('<path class="line" d="M{0} 16h14"/>', "frontier"),
        ('<circle class="full" cx="{0}" cy="16" r="5"/>', "saturated"),
    ]
    x = 200
    for sign, name in signs:
        yield sign.format(x)
        yield f'<text x="{x + 18}" y="20">{name}</text>'
        x += 30 + 8 * len(name)


def svg_axes(marks: Iterable[int], scale: float) -> Iterator[str]:
    """The grid and its numbers; scale: pixels a token."""
    for mark in marks:
        x = LEFT + scale * mark
        yield f'<path class="grid" d="M{x:.1f} {TOP}V{BOTTOM}"/>'
        yield f'<text x="{x:.1f}" y="408" text-anchor="middle">{mark}</text>'
    for share in (0, 0.2, 0.4, 0.6, 0.8, 1):
        y = int(y_of(share))
        yield f'<path class="grid" d="M{LEFT} {y}H{RIGHT}"/>'
        yield f'<text x="52" y="{y + 4}" text-anchor="end">{share:.1f}</text>'


def svg_points(report: Report, spots: dict) -> Iterator[str]:
    """Of each strategy its interval, ceiling, chance and point."""
    from html import escape

    at = f"@{report.last.label}"
    for result in report.results:
        label, row = result.label, result.row
        x, y = spots[label]
        recall, tokens = report.points[label]
        low, high = map(y_of, wilson(recall, len(report.data.queries)))
        yield f'<path class="bar" d="M{x:.1f} {low:.1f}V{high:.1f}"/>'
        if row["ceiling" + at] is not None:
            top = y_of(row["ceiling" + at])
            yield f'<path class="limit" d="M{x - 5:.1f} {top:.1f}h10"/>'
        luck = row["chance" + at]
        if luck is not None:
            corner = f'x="{x - 2.5:.1f}" y="{y_of(luck) - 2.5:.1f}"'
            yield f'<rect class="luck" {corner} width="5" height="5"/>'
        kind = "best" if label in report.frontier else "other"
        if is_saturated(result.trial, report.last):
            kind = "full"
        title = f"{escape(label)}: {recall:.3f}, {tokens:.1f} tokens"
        circle = f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="5">'
        yield f"{circle}<title>{title}</title></circle>"


def svg_labels(report: Report, spots: dict) -> Iterator[str]:
    """The name of each point, and a line from it to its point."""
    from html import escape

    chosen = report.choice["strategy"] if report.choice else None
    taken = [Box(x - 6, y - 6, x + 6, y + 6) for x, y in spots.values()]
    for label, (x, y) in spots.items():
        roles = {"elbow": report.elbow, "choice": chosen}
        named = ", ".join(role for role in roles if roles[role] == label)
        text = f"{label} ({named})" if named else label
        box = label_box(x, y, 7 * len(text), taken)
        taken.append(box)
        end = min(max(x, box.left), box.right)
        line = f"M{x:.1f} {y:.1f}L{end:.1f} {box.top + 7:.1f}"
        yield f'<path class="bar" d="{line}"/>'
        mark = ' class="choice"' if label == chosen else ""
        corner = f'x="{box.left:.1f}" y="{box.top + 11:.1f}"'
        yield f"<text{mark} {corner}>{escape(text)}</text>"


# ---- command line ----------------------------------------------------------
FORMATS: dict[str, Callable] = {
    "table": to_text,
    "markdown": to_markdown,
    "csv": to_csv,
    "json": to_json,
}
USES = """examples:
  python chunking_retrieval_eval.py
  python chunking_retrieval_eval.py -s fixed:50,100 -s overlap:100/15% --detail
  python chunking_retrieval_eval.py --covered 60,80,100 --shifts 20
  python chunking_retrieval_eval.py --explain 3
  python chunking_retrieval_eval.py --corpus README.md --check"""


SIZES_ARE = "Sizes are in characters; with a t, as in fixed:64t, in tokens."


def unfit(argument: object, right: str) -> ArgumentTypeError:
    """The error of an argument, which says what would be right."""
    return ArgumentTypeError(f"{quoted(argument)} does not fit ({right})")


def number_from_0(text: str) -> int:
    """The number that an argument says, 0 included."""
    if text != "0" and not re.fullmatch(WHOLE_NUMBER, text, re.ASCII):
        raise unfit(text, "a whole number from 0")
    return int(text)


def number_from_1(text: str) -> int:
    """The number that an argument says; argparse prints what is wrong."""
    if not re.fullmatch(WHOLE_NUMBER, text, re.ASCII):
        raise unfit(text, "a whole number from 1")
    return int(text)


def numbers_from_1(text: str) -> list[int]:
    """The numbers of an argument such as 1,3,5, sorted, each once."""
    return sorted({number_from_1(part) for part in text.split(",")})


def percents(text: str) -> list[int]:
    """The shares of an argument such as 60,80, in per cent, each once."""
    shares = [number_from_1(part) for part in text.split(",")]
    for share in shares:
        if share > 100:
            raise unfit(share, "a share from 1 to 100 %")
    return list(dict.fromkeys(shares))


def margin(text: str) -> float:
    """The share of an argument, from 0 to under 1."""
    try:
        share = float(text)
    except ValueError:
        share = -1
    if not 0 <= share < 1:
        raise unfit(text, "a number from 0 to under 1")
    return abs(share)


def svg_file(text: str) -> str:
    """The name of a picture that an argument gives."""
    if not text.lower().endswith(".svg"):
        raise unfit(text, "a name that ends in .svg")
    return text


def nonempty(text: str) -> str:
    """A name that an argument gives."""
    if not text:
        raise unfit(text, "a name")
    return text


class Parser(ArgumentParser):
    """An argparse parser whose errors are InputErrors."""

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong with the command line."""
        where, _, what = message.partition(": ")
        if where.startswith("argument "):
            where = where[len("argument ") :]
            what = what.replace(" with argument ", " with ")
        else:  # what argparse does not know, with what follows it
            options = re.findall(r"--[\w-]+", self.format_help())
            unknown = what.split(" ")[0]
            where = "arguments"
            what = f"{quoted(unknown)} is not an option"
            what += nearest(unknown, options)
        if not what.endswith(")"):  # which says what would be right
            what += " (--help lists the options)"
        raise InputError(f"{where}: {what}")


def parse(arguments: Sequence[str] | None) -> Namespace:
    """The options of a command line; InputError for what is wrong with it."""
    from argparse import RawDescriptionHelpFormatter

    parser = Parser(
        prog="chunking_retrieval_eval.py",
        usage="%(prog)s [options]",
        allow_abbrev=False,
        description=(__doc__ or "").split("\n")[0],
        epilog=USES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    group = parser.add_argument_group
    add_data_options(group("data"))
    add_strategy_options(group("strategies", SIZES_ARE))
    measuring = group("measuring")
    add_sending_options(measuring)
    add_measuring_options(measuring)
    add_output_options(group("output"))
    add_looking_options(group("looking into it"))
    return parser.parse_args(arguments)


def add_data_options(group: _ArgumentGroup) -> None:
    """Add the options that name the data."""
    add = group.add_argument
    add(
        "--corpus",
        metavar="PATH",
        type=nonempty,
        help=".py, .jsonl, .json, .md, .txt, or a folder of .md and .txt "
        "(default: corpus.py)",
    )
    add(
        "--queries",
        metavar="PATH",
        type=nonempty,
        help=".py, .jsonl, .json, .csv or .tsv (default: queries.py)",
    )
    add(
        "--squad",
        metavar="FILE",
        type=nonempty,
        help="corpus and queries in one file of SQuAD's JSON",
    )
    add(
        "--beir",
        metavar="DIR",
        type=nonempty,
        help="corpus.jsonl, queries.jsonl and qrels in one folder of BEIR's",
    )
    either = group.add_mutually_exclusive_group().add_argument
    either(
        "--check",
        action="store_true",
        help="check the data, print their statistics, then stop",
    )
    either(
        "--topics",
        action="store_true",
        help="list the topics that golds may name, then stop",
    )
    either(
        "--draft",
        metavar="N",
        type=number_from_1,
        help="print N passages as JSON lines to write queries into, then stop",
    )


def add_strategy_options(group: _ArgumentGroup) -> None:
    """Add the options that say how to chunk and retrieve."""
    add = group.add_argument
    examples = [chunker.examples for chunker in CHUNKERS.values()]
    specs = "; ".join(
        [*examples, "module.function", "fixed:50,100 means two", "repeatable"]
    )
    add(
        "-s",
        "--strategy",
        metavar="SPEC",
        action="append",
        help=specs.replace("%", "%%"),
    )
    add(
        "--retriever",
        metavar="NAME",
        action="append",
        help="bm25, hash, hybrid or module.factory; repeatable",
    )


def add_sending_options(group: _ArgumentGroup) -> None:
    """Add the options that say what is sent, and what it costs."""
    add = group.add_argument
    either = group.add_mutually_exclusive_group().add_argument
    either(
        "-k",
        "--top-k",
        metavar="N[,N...]",
        type=numbers_from_1,
        default=[3],
        help="how many chunks are sent (default: 3)",
    )
    either(
        "--budget",
        metavar="TOKENS",
        type=number_from_1,
        help="send the best chunks up to so many tokens, instead of the top k",
    )
    add(
        "--count",
        metavar="module.function",
        type=nonempty,
        help="a function text -> int that counts tokens instead, in sizes too",
    )
    add(
        "--context",
        action="store_true",
        help="index each chunk with its title and headings, which cost, too",
    )


def add_measuring_options(group: _ArgumentGroup) -> None:
    """Add the options that say how it is measured and compared."""
    add = group.add_argument
    add(
        "--rounds",
        metavar="N",
        type=number_from_1,
        default=3,
        help="how many times the evaluation is repeated (default: 3)",
    )
    add(
        "--baseline",
        metavar="SPEC",
        help="what the others are compared with (default: the first)",
    )
    add(
        "--margin",
        metavar="X",
        type=margin,
        default=0.05,
        help="recall to give up for a cheaper strategy (default: 0.05)",
    )
    add(
        "--covered",
        metavar="N[,N...]",
        type=percents,
        default=[60],
        help="per cent of a gold that a chunk must hold (default: 60); given "
        "several, the first decides and a table shows the others",
    )
    add(
        "--shifts",
        metavar="N",
        type=number_from_0,
        default=0,
        help="try fixed and overlap with N starts of the first window",
    )
    add(
        "--jobs",
        metavar="N",
        type=number_from_1,
        default=1,
        help="run strategies side by side in N processes",
    )


def add_output_options(group: _ArgumentGroup) -> None:
    """Add the options that say what is printed and written of the figures."""
    add = group.add_argument
    add(
        "--format",
        choices=list(FORMATS),
        default="table",
        help="table, markdown, csv or json",
    )
    add(
        "--detail",
        action="store_true",
        help="the other figures, and the questions won and lost",
    )
    add(
        "--plot",
        metavar="FILE.svg",
        type=svg_file,
        help="draw recall against tokens",
    )
    add(
        "--trec",
        metavar="DIR",
        type=nonempty,
        help="write NAME.run and NAME.qrels for trec_eval and its like",
    )
    add("--version", action="version", version=VERSION)


def add_looking_options(group: _ArgumentGroup) -> None:
    """Add the options that look into what was retrieved, and why."""
    add = group.add_argument
    add(
        "--explain",
        metavar="N|ID",
        nargs="?",
        type=nonempty,
        const=0,
        help="what each question, or one, got and missed, and why",
    )
    add(
        "--chunks",
        action="store_true",
        help="the chunks of each strategy, and what each covers",
    )
    add(
        "--ask",
        metavar="TEXT",
        type=nonempty,
        help="what each strategy retrieves for a question without golds",
    )
    add(
        "--document",
        metavar="NAME",
        type=nonempty,
        help="show only the chunks of this document",
    )
    add(
        "--full",
        action="store_true",
        help="show the whole text of chunks",
    )


ALL_IN_ONE = {"squad": read_squad, "beir": read_beir}


def data_options(options: Namespace) -> str:
    """The options that named the data, as a shell takes them."""
    from shlex import quote

    given = ""
    for name in ("corpus", "queries", *ALL_IN_ONE):
        path = getattr(options, name)
        if path:
            given += f" --{name} {quote(path)}"
    if options.corpus and not options.queries:
        given += " --queries QUESTIONS"
    return given


def load_data(options: Namespace) -> Data:
    """The Data that the options name; the default stands beside the script."""
    for name in ALL_IN_ONE:
        if getattr(options, name):
            return load_all_in_one(options, name)
    path = options.corpus or os.path.join(HERE, "corpus.py")
    data = not_empty(read_corpus(path), path)
    is_alone = options.corpus and not options.queries
    if options.topics or options.draft or (is_alone and asks_nothing(options)):
        return data
    path = options.queries or os.path.join(HERE, "queries.py")
    return read_queries(path, data)


def asks_nothing(options: Namespace) -> bool:
    """Whether the options can do without queries."""
    return bool(options.check or options.ask)


def load_all_in_one(options: Namespace, name: str) -> Data:
    """The Data of one of ALL_IN_ONE; InputError where more is named."""
    for other in ("corpus", "queries", *ALL_IN_ONE):
        if other != name and getattr(options, other):
            what = "it brings its own corpus and queries"
            raise InputError(f"--{name}: {what} (leave out --{other})")
    path = getattr(options, name)
    return not_empty(ALL_IN_ONE[name](path), path)


def not_empty(data: Data, path: str) -> Data:
    """The data, or the InputError of a corpus without a token."""
    if any(has_token(document.text) for document in data.documents):
        return data
    what = "the corpus is empty: it has no token"
    raise InputError(f"{path}: {what} (a text with letters or digits)")


def has_token(text: str) -> bool:
    """Whether a text has a token; most have one in their first piece."""
    pieces = TokenStore.PIECE.finditer(text)
    return any(quick_tokenize(piece[0]) for piece in pieces)


def run_strategies(options: Namespace, data: Data) -> Report:
    """The Report that the options ask for."""
    jobs = jobs_of(options, data)
    baseline = find_baseline(options.baseline, [job.label for job in jobs])
    cutoffs = cutoffs_of(options)
    work = partial(run_jobs, data=data, cutoffs=cutoffs, rounds=options.rounds)
    results = run_all(work, jobs, options.rounds, options)
    agree = all(result.spread is None for result in results)
    settings = settings_of(options, baseline, agree)
    report = conclude(data, results, cutoffs, settings)
    if options.detail or options.format == "json":
        found = spreads(results, data, baseline, report.last)
        report = report._replace(spreads=found)
    if options.shifts:
        report = report._replace(shifts=shifts_of(report, jobs, options))
    return report


def jobs_of(options: Namespace, data: Data) -> list[Job]:
    """A Job for each strategy with each retriever.

    InputError for what is wrong with one, before any work.
    """
    specs = expand(options.strategy or STRATEGIES)
    retrievers = list(dict.fromkeys(options.retriever or ["bm25"]))
    for name in retrievers:
        find_retriever(name)
    jobs = []
    for spec, name in product(specs, retrievers):
        label = f"{spec} {name}" if len(retrievers) > 1 else spec
        jobs.append(Job(spec, setup_of(options, name, data), label))
    return jobs


def shifts_of(
    report: Report, jobs: list[Job], options: Namespace
) -> list[Shift]:
    """The Shifts that --shifts asks for."""
    shifted = shift_jobs(jobs, options.shifts)
    work = partial(run_shifts, data=report.data, cutoff=report.last)
    recalls = run_all(work, shifted, 1, options)
    return collect_shifts(report.results, shifted, recalls, report.metric)


def cutoffs_of(options: Namespace) -> list:
    """The cutoffs that the options ask for, the first chunk always."""
    if options.budget:
        return [TopK(1), Budget(options.budget)]
    return [TopK(k) for k in sorted({1, *options.top_k})]


def settings_of(
    options: Namespace, baseline: str, deterministic: bool
) -> dict:
    """What was asked for, as the JSON has it."""
    return {
        "count": options.count or "tokens",
        "k": None if options.budget else options.top_k,
        "budget": options.budget,
        "context": options.context,
        "rounds": options.rounds,
        "baseline": baseline,
        "margin": options.margin,
        "covered": options.covered[0],
        "starts": options.shifts,
        "deterministic": deterministic,
    }


def find_baseline(name: str | None, labels: list[str]) -> str:
    """The label of what the others are compared with; the first if unnamed."""
    for label in labels:
        if name in (None, label, label.split(" ")[0]):
            return label
    what = f"no -s names this strategy{nearest(str(name), labels)}"
    right = "one of the strategies that run"
    raise InputError(f"--baseline {quoted(name)}: {what} ({right})")


def setup_of(options: Namespace, retriever: str, data: Data) -> Setup:
    """The Setup that the options ask for."""
    return Setup(
        retriever=retriever,
        depth=max(DEFAULTS.depth, *options.top_k),
        budget=options.budget or 0,
        count_by=options.count or "",
        context=options.context,
        covered=tuple(share / 100 for share in options.covered),
        explained=tuple(explained_queries(options, data)),
    )


def run_all(
    work: Callable, jobs: list[Job], rounds: int, options: Namespace
) -> list:
    """What work(jobs, watch=...) gives for each job, with a line of progress.

    It runs in this process, or in options.jobs of them.
    """
    if options.jobs > 1 and jobs:
        return run_in_processes(work, jobs, options.jobs)
    return work(jobs, watch=partial(watched, jobs=jobs, rounds=rounds))


def run_in_processes(work: Callable, jobs: list[Job], processes: int) -> list:
    """What work(jobs) gives for each job, by so many processes.

    Each takes several jobs at once, since these share the tokens of a round.
    """
    count = min(2 * processes, len(jobs))
    batches = [range(len(jobs))[first::count] for first in range(count)]
    results: dict[int, Any] = {}
    with executor_of(processes) as executor:
        futures = [
            executor.submit(work, [jobs[number] for number in batch])
            for batch in batches
        ]
        try:
            for batch, future in zip(batches, futures):
                show_progress(f"{len(results)} of {len(jobs)} strategies done")
                results.update(zip(batch, future.result()))
        finally:
            show_progress("")
    return [results[number] for number in range(len(jobs))]


@contextmanager
def executor_of(count: int) -> Iterator[Any]:
    """An executor of so many processes.

    They end when the block ends, however it does. They ignore Ctrl-C, which
    this process gets too. InputError if one of them dies.
    """
    from concurrent.futures.process import (
        BrokenProcessPool,
        ProcessPoolExecutor,
    )
    from multiprocessing import active_children
    from signal import SIG_IGN, SIGINT, signal

    others = active_children()
    with ProcessPoolExecutor(
        count, initializer=signal, initargs=(SIGINT, SIG_IGN)
    ) as executor:
        try:
            yield executor
        except BrokenProcessPool as error:
            what = "a process ended before its work was done"
            right = "run without --jobs to see why"
            raise InputError(f"--jobs {count}: {what} ({right})") from error
        finally:
            for child in active_children():
                if child not in others:
                    child.terminate()


def watched(
    trials: Iterator[Trial], jobs: list[Job], rounds: int
) -> Iterator[Trial]:
    """The trials, and before each a line of progress, cleared at the end."""
    strategies = [job.strategy for job in jobs] * rounds
    try:
        for done, strategy in enumerate(strategies):
            show_progress(f"{done} of {len(strategies)} done, next {strategy}")
            yield next(trials)
    finally:  # an error is printed on a line of its own
        show_progress("")


def show_progress(line: str) -> None:
    """Write a line of progress over the last, on a terminal only."""
    if not sys.stderr or not sys.stderr.isatty():
        return
    if os.environ.get("TERM") == "dumb":
        return
    end = "" if line else "\r"
    emit(f"\r{line:<58.58}{end}", sys.stderr)


def data_page(options: Namespace, data: Data) -> str:
    """What a run prints that looks at the data alone."""
    if options.check:
        return check(data, options)
    if options.topics:
        return "\n".join(list_topics(data))
    return "\n".join(draft(data, options.draft))


def page(options: Namespace, data: Data) -> str:
    """All that a run prints."""
    if any([options.check, options.topics, options.draft]):
        return data_page(options, data)
    view = view_of(options, data)
    if options.ask:
        jobs, last = jobs_of(options, data), cutoffs_of(options)[-1]
        return "\n".join(ask(options.ask, jobs, view, last))
    asked = explained_queries(options, data)
    report = run_strategies(options, data)
    if options.trec:
        write_trec(report, options.trec)
    if options.plot:
        save(options.plot, to_svg(report))
    if options.format != "table":
        return FORMATS[options.format](report, options.detail)
    lines = [to_text(report, options.detail)]
    lines += explain(report, view, asked)
    if options.chunks:
        lines += list_chunks(report, view)
    return "\n".join(lines)


def view_of(options: Namespace, data: Data) -> View:
    """How the options want chunks to be shown.

    InputError for a document that there is not, and where nothing is shown.
    """
    shows = options.ask or options.chunks or options.explain is not None
    if options.format != "table" and shows:
        right = "--format table can"
        what = "it cannot show --ask, --explain or --chunks"
        raise InputError(f"--format {options.format}: {what} ({right})")
    for name in ("document", "full"):
        if getattr(options, name) and not shows:
            right = "add --chunks, --explain or --ask"
            raise InputError(
                f"--{name}: there are no chunks to show ({right})"
            )
    only = None
    if options.document:
        only = find_document(options.document, data)
    return View(data.documents, only, options.full)


def find_document(name: str, data: Data) -> int:
    """The number of the document of a name; InputError if there is none."""
    names = [document.name for document in data.documents]
    if name not in names:
        what = f"there is no such document{nearest(name, names)}"
        right = "--check lists them"
        raise InputError(f"--document {quoted(name)}: {what} ({right})")
    return names.index(name)


def explained_queries(options: Namespace, data: Data) -> list[int]:
    """The numbers, from 0, of the queries that --explain is to explain.

    InputError for a number or an id that no query has.
    """
    wanted, count = options.explain, len(data.queries)
    if wanted is None:
        return []
    if wanted == 0:  # all of them
        return list(range(count))
    ids = [query.id for query in data.queries]
    if wanted in ids:
        return [ids.index(wanted)]
    if wanted.isdigit() and 1 <= int(wanted) <= count:
        return [int(wanted) - 1]
    hint = nearest(wanted, filter(None, ids))
    right = f"a number from 1 to {count}, or a query's id"
    what = f"there is no such query{hint}"
    raise InputError(f"--explain {quoted(wanted)}: {what} ({right})")


def environment() -> str:
    """The line on what runs this: version, interpreter, platform."""
    python = "{}.{}.{}".format(*sys.version_info[:3])
    interpreter = f"{sys.implementation.name} {python}"
    return (
        f"chunking_retrieval_eval {VERSION}, {interpreter}, {sys.platform}\n"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    The exit status: 0 done, 1 interrupted or standard output closed, 2
    something else is wrong, which one line on standard error tells.
    """
    if hasattr(gc, "set_threshold"):  # not in PyPy
        # What is built here has no cycles; looking for them takes a tenth.
        gc.set_threshold(500000)
    warn_once.cache_clear()
    try:
        options = parse(arguments)
        emit(environment(), sys.stderr)
        return print_output(page(options, load_data(options)) + "\n")
    except KeyboardInterrupt:
        emit("interrupted\n", sys.stderr)
        return 1
    except InputError as error:
        return failed(*error.args)
    except OSError as error:
        return failed(system_error(error, "system"))


def print_output(text: str) -> int:
    """Write to standard output what a run prints; the exit status."""
    try:
        emit(text, sys.stdout)
    except OSError as error:
        # What is left in its buffer must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return 1
        return failed(system_error(error, "standard output"))
    return 0 if sys.stdout else 1


def failed(*faults: str) -> int:
    """Print errors, each on one line; the exit status."""
    for fault in faults:
        emit(f"error: {' '.join(fault.split())}\n", sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
