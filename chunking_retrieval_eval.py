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
        raise ValueError(f"{strategy} is no strategy (fixed, overlap or para)")
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
                raise ValueError(f'"{topic}" is no topic (those are {known})')
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
from operator import index as as_index
from operator import mul
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

if TYPE_CHECKING:  # it takes long to import
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


def quoted(text: object, width: int = 60) -> str:
    """A text in quotes on one line, the middle of a long one left out."""
    line = " ".join(str(text).split())
    if len(line) > width:
        line = line[: width * 2 // 3] + " ... " + line[-width // 3 :]
    return f'"{line}"'


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


MOST_FAULTS = 20  # that are told at once


@contextmanager
def errors_named(where: str, right: str) -> Iterator[None]:
    """Turn what a user's code or data raises into an InputError.

    `where` is a file or a module.function. Of a file the line is added: the
    last one of the file's own code, or that of its syntax error.
    """
    try:
        yield
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        line = line_of(error, where) if os.path.isfile(where) else None
        at = f"{where}:{line}" if line else where
        what = f"{type(error).__name__}: {quoted(error, 200)}"
        raise InputError(f"{at}: {what} ({right})") from error


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
        right = " (a file)"
    elif isinstance(error, PermissionError):
        right = " (one that this user may read, or write to)"
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
        what = "what it holds is not, or not wholly, packed by gzip"
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
        what = "its JSON is nested too deep, or has too long a number"
        raise InputError(f"{where}: {what} (plain JSON)") from error


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
        return 'its JSON ends too soon (every ", [ and { has its end)'
    right = 'JSON such as {"name": "text"}'
    if re.match(r",\s*[}\]]", rest):
        right = "no comma before } or ]"
    elif message.startswith("Extra"):
        right = "one value, in JSON lines one a line"
    elif re.match(r"['‘’“”\w]", rest):
        right = "names and texts in straight double quotes"
    elif rest[0] == "\\":
        right = "a backslash in a text is written twice"
    return f"it is no JSON from {quoted(rest, 30)} on ({right})"


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

    InputError if the item is one, is no object, or holds something unexpected.
    """
    if isinstance(item, InputError):
        raise item
    if not isinstance(item, dict):
        given = quoted(repr(item))
        raise InputError(
            f'{where}: {given} is no object (one with "{keys[0]}")'
        )
    for key in keys:
        value = item.get(key)
        if value is None:
            continue
        if not isinstance(value, expected.types):
            kind = KINDS.get(type(value), type(value).__name__)
            given = f"{kind} {quoted(value)}"
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
        missing = f'no "{names}" in {quoted(item)}'
        raise InputError(f"{where}: {missing} ({expected.right})")
    return value


def reader_for(path: str, readers: dict[str, Callable]) -> Callable:
    """The reader for a path by its ending, or for "a directory".

    OSError where there is nothing, InputError where no reader fits.
    """
    os.stat(path)  # an OSError where there is nothing
    root, ending = os.path.splitext(path.lower())
    if ending == ".gz":
        ending = os.path.splitext(root)[1] + ending
    if os.path.isdir(path):
        ending = "a directory"
    if ending not in readers:
        known = ", ".join(readers)
        what = f"no format is called {quoted(ending)}"
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
            right = f"one of ({first}, {second}) pairs"
            right += ", or a dict of such lists by document"
            raise InputError(f"{path}: {spot}: no list ({right})")
        for number, pair in enumerate(pairs):
            where = f"{path}: {spot}[{number}]"
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                what = f"{quoted(repr(pair))} is no pair"
                fault = InputError(f"{where}: {what} (a ({first}, {second}))")
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
    warn(path, {"files that are not read, neither .md nor .txt": others})
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
        what = "a comment without its -->, which takes the rest of the file"
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
    documents: dict[str, NamedDocument] = {}
    places = defaultdict(list)
    for name in names:
        file, stem = os.path.join(folder, name), os.path.splitext(name)[0]
        if stem in documents:
            what = f"is the second file called {quoted(stem)}"
            raise InputError(f"{file}: {what} (one file a name)")
        document, found = read_prose(file, stem)
        for topic, start, end, _ in found:
            places[topic].append((len(documents), start, end))
        documents[stem] = document
    if not documents:
        raise InputError(
            f"{path}: no .md or .txt file there (a folder of texts)"
        )
    shared = [topic for topic in places if len(places[topic]) > 1]
    warn(path, {"names of several sections, of which any will do": shared})
    topics = {
        topic: RuledGold(topic, "section", tuple(places[topic]))
        for topic in places
    }
    return Data(list(documents.values()), topics)


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
    data = reader_for(path, CORPUS_READERS)(path)
    folded = {
        topic: unicodedata.normalize("NFKC", topic).casefold()
        for topic in data.topics
    }
    times = Counter(folded.values())
    alike = [topic for topic in folded if times[folded[topic]] > 1]
    warn(path, {"topics that differ only in case or width": alike})
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
            what = "golds that quote a heading, and not its section"
            self.note(what, self.sections[words])
        elif len(quote.strip()) < self.SHORT:
            what = f"golds of under {self.SHORT} characters, which may also "
            what += "stand where they mean nothing"
            self.note(what, quote)
        if count > self.MANY:
            what = f"golds that stand in more than {self.MANY} places, any of "
            what += "which will do"
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
        hint = hint or nearest(gold.name, self.data.topics)
        hint = hint or self.nearest_passage(gold.name, documents)
        what = f"{quoted(gold.name)} is no topic, and stands nowhere"
        return f"{where}: {what} in {words}{hint}"

    def nearest_section(self, gold: str, documents: Sequence[int]) -> str:
        """The hint of the section that a gold looks like, or nothing.

        After a # the nearest one is named, of the document that stands before
        it; without a # it has to be the words of a heading.
        """
        from difflib import get_close_matches

        before, mark, words = gold.rpartition("#")
        if before.strip("#"):
            documents = self.numbers.get(before, ())
        topics = {}
        for number, anchor, title, topic in self.sections:
            if number in documents:
                topics[slug(title)] = topics[anchor] = topic
        wanted = slug(words.strip())
        longer = [name for name in topics if mark and wanted in name]
        near = sorted(longer, key=len) or get_close_matches(
            wanted, topics, 1, 0 if mark else 0.9
        )
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
            return "; the nearest passage is " + quoted(passages[best], 80)
        return " (a passage of the corpus)"

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
    right = "query or question, and gold or references"
    raise InputError(
        f"{path}:1: the columns that it names are {given} ({right})"
    )


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
            what = "has more cells than the header"
            right = "quotes around one that holds what parts the columns"
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
    references = optional_field(row, where, ["references"], LIST)
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
        missing = f'no "gold" for {quoted(row)}'
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
            self.skip("still to be written", [gold for gold, _ in named])
            return None
        if not named:
            self.skip("without a gold, so unanswerable", [text])
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
            what = f"the id {quoted(name)} is that of {self.ids[name]} too"
            raise InputError(f"{where}: {what} (an id a query)")
        self.ids[name] = where
        return f"{where}, query {quoted(name)}"

    def skip(self, why: str, texts: list[str]) -> None:
        """Note that a query is skipped; texts: what tells it from others."""
        self.skipped[why] += 1
        self.note(f"queries {why}, and skipped", " and ".join(texts))

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
            right = "one of " + ", ".join(map(quoted, names[:3]))
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
        return nearest(name, self.numbers) or f" (such as {quoted(some)})"

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
                what = "golds at the place of another of their query, "
                self.note(what + "counted once", name)
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
                raise InputError(f"{scope.where}: {what} (one of the two)")
        return found

    def all_faults(self, path: str) -> list[str | MissingGold]:
        """All faults; but one for all golds, if none of several is found."""
        texts = [fault for fault in self.faults if isinstance(fault, str)]
        missing = len(self.faults) - len(texts)
        if missing < 2 or self.found:
            return self.faults
        what = f"none of its {missing} golds stands in the corpus"
        right = "--queries with those of this corpus"
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
            what = f"and {plural(more, 'fault')} more"
            told.append(f"{path}: {what} (mend those above first)")
        raise InputError(*told)

    def refuse_none(self, path: str) -> None:
        """Raise the InputError of a file of which no query is left."""
        skipped = sum(self.skipped.values())
        what = "there is no query in it"
        right = "at least one"
        if skipped:
            whys = [f"{n} {why}" for why, n in self.skipped.items()]
            what = f"none of its {plural(skipped, 'query')} can be asked: "
            what += ", ".join(whys)
            right = "at least one with a text and a gold"
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
    questions = builder.questions(reader_for(path, QUERY_READERS)(path))
    builder.refuse_faults(path)
    if not questions:
        builder.refuse_none(path)
    for text in repeated(questions):
        what = "queries asked more than once, and counted each time"
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
                what = "dropped: they stand nowhere in their context"
            elif found[0][0] != start:
                what = "found near it"
            else:
                continue
            self.odd[f"answers not at their answer_start, {what}"].append(
                quote
            )
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
            what = f"{quoted(name)} is the _id of an earlier document"
            raise InputError(f"{where}: {what} (an _id a document)")
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
        raise InputError(f"{folder}: {what} (test.tsv, or one file)")
    return os.path.join(folder, names[0])


def read_qrels(path: str) -> dict[str, list[str]]:
    """{query id: the ids of documents of a relevance over 0}."""
    relevant = defaultdict(list)
    for number, line in enumerate(read_text(path).split("\n"), 1):
        cells = line.strip().split("\t")
        if cells == [""] or (number == 1 and cells[2:] == ["score"]):
            continue
        if len(cells) != 3 or not re.fullmatch(r"-?\d+(\.0*)?", cells[2]):
            right = "query id, document id and a whole number, between tabs"
            what = f"{quoted(line)} is no row"
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
        what = "relevant documents that corpus.jsonl has not, or has empty"
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
    what = "queries of the qrels that queries.jsonl has not"
    reader.odd[what] = list(reader.relevant)
    warn(folder, reader.odd)
    if not questions:
        what = "no query has a relevant document in corpus.jsonl"
        raise InputError(f"{path}: {what} (at least one)")
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
        return getattr(import_module(module), function)


def find_own(what: str, name: str, ours: Iterable[str]) -> Any:
    """The user's function of a name that is none of ours.

    InputError, with the nearest of ours, for a name without a dot.
    """
    if "." not in name:
        hint = nearest(name, ours)
        right = ", ".join([*ours, "or module.function"])
        message = f"there is none of that name{hint} ({right})"
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
    right = "the chunks of a text, as strings, its parts in order, "
    right += "or as (start, end) pairs"
    with errors_named(name, right):
        found = function(text) if text else []
        if isinstance(found, str):
            raise TypeError(f"one text: {found!r}")
        slices = place_pieces(found, text)
    return sorted(piece for piece in slices if text[slice(*piece)].strip())


def place_pieces(found: Iterable, text: str) -> list[Slice]:
    """The slices of what a user's chunker gave, white space aside.

    A string goes right after the one before if it fits there, else next after
    that one's start. ValueError for what is no slice of the text.
    """
    plain, positions = squeeze(text)
    slices, begin, end = [], -1, 0  # begin and end of the last, in `plain`
    for number, piece in enumerate(found, 1):
        start = stop = -1
        if isinstance(piece, str):
            part = "".join(piece.split())
            follows = plain.startswith(part, end)
            begin = end if follows else plain.find(part, begin + 1)
            end = begin + len(part)
            if begin >= 0:
                start = stop = begin
            if begin >= 0 and part:
                start, stop = positions[begin], positions[end - 1] + 1
        elif isinstance(piece, (list, tuple)):
            start, stop = map(as_index, piece)
        if not 0 <= start <= stop <= len(text):
            which = f"chunk {number} of {len(text)} characters"
            raise ValueError(f"{which} is {piece!r}")
        slices.append((start, stop))
    return slices


class OwnRetriever:
    """The retriever that the user's factory makes, its answers checked."""

    RIGHT = "made from texts, with topk(query, k): numbers of theirs, "
    RIGHT += "from 0, best first"

    def __init__(self, name: str, factory: Callable, texts: list[str]):
        self.name, self.count = name, len(texts)
        with errors_named(name, self.RIGHT):
            self.made = factory(texts)
        if hasattr(self.made, "scores"):
            self.scores = self.checked_scores

    def topk(self, query: str, k: int) -> list[int]:
        """What the user's topk gives; InputError if it is no text's number."""
        with errors_named(self.name, self.RIGHT):
            found = [as_index(n) for n in self.made.topk(query, k)]
            for number in found:
                if not 0 <= number < self.count:
                    what = f"{number} is no number of {self.count} texts"
                    raise ValueError(what)
        return found

    def checked_scores(self, query: str) -> list[float]:
        """The score of each text, which --explain shows if there is one."""
        with errors_named(self.name, "scores(query): a number a text"):
            found = self.made.scores(query)
            return [float(found[number]) for number in range(self.count)]


def count_tokens(name: str, text: str) -> int:
    """How many tokens the user's module.function counts in a text."""
    with errors_named(name, "a function of a text, to a whole number from 0"):
        found = find_function(name)(text)
        if not hasattr(found, "__index__") or found < 0:
            raise ValueError(f"counted {found!r}")
        return as_index(found)


# ---- more chunkers ---------------------------------------------------------
BRACKETS = r"[”’」』）】》〉〕］｝»)\]]*"
CLOSING = rf"""{BRACKETS}(?:(?:"'?|'"?){BRACKETS})?"""
SENTENCE_END = (
    rf"(?:[。！？；…｡]+{CLOSING}"
    # Not after a letter between two stops, as in e.g. or U.S.
    rf"|(?<![.!?])(?:(?<!\.[^\W\d_])\.|[!?])[.!?]*{CLOSING}(?=\s|\Z))"
)
SENTENCE = rf"(?:{SENTENCE_END}|\n)\s*"
SEPARATORS = {  # the coarsest first
    "blank line": r"\n\s*\n\s*",
    "newline": r"\n\s*",
    "sentence end": SENTENCE,
    "comma": r"[，、,]\s*",
    "space": r"\s+",
}


def split(pattern: str, text: str, start: int, end: int) -> list[Slice]:
    """A slice of a text, cut after each match of a pattern into slices."""
    matches = re.compile(pattern).finditer(text, start, end)
    cuts = [start, *(match.end() for match in matches), end]
    return [pair for pair in zip(cuts, cuts[1:]) if pair[0] < pair[1]]


def pack(
    text: str,
    groups: Iterable[list[Slice]],
    size: int,
    overlap: int = 0,
) -> list[Slice]:
    """Chunks of the neighbouring pieces of each group, joined up to `size`.

    A piece over the size is cut at it. A chunk starts with the last `overlap`
    characters of the one before, or as many as fit. ValueError for an overlap
    that is not under the size.
    """
    check_overlap(size, overlap)
    chunks: list[Slice] = []
    for group in groups:
        for number, (start, end) in enumerate(group):
            if number and end - chunks[-1][0] <= size:
                chunks[-1] = chunks[-1][0], end
            else:
                append_piece(chunks, (start, end), size, overlap)
    return [(start, end) for start, end in chunks if text[start:end].strip()]


def append_piece(
    chunks: list[Slice],
    piece: Slice,
    size: int,
    overlap: int,
) -> None:
    """Append a piece in chunks of at most `size`, each with its overlap."""
    start, end = piece
    while start < end:
        tail = max(start - overlap, chunks[-1][0] + 1 if chunks else 0)
        if end - start <= size:  # whole, so its overlap gives way
            tail = max(tail, end - size)
        chunks.append((tail, min(end, tail + size)))
        start = chunks[-1][1]


def fitting_runs(
    text: str, piece: Slice, size: int, separators: Sequence[str]
) -> Iterator[list[Slice]]:
    """Runs of neighbouring pieces that fit in `size`, as coarse as may be.

    What no separator can cut finely enough is a run too.
    """
    separator, *finer = separators
    pieces = split(separator, text, *piece)
    for fits, run in groupby(pieces, lambda p: p[1] - p[0] <= size):
        if fits or not finer:
            yield list(run)
            continue
        for longer in run:
            yield from fitting_runs(text, longer, size, finer)


def chunk_sentence(
    document: NamedDocument, size: int, overlap: int = 0
) -> list[Slice]:
    """Whole sentences, joined up to `size`; a longer one is cut at it."""
    text = document.text
    sentences = split(SENTENCE, text, 0, len(text))
    return pack(text, [sentences], size, overlap)


def chunk_recursive(
    document: NamedDocument, size: int, overlap: int = 0
) -> list[Slice]:
    """Cut at the coarsest of SEPARATORS that works, joined up to `size`.

    A separator stays with the piece that it ends. After LangChain's
    RecursiveCharacterTextSplitter.
    """
    text = document.text
    whole = (0, len(text))
    runs = fitting_runs(text, whole, size, list(SEPARATORS.values()))
    return pack(text, runs, size, overlap)


def likeness(one: set, other: set) -> float:
    """The cosine of two sets of characters, 0 to 1; 1 if either is empty."""
    if not one or not other:
        return 1.0
    return len(one & other) / sqrt(len(one) * len(other))


def chunk_semantic(
    document: NamedDocument, threshold: str, limit: int = 0
) -> list[Slice]:
    """Cut between neighbouring sentences that are unlike, then at `limit`.

    Unlike: their likeness is under a threshold, "0.45", or their distance, 1
    less the likeness, over a percentile of all distances, "p95". After
    LangChain's SemanticChunker. Without a limit chunks may be of any length.
    """
    text = document.text
    sentences = split(SENTENCE, text, 0, len(text))
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
    return pack(text, groups, limit or len(text) + 1)


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


def end_of_body(lines: list[Line], body: int) -> int:
    """The number of the line after the fence, table or paragraph at `body`."""
    kind = kind_at(lines, body)
    if kind == "fence":
        return body + 1
    if kind != "table":
        return skip(lines, body, *PROSE)
    after = skip(lines, body, "table")
    note = skip(lines, after, "blank")
    if kind_at(lines, note) in PROSE:
        return skip(lines, note, *PROSE)
    return after


def atoms(text: str) -> Iterator[Atom]:
    """The atoms of a Markdown text, in order."""
    # The lines of a text, and its atoms:
    #
    #     # One             heading  \  headings, and the
    #     Some text.        text     /  paragraph under them
    #                       blank
    #     | a | b |         table    \  a table, and the
    #     Note on it.       text     /  note after it
    lines = scan(text)
    starts = [line.start for line in lines] + [len(text)]
    first = skip(lines, 0, "blank")
    while first < len(lines):
        body = first
        if lines[first].kind == "heading":
            body = skip(lines, first, "heading", "blank")
        after = end_of_body(lines, body)
        start = starts[first]
        end = start + len(text[start : starts[after]].rstrip())
        is_whole = kind_at(lines, body) in ("fence", "table")
        yield Atom(start, starts[body], end, is_whole)
        first = skip(lines, after, "blank")


def chunk_structure(
    document: NamedDocument, size: int, least: int = 0
) -> list[Slice]:
    """A chunk for what stands under each Markdown heading.

    One under `least` characters joins the next. One over `size` is cut by
    `recursive`, but never in a fence, in a table or before its note, or right
    after a heading.
    """
    text = document.text
    parts: list[list[Slice]] = []
    for atom in atoms(text):
        has_heading = atom.body > atom.start
        if not parts or (
            has_heading and atom.start - parts[-1][0][0] >= least
        ):
            parts.append([])
        if atom.is_whole or atom.end - atom.start <= size:
            parts[-1].append((atom.start, atom.end))
        else:
            parts[-1] += cut_atom(text, atom, size)
    return [piece for part in parts for piece in chunk_para(part, size)]


def cut_atom(text: str, atom: Atom, size: int) -> list[Slice]:
    """The pieces of an atom over `size`, as `recursive` cuts it.

    The headings are taken off and put back before the first piece, unless
    they fill a chunk alone.
    """
    start, body, end, _ = atom
    if body > start:
        body = end - len(text[body:end].lstrip())
        if body - start >= size:
            body = start
    room = size - (body - start)
    runs = fitting_runs(text, (body, end), room, list(SEPARATORS.values()))
    pieces = pack(text, runs, room)
    if pieces[0][0] == body:
        pieces[0] = start, pieces[0][1]
    return pieces


def chunk_parent(
    document: NamedDocument, size: int, limit: int
) -> list[tuple[Slice, Slice]]:
    """(child, parent) pairs: fixed:size within each chunk of para:limit.

    ValueError for children that are longer than their parents.
    """
    if limit < size:
        raise ValueError(
            f"children of {size} in parents of {limit} "
            "(children no longer than parents)"
        )
    pairs = []
    for start, end in chunk_para(document.paragraphs, limit):
        for left, right in chunk_fixed(document.text[start:end], size):
            pairs.append(((start + left, start + right), (start, end)))
    return pairs


# ---- strategies: a chunker with its numbers --------------------------------
class Chunker(NamedTuple):
    """A chunker of ours, and how a strategy spells its numbers."""

    chunk: Callable  # (document, *numbers) -> slices; of parent, pairs
    numbers: str  # a regular expression
    examples: str


SIZE = r"[1-9]\d{0,8}"
OVERLAP = r"\d{1,9}%?"
THRESHOLD = r"(0?\.\d+|p\d\d?|p100)"
CHUNKERS = {
    "fixed": Chunker(
        lambda document, size: chunk_fixed(document.text, size),
        SIZE,
        "fixed:50",
    ),
    "overlap": Chunker(
        lambda document, *sizes: chunk_overlap(document.text, *sizes),
        f"{SIZE}/{OVERLAP}",
        "overlap:50/15, overlap:300/15%",
    ),
    "para": Chunker(
        lambda document, limit: chunk_para(document.paragraphs, limit),
        SIZE,
        "para:90",
    ),
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
    """The chunker of a name: (document, *numbers) -> slices; parent: pairs.

    InputError where there is none of ours, and no module.function.
    """
    if name in CHUNKERS:
        return CHUNKERS[name].chunk
    return partial(own_chunks, name, find_own("strategy", name, CHUNKERS))


def parse_numbers(numbers: str) -> list:
    """The numbers of a strategy; per cent are of the first, rounded down.

    "300/15%" gives [300, 45]; what is neither stays a text: "p95".
    """
    parsed: list = []
    for number in filter(None, numbers.split("/")):
        if number.isdigit():
            parsed.append(int(number))
        elif number.endswith("%"):
            parsed.append(parsed[0] * int(number[:-1]) // 100)
        else:
            parsed.append(number)
    return parsed


def expand(specs: Iterable[str]) -> list[str]:
    """Specs with their lists multiplied out, each checked, each once.

    ["fixed:50,100"] gives ["fixed:50", "fixed:100"]. InputError for what is
    wrong with one.
    """
    found: dict[str, None] = {}
    for spec in specs:
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
        right = f"such as {examples}; sizes are whole numbers from 1"
        what = f"strategy {quoted(spec)}: not so spelled"
        raise InputError(f"{what} ({right})")
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
    InputError says what is wrong with the spec.
    """
    check_spec(spec)
    if paragraphs is None:
        paragraphs = blocks(scan(text))
    document = NamedDocument("", text, paragraphs)
    searched = plan(spec, [document]).searched
    return [(start, end) for _, start, end in searched]


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


def plan(strategy: str, documents: Sequence) -> Plan:
    """The Plan of a strategy for documents; ValueError for its numbers."""
    name, _, spelled = strategy.partition(":")
    chunker, numbers = find_chunker(name), parse_numbers(spelled)
    searched, sent = [], []
    for number, document in enumerate(documents):
        found = chunker(document, *numbers)
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
    """What makes the retriever of a name from a list of texts.

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
    return maker([contents.text(place) for place in places])


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
    covers: dict[RuledGold, set[int]]  # the numbers of the chunks that do


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
    planned = plan(strategy, documents)
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
    golds = dict.fromkeys(gold for query in queries for gold in query.golds)

    @lru_cache(maxsize=None)
    def tokens_of(place: Place) -> set:
        # Without the headings of --context: they are none of the gold's text.
        return set(store.tokens(place))

    return Trial(
        strategy,
        index.name,
        chunks,
        costs,
        sum(contents.length(place) for place in planned.searched),
        ranked,
        explained,
        judge(list(golds), chunks, tokens_of),
    )


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
        return f"chunks within {self.tokens} tokens"

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
def is_reachable(trial: Trial, query: Query, cutoff: Cutoff) -> bool:
    """Whether some choice of chunks that could be sent answers a query."""
    bits: dict[int, int] = Counter()  # a bit for each gold that a chunk covers
    for number, gold in enumerate(query.golds):
        for chunk in trial.covers[gold]:
            bits[chunk] += 1 << number
    cheapest: dict[int, int] = {}  # {bits: the least price of such a chunk}
    for chunk, pattern in bits.items():
        price = cutoff.price(trial.costs[chunk])
        cheapest[pattern] = min(price, cheapest.get(pattern, price))
    least = {0: 0}  # {bits: the least price of chunks that have them together}
    for pattern, price in cheapest.items():
        for had, total in list(least.items()):
            both = had | pattern
            if total + price <= least.get(both, cutoff.limit):
                least[both] = total + price
    return (1 << len(query.golds)) - 1 in least


def chance(trial: Trial, query: Query, k: int) -> float:
    """The probability that k different chunks drawn at random answer a query.

    Exact, by inclusion and exclusion over the query's golds.
    """
    needs = {frozenset(trial.covers[gold]) for gold in query.golds}
    total = len(trial.chunks)
    drawn = min(k, total)
    ways = 0
    for count in range(len(needs) + 1):
        for missed in combinations(needs, count):
            others = total - len(frozenset().union(*missed))
            ways += (-1) ** count * comb(others, drawn)
    return ways / comb(total, drawn)


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
    reachable = is_reachable(trial, query, cutoff)
    luck = None  # it has no closed form under a budget
    if isinstance(cutoff, TopK):
        luck = chance(trial, query, cutoff.k) if reachable else 0.0
    return {
        "recall" + at: hit,
        "tokens": sum(trial.costs[number] for number in sent),
        "ceiling" + at: reachable,
        "chance" + at: luck,
        "cut": not reachable,
        "outranked": reachable and not hit,
        "sent": len(sent),
        "rr": reciprocal_rank(trial, query, ranked),
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
        if gold.rule == "section":
            found.append(not trial.covers[gold].isdisjoint(sent))
        else:
            found.append(share >= COVERED)
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


def query_figures(
    trial: Trial, queries: Sequence, cutoff: Cutoff
) -> Iterator[dict]:
    """The figures of each query at a cutoff."""
    for query, ranked in zip(queries, trial.ranked):
        sent = cutoff.sends(ranked, trial.costs)
        yield {
            **answer_figures(trial, query, ranked, cutoff),
            **position_figures(trial, query, sent, f"@{cutoff.label}"),
        }


def cutoff_figures(trial: Trial, queries: Sequence, cutoff: Cutoff) -> dict:
    """Every figure at a cutoff, {name: mean, number, or None}."""
    at = f"@{cutoff.label}"
    each = list(query_figures(trial, queries, cutoff))
    single: list[bool] = []
    multi: list[bool] = []
    for query, found in zip(queries, each):
        hits = single if len(query.golds) == 1 else multi
        hits.append(found["recall" + at])
    figures = {
        "recall" + at: mean(single + multi),
        "single" + at: mean(single),
        "multi" + at: mean(multi),
    }
    for name in each[0]:
        values = [found[name] for found in each if found[name] is not None]
        is_count = name in ("cut", "outranked")
        figures[name] = sum(values) if is_count else mean(values)
    figures["tokens" + at] = figures["tokens"]
    return figures


def measure_trial(trial: Trial, data: Data, cutoffs: Sequence) -> dict:
    """Every figure of a trial, after its names.

    What has no @k in its name is of the last cutoff.
    """
    row = {
        "strategy": trial.strategy,
        "retriever": trial.retriever,
        "chunks": len(trial.chunks),
    }
    for cutoff in cutoffs:
        row.update(cutoff_figures(trial, data.queries, cutoff))
    characters = sum(len(document.text) for document in data.documents)
    row["longest"] = max(trial.costs, default=0)
    row["index_growth"] = trial.indexed / characters
    return row


class Result(NamedTuple):
    """What a strategy did in all its rounds."""

    label: str  # its name in tables
    trial: Trial  # of the first round
    row: dict  # {figure: mean of the rounds}
    spread: dict | None  # {figure: [least, most]}; None if all rounds agree
    answers: list  # of each query a dict as in the JSON; of the first round


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
    rows = [measure_trial(trial, data, cutoffs) for trial in rounds]
    row = {"name": label, **rows[0]}
    spread = {}
    for key in rows[0]:
        values = [each[key] for each in rows]
        if len(set(values)) > 1:
            spread[key] = [min(values), max(values)]
            row[key] = mean(values)
    for cutoff in cutoffs:
        recall = row[f"recall@{cutoff.label}"]
        row[f"ci@{cutoff.label}"] = wilson(recall, len(data.queries))
    answers = list(answers_of(first, data, cutoffs))
    return Result(label, first, row, spread if varies else None, answers)


def answers_of(trial: Trial, data: Data, cutoffs: Sequence) -> Iterator[dict]:
    """What a trial did for each query, as the JSON has it."""
    for query, ranked in zip(data.queries, trial.ranked):
        top = cutoffs[-1].sends(ranked, trial.costs)
        places = [trial.chunks[number] for number in top]
        answer = {
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
        answer["missing"] = [
            gold.name
            for gold in query.golds
            if trial.covers[gold].isdisjoint(top)
        ]
        answer["tokens"] = sum(trial.costs[number] for number in top)
        yield answer


# ---- compare: what can be told from chance ---------------------------------
def wilson(share: float, total: int) -> list[float]:
    """The 95 % interval [low, high] of a share of `total` (Wilson 1927)."""
    z = 1.959963984540054
    middle = share + z * z / (2 * total)
    variance = share * (1 - share) / total + z * z / (4 * total * total)
    half = z * sqrt(variance)
    scale = 1 + z * z / total
    low, high = (middle - half) / scale, (middle + half) / scale
    return [max(0.0, low), min(1.0, high)]


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


def compare(
    results: Sequence[Result], baseline: str, cutoff: Cutoff
) -> list[dict]:
    """Each other result against the one labelled `baseline`, for the JSON.

    Query by query, by recall at the cutoff; queries are numbered from 1.
    """
    metric, key = f"recall@{cutoff.label}", f"answered@{cutoff.label}"
    hits = {}
    for result in results:
        hits[result.label] = [answer[key] for answer in result.answers]
    theirs = hits.pop(baseline)
    rows = []
    for label, ours in hits.items():
        row: dict[str, Any] = {"metric": metric}
        row.update(baseline=baseline, strategy=label)
        row.update(compare_hits(ours, theirs))
        rows.append(row)
    for row, p in zip(rows, holm([row["p"] for row in rows])):
        row["p_holm"] = p
    return rows


def compare_hits(ours: list[bool], theirs: list[bool]) -> dict:
    """Wins, losses and p of two strategies' answers to the same queries."""
    gains = [hit - other for hit, other in zip(ours, theirs)]
    won = [number for number, gain in enumerate(gains, 1) if gain > 0]
    lost = [number for number, gain in enumerate(gains, 1) if gain < 0]
    return {
        "difference": mean(gains),
        "wins": won,
        "losses": lost,
        "p": mcnemar(len(won), len(lost)),
    }


# ---- conclude: the frontier, the notes, the report -------------------------
class Point(NamedTuple):
    """What a strategy gives and takes, at the last cutoff."""

    recall: float
    tokens: float


def is_beaten(point: Point, other: Point) -> bool:
    """Whether another point is as good and as cheap, and better in one."""
    as_good = other.recall >= point.recall and other.tokens <= point.tokens
    return as_good and other != point


def frontier(points: Sequence[Point]) -> list[int]:
    """The numbers of the points that no other beats, the cheapest first."""
    by_cost = sorted(range(len(points)), key=lambda n: points[n].tokens)
    return [
        number
        for number in by_cost
        if not any(is_beaten(points[number], other) for other in points)
    ]


def elbow(points: Sequence[Point]) -> int | None:
    """The number of the frontier's point farthest above the chord of its ends.

    Both axes are scaled to 0..1 (Satopaa and others 2011). Of equals the
    cheaper; None where no point is above the chord.
    """
    best = frontier(points)
    if not best:
        return None
    first, last = points[best[0]], points[best[-1]]
    height, width = last.recall - first.recall, last.tokens - first.tokens
    above = {}
    for number in best:
        recall, tokens = points[number]
        rise, run = recall - first.recall, tokens - first.tokens
        above[number] = round(rise * width - run * height, 9)
    bends = [number for number in best if above[number] > 0]
    if not bends:
        return None
    return max(bends, key=above.__getitem__)


class Report(NamedTuple):
    """All that was measured and concluded, once, before anything prints."""

    data: Data
    results: list  # of Result
    comparisons: list  # dicts, as the JSON has them
    cutoffs: list
    baseline: str  # the label of what the others are compared with
    settings: dict  # what was asked for, as the JSON has it
    points: list  # a Point for each result
    frontier: list  # the numbers of its results, the cheapest first
    elbow: int | None  # the number of its result
    cut_levels: dict  # {label: cut_levels(...)} of recursive chunkers
    notes: Sequence = ()  # dicts, as the JSON has them

    @property
    def last(self) -> Cutoff:
        """The last cutoff, to which figures without @k belong."""
        return self.cutoffs[-1]


def conclude(
    data: Data,
    results: list,
    cutoffs: list,
    baseline: str,
    settings: dict,
) -> Report:
    """The Report of results; where rounds disagree, nothing is tested."""
    comparisons = []
    for cutoff in cutoffs:
        comparisons += compare(results, baseline, cutoff)
    if not settings["deterministic"]:
        for row in comparisons:
            row["p"] = row["p_holm"] = None
    recall = f"recall@{cutoffs[-1].label}"
    points = [Point(each.row[recall], each.row["tokens"]) for each in results]
    levels = {
        each.label: cut_levels(each.trial, data.documents)
        for each in results
        if each.trial.strategy.startswith("recursive:")
    }
    report = Report(
        data,
        results,
        comparisons,
        cutoffs,
        baseline,
        settings,
        points,
        frontier(points),
        elbow(points),
        levels,
    )
    return report._replace(notes=notes(report))


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
    """A sentence, and for each strategy that it is true of a detail."""

    kind: str
    text: str
    details: dict  # {label: detail}


def share_left_out(trial: Trial, documents: Sequence) -> str:
    """How much of the corpus is in no chunk, as "50.1 %", or nothing.

    White space does not count.
    """
    words = [
        (number, *word.span())
        for number, document in enumerate(documents)
        for word in re.finditer(r"\S+", document.text)
    ]
    chunks = trial.chunks
    outside = union_length([*words, *chunks]) - union_length(chunks)
    if not outside:
        return ""
    return f"{100 * outside / union_length(words):.1f} %"


def uncovered(trial: Trial) -> str:
    """How many golds no chunk covers, and why, or nothing.

    As in "1 too long for a chunk, 2 cut by a boundary".
    """
    longest = max(map(length, trial.chunks), default=inf)
    lost = [gold for gold, chunks in trial.covers.items() if not chunks]
    long = 0
    for gold in lost:
        shortest = min(map(length, gold.places))
        long += longest / shortest < COVERED
    torn = "cut by a boundary"
    if ":" not in trial.strategy:  # ours leave nothing out
        torn += " or left out"
    counts = {"too long for a chunk": long, torn: len(lost) - long}
    return ", ".join(
        f"{count} {why}" for why, count in counts.items() if count
    )


def note_varies(report: Report) -> Iterator[Note]:
    """Rounds disagree."""
    text = "rounds disagree; means [min, max] are shown, and figures by query "
    text += "are the first round's"
    varied = {
        result.label: plural(len(result.spread), "figure")
        for result in report.results
        if result.spread is not None
    }
    yield Note("varies", text, varied)


def note_lost(report: Report) -> Iterator[Note]:
    """A chunker leaves text out, or a budget fits no chunk."""
    left_out = {}
    for label, trial, *_ in report.results:
        if ":" not in trial.strategy:  # ours leave nothing out
            left_out[label] = share_left_out(trial, report.data.documents)
    text = "text that is in no chunk, and no query can find"
    yield Note("lost", text, left_out)

    starved = {}
    for label, trial, *_ in report.results:
        count = 0
        for ranked in trial.ranked:
            sent = report.last.sends(ranked, trial.costs)
            count += bool(ranked) and not sent
        if count:
            starved[label] = plural(count, "query")
    text = "nothing is sent where the best chunk alone is over "
    text += f"{report.last.limit} tokens"
    yield Note("lost", text, starved)


def note_saturated(report: Report) -> Iterator[Note]:
    """Every chunk can be sent."""
    text = "every chunk there is can be sent, so "
    text += f"recall@{report.last.label} says nothing about retrieval"
    full = {
        label: plural(len(trial.chunks), "chunk")
        for label, trial, *_ in report.results
        if is_saturated(trial, report.last)
    }
    yield Note("saturated", text, full)


def note_chance(report: Report) -> Iterator[Note]:
    """Luck goes half of the way or more."""
    at = f"@{report.last.label}"
    text = f"{report.last.words} drawn at random reach half of recall{at} "
    text += "or more"
    lucky = {}
    for label, trial, row, *_ in report.results:
        recall, luck = row["recall" + at], row["chance" + at] or 0
        if not is_saturated(trial, report.last) and 0 < recall <= 2 * luck:
            lucky[label] = f"{luck:.3f} of {recall:.3f}"
    yield Note("chance", text, lucky)


def note_floor(report: Report) -> Iterator[Note]:
    """No chunk covers a gold, whatever is retrieved."""
    queries = report.data.queries
    golds = {gold for query in queries for gold in query.golds}
    text = f"golds, of {len(golds)}, that no chunk can cover"
    lost = {label: uncovered(trial) for label, trial, *_ in report.results}
    yield Note("floor", text, lost)


def note_ceiling(report: Report) -> Iterator[Note]:
    """The ranker is perfect, the chunks are not."""
    for cutoff in report.cutoffs:
        at = f"@{cutoff.label}"
        text = f"recall{at} is all that these chunks allow, "
        text += "whatever the ranker"
        perfect = {}
        for label, trial, row, *_ in report.results:
            recall, most = row["recall" + at], row["ceiling" + at]
            if not is_saturated(trial, cutoff) and 0 < recall == most < 1:
                perfect[label] = f"{recall:.3f}"
        yield Note("ceiling", text, perfect)


def undecided(report: Report, cutoff: Cutoff) -> dict[str, str]:
    """{label: wins, losses and p} of what is not told from the baseline."""
    doubts = {}
    for row in report.comparisons:
        p = row["p_holm"]
        is_of_cutoff = row["metric"] == f"recall@{cutoff.label}"
        if is_of_cutoff and p is not None and p >= 0.05:
            wins, losses = len(row["wins"]), len(row["losses"])
            doubts[row["strategy"]] = f"+{wins} -{losses}, p = {p:.2f}"
    return doubts


def note_inseparable(report: Report) -> Iterator[Note]:
    """Differences that so few queries cannot tell from chance."""
    asked, others = len(report.data.queries), len(report.results) - 1
    enough = 1
    while mcnemar(enough, 0) * others >= 0.05:
        enough += 1
    would = plural(enough, "win") + " without a loss would"
    if enough > asked:
        would += "; ask more queries"
    for cutoff in [report.last, *report.cutoffs[:-1]]:
        text = f"by recall@{cutoff.label}, {plural(asked, 'query')} cannot "
        text += f"tell these from {report.baseline} ({would})"
        yield Note("inseparable", text, undecided(report, cutoff))


def note_elbow(report: Report) -> Iterator[Note]:
    """The best bargain of what can be believed, and the next step's price."""
    if not report.settings["deterministic"]:
        return
    doubts = undecided(report, report.last)
    sure = [
        (result.label, point)
        for result, point in zip(report.results, report.points)
        if result.label not in doubts
        and not is_saturated(result.trial, report.last)
    ]
    points = [point for _, point in sure]
    bend = elbow(points)
    if bend is None:
        return
    recall, tokens = points[bend]
    steps = [points[number] for number in frontier(points)]
    step = next(point for point in steps if point > points[bend])
    dearer, more = step.tokens - tokens, step.recall - recall
    text = "the best bargain; the next step up from it pays "
    text += f"{dearer:.1f} tokens more for {more:+.3f}"
    detail = f"{recall:.3f} for {tokens:.1f} tokens"
    yield Note("elbow", text, {sure[bend][0]: detail})


def note_depth(report: Report) -> Iterator[Note]:
    """A recursive chunker that often found no good place to cut."""
    text = "cuts that fell to a space or a character, "
    text += "for want of a better place"
    deep = {}
    for label, cuts in report.cut_levels.items():
        fell = cuts["space"] + cuts["character"]
        share = fell / max(1, sum(cuts.values()))
        if share >= 0.2:
            deep[label] = f"{100 * share:.0f} %"
    yield Note("depth", text, deep)


NOTES = [  # the weightiest first
    note_varies,
    note_lost,
    note_saturated,
    note_chance,
    note_floor,
    note_ceiling,
    note_inseparable,
    note_elbow,
    note_depth,
]


def notes(report: Report) -> list[dict]:
    """The notes that hold, as the JSON has them; at most seven."""
    found = []
    possible = chain.from_iterable(note(report) for note in NOTES)
    for kind, text, details in possible:
        labels = [label for label in details if details[label]]
        if not labels:
            continue
        named = [f"{label} ({details[label]})" for label in labels[:5]]
        text += ": " + ", ".join(named)
        if len(labels) > 5:
            text += f" and {len(labels) - 5} more"
        found.append({"kind": kind, "strategies": labels, "text": text})
    return found[:7]


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
    nouns = ("document", "paragraph", "topic", "character")
    sizes = ", ".join(plural(corpus[noun + "s"], noun) for noun in nouns)
    hops = f"{queries['total']}: {queries['single']} single-hop, "
    hops += f"{queries['multi']} multi-hop"
    if data.skipped:
        hops += f", {data.skipped} skipped"
    return {
        "corpus": f"{sizes}  [{corpus['sha256'][:8]}]",
        "queries": f"{hops}  [{queries['sha256'][:8]}]",
    }


def header(report: Report) -> dict[str, str]:
    """What was measured, and how, {name: text}."""
    settings = report.settings
    names = dict.fromkeys(each.row["retriever"] for each in report.results)
    if settings["budget"]:
        sends = f"as many chunks as fit in {settings['budget']} tokens"
    else:
        sends = "top " + ", ".join(map(str, settings["k"]))
    if settings["context"]:
        sends += ", titles and headings put before each chunk"
    agree = "which agree bit for bit"
    if not settings["deterministic"]:
        agree = "which disagree"
    elif settings["rounds"] == 1:
        agree = "so nothing says whether it varies"
    unit = f"as counted by {settings['count']}"
    if settings["count"] == "tokens":
        unit = "a word or a character bigram, not a token of an LLM"
    return {
        **data_lines(report.data),
        "tokenizer": TOKENIZER,
        "retriever": f"{', '.join(names)}, {sends}",
        "rounds": f"{settings['rounds']}, {agree}",
        "token": unit,
    }


# ---- print: tables ---------------------------------------------------------
# The figures of each table by name, {} being the last cutoff. A name that ends
# in @ or _ stands for all that begin so. A bare run prints the first table.
TABLES = [
    ["chunks", "recall@", "single@{}", "multi@{}", "tokens"],
    ["ceiling@", "chance@", "cut", "outranked"],
    ["evidence@", "complete@", "rr", "sent", "longest"],
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


def tables(report: Report) -> list[list[dict]]:
    """All figures as tables, each a list of rows {name: text}.

    The first is that of a bare run, the others are what it leaves out.
    """
    found = [figure_table(report, patterns) for patterns in TABLES]
    if len(report.results) > len(STRATEGIES):
        for number, row in enumerate(found[0]):
            row["frontier"] = "*" if number in report.frontier else "-"
    levels = report.cut_levels.items()
    found.append([comparison_row(row) for row in report.comparisons])
    found.append([{"cuts after": label, **cuts} for label, cuts in levels])
    return [rows for rows in found if rows]


def comparison_row(row: dict) -> dict:
    """A comparison as tables show it."""

    def numbers(queries: list[int]) -> str:
        return " ".join(map(str, queries)) or "-"

    return {
        f"against {row['baseline']}": row["strategy"],
        "metric": row["metric"],
        "difference": f"{row['difference']:+.3f}",
        "p": row["p"],
        "p_holm": row["p_holm"],
        "won": numbers(row["wins"]),
        "lost": numbers(row["losses"]),
    }


def to_text(report: Report, detail: bool = False) -> str:
    """What was measured, the table, and the notes, for a person.

    With detail, the other tables too.
    """
    above = [
        wrapped(f"{name:<10} {text}", 11)
        for name, text in header(report).items()
    ]
    below = [wrapped("{kind}: {text}".format(**note)) for note in report.notes]
    first, *others = tables(report)
    parts = ["\n".join(above), table(first), "\n".join(below)]
    if detail:
        parts += map(table, others)
    return "\n\n".join(filter(None, parts))


def to_markdown(report: Report) -> str:
    """What was measured, all figures as tables, and the notes, in Markdown."""
    lines = [f"- {name}: {text}" for name, text in header(report).items()]
    parts = ["\n".join(lines)]
    parts += map(markdown_table, tables(report))
    lines = ["- **{kind}**: {text}".format(**note) for note in report.notes]
    parts.append("\n".join(lines))
    return "\n\n".join(filter(None, parts))


def markdown_table(rows: list[dict]) -> str:
    """Rows {name: figure} as a table in Markdown."""
    names = list(rows[0])
    lines = [names, [":--"] + ["--:"] * (len(names) - 1)]
    lines += [[cell(*item) for item in row.items()] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# ---- print: what other programs read ---------------------------------------
def to_csv(report: Report) -> str:
    """All figures and comparisons, a line a strategy, unrounded.

    A byte order mark tells a spreadsheet of UTF-8.
    """
    import csv
    import io

    lines: dict[str, dict] = {}
    for number, result in enumerate(report.results):
        line = dict(result.row, frontier=number in report.frontier)
        for key, ends in (result.spread or {}).items():
            line[f"range of {key}"] = ends
        lines[result.label] = line
    for row in report.comparisons:
        for key in ("difference", "wins", "losses", "p", "p_holm"):
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


def to_json(report: Report) -> str:
    """Everything, unrounded."""
    labels = [result.label for result in report.results]
    strategies = []
    for result in report.results:
        entry = dict(result.row)
        if result.spread:
            entry["range"] = result.spread
        strategies.append({**entry, "queries": result.answers})
    content = {
        "version": VERSION,
        "tokenizer": TOKENIZER,
        **report.settings,
        **facts(report.data),
        "strategies": strategies,
        "comparisons": report.comparisons,
        "frontier": [labels[number] for number in report.frontier],
        "elbow": None if report.elbow is None else labels[report.elbow],
        "notes": report.notes,
    }
    return json.dumps(content, ensure_ascii=False)


def save(path: str, text: str) -> None:
    """Write a file in UTF-8 with plain line ends, and the folders above it.

    InputError where that cannot be done.
    """
    with errors_named(path, "a file that can be written"):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="\n") as out:
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
        reason = "what covers it was not retrieved"
        if not covering:
            reason = "no chunk covers it"
        elif ranks:
            reason = f"the chunk that covers it is ranked {ranks[0]}"
        sent_share, _ = best_place(gold, chunks)
        yield Shortfall(gold, sent_share, max(shares, default=0.0), reason)


def verdict_on(report: Report, trial: Trial, query_number: int) -> str:
    """Whether a query was answered, and if not by whose fault."""
    query = report.data.queries[query_number]
    sent = report.last.sends(trial.ranked[query_number], trial.costs)
    if answered(query, sent, trial.covers):
        return "answered"
    if is_reachable(trial, query, report.last):
        return (
            "missed, outranked: some chunks would answer it, "
            "and the ranker did not bring them"
        )
    return f"missed, cut: no choice of {report.last.words} answers it"


def chunk_lines(
    report: Report,
    trial: Trial,
    numbers: Iterable[int],
    golds: Iterable[RuledGold],
    scores: dict | None = None,
) -> Iterator[str]:
    """Two lines on each of these chunks.

    Its place, tokens, score, and which of the golds it covers; its first and
    last characters, with ~ where a paragraph is cut.
    """
    names: dict[int, dict] = defaultdict(dict)  # of golds covered, each once
    for gold in golds:
        for number in trial.covers[gold]:
            names[number][quoted(gold.name, 30)] = None
    for position, number in enumerate(numbers, 1):
        document_number, start, end = trial.chunks[number]
        document = report.data.documents[document_number]
        said = [f"{document.name} {start}-{end}"]
        said.append(plural(trial.costs[number], "token"))
        if scores:
            said.append(f"score {scores[number]:.3f}")
        if number in names:
            said.append("covers " + " and ".join(names[number]))
        yield f"{position:>6}. {', '.join(said)}"
        words = quoted(document.text[start:end])[1:-1]
        before = tear(document.paragraphs, start)
        yield f"        {before}{words}{tear(document.paragraphs, end)}"


def tear(paragraphs: Sequence[Slice], position: int) -> str:
    """The mark ~ if a position is within a paragraph, or else nothing."""
    start, end = paragraphs[bisect_left(paragraphs, (position,)) - 1]
    return "~" if start < position < end else ""


def explain(report: Report, numbers: Iterable[int]) -> Iterator[str]:
    """The lines on these queries, numbered from 0.

    What each strategy sent, what is missing, and why.
    """
    for query_number in numbers:
        query = report.data.queries[query_number]
        yield f"\nquery {query_number + 1}: {query.text}"
        yield "  needs " + " and ".join(quoted(g.name) for g in query.golds)
        for label, trial, *_ in report.results:
            yield f"  {label}: {verdict_on(report, trial, query_number)}"
            sent = report.last.sends(trial.ranked[query_number], trial.costs)
            scores = trial.explained[query_number].scores
            yield from chunk_lines(report, trial, sent, query.golds, scores)
            for gold, sent_share, best, reason in diagnose(
                report, trial, query_number
            ):
                yield (
                    f"    missing {quoted(gold.name, 30)}: all that was sent "
                    f"holds {100 * sent_share:.0f} % of it, the best single "
                    f"chunk covers {100 * best:.0f} %; {reason}"
                )


def list_chunks(report: Report) -> Iterator[str]:
    """The lines on all chunks of each strategy, and what each covers."""
    for label, trial, *_ in report.results:
        line = f"\n{label}: {plural(len(trial.chunks), 'chunk')}"
        if trial.costs:
            longest = trial.costs.index(max(trial.costs))
            line += f", the longest is number {longest + 1}"
        yield line
        numbers = range(len(trial.chunks))
        yield from chunk_lines(report, trial, numbers, trial.covers)


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
    lines = [
        wrapped(f"{name:<10} {text}", 11)
        for name, text in data_lines(data).items()
    ]
    lines += [
        "",
        "least, median, most",
        span_line("characters a paragraph", list(map(len, paragraphs))),
        span_line("tokens a paragraph", list(map(len, tokens))),
        span_line("characters a gold", lengths),
        "",
        f"characters a token        {ratio:.2f}",
        f"golds                     {gold_kinds(golds)}",
        f"paragraphs that repeat    {repeated}",
        f"queries without a match   {unmatched_queries(data, tokens)}",
        "",
        "sizes below, around and above what a gold is long:",
        f"  python chunking_retrieval_eval.py{data_options(options)}"
        f" -s fixed:{sizes_around(lengths)}",
    ]
    return "\n".join(lines)


def span_line(what: str, values: list[int]) -> str:
    """The line on least, median and most."""
    from statistics import median_high

    span = f"{min(values)}, {median_high(values)}, {max(values)}"
    return f"  {what:<22}  {span}"


def sizes_around(lengths: list[int]) -> str:
    """Sizes of chunks below, around and above the median length of a gold."""
    from statistics import median_high

    middle = median_high(lengths)
    sizes = [max(1, round(middle * times)) for times in (0.5, 1.5, 5)]
    return ",".join(map(str, sizes))


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
    return f"{len(strange)}: {'; '.join(strange[:3])}"


def gold_kinds(golds: Iterable[RuledGold]) -> str:
    """How many golds there are of each kind: "2 quotes, 1 section"."""
    kinds = Counter(
        "topic" if gold.rule == "wording" else gold.rule for gold in golds
    )
    return ", ".join(plural(kinds[kind], kind) for kind in sorted(kinds))


# ---- pages: what a query file is written from ------------------------------
def list_topics(data: Data) -> Iterator[str]:
    """A line a topic: its name, and what it stands for.

    InputError where there is none.
    """
    if not data.topics:
        what = "these data have no topic"
        raise InputError(f"--topics: {what} (a corpus with topics)")
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
        for start, end in split(pattern, text, lines[0].start, lines[-1].end):
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
            what = (
                f"the corpus has {plural(len(chosen), 'sentence')} of 40 to "
            )
            what += "200 characters that it says only once"
            raise InputError(f"--draft {count}: {what} (at most so many)")
    for number in sorted(chosen):
        document, start, end = passages[number].place
        gold = data.documents[document].text[start:end]
        line = {"query": "", "gold": [gold]}
        line["doc"] = data.documents[document].name
        yield json.dumps(line, ensure_ascii=False)


# ---- picture: cost against recall ------------------------------------------
STYLE = """\
text{font:12px sans-serif;fill:#444}.grid{stroke:#8884}.bar{stroke:#8888}\
.other{fill:#888}.best{fill:#0969da}
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
    """Recall at the last cutoff against tokens, as SVG.

    A point a strategy, its name as its title; the frontier joined, its points
    and the elbow labelled; bars are the 95 % intervals, dashes the ceilings,
    squares what chance gives.
    """
    from html import escape

    most = ceil(max(point.tokens for point in report.points)) or 1
    step = axis_step(most)
    marks = range(0, most + step, step)
    scale = (RIGHT - LEFT) / marks[-1]
    spots = [
        (LEFT + scale * point.tokens, y_of(point.recall))
        for point in report.points
    ]
    joined = [spots[number] for number in report.frontier]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in joined)
    at = f"@{report.last.label}"
    return "\n".join(
        [
            '<svg xmlns="http://www.w3.org/2000/svg" '
            'viewBox="0 0 720 440" role="img">',
            f"<title>recall{at} against tokens, "
            f"{escape(header(report)['retriever'])}</title>",
            f"<style>{STYLE}</style>",
            f'<text x="60" y="20">recall{at} '
            "(bar: 95 % interval, dash: ceiling, square: chance)</text>",
            '<text x="700" y="432" text-anchor="end">'
            "tokens sent a query</text>",
            *svg_axes(marks, scale),
            f'<path class="line" d="M{path}"/>',
            *svg_points(report, spots),
            *svg_labels(report, spots),
            "</svg>",
            "",
        ]
    )


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


def svg_points(report: Report, spots: list) -> Iterator[str]:
    """Of each strategy its interval, ceiling, chance and point."""
    from html import escape

    at = f"@{report.last.label}"
    for number, ((x, y), result) in enumerate(zip(spots, report.results)):
        row, point = result.row, report.points[number]
        low, high = map(y_of, row["ci" + at])
        yield f'<path class="bar" d="M{x:.1f} {low:.1f}V{high:.1f}"/>'
        top = y_of(row["ceiling" + at])
        yield f'<path class="limit" d="M{x - 5:.1f} {top:.1f}h10"/>'
        luck = row["chance" + at]
        if luck is not None:  # it is None with a budget
            corner = f'x="{x - 2.5:.1f}" y="{y_of(luck) - 2.5:.1f}"'
            yield f'<rect class="luck" {corner} width="5" height="5"/>'
        kind = "best" if number in report.frontier else "other"
        title = f"{escape(result.label)}: {point.recall:.3f}, "
        title += f"{point.tokens:.1f} tokens"
        circle = f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="5">'
        yield f"{circle}<title>{title}</title></circle>"


def svg_labels(report: Report, spots: list) -> Iterator[str]:
    """The names of the frontier's points, each joined to its point."""
    from html import escape

    taken = [Box(x - 6, y - 6, x + 6, y + 6) for x, y in spots]
    for number in report.frontier:
        x, y = spots[number]
        label = report.results[number].label
        if number == report.elbow:
            label += " (elbow)"
        box = label_box(x, y, 7 * len(label), taken)
        taken.append(box)
        end = min(max(x, box.left), box.right)
        line = f"M{x:.1f} {y:.1f}L{end:.1f} {box.top + 7:.1f}"
        yield f'<path class="bar" d="{line}"/>'
        corner = f'x="{box.left:.1f}" y="{box.top + 11:.1f}"'
        yield f"<text {corner}>{escape(label)}</text>"


# ---- command line ----------------------------------------------------------
FORMATS: dict[str, Callable] = {
    "table": to_text,
    "markdown": to_markdown,
    "csv": to_csv,
    "json": to_json,
}
USES = """examples:
  python chunking_retrieval_eval.py --explain 3
  python chunking_retrieval_eval.py --corpus docs --queries questions.jsonl \
--check
  python chunking_retrieval_eval.py -s fixed:50,100 -s overlap:100/15% \
--detail"""


def number_from_1(text: str) -> int:
    """The number that an argument says; argparse prints what is wrong."""
    if not re.fullmatch(SIZE, text, re.ASCII):
        raise ArgumentTypeError(f"{quoted(text)} is no whole number from 1")
    return int(text)


def numbers_from_1(text: str) -> list[int]:
    """The numbers of an argument such as 1,3,5, sorted, each once."""
    return sorted({number_from_1(part) for part in text.split(",")})


def nonempty(text: str) -> str:
    """A name that an argument gives."""
    if not text:
        raise ArgumentTypeError(f"{quoted(text)} is no name")
    return text


class Parser(ArgumentParser):
    """An argparse parser whose errors are InputErrors."""

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong with the command line."""
        right = "--help lists what there is"
        raise InputError(f"arguments: {message} ({right})")


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
    add_data_options(parser)
    add_strategy_options(parser)
    add_measuring_options(parser)
    add_output_options(parser)
    return parser.parse_args(arguments)


def add_data_options(parser: ArgumentParser) -> None:
    """Add the options that name the data to an argparse parser."""
    add = parser.add_argument
    add(
        "--corpus",
        metavar="PATH",
        type=nonempty,
        help=".py, .jsonl, .json, .md, .txt, or a folder of .md and .txt "
        "(corpus.py)",
    )
    add(
        "--queries",
        metavar="PATH",
        type=nonempty,
        help=".py, .jsonl, .json, .csv or .tsv (queries.py)",
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
    either = parser.add_mutually_exclusive_group().add_argument
    either(
        "--check",
        action="store_true",
        help="validate the data, print their statistics, stop",
    )
    either(
        "--topics",
        action="store_true",
        help="list the topics that golds may name, stop",
    )
    either(
        "--draft",
        metavar="N",
        type=number_from_1,
        help="print N passages as lines of JSON to write queries into, stop",
    )


def add_strategy_options(parser: ArgumentParser) -> None:
    """Add the options that say how to chunk and retrieve."""
    add = parser.add_argument
    examples = [chunker.examples for chunker in CHUNKERS.values()]
    specs = "; ".join(
        [*examples, "module.function", "fixed:50,100 is two", "repeatable"]
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


def add_measuring_options(parser: ArgumentParser) -> None:
    """Add the options that say what is sent, and how it is measured."""
    add = parser.add_argument
    either = parser.add_mutually_exclusive_group().add_argument
    either(
        "-k",
        "--top-k",
        metavar="N[,N...]",
        type=numbers_from_1,
        default=[3],
        help="how many chunks are sent (3)",
    )
    either(
        "--budget",
        metavar="TOKENS",
        type=number_from_1,
        help="send the best chunks, up to so many tokens, instead",
    )
    add(
        "--rounds",
        metavar="N",
        type=number_from_1,
        default=3,
        help="how often all is done (3)",
    )
    add(
        "--baseline",
        metavar="SPEC",
        help="what the others are compared with (the first)",
    )
    add(
        "--count",
        metavar="module.function",
        type=nonempty,
        help="what counts tokens instead: text -> int",
    )
    add(
        "--context",
        action="store_true",
        help="index, and pay for, each chunk with its title and headings",
    )
    add(
        "--jobs",
        metavar="N",
        type=number_from_1,
        default=1,
        help="strategies side by side in N processes",
    )


def add_output_options(parser: ArgumentParser) -> None:
    """Add the options that say what is printed and written."""
    add = parser.add_argument
    add(
        "--format",
        choices=list(FORMATS),
        default="table",
        help="table, markdown, csv or json",
    )
    add(
        "--detail",
        action="store_true",
        help="the other figures, and the queries won and lost",
    )
    add(
        "--explain",
        metavar="N",
        nargs="?",
        type=number_from_1,
        const=0,
        help="what each query, or N, got, missed, and why",
    )
    add(
        "--chunks",
        action="store_true",
        help="the chunks of each strategy, and what each covers",
    )
    add(
        "--plot",
        metavar="FILE.svg",
        type=nonempty,
        help="draw recall against tokens",
    )
    add(
        "--trec",
        metavar="DIR",
        type=nonempty,
        help="write NAME.run and NAME.qrels for trec_eval and its like",
    )
    add("--version", action="version", version=VERSION)


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
    is_checked = options.check and options.corpus and not options.queries
    if is_checked or options.topics or options.draft:
        return data
    path = options.queries or os.path.join(HERE, "queries.py")
    return read_queries(path, data)


def load_all_in_one(options: Namespace, name: str) -> Data:
    """The Data of one of ALL_IN_ONE; InputError where more is named."""
    for other in ("corpus", "queries", *ALL_IN_ONE):
        if other != name and getattr(options, other):
            what = "brings its own corpus and queries"
            raise InputError(f"--{name}: {what} (without --{other})")
    path = getattr(options, name)
    return not_empty(ALL_IN_ONE[name](path), path)


def not_empty(data: Data, path: str) -> Data:
    """The data, or the InputError of a corpus without a token."""
    if any(has_token(document.text) for document in data.documents):
        return data
    what = "the corpus is empty: it has not one token"
    raise InputError(f"{path}: {what} (a text with letters or digits)")


def has_token(text: str) -> bool:
    """Whether a text has a token; most have one in their first piece."""
    pieces = TokenStore.PIECE.finditer(text)
    return any(quick_tokenize(piece[0]) for piece in pieces)


def run_strategies(options: Namespace, data: Data) -> Report:
    """The Report that the options ask for."""
    specs = expand(options.strategy or STRATEGIES)
    retrievers = list(dict.fromkeys(options.retriever or ["bm25"]))
    for name in retrievers:
        find_retriever(name)  # or an InputError, before any work
    labels = specs
    if len(retrievers) > 1:
        labels = [" ".join(pair) for pair in product(specs, retrievers)]
    baseline = find_baseline(options.baseline, labels)
    setups = [setup_of(options, name, data) for name in retrievers]
    pairs = product(specs, setups)
    jobs = [Job(*pair, label=label) for pair, label in zip(pairs, labels)]
    cutoffs = cutoffs_of(options)
    if options.jobs == 1:
        watch = partial(watched, jobs=jobs, rounds=options.rounds)
        results = run_jobs(jobs, data, cutoffs, options.rounds, watch)
    else:
        results = run_in_processes(jobs, data, cutoffs, options)
    agree = all(result.spread is None for result in results)
    settings = settings_of(options, agree)
    return conclude(data, results, cutoffs, baseline, settings)


def cutoffs_of(options: Namespace) -> list:
    """The cutoffs that the options ask for, the first chunk always."""
    if options.budget:
        return [TopK(1), Budget(options.budget)]
    return [TopK(k) for k in sorted({1, *options.top_k})]


def settings_of(options: Namespace, deterministic: bool) -> dict:
    """What was asked for, as the JSON has it."""
    return {
        "count": options.count or "tokens",
        "k": None if options.budget else options.top_k,
        "budget": options.budget,
        "context": options.context,
        "rounds": options.rounds,
        "deterministic": deterministic,
    }


def find_baseline(name: str | None, labels: list[str]) -> str:
    """The label of what the others are compared with; the first if unnamed."""
    for label in labels:
        if name in (None, label, label.split(" ")[0]):
            return label
    hint = nearest(str(name), labels) or " (see -s)"
    raise InputError(f"--baseline {quoted(name)}: is not run{hint}")


def setup_of(options: Namespace, retriever: str, data: Data) -> Setup:
    """The Setup that the options ask for."""
    return Setup(
        retriever=retriever,
        depth=max(DEFAULTS.depth, *options.top_k),
        budget=options.budget or 0,
        count_by=options.count or "",
        context=options.context,
        explained=tuple(explained_queries(options, data)),
    )


def run_in_processes(
    jobs: list[Job],
    data: Data,
    cutoffs: Sequence[Cutoff],
    options: Namespace,
) -> list[Result]:
    """What run_jobs gives, by options.jobs processes.

    Each takes several jobs at once, since these share the tokens of a round.
    """
    count = min(2 * options.jobs, len(jobs))
    batches = [jobs[first::count] for first in range(count)]
    results: dict[str, Result] = {}
    with executor_of(options.jobs) as executor:
        futures = [
            executor.submit(run_jobs, batch, data, cutoffs, options.rounds)
            for batch in batches
        ]
        try:
            for future in futures:
                show_progress(f"{len(results)} of {len(jobs)} strategies done")
                for result in future.result():
                    results[result.label] = result
        finally:
            show_progress("")
    return [results[job.label] for job in jobs]


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
            what = "a process ended before its work"
            right = "without --jobs it may tell why"
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
    asked = explained_queries(options, data)
    if options.format != "table" and (options.chunks or asked):
        right = "--format table has"
        what = "has no room for --explain and --chunks"
        raise InputError(f"--format {options.format}: {what} ({right})")
    report = run_strategies(options, data)
    if options.trec:
        write_trec(report, options.trec)
    if options.plot:
        save(options.plot, to_svg(report))
    if options.format != "table":
        return FORMATS[options.format](report)
    lines = [to_text(report, options.detail)]
    lines += explain(report, asked)
    if options.chunks:
        lines += list_chunks(report)
    return "\n".join(lines)


def explained_queries(options: Namespace, data: Data) -> list[int]:
    """The numbers, from 0, of the queries that --explain is to explain."""
    count = len(data.queries)
    if options.explain is None:
        return []
    if options.explain == 0:
        return list(range(count))
    if options.explain > count:
        there_are = f"there are {plural(count, 'query')}"
        raise InputError(
            f"--explain {options.explain}: {there_are} (a number from 1)"
        )
    return [options.explain - 1]


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
