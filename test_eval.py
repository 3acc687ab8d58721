"""The tests of chunking_retrieval_eval.

They check it against the design, values worked by hand, SQLite's bm25(),
brute force, published figures, and what users bring. Run them by
`python test_eval.py` or `python -m unittest`; they need nothing else.
"""

import cmath
import contextlib
import csv
import functools
import gzip
import hashlib
import io
import itertools
import json
import math
import multiprocessing
import operator
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata
import unittest
from collections import Counter
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, permutations, product
from math import comb, log
from types import SimpleNamespace
from typing import ClassVar, List, NamedTuple
from unittest import mock
from xml.etree import ElementTree

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "chunking_retrieval_eval.py")
SHARED = os.path.join(HERE, "..", "shared", "data")
sys.path.insert(0, HERE)

import chunking_retrieval_eval as cre
from corpus import CORPUS
from queries import QUERIES

SHIPPED_DATA = (  # sha256 of the shipped CORPUS and QUERIES
    "de5dbf0888a840b6c70e54479123cf7e2e01f49acf591a51868d38624029c485"
)


def are_data_shipped():
    """Whether corpus.py and queries.py are those of the project."""
    values = ascii((CORPUS, QUERIES)).encode()
    return hashlib.sha256(values).hexdigest() == SHIPPED_DATA


# What pins figures of the shipped data is skipped, aloud, once a user has
# put their own into corpus.py and queries.py.
needs_shipped_data = unittest.skipUnless(
    are_data_shipped(), "corpus.py and queries.py are not the shipped ones"
)
needs_public_data = unittest.skipUnless(
    os.path.isdir(SHARED), "the public data are not here"
)


# ======================== the harness =======================================
class Outcome(NamedTuple):
    """What one run of main() did."""

    status: int
    out: str
    err: List[str]  # its lines, without the one on the environment


def folder_prefix():
    """A prefix with a space and Chinese, or without where names are ASCII."""
    try:
        os.fsencode("文档")
    except UnicodeEncodeError:
        return "my texts "
    return "my texts 文档 "


def write_files(folder, files):
    """Write {name: text or bytes} under a folder; None makes a folder."""
    for name, content in files.items():
        path = os.path.join(folder, name)
        if content is None:
            os.makedirs(path)
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(content, str):
            content = content.encode("utf-8")
        with open(path, "wb") as file:
            file.write(content)


@contextlib.contextmanager
def workplace(files):
    """A temporary working directory with these files.

    Afterwards the modules that were imported from it are forgotten, so that
    each test may call its own module "mine".
    """
    back, path = os.getcwd(), list(sys.path)
    with tempfile.TemporaryDirectory(prefix=folder_prefix()) as folder:
        write_files(folder, files)
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(back)
            sys.path[:] = path
            own = os.path.realpath(folder)
            for name, module in list(sys.modules.items()):
                file = getattr(module, "__file__", None) or ""
                if file.startswith(own):
                    del sys.modules[name]


RESAMPLES = 80  # in the runs here, to save half of the time; users have 2000


def run(arguments, files=None, stdout=None):
    """Outcome of main() with these arguments, in a folder with these files.

    The arguments are a list, or a text that is split at its spaces. With a
    `stdout` of the caller's, the outcome's `out` is empty.
    """
    if isinstance(arguments, str):
        arguments = arguments.split()
    out, err = stdout or io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(workplace(files or {}))
        stack.enter_context(mock.patch.object(cre, "RESAMPLES", RESAMPLES))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        status = cre.main(list(arguments))
    lines = [
        line
        for line in err.getvalue().splitlines()
        if not line.startswith("chunking_retrieval_eval ")
    ]
    return Outcome(status, "" if stdout else out.getvalue(), lines)


def printed(arguments, files=None):
    """What a run prints that must succeed."""
    outcome = run(arguments, files)
    if outcome.status:
        raise AssertionError(outcome.err)
    return outcome.out


def measured(arguments, files=None):
    """What a run with --format json says; a run that must succeed."""
    if isinstance(arguments, str):
        arguments = arguments.split()
    return json.loads(printed([*arguments, "--format", "json"], files))


def specs(*strategies):
    """Arguments that name strategies: ["-s", "fixed:50", "-s", ...]."""
    return [word for strategy in strategies for word in ("-s", strategy)]


def jsonl(*rows):
    """Objects as lines of JSON."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def query(text, *golds, **more):
    """A line of queries.jsonl."""
    return jsonl(dict(query=text, gold=golds, **more))


def paragraphs(*items):
    """A corpus.jsonl of (topic, text) or (topic, text, doc)."""
    return jsonl(
        *(dict(zip(("topic", "text", "doc"), item)) for item in items)
    )


def squad(
    *questions, context="The red fox runs over the hill. The fox sleeps."
):
    """A SQuAD file of one context.

    A question is (text, (answer, start), ...).
    """
    asked = []
    for text, *answers in questions:
        found = [{"text": t, "answer_start": start} for t, start in answers]
        asked.append({"question": text, "answers": found})
    part = {"context": context, "qas": asked}
    return json.dumps({"data": [{"title": "T", "paragraphs": [part]}]})


def python_data(corpus, queries):
    """Files corpus.py and queries.py with these values; see PY_DATA."""
    return {
        "corpus.py": f"CORPUS = {corpus!r}",
        "queries.py": f"QUERIES = {queries!r}",
    }


PY_DATA = "--corpus corpus.py --queries queries.py "  # files of python_data
FOX = paragraphs(("red fox", "The red fox runs over the hill at night."))
WHALE = paragraphs(
    ("blue whale", "The blue whale dives deep below the cold sea.")
)
FOX_QUERY = query("Where does the fox run?", "red fox")
WHALE_QUERY = query("How deep does a whale dive?", "blue whale")
ANIMALS = {"c.jsonl": FOX + WHALE, "q.jsonl": FOX_QUERY + WHALE_QUERY}
JSONL_DATA = "--corpus c.jsonl --queries q.jsonl "  # the files of ANIMALS

# A user's module with retrievers that ignore the query: every text in its
# order, the first text twice, another order each time that it is made.
ORDERS_PY = """
class Order:
    def __init__(self, texts):
        self.ranked = list(range(len(texts)))

    def topk(self, query, k):
        return self.ranked[:k]

class Twice(Order):
    def topk(self, query, k):
        return (self.ranked[:1] + self.ranked)[:k]

class Turning(Order):
    made = []

    def __init__(self, texts):
        self.made.append(self)
        count = len(texts)
        self.ranked = [(n + len(self.made)) % count for n in range(count)]
"""


# ======================== what of the script is called here ================
def tokens_of(text):
    """The tokens of a text."""
    return list(cre.tokenize(text))


def tokens_by_position(text, slices):
    """The tokens of each slice, as a sweep takes them from the whole text."""
    store = cre.TokenStore([cre.Document(text, [])])
    return [store.tokens((0, start, end)) for start, end in slices]


def bm25_index(texts, **settings):
    """The BM25 index of these texts."""
    return cre.BM25(texts, **settings)


def slices_of(spec, text, paragraphs=None):
    """The chunks that a strategy makes of a text, as (start, end)."""
    return list(cre.chunk(spec, text, paragraphs))


# ======================== made-up texts ====================================
def texts_of(spec, text):
    """The texts of the chunks, the white space around them aside."""
    return [text[start:end].strip() for start, end in slices_of(spec, text)]


def numbered_words(first, last):
    """Distinct tokens: "w3 w4 w5" for 3, 6."""
    return " ".join(f"w{number}" for number in range(first, last))


def random_words(rng, vocabulary, most):
    """Up to so many words, the first of the vocabulary most often."""
    count = rng.randint(1, most)
    places = [int(len(vocabulary) * rng.random() ** 3) for _ in range(count)]
    return " ".join(vocabulary[place] for place in places)


def random_corpus(rng):
    """Three documents of six paragraphs, on up to five topics."""
    vocabulary = numbered_words(0, 40).split()
    corpus = {}
    for name in "abc":
        corpus[name] = [
            (f"t{rng.randrange(5)}", random_words(rng, vocabulary, 12))
            for _ in range(6)
        ]
    return corpus


def paragraph_slices(pairs):
    """Where the texts of (topic, text) stand once they are joined."""
    ends = list(itertools.accumulate(len(text) for _, text in pairs))
    return list(zip([0, *ends], ends))


SOME_SPECS = [  # with chunks of less and of more than a paragraph
    "fixed:9",
    "fixed:30",
    "overlap:40/25",
    "para:1",
    "para:60",
    "fixed:999",
]

NASTY_PARTS = [
    # long words, lines and sentences
    "x" * 5000,
    "字" * 700,
    "短行\n" * 30,
    "一句话。第二句，带逗号！第三？" * 6,
    "a, b，c、 d " * 25,
    "Pi is 3.14, e.g. https://a.io/x?y=1.2 in b.py! “Yes.” ",
    # white space and punctuation alone
    " \t\n\r\n\u3000\xa0" * 9,
    "\n\n\n",
    "\n",
    "。！？；… .!? ，，\n" * 5,
    # characters of several code points, line ends of Windows, no width
    "👩\u200d👩\u200d👧🏽🇨🇳𠮷" * 20,
    "e\u0301\u0302\u0300क्षि" * 25,
    "一行。\r\n\r\n二行，三。\r\n" * 8,
    "\ufeff\u200b",
    # Markdown: tables, fences, headings
    "| 甲 | 乙 |\n|---|---|\n" + "| 1 | 2 |\n" * 9,
    "\n\n| 甲 |\n|---|\n| 1 |\n\n注：说明这张表。\n\n",
    "\n```py\ncode()\n\n\nmore = 1\n```\n",
    "\n````\n```\n\nx\n````\n\n",
    "\n~~~\n没有收尾\n\n",
    "\n# 一\n\n## 二\n### 三\n正文。\n\n",
    "\n#\n#标签 no heading\n## End\n",
]


def nasty_texts(rng, count):
    """Texts of a few NASTY_PARTS, some without their beginning."""
    for _ in range(count):
        text = ""
        for _ in range(rng.randint(1, 7)):
            part = rng.choice(NASTY_PARTS)
            whole = rng.random() < 0.7
            text += part if whole else part[rng.randrange(len(part)) :]
        yield text


SHORT_PARTS = [  # of a few characters each
    *"abcX12",
    *" \t\n\u3000",
    *".,!?;:，。！？；…",
    *"字大模型か",
    ". ",
    "\n\n",
    "\r\n",
    "한국",
    "हिन्दी ",
    "क्षि।",
    "e\u0301",
    "a\u0302\u0323",
    "ｶﾞ",
    "👩\u200d👩\u200d👧",
    "👍🏽",
    "ﷺ",  # four words, and one character
    "《书！》",
    "1. ",
    "Dr. ",
    "# H\n",
    "\n```\na\n\nb\n```\n",
    "\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "note on it.\n\n",
]


def short_texts(rng, count):
    """Texts of up to 30 SHORT_PARTS, of up to eight different ones."""
    for _ in range(count):
        parts = rng.sample(SHORT_PARTS, rng.randint(1, 8))
        yield "".join(rng.choices(parts, k=rng.randint(1, 30)))


# ======================== tokenizer ========================================
class TokenCase(NamedTuple):
    """A text and all its tokens."""

    name: str
    text: str
    tokens: List[str]


TOKEN_CASES = [
    # scripts that do not set words apart
    TokenCase("Chinese gives bigrams", "大模型", ["大模", "模型"]),
    TokenCase("a single character is a token", "字", ["字"]),
    TokenCase("an iteration mark is a character", "人々", ["人々"]),
    TokenCase(
        "an ideographic zero is a character",
        "二〇二四",
        ["二〇", "〇二", "二四"],
    ),
    TokenCase("hiragana gives bigrams", "ひらがな", ["ひら", "らが", "がな"]),
    TokenCase(
        "a long vowel mark is a character",
        "スーパー",
        ["スー", "ーパ", "パー"],
    ),
    TokenCase("kanji and hiragana join", "食べる", ["食べ", "べる"]),
    TokenCase(
        "kanji and katakana join",
        "検索エンジン",
        ["検索", "索エ", "エン", "ンジ", "ジン"],
    ),
    TokenCase("hangul gives bigrams", "한국어", ["한국", "국어"]),
    TokenCase(
        "hangul and a Chinese character join", "한글字", ["한글", "글字"]
    ),
    TokenCase("hangul letters are composed", "\u1112\u1161\u11ab글", ["한글"]),
    TokenCase("Thai gives bigrams", "ไทย", ["ไท", "ทย"]),
    TokenCase(
        "Thai vowels above and below count",
        "ดีมาก",
        ["ดี", "ีม", "มา", "าก"],
    ),
    TokenCase("Lao gives bigrams", "ລາວ", ["ລາ", "າວ"]),
    TokenCase(
        "Khmer gives bigrams, marks included", "ខ្មែរ", ["ខ្", "្ម", "មែ", "ែរ"]
    ),
    TokenCase(
        "Burmese gives bigrams, marks included", "မြန်", ["မြ", "ြန", "န်"]
    ),
    # scripts that do
    TokenCase("Hindi gives words", "हिन्दी भाषा", ["हिन्दी", "भाषा"]),
    TokenCase("letters of full width are folded", "ＢＭ２５", ["bm25"]),
    TokenCase("katakana of half width is folded", "ﾃﾞｰﾀ", ["デー", "ータ"]),
    TokenCase("a middle dot separates", "アイ・ウ", ["アイ", "ウ"]),
    TokenCase("an accent stays", "caf\u00e9", ["caf\u00e9"]),
    TokenCase("an accent is composed", "cafe\u0301", ["caf\u00e9"]),
    TokenCase(
        "marks without a composed form stay",
        "x\u0323\u0302y",
        ["x\u0323\u0302y"],
    ),
    TokenCase("ß is ss", "Straße STRASSE", ["strasse", "strasse"]),
    TokenCase("a final sigma is a sigma", "Ὀδυσσεύς", ["ὀδυσσεύσ"]),
    TokenCase("İ keeps its dot", "İ", ["i\u0307"]),
    # symbols and numbers
    TokenCase("an emoji separates", "a👩\u200d👧b", ["a", "b"]),
    TokenCase("an emoji is no token", "👩\u200d👩\u200d👧🏽", []),
    TokenCase("a digit is a token", "3", ["3"]),
    TokenCase(
        "Arabic digits join; a point separates", "٣٤ 3.14", ["٣٤", "3", "14"]
    ),
    TokenCase(
        "numbers in one character are spelled out",
        "x² ½ Ⅳ",
        ["x2", "1", "2", "iv"],
    ),
    # mixtures and boundaries
    TokenCase(
        "Chinese and Latin separate", "大模型RAG", ["大模", "模型", "rag"]
    ),
    TokenCase(
        "a single character next to Latin is a token",
        "用GPU跑",
        ["用", "gpu", "跑"],
    ),
    TokenCase(
        "Chinese and digits separate",
        "3月15日",
        ["3", "月", "15", "日"],
    ),
    TokenCase("a hyphen separates", "GPT-4o", ["gpt", "4o"]),
    TokenCase("an underscore separates", "snake_case", ["snake", "case"]),
    TokenCase("an apostrophe separates", "don't", ["don", "t"]),
    TokenCase(
        "Chinese punctuation separates", "缓存，命中。", ["缓存", "命中"]
    ),
    TokenCase("an empty text has no token", "", []),
    TokenCase("white space has no token", " \n", []),
    TokenCase("punctuation has no token", "，。——_", []),
    TokenCase("marks alone are no token", "\u0301\u0302", []),
    TokenCase("a mark after punctuation is dropped", "-\u0301a", ["a"]),
]

TOKEN_PARTS = [  # what joins, parts or changes next to its neighbours
    "大模型",
    "RAG ",
    "，",
    "：",
    "\u3000",
    " ",
    "\n",
    "e\u0301",
    "\u0301",
    "\u1112\u1161\u11ab",
    "한",
    "\u00b4",
    "ﾃﾞ",
    "हि",
    "👩\u200d👧",
    "3.14",
    "ῼ",
    "\x00",
    "ｘ",
    "。",
    "a",
    "ς",
    "ดี",
    "\x1c",
    "½",
    "、",
]


class Tokenizer(unittest.TestCase):
    def test_a_text_gives_exactly_these_tokens(self):
        for case in TOKEN_CASES:
            with self.subTest(case.name):
                self.assertEqual(tokens_of(case.text), case.tokens)

    def test_a_slice_has_the_tokens_of_its_own_text(self):
        """Wherever it is cut, also where that changes what is next to it."""
        rng = random.Random(8)
        texts = [
            "".join(rng.choices(TOKEN_PARTS, k=rng.randint(0, 30)))
            for _ in range(300)
        ]
        for text in [*texts, *nasty_texts(rng, 20)]:
            ends = range(len(text) + 1)
            slices = [(0, len(text))]
            slices += [sorted(rng.choices(ends, k=2)) for _ in range(12)]
            found = tokens_by_position(text, slices)
            for (start, end), tokens in zip(slices, found):
                self.assertEqual(
                    tokens,
                    tokens_of(text[start:end]),
                    (text[:80], start, end),
                )


# ======================== ranking ==========================================
FIVE_TEXTS = [
    "red red blue",
    "red green green",
    "blue",
    "green green green blue gold",
    "gold tin tin",
]


class ScoreCase(NamedTuple):
    """A query of FIVE_TEXTS, their scores, and the texts it finds."""

    name: str
    query: str
    scores: List[float]
    ranked: List[int]


def scores_by_hand():
    """Cases worked by hand, with k1 = 1.5 and b = 0.75.

    The texts have 3, 3, 1, 5 and 3 tokens, 3 on average. So
    k1 * (1 - b + b * length / 3) is 1.5, 1.5, 0.75, 2.25 and 1.5.
    """
    in_one = log(1 + 4.5 / 1.5)  # idf of a token that 1 of the 5 texts has
    in_two = log(1 + 3.5 / 2.5)
    in_three = log(1 + 2.5 / 3.5)
    red = [in_two * 2 * 2.5 / (2 + 1.5), in_two * 1 * 2.5 / (1 + 1.5)]
    blue = [
        in_three * 1 * 2.5 / (1 + 1.5),
        in_three * 1 * 2.5 / (1 + 0.75),
        in_three * 1 * 2.5 / (1 + 2.25),
    ]
    green = [in_two * 2 * 2.5 / (2 + 1.5), in_two * 3 * 2.5 / (3 + 2.25)]
    tin = in_one * 2 * 2.5 / (2 + 1.5)
    twice = [2 * red[0], 2 * red[1]]
    return [
        ScoreCase("one token", "red", [*red, 0, 0, 0], [0, 1]),
        ScoreCase(
            "a token counts as often as the query has it, in either case",
            "RED red",
            [*twice, 0, 0, 0],
            [0, 1],
        ),
        ScoreCase(
            "a shorter text scores more",
            "blue",
            [blue[0], 0, blue[1], blue[2], 0],
            [2, 0, 3],
        ),
        ScoreCase(
            "a rarer token scores more; both texts on green score the same",
            "tin green",
            [0, green[0], 0, green[1], tin],
            [4, 1, 3],
        ),
        ScoreCase(
            "the scores of the tokens add up",
            "red blue red",
            [twice[0] + blue[0], twice[1], blue[1], blue[2], 0],
            [0, 1, 2, 3],
        ),
        ScoreCase("a token that no text has", "lead", [0] * 5, []),
        ScoreCase("no token", "", [0] * 5, []),
    ]


class PlainBM25:
    """BM25 as it is defined: every text is scored, with k1 1.5 and b 0.75."""

    def __init__(self, texts):
        self.bags = [Counter(tokens_of(text)) for text in texts]
        lengths = [sum(bag.values()) for bag in self.bags]
        average = sum(lengths) / len(lengths)
        self.norms = [
            1.5 * (0.25 + 0.75 * length / average) for length in lengths
        ]

    def idf(self, token):
        having = sum(token in bag for bag in self.bags)
        return log(1 + (len(self.bags) - having + 0.5) / (having + 0.5))

    def scores(self, asked):
        scores = [0.0] * len(self.bags)
        for token in tokens_of(asked):
            idf = self.idf(token)
            for number, bag in enumerate(self.bags):
                times = bag[token]
                share = times * 2.5 / (times + self.norms[number])
                scores[number] += idf * share
        return scores

    def ranked(self, asked):
        """The numbers of the texts that score, best first."""
        scores = [round(score, 9) for score in self.scores(asked)]
        found = [number for number, score in enumerate(scores) if score]
        return sorted(found, key=lambda number: (-scores[number], number))


def hexadecimal(token):
    """A token as one word of ASCII, which FTS5's tokenizer leaves alone."""
    return "x" + token.encode("utf-8").hex()


def full_text_table(bags):
    """A database with a table t of these lists of tokens, in FTS5."""
    try:
        import sqlite3

        base = sqlite3.connect(":memory:")
        base.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
    except (ImportError, sqlite3.OperationalError) as error:
        raise unittest.SkipTest(f"no SQLite with FTS5: {error}") from error
    rows = [
        (number, " ".join(map(hexadecimal, bag)))
        for number, bag in enumerate(bags)
    ]
    base.executemany("INSERT INTO t(rowid, x) VALUES(?, ?)", rows)
    return base


class Ranking(unittest.TestCase):
    def assert_scores(self, found, wanted):
        self.assertEqual(len(found), len(wanted))
        for text, (score, by_hand) in enumerate(zip(found, wanted)):
            self.assertAlmostEqual(score, by_hand, 8, f"text {text}")

    def test_scores_worked_by_hand(self):
        """A text that scores 0 is not found."""
        index = bm25_index(FIVE_TEXTS)
        for case in scores_by_hand():
            with self.subTest(case.name):
                self.assert_scores(index.scores(case.query), case.scores)
                self.assertEqual(list(index.topk(case.query, 5)), case.ranked)

    def test_a_token_that_all_texts_have_still_scores(self):
        """The idf is not negative: ln(1 + 0.5 / 3.5)."""
        index = bm25_index(["a b", "a c", "a d"])
        self.assert_scores(index.scores("a"), [log(8 / 7)] * 3)

    def test_equal_scores_keep_the_order_of_the_texts(self):
        texts = [
            " ".join(" ".join(word * n) for word, n in zip("abcd", times))
            for times in permutations([1, 2, 3, 7])
        ]
        index = bm25_index(texts)
        for k in (1, 3, 24):
            with self.subTest(k=k):
                self.assertEqual(
                    list(index.topk("a b c d", k)), list(range(k))
                )

    def test_scores_equal_to_9_places_are_equal(self):
        # With b = 1e-11, the shorter texts are better by some 1e-12.
        index = bm25_index(["a b c d", "a b", "a"], k1=1.5, b=1e-11)
        self.assertEqual(list(index.topk("a", 2)), [0, 1])

    def test_nothing_to_find_is_no_error(self):
        for name, texts in [("no texts", []), ("no tokens", ["", "。"])]:
            with self.subTest(name):
                index = bm25_index(texts)
                self.assertEqual(list(index.topk("a", 3)), [])
                self.assertEqual(list(index.scores("a")), [0] * len(texts))

    def test_the_best_are_those_of_scoring_every_text(self):
        """Random queries, against a second implementation."""
        rng = random.Random(7)
        vocabulary = numbered_words(0, 80).split()
        for corpus in range(5):
            texts = [random_words(rng, vocabulary, 30) for _ in range(50)]
            texts += rng.sample(texts, 10)  # which tie
            index = bm25_index(texts)
            plain = PlainBM25(texts)
            for _ in range(60):
                asked = random_words(rng, vocabulary, 14)
                with self.subTest(corpus=corpus, query=asked):
                    self.assert_scores(
                        index.scores(asked), plain.scores(asked)
                    )
                    ranked = plain.ranked(asked)
                    for k in (1, 2, 3, 10, 25, 60, 99):
                        found = list(index.topk(asked, k))
                        self.assertEqual(found, ranked[:k], f"k = {k}")

    def test_scores_are_those_of_sqlite(self):
        """FTS5's bm25(), whose k1 = 1.2 and b = 0.75 are fixed.

        It returns -idf times the same weight of a token, with
        idf = ln((N - n + 0.5) / (n + 0.5)), or 1e-6 where that is not above
        0. So for queries of one token each side is divided by its own idf.
        """
        rng = random.Random(3)
        # The first is in most texts, and so gets an idf of 1e-6.
        vocabulary = [
            "缓存命中",
            "GPU",
            "café",
            "前缀",
            "3.14",
            "हिन्दी",
            "量化",
        ]
        texts = [random_words(rng, vocabulary, 15) for _ in range(40)]
        bags = [tokens_of(text) for text in texts]
        base = full_text_table(bags)
        self.addCleanup(base.close)
        index = bm25_index(texts, k1=1.2, b=0.75)
        for token in sorted(set().union(*bags)):
            with self.subTest(token):
                having = sum(token in bag for bag in bags)
                odds = (len(bags) - having + 0.5) / (having + 0.5)
                our_idf = log(1 + odds)
                their_idf = log(odds) if odds > 1 else 1e-6
                rows = base.execute(
                    "SELECT rowid, bm25(t) FROM t WHERE t MATCH ?",
                    [hexadecimal(token)],
                ).fetchall()
                scores = index.scores(token)
                found = {text for text, score in enumerate(scores) if score}
                self.assertEqual(found, {text for text, _ in rows})
                for text, score in rows:
                    ours = scores[text] / our_idf
                    self.assertAlmostEqual(ours, -score / their_idf, 6)

    def test_a_text_that_ties_by_the_last_token_is_not_given_up(self):
        for index in (cre.BM25(["q r", "p x"]), cre.MaxScore(["q r", "p x"])):
            self.assertEqual(index.topk("p p p q q r", 1), [0])


# ======================== chunkers =========================================
def random_sizes(rng):
    """A size, and an overlap from 0 to one under it."""
    size = rng.choice([1, 2, 7, 30, 80, 300])
    overlaps = [0, size // 3, size - 1, rng.randrange(size)]
    return size, rng.choice(overlaps)


def random_specs(rng):
    """Each chunker with random sizes, all in one unit.

    As (spec, size); the size is None where the spec limits no chunk.
    """
    size, overlap = random_sizes(rng)
    unit = rng.choice(["", "t"])
    for spec in ("fixed:", "para:", "recursive:", "structure:"):
        yield f"{spec}{size}{unit}", size
    for threshold in ("0.45", "p95"):
        yield f"semantic:{threshold}/{size}{unit}", size
    for name in ("overlap", "sentence", "recursive", "structure"):
        yield f"{name}:{size}{unit}/{overlap}{unit}", size
    yield f"overlap:{size}{unit}/{rng.randrange(100)}%", size
    yield f"parent:{size}{unit}/{size + rng.randrange(200)}{unit}", size
    kind = rng.choice(["0.", "p"])
    yield f"semantic:{kind}{rng.randrange(100)}", None


JOINERS = "\u200d🏻🏼🏽🏾🏿"  # what continues an emoji
# The chunkers that look at the text cut it at its sentences, at the least.
READERS = ("sentence", "recursive", "semantic", "structure")


def is_in_tokens(spec):
    """Whether the sizes of a spec are in tokens."""
    return re.search(r"\dt\b", spec) is not None


def size_in(spec, text):
    """What a chunk measures in the unit of a spec.

    For READERS a line end counts as one character, and white space at the
    end not at all.
    """
    if is_in_tokens(spec):
        return len(tokens_of(text))
    if spec.startswith(READERS):
        return len(text.rstrip().replace("\r\n", "\n"))
    return len(text)


# What structure may leave longer than the size: headings, then one fence
# or table that is itself longer.
UNCUT = re.compile(
    r"""
    (?: [ ]{0,3}\#{1,6} (?:\s[^\n]*)? \n | \s*\n )*  # headings and blank lines
    (?P<body>
        (?P<mark> `{3,} | ~{3,} )            # a fence, up to the line that
        (?: (?! \n(?P=mark)[ \t\r]*(?:\n|\Z) ) . )*  # has its mark alone
        (?: \n(?P=mark) )?
        \s*
    |
        (?: [^\S\n]*\|[^\n]* (?:\n|\Z) )+    # the lines of a table
        \s*
    )
    """,
    re.DOTALL | re.VERBOSE,
)


def text_left_out(text, slices):
    """What stands in no slice; the slices are in order of their starts."""
    left, reach = [], 0
    for start, end in [*slices, (len(text), len(text))]:
        if start > reach:
            left.append(text[reach:start])
        if end > reach:
            reach = end
    return "".join(left)


def graphemes_of(text):
    """The slices of a text that are one grapheme of several characters.

    A letter with its marks, a line end of Windows, emoji that are joined.
    """
    starts = [0]
    for position, (before, after) in enumerate(zip(text, text[1:]), 1):
        is_mark = after in JOINERS or unicodedata.category(after)[0] == "M"
        goes_on = is_mark or before == "\u200d"
        if before in "\r\n":
            goes_on = before + after == "\r\n"
        if not goes_on:
            starts.append(position)
    slices = zip(starts, [*starts[1:], len(text)])
    return [(start, end) for start, end in slices if end - start > 1]


def may_be_longer(spec, size, text, piece):
    """Whether a chunk over the size is one that may not be cut."""
    chunk = text[slice(*piece)]
    if is_in_tokens(spec) and len(chunk.strip()) == 1:
        return True
    if spec.startswith("structure:"):
        uncut = UNCUT.fullmatch(chunk)
        return uncut is not None and size_in(spec, uncut["body"]) > size
    if spec.startswith("para:"):
        return piece in slices_of("para:1", text)
    return False


def plain_windows(text, size, overlap):
    """Windows up to the one that reaches the end, without white ones."""
    starts = range(0, len(text), size - overlap)
    return [
        (start, min(start + size, len(text)))
        for start in starts
        if (start == 0 or start + overlap < len(text))
        and text[start : start + size].strip()
    ]


def plain_token_windows(text, size, overlap):
    """Windows of up to `size` tokens, found by trying every end and start."""
    windows = []
    begin = end = 0
    while end < len(text):
        least = end + 1
        while len(tokens_of(text[begin:least])) > size and begin < end:
            begin += 1
        ends = [
            stop
            for stop in range(least, len(text) + 1)
            if stop == least or len(tokens_of(text[begin:stop])) <= size
        ]
        end = ends[-1]
        if text[begin:end].strip():
            windows.append((begin, end))
        starts = range(begin + 1, end + 1)
        begin = next(
            start
            for start in starts
            if start == end
            or (overlap and len(tokens_of(text[start:end])) <= overlap)
        )
    return windows


def random_paragraphs(rng):
    """Slices of 1 to 60 characters, with gaps of 2 between some."""
    slices, at = [], 0
    for _ in range(rng.randint(1, 12)):
        end = at + rng.randint(1, 60)
        slices.append((at, end))
        at = end + rng.choice([0, 2])
    return slices


def plain_joining(slices, limit):
    """Neighbours joined, one after the other, while they fit."""
    joined = []
    for start, end in slices:
        if joined and end - joined[-1][0] <= limit:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


class Promises(unittest.TestCase):
    """What is promised of every chunker on every text."""

    def assert_promises(self, spec, size, text):
        slices = slices_of(spec, text)
        outside = [
            (start, end)
            for start, end in slices
            if not 0 <= start < end <= len(text)
        ]
        self.assertEqual(outside, [], "empty, or outside the text")
        white = [piece for piece in slices if text[slice(*piece)].isspace()]
        self.assertEqual(white, [], "only white space")
        left = text_left_out(text, slices).strip()
        self.assertEqual(left, "", "left out")
        inside = [
            (before, after)
            for before, after in zip(slices, slices[1:])
            if before[0] <= after[0] and after[1] <= before[1]
        ]
        self.assertEqual(inside, [], "inside the one before")
        if size is None:
            return
        long = [
            text[start:end][:300]
            for start, end in slices
            if size_in(spec, text[start:end]) > size
            and not may_be_longer(spec, size, text, (start, end))
        ]
        self.assertEqual(long, [], "over the size")

    def assert_on_texts(self, rng, texts):
        for text in texts:
            for spec, size in random_specs(rng):
                with self.subTest(spec=spec, text=text[:60]):
                    self.assert_promises(spec, size, text)

    def test_nasty_texts_with_random_sizes(self):
        rng = random.Random(11)
        plain = ["", " \n\t", "字", "\n\n。"]
        self.assert_on_texts(rng, [*plain, *nasty_texts(rng, 12)])

    def test_short_texts_with_random_sizes(self):
        rng = random.Random(13)
        self.assert_on_texts(rng, short_texts(rng, 150))

    def test_short_lines_with_an_overlap_one_under_the_size(self):
        texts = ["ab\n" * 60, "一。" * 60, "a b, c\n\n" * 30, "x" * 99]
        names = ["overlap", "sentence", "recursive"]
        for name, text in product(names, texts):
            with self.subTest(name, text=text[:9]):
                self.assert_promises(f"{name}:9/8", 9, text)

    def test_no_chunk_of_a_reader_begins_inside_a_grapheme(self):
        """But where the grapheme alone is over the size."""
        rng = random.Random(17)
        for text in short_texts(rng, 70):
            whole = graphemes_of(text)
            for spec, size in random_specs(rng):
                if not spec.startswith(READERS) or size is None:
                    continue
                torn = [
                    text[left:right]
                    for start, _ in slices_of(spec, text)
                    for left, right in whole
                    if left < start < right
                    and size_in(spec, text[left:right]) <= size
                ]
                with self.subTest(spec=spec, text=text[:60]):
                    self.assertEqual(torn, [])

    def test_line_ends_of_windows_change_no_chunk(self):
        """But of what counts every character."""
        rng = random.Random(19)
        for text in short_texts(rng, 70):
            for spec, _ in random_specs(rng):
                if spec.startswith(READERS) or is_in_tokens(spec):
                    self.assert_same_with_crlf(spec, text.replace("\r", ""))
        for spec in ("sentence:2/1", "recursive:5/4"):
            self.assert_same_with_crlf(spec, "\nab. ab.")

    def assert_same_with_crlf(self, spec, text):
        other = text.replace("\n", "\r\n")
        found = [other[slice(*piece)] for piece in slices_of(spec, other)]
        wanted = [text[slice(*piece)] for piece in slices_of(spec, text)]
        with self.subTest(spec=spec, text=text[:60]):
            self.assertEqual([c.replace("\r", "") for c in found], wanted)


class CutCase(NamedTuple):
    """A text, and the texts of its chunks without white space around."""

    name: str
    spec: str
    text: str
    chunks: List[str]


PARA_CASES = [
    CutCase(
        "blank lines part; a heading goes with what follows; a fence is one",
        "para:5",
        "a\nb\n\nc d\n \n# h\n\ne\n\n```\nf\n\ng\n```",
        ["a\nb", "c d", "# h\n\ne", "```\nf\n\ng\n```"],
    ),
    CutCase(
        "a fence in a list is one",
        "para:5",
        "- 1. ```sh\n   # a\n\n   b\n   ```\n\nc d",
        ["- 1. ```sh\n   # a\n\n   b\n   ```", "c d"],
    ),
    CutCase(
        "several headings go with what follows; the last stands alone",
        "para:5",
        "# h\n\n## i\n### j\n\ne\n\n# k",
        ["# h\n\n## i\n### j\n\ne", "# k"],
    ),
    CutCase(
        "headings at the end are one paragraph",
        "para:5",
        "x\n\n# h\n\n## i",
        ["x", "# h\n\n## i"],
    ),
    CutCase("two marks open no fence", "para:5", "``a\n\nb", ["``a", "b"]),
    CutCase(
        "marks with a word after them close no fence",
        "para:5",
        "```\na\n``` x\n\nb\n```\n\nc",
        ["```\na\n``` x\n\nb\n```", "c"],
    ),
    CutCase(
        "a parent shorter than its slices is one slice",
        "parent:5/5",
        "abcd",
        ["abcd"],
    ),
]

NUMBERS = "一二三四五。六七八九十。甲乙丙丁戊。"
SENTENCE_CASES = [
    CutCase(
        "a chunk starts with the tail of the one before",
        "sentence:10/4",
        NUMBERS,
        ["一二三四五。", "三四五。六七八九十。", "八九十。甲乙丙丁戊。"],
    ),
    CutCase(
        "the tail is shorter where the size leaves no room",
        "sentence:9/4",
        NUMBERS,
        ["一二三四五。", "四五。六七八九十。", "九十。甲乙丙丁戊。"],
    ),
    CutCase(
        "sentences are joined while they fit",
        "sentence:12/0",
        NUMBERS,
        ["一二三四五。六七八九十。", "甲乙丙丁戊。"],
    ),
    CutCase(
        "a sentence over the size is cut, with the overlap",
        "sentence:5/2",
        "一二三四五。",
        ["一二三四五", "四五。"],
    ),
    CutCase(
        "its last piece has the whole overlap too",
        "sentence:5/2",
        "abcdefghij",
        ["abcde", "defgh", "ghij"],
    ),
    CutCase(
        "so has its first",
        "sentence:5/2",
        "abc.\ndefghijkl",
        ["abc.", ".\ndef", "efghi", "hijkl"],
    ),
    CutCase(
        "a sentence of Hindi ends at a danda",
        "sentence:20",
        "यह एक वाक्य है। दूसरा वाक्य यहाँ। तीसरा॥ चार",
        ["यह एक वाक्य है।", "दूसरा वाक्य यहाँ।", "तीसरा॥ चार"],
    ),
    CutCase(
        "a cut goes before the letter whose mark is over the size",
        "sentence:5",
        "abcde\u0301fghi",
        ["abcd", "e\u0301fgh", "i"],
    ),
    CutCase(
        "or before the first of emoji that are joined",
        "sentence:7",
        "abc👩\u200d👩\u200d👧d",
        ["abc", "👩\u200d👩\u200d👧d"],
    ),
    CutCase(
        "a colour of skin stays with its emoji",
        "sentence:3",
        "👍🏿👍🏻👍🏼👍🏽👍🏾👍🏿",
        ["👍🏿", "👍🏻", "👍🏼", "👍🏽", "👍🏾", "👍🏿"],
    ),
    CutCase(
        "an overlap gives way to a grapheme",
        "sentence:4/3",
        "abcde\u0301\u0302f",
        ["abcd", "de\u0301\u0302", "e\u0301\u0302f"],
    ),
    CutCase(
        "what has more marks than the size is cut among them",
        "sentence:3",
        "e" + "\u0301" * 5,
        ["e\u0301\u0301", "\u0301\u0301\u0301"],
    ),
    CutCase(
        "white space at the end of a sentence does not count",
        "sentence:9",
        "abcd. ef.   \nghi.",
        ["abcd. ef.", "ghi."],
    ),
    CutCase(
        "so a sentence that fits without it is kept whole",
        "sentence:6/2",
        "xy. abcde.   \nf.",
        ["xy.", "abcde.", "f."],
    ),
    CutCase(
        "what has more than a few marks may be torn from its letter",
        "sentence:22",
        "abe" + "\u0301" * 20,
        ["abe" + "\u0301" * 19, "\u0301"],
    ),
    CutCase(
        "nor does it at a cut",
        "sentence:4",
        "abcd    efgh",
        ["abcd", "efgh"],
    ),
]

RECURSIVE_CASES = [
    CutCase(
        "a word over the size is cut, with the overlap",
        "recursive:10/3",
        "abcdefghijklmnopqrstuvwx",
        ["abcdefghij", "hijklmnopq", "opqrstuvwx"],
    ),
    CutCase(
        "an overlap as long as the chunk before lacks its first character",
        "recursive:10/4",
        "ab\n\ncdefghijklmnop",
        ["ab", "b\n\ncdefghi", "fghijklmno", "lmnop"],
    ),
    CutCase(
        "a word over the size is cut",
        "recursive:4",
        "abcdefghij",
        ["abcd", "efgh", "ij"],
    ),
    CutCase(
        "a blank line is the first to be cut at",
        "recursive:7",
        "aa bb\n\ncc dd",
        ["aa bb", "cc dd"],
    ),
    CutCase(
        "only what is too long is cut further",
        "recursive:6",
        "aaaa bbbb\n\ncc",
        ["aaaa", "bbbb", "cc"],
    ),
    CutCase(
        "a line end comes before a sentence end",
        "recursive:11",
        "aa. bb\ncc. dd",
        ["aa. bb", "cc. dd"],
    ),
    CutCase(
        "a sentence end comes before a comma, a comma before a space",
        "recursive:8",
        "ab. cd ef, gh",
        ["ab.", "cd ef,", "gh"],
    ),
    CutCase(
        "a Chinese comma stays with what it ends",
        "recursive:6",
        "一二三四，五六七八，九",
        ["一二三四，", "五六七八，九"],
    ),
    CutCase(
        "so does an enumeration comma",
        "recursive:5",
        "一二三、四五六",
        ["一二三、", "四五六"],
    ),
    CutCase(
        "the last piece of a word has the whole overlap too",
        "recursive:5/2",
        "abcdefghij",
        ["abcde", "defgh", "ghij"],
    ),
    CutCase(
        "white space at the end does not count",
        "recursive:10",
        "Aaaa bbbb.\n\nCccc dddd.",
        ["Aaaa bbbb.", "Cccc dddd."],
    ),
    CutCase(
        "a line end of Windows counts as one character",
        "recursive:11",
        "Aaa\r\nBbb\r\nCcc\r\nDdd",
        ["Aaa\r\nBbb\r\nCcc", "Ddd"],
    ),
    CutCase(
        "the half of one counts too",
        "recursive:3",
        "a\rb\rc",
        ["a\rb", "c"],
    ),
    CutCase(
        "a mark on a space is no start of a piece",
        "recursive:3",
        "ab \u0301cd",
        ["ab", "\u0301c", "d"],
    ),
    CutCase(
        "a mark at the start of a line is",
        "recursive:3",
        "ab\n\u0301cd",
        ["ab", "\u0301cd"],
    ),
    CutCase(
        "the number of a list stays with its item",
        "recursive:9",
        "1. Open it up.",
        ["1. Open", "it up."],
    ),
    CutCase(
        "an overlap starts within the piece before",
        "recursive:7/3",
        "xy z\n\nab cd\n\nef",
        ["xy z", "ab cd", "d\n\nef"],
    ),
]

# The likenesses of its lines are 2/2, 1/2, 0 and 2/2, so the distances 0,
# 0.5, 1 and 0. Their 50th percentile is 0, and the 67th is 0.5.
LINES = "甲乙\n甲乙\n甲丙\n丁戊\n丁戊"
SEMANTIC_CASES = [
    CutCase(
        "a likeness equal to the threshold holds together",
        "semantic:0.5",
        LINES,
        ["甲乙\n甲乙\n甲丙", "丁戊\n丁戊"],
    ),
    CutCase(
        "a likeness under the threshold is cut",
        "semantic:0.51",
        LINES,
        ["甲乙\n甲乙", "甲丙", "丁戊\n丁戊"],
    ),
    CutCase(
        "a distance over the percentile is cut",
        "semantic:p50",
        LINES,
        ["甲乙\n甲乙", "甲丙", "丁戊\n丁戊"],
    ),
    CutCase(
        "a percentile takes the lower of two distances",
        "semantic:p66",
        LINES,
        ["甲乙\n甲乙", "甲丙", "丁戊\n丁戊"],
    ),
    CutCase(
        "a distance equal to the percentile holds together",
        "semantic:p67",
        LINES,
        ["甲乙\n甲乙\n甲丙", "丁戊\n丁戊"],
    ),
    CutCase(
        "a line end after the last line begins no other",
        "semantic:p67",
        LINES + "\n",
        ["甲乙\n甲乙\n甲丙", "丁戊\n丁戊"],
    ),
    CutCase(
        "without a limit what is alike is one chunk",
        "semantic:0.45",
        "甲乙。" * 99,
        ["甲乙。" * 99],
    ),
    CutCase(
        "nothing is over the greatest distance",
        "semantic:p100",
        LINES,
        [LINES],
    ),
    CutCase(
        "a limit cuts what is alike",
        "semantic:0.45/6",
        "甲乙。甲乙。甲乙。甲乙。",
        ["甲乙。甲乙。", "甲乙。甲乙。"],
    ),
    CutCase("case makes no difference", "semantic:0.9", "AB\nab", ["AB\nab"]),
    CutCase(
        "an empty line makes no cut", "semantic:p0", "\nab\ncd", ["ab", "cd"]
    ),
    # 3 / sqrt(3 * 6) and 1 / sqrt(1 * 2) are one likeness, but not one float.
    CutCase(
        "distances equal but for rounding are equal",
        "semantic:p0",
        "abc\nabcdef\nx\nxy",
        ["abc\nabcdef", "x\nxy"],
    ),
]

NESTED = "# A\n\none\n\n## B\n\ntwo, longer than ten\n\n# C\n\nthree\n"
STRUCTURE_CASES = [
    CutCase(
        "each heading starts a chunk",
        "structure:99",
        NESTED,
        ["# A\n\none", "## B\n\ntwo, longer than ten", "# C\n\nthree"],
    ),
    CutCase(
        "a chunk under the least size joins the next",
        "structure:99/15",
        NESTED,
        ["# A\n\none\n\n## B\n\ntwo, longer than ten", "# C\n\nthree"],
    ),
    CutCase(
        "a chunk of the least size does not",
        "structure:99/10",
        NESTED,
        ["# A\n\none", "## B\n\ntwo, longer than ten", "# C\n\nthree"],
    ),
    CutCase(
        "two fences that touch are told apart",
        "structure:20",
        "```\naaaaaaaaaaaaaaaa\n```\n```\naaaaaaaaaaaaaaaa\n```\n",
        ["```\naaaaaaaaaaaaaaaa\n```", "```\naaaaaaaaaaaaaaaa\n```"],
    ),
    CutCase(
        "marks that close on their own line open no fence",
        "structure:20",
        "```a``` is code.\n\nThe first of all.\n\n# H\n\nT.",
        ["```a``` is code.", "The first of all.", "# H\n\nT."],
    ),
    CutCase(
        "the white space at the end does not count",
        "structure:10",
        "abcde\n\nfgh\n\n",
        ["abcde\n\nfgh"],
    ),
    CutCase(
        "a heading that leaves no room is cut from its text",
        "structure:5",
        "# A\n\nabcdefgh",
        ["# A", "abcde", "fgh"],
    ),
    CutCase(
        "a heading that leaves room is not",
        "structure:6",
        "# A\n\nabcdefgh",
        ["# A\n\na", "bcdefg", "h"],
    ),
    CutCase(
        "a heading is cut from a fence that fits without it",
        "structure:15",
        "# Head\n\n```\nabc\n```\n",
        ["# Head", "```\nabc\n```"],
    ),
    CutCase(
        "and from a table",
        "structure:15",
        "# Head\n\n| a |\n|---|\n",
        ["# Head", "| a |\n|---|"],
    ),
    CutCase(
        "but not from a fence that is over the size itself",
        "structure:10",
        "# Head\n\n```\nabc\n```\n",
        ["# Head\n\n```\nabc\n```"],
    ),
    CutCase(
        "nor from the indented text under it",
        "structure:14",
        "# A\n\n   abcde fghij klm",
        ["# A\n\n   abcde", "fghij klm"],
    ),
    CutCase(
        "a heading over the size is cut as its text is",
        "structure:11",
        "# One two three\n\nabc def",
        ["# One two", "three", "abc def"],
    ),
    CutCase(
        "a paragraph joins the start of what is cut, white space aside",
        "structure:11",
        "abcde\n\nfghi jklmnopqrs",
        ["abcde\n\nfghi", "jklmnopqrs"],
    ),
    CutCase(
        "a heading over the size is cut, and its fence kept",
        "structure:11",
        "# One two three\n\n```\nabc\n```\n",
        ["# One two", "three", "```\nabc\n```"],
    ),
    CutCase(
        "only the first piece makes room for the heading",
        "structure:40",
        "# " + "H" * 20 + "\n\n" + "Aaaa bbbb cccc dd. " * 4,
        [
            "# " + "H" * 20 + "\n\nAaaa bbbb cccc",
            "dd. Aaaa bbbb cccc dd.",
            "Aaaa bbbb cccc dd. Aaaa bbbb cccc dd.",
        ],
    ),
    CutCase(
        "a note is the block after the table, where both fit",
        "structure:24",
        "| a |\n|---|\n| 1 |\nNote.\n\nMore text.",
        ["| a |\n|---|\n| 1 |\nNote.", "More text."],
    ),
    CutCase(
        "what does not fit with the table is none",
        "structure:22",
        "| a |\n|---|\n| 1 |\nNote.\n\nMore text.",
        ["| a |\n|---|\n| 1 |", "Note.\n\nMore text."],
    ),
    CutCase(
        "a table over the size has no note",
        "structure:10",
        "| a |\n|---|\n| 1 |\n\nNote.",
        ["| a |\n|---|\n| 1 |", "Note."],
    ),
    CutCase(
        "a line end of Windows is one character of the least size",
        "structure:99/10",
        NESTED.replace("\n", "\r\n").replace("e\r\n\r\n", "e\r\n"),
        [
            "# A\r\n\r\none\r\n## B\r\n\r\ntwo, longer than ten",
            "# C\r\n\r\nthree",
        ],
    ),
]

# The tokens are the words, and pairs of characters where there are no words.
TOKEN_SIZE_CASES = [
    CutCase(
        "a window ends before the word that is one too many",
        "fixed:2t",
        "one (two) three, four five",
        ["one (two)", "three, four", "five"],
    ),
    CutCase(
        "so many pairs are one character more",
        "fixed:3t",
        "甲乙丙丁戊",
        ["甲乙丙丁", "戊"],
    ),
    CutCase(
        "windows share so many tokens, and what stands before them",
        "overlap:3t/1t",
        "one two, three four five",
        ["one two, three", ", three four five"],
    ),
    CutCase(
        "or per cent of them, rounded down",
        "overlap:3t/66%",
        "one two, three four five",
        ["one two, three", ", three four five"],
    ),
    CutCase(
        "one character over the size stands alone",
        "fixed:2t",
        "one ﷺ two",
        ["one", "ﷺ", "two"],
    ),
    CutCase(
        "though what is before it could be repeated",
        "overlap:4t/3t",
        "one two ﷺ ﷺ",
        ["one two", "ﷺ", "ﷺ"],
    ),
    CutCase(
        "paragraphs are joined while they fit, a longer one stays whole",
        "para:3t",
        "one two\n\nthree\n\nfour five six seven\n\neight",
        ["one two\n\nthree", "four five six seven", "eight"],
    ),
    CutCase(
        "sentences are joined while they fit",
        "sentence:3t",
        "One two. Three. Four five six seven. Eight.",
        ["One two. Three.", "Four five six", "seven. Eight."],
    ),
    CutCase(
        "a chunk starts with the last tokens of the one before",
        "sentence:4t/1t",
        "One two. Three four. Five six.",
        ["One two. Three four.", "four. Five six."],
    ),
    CutCase(
        "pieces are cut at the coarsest separator that works",
        "recursive:3t",
        "one two three, four\n\nfive six",
        ["one two three,", "four", "five six"],
    ),
    CutCase(
        "a limit of semantic may be in tokens",
        "semantic:p100/3t",
        "One two. Three. Four five six seven.",
        ["One two. Three.", "Four five six", "seven."],
    ),
    CutCase(
        "sections are joined by tokens, a fence and a table stay whole",
        "structure:9t/3t",
        "# A\n\none\n\n# B\n\n```\ntwo three\n```\n\n# C\n\nfour",
        ["# A\n\none\n\n# B\n\n```\ntwo three\n```", "# C\n\nfour"],
    ),
    CutCase(
        "a searched slice lies in one parent",
        "parent:2t/3t",
        "one two\n\nthree\n\nfour five six seven",
        ["one two", "three", "four five", "six seven"],
    ),
]


class SentencesCase(NamedTuple):
    """A text and its sentences."""

    name: str
    text: str
    sentences: List[str]


SENTENCES_CASES = [
    SentencesCase(
        "Chinese marks end a sentence",
        "甲乙。丙丁！戊己？庚；辛…壬\n",
        ["甲乙。", "丙丁！", "戊己？", "庚；", "辛…", "壬"],
    ),
    SentencesCase(
        "a closing quotation mark belongs to its sentence",
        "他说：“好。”她走了。",
        ["他说：“好。”", "她走了。"],
    ),
    SentencesCase(
        "so does a closing bracket",
        "（完。）下句。",
        ["（完。）", "下句。"],
    ),
    SentencesCase(
        "so does a corner bracket", "「行！」他答。", ["「行！」", "他答。"]
    ),
    SentencesCase(
        "several marks end one sentence",
        "等等……真的？！好\n",
        ["等等……", "真的？！", "好"],
    ),
    SentencesCase(
        "a decimal point ends none",
        "圆周率是 3.14 吗？是。",
        ["圆周率是 3.14 吗？", "是。"],
    ),
    SentencesCase("a line end does", "第一行\n第二行\n", ["第一行", "第二行"]),
    SentencesCase(
        "a point in a name or an abbreviation ends none",
        "v2.0. 读 README.md 吧\nU.S. law ",
        ["v2.0.", "读 README.md 吧", "U.S. law"],
    ),
    SentencesCase(
        "nor does a mark in an address",
        "Pi is 3.14, e.g. here. See https://a.io/x?y=1.2 and b.py now. "
        "Wait... End ",
        [
            "Pi is 3.14, e.g. here.",
            "See https://a.io/x?y=1.2 and b.py now.",
            "Wait...",
            "End",
        ],
    ),
    SentencesCase(
        "so do the full stops of other scripts",
        "एक।दो॥ ایک۔دو؟ اثنان. አንድ።ሁለት፧ တစ်။နှစ် មួយ។ពីរ៕បី",
        [
            "एक।",
            "दो॥",
            "ایک۔",
            "دو؟",
            "اثنان.",
            "አንድ።",
            "ሁለት፧",
            "တစ်။",
            "နှစ် មួយ។",
            "ពីរ៕",
            "បី",
        ],
    ),
    SentencesCase(
        "so does a wide full stop, but not between digits",
        "甲乙．丙丁是３．１４．戊",
        ["甲乙．", "丙丁是３．１４．", "戊"],
    ),
    SentencesCase(
        "marks of ASCII need no space after Han, Kana and Hangul",
        "你好!再见?カタカナ;ｶﾅ.한국어.끝",
        ["你好!", "再见?", "カタカナ;", "ｶﾅ.", "한국어.", "끝"],
    ),
    SentencesCase(
        "nor do several, with what closes",
        "他说“真的?!”她走了...再见",
        ["他说“真的?!”", "她走了...", "再见"],
    ),
    SentencesCase(
        "but a point before a letter or digit ends none",
        "打开图.png和文件.7z吧.完",
        ["打开图.png和文件.7z吧.", "完"],
    ),
    SentencesCase(
        "a mark in the title of a work ends none",
        "看《你好！李焕英》吧。读《怎么办？》了!《书》好！看《书》吧!《好!书》"
        "和《Oh no! Yes》。",
        [
            "看《你好！李焕英》吧。",
            "读《怎么办？》了!",
            "《书》好！",
            "看《书》吧!",
            "《好!书》和《Oh no! Yes》。",
        ],
    ),
    SentencesCase(
        "the number of a list ends none",
        "1. Open it. 2. Close it.\n  3. Go on.\n## 4.1. Then\n"
        "- 12. End. Of 5. Or",
        [
            "1. Open it.",
            "2. Close it.",
            "3. Go on.",
            "## 4.1. Then",
            "- 12. End.",
            "Of 5.",
            "Or",
        ],
    ),
    SentencesCase("a year does", "1984. It was.", ["1984.", "It was."]),
    SentencesCase(
        "a mark after one that ends none ends none",
        "See U.S.! Then go.",
        ["See U.S.! Then go."],
    ),
    SentencesCase(
        "nor does a common short form",
        "Ask Dr. A, Mr. B, Mrs. C, Ms. D, Prof. E, Rev. F of St. G on Fig. 1, "
        "Figs. 2, fig. 3, figs. 4, Eq. 5, Eqs. 6, Vol. 7, A vs. B, cf. C. Go.",
        [
            "Ask Dr. A, Mr. B, Mrs. C, Ms. D, Prof. E, Rev. F of St. G on "
            "Fig. 1, Figs. 2, fig. 3, figs. 4, Eq. 5, Eqs. 6, Vol. 7, "
            "A vs. B, cf. C.",
            "Go.",
        ],
    ),
    SentencesCase(
        "straight quotation marks and brackets close as well",
        '"Go!" Then (he left.) No. ',
        ['"Go!"', "Then (he left.)", "No."],
    ),
]

WHOLE_PIECES = {
    "a heading and the first text under it": "# One\n\nFirst text.",
    "a fence with blank lines": ("```py\na = 1\n\n\n# no heading\nb = 2\n```"),
    "two headings and the text under them": (
        "## Two\n\n### Three\n\nDeep text."
    ),
    "a table and the note after it": (
        "| a | b |\n|---|---|\n| 1 | 2 |\n\nnote: it."
    ),
    "a fence that is not closed": "~~~\nopen\n\n\n" + "and open" * 9,
}


class Chunkers(unittest.TestCase):
    def assert_cuts(self, cases):
        for case in cases:
            with self.subTest(case.name, spec=case.spec):
                self.assertEqual(texts_of(case.spec, case.text), case.chunks)

    def test_each_document_is_cut_on_its_own(self):
        """And its chunks are listed in their order."""
        corpus = random_corpus(random.Random(9))
        topic = corpus["a"][0][0]
        files = python_data(corpus, [((topic,), "w0")])
        arguments = [*PY_DATA.split(), *specs(*SOME_SPECS), "--chunks"]
        listed = re.findall(
            r"^ +\d+\. (\w+) (\d+)-(\d+), \d+ token",
            printed(arguments, files),
            re.MULTILINE,
        )
        wanted = []
        for spec, (name, pairs) in product(SOME_SPECS, corpus.items()):
            text = "".join(text for _, text in pairs)
            slices = slices_of(spec, text, paragraph_slices(pairs))
            wanted += [(name, str(start), str(end)) for start, end in slices]
        self.assertEqual(listed, wanted)

    # ---- windows -----------------------------------------------------------
    def test_windows_share_exactly_the_overlap(self):
        """The last is the one that reaches the end; white ones are no chunk.

        `fixed` is an overlap of 0.
        """
        rng = random.Random(5)
        for text in nasty_texts(rng, 40):
            size = rng.randint(1, 90)
            for overlap in {0, size - 1, rng.randrange(size)}:
                with self.subTest(text=text[:60], size=size, overlap=overlap):
                    spec = f"overlap:{size}/{overlap}"
                    windows = plain_windows(text, size, overlap)
                    self.assertEqual(slices_of(spec, text), windows)
            self.assertEqual(
                slices_of(f"fixed:{size}", text),
                plain_windows(text, size, 0),
                (text[:60], size),
            )

    def test_an_overlap_in_per_cent_is_rounded_down(self):
        text = "x" * 999
        same = {
            "333/10%": "333/33",
            "50/29%": "50/14",
            "7/99%": "7/6",
            "9/0%": "9/0",
            "3/33%": "3/0",
        }
        names = ["overlap", "sentence", "recursive"]
        for name, (share, count) in product(names, same.items()):
            with self.subTest(name, share=share):
                self.assertEqual(
                    slices_of(f"{name}:{share}", text),
                    slices_of(f"{name}:{count}", text),
                )

    # ---- para --------------------------------------------------------------
    def test_paragraphs_are_joined_while_they_fit(self):
        """With gaps between them and without."""
        rng = random.Random(2)
        for _ in range(200):
            limit = rng.randint(1, 120)
            slices = random_paragraphs(rng)
            text = "x" * slices[-1][1]
            with self.subTest(limit=limit, paragraphs=slices):
                self.assertEqual(
                    slices_of(f"para:{limit}", text, slices),
                    plain_joining(slices, limit),
                )

    def test_paragraphs_by_hand(self):
        self.assert_cuts(PARA_CASES)

    # ---- sentence and recursive --------------------------------------------
    def test_a_chunk_starts_with_the_tail_of_the_one_before(self):
        """The tail is shorter than the overlap only where the size is full."""
        rng = random.Random(4)
        for _ in range(60):
            text = "".join(
                "字" * rng.randint(1, 60) + rng.choice("。！，")
                for _ in range(20)
            )
            size = rng.randint(2, 90)
            overlap = rng.randrange(size)
            for name in ("sentence", "recursive"):
                spec = f"{name}:{size}/{overlap}"
                with self.subTest(spec, text=text):
                    self.assert_tails(slices_of(spec, text), size, overlap)

    def assert_tails(self, slices, size, overlap):
        self.assertGreater(len(slices), 1)
        for (start, end), (following, stop) in zip(slices, slices[1:]):
            tail = end - following
            self.assertLessEqual(start, following)
            self.assertLessEqual(tail, overlap)
            if stop - following < size:
                all_but_one = end - start - 1
                self.assertGreaterEqual(tail, min(overlap, all_but_one))

    def test_sentences_by_hand(self):
        self.assert_cuts(SENTENCE_CASES)

    def test_where_sentences_end(self):
        """semantic:0.99 cuts between all sentences that differ."""
        for case in SENTENCES_CASES:
            with self.subTest(case.name):
                found = texts_of("semantic:0.99", case.text)
                self.assertEqual(found, case.sentences)

    def test_chinese_without_a_space_is_cut_where_sentences_end(self):
        lengths = (3, 9, 14, 2, 8, 14, 5, 1, 12)
        text = "".join("字" * length + "。" for length in lengths)
        for spec in (
            "sentence:15/0",
            "sentence:15/4",
            "recursive:15",
            "recursive:15/4",
            "structure:15",
        ):
            with self.subTest(spec):
                lasts = {piece[-1] for piece in texts_of(spec, text)}
                self.assertEqual(lasts, {"。"})

    def test_long_words_share_the_overlap(self):
        for name in ("sentence", "recursive"):
            with self.subTest(name):
                self.assertEqual(
                    slices_of(f"{name}:1000/200", "x" * 2000),
                    [(0, 1000), (800, 1800), (1600, 2000)],
                )

    def test_recursive_by_hand(self):
        self.assert_cuts(RECURSIVE_CASES)

    def test_recursive_starts_no_chunk_with_a_separator(self):
        text = "ab, cd，ef。gh! ij\nkl\n\nmn、op " * 9
        for size in range(4, 60):
            with self.subTest(size=size):
                slices = slices_of(f"recursive:{size}", text)
                firsts = {text[start] for start, _ in slices}
                self.assertEqual(firsts & set(" ,.\n，。!、"), set())

    # ---- semantic ----------------------------------------------------------
    def test_semantic_by_hand(self):
        self.assert_cuts(SEMANTIC_CASES)

    def test_semantic_without_two_unlike_sentences_makes_one_chunk(self):
        """Or none, where there is only white space."""
        thresholds = ["0.45", "p95", "p0", "0.45/90", "p95/90"]
        texts = {
            "only one sentence": "只有一句。",
            "no end of a sentence": "没有句号",
            "nothing": "",
            "white space": " \n",
            "sentences all alike": "甲乙。" * 9,
        }
        for threshold, (name, text) in product(thresholds, texts.items()):
            with self.subTest(name, threshold=threshold):
                wanted = [text] if text.strip() else []
                found = texts_of(f"semantic:{threshold}", text)
                self.assertEqual(found, wanted)

    # ---- structure ---------------------------------------------------------
    def test_structure_by_hand(self):
        self.assert_cuts(STRUCTURE_CASES)

    def test_structure_keeps_whole_what_belongs_together(self):
        text = "\n\nMore text here.\n\n".join(WHOLE_PIECES.values())
        specs = ["structure:40", "structure:41/10", "structure:80/20"]
        for spec, (name, piece) in product(specs, WHOLE_PIECES.items()):
            with self.subTest(name, spec=spec):
                chunks = texts_of(spec, text)
                holding = [chunk for chunk in chunks if piece in chunk]
                self.assertTrue(holding, chunks)

    def test_a_heading_stays_with_the_start_of_a_text_over_the_size(self):
        bodies = {
            "English sentences": "One of many words here. " * 9,
            "Chinese sentences": "没有空格的长句。" * 20,
            "one long word": "x" * 300,
        }
        for name, body in bodies.items():
            with self.subTest(name):
                first = texts_of("structure:60", "# Title\n\n" + body)[0]
                self.assertIn("# Title\n\n" + body[:3], first)

    # ---- sizes in tokens ---------------------------------------------------
    def test_tokens_by_hand(self):
        self.assert_cuts(TOKEN_SIZE_CASES)

    def test_windows_in_tokens_are_the_longest_that_fit(self):
        """And they share the longest tail that fits."""
        rng = random.Random(23)
        for text in short_texts(rng, 60):
            size = rng.randint(2, 9)
            overlap = rng.randrange(size)
            wanted = plain_token_windows(text, size, overlap)
            with self.subTest(text=text, size=size, overlap=overlap):
                found = slices_of(f"overlap:{size}t/{overlap}t", text)
                self.assertEqual(found, wanted)

    def test_a_window_ends_though_a_count_jumps(self):
        """A space counts three times, so that "bc" has no room for one."""
        files = {
            "c.jsonl": paragraphs(("one", "abc de")),
            "q.jsonl": query("de?", "one"),
            "mine.py": "def count(text):\n"
            "    return len(text) + 2 * text.count(' ')\n",
        }
        arguments = "-s overlap:4t/3t --count mine.count --chunks"
        page = printed(JSONL_DATA + arguments, files)
        places = re.findall(r"(\d+)-(\d+), \d+ token", page)
        wanted = [("0", "3"), ("1", "4"), ("3", "5"), ("4", "6")]
        self.assertEqual(places, wanted)

    def test_sizes_by_a_count_of_characters_are_those_in_characters(self):
        """--count counts them; nothing but the spec and the costs differ."""
        files = {**ANIMALS, "mine.py": "def count(text): return len(text)"}
        files["c.jsonl"] += jsonl(
            {"topic": "more", "text": "Long. " * 9 + "x" * 40, "doc": "m"},
            {"topic": "less", "text": "Short words, all of them.", "doc": "m"},
        )
        in_characters = [
            "fixed:17",
            "overlap:17/6",
            "para:60",
            "parent:9/60",
            "sentence:30/20%",
            "recursive:12/5",
            "structure:30/9",
            "semantic:0.6/25",
        ]
        for spec in in_characters:
            in_tokens = re.sub(r"(\d)(?=/|$)", r"\1t", spec)
            in_tokens = in_tokens.replace("0.6t", "0.6")
            chunks = []
            for each in (spec, in_tokens):
                arguments = f"{JSONL_DATA} -s {each} --count mine.count"
                page = printed(f"{arguments} --chunks", files)
                chunks.append(page.split(each + ": ")[-1])
            with self.subTest(in_tokens):
                self.assertEqual(*chunks)

    # ---- parent ------------------------------------------------------------
    CROWD: ClassVar = [  # the last two fit in one parent of 70 characters
        ("crowd", "cat " * 60),
        ("a", "a dog and a cat " * 3),
        ("b", "two dogs and a cat " * 3),
        ("c", "none"),
    ]
    CROWD_PARENTS: ClassVar = [(0, 240), (240, 288), (288, 349)]

    def test_a_parent_is_sent_once_however_many_of_its_slices_match(self):
        """And k parents are found, though one has most of the slices."""
        files = python_data(self.CROWD, [(("crowd",), "cat")])
        found = measured(PY_DATA + "-s parent:8/70 -k 3", files)
        (row,) = found["strategies"]
        self.assertEqual(row["chunks"], 3)
        places = sorted(row["queries"][0]["top"])
        wanted = [["corpus", *piece] for piece in self.CROWD_PARENTS]
        self.assertEqual(places, wanted)
        self.assertEqual(row["tokens"], 60 + 3 * 5 + (3 * 5 + 1))

    def test_a_searched_slice_lies_in_one_parent(self):
        text = "".join(text for _, text in self.CROWD)
        paragraphs = [(0, 240), (240, 288), (288, 345), (345, 349)]
        slices = slices_of("parent:8/70", text, paragraphs)
        self.assertEqual(len(slices), 30 + 6 + 8)
        for start, end in slices:
            self.assertLessEqual(end - start, 8)
            parents = [
                (left, right)
                for left, right in self.CROWD_PARENTS
                if left <= start and end <= right
            ]
            self.assertEqual(len(parents), 1, (start, end))

    def test_a_parent_has_the_score_of_its_best_slice(self):
        # The slices are "cat cat ", "dog dog " and "owl owl ".
        files = python_data(
            [("a", "cat cat dog dog owl owl ")], [(("a",), "cat dog dog")]
        )
        text = printed(PY_DATA + "-s parent:8/90 --explain 1", files)
        idf = log(1 + 2.5 / 1.5)
        dog = 2 * idf * 2 * 2.5 / (2 + 1.5)  # asked twice, there twice
        scores = re.findall(r", score ([\d.]+)", text)
        self.assertEqual(scores, [f"{dog:.3f}"])

    # ---- specs -------------------------------------------------------------
    def test_a_strategy_named_twice_runs_once(self):
        arguments = specs("fixed:50", "fixed:50", "fixed:60,50")
        found = measured(JSONL_DATA.split() + arguments, ANIMALS)
        names = [row["strategy"] for row in found["strategies"]]
        self.assertEqual(names, ["fixed:50", "fixed:60"])


# ======================== judge ============================================
def covering_by_strategy(strategies, arguments, files):
    """What covers the gold of each query, for each strategy.

    For each query a set of (document number, start, end); it is read from
    the relevance judgements that --trec writes.
    """
    with tempfile.TemporaryDirectory() as folder:
        options = ["--rounds", "1", "-k", "1", "--trec", folder]
        words = [*arguments.split(), *specs(*strategies), *options]
        printed(words, files)
        return {
            strategy: read_qrels(folder, strategy) for strategy in strategies
        }


def covering_chunks(strategy, arguments, files):
    """The same for one strategy."""
    return covering_by_strategy([strategy], arguments, files)[strategy]


def read_qrels(folder, strategy):
    """The places of a grade over 0, a set for each query."""
    name = re.sub("[:/]", "-", strategy) + ".qrels"
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        lines = file.read().splitlines()
    covering = {}
    for line in lines:
        number, _, place, grade = line.split()
        places = covering.setdefault(int(number), set())
        if grade != "0":
            places.add(tuple(map(int, re.split("[:-]", place))))
    return [covering[number] for number in sorted(covering)]


def hundreds(numbers, document=0):
    """These chunks of 100 characters as places."""
    return {(document, 100 * n, 100 * n + 100) for n in numbers}


class WordingCase(NamedTuple):
    """A paragraph that is wanted, and whether another covers it."""

    name: str
    wanted: str
    other: str
    covered: bool


WORDING_CASES = [
    WordingCase(
        "3 of 5 are enough", numbered_words(0, 5), numbered_words(0, 3), True
    ),
    WordingCase(
        "2 of 5 are not", numbered_words(0, 5), numbered_words(0, 2), False
    ),
    WordingCase(
        "4 of 5 are enough", numbered_words(0, 5), numbered_words(1, 5), True
    ),
    WordingCase(
        "60 of 100 are enough",
        numbered_words(0, 100),
        numbered_words(0, 60),
        True,
    ),
    WordingCase(
        "59 of 100 are not",
        numbered_words(0, 100),
        numbered_words(0, 59),
        False,
    ),
    WordingCase(
        "any 60 of 100 are enough",
        numbered_words(0, 100),
        numbered_words(39, 99),
        True,
    ),
    WordingCase(
        "4 of 7 are not", numbered_words(0, 7), numbered_words(3, 7), False
    ),
    WordingCase(
        "5 of 7 are enough", numbered_words(0, 7), numbered_words(2, 7), True
    ),
    WordingCase(
        "the other may have more",
        numbered_words(0, 1),
        numbered_words(0, 9),
        True,
    ),
    WordingCase(
        "2 of 5 are not, though one is there often",
        "w0 w0 w0 w0 w0 w0 w1 w2 w3 w4",
        "w0 w0 w1",
        False,
    ),
    WordingCase(
        "3 of 5 are enough without the one that is there often",
        "w0 w0 w0 w1 w2 w3 w4",
        "w1 w2 w3 x y z",
        True,
    ),
]


def topic_bags(corpus):
    """{topic: the distinct tokens of each of its paragraphs}."""
    bags = {}
    for topic, text in itertools.chain.from_iterable(corpus.values()):
        bags.setdefault(topic, []).append(set(tokens_of(text)))
    return bags


def chunk_bags(strategy, corpus):
    """{(document number, start, end): the distinct tokens of a chunk}."""
    bags = {}
    for number, pairs in enumerate(corpus.values()):
        text = "".join(text for _, text in pairs)
        for start, end in slices_of(strategy, text, paragraph_slices(pairs)):
            bags[number, start, end] = set(tokens_of(text[start:end]))
    return bags


def plain_covering(paragraph_bags, bags):
    """The chunks with 60 % of the tokens of one of the paragraphs."""
    return {
        place
        for place, held in bags.items()
        if any(
            5 * len(held & wanted) >= 3 * len(wanted)
            for wanted in paragraph_bags
        )
    }


class PositionCase(NamedTuple):
    """A gold at a place, and the chunks of 100 characters that cover it."""

    name: str
    start: int
    end: int
    covering: set


QUOTE_CASES = [
    PositionCase("7 of 10 characters", 93, 103, {0}),
    PositionCase("6 of 10", 94, 104, {0}),
    PositionCase("5 of 10 in either", 95, 105, set()),
    PositionCase("6 of 10 in the second", 96, 106, {1}),
    PositionCase("61 of 100", 39, 139, {0}),
    PositionCase("60 of 100", 40, 140, {0}),
    PositionCase("59 of 100", 41, 141, set()),
    PositionCase("a third in each", 0, 300, set()),
    PositionCase("87 of 167 at most", 20, 187, set()),
    PositionCase("99 of 165", 34, 199, {1}),
]
SECTION_CASES = [
    PositionCase("7 of 10 of the section", 93, 103, {0}),
    PositionCase("6 of 10 of the section", 94, 104, {0}),
    PositionCase("5 of 10 of the section in either", 95, 105, set()),
    PositionCase("61 of 100 of the first chunk", 39, 300, {0, 1, 2}),
    PositionCase("60 of 100 of the first chunk", 40, 300, {0, 1, 2}),
    PositionCase("59 of 100 of the first chunk", 41, 300, {1, 2}),
    PositionCase("60 of 100 of the last chunk", 0, 160, {0, 1}),
    PositionCase("59 of 100 of the last chunk", 0, 159, {0}),
]

ALPHABET_300 = "abcdefghij" * 30


def referring(text, document, start, end):
    """A query whose gold is a quote at a position of ALPHABET_300."""
    reference = {"content": ALPHABET_300[start:end], "start_index": start}
    row = {"query": text, "references": [reference], "corpus_id": document}
    return jsonl(row)


def with_sections(*places):
    """300 characters of Markdown, in which these places are sections #a."""
    text = list("x" * 300)
    headings = [(start, "# h {#a}\n") for start, _ in places]
    headings += [(end, "# k\n") for _, end in places if end < 300]
    for start, heading in headings:
        text[start : start + len(heading)] = heading
        if start:
            text[start - 1] = "\n"
    return "".join(text)


class Judge(unittest.TestCase):
    # ---- by wording --------------------------------------------------------
    def test_60_per_cent_of_the_distinct_tokens_cover_a_paragraph(self):
        """However often either paragraph repeats them."""
        for case in WORDING_CASES:
            with self.subTest(case.name):
                corpus = [("wanted", case.wanted), ("other", case.other)]
                files = python_data(corpus, [(("wanted",), "w0")])
                (found,) = covering_chunks("para:1", PY_DATA, files)
                middle = len(case.wanted)
                wanted = {(0, 0, middle)}
                if case.covered:
                    wanted.add((0, middle, middle + len(case.other)))
                self.assertEqual(found, wanted)

    def test_one_paragraph_of_a_topic_is_enough(self):
        texts = [
            numbered_words(0, 5),
            numbered_words(10, 15),
            numbered_words(11, 14),
        ]
        corpus = list(zip(["twice", "twice", "other"], texts))
        files = python_data(corpus, [(("twice",), "w0")])
        (found,) = covering_chunks("para:1", PY_DATA, files)
        first, second, third = itertools.accumulate(map(len, texts))
        wanted = {(0, 0, first), (0, first, second), (0, second, third)}
        self.assertEqual(found, wanted)

    def test_wording_is_judged_as_by_comparing_every_pair(self):
        """The tokens of every chunk with those of every paragraph."""
        rng = random.Random(9)
        for _ in range(10):
            corpus = random_corpus(rng)
            bags = topic_bags(corpus)
            files = python_data(corpus, [((topic,), "w0") for topic in bags])
            found = covering_by_strategy(SOME_SPECS, PY_DATA, files)
            for strategy, covering in found.items():
                with self.subTest(strategy, corpus=corpus):
                    held = chunk_bags(strategy, corpus)
                    plain = [plain_covering(bags[t], held) for t in bags]
                    self.assertEqual(covering, plain)

    # ---- by position -------------------------------------------------------
    def test_60_per_cent_of_its_characters_cover_a_quote(self):
        """In the first document and in the second."""
        corpus = paragraphs(("t", ALPHABET_300, "d"), ("u", ALPHABET_300, "e"))
        queries = "".join(
            referring(f"x{case.start} {document}", document, *case[1:3])
            for case in QUOTE_CASES
            for document in "de"
        )
        files = {"c.jsonl": corpus, "q.jsonl": queries}
        found = covering_chunks("fixed:100", JSONL_DATA, files)
        self.assertEqual(len(found), 2 * len(QUOTE_CASES))
        for case, first, second in zip(QUOTE_CASES, found[::2], found[1::2]):
            with self.subTest(case.name):
                self.assertEqual(first, hundreds(case.covering, 0))
                self.assertEqual(second, hundreds(case.covering, 1))

    def test_one_place_of_a_quote_is_enough(self):
        """Each quote of the table, or another in the third chunk."""
        other = (ALPHABET_300[210:220], 210)
        questions = [
            (
                f"x{case.start}",
                (ALPHABET_300[case.start : case.end], case.start),
            )
            for case in QUOTE_CASES
        ]
        text = squad(
            *((*question, other) for question in questions),
            context=ALPHABET_300,
        )
        found = covering_chunks(
            "fixed:100", "--squad s.json", {"s.json": text}
        )
        self.assertEqual(len(found), len(QUOTE_CASES))
        for case, covering in zip(QUOTE_CASES, found):
            with self.subTest(case.name):
                self.assertEqual(covering, hundreds({*case.covering, 2}))

    def test_one_document_with_a_quote_is_enough(self):
        """The quote is cut in half in the first, and whole in the second."""
        quote = "0123456789"
        first = ALPHABET_300[:95] + quote + ALPHABET_300[105:]
        second = ALPHABET_300[:210] + quote + ALPHABET_300[220:]
        files = {
            "c.jsonl": paragraphs(("t", first, "d"), ("u", second, "e")),
            "q.jsonl": query("x", quote),
        }
        (found,) = covering_chunks("fixed:100", JSONL_DATA, files)
        self.assertEqual(found, hundreds({2}, 1))

    def assert_sections(self, texts, covering):
        """The section #a of each text is covered by these of its chunks."""
        files = {f"docs/{n}.md": text for n, text in enumerate(texts)}
        rows = [query("x", f"{n}#a") for n in range(len(texts))]
        files["q.jsonl"] = "".join(rows)
        arguments = "--corpus docs --queries q.jsonl"
        found = covering_chunks("fixed:100", arguments, files)
        self.assertEqual(len(found), len(texts))
        for n, places in enumerate(found):
            with self.subTest(texts[n]):
                self.assertEqual(places, hundreds(covering[n], n))

    def test_60_per_cent_of_the_shorter_cover_a_section(self):
        """Of the section or the chunk."""
        texts = [with_sections((c.start, c.end)) for c in SECTION_CASES]
        covering = [case.covering for case in SECTION_CASES]
        self.assert_sections(texts, covering)

    def test_one_place_of_a_section_is_enough(self):
        """Two headings may have one explicit anchor."""
        cases = [case for case in SECTION_CASES if case.end <= 200]
        texts = [with_sections((c.start, c.end), (210, 220)) for c in cases]
        covering = [case.covering | {2} for case in cases]
        self.assert_sections(texts, covering)


# ======================== five rows ========================================
class FiveRows(unittest.TestCase):
    """Each figure, where the answer is plain to see."""

    PAIRS: ClassVar = [
        ("red", "red red red red"),
        ("blue", "blue blue red"),
        ("green", "green leaf"),
        ("grey", "grey"),
        ("tin", "tin red can lid cup"),
    ]
    # With para:1: what is sent at 3, its tokens, answered at 1 and at 3.
    ASKED: ClassVar = [
        (("red",), "red"),  # red, blue, tin: 12, yes, yes
        (("blue",), "red"),  # the same: 12, no, yes
        (("green",), "grey"),  # grey: 1, no, no
        (("red", "blue"), "red"),  # red, blue, tin: 12, no, yes
        (("green", "grey"), "leaf"),  # green: 2, no, no
        (("grey",), "nothing of it"),  # none: 0, no, no
    ]

    def assert_figures(self, arguments, queries, figures):
        files = python_data(self.PAIRS, queries)
        (row,) = measured(PY_DATA + arguments, files)["strategies"]
        for name, value in figures.items():
            with self.subTest(name):
                self.assertEqual(row[name], value)

    def test_shares_of_queries_and_mean_tokens(self):
        """A query that matches nothing is a miss that costs nothing."""
        figures = {
            "strategy": "para:1",
            "chunks": 5,
            "recall@1": 1 / 6,
            "recall@3": 3 / 6,
            "single@3": 2 / 4,
            "multi@3": 1 / 2,
            "tokens": (12 + 12 + 1 + 12 + 2 + 0) / 6,
        }
        self.assert_figures("-s para:1 -k 3", self.ASKED, figures)

    def test_without_multi_hop_queries_their_recall_is_null(self):
        figures = {"recall@1": 0, "single@1": 0, "multi@1": None, "tokens": 4}
        self.assert_figures("-s para:1 -k 1", self.ASKED[1:2], figures)

    def test_one_chunk_with_all_answers(self):
        # redblue, redgreen and leafgreytin are words of the chunk.
        figures = {
            "chunks": 1,
            "recall@1": 1,
            "single@3": None,
            "multi@3": 1,
            "tokens": 11,
        }
        self.assert_figures("-s fixed:99 -k 3", self.ASKED[3:4], figures)


# ======================== bad and odd input ================================
# Data in other formats than JSON lines.
FROM_CSV = "--corpus c.jsonl --queries q.csv "
FROM_SQUAD = "--squad s.json "
FOX_AND_ALPACA = python_data(
    [("fox", "The red fox runs."), ("alpaca", "Its wool is warm.")],
    [(("fox",), "Who runs?")],
)

RANKER_PY = """
class f:
    def __init__(self, texts):
        self.n = len(texts)

    def topk(self, query, k):
        """


def function(body):
    """A module "mine.py" whose f(text) is this one line."""
    return f"def f(text):\n    {body}\n"


def ranker(body):
    """A module "mine.py" whose retriever f ranks by this one line."""
    return f"{RANKER_PY}{body}\n"


class BadCase(NamedTuple):
    """What is bad, and what the error says of it."""

    name: str
    bad: object  # arguments, or the content of a file (None: a folder)
    said: List[str]


BAD_STRATEGIES = [
    BadCase(
        "a digit that is not ASCII",
        "fixed:5٠",
        said=["fixed:5٠", "fixed:50"],
    ),
    BadCase(
        "a name with a typing error",
        "fixd:50",
        said=["fixd", '"fixed"'],
    ),
    BadCase(
        "size 0",
        "fixed:0",
        said=["fixed:0", "fixed:50"],
    ),
    BadCase(
        "a negative size",
        "fixed:-5",
        said=["fixed:-5", "fixed:50"],
    ),
    BadCase(
        "a size that is not whole",
        "fixed:1.5",
        said=["fixed:1.5", "fixed:50"],
    ),
    BadCase(
        "no size",
        "fixed",
        said=['"fixed"', "fixed:50"],
    ),
    BadCase(
        "nothing after a comma",
        "fixed:50,",
        said=["fixed:50"],
    ),
    BadCase(
        "no overlap",
        "overlap:50",
        said=["overlap:50", "overlap:50/15"],
    ),
    BadCase(
        "an overlap as large as the size",
        "overlap:50/50",
        said=["size 50, overlap 50", "under the size"],
    ),
    BadCase(
        "an overlap of 100 %",
        "overlap:50/100%",
        said=["overlap:50/100%", "under"],
    ),
    BadCase(
        "a size in tokens with an overlap in characters",
        "overlap:96t/32",
        said=["overlap:96t/32", "tokens with characters", "a t after both"],
    ),
    BadCase(
        "a child in characters with a parent in tokens",
        "parent:5/9t",
        said=["parent:5/9t", "tokens with characters"],
    ),
    BadCase(
        "0 tokens",
        "fixed:0t",
        said=["fixed:0t", "fixed:64t", "in tokens with a t"],
    ),
    BadCase(
        "a threshold in tokens",
        "semantic:0.5t",
        said=["semantic:0.5t", "semantic:0.45"],
    ),
    BadCase("two units", "fixed:9tt", said=["fixed:9tt", "fixed:50"]),
    BadCase(
        "tokens of per cent",
        "overlap:9t/5%t",
        said=["overlap:9t/5%t", "overlap:50/15"],
    ),
    BadCase(
        "an overlap of as many tokens as the size",
        "recursive:9t/9t",
        said=["recursive:9t/9t", "under the size"],
    ),
    BadCase(
        "sentences that all overlap",
        "sentence:9/9",
        said=["sentence:9/9"],
    ),
    BadCase(
        "a parent smaller than its child",
        "parent:50/20",
        said=["parent:50/20"],
    ),
    BadCase(
        "a percentile over 100",
        "semantic:p101",
        said=["p101", "p95"],
    ),
    BadCase(
        "a module that does not exist",
        "no_such_module.f",
        said=["no_such_module.f", "module.function"],
    ),
]

BAD_ARGUMENTS = [
    BadCase(
        "two strategies in one",
        "-s fixed:50,overlap:50/15",
        said=['"fixed:50,overlap:50/15"', "(an -s for each)"],
    ),
    BadCase(
        "pairs of sizes in one strategy",
        "-s overlap:200/40,400/80",
        said=['"overlap:200/40,400/80"', "(an -s for each)"],
    ),
    BadCase(
        "an option is not to be shortened",
        "--round 2",
        said=['"--round" is not an option; the nearest is "--rounds" (--help'],
    ),
    BadCase(
        "an option that does not exist",
        "--nonsense",
        said=["--nonsense", "--help"],
    ),
    BadCase(
        "a word that belongs to no option",
        "corpus.md",
        said=['arguments: "corpus.md" is not an option'],
    ),
    BadCase("-k in tokens", "-k 3t", said=["3t", "whole number"]),
    BadCase(
        "-k with a digit that is not ASCII",
        "-k 1٣",
        said=["-k", "1٣"],
    ),
    BadCase(
        "-k 0",
        "-k 0",
        said=["-k", "0"],
    ),
    BadCase(
        "-k with a letter",
        "-k 2,x",
        said=["-k", "x"],
    ),
    BadCase(
        "no round",
        "--rounds 0",
        said=["--rounds", "0"],
    ),
    BadCase(
        "a round and a half",
        "--rounds 1.5",
        said=["1.5"],
    ),
    BadCase(
        "a share of 0 %",
        "--covered 0",
        said=["--covered", '"0"'],
    ),
    BadCase(
        "a share of 101 %",
        "--covered 60,101",
        said=["--covered", "101", "100 %"],
    ),
    BadCase(
        "a share that is no number",
        "--covered x",
        said=["--covered", '"x"'],
    ),
    BadCase(
        "no share at all",
        "--covered=",
        said=["--covered", '""'],
    ),
    BadCase(
        "a negative margin",
        "--margin -0.1",
        said=["--margin", "-0.1", "from 0 to under 1"],
    ),
    BadCase(
        "a margin of 1",
        "--margin 1",
        said=["--margin", '"1"', "from 0 to under 1"],
    ),
    BadCase(
        "a margin that is no number",
        "--margin nan",
        said=["--margin", '"nan"', "from 0 to under 1"],
    ),
    BadCase(
        "a margin in words",
        "--margin little",
        said=["--margin", '"little"'],
    ),
    BadCase(
        "a negative number of shifts",
        "--shifts -1",
        said=["--shifts", "-1"],
    ),
    BadCase(
        "a picture that is no SVG",
        "--plot out.png",
        said=["--plot", "out.png", ".svg"],
    ),
    BadCase(
        "budget 0",
        "--budget 0",
        said=["--budget"],
    ),
    BadCase(
        "no job",
        "--jobs 0",
        said=["--jobs"],
    ),
    BadCase(
        "both -k and --budget",
        "-k 3 --budget 50",
        said=["-k", "--budget"],
    ),
    BadCase(
        "both --corpus and --squad",
        "--squad s.json",
        said=["--squad", "--corpus"],
    ),
    BadCase(
        "both --beir and --corpus",
        "--beir b",
        said=["--beir", "--corpus"],
    ),
    BadCase(
        "--topics and --check",
        "--topics --check",
        said=["--topics", "--check"],
    ),
    BadCase(
        "no passage to draft from",
        "--draft 0",
        said=["--draft", "0"],
    ),
    BadCase(
        "a passage and a half",
        "--draft 1.5",
        said=["--draft", "1.5"],
    ),
    BadCase(
        "more passages than there are",
        "--draft 3",
        said=["--draft 3", "2 sentences", "40 to 200"],
    ),
    BadCase(
        "an unknown format",
        "--format x",
        said=["--format", "x", "json"],
    ),
    BadCase(
        "--chunks in CSV",
        "--chunks --format csv",
        said=["--format csv", "--chunks"],
    ),
    BadCase(
        "--explain in CSV",
        "--explain 1 --format csv",
        said=["--format csv", "--explain"],
    ),
    BadCase(
        "--explain with a number over that of the queries",
        "--explain 99",
        said=['--explain "99"', "from 1 to 2"],
    ),
    BadCase(
        "a baseline that is not run",
        "--baseline fixed:9",
        said=["fixed:9", "fixed:50"],
    ),
    BadCase(
        "a retriever with a typing error",
        "--retriever bm26",
        said=["bm26", '"bm25"'],
    ),
    BadCase(
        "a counter without a module",
        "--count len",
        said=["len", "module.function"],
    ),
    BadCase(
        "a file of queries that does not exist",
        "--queries no.csv",
        said=["no.csv", "no such file", "a path that exists"],
    ),
    BadCase(
        "a picture in a folder that is a file",
        "--plot c.jsonl/x.svg",
        said=["c.jsonl: file exists (a folder"],
    ),
    BadCase(
        "TREC files in a folder that is a file",
        "--trec c.jsonl/x",
        said=["c.jsonl", "written"],
    ),
]

# The files that BAD_PLACES name.
PLACES = {
    "f/a.rst": "x",
    "f/.b.md": "fox",
    "f/.g/c.md": "fox",
    "e/a.md": "",
    "u/a.md": "x",
    "u/b.md": b"x\ny\n\xe9t\xe9",
    "c.jsonl": FOX,
    "q.jsonl": FOX_QUERY,
    "s.json": squad(("who?", ("fox", 8))),
    "b.jsonl": jsonl({"_id": "1", "title": "Foxes", "text": "fox"}),
    "g.jsonl.gz": b"no gzip",
    "h.jsonl.gz": gzip.compress(FOX.encode())[:-9],
}
BAD_PLACES = [
    BadCase(
        "a file with a typing error",
        "c.jsnl",
        said=["c.jsnl", "no such file", 'nearest is "c.jsonl"'],
    ),
    BadCase(
        "a file of SQuAD's",
        "s.json",
        said=["s.json", "--squad s.json"],
    ),
    BadCase(
        "a file of BEIR's",
        "b.jsonl",
        said=["b.jsonl", "--beir"],
    ),
    BadCase(
        "a file that is not packed",
        "g.jsonl.gz",
        said=["g.jsonl.gz", "gzip"],
    ),
    BadCase(
        "a packed file that ends too soon",
        "h.jsonl.gz",
        said=["h.jsonl.gz", "gzip"],
    ),
    BadCase(
        "a Python file that does not exist",
        "no.py",
        said=["no.py", "no such file"],
    ),
    BadCase(
        "a folder that does not exist",
        "nowhere",
        said=["nowhere", "no such file"],
    ),
    BadCase(
        "a PDF that does not exist",
        "c.pdf",
        said=["c.pdf", "no such file"],
    ),
    BadCase(
        "a folder whose only texts are hidden",
        "f",
        said=["f: ", ".md", ".txt"],
    ),
    BadCase(
        "a folder whose only text is empty",
        "e",
        said=["e: ", "token"],
    ),
    BadCase(
        "a text that is not in UTF-8",
        "u",
        said=["b.md:3", "0xe9", "UTF-8"],
    ),
    BadCase(
        "queries in an unknown format, by a way with dots",
        "c.jsonl --queries f/../u/a.md",
        said=["a.md: .md cannot hold queries (", ".csv"],
    ),
]

BAD_CORPUS_PY = [
    BadCase(
        "a syntax error",
        "x = 1\nCORPUS = = 2\n",
        said=["corpus.py:2", "CORPUS"],
    ),
    BadCase(
        "an exception",
        "x = 1\n\n1 / 0\n",
        said=["corpus.py:3", "ZeroDivisionError"],
    ),
    BadCase(
        "an exit",
        "import sys\nsys.exit(3)\n",
        said=["corpus.py:2", "SystemExit"],
    ),
    BadCase(
        "an exception in a module that it calls",
        "import json\n\n\nCORPUS = json.loads('{')\n",
        said=["corpus.py:4", "JSONDecodeError"],
    ),
    BadCase(
        "no CORPUS",
        "X = 1\n",
        said=["corpus.py", "CORPUS"],
    ),
    BadCase(
        "a number",
        "CORPUS = 5\n",
        said=["corpus.py: CORPUS", "list"],
    ),
    BadCase(
        "a text",
        'CORPUS = "abc"\n',
        said=["corpus.py: CORPUS", "list"],
    ),
    BadCase(
        "an empty list",
        "CORPUS = []\n",
        said=["corpus.py", "empty"],
    ),
    BadCase(
        "no token",
        'CORPUS = [("a", "...")]\n',
        said=["corpus.py", "token"],
    ),
    BadCase(
        "a text of two letters is no pair",
        'CORPUS = [("a", "b"), "xy"]\n',
        said=["corpus.py: CORPUS[1]", "xy", "pair"],
    ),
    BadCase(
        "a number as a paragraph",
        'CORPUS = [("a", 5)]\n',
        said=["corpus.py: CORPUS[0]", "5"],
    ),
    BadCase(
        "a blank paragraph",
        'CORPUS = [("a", "fox"), ("a", " ")]\n',
        said=["corpus.py: CORPUS[1]", "blank"],
    ),
    BadCase(
        "a tuple of one in a document",
        'CORPUS = {"d": [("a", "fox"), ("b",)]}\n',
        said=["corpus.py: CORPUS['d'][1]", "pair"],
    ),
    BadCase(
        "a document that is a text",
        'CORPUS = {"d": "fox"}\n',
        said=["corpus.py: CORPUS['d']", "list"],
    ),
]

INCOMPARABLE_PY = """
class Odd:
    def __eq__(self, other):
        raise ValueError

    __ne__ = __eq__

QUERIES = [(Odd(), "fox")]
"""
BAD_QUERIES_PY = [
    BadCase(
        "no QUERIES",
        "X = 1\n",
        said=["queries.py", "QUERIES"],
    ),
    BadCase(
        "an empty list",
        "QUERIES = []\n",
        said=["queries.py", "no query"],
    ),
    BadCase(
        "a dict",
        'QUERIES = {"fox": "fox"}\n',
        said=["queries.py: QUERIES", "list"],
    ),
    BadCase(
        "a query without a gold",
        'QUERIES = [((), "fox?")]\n',
        said=["queries.py: QUERIES[0]", "gold", "topic"],
    ),
    BadCase(
        "a number as a gold",
        'QUERIES = [(5, "fox?")]\n',
        said=["queries.py: QUERIES[0]", '"gold"', "list"],
    ),
    BadCase(
        "a gold that cannot be compared",
        INCOMPARABLE_PY,
        said=["queries.py: QUERIES[0]", '"gold"'],
    ),
    BadCase(
        "a topic with a typing error",
        'QUERIES = [(("fox",), "x"), (("alpacka",), "wool")]\n',
        said=["queries.py: QUERIES[1]", "alpacka", '"alpaca"'],
    ),
    BadCase(
        "a query without a token",
        'QUERIES = [(("fox",), "?!")]\n',
        said=["queries.py: QUERIES[0]", "?!", "token"],
    ),
    BadCase(
        "a tuple of one",
        'QUERIES = [("fox?",)]\n',
        said=["queries.py: QUERIES[0]", "pair"],
    ),
]

BAD_CORPUS_JSONL = [
    BadCase(
        "bad JSON, counted with the blank line above",
        FOX + '\n{"topic": "x", "text"}\n',
        said=["c.jsonl:3", "JSON"],
    ),
    BadCase(
        "JSON nested too deep",
        FOX + "[" * 99999 + "\n",
        said=["c.jsonl:2", "JSON"],
    ),
    BadCase(
        "a list as a line",
        FOX + "[1]\n",
        said=["c.jsonl:2", "object", '"topic"'],
    ),
    BadCase(
        "no text",
        FOX + '{"topic": "x"}\n',
        said=["c.jsonl:2", '"text"'],
    ),
    BadCase(
        "a number as a topic",
        FOX + '{"topic": 5, "text": "x"}\n',
        said=["c.jsonl:2", '"topic"', "5"],
    ),
    BadCase(
        "a blank text",
        FOX + '{"topic": "x", "text": " "}\n',
        said=["c.jsonl:2", '"text"'],
    ),
    BadCase(
        "a number as a document",
        FOX + '{"topic": "x", "text": "y", "doc": 5}',
        said=["c.jsonl:2", '"doc"'],
    ),
    BadCase(
        "a byte that is not UTF-8",
        FOX.encode() + b'{"\xff',
        said=["c.jsonl:2", "0xff", "UTF-8"],
    ),
]

JSON_FAULTS = [  # lines of JSON
    BadCase(
        "a comma too many",
        '{"topic": "x", "text": "y", }',
        said=["c.jsonl:2", 'at ", }" (no comma before } or ])'],
    ),
    BadCase(
        "names in single quotes",
        "{'topic': 'x'}",
        said=["c.jsonl:2", "at \"'topic'", "straight double quotes"],
    ),
    BadCase(
        "names in curly quotes",
        "{“topic”: 1}",
        said=["c.jsonl:2", "straight double quotes"],
    ),
    BadCase(
        "names without quotes, after a comma",
        '{"topic": "x", text: "y"}',
        said=["c.jsonl:2", "straight double quotes"],
    ),
    BadCase(
        "a line cut short",
        '{"topic": "x", "text": ',
        said=["c.jsonl:2", "ends too soon"],
    ),
    BadCase(
        "a text cut short",
        '{"topic": "x',
        said=["c.jsonl:2", 'at ""x"'],
    ),
    BadCase(
        "a backslash",
        r'{"topic": "x", "text": "C:\new\x"}',
        said=["c.jsonl:2", r'at "\x"}"', "backslash twice"],
    ),
    BadCase(
        "two objects in a line",
        '{"topic": "x", "text": "y"} {"topic": "z"}',
        said=[
            "c.jsonl:2",
            'more follows the first JSON value: "{"topic": "z"}"',
            "one on each line",
        ],
    ),
    BadCase(
        "no value",
        '{"topic": }',
        said=["c.jsonl:2", 'at "}"', '{"name": "text"}'],
    ),
]
BAD_CORPUS_JSONL += [case._replace(bad=FOX + case.bad) for case in JSON_FAULTS]
BAD_CORPUS_JSONL += [
    BadCase(
        "a list with a comma too many, over several lines",
        "[\n" + FOX.strip() + ",\n]\n",
        said=["c.jsonl:2", 'at ", ]" (no comma before'],
    ),
    BadCase(
        "a list of which one is no object",
        json.dumps([{"topic": "x", "text": "y"}, "z"], indent=1),
        said=["c.jsonl: [1]", "not an object"],
    ),
    BadCase(
        "two objects, each over several lines",
        '{\n"topic": "x",\n"text": "y"}\n' * 2,
        said=["c.jsonl:4", "one on each line"],
    ),
    BadCase(
        "an object over several lines without a text",
        '{"topic":\n"x"\n}',
        said=['c.jsonl: "text" is missing'],
    ),
]

BAD_QUERIES_JSONL = [
    BadCase(
        "a document that is called with its ending",
        query("fox?", "runs over", doc="c.jsonl:1.md"),
        said=["q.jsonl:1", 'no document is called "c.jsonl:1.md"; the near'],
    ),
    BadCase(
        "a document of a quite different name",
        query("fox?", "runs over", doc="zzz"),
        said=['no document is called "zzz" (such as "c.jsonl:1"; '],
    ),
    BadCase(
        "an id twice",
        query("fox?", "red fox", id=7) + query("owl?", "red fox", id="7"),
        said=["q.jsonl:2", 'id "7"', "q.jsonl:1"],
    ),
    BadCase(
        "a list as an id",
        query("fox?", "red fox", id=[7]),
        said=["q.jsonl:1", '"id" is the list [7]', "whole number"],
    ),
    BadCase(
        "a number as a category",
        query("fox?", "red fox", category=7),
        said=["q.jsonl:1", '"category" is the number 7 '],
    ),
    BadCase(
        "a blank category",
        query("fox?", "red fox", category=" "),
        said=["q.jsonl:1", '"category" is blank'],
    ),
    BadCase(
        "a distractor that is a gold",
        query("fox?", "red fox", distractors=["blue whale", "red fox"]),
        said=["q.jsonl:1", '"red fox"', "gold and a distractor"],
    ),
    BadCase(
        "a distractor that is quoted from the place of a gold",
        query("fox?", "the hill", distractors=["over", "the  hill"]),
        said=["q.jsonl:1", '"the hill" is a gold and a distractor'],
    ),
    BadCase(
        "a distractor that stands nowhere",
        query("fox?", "red fox", distractors="grey whale"),
        said=["q.jsonl:1", '"grey whale"', 'nearest is "blue whale"'],
    ),
    BadCase(
        "a number as the distractors",
        query("fox?", "red fox", distractors=5),
        said=["q.jsonl:1", '"distractors" is the number 5 '],
    ),
    BadCase(
        "the id names the query in an error",
        query("fox?", "red fix", id="f/1"),
        said=['q.jsonl:1, query "f/1": "red fix" is not a topic'],
    ),
    BadCase(
        "a number as a query",
        '{"query": 5, "gold": "red fox"}',
        said=["q.jsonl:1", '"query" is the number 5 (a text)'],
    ),
    BadCase(
        "true as a gold",
        '{"query": "fox?", "gold": true}',
        said=["q.jsonl:1", '"gold" is the truth value true'],
    ),
    BadCase(
        "only queries that are still to be written",
        query("", "red fox") + query(" ", "blue whale"),
        said=["no query can be asked", "2 without a text yet"],
    ),
    BadCase(
        "only blank lines",
        "\n \n",
        said=["q.jsonl", "no query"],
    ),
    BadCase(
        "a folder",
        None,
        said=["q.jsonl", "director"],
    ),
    BadCase(
        "only queries without a gold, or still to be written",
        query("fox?") + query("", "red fox") + query("owl?"),
        said=[
            "no query can be asked",
            "2 without a gold",
            "1 without a text yet",
        ],
    ),
    BadCase(
        "no gold",
        '{"query": "fox?"}',
        said=["q.jsonl:1", '"gold"'],
    ),
    BadCase(
        "a number as a gold",
        query("fox?", 5),
        said=["q.jsonl:1", '"gold"', "5"],
    ),
    BadCase(
        "a blank gold",
        query("fox?", "red fox", " "),
        said=["q.jsonl:1"],
    ),
    BadCase(
        "no query",
        '{"gold": ["red fox"]}',
        said=["q.jsonl:1", '"query"', '"question"'],
    ),
    BadCase(
        "a gold that stands nowhere is told the nearest passage",
        FOX_QUERY + query("fox?", "runs over a hill by night"),
        said=[
            "q.jsonl:2",
            "runs over a hill",
            "The red fox runs over the hill at night.",
        ],
    ),
    BadCase(
        "no gold at all that stands in the corpus",
        query("a", "alien") + query("b", "stranger", "space"),
        said=["q.jsonl: none of its 3 golds", "quotes of this --corpus"],
    ),
    BadCase(
        "an unknown document is told the nearest one",
        query("fox?", "runs over", doc="c.jsonl:7"),
        said=["q.jsonl:1", '"c.jsonl:7"; the nearest is "c.jsonl:'],
    ),
    BadCase(
        "a list as a document",
        query("fox?", "runs over", doc=["c.jsonl:1"]),
        said=["q.jsonl:1", "doc"],
    ),
    BadCase(
        "an empty text as a document",
        query("fox?", "runs over", doc=""),
        said=["q.jsonl:1", "doc"],
    ),
    BadCase(
        "a gold that stands in another document",
        WHALE_QUERY + query("fox?", "runs over", doc="c.jsonl:2"),
        said=["q.jsonl:2", "runs over", "c.jsonl:2"],
    ),
    BadCase(
        "the nearest passage is one of the document that is named",
        query(
            "fox?",
            "dives deep, then runs over the hill at night",
            doc="c.jsonl:2",
        ),
        said=["q.jsonl:1", "The blue whale dives deep"],
    ),
]

BAD_QUERIES_CSV = [
    BadCase(
        "an empty file",
        "",
        said=["q.csv:1", "query"],
    ),
    BadCase(
        "unknown columns",
        "a,b\n1,2\n",
        said=[
            "q.csv:1",
            '"a" and "b"',
            "query or question",
            "gold or references",
        ],
    ),
    BadCase(
        "only a header",
        "query,gold\n",
        said=["q.csv", "no query"],
    ),
    BadCase(
        "a row longer than the header is not cut quietly",
        "query,gold\nfox,red fox\nwhale,dives deep, slow\n",
        said=["q.csv:3", "header"],
    ),
    BadCase(
        "bad JSON as a gold",
        'query,gold\nfox,"[""red fox"", ]"\n',
        said=["q.csv:2", "JSON"],
    ),
    BadCase(
        "numbers as golds",
        'query,gold\nfox,"[1, 2]"\n',
        said=["q.csv:2", "gold"],
    ),
    BadCase(
        "a list within the list of golds",
        'query,gold\nfox,"[[""red fox""]]"\n',
        said=["q.csv:2", "gold"],
    ),
    BadCase(
        "an empty gold",
        "query,gold\nfox,\n",
        said=["q.csv:2", "gold"],
    ),
    BadCase(
        "the line is counted in the file, not in rows",
        'query,gold\n"fox\nfox",red fox\nfox,zzz\n',
        said=["q.csv:4", "zzz"],
    ),
    BadCase(
        "a reference without a start",
        'question,references\nfox,"[{""content"": ""red fox""}]"\n',
        said=["q.csv:2", "start_index"],
    ),
    BadCase(
        "a text as a reference",
        'question,references\nfox,"[""red fox""]"\n',
        said=["q.csv:2", "red fox", '"content"'],
    ),
    BadCase(
        "a number as the references",
        "question,references\nfox,5\n",
        said=["q.csv:2", "references", 'quotes alone go under "gold"'],
    ),
]

BAD_QUERIES_CSV += [
    BadCase(
        "semicolons, and no gold",
        "Query;Answer\nfox;red fox\n",
        said=["q.csv:1", '"query" and "answer"', "gold or references"],
    ),
    BadCase(
        "semicolons, and a row longer than the header",
        "Query;Gold\nfox;dives;deep\n",
        said=["q.csv:2", "header"],
    ),
    BadCase(
        "tabs, and a JSON list with a comma too many",
        'query\tgold\nfox\t"[""red fox"",]"\n',
        said=["q.csv:2", "no comma before"],
    ),
    BadCase(
        "a blank row counts as a line",
        "Query;Gold\n;;\n ; \nfox;zzz\n",
        said=["q.csv:4", "zzz"],
    ),
    BadCase(
        "only golds, their queries still to be written",
        "query,gold\n,red fox\n",
        said=["no query can be asked", "1 without a text yet"],
    ),
]

# Golds that look like sections of two files, and what errors say of them.
SECTION_FILES = {
    "d/computed.md": "# Computed\n\n## Computed Caching vs. Methods\n\nA.\n"
    "\n## Cleanup\n",
    "d/watchers.md": "## 副作用清理 {#side-effect-cleanup}\n\nText.\n",
}
BAD_SECTIONS = [
    BadCase(
        "a document with its ending",
        query("a?", "Text.", doc="watchers.md"),
        said=['no document is called "watchers.md"', 'nearest is "watchers"'],
    ),
    BadCase(
        "an anchor without its document",
        query("a?", "#computed-caching-vs-methods"),
        said=['section is "computed#computed-caching-vs-methods"'],
    ),
    BadCase(
        "a part of an anchor",
        query("a?", "computed#caching"),
        said=['section is "computed#computed-caching-vs-methods"'],
    ),
    BadCase(
        "the words of a heading behind its document",
        query("a?", "watchers#副作用清理"),
        said=['section is "watchers#side-effect-cleanup"'],
    ),
    BadCase(
        "an anchor of another document",
        query("a?", "watchers#computed"),
        said=['section is "watchers#side-effect-cleanup"'],
    ),
    BadCase(
        "an anchor of another document, like none of its own",
        query("a?", "computed#副作用清理"),
        said=['section is "watchers#side-effect-cleanup"'],
    ),
    BadCase(
        "an anchor like none, though its document has a like name",
        query("a?", "computed#zzzqq"),
        said=['"computed#zzzqq"', "the nearest passage is"],
    ),
    BadCase(
        "the words of a heading, nearly",
        query("a?", "computed caching vs methods"),
        said=['section is "computed#computed-caching-vs-methods"'],
    ),
    BadCase(
        "the document of a query says which section is meant",
        query("a?", "#computed", doc="watchers"),
        said=['section is "watchers#side-effect-cleanup"'],
    ),
]

BEIR = {
    "b/corpus.jsonl": jsonl(
        {"_id": "d1", "title": "Foxes", "text": "the red fox", "metadata": {}},
        {"_id": "d2", "title": "", "text": "an owl"},
        {"_id": 3, "text": "a grey whale"},
        {"_id": "d4", "title": "", "text": ""},
    ),
    "b/queries.jsonl": jsonl(
        {"_id": "q1", "text": "chunk 0"},
        {"_id": "q2", "text": "chunk 2", "metadata": {}},
        {"_id": "q3", "text": "nobody knows"},
    ),
    "b/qrels/test.tsv": "query-id\tcorpus-id\tscore\n"
    "q1\td1\t1\nq2\td1\t0\nq2\td2\t2\nq2\t3\t1\n",
}
BEIR_DATA = "--beir b "
BAD_BEIR = [
    BadCase(
        "a row parted by spaces",
        {"b/qrels/test.tsv": "q1 d1 1\n"},
        said=["test.tsv:1", '"q1 d1 1"', "tab"],
    ),
    BadCase(
        "a relevance that is no number",
        {"b/qrels/test.tsv": "q\td\tscore\nq1\td1\tyes\n"},
        said=["test.tsv:2", "yes", "whole number"],
    ),
    BadCase(
        "a document twice",
        {"b/corpus.jsonl": jsonl({"_id": "d", "text": "fox"}) * 2},
        said=["corpus.jsonl:2", '"d"', "an _id of its own"],
    ),
    BadCase(
        "a document without an _id",
        {"b/corpus.jsonl": jsonl({"text": "fox"})},
        said=["corpus.jsonl:1", '"_id"'],
    ),
    BadCase(
        "a document without a text",
        {"b/corpus.jsonl": jsonl({"_id": "d1"})},
        said=["corpus.jsonl:1", '"text"'],
    ),
    BadCase(
        "a number as a title",
        {"b/corpus.jsonl": jsonl({"_id": "d", "text": "fox", "title": 5})},
        said=["corpus.jsonl:1", '"title" is the number 5 '],
    ),
    BadCase(
        "no token",
        {"b/corpus.jsonl": jsonl({"_id": "d1", "text": "..."})},
        said=["b: ", "token"],
    ),
    BadCase(
        "a query without a text",
        {"b/queries.jsonl": jsonl({"_id": "q1"})},
        said=["queries.jsonl:1", '"text"'],
    ),
    BadCase(
        "a query that is no JSON",
        {"b/queries.jsonl": "{'_id': 1}"},
        said=["queries.jsonl:1", "double quotes"],
    ),
    BadCase(
        "no query with a relevant document",
        {"b/qrels/test.tsv": "q1\td9\t1\n"},
        said=["queries.jsonl", "relevant"],
    ),
]

BAD_SQUAD = [
    BadCase(
        "a folder",
        None,
        said=["s.json", "director"],
    ),
    BadCase(
        "bad JSON",
        '{"data": [\n{"title": }]}',
        said=["s.json:2", "JSON"],
    ),
    BadCase(
        "no data",
        "{}",
        said=["s.json", '"data"'],
    ),
    BadCase(
        "no article",
        '{"data": []}',
        said=["s.json"],
    ),
    BadCase(
        "an article without paragraphs",
        '{"data": [{"title": "T"}]}',
        said=["data[0]", '"paragraphs"'],
    ),
    BadCase(
        "a number as a context",
        squad(("q", ("a", 0)), context=5),
        said=["s.json: data[0].paragraphs[0]", '"context"'],
    ),
    BadCase(
        "a context without a token",
        squad(("who?", ("...", 0)), context="..."),
        said=["s.json", "token"],
    ),
    BadCase(
        "null as a question",
        squad((None, ("fox", 4))),
        said=["qas[0]", '"question"'],
    ),
    BadCase(
        "0 as a question is shown, not missing",
        squad((0, ("fox", 4))),
        said=["qas[0]", '"question"', "0"],
    ),
    BadCase(
        "5 as a question",
        squad((5, ("fox", 4))),
        said=["s.json: data[0].paragraphs[0].qas[0]", '"question"', "5"],
    ),
    BadCase(
        "a text as a start",
        squad(("q", ("fox", "4"))),
        said=["s.json: data[0].paragraphs[0].qas[0]", '"answer_start"'],
    ),
    BadCase(
        "no question that can be answered",
        squad(("who?",)),
        said=["s.json", "question"],
    ),
]

BAD_CHUNKERS = [
    BadCase(
        "an end just behind that of the text",
        function("return [(0, len(text) + 1)]"),
        said=["mine.f", "is (0, 41), but", "40 characters"],
    ),
    BadCase(
        "a second chunk that ends far behind the text",
        function("return [(0, 5), (5, 999)]"),
        said=["mine.f", "chunk 2", "(5, 999)", "40"],
    ),
    BadCase(
        "a negative start",
        function("return [(-3, 5)]"),
        said=["mine.f", "(-3, 5)"],
    ),
    BadCase(
        "no function of that name",
        "g = 5",
        said=["mine.f", 'mine has no "f" (module.function'],
    ),
    BadCase(
        "a function of nearly that name",
        "def ff(text): return [text]",
        said=["mine.f", 'mine has no "f"; the nearest is "ff"'],
    ),
    BadCase(
        "a module that fails",
        "1 / 0",
        said=["mine.f", "ZeroDivisionError"],
    ),
    BadCase(
        "a module that exits",
        "import sys\nsys.exit(3)",
        said=["mine.f", "SystemExit"],
    ),
    BadCase(
        "a message of two lines with placeholders becomes one line",
        function(r"raise ValueError('two\nlines %s {}')"),
        said=["mine.f", "ValueError", "two lines %s {}"],
    ),
    BadCase(
        "a message that is too long",
        function("raise ValueError(text * 99)"),
        said=["mine.f"],
    ),
    BadCase(
        "a function that exits",
        function("raise SystemExit(3)"),
        said=["mine.f", "SystemExit"],
    ),
    BadCase(
        "None",
        function("return None"),
        said=["mine.f", "None"],
    ),
    BadCase(
        "one text, where a list is due",
        function("return text"),
        said=["mine.f", "one string"],
    ),
    BadCase(
        "numbers as chunks",
        function("return [1, 2]"),
        said=["mine.f", "chunk 1", "1", "(start, end)"],
    ),
    BadCase(
        "a chunk that does not stand in the text",
        function("return [text[:9], text.upper()]"),
        said=[
            "mine.f",
            "chunk 2, ",
            "does not occur in",
            "c.jsonl:1",
            "THE RED FOX",
        ],
    ),
    BadCase(
        "a text twice that stands there once",
        function("return [text[:9], text[:9]]"),
        said=["mine.f", "chunk 2, ", "does not follow"],
    ),
    BadCase(
        "texts in another order",
        function("return [text[20:], text[:20]]"),
        said=[
            "mine.f",
            "chunk 2, ",
            "does not follow",
            "c.jsonl:1",
            "in the order",
        ],
    ),
]

BAD_RETRIEVERS = [
    BadCase(
        "None in place of a retriever",
        "def f(texts):\n    return None\n",
        said=["mine.f", "None", "topk(query, k)"],
    ),
    BadCase(
        "a retriever that cannot be made",
        "def f(texts):\n    raise KeyError('gone')\n",
        said=["mine.f", "KeyError", "gone"],
    ),
    BadCase(
        "an index behind the last",
        ranker("return [99]"),
        said=["mine.f", "99", "from 0"],
    ),
    BadCase(
        "a negative index",
        ranker("return [-1]"),
        said=["mine.f", "-1"],
    ),
    BadCase(
        "None in place of a ranking",
        ranker("return None"),
        said=["mine.f", "None"],
    ),
    BadCase(
        "a text as an index",
        ranker("return ['a']"),
        said=["mine.f", "str"],
    ),
    BadCase(
        "a topk that exits",
        ranker("raise SystemExit(3)"),
        said=["mine.f", "SystemExit"],
    ),
    BadCase(
        "scores that fail",
        ranker("return [0]")
        + "\n    def scores(self, query):\n        return 1 / 0\n",
        said=["mine.f", "ZeroDivisionError"],
    ),
]

BAD_COUNTERS = [
    BadCase(
        "None",
        function("return None"),
        said=["mine.f", "None", "whole number"],
    ),
    BadCase(
        "a negative number",
        function("return -1"),
        said=["mine.f", "-1"],
    ),
    BadCase(
        "a number that is not whole",
        function("return 2.5"),
        said=["mine.f", "2.5"],
    ),
    BadCase(
        "an exception",
        function("return 1 / 0"),
        said=["mine.f", "ZeroDivisionError"],
    ),
]


class BadInput(unittest.TestCase):
    """Each is refused by one line that says what would be right."""

    def assert_refused(self, arguments, files, said=()):
        """Check status and output of a run; return its error."""
        outcome = run(arguments, files)
        self.assertEqual(outcome.status, 2, outcome.err)
        self.assertEqual(outcome.out, "")
        lines = [
            line for line in outcome.err if not line.startswith("warning: ")
        ]
        self.assertEqual(len(lines), 1, lines)
        error = lines[0]
        self.assertTrue(error.startswith("error: "), error)
        self.assertLess(len(error), 500)
        for fragment in said:
            self.assertIn(fragment, error)
        right = r"\(.+\)$|the nearest"
        self.assertRegex(error, right, "does not say what would be right")
        return error

    def assert_arguments_refused(self, cases, before, files):
        """Check cases whose arguments are bad."""
        for case in cases:
            with self.subTest(case.name):
                self.assert_refused(before + case.bad, files, case.said)

    def assert_file_refused(self, cases, name, arguments, files):
        """Check cases where the content of the file of this name is bad."""
        for case in cases:
            with self.subTest(case.name):
                changed = {**files, name: case.bad}
                self.assert_refused(arguments, changed, case.said)

    def test_a_bad_strategy_is_refused(self):
        before = JSONL_DATA + "-s "
        self.assert_arguments_refused(BAD_STRATEGIES, before, ANIMALS)

    def test_a_bad_option_is_refused(self):
        self.assert_arguments_refused(BAD_ARGUMENTS, JSONL_DATA, ANIMALS)

    def test_a_file_or_folder_that_cannot_be_read_is_refused(self):
        before = "--queries q.jsonl --corpus "
        self.assert_arguments_refused(BAD_PLACES, before, PLACES)

    @needs_shipped_data
    def test_a_corpus_without_its_queries_is_refused(self):
        """The queries are those of the project then, on other texts."""
        said = ["queries.py: none of its 20 golds"]
        self.assert_refused("--corpus c.jsonl", ANIMALS, said)

    def test_a_bad_corpus_in_python_is_refused(self):
        self.assert_file_refused(
            BAD_CORPUS_PY, "corpus.py", PY_DATA, FOX_AND_ALPACA
        )

    def test_bad_queries_in_python_are_refused(self):
        self.assert_file_refused(
            BAD_QUERIES_PY, "queries.py", PY_DATA, FOX_AND_ALPACA
        )

    def test_a_bad_corpus_in_jsonl_is_refused(self):
        self.assert_file_refused(
            BAD_CORPUS_JSONL, "c.jsonl", JSONL_DATA, ANIMALS
        )

    def test_bad_queries_in_jsonl_are_refused(self):
        self.assert_file_refused(
            BAD_QUERIES_JSONL, "q.jsonl", JSONL_DATA, ANIMALS
        )

    def test_a_document_name_that_two_files_have_is_refused(self):
        files = {
            "f/a/x.md": "the fox",
            "f/b/x.md": "the fox",
            "q.jsonl": query("fox?", "the fox", doc="x"),
        }
        said = ["q.jsonl:1", "2 documents", '"x"']
        self.assert_refused("--corpus f --queries q.jsonl", files, said)

    def test_bad_queries_in_csv_are_refused(self):
        self.assert_file_refused(BAD_QUERIES_CSV, "q.csv", FROM_CSV, ANIMALS)

    def test_a_gold_that_looks_like_a_section_is_told_the_nearest(self):
        self.assert_file_refused(
            BAD_SECTIONS,
            "q.jsonl",
            "--corpus d --queries q.jsonl",
            SECTION_FILES,
        )

    def test_a_bad_folder_of_beir_is_refused(self):
        for case in BAD_BEIR:
            with self.subTest(case.name):
                files = {**BEIR, **case.bad}
                self.assert_refused(BEIR_DATA, files, case.said)

    def test_a_folder_of_beir_needs_one_file_of_qrels(self):
        files = dict(BEIR)
        qrels = files.pop("b/qrels/test.tsv")
        self.assert_refused(BEIR_DATA, files, ["qrels", "no such file"])
        files["b/qrels/dev.tsv"] = qrels
        self.assertEqual(run(BEIR_DATA, files).status, 0)
        files["b/qrels/train.tsv"] = qrels
        said = ["qrels: there are 2 .tsv files", "test.tsv"]
        self.assert_refused(BEIR_DATA, files, said)

    def test_a_bad_squad_file_is_refused(self):
        self.assert_file_refused(BAD_SQUAD, "s.json", FROM_SQUAD, {})

    def test_a_bad_chunker_is_refused(self):
        arguments = JSONL_DATA + "-s mine.f"
        self.assert_file_refused(BAD_CHUNKERS, "mine.py", arguments, ANIMALS)

    def test_a_size_for_a_function_that_takes_none_is_refused(self):
        files = {**ANIMALS, "mine.py": function("return [text]")}
        arguments = JSONL_DATA + "-s mine.f:50"
        self.assert_refused(arguments, files, ["mine.f:50"])

    def test_a_bad_retriever_is_refused(self):
        arguments = JSONL_DATA + "--explain 1 --retriever mine.f"
        self.assert_file_refused(BAD_RETRIEVERS, "mine.py", arguments, ANIMALS)

    def test_a_bad_counter_is_refused(self):
        arguments = JSONL_DATA + "--count mine.f"
        self.assert_file_refused(BAD_COUNTERS, "mine.py", arguments, ANIMALS)

    def test_an_empty_name_is_not_the_data_of_the_project(self):
        """Nor is it a place to write to."""
        for option in ("--corpus", "--queries", "--squad", "--plot", "--trec"):
            with self.subTest(option):
                self.assert_refused([option, ""], {}, [option])

    def test_an_error_on_a_name_with_a_line_break_is_one_line(self):
        for arguments in (
            ["--corpus", "no\nsuch.md"],
            ["-s", "fixed:\n5"],
            ["--squad", "\r\n.json"],
        ):
            with self.subTest(arguments):
                self.assert_refused(arguments, {})

    def test_a_file_without_permission_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            write_files(folder, {"c.jsonl": FOX})
            path = os.path.join(folder, "c.jsonl")
            os.chmod(path, 0)
            if os.access(path, os.R_OK):
                self.skipTest("this user may read everything")
            error = self.assert_refused(["--corpus", path], {})
        pattern = r"^error: .*c\.jsonl: permission denied \(.+\)$"
        self.assertRegex(error, pattern)

    def test_an_interruption_is_said_in_one_word(self):
        files = {**ANIMALS, "mine.py": function("raise KeyboardInterrupt")}
        outcome = run(JSONL_DATA + "-s mine.f", files)
        self.assertEqual(outcome.status, 1)
        self.assertEqual(outcome.out, "")
        self.assertEqual(outcome.err, ["interrupted"])


class AllFaults(unittest.TestCase):
    """Of a file of queries all faults are told at once, in order."""

    def errors(self, arguments, files):
        """Where the errors of a run are: what follows "error: " up to ": "."""
        outcome = run(arguments, files)
        self.assertEqual(outcome.status, 2)
        self.assertEqual(outcome.out, "")
        for line in outcome.err:
            self.assertTrue(line.startswith("error: "), line)
        return [line.split(": ")[1] for line in outcome.err]

    def test_each_has_a_line(self):
        queries = [
            FOX_QUERY,
            '{"query": 5}\n',
            "{no json}\n",
            query("?!", "red fox"),
            query("fox?", "green fox", "yellow fox"),
            WHALE_QUERY,
            query("fox?", "runs over", doc="zzz"),
        ]
        files = {**ANIMALS, "q.jsonl": "".join(queries)}
        lines = [2, 3, 4, 5, 5, 7]
        self.assertEqual(
            self.errors(JSONL_DATA, files),
            [f"q.jsonl:{line}" for line in lines],
        )

    def test_a_gold_and_a_distractor_that_stand_nowhere_are_two(self):
        row = query("fox?", "red fox", "zzz", distractors="yyy")
        files = {**ANIMALS, "q.jsonl": row}
        self.assertEqual(self.errors(JSONL_DATA, files), ["q.jsonl:1"] * 2)
        error = run(JSONL_DATA, files).err[1]
        self.assertIn('"yyy" is not a topic', error)

    def test_in_csv_too(self):
        rows = 'query,gold\nfox,zz\nfox,red fox\nfox,"[,]"\nfox,a,b\n'
        self.assertEqual(
            self.errors(FROM_CSV, {**ANIMALS, "q.csv": rows}),
            ["q.csv:2", "q.csv:4", "q.csv:5"],
        )

    def test_in_python_too(self):
        rows = 'QUERIES = [("fox", "?"), ("fox", "who?"), 5, ("elk", "x")]'
        outcome = run(PY_DATA, {**FOX_AND_ALPACA, "queries.py": rows})
        starts = [
            line[: len("error: queries.py: QUERIES[0]")]
            for line in outcome.err
        ]
        self.assertEqual(
            starts, [f"error: queries.py: QUERIES[{n}]" for n in (0, 2, 3)]
        )

    def test_twenty_are_told_and_how_many_more_there_are(self):
        for count, more in (
            (20, []),
            (21, ["1 more fault"]),
            (25, ["5 more faults"]),
        ):
            with self.subTest(count):
                queries = FOX_QUERY + query("owl?", "elk") * count
                files = {**ANIMALS, "q.jsonl": queries}
                outcome = run(JSONL_DATA, files)
                self.assertEqual(len(outcome.err), 20 + len(more))
                self.assertIn("q.jsonl:21: ", outcome.err[19])
                said = [line.split("and ")[1] for line in outcome.err[20:]]
                self.assertEqual(
                    said, [f"{n} (mend those above first)" for n in more]
                )

    def test_what_else_is_wrong_is_told_where_no_gold_is_found(self):
        queries = query("a", "alien") + "{}\n" + query("b", "stranger")
        files = {**ANIMALS, "q.jsonl": queries}
        outcome = run(JSONL_DATA, files)
        self.assertEqual(len(outcome.err), 2)
        self.assertIn("none of its 2 golds", outcome.err[0])
        self.assertIn("q.jsonl:2", outcome.err[1])

    def test_an_error_of_several_reads_as_lines(self):
        with workplace({**ANIMALS, "q.jsonl": "{}\n{}\n"}):
            data = cre.read_corpus("c.jsonl")
            with self.assertRaises(ValueError) as caught:
                cre.read_queries("q.jsonl", data)
        first, second = str(caught.exception).split("\n")
        self.assertEqual(first.replace(":1", ":2"), second)


class MessageCase(NamedTuple):
    """A part of an error that follows from what is given."""

    name: str
    given: str
    said: str


QUOTED_CASES = [
    MessageCase(
        "white space becomes one space",
        " a\n b ",
        said="a b",
    ),
    MessageCase(
        "60 characters are shown whole",
        "0123456789" * 6,
        said="0123456789" * 6,
    ),
    MessageCase(
        "of 61 characters the middle is left out",
        "0123456789" * 6 + "0",
        said="0123456789" * 4 + " ... " + "1234567890" * 2,
    ),
]

WARNED_KEYS = [
    MessageCase(
        "three are all shown",
        "abc",
        said='3 ("a", "b", "c")',
    ),
    MessageCase(
        "of four, three are shown",
        "abcd",
        said='4 ("a", "b", "c", ...)',
    ),
]


class Messages(unittest.TestCase):
    """What errors and warnings show of the input."""

    def only_line(self, arguments, files):
        """The one line that a run says."""
        outcome = run(arguments, files)
        self.assertEqual(len(outcome.err), 1, outcome.err)
        return outcome.err[0]

    def error_on_gold(self, gold, corpus=FOX):
        """What is said of a gold that does not stand in the corpus."""
        files = {"c.jsonl": corpus, "q.jsonl": query("fox?", gold)}
        return self.only_line(JSONL_DATA, files)

    def test_a_quoted_text_is_one_short_line(self):
        for case in QUOTED_CASES:
            with self.subTest(case.name):
                start = f'error: q.jsonl:1: "{case.said}" is not a topic'
                error = self.error_on_gold(case.given)
                self.assertEqual(error[: len(start)], start)

    def test_a_warning_shows_three_and_how_many(self):
        what = "warning: c.jsonl: keys not used (known: topic, text, doc): "
        for case in WARNED_KEYS:
            with self.subTest(case.name):
                keys = "".join(f'"{key}": 1, ' for key in case.given)
                corpus = FOX.replace("{", "{" + keys) + WHALE
                files = {**ANIMALS, "c.jsonl": corpus}
                warning = self.only_line(JSONL_DATA, files)
                self.assertEqual(warning, what + case.said)

    def test_the_nearest_name_is_found_though_its_case_differs(self):
        error = self.only_line(JSONL_DATA + "-s FIXED:50", ANIMALS)
        self.assertIn('; the nearest is "fixed"', error)

    def test_the_nearest_name_is_shown_in_its_own_case(self):
        corpus = FOX.replace("red fox", "RED Fox", 1)
        error = self.error_on_gold("red fix", corpus)
        self.assertIn('; the nearest is "RED Fox"', error)

    def test_no_name_is_shown_where_none_is_near(self):
        error = self.only_line(JSONL_DATA + "-s zzz:50", ANIMALS)
        self.assertIn('"zzz"', error)
        self.assertNotIn("nearest", error)

    def test_the_nearest_passage_of_a_short_gold_is_a_sentence(self):
        sentence = "The red fox runs over the hill at night."
        error = self.error_on_gold("zz hill", FOX + WHALE)
        self.assertIn(f'the nearest passage is "{sentence}"', error)

    def test_a_gold_that_is_a_passage_nearly_is_told_where_they_part(self):
        """At the end of what they share, or at its beginning."""
        for gold, said in (
            (
                "The red fox runs over the hills at night.",
                'has "...ns over the hill at night...." where this has '
                '"...ns over the hills at night...."',
            ),
            (
                "A red fox runs over the hill at night.",
                'has "...The red fox runs ov..." where this has '
                '"...A red fox runs ov..."',
            ),
        ):
            with self.subTest(gold):
                error = self.error_on_gold(gold, FOX + WHALE)
                self.assertIn(f"; the nearest passage {said}", error)

    def test_what_is_like_a_gold_by_less_than_half_is_shown_whole(self):
        """What they share has 18 characters."""
        for more, is_alike in ((18, True), (19, False)):
            gold = "runs over the hill" + "z" * more
            error = self.error_on_gold(gold, FOX + WHALE)
            self.assertEqual('" where this has "' in error, is_alike, error)

    def test_a_strategy_without_its_size_is_not_called_misspelt(self):
        error = self.only_line(JSONL_DATA + "-s structure", ANIMALS)
        self.assertIn('strategy "structure": its size is missing (', error)
        error = self.only_line(JSONL_DATA + "-s structure:x", ANIMALS)
        self.assertIn('strategy "structure:x": misspelt (', error)

    def test_the_nearest_passage_of_a_long_gold_is_as_long(self):
        """Two of its words stand close together, three far apart."""
        near = "apple pear" + " x" * 200
        far = "plum" + " x" * 30 + " fig" + " x" * 30 + " quince"
        gold = "apple pear plum fig quince" + " y" * 60
        error = self.error_on_gold(
            gold, paragraphs(("a", near), ("b", far), ("c", near))
        )
        self.assertIn('passage is "plum x', error)

    def test_the_nearest_document_is_its_name_without_the_ending(self):
        files = {
            "d/a.md": "the red fox",
            "d/a.mdx.md": "an owl",
            "q.jsonl": query("fox?", "red fox", doc="a.md"),
        }
        error = self.only_line("--corpus d --queries q.jsonl", files)
        self.assertIn('called "a.md"; the nearest is "a"', error)

    def test_the_line_of_an_error_is_that_which_failed(self):
        """It is not that of its caller."""
        code = "def f():\n    return 1 / 0\n\nCORPUS = f()\n"
        error = self.only_line(PY_DATA, {**FOX_AND_ALPACA, "corpus.py": code})
        start = "error: corpus.py:2: it raised ZeroDivisionError: "
        self.assertEqual(error[: len(start)], start)

    def test_an_error_in_a_function_of_ones_own_has_its_line(self):
        own = "def f(text):\n    return [1 / 0]\n"
        own += "class R:\n    def __init__(self, texts): pass\n"
        own += "    def topk(self, query, k): return {}[query]\n"
        for arguments, said in (
            (
                "-s mine.f",
                "error: mine.f (mine.py:2): it raised ZeroDivisionError: ",
            ),
            (
                "--retriever mine.R",
                "error: mine.R (mine.py:5): it raised KeyError: ",
            ),
        ):
            outcome = run(JSONL_DATA + arguments, {**ANIMALS, "mine.py": own})
            self.assertEqual(outcome.status, 2)
            self.assertTrue(outcome.err[0].startswith(said), outcome.err)

    def test_a_line_of_json_is_numbered_once(self):
        """JSON's own "line 1" does not come into it."""
        files = {**ANIMALS, "c.jsonl": FOX + "{]\n"}
        error = self.only_line(JSONL_DATA, files)
        start = 'error: c.jsonl:2: invalid JSON at "]" ('
        self.assertEqual(error[: len(start)], start)


class FineCase(NamedTuple):
    """Odd input that works, and what the JSON says then."""

    name: str
    files: dict  # beside those of ANIMALS
    facts: dict  # {"queries.total": 2}
    arguments: str = JSONL_DATA
    warning: str = ""  # a pattern; without one, there is no warning
    in_all_formats: bool = True  # False where that would take long


def fact(report, path):
    """The value at "strategies.0.chunks" of a report."""
    for key in path.split("."):
        report = report[int(key) if isinstance(report, list) else key]
    return report


THIRTY_WORDS = [f"w{number}" for number in range(30)]
OWN_CHUNKER = JSONL_DATA + "-s mine.f"
OWN_RETRIEVER = JSONL_DATA + "-s para:90 --retriever mine.f"

FINE_FILES = [
    FineCase(
        "a byte order mark, CRLF, and no last line break",
        {
            "c.jsonl": "\ufeff" + (FOX + WHALE).replace("\n", "\r\n"),
            "q.jsonl": "\ufeff" + (FOX_QUERY + WHALE_QUERY)[:-1],
        },
        facts={"corpus.paragraphs": 2, "queries.total": 2},
    ),
    FineCase(
        "blank lines",
        {
            "c.jsonl": "\n" + FOX + " \n\t\n" + WHALE,
            "q.jsonl": "\n\n" + FOX_QUERY + "\n",
        },
        facts={"corpus.paragraphs": 2, "queries.total": 1},
    ),
    FineCase(
        "an unknown key",
        {"c.jsonl": FOX.replace("{", '{"id": 7, ') + WHALE},
        facts={"queries.total": 2},
        warning=r'c.jsonl: keys not used .*: 1 \("id"\)',
    ),
    FineCase(
        "topics that differ in width and case are different",
        {"c.jsonl": FOX + WHALE + paragraphs(("ＢＬＵＥ Whale", "deep"))},
        facts={"corpus.topics": 3},
        warning='"ＢＬＵＥ Whale"',
    ),
    FineCase(
        "a megabyte without a space",
        {"c.jsonl": FOX + WHALE.replace("sea", "sea" * 350000)},
        facts={"queries.total": 2, "strategies.0.chunks": 212},
        arguments=JSONL_DATA + "--rounds 1 -s fixed:5000 -s recursive:5000",
        in_all_formats=False,
    ),
    FineCase(
        "NUL and lone surrogates",
        {
            "c.jsonl": FOX.replace("fox", "fo\\u0000x\\ud800") + WHALE,
            "q.jsonl": query("\udc00 fo\0x?", "red fo\0x\ud800"),
        },
        facts={"corpus.characters": 87, "queries.total": 1},
    ),
    FineCase(
        "JSON lists in place of lines",
        {
            "c.json": json.dumps(
                [json.loads(FOX), json.loads(WHALE)], indent=2
            ),
            "q.json": json.dumps([json.loads(FOX_QUERY)]),
        },
        facts={"corpus.paragraphs": 2, "queries.total": 1},
        arguments="--corpus c.json --queries q.json ",
        in_all_formats=False,
    ),
    FineCase(
        "JSON lists in files for lines, and lines in one for a list",
        {
            "c.jsonl": "[" + FOX + "]",
            "q.json": FOX_QUERY * 1 + query("fox at night?", "red fox"),
        },
        facts={"corpus.paragraphs": 1, "queries.total": 2},
        arguments="--corpus c.jsonl --queries q.json ",
        in_all_formats=False,
    ),
    FineCase(
        "an object over several lines",
        {"q.jsonl": json.dumps(json.loads(FOX_QUERY), indent=2)},
        facts={"queries.total": 1},
        in_all_formats=False,
    ),
    FineCase(
        "packed lines of JSON",
        {
            "c.JSONL.GZ": gzip.compress((FOX + WHALE).encode()),
            "q.jsonl.gz": gzip.compress(("\ufeff" + FOX_QUERY).encode()),
        },
        facts={"corpus.paragraphs": 2, "queries.total": 1},
        arguments="--corpus c.JSONL.GZ --queries q.jsonl.gz ",
        in_all_formats=False,
    ),
    FineCase(
        "a line separator within a text",
        {"c.jsonl": FOX.replace("fox runs", "fox\u2028runs") + WHALE},
        facts={"corpus.paragraphs": 2},
    ),
    FineCase(
        "files of other formats are not read, hidden ones not named",
        {
            "c/a.MD": "red fox",
            "c/b.rst": "x",
            "c/d/e.mdx": "x",
            "c/d/f.txt": "y",
            "c/.g.rst": "x",
            "q.jsonl": FOX_QUERY,
        },
        facts={"corpus.documents": 2, "queries.total": 1},
        arguments="--corpus c --queries q.jsonl",
        warning=r'c: files skipped.*: 2 \("b.rst", "d/e.mdx"\)',
    ),
    FineCase(
        "a hidden file is read if it is named",
        {".h.md": "# My\nred fox", "q.jsonl": query("fox?", ".h#my")},
        facts={"queries.total": 1},
        arguments="--corpus .h.md --queries q.jsonl",
    ),
    FineCase(
        "a document's whole name comes before the end of another's",
        {
            "f/x.md": "the red fox",
            "f/a/x.md": "the red fox",
            "q.jsonl": query("a", "the red fox", doc="x"),
        },
        facts={"queries.total": 1},
        arguments="--corpus f --queries q.jsonl",
    ),
    FineCase(
        "a Python file is run, but not as the program",
        {
            **FOX_AND_ALPACA,
            "corpus.py": FOX_AND_ALPACA["corpus.py"]
            + '\nif __name__ == "__main__":\n    1 / 0\n',
        },
        facts={"queries.total": 1},
        arguments=PY_DATA,
    ),
    FineCase(
        "a Python file finds what is beside it",
        {
            **FOX_AND_ALPACA,
            "corpus.py": (
                "import os\n"
                "folder = os.path.dirname(__file__)\n"
                'with open(os.path.join(folder, "beside")) as file:\n'
                '    CORPUS = [("fox", file.read())]\n'
            ),
            "beside": "the fox",
        },
        facts={"queries.total": 1},
        arguments=PY_DATA,
    ),
]

FINE_QUERIES = [
    FineCase(
        "thirty golds, more than three chunks can cover",
        {
            "c.jsonl": "".join(FOX.replace("fox", w) for w in THIRTY_WORDS),
            "q.jsonl": query("w7", *(f"red {w} runs" for w in THIRTY_WORDS)),
        },
        facts={
            "strategies.0.recall@3": 0.0,
            "strategies.0.ceiling@3": 0.0,
            "strategies.0.chance@3": None,
        },
    ),
    FineCase(
        "a query twice counts twice",
        {"q.jsonl": FOX_QUERY + WHALE_QUERY + FOX_QUERY},
        facts={"queries.total": 3},
        warning="q.jsonl: queries .*: 1 ",
    ),
    FineCase(
        "a topic twice in a query counts once",
        {"q.jsonl": query("fox?", "red fox", "red fox")},
        facts={"queries.single": 1, "queries.multi": 0},
        warning="q.jsonl: golds .*: 1 ",
    ),
    FineCase(
        "a quote twice in a query counts once, whatever its spaces",
        {"q.jsonl": query("fox?", "runs over", "runs  over")},
        facts={"queries.single": 1, "queries.multi": 0},
        warning="q.jsonl: golds .*: 1 ",
    ),
    FineCase(
        "a query without a word of the corpus finds nothing",
        {"q.jsonl": query("zzz?", "red fox")},
        facts={"strategies.0.recall@3": 0.0, "strategies.0.sent": 0.0},
    ),
    FineCase(
        "a gold that is no list",
        {"q.jsonl": '{"question": "fox?", "gold": "red fox"}'},
        facts={"queries.single": 1},
    ),
    FineCase(
        "a field of a CSV over the limit of Python's module",
        {"q.csv": "query,gold\nfox" + " fox" * 40000 + ",red fox\n"},
        facts={"queries.total": 1},
        arguments=FROM_CSV,
        in_all_formats=False,
    ),
    FineCase(
        "a CSV with a byte order mark, CRLF and blank lines",
        {"q.csv": "\ufeffquery,gold\r\n\r\nfox,red fox\r\n\r\n"},
        facts={"queries.total": 1},
        arguments=FROM_CSV,
    ),
    FineCase(
        "a wrong offset in a CSV",
        {
            "q.csv": "question,references,doc\n"
            'fox,"[{""content"": ""red fox"", ""start_index"": 9}]",'
            "c.jsonl:1\n"
        },
        facts={"strategies.0.recall@1": 1.0},
        arguments=FROM_CSV,
        warning="golds .*start_index.*: 1 ",
    ),
    FineCase(
        "white space around a reference in a CSV",
        {
            "q.csv": "question,references\n"
            'fox,"[{""content"": "" red fox "", ""start_index"": 3}]"\n'
        },
        facts={"queries.total": 1},
        arguments=FROM_CSV,
    ),
    FineCase(
        "an empty document in a CSV is none",
        {"q.csv": "query,gold,doc\nfox,fox runs over,\n"},
        facts={"queries.total": 1},
        arguments=FROM_CSV,
    ),
    FineCase(
        "a CSV of Excel's: semicolons, any case, blank rows",
        {"q.csv": "\ufeff Query ;GOLD;Doc\r\n;;\r\nfox;red fox;\r\n;;;;\r\n"},
        facts={"strategies.0.queries.0.gold": ["red fox"]},
        arguments=FROM_CSV,
        in_all_formats=False,
    ),
    FineCase(
        "a CSV parted by tabs",
        {"q.tsv": 'Question\tgold\nfox, whale\t"[""red fox""]"\n'},
        facts={"strategies.0.queries.0.query": "fox, whale"},
        arguments="--corpus c.jsonl --queries q.tsv ",
        in_all_formats=False,
    ),
    FineCase(
        "commas come first: a header may hold a semicolon",
        {"q.csv": "query,gold,a;b\nfox,red fox,\n"},
        facts={"queries.total": 1},
        arguments=FROM_CSV,
        in_all_formats=False,
    ),
    FineCase(
        "a query in a CSV that is still to be written",
        {"q.csv": "query,gold\nfox,red fox\n,blue whale\n"},
        facts={"queries.total": 1, "queries.skipped": 1},
        arguments=FROM_CSV,
        warning='without a text yet, skipped: 1 \\("blue whale"',
        in_all_formats=False,
    ),
    FineCase(
        "a question of Chroma's without a reference",
        {
            "q.csv": "question,references\nfox,[]\n"
            'fox,"[{""content"": ""red fox"", ""start_index"": 4}]"\n'
        },
        facts={"queries.total": 1, "queries.skipped": 1},
        arguments=FROM_CSV,
        warning=r"unanswerable\), skipped: 1 .*|start_index",
        in_all_formats=False,
    ),
    FineCase(
        "queries that are still to be written, or unanswerable",
        {
            "q.jsonl": query("", "red fox", "blue whale")
            + FOX_QUERY
            + query("alien?")
            + query("\n", "red fox")
        },
        facts={"queries.total": 1, "queries.skipped": 3},
        warning="without a text yet, skipped: 2 .*red fox and blue whale.*"
        'unanswerable\\), skipped: 1 \\("alien',
        in_all_formats=False,
    ),
    FineCase(
        "an id, a category and distractors",
        {
            "q.jsonl": query("a", "red fox", id=1, category="x")
            + query("b", "red fox", id="b", distractors=["blue whale"])
            + query("c", "red fox", id=2, distractors="dives deep below")
        },
        facts={"queries.total": 3, "queries.single": 3},
    ),
    FineCase(
        "the same query with another id",
        {"q.jsonl": query("a", "red fox", id=1) + query("a", "red fox", id=2)},
        facts={"queries.total": 2},
        warning="asked more than once",
        in_all_formats=False,
    ),
    FineCase(
        "the same query with another gold",
        {"q.jsonl": query("a", "red fox") + query("a", "blue whale")},
        facts={"queries.total": 2},
        in_all_formats=False,
    ),
    FineCase(
        "a quote that is short, one that stands often",
        {
            "c.jsonl": paragraphs(("a", "the red fox " * 4), ("b", "owl")),
            "q.jsonl": query("a", "the red fox", "owl")
            + query("b", "fox the red", "b"),
        },
        facts={"queries.total": 2},
        warning='more than 3 places.*: 1 \\("the red fox"\\).*'
        'golds of under 10 .*: 1 \\("owl"\\)',
        in_all_formats=False,
    ),
    FineCase(
        "a quote of ten characters that stands three times",
        {
            "c.jsonl": paragraphs(("a", "the foxes! " * 3)),
            "q.jsonl": query("a", "the foxes!"),
        },
        facts={"queries.total": 1},
        in_all_formats=False,
    ),
    FineCase(
        "a NUL in a CSV",
        {"q.csv": "query,gold\nfox,red fo\0x\n"},
        facts={"strategies.0.queries.0.gold": ["red fox"]},
        arguments=FROM_CSV,
    ),
    FineCase(
        "a JSON list on two lines of a CSV",
        {"q.csv": 'query,gold\nfox,"[""red fox"",\n""blue whale""]"\n'},
        facts={"queries.multi": 1},
        arguments=FROM_CSV,
    ),
]

ANSWER_IN_NEXT_CONTEXT = [
    {
        "context": "A red fox.",
        "qas": [
            {
                "question": "who?",
                "answers": [{"text": "owl", "answer_start": 2}],
            }
        ],
    },
    {
        "context": "An owl.",
        "qas": [
            {
                "question": "who?",
                "answers": [{"text": "owl", "answer_start": 3}],
            }
        ],
    },
]
FINE_SQUAD = [
    FineCase(
        "a blank question",
        {"s.json": squad(("", ("red fox", 4)), ("who?", ("red fox", 4)))},
        facts={"queries.total": 2},
        arguments=FROM_SQUAD,
        warning="questions without a token.*: 1 ",
    ),
    FineCase(
        "answers at a wrong start are found, one that is nowhere dropped",
        {
            "s.json": squad(
                ("who?", ("red fox", 3)),
                ("what?", ("hill", -1), ("purple", 2)),
            )
        },
        facts={"queries.total": 2, "queries.skipped": 0},
        arguments=FROM_SQUAD,
        warning=r"answers .*found near.*: 2 .*"
        r"answers .*dropped.*: 1 \(.purple",
    ),
    FineCase(
        "a question is skipped if its only answer stands nowhere",
        {"s.json": squad(("who?", ("purple", 4)), ("what?", ("fox", 8)))},
        facts={"queries.total": 1, "queries.skipped": 1},
        arguments=FROM_SQUAD,
        warning=r"answers .*dropped.*: 1 .*"
        r'questions skipped, all answers dropped: 1 \("who.?"',
    ),
    FineCase(
        "an answer is not looked for in the next context",
        {
            "s.json": json.dumps(
                {"data": [{"paragraphs": ANSWER_IN_NEXT_CONTEXT}]}
            )
        },
        facts={"queries.total": 1},
        arguments=FROM_SQUAD,
        warning="answers .*dropped.*: 1 .*questions skipped.*: 1 ",
    ),
    FineCase(
        "a question without an answer is skipped",
        {"s.json": squad(("who?",), ("what?", ("fox", 8)))},
        facts={"queries.total": 1, "queries.skipped": 1},
        arguments=FROM_SQUAD,
        warning=r'questions skipped, unanswerable: 1 \("who.?"',
    ),
    FineCase(
        "an impossible question is skipped, though it has answers",
        {
            "s.json": squad(
                ("who?", ("fox", 8)), ("what?", ("hill", 26))
            ).replace('"answers"', '"is_impossible": true, "answers"', 1)
        },
        facts={"queries.total": 1, "corpus.documents": 1},
        arguments=FROM_SQUAD,
        warning="questions skipped, unanswerable: 1 ",
    ),
    FineCase(
        "a blank title",
        {"s.json": squad(("who?", ("fox", 8))).replace('"T"', '" "')},
        facts={"queries.total": 1, "corpus.documents": 1},
        arguments=FROM_SQUAD,
    ),
    FineCase(
        "an article without a paragraph",
        {
            "s.json": squad(("who?", ("fox", 8))).replace(
                '[{"title"',
                '[{"title": "E", "paragraphs": []}, {"title"',
            )
        },
        facts={"queries.total": 1, "corpus.documents": 1},
        arguments=FROM_SQUAD,
    ),
    FineCase(
        "the gold is an answer that stands in the context",
        {"s.json": squad(("who?", ("purple", 4), ("fox", 8)))},
        facts={"strategies.0.queries.0.gold": ["fox"]},
        arguments=FROM_SQUAD,
        warning="answers .*dropped.*: 1 ",
    ),
]

FINE_MODULES = [
    FineCase(
        "a chunker that is a generator",
        {"mine.py": "def f(text):\n yield text[:20]\n yield text[20:]\n"},
        facts={"strategies.0.chunks": 4},
        arguments=OWN_CHUNKER,
    ),
    FineCase(
        "slices that are not in order",
        {"mine.py": function("return [(20, len(text)), (0, 20)]")},
        facts={"strategies.0.chunks": 4},
        arguments=OWN_CHUNKER,
    ),
    FineCase(
        "a chunker without a chunk loses the text, and a note says so",
        {"mine.py": function("return ['', ' ']")},
        facts={"strategies.0.chunks": 0, "notes.0.kind": "lost"},
        arguments=OWN_CHUNKER,
    ),
    FineCase(
        "an index twice counts once",
        {"mine.py": ranker("return [0, 0, 1, 1]")},
        facts={"strategies.0.recall@1": 0.5, "strategies.0.recall@3": 1.0},
        arguments=OWN_RETRIEVER,
    ),
    FineCase(
        "fewer chunks than asked for, from an iterator",
        {"mine.py": ranker("return iter([1])")},
        facts={"strategies.0.recall@3": 0.5, "strategies.0.sent": 1.0},
        arguments=OWN_RETRIEVER,
    ),
    FineCase(
        "a retriever is asked for no more chunks than there are",
        {"mine.py": ranker("return list(range(k if k <= self.n else 1 / 0))")},
        facts={"strategies.0.recall@3": 1.0},
        arguments=OWN_RETRIEVER,
    ),
]
OTHER_FORMATS = [  # together, everything that a run can print or write
    "--explain --chunks --detail --plot p.svg --trec t --context --rounds 1",
    "--format markdown --rounds 1",
    "--format csv --rounds 1",
]


class OddInput(unittest.TestCase):
    """It is used, with a warning where something may be amiss."""

    def assert_fine(self, cases):
        """Check each case."""
        for case in cases:
            with self.subTest(case.name):
                files = {**ANIMALS, **case.files}
                self.assert_facts(case, files)
                if case.in_all_formats:
                    self.assert_printable(case, files)

    def assert_facts(self, case, files):
        """Check the warnings and the facts of the JSON."""
        outcome = run(f"{case.arguments} --format json", files)
        self.assertEqual(outcome.status, 0, outcome.err)
        for line in outcome.err:
            self.assertTrue(line.startswith("warning: "), line)
        if case.warning:
            self.assertRegex(" ".join(outcome.err), case.warning)
        else:
            self.assertEqual(outcome.err, [])
        report = json.loads(outcome.out)
        for path, value in case.facts.items():
            self.assertEqual(fact(report, path), value, path)

    def assert_printable(self, case, files):
        """Check that each other format can be printed."""
        for options in OTHER_FORMATS:
            outcome = run(f"{case.arguments} {options}", files)
            self.assertEqual(outcome.status, 0, (options, outcome.err))

    def test_odd_files_are_fine(self):
        self.assert_fine(FINE_FILES)

    def test_odd_queries_are_fine(self):
        self.assert_fine(FINE_QUERIES)

    def test_odd_squad_files_are_fine(self):
        self.assert_fine(FINE_SQUAD)

    def test_odd_modules_are_fine(self):
        self.assert_fine(FINE_MODULES)

    @unittest.skipIf(os.name == "nt", "no such file name on Windows")
    def test_a_file_name_with_a_line_break_is_fine(self):
        files = {
            "f/a.md": "red fox",
            "f/b.md\n": "x",
            "q.jsonl": FOX_QUERY,
        }
        outcome = run("--corpus f --queries q.jsonl", files)
        self.assertEqual(outcome.status, 0, outcome.err)
        for line in outcome.err:
            self.assertTrue(line.startswith("warning: "), line)


# ======================== formats, own pieces, streams ======================

# A user's module: chunkers that make each line, or each word, a chunk; and a
# retriever that brings the text whose number ends the query. It says on
# standard error which texts it indexes.
PIECES_PY = r"""
import json
import re
import sys

def lines(text):
    return [line.span() for line in re.finditer("[^\n]+", text)]

def words(text):
    return [word.span() for word in re.finditer(r"\w+", text)]

class Nth:
    def __init__(self, texts):
        self.texts = list(texts)
        print(json.dumps(self.texts), file=sys.stderr)

    def topk(self, query, k):
        number = int(query.split()[-1])
        return [number] if number < len(self.texts) else []
"""
SQUAD_DATA = "--squad s.json "
TWO_PARAGRAPHS = [
    ("fox", "The red fox runs."),
    ("alpaca", "Its wool is warm."),
]
WHO_RUNS = [(("fox",), "Who runs?")]


@lru_cache(maxsize=None)
def bare_run():
    """The bytes that a run without arguments prints, on the data beside it."""
    return printed([]).encode("utf-8")


def indexed(arguments, files):
    """The texts that the one strategy indexes, and what the JSON says."""
    outcome = run(
        arguments + " --retriever mine.Nth --rounds 1 --format json",
        {"mine.py": PIECES_PY, **files},
    )
    if outcome.status:
        raise AssertionError(outcome.err)
    texts = [line for line in outcome.err if line.startswith("[")]
    return json.loads(texts[-1]), json.loads(outcome.out)


def only_strategy(report):
    """What the JSON says of its one strategy."""
    (strategy,) = report["strategies"]
    return strategy


def answered_first(report):
    """Of each query, whether the first chunk retrieved answers it."""
    return [each["answered@1"] for each in only_strategy(report)["queries"]]


def in_jsonl(pairs):
    """A file of these (query, gold) pairs."""
    return {"q.jsonl": "".join(query(text, gold) for text, gold in pairs)}


def as_csv(header, rows):
    """A CSV file of rows under a header."""
    out = io.StringIO()
    csv.writer(out).writerows([header, *rows])
    return out.getvalue()


def covering(golds, chunks, arguments, files, asking=in_jsonl):
    """Of each gold the chunks that cover it: {gold: [chunk, ...]}.

    These are all chunks that the arguments make of the corpus. Each gold is
    asked for once with each chunk; asking([(query, gold), ...]) is the file
    that does so.
    """
    pairs = [
        (f"chunk {number}", gold)
        for gold in golds
        for number in range(len(chunks))
    ]
    texts, report = indexed(arguments, {**files, **asking(pairs)})
    if texts != list(chunks):
        raise AssertionError(f"the chunks are {texts}")
    hits = answered_first(report)
    if len(hits) != len(pairs):
        raise AssertionError(f"{len(hits)} of {len(pairs)} queries are there")
    found = {gold: [] for gold in golds}
    for (gold, chunk), hit in zip(product(golds, chunks), hits):
        if hit:
            found[gold].append(chunk)
    return found


class DocumentCase(NamedTuple):
    """A corpus, and the texts of its documents."""

    name: str
    path: str
    files: dict
    topic: str
    documents: List[str]


FOX_PAIRS = [("a", "the fox "), ("b", "runs")]
DOCUMENT_CASES = [
    DocumentCase(
        name="a Python list is one document, joined by nothing",
        path="c.py",
        files={"c.py": f"CORPUS = {FOX_PAIRS!r}"},
        topic="a",
        documents=["the fox runs"],
    ),
    DocumentCase(
        name="a Python dict is a document a key",
        path="c.py",
        files={"c.py": f"CORPUS = {dict(d=FOX_PAIRS, e=FOX_PAIRS)!r}"},
        topic="a",
        documents=["the fox runs", "the fox runs"],
    ),
    DocumentCase(
        name="a folder is a document a text, sorted, without hidden ones",
        path="f",
        files={
            "f/b.md": "bee",
            "f/a/z.txt": "zed",
            "f/a.md": "ace",
            "f/.h.md": "hidden",
            "f/.g/x.md": "hidden",
            "f/a/.g/x.md": "hidden",
            "f/c.rst": "other",
        },
        topic="a/z",
        documents=["ace", "zed", "bee"],
    ),
    DocumentCase(
        name="a line of JSON without a doc is a document",
        path="c.jsonl",
        files={"c.jsonl": paragraphs(*FOX_PAIRS)},
        topic="a",
        documents=["the fox ", "runs"],
    ),
    DocumentCase(
        name="lines of JSON of one doc are joined by a line end",
        path="c.jsonl",
        files={
            "c.jsonl": paragraphs(
                ("a", "one", "x"), ("b", "two", "y"), ("c", "three", "x")
            )
        },
        topic="a",
        documents=["one\nthree", "two"],
    ),
    DocumentCase(
        name="a text keeps the line ends of Windows",
        path="c.txt",
        files={"c.txt": "# a\r\n\r\nb\r\n"},
        topic="c#a",
        documents=["# a\r\n\r\nb\r\n"],
    ),
]


class Documents(unittest.TestCase):
    """What the formats of a corpus make a document."""

    def test_what_is_a_document(self):
        for case in DOCUMENT_CASES:
            with self.subTest(case.name):
                texts, _ = indexed(
                    "-s fixed:99 --queries q.jsonl --corpus " + case.path,
                    {**case.files, "q.jsonl": query("chunk 0", case.topic)},
                )
                self.assertEqual(texts, case.documents)

    def test_a_large_chunk_is_a_whole_document(self):
        files, documents = self.three_animals()
        for strategy in (
            "fixed:99",
            "overlap:99/9",
            "para:99",
            "sentence:99/9",
            "recursive:99",
            "structure:99/99",
            "semantic:p100/99",
        ):
            with self.subTest(strategy):
                texts, _ = indexed(JSONL_DATA + "-s " + strategy, files)
                self.assertEqual(texts, documents)

    def test_no_chunk_crosses_two_documents(self):
        files, documents = self.three_animals()
        for strategy in (
            "fixed:7",
            "overlap:30/9",
            "sentence:20/5",
            "recursive:20/5",
            "semantic:p50/20",
            "structure:20",
            "parent:9/99",
        ):
            with self.subTest(strategy):
                texts, _ = indexed(JSONL_DATA + "-s " + strategy, files)
                self.assertGreater(len(texts), len(documents))
                for text in texts:
                    inside = [text in document for document in documents]
                    self.assertIn(True, inside, text)

    def three_animals(self):
        """Files of three documents, and the texts of these."""
        lines = FOX + WHALE + WHALE.replace("blue", "grey")
        texts = [json.loads(line)["text"] for line in lines.splitlines()]
        files = {"c.jsonl": lines, "q.jsonl": query("chunk 0", "red fox")}
        return files, texts

    def test_endings_in_capitals_count(self):
        for path, files in (
            ("f", {"f/a.MD": "the red fox"}),
            ("C.TXT", {"C.TXT": "the red fox"}),
        ):
            with self.subTest(path):
                outcome = run(
                    "--queries q.jsonl --corpus " + path,
                    {**files, "q.jsonl": query("fox?", "the red fox")},
                )
                self.assertEqual(outcome.status, 0)
                self.assertEqual(outcome.err, [])

    def test_two_files_of_one_name_are_an_error(self):
        outcome = run(
            "--queries q.jsonl --corpus d",
            {
                "d/a.md": "x",
                "d/a.txt": "red fox",
                "q.jsonl": query("fox?", "red fox"),
            },
        )
        self.assertEqual(outcome.status, 2)
        self.assertRegex(
            outcome.err[0], r'^error: d.a\.txt: .*a.md is called "a" too'
        )

    def test_an_empty_file_is_no_topic(self):
        outcome = run(
            "--queries q.jsonl --corpus e",
            {
                "e/a.md": "red fox",
                "e/empty.md": "",
                "q.jsonl": query("fox?", "empty"),
            },
        )
        self.assertEqual(outcome.status, 2)
        self.assertRegex(
            outcome.err[0], '^error: q.jsonl:1: "empty" is not a topic'
        )

    def test_a_folder_that_cannot_be_read_is_an_error(self):
        locked, scandir = os.path.join("f", "locked"), os.scandir

        def refusing(path="."):
            if path == locked:
                raise PermissionError(13, "not yours", path)
            return scandir(path)

        files = {
            "f/a.md": "red fox",
            "f/locked/b.md": "an owl",
            "q.jsonl": query("fox?", "red fox"),
        }
        with mock.patch.object(os, "scandir", refusing):
            outcome = run("--corpus f --queries q.jsonl", files)
        self.assertEqual(outcome.status, 2)
        self.assertRegex(outcome.err[0], r"^error: f.locked: not yours ")


GUIDE = """an intro
# Fox Den
the den one
~~~py
# no heading
~~~
## Deep & low
far below
## Deep & low
further below
# 鲸 {#sea}
in the water
"""


class Sections(unittest.TestCase):
    """Headings, and the topics that stand under them."""

    def test_a_section_has_what_stands_under_its_heading(self):
        lines = GUIDE.splitlines()
        sections = {
            "guide": lines,
            "guide#fox-den": lines[1:10],
            "guide#deep--low": lines[6:8],
            "guide#deep--low-1": lines[8:10],
            "guide#sea": lines[10:],
        }
        for name in ("guide.md", "guide.txt"):
            with self.subTest(name):
                arguments = f"--queries q.jsonl --corpus {name} -s mine.lines"
                found = covering(sections, lines, arguments, {name: GUIDE})
                self.assertEqual(found, sections)

    def test_a_comment_in_a_fence_is_no_heading(self):
        outcome = run(
            "--corpus guide.md --queries q.jsonl",
            {"guide.md": GUIDE, "q.jsonl": query("x", "guide#no-heading")},
        )
        self.assertEqual(outcome.status, 2)
        self.assertIn('"guide#no-heading" is not a topic', outcome.err[0])

    def test_what_is_a_heading(self):
        """Not a line indented as code, or with seven marks, or no space.

        The marks that close a heading, and the address of a link, are not in
        its anchor.
        """
        titles = {  # of each line, the title that it stands under
            "   # Three #": "Three",
            "    # four": "Three",
            "####### seven": "Three",
            "#tag": "Three",
            "## C# ##": "Three > C#",
            "## C#": "Three > C#",
            "## [A_b](http://x/y) हिन्दी": "Three > [A_b](http://x/y) हिन्दी",
            "### e {#x} ##": "Three > [A_b](http://x/y) हिन्दी > e",
        }
        lines = list(titles)
        sections = {
            "s": lines,
            "s#three": lines,
            "s#c": lines[4:5],
            "s#c-1": lines[5:6],
            "s#a_b-हिन्दी": lines[6:],
            "s#x": lines[7:],
        }
        files = {"s.md": "\n".join(lines) + "\n"}
        arguments = "--corpus s.md --queries q.jsonl -s mine.lines"
        found = covering(sections, lines, arguments, files)
        self.assertEqual(found, sections)

        files["q.jsonl"] = query("chunk 0", "s")
        texts, report = indexed(arguments + " --context", files)
        self.assertEqual(report["corpus"]["topics"], len(sections))
        self.assertEqual(
            texts,
            [f"s > {title}\n{line}" for line, title in titles.items()],
        )

    def test_text_before_the_first_heading_has_the_name_of_the_file(self):
        texts, _ = indexed(
            "--corpus s.md --queries q.jsonl --context -s mine.lines",
            {"s.md": "intro\n# A\n", "q.jsonl": query("chunk 0", "s")},
        )
        self.assertEqual(texts, ["s\nintro", "s > A\n# A"])

    def test_no_two_sections_of_a_file_have_one_name(self):
        lines = ["# A", "# A ", "# A-1", "# A-1 ", "# A" + " " * 5000 + "A"]
        names = ["a", "a-1", "a-1-1", "a-1-2", "a" + "-" * 5000 + "a"]
        sections = {f"s#{name}": [line] for name, line in zip(names, lines)}
        found = covering(
            sections,
            lines,
            "--corpus s.md --queries q.jsonl -s mine.lines",
            {"s.md": "\n".join(lines)},
        )
        self.assertEqual(found, sections)

    def test_a_section_is_found_by_a_chunk_within_it(self):
        text = " ".join(f"w{number}" for number in range(60))
        report = measured(
            "--corpus g.md --queries q.jsonl -s fixed:50 -k 1",
            {"g.md": "# A\n\n" + text, "q.jsonl": query("w9", "g#a")},
        )
        row = only_strategy(report)
        self.assertEqual(row["recall@1"], 1)
        self.assertEqual(row["evidence@1"], 0)
        self.assertEqual(row["complete@1"], 0)
        self.assertLess(row["char_recall"], 0.3)


# Headings and the anchors that cmark-gfm and github-slugger make of them.
ANCHORS = {
    '# Foo <Badge type="tip" /> bar': "foo--bar",
    "# <Badge text='a > b'/>x": "x",
    "# _Hello_ **world**": "hello-world",
    "## Limits <!-- x -->": "limits-",
    "# Tom &amp; Jerry&#39;s &#95;": "tom--jerrys-_",
    "# [a [b] c](d_e)": "a-b-c",
    '# [x](http://a_b.c "t_t") y': "x-y",
    "# [x](a b)": "xa-b",
    "# ![logo](l.png) Name": "-name",
    "# `a_b` and ``c`d`` `` `e` ``": "a_b-and-cd-e",
    "# __init__.py and snake_case_": "initpy-and-snake_case_",
    "# _a __b__ c_ _y _x_": "a-b-c-_y-x",
    "# [x](u)_y_ `x`_y_": "xy-xy",
    r"# \_kept\_ \*": "_kept_-",
    "# <https://a.io/x_y>": "httpsaiox_y",
    "# Array<string> a < b": "array-a--b",
    "# x² ½ Ⅷ ‿": "x--ⅷ-‿",
    "# ✨ New": "-new",
    "# 中文，标点 _强_": "中文标点-强",
}
# Texts and the anchors of their headings, by the same two.
HEADINGS = {
    "Title\n===\n\nSub\n---\n\ntext\n": ["title", "sub"],
    "two\nlines\n---\n": ["twolines"],
    "two\r\nlines\r\n---\r\n": ["twolines"],
    "text\n1986. A year\n---\n": ["text1986-a-year"],
    "- item\n---\n": [],
    "- item\nmore\n---\n": [],
    "> quote\n---\n": [],
    "| a |\n|---|\n---\n": [],
    "***\n---\n": [],
    "text\n\n---\n": [],
    "a\n    ===\n": [],
    "- a\n\n  b\n  ---\n": ["b"],
    "1. # In a list\n": ["in-a-list"],
    "1. a\n\n    # In a list\n": ["in-a-list"],
    "    # code\n\n# A\n": ["a"],
    "- a\n\nb\n\n    # code\n": [],
    "# A\n```\n    ```\n# B\n```\n# C\n": ["a", "c"],
    "# A\n   ~~~~\n# B\n~~~\n# C\n  ~~~~  \n# D\n": ["a", "d"],
    "- a\n\n      ```\n\n# B\n": ["b"],
    "- ```\n  # A\n     ```\n# B\n": ["b"],
    "<!--\n# A\n\n# B\n-->\n# C\n": ["c"],
    "text <!-- a\n# B\nc -->\n": ["b"],
    "# A\n\n    <!--\n\n# B\n": ["a", "b"],
    "`<!--`\n\n# A\n": ["a"],
    "a\n<!-- c -->\n---\n": [],
    "<div>\n# A\n\n# B\n</div>\n": ["b"],
    "<Foo />\n# A\n\n# B\n": ["b"],
    "text\n<Foo />\n# A\n": ["a"],
    "<pre>\n\n# A\n</pre>\n# B\n": ["b"],
    "---\ntitle: x\n# no\n---\n# A\n": ["a"],
    "---\n\n# A\n\n---\n": ["a"],
}


class Headings(unittest.TestCase):
    """What GitHub takes for a heading, and the anchor that it gives it."""

    def topics_of(self, text, name="s.md"):
        """The topics of a file."""
        lines = printed(["--topics", "--corpus", name], {name: text})
        return [line.split("  ")[0] for line in lines.splitlines()]

    def anchors_of(self, text):
        """What stands for the sections of a file behind its name."""
        text += "\n\nA last paragraph.\n"
        return [topic[len("s#") :] for topic in self.topics_of(text)[1:]]

    def test_an_anchor_is_that_of_github(self):
        for heading, anchor in ANCHORS.items():
            with self.subTest(heading):
                self.assertEqual(self.anchors_of(heading), [anchor])

    def test_a_heading_is_one_of_github(self):
        for text, anchors in HEADINGS.items():
            with self.subTest(text):
                self.assertEqual(self.anchors_of(text), anchors)

    def test_a_heading_of_a_megabyte_does_not_take_long(self):
        """Its marks are not paired; nor is a comment sought in vain."""
        for text in (
            "# x" + " <!--" * 40000,
            "# x" + " " * 200000 + "x",
            "x" + " <!--" * 40000,
        ):
            with self.subTest(text[:5]):
                self.assertIn("s", self.topics_of(text))

    def test_a_comment_over_or_under_a_heading_may_name_its_section(self):
        """Between two headings it names the upper; an id may say nothing."""
        text = (
            "<!-- a.over -->\n# A\n<!-- a.under -->\n# B\n\n"
            "<!-- far -->\n\n# C\n<!-- two words -->\n\n<!-- d.over -->\n"
            "D\n===\n<!-- d -->\n"
        )
        topics = ["s", "s#a", "s#a.over", "s#a.under", "s#b", "s#c"]
        self.assertEqual(self.topics_of(text), [*topics, "s#d", "s#d.over"])
        outcome = run("--topics --corpus s.md", {"s.md": text})
        self.assertEqual(outcome.err, [])  # no name is of two sections

    def test_an_underline_tells_the_level(self):
        lines = ["A", "===", "B", "---", "C", "==="]
        sections = {"s": lines, "s#a": lines[:4], "s#b": lines[2:4]}
        sections["s#c"] = lines[4:]
        arguments = "--corpus s.md --queries q.jsonl -s mine.lines"
        files = {"s.md": "\n".join(lines)}
        found = covering(sections, lines, arguments, files)
        self.assertEqual(found, sections)

    def test_topics_say_what_they_stand_for(self):
        out = printed("--topics --corpus s.md", {"s.md": "# A `b` {#c}\n"})
        self.assertEqual(out, "s  the whole file\ns#c  A `b`\n")
        corpus = [("fox", "one"), ("owl", "two"), ("fox", "three")]
        out = printed("--topics " + PY_DATA, python_data(corpus, []))
        self.assertEqual(out, "fox  2 paragraphs\nowl  1 paragraph\n")

    @needs_public_data
    def test_the_guide_of_vue_has_143_headings_in_13_files(self):
        """So say remark and github-slugger."""
        lines = printed(["--topics", "--corpus", public("vue-zh")])
        self.assertEqual(len(lines.splitlines()), 143 + 13)
        self.assertIn("watchers#side-effect-cleanup  副作用清理", lines)


class HiddenText(unittest.TestCase):
    """Comments and front matter are not read; nor do they shift offsets."""

    def text_of(self, text, name="s.md"):
        """The one document of a file."""
        with workplace({name: text}):
            (document,) = cre.read_corpus(name).documents
        return document.text

    def test_what_github_does_not_show_is_taken_out(self):
        for text, shown in {
            "a\n<!-- c -->\nb": "a\nb",
            "a <!-- c --> b <!--d-->": "a  b ",
            "a\n  <!-- c\n\n# d --> \nb": "a\nb",
            "a\n<!-- c --> <!-- d -->\nb": "a\nb",
            "a\n<!-- c --> d\nb": "a\n d\nb",
            "a\r\n<!-- c -->\r\nb": "a\r\nb",
            "a\n<!-->\nb": "a\nb",
            "<!-- c -->a": "a",
            "a `<!-- c -->` b": "a `<!-- c -->` b",
            "a ` <!-- c -->\n\n` b": "a ` \n\n` b",
            "a \\<!-- c -->": "a \\<!-- c -->",
            "a\n\n    <!-- c -->": "a\n\n    <!-- c -->",
            "a\n    <!-- c -->\nb": "a\nb",
            "```\n<!-- c -->\n```\na": "```\n<!-- c -->\n```\na",
            "a <!-- c": "a <!-- c",
            "---\ntitle: x\n---\na": "a",
            "---\r\ntitle: x\r\n...\r\na": "a",
            "---\n\na\n\n---\n": "---\n\na\n\n---\n",
            "a\n---\nb: c\n---\n": "a\n---\nb: c\n---\n",
        }.items():
            with self.subTest(text):
                self.assertEqual(self.text_of(text), shown)
                self.assertEqual(self.text_of(text, "s.MD"), shown)
                self.assertEqual(self.text_of(text, "s.txt"), text)

    def test_what_is_taken_out_is_no_fault(self):
        text = "a <!-- b -->\n\n<!-- c -->\n"
        for start in ("", "---\nd: e\n---\n"):
            outcome = run("--check --corpus s.md", {"s.md": start + text})
            self.assertEqual((outcome.status, outcome.err), (0, []))
        outcome = run("--check --corpus s.md", {"s.md": "---\nd: e\n---\na"})
        self.assertEqual((outcome.status, outcome.err), (0, []))

    def test_a_comment_without_end_is_warned_of(self):
        outcome = run(
            "--check --corpus s.md", {"s.md": "a\n\n<!-- b\n\n# c\n"}
        )
        self.assertIn(", 1 paragraph, 1 topic, 3 characters", outcome.out)
        self.assertEqual(len(outcome.err), 1)
        self.assertIn("without its -->", outcome.err[0])

    def test_paragraphs_and_sections_end_where_they_did(self):
        text = (
            "---\na: b\n---\n# A\n<!-- c -->\none\n\n<!-- d -->\n"
            "two <!-- e -->\n\n## B <!-- f --> b\n\nthree\n"
        )
        lines = ["# A", "one", "two ", "## B  b", "three"]
        sections = {"s": lines, "s#a": lines, "s#b--b": lines[3:]}
        arguments = "--corpus s.md --queries q.jsonl -s mine.lines"
        found = covering(sections, lines, arguments, {"s.md": text})
        self.assertEqual(found, sections)
        files = {"s.md": text, "q.jsonl": query("chunk 0", "s")}
        arguments = "--corpus s.md --queries q.jsonl --context -s para:1"
        texts, _ = indexed(arguments, files)
        self.assertEqual(
            texts,
            [
                "s > A\n# A\none",
                "s > A\ntwo",
                "s > A > B  b\n## B  b\n\nthree",
            ],
        )

    def test_a_quote_loses_its_comments_too(self):
        text = "an owl\n<!-- c -->\nlooks down at `<!-- d -->` all day"
        for gold in (
            "an owl <!-- c --> looks down at",
            "an owl looks down at",
            "looks down at `<!-- d -->`",
        ):
            with self.subTest(gold):
                files = {"s.md": text, "q.jsonl": query("owl?", gold)}
                arguments = "--corpus s.md --queries q.jsonl"
                outcome = run(arguments, files)
                self.assertEqual((outcome.status, outcome.err), (0, []))

    def test_an_offset_counts_from_the_start_of_the_file(self):
        """In the file and in its text, another fox is the nearest."""
        text = "---\na: b\n---\nfox\n<!-- a long comment -->\nfox\nfox\n"
        start = text.index("fox", text.index("-->"))
        place = {"content": "fox", "start_index": start, "end_index": 0}
        rows = [(f"chunk {n}", json.dumps([place])) for n in range(3)]
        files = {
            "s.md": text,
            "q.csv": as_csv(["question", "references"], rows),
            "mine.py": PIECES_PY,
        }
        arguments = "--corpus s.md --queries q.csv -s mine.lines"
        _, report = indexed(arguments, files)
        self.assertEqual(answered_first(report), [False, True, False])
        arguments += " --retriever mine.Nth --rounds 1"
        self.assertFalse(
            any("start_index" in e for e in run(arguments, files).err)
        )

    def test_names_of_several_sections_are_warned_of(self):
        text = "# A\n<!-- same -->\n\n# B\n<!-- same -->\n"
        outcome = run("--topics --corpus s.md", {"s.md": text})
        self.assertEqual(len(outcome.err), 1)
        self.assertIn('any counts: 1 ("s#same")', outcome.err[0])


class Blocks(unittest.TestCase):
    def test_a_line_of_wide_spaces_is_blank(self):
        self.assertEqual(
            texts_of("para:1", "一。\n\u3000\n二。"), ["一。", "二。"]
        )


class Tables(unittest.TestCase):
    """A table needs no | at its ends; structure keeps it whole."""

    def test_a_table_is_kept_whole(self):
        rows = "aa | bb\n--- | :-:\n11 | 22\n33 | 44"
        for text, chunks in {
            rows: [rows],
            rows.replace("---", "|---"): [rows.replace("---", "|---")],
            "one.\n" + rows: ["one.", rows],
            rows + "\n\nNote.": [rows, "Note."],  # not both fit in 12
            "aa | bb\n---\n11 | 22": ["aa | bb\n---", "11 | 22"],
            "aa | bb\n--- | -- | -\n": ["aa | bb", "--- | -- | -"],
        }.items():
            with self.subTest(text):
                self.assertEqual(texts_of("structure:12", text), chunks)


class Context(unittest.TestCase):
    """The titles and headings that --context puts before a chunk."""

    ARGUMENTS = "--corpus guide.md --queries q.jsonl --context -s "
    TEXT = "intro\n\n# A\n\nalpha\n\n## A b\n\nbeta\n\n# C {#see}\n\ngamma"
    FILES: ClassVar = {"guide.md": TEXT, "q.jsonl": query("chunk 0", "alpha")}

    def test_a_chunk_has_the_headings_above_it(self):
        texts, _ = indexed(self.ARGUMENTS + "structure:99", self.FILES)
        self.assertEqual(
            [text.split("\n")[0] for text in texts],
            ["guide", "guide > A", "guide > A > A b", "guide > C"],
        )

    def test_a_chunk_of_many_sections_has_the_heading_of_its_start(self):
        texts, _ = indexed(self.ARGUMENTS + "fixed:999", self.FILES)
        self.assertEqual(texts, ["guide\n" + self.TEXT])


class Quotes(unittest.TestCase):
    """Golds that are quoted from a corpus of three texts in two documents."""

    ONE, OWL, TWO = (
        "a small  fox eats",
        "the owl looks",
        "my small fox sleeps in",
    )
    TEXTS: ClassVar = [ONE, OWL, TWO]
    FILES: ClassVar = {
        "c.jsonl": paragraphs(
            ("a", ONE, "one"), ("b", OWL, "one"), ("c", TWO, "two")
        )
    }
    LINES = "-s mine.lines "

    def test_a_quote_stands_wherever_the_text_has_it(self):
        """White space does not count; what is a topic is no quote."""
        covers = {
            "small\n fox": [self.ONE, self.TWO],
            "a": [self.ONE],
            "fox sleeps": [self.TWO],
            "owl": [self.OWL],
            "owllooks": [self.OWL],
        }
        arguments = JSONL_DATA + self.LINES
        found = covering(covers, self.TEXTS, arguments, self.FILES)
        self.assertEqual(found, covers)

    def test_a_query_may_name_the_document_of_its_quotes(self):
        def asking(pairs):
            rows = [query(*pair, doc="two") for pair in pairs]
            return {"q.jsonl": "".join(rows)}

        arguments = JSONL_DATA + self.LINES
        found = covering(
            ["small fox"], self.TEXTS, arguments, self.FILES, asking
        )
        self.assertEqual(found, {"small fox": [self.TWO]})

    def test_a_dict_of_queries_names_the_document_of_their_quotes(self):
        def asking(pairs):
            queries = {"two": [((gold,), text) for text, gold in pairs]}
            return {"q.py": f"QUERIES = {queries!r}"}

        arguments = "--corpus c.jsonl --queries q.py " + self.LINES
        found = covering(
            ["small fox"], self.TEXTS, arguments, self.FILES, asking
        )
        self.assertEqual(found, {"small fox": [self.TWO]})

    def test_places_of_a_quote_may_overlap(self):
        """In "a a a", "aa" stands twice; near 1 is only the first."""
        arguments = "-s overlap:3/1 --corpus c.txt --queries "
        text, asked = {"c.txt": "a a a"}, ["chunk 0", "chunk 1"]

        queries = "".join(query(each, "aa") for each in asked)
        texts, report = indexed(
            arguments + "q.jsonl", {**text, "q.jsonl": queries}
        )
        self.assertEqual(texts, ["a a", "a a"])
        self.assertEqual(answered_first(report), [True, True])

        near = json.dumps([{"content": "aa", "start_index": 1}])
        rows = as_csv(
            ["question", "references"], [(each, near) for each in asked]
        )
        _, report = indexed(arguments + "q.csv", {**text, "q.csv": rows})
        self.assertEqual(answered_first(report), [True, False])


class Questions(unittest.TestCase):
    """What is kept of a query beside its text and golds."""

    def test_its_id_category_and_distractors_are_kept(self):
        more = {"category": "ops", "distractors": ["blue whale", "dives deep"]}
        queries = query("fox?", "red fox", id=7, **more) + WHALE_QUERY
        with workplace({**ANIMALS, "q.jsonl": queries}):
            data = cre.read_queries("q.jsonl", cre.read_corpus("c.jsonl"))
        first, second = data.queries
        self.assertEqual((first.text, first.id), ("fox?", "7"))
        self.assertEqual(first.category, "ops")
        self.assertEqual([gold.name for gold in first.golds], ["red fox"])
        self.assertEqual(
            [(gold.name, gold.rule) for gold in first.distractors],
            [("blue whale", "wording"), ("dives deep", "quote")],
        )
        self.assertEqual(second[2:], ("", "", ()))

    def test_the_id_of_a_query_of_beir_is_kept(self):
        with workplace(BEIR):
            data = cre.read_beir("b")
        self.assertEqual([each.id for each in data.queries], ["q1", "q2"])


class UnseenCase(NamedTuple):
    """A quote that is typed otherwise than the text that it stands in."""

    quote: str
    text: str
    ignored: str


UNSEEN_CASES = [
    UnseenCase("don't look now", "don’t look now", "’ (U+2019)"),
    UnseenCase("don’t look now", "don't look now", "’ (U+2019)"),
    UnseenCase(
        'a "fox" it was',
        "a “fox” it was",
        "“ (U+201C), ” (U+201D)",
    ),
    UnseenCase("a fox - no  owl", "a fox — no owl", "ignoring — (U+2014):"),
    UnseenCase("5 - 3 is a lot", "5 − 3 is a lot", "− (U+2212)"),
    UnseenCase(
        "全角，标点：这样写", "全角,标点:这样写", "， (U+FF0C), ： (U+FF1A)"
    ),
    UnseenCase(
        "ＡＢＣ ﾃｽﾄ text", "ABC テスト text", "Ａ (U+FF21), Ｂ (U+FF22)"
    ),
    UnseenCase("no\u200bbreak here", "nobreak here", "ignoring U+200B:"),
    UnseenCase("soft hyphen", "so\u00adft hyphen", "ignoring U+00AD:"),
    UnseenCase(
        "bold and code", "**bold** and `code`", "* (U+002A), ` (U+0060)"
    ),
    UnseenCase(
        "see the guide now", "see [the `guide`](a/b#c) now", "[ (U+005B)"
    ),
    UnseenCase("see [guide](a) now", "see [guide](b) now", "a link's target"),
    UnseenCase("an image", "an ![image](x.png)", "[ (U+005B)"),
    UnseenCase("snake case_x", "_snake_ case_x", "_ (U+005F)"),
]


class Unseen(unittest.TestCase):
    """A quote is found though it differs in what cannot be seen."""

    ARGUMENTS = "--corpus c.md --queries q.jsonl"

    def outcome(self, quote, text):
        """That of a run on one quote from a text."""
        files = {
            "c.md": f"An owl.\n\n{text}.\n",
            "q.jsonl": query("?a", quote),
        }
        return run(self.ARGUMENTS, files)

    def test_it_is_found_and_said_what_was_ignored(self):
        for quote, text, ignored in UNSEEN_CASES:
            with self.subTest(quote):
                outcome = self.outcome(quote, text)
                self.assertEqual(outcome.status, 0, outcome.err)
                said = outcome.err[0]
                start = "warning: q.jsonl: golds found ignoring "
                self.assertTrue(said.startswith(start), said)
                self.assertIn(ignored, said)

    def test_what_can_be_seen_is_not_ignored(self):
        for quote, text in (
            ("a Fox it was", "a fox it was"),
            ("a fox, it was", "a fox it was"),
            ("a fox (it) was", "a fox it was"),
            ("a café it was", "a cafe it was"),
            ("**", "a fox"),
        ):
            with self.subTest(quote):
                outcome = self.outcome(quote, text)
                self.assertEqual(outcome.status, 2)

    def test_a_quote_as_it_stands_comes_first(self):
        """It stands once as it is, and is not looked for otherwise."""
        text = "the “red” fox looks\nthe red fox looks"
        lines = text.split("\n")
        arguments = self.ARGUMENTS + " -s mine.lines"
        gold = "red fox looks"
        found = covering([gold], lines, arguments, {"c.md": text})
        self.assertEqual(found, {gold: lines[1:]})

    def test_its_place_is_that_in_the_text(self):
        text = "an owl\nsee **the** [red](a/b) fox’s den\nthe end"
        lines = text.split("\n")
        arguments = self.ARGUMENTS + " -s mine.lines"
        gold = "see the red fox's den"
        found = covering([gold], lines, arguments, {"c.md": text})
        self.assertEqual(found, {gold: lines[1:2]})

    def test_with_an_offset_it_is_the_nearest(self):
        text = "fox’s den\nfox’s den\nfox’s den"
        place = {"content": "fox's den", "start_index": 11}
        rows = [(f"chunk {n}", json.dumps([place])) for n in range(3)]
        files = {
            "c.md": text,
            "q.csv": as_csv(["question", "references"], rows),
        }
        arguments = "--corpus c.md --queries q.csv -s mine.lines"
        _, report = indexed(arguments, files)
        self.assertEqual(answered_first(report), [False, True, False])

    def test_a_quoted_heading_is_warned_of(self):
        files = {
            "c.md": "# The red fox {#fox}\n\nIt runs.\n",
            "q.jsonl": query("a", "The red fox") + query("b", "# The red fox"),
        }
        outcome = run(self.ARGUMENTS, files)
        self.assertEqual(len(outcome.err), 1)
        self.assertIn("quote a heading", outcome.err[0])
        self.assertIn(': 2 ("c#fox", "c#fox")', outcome.err[0])


class Beir(unittest.TestCase):
    """Folders in the format of BEIR."""

    ARGUMENTS = BEIR_DATA + "-s fixed:999"

    def test_a_title_and_a_newline_precede_a_text(self):
        texts, _ = indexed(self.ARGUMENTS, BEIR)
        self.assertEqual(
            texts, ["Foxes\nthe red fox", "an owl", "a grey whale"]
        )

    def test_any_document_of_a_relevance_over_0_will_do(self):
        """q1 asks for d1; q2 for d2 or 3, and gets 3."""
        _, report = indexed(self.ARGUMENTS, BEIR)
        self.assertEqual(answered_first(report), [True, True])
        asked = only_strategy(report)["queries"]
        self.assertEqual(
            [each["gold"] for each in asked], [["d1"], ["d2 or 1 other"]]
        )
        self.assertEqual([each["top"][0][0] for each in asked], ["d1", "3"])
        others = dict(BEIR)
        others["b/queries.jsonl"] = jsonl({"_id": "q2", "text": "chunk 0"})
        _, report = indexed(self.ARGUMENTS, others)
        self.assertEqual(answered_first(report), [False])

    def test_what_is_skipped_is_counted(self):
        qrels = BEIR["b/qrels/test.tsv"] + "q1\td9\t1\nq1\td4\t1\nq9\td1\t1\n"
        outcome = run(self.ARGUMENTS, {**BEIR, "b/qrels/test.tsv": qrels})
        self.assertIn(
            "1 more question cannot be used.",
            " ".join(outcome.out.split()),
        )
        said = " ".join(outcome.err)
        self.assertIn('skipped: 1 ("nobody knows")', said)
        self.assertIn('empty in corpus.jsonl: 2 ("d9", "d4")', said)
        self.assertIn('queries.jsonl lacks: 1 ("q9")', said)

    def test_queries_without_a_token_are_warned_of(self):
        """And no others."""
        queries = jsonl({"_id": "q1", "text": "?!"})
        queries += jsonl({"_id": "q2", "text": "owl"})
        files = {**BEIR, "b/queries.jsonl": queries}
        said = " ".join(run(self.ARGUMENTS, files).err)
        self.assertIn('which can find nothing: 1 ("?!")', said)

    def test_test_tsv_comes_before_others(self):
        files = {**BEIR, "b/qrels/dev.tsv": "nonsense", "b/qrels/x.txt": ""}
        self.assertEqual(run(self.ARGUMENTS, files).status, 0)

    def test_qrels_without_a_header(self):
        qrels = (
            BEIR["b/qrels/test.tsv"].split("\n", 1)[1].replace("\n", "\r\n")
        )
        files = {**BEIR, "b/qrels/test.tsv": "\n" + qrels}
        _, report = indexed(self.ARGUMENTS, files)
        self.assertEqual(answered_first(report), [True, True])

    def test_the_command_of_check_names_the_folder(self):
        out = printed(BEIR_DATA + "--check", BEIR)
        self.assertIn(".py --beir b -s fixed:", out)


class Draft(unittest.TestCase):
    """The passages that --draft prints, to write queries for."""

    # Ten sentences of 50 characters; those of "b" and "c" stand twice.
    NAMES = "abcdefghij"
    SENTENCES: ClassVar = {
        name: f"Sentence {name} " + f"{name}o" * 18 + " x." for name in NAMES
    }

    def drafted(self, count, files, corpus="d"):
        """What is printed, as objects."""
        out = printed(f"--draft {count} --corpus {corpus}", files)
        return [json.loads(line) for line in out.splitlines()]

    def text(self, names):
        """A text of these sentences."""
        return " ".join(self.SENTENCES[name] for name in names) + "\n"

    def names(self, lines):
        """The letters of the sentences that were drafted."""
        return "".join(line["gold"][0][9] for line in lines)

    def test_the_nearest_sentences_are_drafted(self):
        """By hand: of 10 in a row, the middles of 5 parts are b d f h j."""
        self.assertEqual({len(each) for each in self.SENTENCES.values()}, {50})
        files = {"d/x.md": self.text(self.NAMES)}
        for count, names in (
            (1, "f"),  # at 255 of 510
            (2, "ch"),  # at 127.5 and 382.5
            (5, "bdfhj"),  # at 51, 153, 255, 357, 459
            (10, self.NAMES),
        ):
            with self.subTest(count):
                lines = self.drafted(count, files)
                self.assertEqual(self.names(lines), names)

    def test_they_are_spread_over_the_documents_by_length(self):
        files = {
            "d/x.md": self.text("ab"),
            "d/y.md": self.text("cdefghij"),
        }
        lines = self.drafted(5, files)
        self.assertEqual([line["doc"] for line in lines], ["x", *"yyyy"])
        self.assertEqual({line["query"] for line in lines}, {""})

    def test_what_stands_twice_gives_way_to_the_next(self):
        """Even where it stands within another sentence.

        Of 570 characters, the middles are 142.5, in c, and 427.5, in i; d is
        10.5 behind the first, b 41.5 before it.
        """
        files = {
            "d/x.md": self.text("abcde"),
            "d/y.txt": self.text("fghij"),
            "d/z.md": "He said: " + self.text("c"),
        }
        self.assertEqual(self.names(self.drafted(2, files)), "di")
        twice = {"d/x.md": self.text("abcab")}
        self.assertEqual(self.names(self.drafted(1, twice)), "c")
        outcome = run("--draft 2 --corpus d", twice)
        self.assertIn("has only 1 sentence of 40 to 200", outcome.err[0])

    def test_of_two_as_near_the_earlier_is_drafted(self):
        """The middle of 101 characters is the space between two of 50."""
        files = {"d/x.md": self.text("ab")[:-1]}
        self.assertEqual(self.names(self.drafted(1, files)), "a")

    def test_only_whole_sentences_of_prose_are_drafted(self):
        long = self.SENTENCES["a"]
        wrapped = long.replace(" x.", "\nx.")
        for text, golds in {
            "# " + long: [],
            "| " + long + " | b |": [],
            "```\n" + long + "\n```": [],
            "    " + long: [],
            "> " + long: [],
            "<p>" + long + "</p>": [],
            long[:-1]: [],
            "x" * 201 + ".": [],
            "x" * 199 + ".": ["x" * 199 + "."],
            "x" * 38 + ".": [],
            "x" * 39 + ".": ["x" * 39 + "."],
            "- " + long + "\n- b": [long],
            "Short.  " + wrapped + " Not": [wrapped],
        }.items():
            with self.subTest(text):
                files = {"d/x.md": text + "\n", "d/y.md": self.SENTENCES["b"]}
                lines = self.drafted(len(golds) + 1, files)
                self.assertEqual(
                    [line["gold"][0] for line in lines[:-1]], golds
                )
                outcome = run(f"--draft {len(golds) + 2} --corpus d", files)
                self.assertEqual(outcome.status, 2)

    def test_a_draft_with_its_queries_written_can_be_asked(self):
        files = {"d/x.md": self.text(self.NAMES) + "“全角。”\n"}
        lines = self.drafted(3, files)
        arguments = "--corpus d --queries q.jsonl"
        outcome = run(arguments, {**files, "q.jsonl": jsonl(*lines)})
        self.assertEqual(outcome.status, 2)
        self.assertIn("3 without a text yet", outcome.err[0])
        lines[0]["query"] = "Which one?"
        outcome = run(arguments, {**files, "q.jsonl": jsonl(*lines)})
        self.assertEqual(outcome.status, 0)
        self.assertIn("text yet, skipped: 2", outcome.err[0])

    def test_the_data_of_the_project_can_be_drafted_from(self):
        first = printed("--draft 3")
        self.assertEqual(len(first.splitlines()), 3)
        self.assertEqual(printed("--draft 3"), first)


class CsvQueries(unittest.TestCase):
    ARGUMENTS = "--corpus c.txt --queries q.csv -s mine.lines"
    LINES: ClassVar = ["fox one", "fox two", "owl"]
    FILES: ClassVar = {"c.txt": "fox one\nfox two\nowl\n"}

    def test_a_gold_is_a_quote_or_a_json_list(self):
        def asking(pairs):
            return {"q.csv": as_csv(["query", "gold"], pairs)}

        covers = {
            "fox": ["fox one", "fox two"],
            '["fox two"]': ["fox two"],
            "owl": ["owl"],
        }
        found = covering(
            covers, self.LINES, self.ARGUMENTS, self.FILES, asking
        )
        self.assertEqual(found, covers)

    def test_a_reference_of_chroma_is_the_quote_nearest_to_its_start(self):
        def references(start):
            place = {"start_index": start, "end_index": start + 3}
            return json.dumps([{"content": "fox", **place}])

        def asking(pairs):
            header = ["question", "references", "corpus_id"]
            rows = [(text, references(start), "c") for text, start in pairs]
            return {"q.csv": as_csv(header, rows)}

        covers = {
            0: ["fox one"],
            8: ["fox two"],
            7: ["fox two"],
            2: ["fox one"],
        }
        found = covering(
            covers, self.LINES, self.ARGUMENTS, self.FILES, asking
        )
        self.assertEqual(found, covers)


class Squad(unittest.TestCase):
    """Files in the format of SQuAD."""

    def test_an_answer_stands_nearest_to_its_start(self):
        """What stands nowhere is left out; a start of -1 is no place."""
        lines = ["fox one 7", "an owl", "fox two 7"]
        one, owl, two = lines

        def asking(pairs):
            asked = [(text, *answers) for text, answers in pairs]
            return {"s.json": squad(*asked, context="\n".join(lines))}

        covers = {
            (("fox", 0),): [one],
            (("fox", 17),): [two],
            (("fox", 15),): [two],
            (("fox", 3),): [one],
            (("fox", 999),): [two],
            (("fox", 0), ("owl", 13)): [one, owl],
            (("elk", 3), ("owl", 0)): [owl],
            (("7", -1),): [one],
        }
        arguments = SQUAD_DATA + "-s mine.lines"
        found = covering(covers, lines, arguments, {}, asking)
        self.assertEqual(found, covers)

    def articles(self, *asked):
        """Files of three articles with four contexts.

        `asked` are of each context the questions, each a list of answers.
        """
        contexts = ["A fox.", "My red fox.", "An elk.", "An owl."]
        parts = []
        for context, questions in zip(contexts, asked):
            content = json.loads(squad(*questions, context=context))
            parts += content["data"][0]["paragraphs"]
        articles = [
            {"title": "T", "paragraphs": parts[:2]},
            {"title": "T", "paragraphs": parts[2:3]},
            {"title": None, "paragraphs": parts[3:]},
        ]
        return {"s.json": json.dumps({"data": articles})}

    def test_an_article_is_a_document_whatever_its_title(self):
        asked = [(f"chunk {number}", ("fox", 2)) for number in range(3)]
        files = self.articles(asked, [], [], [])
        arguments = SQUAD_DATA + "--context -s fixed:999"
        texts, report = indexed(arguments, files)
        self.assertEqual(report["corpus"]["documents"], 3)
        self.assertEqual(
            texts,
            ["T\nA fox.\nMy red fox.", "T\nAn elk.", "article 3\nAn owl."],
        )
        queries = only_strategy(report)["queries"]
        documents = [top[0] for each in queries for top in each["top"]]
        self.assertEqual(documents, ["T", "T", "article 3"])

    def test_an_answer_stands_in_its_own_context(self):
        answers = [  # of each context
            [("fox", 2)],
            [("red fox", 3), ("fox", 7)],
            [("elk", 3)],
            [("owl", 3)],
        ]
        words = ["A", "fox", "My", "red", "fox", "An", "elk", "An", "owl"]
        asked = [
            [(f"chunk {number}", *each) for number in range(len(words))]
            for each in answers
        ]
        texts, report = indexed(
            SQUAD_DATA + "-s mine.words", self.articles(*asked)
        )
        self.assertEqual(texts, words)
        found = [
            number for number, hit in enumerate(answered_first(report)) if hit
        ]
        places = [divmod(number, len(words)) for number in found]
        # The context, and the number of the word.
        self.assertEqual(places, [(0, 1), (1, 4), (2, 6), (3, 8)])

    def test_the_first_answer_names_the_gold(self):
        """What is sent holds 3 of the 7 characters of "red fox"."""
        answers = [("red fox", 3), ("fox", 7)]
        files = self.articles([], [("chunk 3", *answers)], [], [])
        files["mine.py"] = PIECES_PY
        arguments = SQUAD_DATA + "-s mine.words --retriever mine.Nth "
        report = measured(arguments, files)
        (asked,) = only_strategy(report)["queries"]
        self.assertEqual(asked["gold"], ["red fox"])
        self.assertIn(
            'missing "red fox": the chunks sent hold 43 % of it',
            printed(arguments + "--explain", files),
        )

    def test_it_is_said_how_many_questions_are_skipped(self):
        files = {"s.json": squad(("who?",), ("what?", ("fox", 8)))}
        self.assertIn(
            "1 more question cannot be used.",
            " ".join(printed(SQUAD_DATA, files).split()),
        )


class PlacingCase(NamedTuple):
    """Chunks of a user's function, and where in the text they stand."""

    name: str
    text: str
    chunks: list
    places: list


PLACING_CASES = [
    PlacingCase(
        name="the white space between chunks does not matter",
        text="one two  three",
        chunks=["one", "two", "three"],
        places=[(0, 3), (4, 7), (9, 14)],
    ),
    PlacingCase(
        name="a chunk is placed after the one before",
        text="ab cd ab",
        chunks=["ab", "cd ab"],
        places=[(0, 2), (3, 8)],
    ),
    PlacingCase(
        name="chunks alike are placed one after the other",
        text="ab ab ab",
        chunks=["ab", "ab", "ab"],
        places=[(0, 2), (3, 5), (6, 8)],
    ),
    PlacingCase(
        name="a chunk that could overlap the one before follows it",
        text="a a a a",
        chunks=["a a", "a a"],
        places=[(0, 3), (4, 7)],
    ),
    PlacingCase(
        name="chunks may overlap",
        text="one two three four",
        chunks=["one two three", "two three four"],
        places=[(0, 13), (4, 18)],
    ),
    PlacingCase(
        name="chunks may overlap by more than one of them is long",
        text="a b c a b c d",
        chunks=["a b c", "b c", "c a b c", "b c d"],
        places=[(0, 5), (2, 5), (4, 11), (8, 13)],
    ),
    PlacingCase(
        name="a chunk leaves room for those that follow",
        text="a b a b c",
        chunks=["a b", "b a", "a b c"],
        places=[(0, 3), (2, 5), (4, 9)],
    ),
    PlacingCase(
        name="though it could follow the one before",
        text="a b a b a b c",
        chunks=["a b a b", "a b", "b a b c"],
        places=[(0, 7), (4, 7), (6, 13)],
    ),
    PlacingCase(
        name="chunks may leave text out",
        text="one two three",
        chunks=["one", "three"],
        places=[(0, 3), (8, 13)],
    ),
    PlacingCase(
        name="a blank chunk has no place",
        text="one two",
        chunks=[" ", "one", "", "two"],
        places=[(0, 3), (4, 7)],
    ),
    PlacingCase(
        name="the white space within a chunk may be changed",
        text="one\n\n two\tthree",
        chunks=["one two", "three"],
        places=[(0, 9), (10, 15)],
    ),
    PlacingCase(
        name="a pair is a place",
        text="one two three",
        chunks=[(0, 7), [4, 13]],
        places=[(0, 7), (4, 13)],
    ),
    PlacingCase(
        name="pairs are sorted",
        text="one two three",
        chunks=[(4, 13), (0, 7)],
        places=[(0, 7), (4, 13)],
    ),
]


class OwnPieces(unittest.TestCase):
    """A user's own chunker, retriever and counter of tokens."""

    def test_chunks_are_placed_in_order(self):
        for case in PLACING_CASES:
            with self.subTest(case.name):
                self.assertEqual(self.places(case), case.places)

    def places(self, case):
        """Where each chunk stands, by its number."""
        asked = [(("a",), f"chunk {n}") for n in range(len(case.chunks))]
        files = python_data([("a", case.text)], asked)
        cut = f"def cut(text):\n    return {case.chunks!r}\n"
        files["mine.py"] = PIECES_PY + cut
        _, report = indexed(PY_DATA + "-s mine.cut -k 1", files)
        queries = only_strategy(report)["queries"]
        tops = [top for each in queries for top in each["top"]]
        return [(start, end) for _, start, end in tops]

    def test_it_is_said_once_that_a_place_is_ambiguous(self):
        """In two documents and three rounds; none of the text is lost."""
        text = "ab\n" * 12 + "end"
        files = {
            "c.jsonl": paragraphs(("one", text, "d"), ("two", text, "e")),
            "q.jsonl": query("end?", "one"),
            "mine.py": "def cut(text):\n"
            "    return [text[n:n + 12] for n in range(0, len(text), 8)]\n",
        }
        for _ in range(2):  # in each run
            outcome = run(JSONL_DATA + "-s mine.cut", files)
            self.assertEqual(outcome.status, 0)
            self.assertNotIn("in no chunk", outcome.out)
            self.assertEqual(len(outcome.err), 1, outcome.err)
            self.assertIn("mine.cut: ", outcome.err[0])
            self.assertIn("give (start, end) pairs", outcome.err[0])

    def test_nothing_is_said_where_each_string_has_one_place(self):
        """As where together they are the text, though they are alike."""
        chunks = {
            "windows of different words": ["one two a", "two a a", "a a b"],
            "the whole text in parts": ["one two ", "a a ", "a a b c"],
            "chunks alike, as often as they stand there": ["a a a"] * 2,
        }
        for name, pieces in chunks.items():
            files = {
                "c.jsonl": paragraphs(("one", "one two a a a a b c")),
                "q.jsonl": query("two?", "one"),
                "mine.py": f"def cut(text):\n    return {pieces!r}\n",
            }
            with self.subTest(name):
                outcome = run(JSONL_DATA + "-s mine.cut", files)
                self.assertEqual(outcome.status, 0)
                self.assertEqual(outcome.err, [])

    def test_a_row_says_which_retriever(self):
        files = {**ANIMALS, "mine.py": ORDERS_PY}
        arguments = (
            JSONL_DATA + "-s para:90 --retriever mine.Order --retriever bm25"
        )
        self.assertRegex(
            printed(arguments, files),
            r"(?m)^para:90 mine\.Order +2 .*\npara:90 bm25 +2 ",
        )
        rows = measured(arguments, files)["strategies"]
        self.assertEqual(
            [row["retriever"] for row in rows],
            ["mine.Order", "bm25(k1=1.5, b=0.75)"],
        )

    def test_tokens_are_what_the_users_function_counts(self):
        files = {
            **ANIMALS,
            "mine.py": "def seven(text): return 7 * len(text)",
        }
        arguments = JSONL_DATA + "--count mine.seven -s para:90 -k 1"
        self.assertIn(
            "Tokens: as mine.seven counts them.",
            " ".join(printed(arguments, files).split()),
        )
        report = measured(arguments, files)
        row = only_strategy(report)
        self.assertEqual(report["count"], "mine.seven")
        self.assertEqual(row["tokens"], 7 * (40 + 45) / 2)
        self.assertEqual(row["longest"], 7 * 45)

    def test_a_maker_with_a_second_argument_gets_the_slices(self):
        """As late chunking needs them; a default is not filled in."""
        own = """
import chunking_retrieval_eval as cre

class Late:
    def __init__(self, texts, slices):
        whole = {text for text, _, _ in slices}
        assert len(whole) == 2, whole
        for text, (document, start, end) in zip(texts, slices):
            assert text.endswith(document[start:end]), (text, start, end)
        self.topk = cre.BM25(texts).topk

class Early:
    def __init__(self, texts, size=1):
        assert size == 1
        self.topk = cre.BM25(texts).topk

def late(texts, slices): return Late(texts, slices)
"""
        files = {
            **python_data(
                {"A": [("t", "aa bb cc dd")], "B": [("u", "ee ff gg")]},
                [(("t",), "cc dd"), (("u",), "ee")],
            ),
            "mine.py": own,
        }
        rows = []
        for name in ("mine.Late", "mine.late", "mine.Early", "bm25"):
            arguments = PY_DATA + f"-s fixed:6 --context --retriever {name}"
            (row,) = measured(arguments, files)["strategies"]
            rows.append(row["queries"])
        for row in rows:
            self.assertEqual(row, rows[-1])


class DifferentRounds(unittest.TestCase):
    """Rounds of a retriever that ranks in another order each time."""

    ARGUMENTS = JSONL_DATA + "-s para:90 --retriever mine.Turning "
    FILES: ClassVar = {**ANIMALS, "q.jsonl": FOX_QUERY, "mine.py": ORDERS_PY}

    def test_figures_show_as_ranges(self):
        out = printed(self.ARGUMENTS + "--rounds 4", self.FILES)
        self.assertRegex(out, r"(?m)^para:90 .* 0\.500 \[0\.000, 1\.000\]")
        words = " ".join(out.split())
        self.assertIn("4 runs disagree.", words)
        self.assertIn("para:90 Its 4 runs differ in ", words)
        self.assertNotIn("Choose", words)

    def test_the_json_says_whether_rounds_agree(self):
        report = measured(self.ARGUMENTS + "--rounds 4", self.FILES)
        self.assertIs(report["deterministic"], False)
        report = measured(JSONL_DATA, ANIMALS)
        self.assertIs(report["deterministic"], True)

    def test_a_range_is_from_the_least_to_the_most(self):
        report = measured(self.ARGUMENTS + "--rounds 3", self.FILES)
        row = only_strategy(report)
        self.assertEqual(row["range"]["recall@1"], [0, 1])
        self.assertAlmostEqual(row["recall@1"], 1 / 3, 9)

    def test_categories_are_of_the_first_round(self):
        """Two chunks: the answer is first in every other round."""
        asked = query("fox?", "red fox", category="animals")
        found = []
        for rounds in (1, 2):
            report = measured(
                self.ARGUMENTS + f"--rounds {rounds}",
                {**self.FILES, "q.jsonl": asked},
            )
            found.append(only_strategy(report)["categories"])
        self.assertEqual(found[0], found[1])

    def test_rounds_that_differ_in_no_figure_vary_too(self):
        files = python_data([("a", "aa ")] * 3, [(("a",), "aa")])
        report = measured(
            PY_DATA + "-s fixed:3 --retriever mine.Turning --rounds 2",
            {**files, "mine.py": ORDERS_PY},
        )
        self.assertIs(report["deterministic"], False)
        self.assertEqual(report["notes"][0]["kind"], "varies")
        self.assertIn("but in no figure. Differ", report["notes"][0]["text"])
        self.assertIsNone(report["choice"])


class CheckPage(unittest.TestCase):
    """What --check says of data, and the command that it gives."""

    def test_it_says_how_many_and_how_long(self):
        text = (
            "# Foxes\n\n"
            "The red fox runs over the hill.\n\n"
            "The red fox sleeps.\n\n"
            "# Whales\n\n"
            "A whale dives.\n\n"
            "It sings again.\n\n"
            "It sings again.\n"
        )
        files = {
            "my notes/a.md": text,
            "q.jsonl": query("Who runs?", "red fox runs over", "a#whales")
            + query("zzz qqq", "A whale dives."),
        }
        outcome = run(
            ["--corpus", "my notes", "--queries", "q.jsonl", "--check"], files
        )
        self.assertEqual(outcome.status, 0)
        self.assertEqual(outcome.err, [])
        count = len(text)
        for pattern in (
            r"1 document, 5 paragraphs, 3 topics \(files and sections\), "
            rf"{count}\s+characters",
            r"questions  2 \(1 needs one gold, 1 needs two\)",
            r"characters a paragraph +15, 19, 40\b",
            r"tokens a paragraph +3, 4, 8\b",
            rf"characters a token +{113 / 22:.2f}",
            r"2 passages, 1 section\b",
            r"characters a gold +14, 17, 59\b",
            r"repeat +1\b",
            r'match +1: "zzz qqq"',
        ):
            with self.subTest(pattern):
                self.assertRegex(outcome.out, pattern)
        self.check_command(outcome.out.strip().splitlines()[-1], files)

    def check_command(self, command, files):
        """It runs as it stands."""
        arguments = shlex.split(command)
        outcome = run(arguments[arguments.index("--corpus") :], files)
        self.assertEqual(outcome.status, 0)
        self.assertEqual(outcome.err, [])

    def test_it_proposes_usual_sizes_around_the_paragraph(self):
        """The last of them for paragraphs, the middle for sentences."""
        for length, sizes, middle in (
            (1, [50, 100], 50),
            (100, [50, 100, 150], 100),
            (489, [300, 400, 600], 400),
            (490, [400, 600, 800], 600),
            (5000, [2400, 3200], 3200),
            (9000, [300, 400, 600], 400),
        ):
            with self.subTest(length=length):
                out = printed(
                    "--corpus c.txt --check", {"c.txt": "x" * length}
                )
                said = f"QUESTIONS -s fixed:{','.join(map(str, sizes))} "
                said += f"-s para:{sizes[-1]} -s sentence:{middle} "
                said += f"-s recursive:{middle}\n"
                self.assertTrue(out.endswith(said), out)

    def test_it_proposes_structure_where_there_are_headings(self):
        """Paragraphs of 100 characters in sections of some 400."""
        part = "# Part\n\n" + ("x" * 98 + ".\n\n") * 4
        out = printed("--corpus c.md --check", {"c.md": part * 3})
        self.assertIn(
            " -s fixed:100,200,400 -s para:400 -s sentence:200 "
            "-s recursive:200 -s structure:400\n",
            out,
        )

    def test_it_has_a_line_for_each_document(self):
        files = {
            "docs/a.md": "# One\n\naa bb cc\n\n# Two\n\ndd\n",
            "docs/b.md": "ee ff\n",
        }
        out = printed("--corpus docs --check", files)
        lines = [line.split() for line in out.splitlines()]
        self.assertIn(["27", "6", "2", "2,", "4,", "4", "a"], lines)
        self.assertIn(["6", "2", "0", "-", "b"], lines)
        self.assertIn("near the median paragraph and section:", out)
        many = {f"docs/{n:02}.txt": "aa" for n in range(33)}
        out = printed("--corpus docs --check", many)
        self.assertRegex(out, "(?m)  29$")
        self.assertNotRegex(out, "(?m)  30$")
        self.assertIn("\n  and 3 more documents\n", out)
        few = {f"docs/{n:02}.txt": "aa" for n in range(30)}
        out = printed("--corpus docs --check", few)
        self.assertRegex(out, "(?m)  29$")
        self.assertNotIn("more", out)
        self.assertIn("near the median paragraph:", out)

    def test_without_queries_the_topics_are_the_golds(self):
        """Of each topic, its shortest place counts."""
        topics = ("a", "four"), ("a", "a longer text"), ("b", "fully ten !")
        files = {"c.jsonl": paragraphs(*topics)}
        out = printed("--corpus c.jsonl --check", files)
        self.assertRegex(out, r"golds +2 topics\n")
        self.assertRegex(out, r"characters a gold +4, 11, 11\n")
        self.assertIn(" --corpus c.jsonl --queries QUESTIONS -s fixed:", out)
        self.assertNotIn("\nqueries  ", out)

    def test_it_names_three_of_the_queries_without_a_match(self):
        queries = "".join(query(f"zz{n}", "red fox") for n in range(4))
        out = printed(JSONL_DATA + "--check", {**ANIMALS, "q.jsonl": queries})
        self.assertRegex(
            out, 'questions without a match +4: "zz0"; "zz1"; "zz2"; ...\n'
        )

    def test_the_command_names_a_squad_file(self):
        files = {"s.json": squad(("what?", ("fox", 8)))}
        self.assertIn(
            ".py --squad s.json -s fixed:",
            printed(SQUAD_DATA + "--check", files),
        )


class ChunksPage(unittest.TestCase):
    """What --chunks lists."""

    FILES: ClassVar = python_data(TWO_PARAGRAPHS, WHO_RUNS)

    def test_it_lists_each_chunk_with_its_place_and_its_golds(self):
        self.assertRegex(
            printed(PY_DATA + "-s para:9 --chunks", self.FILES),
            r"para:9: 2 chunks.* number 1\n"
            r' +1\. corpus 0-17, 4 tokens, covers "fox"\n'
            r" +The red fox runs\.\n"
            r" +2\. corpus 17-34, 4",
        )

    def test_a_tilde_marks_where_a_paragraph_is_cut(self):
        self.assertRegex(
            printed(PY_DATA + "-s fixed:25 --chunks", self.FILES),
            r"fixed:25: 2 chunks.* number 1\n"
            r" +1\. .*\n"
            r" +The red fox runs\.Its wool~\n"
            r" +2\. .*\n"
            r" +~ ?is warm\.\n",
        )

    def test_it_names_the_golds_of_all_queries(self):
        out = printed(JSONL_DATA + "--chunks -s para:90", ANIMALS)
        self.assertRegex(
            out,
            r' 1\. .* covers "red fox"\n.*\n +2\. .* covers "blue whale"\n',
        )


class AskPage(unittest.TestCase):
    """--ask, --document and --full."""

    TWO = python_data(
        {
            "A": [("t", "red fox "), ("u", "blue whale ")],
            "B": [("v", "a fox")],
        },
        [(("t",), "x")],
    )

    def test_it_lists_what_is_retrieved(self):
        out = printed(PY_DATA + "-s para:1 -s fixed:50 --ask fox?", self.TWO)
        self.assertIn('What is retrieved for "fox?":', out)
        parts = out.split("\n\n")[1:]
        self.assertEqual(len(parts), 2)
        self.assertIn("para:1: 2 chunks, 4 tokens", parts[0])
        self.assertRegex(
            parts[0],
            r" 1\. A 0-8, 2 tokens, score 0\.\d+\n        red fox\n"
            r" +2\. B 0-5, 2 tokens, score",
        )
        self.assertIn("fixed:50: 2 chunks, 6 tokens", parts[1])

    def test_it_needs_no_queries_and_obeys_the_cutoff(self):
        out = printed(
            "--corpus corpus.py -s para:1 -k 1 --ask fox",
            {"corpus.py": self.TWO["corpus.py"]},
        )
        self.assertIn("para:1: 1 chunk, 2 tokens", out)
        out = printed(
            "--corpus corpus.py -s para:1 --budget 3 --ask fox", self.TWO
        )
        self.assertIn("para:1: 1 chunk, 2 tokens", out)

    def test_what_nothing_matches_retrieves_nothing(self):
        out = printed(PY_DATA + "-s para:1 --ask zzz", self.TWO)
        self.assertIn("para:1: 0 chunks, 0 tokens", out)

    def test_only_one_document_is_shown_and_the_ranks_stay(self):
        for option in ("--ask fox", "--chunks", "--explain"):
            arguments = PY_DATA + "-s fixed:50 --rounds 1 --document B "
            out = printed(arguments + option, self.TWO)
            self.assertNotIn(". A 0-", out)
        out = printed(PY_DATA + "-s para:1 --document B --ask fox", self.TWO)
        self.assertIn(" 2. B 0-5", out)

    def test_the_whole_text_is_shown(self):
        files = {"c.txt": "fox " + "word " * 40 + "\n\n  end of it"}
        out = printed("--corpus c.txt -s fixed:999 --full --ask fox", files)
        self.assertIn(
            "        fox "
            + ("word " * 40).rstrip()
            + "\n\n          end of it",
            out,
        )

    def test_what_cannot_be_shown_is_an_error(self):
        for arguments, said in (
            (
                "--document A",
                "--document: there are no chunks to show (add --chunks",
            ),
            ("--full", "--full: there are no chunks to show (add --chunks"),
            (
                "--document a --chunks",
                'such document; the nearest is "A" (--check',
            ),
            ("--ask x --format json", "cannot show --ask"),
        ):
            outcome = run(PY_DATA + arguments, self.TWO)
            self.assertEqual(outcome.status, 2)
            (line,) = outcome.err
            self.assertIn(said, line)
            self.assertEqual(outcome.out, "")


class MissingCase(NamedTuple):
    """A gold that is missing at rank 1, and what --explain says of it."""

    name: str
    arguments: str
    ranked: List[int]
    held: int  # per cent of the gold, in what is sent
    best: int  # per cent of the gold, in the best chunk
    why: str


MISSING_CASES = [
    MissingCase(
        name="every chunk has too little of it",
        arguments=PY_DATA + "-s fixed:6",
        ranked=[3],
        held=20,
        best=40,
        why="no chunk holds enough",
    ),
    MissingCase(
        name="the retriever does not bring the chunk",
        arguments=PY_DATA + "-s para:1",
        ranked=[0],
        held=0,
        best=100,
        why="what holds enough was not retrieved",
    ),
    MissingCase(
        name="the chunk is ranked too low",
        arguments=PY_DATA + "-s para:1",
        ranked=[0, 2],
        held=0,
        best=100,
        why="the first chunk that holds enough is ranked 2",
    ),
    MissingCase(
        name="a section is covered by a chunk within it",
        arguments="--corpus g.md --queries q.jsonl -s fixed:20",
        ranked=[0],
        held=0,
        best=100,
        why="what holds enough was not retrieved",
    ),
]


class ExplainPage(unittest.TestCase):
    """What --explain says of a query."""

    def test_it_says_by_whose_fault_a_question_is_missed(self):
        """Two golds in two chunks of 5, one chunk sent; one cut in two."""
        pair = (("aaaa", "dddd"), "aaaa")
        torn = (("bbbb cccc",), "bbbb")
        late = (("dddd",), "aaaa aaaa dddd")
        for asked, limit, said in (
            (pair, "-k 1", "missed, cut: it needs more than 1 chunk"),
            (torn, "-k 1", "missed, cut: no chunk holds enough of what it"),
            (pair, "-k 3", "missed, outranked: a chunk that it needs shares"),
            (late, "-k 1", "missed, outranked: some chunks would answer it"),
        ):
            files = python_data([("t", "aaaa bbbb cccc dddd")], [asked])
            out = printed(PY_RUN + f"-s fixed:5 {limit} --explain", files)
            self.assertIn(f"fixed:5: {said}", " ".join(out.split()))
        first = "class First:\n    def __init__(self, texts): pass\n"
        first += "    def topk(self, query, k): return [0]\n"
        files = python_data([("t", "aaaa bbbb")], [(("bbbb",), "bbbb")])
        files["mine.py"] = first
        out = printed(
            PY_RUN + "-s fixed:5 --retriever mine.First --explain", files
        )
        said = "missed, outranked: a chunk that it needs is not retrieved"
        self.assertIn(f"fixed:5: {said}", " ".join(out.split()))
        files = python_data([("t", "aa bb cc")], [(("aa bb",), "aa")])
        out = printed(PY_RUN + "-s fixed:9 --budget 2 --explain", files)
        said = "missed, nothing sent: one chunk is over 2 tokens"
        self.assertIn(f"fixed:9: {said}", " ".join(out.split()))

    def test_a_topic_is_answered_by_its_tokens(self):
        """A chunk has both of its tokens, in 9 of its 21 characters."""
        files = python_data([("t", "aa aa aa aa aa aa bb ")], [(("t",), "bb")])
        out = printed(PY_RUN + "-s fixed:12 -k 1 --explain", files)
        self.assertIn("fixed:12: answered", out)

    def test_it_explains_every_query(self):
        self.assertRegex(
            printed(JSONL_DATA + "--explain", ANIMALS),
            r"(?s)question 1: Where does the fox run\?.*question 2: How deep",
        )

    def test_it_explains_one_query_by_its_number(self):
        out = printed(JSONL_DATA + "--explain 2", ANIMALS)
        self.assertIn("question 2: How deep", out)
        self.assertNotIn("question 1: ", out)

    def test_it_says_why_a_gold_is_missing(self):
        files = python_data(
            [
                ("x", "aa bb "),
                ("t", "cc dd ee ff gg "),
                ("t", "hh ii jj kk ll mm "),
            ],
            [(("t",), "cc")],
        )
        words = [f"w{number}" for number in range(40)]
        first, second = " ".join(words[:20]), " ".join(words[20:])
        files["g.md"] = f"# A\n\n{first}\n\n# B\n\n{second}"
        files["q.jsonl"] = query("w0", "g#b")
        for case in MISSING_CASES:
            with self.subTest(case.name):
                files["mine.py"] = (
                    "class Ranked:\n"
                    "    def __init__(self, texts): pass\n"
                    f"    def topk(self, query, k): return {case.ranked}\n"
                )
                out = printed(
                    case.arguments + " --retriever mine.Ranked -k 1 --explain",
                    files,
                )
                self.assertTrue(
                    " ".join(out.split()).endswith(
                        f": the chunks sent hold {case.held} % of it "
                        "together, the best single chunk of all holds "
                        f"{case.best} %; {case.why}"
                    ),
                    out,
                )

    def test_it_says_what_a_chunk_is_and_what_it_covers(self):
        """The middle of a long gold is left out."""
        gold = "red fox runs over the hill at nigh"
        out = printed(
            JSONL_DATA + "--explain -s para:90",
            {**ANIMALS, "q.jsonl": query("fox", gold)},
        )
        self.assertRegex(
            " ".join(out.split()),
            r" 1\. c\.jsonl:1 0-40, 9 tokens, score \d\.\d{3}, "
            r'covers "red fox runs over th \.\.\. ll at nigh" The red fox',
        )

    def test_an_excerpt_shows_what_covers_the_gold(self):
        """Of a chunk of 600 characters the few around the gold."""
        text = numbered_words(100, 220)
        at = text.index("w160")
        out = printed(
            "--corpus c.jsonl --queries q.jsonl -s para:9 -k 1 --explain",
            {
                "c.jsonl": paragraphs(("t", text), ("u", "other")),
                "q.jsonl": query("w200", "w160 w161"),
            },
        )
        shown = text[at - 25 : at + 9 + 25].strip()
        self.assertIn(f"        ... {shown} ...\n", out)


def start(command, **more):
    """A process that has ended, with the bytes that it wrote."""
    return subprocess.run(
        command, capture_output=True, timeout=60, check=False, **more
    )


def encoding_stream():
    """A text stream of another encoding and another line end than ours."""
    return io.TextIOWrapper(io.BytesIO(), encoding="ascii", newline="\r\n")


class ByteCase(NamedTuple):
    """A way to start the script that must not change what it prints."""

    name: str
    options: List[str]
    in_copy: bool  # whether the working directory is the folder of a copy
    run_copy: bool  # whether the script that is run is the copy
    environment: dict


BYTE_CASES = [
    ByteCase(
        name="a copy, where the locale is C",
        options=[],
        in_copy=False,
        run_copy=True,
        environment={
            "LC_ALL": "C",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
            "PYTHONHASHSEED": "0",
        },
    ),
    ByteCase(
        name="from another folder, without asserts, to ASCII",
        options=["-O"],
        in_copy=True,
        run_copy=False,
        environment={
            "PYTHONIOENCODING": "ascii",
            "PYTHONHASHSEED": "1",
            "COLUMNS": "20",
        },
    ),
    ByteCase(
        name="a copy in its own folder, without docstrings",
        options=["-OO"],
        in_copy=True,
        run_copy=True,
        environment={},
    ),
]


class SameBytes(unittest.TestCase):
    """What is printed does not depend on where and how it is run."""

    def test_a_bare_run_prints_the_same_bytes_everywhere(self):
        """It writes no file beside the script, whose folder is read-only."""
        self.assertIn(b"fixed:500", bare_run())
        with tempfile.TemporaryDirectory(prefix=folder_prefix()) as copy:
            for name in (
                "chunking_retrieval_eval.py",
                "corpus.py",
                "queries.py",
            ):
                shutil.copy(os.path.join(HERE, name), copy)
            os.chmod(copy, 0o555)
            try:
                for case in BYTE_CASES:
                    with self.subTest(case.name):
                        self.check_bytes(case, copy)
            finally:
                os.chmod(copy, 0o755)

    def check_bytes(self, case, copy):
        folder = copy if case.run_copy else HERE
        script = os.path.join(folder, os.path.basename(SCRIPT))
        done = start(
            [sys.executable, *case.options, script],
            env={**os.environ, **case.environment},
            cwd=copy if case.in_copy else HERE,
        )
        self.assertEqual(done.returncode, 0, done.stderr[-300:])
        self.assertEqual(done.stdout, bare_run())
        self.assertEqual(len(os.listdir(copy)), 3)

    def test_a_stream_of_another_encoding_gets_the_same_bytes(self):
        out = encoding_stream()
        self.assertEqual(run([], stdout=out).status, 0)
        self.assertEqual(out.buffer.getvalue(), bare_run())

    def test_a_lone_surrogate_is_written_as_an_escape(self):
        out = encoding_stream()
        files = {**ANIMALS, "q.jsonl": query("fox 狐\ud800 run", "red fox")}
        outcome = run(JSONL_DATA + "--explain 1", files, out)
        self.assertEqual(outcome.status, 0)
        self.assertIn("fox 狐\\ud800 run".encode(), out.buffer.getvalue())
        self.assertNotIn(b"\r", out.buffer.getvalue())

    def test_what_a_stream_holds_already_goes_first(self):
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        out.write("before")
        self.assertEqual(run(JSONL_DATA, ANIMALS, out).status, 0)
        self.assertEqual(
            out.buffer.getvalue().decode("utf-8"),
            "before" + printed(JSONL_DATA, ANIMALS),
        )


class ClosedStreams(unittest.TestCase):
    def test_a_closed_pipe_ends_quietly(self):
        with subprocess.Popen(
            [sys.executable, SCRIPT, "--format", "json", "--rounds", "1"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            process.stdout.close()
            err = process.stderr.read().decode("utf-8", "replace")
        # 0 where the pipe took all before it was closed.
        self.assertIn(process.returncode, (0, 1))
        self.assertNotRegex(err, "Traceback|Exception|Error")

    @unittest.skipUnless(os.name == "posix", "asks a shell to close it")
    def test_no_standard_output_at_all_ends_quietly(self):
        closing = ["sh", "-c", 'exec "$0" "$@" >&-']
        done = start([*closing, sys.executable, SCRIPT, "--rounds", "1"])
        self.assertIn(done.returncode, (0, 1))
        self.assertNotIn(b"Traceback", done.stderr)


class StandardError(unittest.TestCase):
    def test_the_first_line_says_the_environment(self):
        err = io.StringIO()
        quiet = contextlib.redirect_stdout(io.StringIO())
        with workplace(ANIMALS), quiet, contextlib.redirect_stderr(err):
            status = cre.main([*JSONL_DATA.split(), "--check"])
        self.assertEqual(status, 0)
        version = ".".join(map(str, sys.version_info[:3]))
        self.assertEqual(
            err.getvalue(),
            f"chunking_retrieval_eval {cre.VERSION}, "
            f"{sys.implementation.name} {version}, {sys.platform}\n",
        )


class LineWidth(unittest.TestCase):
    """Prose has up to 80 columns, or those of a narrower terminal."""

    ARGUMENTS = JSONL_DATA + "--rounds 1 -s fixed:50 -s para:90"

    @unittest.skipUnless(os.name == "posix", "needs a pseudo-terminal")
    def test_lines_are_as_wide_as_the_terminal_up_to_80(self):
        text = printed(self.ARGUMENTS, ANIMALS)
        for columns, least in ((40, 38), (79, 75)):
            with self.subTest(columns=columns):
                narrow = self.on_terminal(columns)
                self.assertEqual(narrow.split(), text.split())
                widest = max(map(len, self.prose(narrow)))
                self.assertLessEqual(widest, columns)
                self.assertGreaterEqual(widest, least)
        self.assertEqual(self.on_terminal(200), text)
        self.assertLessEqual(max(map(len, self.prose(text))), 80)

    def prose(self, text):
        """The lines that are not of a table."""
        rows = ("strategy", "fixed:50", "para:90")
        return [line for line in text.split("\n") if not line.startswith(rows)]

    def on_terminal(self, columns):
        """What is printed on a terminal of so many columns."""
        import fcntl
        import pty
        import struct
        import termios

        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        size = struct.pack("HHHH", 24, columns, 0, 0)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, size)
        with workplace(ANIMALS), subprocess.Popen(
            [sys.executable, SCRIPT, *self.ARGUMENTS.split()],
            stdout=theirs,
            stderr=subprocess.DEVNULL,
        ) as process:
            os.close(theirs)
            parts = []
            # Linux says by an OSError that the other end is closed.
            with contextlib.suppress(OSError):
                for part in iter(lambda: os.read(ours, 9999), b""):
                    parts.append(part)
        self.assertEqual(process.returncode, 0)
        return b"".join(parts).decode("utf-8").replace("\r\n", "\n")

    def test_a_word_with_hyphens_stays_whole(self):
        name = "-".join("abcdefghijklmnopqrstuvwxyz" * 2)
        out = printed(
            JSONL_DATA + f"--count {name}.length",
            {**ANIMALS, name + ".py": "length = len"},
        )
        self.assertIn(name + ".length", out)


# ======================== the measures =======================================
# `import functools` and `import operator` belong into the head.

ENOUGH = Fraction(3, 5)  # a gold is covered by what holds so much of it
NORMAL_95 = 1.959963984540054  # 95 % of a normal curve lie within so many sd


# ---- the definitions, on sets of positions ----------------------------------
def positions(*places):
    """Each character of these (document, start, end) as (document, at)."""
    return {
        (doc, at) for doc, start, end in places for at in range(start, end)
    }


def share(whole, part):
    """How much of one set lies in another."""
    return Fraction(len(whole & part), len(whole))


def length(places):
    """The characters of all places; what stands in two counts twice."""
    return sum(end - start for _, start, end in places)


def union(masks):
    """The golds, as bits, that are in any of these masks."""
    return functools.reduce(operator.or_, masks, 0)


class Truth:
    """Every figure of one strategy, worked out in the plainest way.

    A chunk and a place of a gold are (document, start, end). `masks` holds
    for each query {chunk: the golds that it covers, bit n for the n-th}.
    """

    def __init__(self, corpus, queries, strategy):
        self.texts, self.topics, self.chunks = {}, {}, []
        for name, pairs in corpus.items():
            self.add(name, pairs, strategy)
        self.golds = [list(dict.fromkeys(golds)) for golds, _ in queries]
        self.masks = [
            {chunk: self.mask(chunk, golds) for chunk in self.chunks}
            for golds in self.golds
        ]

    def add(self, name, pairs, strategy):
        """Take in a document of (topic, paragraph), and cut it."""
        text, paragraphs = "", []
        for topic, paragraph in pairs:
            start, end = len(text), len(text) + len(paragraph)
            text += paragraph
            paragraphs.append((start, end))
            self.topics.setdefault(topic, []).append((name, start, end))
        self.texts[name] = text
        for start, end in cre.chunk(strategy, text, paragraphs):
            self.chunks.append((name, start, end))

    def mask(self, chunk, golds):
        return sum(
            self.covers(chunk, gold) << bit for bit, gold in enumerate(golds)
        )

    def tokens(self, place):
        name, start, end = place
        return cre.tokenize(self.texts[name][start:end])

    def distinct_tokens(self, place):
        return set(self.tokens(place))

    def places(self, gold):
        """The paragraphs of a topic, or wherever a quote stands."""
        return self.topics.get(gold) or [
            (name, at, at + len(gold))
            for name, text in self.texts.items()
            for at in range(len(text))
            if text.startswith(gold, at)
        ]

    def covers(self, chunk, gold):
        """A topic is covered by wording, a quote by its characters."""
        is_topic = gold in self.topics
        content = self.distinct_tokens if is_topic else positions
        return any(
            share(content(place), content(chunk)) >= ENOUGH
            for place in self.places(gold)
        )

    def all_golds(self, number):
        """The mask of a chunk that covers all golds of a query."""
        return (1 << len(self.golds[number])) - 1

    def covered(self, number, chunks):
        """The golds of a query, as bits, that any of these chunks covers."""
        return union(self.masks[number][chunk] for chunk in chunks)

    def answers(self, number, chunks):
        return self.covered(number, chunks) == self.all_golds(number)

    def draws(self, number, k):
        """The share of all choices of k chunks that answer a query."""
        masks, full = self.masks[number].values(), self.all_golds(number)
        choices = combinations(masks, min(k, len(masks)))
        hits = [union(choice) == full for choice in choices]
        return Fraction(sum(hits), len(hits))

    def query(self, number, top, k):
        """{figure: value} of one query, from the chunks that it sent."""
        found = {
            "sent": len(top),
            "tokens": sum(len(self.tokens(chunk)) for chunk in top),
            **self.recall_at(number, top, 1),
            **self.recall_at(number, top, k),
            **self.evidence(number, top, k),
        }
        hit, chance = found[f"recall@{k}"], found[f"chance@{k}"]
        hops = "single" if len(self.golds[number]) == 1 else "multi"
        found[f"{hops}@{k}"] = hit
        found["cut"] = not hit and chance == 0
        found["outranked"] = not hit and chance > 0
        if k >= 10:  # else too few chunks are sent to tell the rank
            found["rr"] = self.reciprocal_rank(number, top)
        return found

    def recall_at(self, number, top, n):
        chance = self.draws(number, n)
        return {
            f"recall@{n}": self.answers(number, top[:n]),
            f"ceiling@{n}": chance > 0,
            f"chance@{n}": chance,
        }

    def reciprocal_rank(self, number, top):
        """That of the first chunk, of ten, that covers any gold."""
        for rank, chunk in enumerate(top[:10], 1):
            if self.masks[number][chunk]:
                return 1 / rank
        return 0

    def evidence(self, number, top, k):
        """The figures by characters, whichever chunk they are in.

        Of a gold with several places, the one that is found best counts.
        """
        there = positions(*top)
        best = [
            max(self.places(gold), key=lambda at: share(positions(at), there))
            for gold in self.golds[number]
        ]
        found = [share(positions(at), there) >= ENOUGH for at in best]
        wanted, paid = positions(*best), length(top)
        both = len(wanted & there)
        return {
            f"evidence@{k}": Fraction(sum(found), len(found)),
            f"complete@{k}": all(found),
            "char_recall": both / len(wanted),
            "char_precision": both / paid if paid else 0,
            "char_iou": both / (paid + len(wanted) - both),
            "redundancy": 1 - len(there) / paid if paid else 0,
        }

    def figures(self, tops, k):
        """The row, from the chunks that each query sent."""
        each = [self.query(number, top, k) for number, top in enumerate(tops)]
        row = {f"single@{k}": None, f"multi@{k}": None}  # if there are none
        for key in set().union(*each):
            values = [found[key] for found in each if key in found]
            counts = 1 if key in ("cut", "outranked") else len(values)
            row[key] = float(sum(values)) / counts
        for n in (1, k):
            hits = sum(found[f"recall@{n}"] for found in each)
            luck = [float(found[f"chance@{n}"]) for found in each]
            row[f"chance_p@{n}"] = sum(exactly(luck)[hits:])
        row["chunks"] = len(self.chunks)
        row["longest"] = max(len(self.tokens(chunk)) for chunk in self.chunks)
        characters = sum(map(len, self.texts.values()))
        row["index_growth"] = length(self.chunks) / characters
        return row


def exactly(chances):
    """The probability of each number of events, by a Fourier transform.

    Fernandez and Williams 2010.
    """
    size = len(chances) + 1
    roots = [cmath.exp(2j * cmath.pi * n / size) for n in range(size)]
    waves = [
        math.prod(1 - chance + chance * root for chance in chances)
        for root in roots
    ]
    return [
        sum(
            wave * roots[-n * count % size] for n, wave in enumerate(waves)
        ).real
        / size
        for count in range(size)
    ]


def as_uneven(wins, losses):
    """The share of all outcomes of so many tosses that are as uneven."""
    tosses = wins + losses
    ways = sum(
        comb(tosses, heads)
        for heads in range(tosses + 1)
        if abs(tosses - 2 * heads) >= abs(wins - losses)
    )
    return ways / 2**tosses


def adjusted(p, ps):
    """Holm's p: the most of each p up to it, times how many are no less."""
    return min(
        1,
        max(
            each * sum(other >= each for other in ps)
            for each in ps
            if each <= p
        ),
    )


def shown_within(margin, wins, losses, total):
    """Whether a difference is shown to be above -margin (Bonett, Price)."""
    won, lost = (wins + 1) / (total + 2), (losses + 1) / (total + 2)
    error = math.sqrt((won + lost - (won - lost) ** 2) / (total + 2))
    return won - lost - NORMAL_95 * error > -margin


def chosen_by_the_rule(rows, metric, margin, kept):
    """(choice, reference, as good) of candidates, on the queries kept.

    rows: {strategy: its queries as in the JSON}.
    """
    hits = {
        name: [queries[at][metric] for at in kept]
        for name, queries in rows.items()
    }
    spent = {
        name: sum(queries[at]["tokens"] for at in kept)
        for name, queries in rows.items()
    }
    best = max(rows, key=lambda name: (sum(hits[name]), spent[name]))
    good = [
        name
        for name in rows
        if name == best
        or shown_within(
            margin,
            sum(one and not two for one, two in zip(hits[name], hits[best])),
            sum(two and not one for one, two in zip(hits[name], hits[best])),
            len(kept),
        )
    ]
    choice = min(good, key=lambda name: (spent[name], -sum(hits[name])))
    return choice, best, good


def unbeaten(points):
    """The names in {name: (cost, loss)} that no other point beats."""
    return [
        name
        for name, (cost, loss) in points.items()
        if not any(
            other != (cost, loss) and other[0] <= cost and other[1] <= loss
            for other in points.values()
        )
    ]


# ---- small data -------------------------------------------------------------
def generated_data(seed):
    """A corpus of one to three documents; queries of topics and quotes."""
    rng = random.Random(seed)
    words = [
        "".join(rng.choices("缓存语义前缀向量检索分块", k=rng.randint(2, 4)))
        for _ in range(8)
    ]
    words += ["rag", "Kv", "，"]
    corpus = {
        f"doc{number}": generated_document(rng, words)
        for number in range(rng.randint(1, 3))
    }
    queries = []
    for number in range(rng.choice([2, 5, 14])):
        golds = generated_golds(rng, rng.choice(list(corpus.values())))
        hints = "".join(rng.choices(words, k=rng.randint(0, 3)))
        queries.append((golds, f"问{number}{hints}"))
    return corpus, queries


def generated_document(rng, words):
    """One to four pairs (topic, paragraph)."""
    return [
        (
            f"topic{rng.randrange(3)}",
            "".join(rng.choices(words, k=rng.randint(2, 5))) + "段。",
        )
        for _ in range(rng.randint(1, 4))
    ]


def generated_golds(rng, pairs):
    """Up to two topics of a document, and perhaps a quote."""
    topics = [topic for topic, _ in rng.choices(pairs, k=rng.randint(0, 2))]
    text = "".join(paragraph for _, paragraph in pairs)
    start = rng.randrange(len(text))
    quote = text[start : start + rng.randint(4, 30)]
    is_quoted = rng.randint(0 if topics else 1, 1)  # a query has some gold
    return (*topics, *[quote] * is_quoted)


def measured_on(corpus, queries, arguments):
    """The JSON of a run on these data, which may use ORDERS_PY."""
    if isinstance(arguments, str):
        arguments = arguments.split()
    return measured(
        [*PY_DATA.split(), "--rounds", "1", *arguments],
        {"mine.py": ORDERS_PY, **python_data(corpus, queries)},
    )


def only_row(corpus, queries, arguments):
    """The row of a run of one strategy."""
    (row,) = measured_on(corpus, queries, arguments)["strategies"]
    return row


def answerable_data(rng):
    """A corpus of 30 paragraphs; some 20 queries, in words of their quotes."""
    vocabulary = numbered_words(0, 90).split()
    texts = [" ".join(rng.choices(vocabulary, k=5)) + " " for _ in range(30)]
    whole = "".join(texts)
    queries = []
    for _ in range(rng.randint(10, 30)):
        start = rng.randrange(len(whole) - 20)
        quote = whole[start : start + rng.randint(8, 20)].strip()
        words = [quote.split()[-1], *rng.choices(vocabulary, k=1)]
        queries.append(((quote,), " ".join(words)))
    return {"doc": [(f"t{n}", text) for n, text in enumerate(texts)]}, queries


ORDER = " --retriever mine.Order "
FOUR_WORDS = [("a", "aaaa "), ("b", "bbbb "), ("c", "cccc "), ("d", "dddd ")]
LETTERS = [("t", "abcdefghijklmnopqrst")]
DOZEN = [(f"t{number}", f"w{number:03} ") for number in range(12)]
# With these, at k = 3, "fixed:12 bm25" both wins and loses queries against
# "para:1 hash", and no two of k = 1, 3, 5 send alike.
MIXED_SEED = 399
MIXED_SPECS = specs("fixed:12", "para:1")


# ---- a run against the definitions ------------------------------------------
class BruteForce(unittest.TestCase):
    """All that a run says, worked out again from the chunks it sent."""

    def check(self, content, corpus, queries, k):
        """Returns the kinds of notes that hold of some strategy."""
        stranded = []
        for row in content["strategies"]:
            truth = Truth(corpus, queries, row["strategy"])
            with self.subTest(strategy=row["strategy"]):
                self.check_row(row, truth, k)
            if not all(
                truth.answers(number, truth.chunks)
                for number in range(len(queries))
            ):
                stranded.append(row["strategy"])
        self.check_comparisons(content, k)
        self.check_frontier(content, k)
        self.check_choice(content, k)
        return self.check_notes(content, k, stranded)

    def check_row(self, row, truth, k):
        self.assertEqual(len(row["queries"]), len(truth.golds))
        tops = [
            [tuple(chunk) for chunk in found["top"]]
            for found in row["queries"]
        ]
        for key, value in truth.figures(tops, k).items():
            self.assertAlmostEqual(row[key], value, msg=key)
            is_share = key not in ("tokens", "index_growth", "sent")
            if is_share and isinstance(row[key], float):
                self.assertLessEqual(row[key], 1, key)
        for n in (1, k):
            self.assertLessEqual(row[f"recall@{n}"], row[f"ceiling@{n}"])
            self.check_interval(
                row[f"ci@{n}"], row[f"recall@{n}"], len(truth.golds)
            )
        for number, (found, top) in enumerate(zip(row["queries"], tops)):
            self.check_query(found, truth, number, top, k)

    def check_interval(self, interval, recall, total):
        """Each end is 1.96 of its own standard errors away (Wilson 1927)."""
        low, high = interval
        self.assertLess(low, high)
        for end in interval:
            variance = end * (1 - end) / total
            self.assertAlmostEqual(
                (recall - end) ** 2, NORMAL_95**2 * variance, places=12
            )

    def check_query(self, found, truth, number, top, k):
        golds, bits = truth.golds[number], truth.covered(number, top)
        missing = [
            gold for bit, gold in enumerate(golds) if not bits >> bit & 1
        ]
        self.assertEqual(found["gold"], golds)
        self.assertEqual(found["missing"], missing)
        for n in (1, k):
            self.assertEqual(
                found[f"answered@{n}"], truth.answers(number, top[:n])
            )

    def check_comparisons(self, content, k):
        base, *others = content["strategies"]
        rows = content["comparisons"]
        pairs = [(n, other) for n in (1, k) for other in others]
        self.assertEqual(len(rows), len(pairs))
        for row, (n, other) in zip(rows, pairs):
            self.assertEqual(row["metric"], f"recall@{n}")
            self.assertEqual(row["baseline"], base["strategy"])
            self.assertEqual(row["strategy"], other["strategy"])
            is_full = min(base["chunks"], other["chunks"]) <= n
            self.check_comparison(row, base, other, is_full)
        self.check_family([row for row in rows if row["p"] is not None], base)
        for row in rows:
            if row["p"] is None:
                self.assertIsNone(row["p_holm"])
                self.assertIsNone(row["verdict"])

    def check_family(self, rows, base):
        """All that is tested, whatever the cutoff, is one family."""
        ps = [row["p"] for row in rows]
        for row in rows:
            self.assertAlmostEqual(row["p_holm"], adjusted(row["p"], ps))
            verdict = "undecided"
            if row["p_holm"] < 0.05:
                verdict = "better" if row["difference"] > 0 else "worse"
            self.assertEqual(row["verdict"], verdict)
            key = row["metric"].replace("recall", "answered")
            hits = [query[key] for query in base["queries"]]
            most = max(sum(hits), len(hits) - sum(hits))
            can_be = len(ps) * as_uneven(most, 0) < 0.05
            decided = verdict != "undecided"
            self.assertEqual(row["decidable"], decided or can_be)

    def check_comparison(self, row, base, other, is_full):
        key = row["metric"].replace("recall", "answered")
        hits = [
            (theirs[key], mine[key])
            for theirs, mine in zip(base["queries"], other["queries"])
        ]
        wins = [at for at, hit in enumerate(hits, 1) if hit == (False, True)]
        losses = [at for at, hit in enumerate(hits, 1) if hit == (True, False)]
        difference = other[row["metric"]] - base[row["metric"]]
        self.assertEqual(row["wins"], wins)
        self.assertEqual(row["losses"], losses)
        self.assertAlmostEqual(row["difference"], difference)
        self.check_interval_of(row, len(hits))
        if is_full:
            self.assertIsNone(row["p"])
        else:
            p = as_uneven(len(wins), len(losses))
            self.assertAlmostEqual(row["p"], p)

    def check_interval_of(self, row, total):
        """Its low end is the margin where a difference begins to be shown.

        Its high end is that of wins and losses exchanged.
        """
        wins, losses = len(row["wins"]), len(row["losses"])
        low, high = row["interval"]
        for end, (won, lost) in (
            (low, (wins, losses)),
            (-high, (losses, wins)),
        ):
            if end > -1:
                for nudge in (-1e-9, 1e-9):
                    is_shown = shown_within(nudge - end, won, lost, total)
                    self.assertEqual(is_shown, nudge > 0)

    def check_choice(self, content, k):
        """By the rule, worked out anew for each query that is left out."""
        metric = f"answered@{k}"
        rows = {
            row["strategy"]: row["queries"]
            for row in content["strategies"]
            if row["chunks"] > k and row[f"chance_p@{k}"] < 0.05
        }
        choice = content["choice"]
        if not rows:
            self.assertIsNone(choice)
            return
        total = content["queries"]["total"]
        chosen, best, good = chosen_by_the_rule(
            rows, metric, choice["margin"], range(total)
        )
        self.assertEqual(choice["strategy"], chosen)
        self.assertEqual(choice["reference"], best)
        self.assertCountEqual(choice["as_good"], good)
        hits = [query[metric] for query in rows[chosen]]
        self.assertEqual(choice["recall"], sum(hits) / total)
        others = [
            chosen_by_the_rule(
                rows,
                metric,
                choice["margin"],
                [at for at in range(total) if at != left_out],
            )
            for left_out in range(total)
        ]
        scores = [
            rows[name][at][metric] for at, (name, _, _) in enumerate(others)
        ]
        self.assertEqual(choice["leave_one_out"], sum(scores) / total)

    def check_frontier(self, content, k):
        points = {
            row["strategy"]: (row["tokens"], -row[f"recall@{k}"])
            for row in content["strategies"]
            if row["chunks"] > k
        }
        cheapest_first = sorted(unbeaten(points), key=points.get)
        self.assertEqual(content["frontier"], cheapest_first)

    def check_notes(self, content, k, stranded):
        held = self.notes_that_hold(content, k, stranded)
        kinds = {"saturated", "floor", "chance", "ceiling"}
        shown = [
            (note["kind"], strategy)
            for note in content["notes"]
            for strategy in note["strategies"]
            if note["kind"] in kinds
        ]
        self.assertCountEqual(shown, held)
        return {kind for kind, _ in held}

    def notes_that_hold(self, content, k, stranded):
        """(kind, strategy) of each, once for each cutoff that it holds at."""
        held = [("floor", name) for name in stranded]
        for n, row in product((1, k), content["strategies"]):
            name, recall = row["strategy"], row[f"recall@{n}"]
            if row["chunks"] <= n:
                held.append(("saturated", name))
                continue
            by_luck = row[f"chance_p@{n}"] >= 0.05, row[f"chance@{n}"] >= 0.5
            if recall and any(by_luck):
                held.append(("chance", name))
            if 0 < recall == row[f"ceiling@{n}"] < 1:
                held.append(("ceiling", name))
        return held

    def test_figures_comparisons_and_notes_are_as_defined(self):
        kinds = []
        for seed in range(50):
            corpus, queries = generated_data(seed)
            k = 3 if seed % 2 else 10
            chosen = ["fixed:14", "overlap:24/9", "para:40", "recursive:30/5"]
            if seed % 3 == 0:
                chosen = chosen[:2]
            with self.subTest(seed=seed):
                content = measured_on(
                    corpus, queries, ["-k", str(k), *specs(*chosen)]
                )
                kinds.append(self.check(content, corpus, queries, k))
        for kind in ("saturated", "floor", "chance", "ceiling"):
            with self.subTest("it holds of some data, not of all", kind=kind):
                times = sum(kind in found for found in kinds)
                self.assertGreater(times, 0)
                self.assertLess(times, len(kinds))

    def test_the_choice_is_by_the_rule(self):
        seen = Counter()
        for seed in range(24):
            corpus, queries = answerable_data(random.Random(seed))
            with self.subTest(seed=seed):
                content = measured_on(
                    corpus,
                    queries,
                    f"--margin {(0.05, 0.2, 0.4)[seed % 3]} -s fixed:9,15,30 "
                    "-s overlap:30/9 -s para:40,90",
                )
                self.check_choice(content, 3)
                choice = content["choice"]
                if not choice:
                    continue
                seen["cheaper"] += choice["strategy"] != choice["reference"]
                seen["luck"] += choice["leave_one_out"] != choice["recall"]
        self.assertGreater(min(seen["cheaper"], seen["luck"]), 3)

    @needs_shipped_data
    def test_the_figures_of_the_shipped_data_are_as_defined(self):
        for k, retriever in ((3, "bm25"), (2, "hash")):
            with self.subTest(retriever):
                content = measured(
                    f"-k {k} --rounds 1 --retriever {retriever}"
                )
                self.check(content, {"corpus": CORPUS}, QUERIES, k)


# ---- statistics -------------------------------------------------------------
class Statistics(unittest.TestCase):
    def test_intervals_are_the_published_ones(self):
        """By Newcombe 1998, table I, 4 places; by statsmodels, 6."""
        for hits, total, low, high in [
            (81, 263, "0.2553", "0.3662"),
            (15, 148, "0.0624", "0.1605"),
            (0, 20, "0.0000", "0.1611"),
            (1, 29, "0.0061", "0.1718"),
            (10, 14, "0.453509", "0.882786"),
            (5, 14, "0.163447", "0.612356"),
            (14, 14, "0.784689", "1.000000"),
        ]:
            with self.subTest(hits=hits, total=total):
                digits = len(low) - len("0.")
                interval = [
                    f"{end:.{digits}f}"
                    for end in cre.wilson(hits / total, total)
                ]
                self.assertEqual(interval, [low, high])

    def test_no_interval_leaves_0_to_1(self):
        """Rounding errors do not carry an end of it beyond them."""
        for total in range(1, 400):
            low, _ = cre.wilson(0, total)
            _, high = cre.wilson(1, total)
            self.assertGreaterEqual(low, 0, total)
            self.assertLessEqual(high, 1, total)

    def test_p_is_that_of_a_fair_coin(self):
        for wins, losses, p in [
            (3, 0, 0.25),
            (0, 3, 0.25),
            (6, 0, 0.03125),
            (5, 1, 0.21875),
            (10, 2, 0.03857421875),
            (4, 4, 1),
            (0, 0, 1),
            (1, 0, 1),
            (2000, 0, 0),  # 2 ** 2000 is too large for a float
        ]:
            with self.subTest(wins=wins, losses=losses):
                self.assertAlmostEqual(cre.mcnemar(wins, losses), p, places=12)

    def test_p_is_adjusted_for_the_number_of_comparisons(self):
        for ps, wanted in [
            ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
            ([0.8, 0.9], [1, 1]),
            ([0.2], [0.2]),
            ([], []),
        ]:
            with self.subTest(ps=ps):
                found = [round(p, 9) for p in cre.holm(ps)]
                self.assertEqual(found, wanted)


# Recall and tokens, of the article's five strategies.
ARTICLE_POINTS = [
    (0.643, 113.4),
    (0.714, 117.5),
    (0.786, 152.6),
    (0.929, 341.5),
    (1.0, 748),
]


class Curve(NamedTuple):
    """Points (recall, tokens) by a letter each, and those that stand out."""

    name: str
    points: list
    frontier: str
    elbow: str = None


def lettered(points):
    """{letter: Point} of pairs (recall, tokens)."""
    return {
        letter: cre.Point(*pair) for letter, pair in zip("abcdefgh", points)
    }


class Frontier(unittest.TestCase):
    CURVES: ClassVar = [
        Curve(
            name="the article's five",
            points=ARTICLE_POINTS,
            frontier="abcde",
            elbow="d",
        ),
        Curve(
            name="without the last the elbow is another",
            points=ARTICLE_POINTS[:4],
            frontier="abcd",
            elbow="c",
        ),
        Curve(
            name="the frontier is sorted by cost",
            points=ARTICLE_POINTS[::-1],
            frontier="edcba",
            elbow="b",
        ),
        Curve(
            name="equals stay, what is beaten goes",
            points=[(0.5, 10), (0.5, 10), (0.5, 12), (0.4, 10), (0.6, 12)],
            frontier="abe",
        ),
        Curve(
            name="of equals all stay",
            points=[(0.5, 10)] * 3,
            frontier="abc",
        ),
        Curve(name="one point", points=[(0.5, 10)], frontier="a"),
        Curve(name="no point", points=[], frontier=""),
        Curve(
            name="a straight line has no elbow",
            points=[(0, 0), (0.5, 5), (1, 10)],
            frontier="abc",
        ),
        Curve(
            name="nor has one that bends the other way",
            points=[(0, 0), (0.2, 5), (1, 10)],
            frontier="abc",
        ),
        Curve(  # both are 1 / 3 above the chord, but for the last bits
            name="of two elbows the cheaper",
            points=[(0, 0), (1 / 3, 1), (5 / 6, 3), (1, 4)],
            frontier="abcd",
            elbow="b",
        ),
    ]

    def test_the_frontier_is_what_no_point_beats(self):
        for curve in self.CURVES:
            with self.subTest(curve.name):
                found = cre.frontier(lettered(curve.points))
                self.assertEqual("".join(found), curve.frontier)

    def test_the_elbow_is_farthest_above_the_chord(self):
        for curve in self.CURVES:
            with self.subTest(curve.name):
                found = cre.elbow(lettered(curve.points))
                self.assertEqual(found, curve.elbow)


class Lots(NamedTuple):
    """Chunks as (cost, golds that it covers), and what all golds cost."""

    name: str
    chunks: list
    golds: int
    total: float  # of the cheapest chunks that cover all


# A chunk is a line "5 gold1 gold2", which costs 5.
LOTS_PY = """
def lines(text):
    return [line for line in text.splitlines() if "left out" not in line]

def cost(text):
    return int(text.split()[0])
"""


class ChanceAndCeiling(unittest.TestCase):
    LOTS: ClassVar = [
        Lots("no chunk covers anything", [(1, "")], 1, float("inf")),
        Lots("no chunk covers the second", [(1, "0")], 2, float("inf")),
        Lots("the cheaper is first", [(2, "0"), (5, "0")], 1, 2),
        Lots("the cheaper is last", [(5, "0"), (2, "0")], 1, 2),
        Lots(
            "two are cheaper than one", [(2, "0"), (2, "1"), (5, "01")], 2, 4
        ),
        Lots("one is cheaper than two", [(2, "0"), (2, "1"), (3, "01")], 2, 3),
        Lots(
            "two chunks that share a gold",
            [(4, "01"), (4, "12"), (1, "02"), (9, "2")],
            3,
            5,
        ),
        Lots(
            "chunks that cost nothing",
            [(9, "012"), (0, "01"), (0, "2")],
            3,
            0,
        ),
        Lots(
            "the dearer of two that overlap",
            [(4, "01"), (3, "0"), (3, "2")],
            3,
            7,
        ),
    ]

    def test_the_ceiling_of_a_budget_is_where_all_golds_fit_in(self):
        """Just where the cheapest chunks that cover all of them do."""
        for lots in self.LOTS:
            names = [f"gold{number}" for number in range(lots.golds)]
            lines = [
                " ".join([str(cost), *(f"gold{digit}" for digit in covered)])
                for cost, covered in lots.chunks
            ]
            lines.append("left out: " + " ".join(names))
            files = {
                "mine.py": ORDERS_PY + LOTS_PY,
                **python_data(
                    [("all", line + "\n") for line in lines],
                    [(tuple(names), "query")],
                ),
            }
            arguments = (
                PY_DATA + "--rounds 1 -s mine.lines --count mine.cost" + ORDER
            )
            for budget in range(1, 12):
                with self.subTest(lots.name, budget=budget):
                    (row,) = measured(f"{arguments} --budget {budget}", files)[
                        "strategies"
                    ]
                    self.assertEqual(
                        row[f"ceiling@{budget}t"], lots.total <= budget
                    )

    def test_golds_that_the_same_chunks_cover_are_one_need(self):
        """As 60 needs, they would be 2 ** 60 subsets to count."""
        golds = [f"gold{number:02}" for number in range(60)]
        lines = [" ".join(golds) + " "] * 2 + ["other ", "another "]
        files = python_data(
            [("all", line) for line in lines], [(tuple(golds), "other")]
        )
        arguments = PY_DATA + "--rounds 1 -s para:1 --format json"
        with workplace(files):
            done = subprocess.run(
                [sys.executable, SCRIPT, *arguments.split()],
                capture_output=True,
                timeout=30,
            )
        self.assertEqual(done.returncode, 0, done.stderr)
        (row,) = json.loads(done.stdout.decode("utf-8"))["strategies"]
        self.assertEqual(row["chance@1"], 0.5)


# ---- edges ------------------------------------------------------------------
class Edge(NamedTuple):
    """One query, and some of the figures of its row."""

    name: str
    corpus: list
    golds: tuple
    query: str
    arguments: str
    figures: dict


class Edges(unittest.TestCase):
    EDGES: ClassVar = [
        Edge(
            name="nothing is retrieved",
            corpus=FOUR_WORDS,
            golds=("a",),
            query="zzz",
            arguments="-s fixed:5",
            figures={
                "recall@3": 0,
                "tokens": 0,
                "sent": 0,
                "rr": 0,
                "char_recall": 0,
                "char_precision": 0,
                "char_iou": 0,
                "redundancy": 0,
                "evidence@3": 0,
                "complete@3": 0,
                "cut": 0,
            },
        ),
        Edge(
            name="a chunk has no token",
            corpus=[("t", "aaaa ..... bbbb")],
            golds=("aaaa",),
            query="aaaa",
            arguments="-s fixed:5" + ORDER,
            figures={
                "chunks": 3,
                "sent": 3,
                "tokens": 2,
                "longest": 1,
                "recall@3": 1,
                "char_precision": 4 / 15,
            },
        ),
        Edge(
            name="golds overlap",
            corpus=LETTERS,
            golds=("abcdefgh", "efghijkl"),
            query="abcdefghij",
            arguments="-s fixed:10",
            figures={
                "recall@1": 1,
                "char_recall": 10 / 12,
                "char_precision": 1,
                "char_iou": 10 / 12,
                "multi@3": 1,
                "single@3": None,
            },
        ),
        Edge(
            name="a chunk that is retrieved twice is sent once",
            corpus=FOUR_WORDS,
            golds=("aaaa",),
            query="aaaa",
            arguments="-s fixed:5 --retriever mine.Twice",
            figures={
                "recall@3": 1,
                "tokens": 3,
                "sent": 3,
                "redundancy": 0,
                "char_recall": 1,
                "char_precision": 4 / 15,
                "char_iou": 4 / 15,
                "chance@3": 0.75,
                "index_growth": 1,
            },
        ),
        Edge(
            name="a chunk that is retrieved twice takes one of three ranks",
            corpus=FOUR_WORDS,
            golds=("bbbb", "cccc"),
            query="aaaa",
            arguments="-s fixed:5 --retriever mine.Twice",
            figures={"recall@3": 1, "evidence@3": 1},
        ),
        Edge(
            name="a gold that is listed twice is one",
            corpus=FOUR_WORDS,
            golds=("a", "a"),
            query="aaaa",
            arguments="-s fixed:5",
            figures={
                "recall@1": 1,
                "single@3": 1,
                "multi@3": None,
                "chance@1": 0.25,
            },
        ),
        Edge(
            name="chunks overlap",
            corpus=LETTERS,
            golds=("abcdefgh",),
            query="abcdefghij",
            arguments="-s overlap:10/5 -k 2" + ORDER,
            figures={
                "redundancy": 0.25,
                "char_recall": 1,
                "char_precision": 8 / 20,
                "char_iou": 8 / 20,
                "index_growth": 1.5,
            },
        ),
        Edge(
            name="rank 10 counts",
            corpus=DOZEN,
            golds=("t9",),
            query="x",
            arguments="-s fixed:5" + ORDER,
            figures={
                "rr": 0.1,
                "recall@3": 0,
                "chance@3": 0.25,
                "outranked": 1,
            },
        ),
        Edge(
            name="rank 11 does not count",
            corpus=DOZEN,
            golds=("t10", "t11"),
            query="x",
            arguments="-s fixed:5" + ORDER,
            figures={"rr": 0, "ceiling@3": 1, "ceiling@1": 0},
        ),
        Edge(
            name="rank 11 does not count where 12 are sent",
            corpus=DOZEN,
            golds=("t10",),
            query="x",
            arguments="-s fixed:5 -k 12" + ORDER,
            figures={"rr": 0, "recall@12": 1},
        ),
        Edge(
            name="there are fewer chunks than k",
            corpus=LETTERS,
            golds=("t",),
            query="abcdefghijklmnopqrst",
            arguments="-s fixed:500",
            figures={
                "chunks": 1,
                "sent": 1,
                "recall@3": 1,
                "chance@3": 1,
                "ceiling@3": 1,
                "single@3": 1,
                "multi@3": None,
            },
        ),
        Edge(
            name="two halves add up to the evidence, yet none covers it",
            corpus=LETTERS,
            golds=("fghijklmno",),
            query="abc",
            arguments="-s fixed:10" + ORDER,
            figures={
                "recall@3": 0,
                "evidence@3": 1,
                "complete@3": 1,
                "char_recall": 1,
                "ceiling@3": 0,
                "cut": 1,
                "rr": 0,
            },
        ),
    ]

    def test_every_figure_is_defined(self):
        for edge in self.EDGES:
            queries = [(edge.golds, edge.query)]
            row = only_row(edge.corpus, queries, edge.arguments)
            for key, value in edge.figures.items():
                with self.subTest(edge.name, figure=key):
                    self.assertAlmostEqual(row[key], value, places=12)

    def test_strategies_that_cut_alike_are_equal(self):
        alike = ["fixed:20", "overlap:20/0", "overlap:20/0%"]
        arguments = JSONL_DATA.split() + specs(*alike)
        content = measured(arguments, ANIMALS)
        self.assertEqual(len(content["comparisons"]), 2 * 2)
        for row in content["comparisons"]:
            self.assertEqual(row["p"], 1)
            self.assertEqual(row["p_holm"], 1)
            self.assertEqual(row["difference"], 0)
        self.assertEqual(content["frontier"], alike)
        self.assertIsNone(content["elbow"])

    def test_k_counts_parents_however_many_children_rank_first(self):
        """The 14 best children are of one parent; still three are sent."""
        corpus = [
            (f"t{n}", ("apple " * (14 - n) + "filler " * 15)[:90])
            for n in range(4)
        ]
        row = only_row(corpus, [(("t0",), "apple")], "-s parent:6/90")
        top = [["corpus", 90 * n, 90 * n + 90] for n in range(3)]
        words = sum(len(text.split()) for _, text in corpus[:3])
        self.assertEqual(row["queries"][0]["top"], top)
        self.assertEqual(row["chunks"], 4)
        self.assertEqual(row["tokens"], words)


# ---- options ----------------------------------------------------------------
class Spending(NamedTuple):
    name: str
    budget: int
    sent: int
    tokens: int


class Budget(unittest.TestCase):
    # They cost 2, 3, and 1.
    THREE: ClassVar = [("a", "aa ab "), ("b", "ba bb bc "), ("c", "ca ")]
    SPENDINGS: ClassVar = [
        Spending("too little for the first", budget=1, sent=0, tokens=0),
        Spending("just the first", budget=2, sent=1, tokens=2),
        Spending(
            "the third would fit, but not the second",
            budget=4,
            sent=1,
            tokens=2,
        ),
        Spending("just two", budget=5, sent=2, tokens=5),
        Spending("just all", budget=6, sent=3, tokens=6),
    ]

    def test_the_best_chunks_are_sent_up_to_the_budget(self):
        for case in self.SPENDINGS:
            with self.subTest(case.name):
                content = measured_on(
                    self.THREE,
                    [(("a",), "aa")],
                    f"-s para:1 --budget {case.budget}" + ORDER,
                )
                self.check(content, case)

    def check(self, content, case):
        (row,), at = content["strategies"], f"@{case.budget}t"
        is_hit = case.sent > 0  # the first chunk covers the only gold
        kinds = [note["kind"] for note in content["notes"]]
        self.assertEqual(content["budget"], case.budget)
        self.assertEqual(row["sent"], case.sent)
        self.assertEqual(row["tokens"], case.tokens)
        self.assertEqual(row["recall" + at], is_hit)
        self.assertEqual(row["ceiling" + at], is_hit)
        self.assertNotIn("recall@3", row)
        self.assertEqual(row["queries"][0]["answered" + at], is_hit)
        self.assertEqual("lost" in kinds, not is_hit)

    def test_a_budget_may_pay_for_more_than_ten_chunks(self):
        corpus = [(f"t{n}", f"w{n} ") for n in range(15)]
        arguments = "-s para:1 --budget 12" + ORDER
        row = only_row(corpus, [(("t0",), "w0")], arguments)
        self.assertEqual(row["sent"], 12)
        self.assertEqual(row["tokens"], 12)

    def test_a_retriever_that_repeats_itself_fills_the_budget_too(self):
        corpus = [(f"t{n}", f"w{n} ") for n in range(15)]
        arguments = "-s para:1 --budget 12 --retriever mine.Twice"
        row = only_row(corpus, [(("t0",), "w0")], arguments)
        self.assertEqual(row["sent"], 12)
        self.assertEqual(row["tokens"], 12)

    def test_a_budget_takes_the_place_of_k(self):
        plain = measured(JSONL_DATA, ANIMALS)
        bounded = measured(JSONL_DATA + "--budget 60", ANIMALS)
        self.assertEqual(plain["k"], [3])
        self.assertIsNone(plain["budget"])
        self.assertIsNone(bounded["k"])
        self.assertEqual(bounded["budget"], 60)


class Cutoffs(unittest.TestCase):
    """-k, with one number or several."""

    def rows(self, *arguments):
        return measured_on(
            *generated_data(MIXED_SEED), [*MIXED_SPECS, *arguments]
        )["strategies"]

    def test_several_k_give_what_each_gives_alone(self):
        together = self.rows("-k", "1,3,5")
        for k in (1, 3, 5):
            apart = self.rows("-k", str(k))
            self.assertEqual(len(together), len(apart))
            for row, alone in zip(together, apart):
                with self.subTest(k=k, strategy=row["strategy"]):
                    self.check_alike(row, alone, k)
        sizes = {row[f"tokens@{k}"] for row in together for k in (1, 3, 5)}
        self.assertEqual(len(sizes), 6)  # so a mix-up would be seen

    def check_alike(self, row, alone, k):
        for figure in (
            "recall",
            "single",
            "multi",
            "ceiling",
            "chance",
            "evidence",
            "complete",
            "ci",
        ):
            key = f"{figure}@{k}"
            self.assertEqual(row[key], alone[key], key)
        self.assertEqual(row[f"tokens@{k}"], alone["tokens"])

    def test_the_tokens_of_the_first_chunk_are_told_beside_those_of_k(self):
        for row, first in zip(self.rows(), self.rows("-k", "1")):
            self.assertEqual(row["tokens@1"], first["tokens"])
            self.assertLess(row["tokens@1"], row["tokens"])

    def test_the_table_has_a_column_for_each_k(self):
        words = printed(JSONL_DATA + "-k 1,3,5", ANIMALS).split()
        for column in ("recall@1", "recall@3", "recall@5"):
            self.assertIn(column, words)

    def test_what_is_repeated_counts_once_and_k_are_sorted(self):
        content = measured(
            JSONL_DATA
            + "-k 8,1,8 --retriever bm25 --retriever bm25 -s fixed:50",
            ANIMALS,
        )
        names = [row["name"] for row in content["strategies"]]
        self.assertEqual(content["k"], [1, 8])
        self.assertEqual(names, ["fixed:50"])


class Baseline(unittest.TestCase):
    """Two strategies with two retrievers each, against one of the four."""

    def content(self, *arguments):
        return measured_on(
            *generated_data(MIXED_SEED),
            [
                *MIXED_SPECS,
                *("--retriever", "bm25", "--retriever", "hash"),
                *arguments,
            ],
        )

    def test_each_pair_of_strategy_and_retriever_is_compared_with_it(self):
        content = self.content("--baseline", "para:1 hash")
        hits = {
            row["name"]: [found["answered@3"] for found in row["queries"]]
            for row in content["strategies"]
        }
        theirs = hits.pop("para:1 hash")
        rows = content["comparisons"][3:]  # the first three are by recall@1
        self.assertEqual([row["strategy"] for row in rows], list(hits))
        for row in rows:
            pairs = list(zip(hits[row["strategy"]], theirs))
            wins = [
                n for n, pair in enumerate(pairs, 1) if pair == (True, False)
            ]
            self.assertEqual(row["metric"], "recall@3")
            self.assertEqual(row["baseline"], "para:1 hash")
            self.assertEqual(row["wins"], wins)

    def test_wins_against_the_one_are_losses_of_the_other(self):
        one = self.content("--baseline", "para:1 hash")["comparisons"][3]
        two = self.content()["comparisons"][-1]
        self.assertEqual(one["strategy"], "fixed:12 bm25")
        self.assertEqual(two["baseline"], "fixed:12 bm25")
        self.assertTrue(one["wins"] and one["losses"])
        self.assertEqual(one["wins"], two["losses"])
        self.assertEqual(one["losses"], two["wins"])
        self.assertEqual(one["p"], two["p"])

    def test_without_a_retriever_it_is_with_the_first(self):
        rows = self.content("--baseline", "para:1")["comparisons"]
        baselines = {row["baseline"] for row in rows}
        self.assertEqual(baselines, {"para:1 bm25"})


class ContextCost(unittest.TestCase):
    def test_a_title_is_indexed_and_paid_for_but_not_sent(self):
        corpus = {"Guide": [("t", "alpha beta")]}
        queries = [(("t",), "guide")]
        plain = only_row(corpus, queries, "-s para:50")
        led = only_row(corpus, queries, "-s para:50 --context")
        self.assertEqual(plain["recall@1"], 0)
        self.assertEqual(plain["tokens"], 0)
        self.assertEqual(plain["longest"], 2)
        self.assertEqual(plain["index_growth"], 1)
        self.assertEqual(led["recall@1"], 1)
        self.assertEqual(led["tokens"], 3)
        self.assertEqual(led["longest"], 3)
        self.assertGreater(led["index_growth"], 1)
        self.assertEqual(led["queries"][0]["top"], [["Guide", 0, 10]])


class Check(unittest.TestCase):
    @needs_shipped_data
    def test_check_counts_the_hops_of_the_shipped_queries(self):
        self.assertIn(
            "questions  14 (8 need one topic, 6 need two); SHA-256 aeab036d",
            printed("--check"),
        )


# ======================== notes, retrievers, outputs ========================

ONE_ROUND = "--rounds 1 "

# A text of four topics, each in three paragraphs, and ten queries.
ZOO_TEXT = [
    ("fox", "The red fox hunts mice in deep snow at night. "),
    ("fox", "A fox listens for mice under the snow, then leaps. "),
    ("fox", "Young foxes stay in the den until the spring. "),
    ("whale", "The blue whale dives deep below the cold sea. "),
    ("whale", "Whales sing, and other whales hear it far away. "),
    ("whale", "A whale calf drinks its mother's milk for a year. "),
    ("owl", "The owl flies without a sound, and hunts at night. "),
    ("owl", "Owls turn the head far round, since the eyes are fixed. "),
    ("owl", "An owl hears a mouse under snow from far away. "),
    ("bee", "Bees dance to tell the others where flowers are. "),
    ("bee", "A bee drinks nectar, and carries pollen home. "),
    ("bee", "In winter the bees keep warm around their queen. "),
]
ZOO_QUERIES = [
    (("fox",), "What does a fox hunt in the snow?"),
    (("whale",), "How deep does a whale dive?"),
    (("owl",), "Which bird flies without a sound?"),
    (("bee",), "How do bees tell where flowers are?"),
    (("bee",), "What keeps the queen warm? 冬天呢？"),
    (("drinks its mother's milk",), "What do young whales drink?"),
    (("fox", "owl"), "Who hunts mice under the snow at night?"),
    (("whale", "owl"), "Who hears others from far away?"),
    (("fox", "bee"), "Where do animals stay until spring?"),
    (("whale", "bee"), "Who sings, and who dances, to tell others?"),
]
ZOO = python_data(ZOO_TEXT, ZOO_QUERIES)
PY_RUN = PY_DATA + ONE_ROUND  # on files of python_data

# Four chunks of fixed:5, a token each.
WORDS = [("a", "aaaa "), ("b", "bbbb "), ("c", "cccc "), ("d", "dddd ")]

# 40 queries on 40 paragraphs: fixed:20 answers none of them, para:45 all but
# the ten that need four paragraphs, para:200 nearly all.
MANY_TEXTS = [
    "common p{0} q{0} r{0} s{0} t{0} u{0} v{0} w{0}. ".format(f"{n:02}")
    for n in range(40)
]
MANY = python_data(
    [("all", text) for text in MANY_TEXTS],
    [((text[:38],), text) for text in MANY_TEXTS[:30]]
    + [
        (tuple(text[:38] for text in MANY_TEXTS[n : n + 4]), MANY_TEXTS[n])
        for n in range(0, 40, 4)
    ],
)
THREE_SIZES = "-s fixed:20 -s para:45 -s para:200 "

# A user's chunkers: one loses the second half, one brings both halves, one
# brings nothing.
HALVES_PY = """
def half(text):
    return [(0, len(text) // 2)]

def whole(text):
    return [(0, len(text) // 2), text[len(text) // 2:]]

def nothing(text):
    return []
"""


@lru_cache(maxsize=None)
def zoo_report():
    """What the JSON says of the strategies of a bare run, on the zoo."""
    return measured(PY_RUN, ZOO)


def single_query(text, gold):
    """A corpus of one paragraph, and one query."""
    return python_data([("t", text)], [((gold,), "one")])


def note_texts(report, kind):
    """The texts of the notes of a kind."""
    return [note["text"] for note in report["notes"] if note["kind"] == kind]


def noted_strategies(report, kind):
    """The strategies that the notes of a kind hold of, once a note."""
    return [
        strategy
        for note in report["notes"]
        for strategy in note["strategies"]
        if note["kind"] == kind
    ]


def written_files(arguments, files, option):
    """What a run writes into a folder, {name: text}, and what its JSON says.

    The option names the folder, or a file x.svg in it.
    """
    with tempfile.TemporaryDirectory(prefix=folder_prefix()) as folder:
        path = folder
        if option == "--plot":
            path = os.path.join(folder, "x.svg")
        report = measured([*arguments.split(), option, path], files)
        texts = {
            name: read_exactly(os.path.join(folder, name))
            for name in os.listdir(folder)
        }
    return texts, report


def read_exactly(path):
    """The text of a file in UTF-8, with its line ends as they are."""
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def csv_rows(arguments, files):
    """The lines of the CSV, as dicts."""
    text = printed(arguments + " --format csv", files)
    return list(csv.DictReader(io.StringIO(text.lstrip("\ufeff"))))


def markdown_tables(arguments, files):
    """The tables of the Markdown: each a list of rows, these of cells."""
    lines = printed(arguments + " --format markdown", files).splitlines()
    tables = []
    for is_table, rows in itertools.groupby(
        lines, lambda line: line.startswith("|")
    ):
        if is_table:
            tables.append([table_cells(row) for row in rows])
    return tables


def table_cells(line):
    """The cells of a line of a Markdown table."""
    return [cell.strip() for cell in line.strip("|").split("|")]


def rows_with(tables, column):
    """The rows, as dicts, of those tables that have a column."""
    return [
        dict(zip(head, row))
        for head, _, *rows in tables
        if column in head
        for row in rows
    ]


class NoteCase(NamedTuple):
    """Where a note holds, and of which strategies; or that it does not."""

    name: str
    kind: str
    arguments: str
    files: dict
    strategies: List[str]


MINE_ZOO = {**ZOO, "mine.py": ORDERS_PY + HALVES_PY}
TWO_SIZES = "-s fixed:50 -s para:120 "
TURNING = "--retriever mine.Turning --rounds 3 "
SIX = python_data(  # six chunks of para:1; only the third is asked for
    [(letter, letter * 2 + " ") for letter in "abcdef"], [(("c",), "cc")]
)
NOTE_CASES = [
    NoteCase(
        name="another order in each round",
        kind="varies",
        arguments=TURNING + TWO_SIZES,
        files=MINE_ZOO,
        strategies=["fixed:50", "para:120"],
    ),
    NoteCase(
        name="the same order in each round",
        kind="varies",
        arguments="--retriever mine.Order --rounds 3",
        files=MINE_ZOO,
        strategies=[],
    ),
    NoteCase(
        name="a chunker that loses half of the text",
        kind="lost",
        arguments="-s mine.half -s mine.whole",
        files=MINE_ZOO,
        strategies=["mine.half"],
    ),
    NoteCase(
        name="a chunker that loses nothing",
        kind="lost",
        arguments="-s mine.whole",
        files=MINE_ZOO,
        strategies=[],
    ),
    NoteCase(
        name="the best chunk alone is over the budget",
        kind="lost",
        arguments="--budget 15 " + TWO_SIZES,
        files=ZOO,
        strategies=["para:120"],
    ),
    NoteCase(
        name="every chunk is within the budget",
        kind="lost",
        arguments="--budget 30 " + TWO_SIZES,
        files=ZOO,
        strategies=[],
    ),
    NoteCase(
        name="saturated at the larger of two k",
        kind="saturated",
        arguments="-k 3,6 -s para:1",
        files=SIX,
        strategies=["para:1"],
    ),
    NoteCase(
        name="saturated at both of two k",
        kind="saturated",
        arguments="-k 3,6 -s para:6",
        files=SIX,
        strategies=["para:6", "para:6"],
    ),
    NoteCase(
        name="a query without a token of the corpus",
        kind="unmatched",
        arguments="-s para:1 -s fixed:4",
        files=python_data([("a", "aa "), ("b", "bb ")], [(("a",), "zz")]),
        strategies=["para:1", "fixed:4"],
    ),
    NoteCase(
        name="a query with one token of the corpus",
        kind="unmatched",
        arguments="-s para:1",
        files=SIX,
        strategies=[],
    ),
    NoteCase(
        name="a paragraph of more than twice the size",
        kind="oversize",
        arguments="-s para:3 -s para:4 -s fixed:3",
        files=python_data([("a", "aaaa bbb"), ("b", "b ")], [(("a",), "b")]),
        strategies=["para:3"],  # twice 4 is not less than 8
    ),
    NoteCase(
        name="a paragraph of more than twice as many tokens",
        kind="oversize",
        arguments="-s para:1t -s para:2t",
        files=python_data([("a", "aa bb cc "), ("b", "b ")], [(("a",), "b")]),
        strategies=["para:1t"],
    ),
    NoteCase(
        name="two retrievers and two strategies",
        kind="mixed",
        arguments=TWO_SIZES + "--retriever bm25 --retriever hash",
        files=ZOO,
        strategies=["para:120 hash"],
    ),
    NoteCase(
        name="a query of 13 golds in 13 chunks",
        kind="unknown",
        arguments="-s para:1 -k 2",
        files=python_data(
            [(f"t{n}", f"w{n:03} ") for n in range(14)],
            [(tuple(f"t{n}" for n in range(13)), "w000")],
        ),
        strategies=["para:1", "para:1"],  # at 1 and at 2
    ),
    NoteCase(
        name="a budget, under which chance is never known",
        kind="unknown",
        arguments="-s para:1 --budget 3",
        files=python_data(
            [(f"t{n}", f"w{n:03} ") for n in range(14)],
            [(tuple(f"t{n}" for n in range(13)), "w000")],
        ),
        strategies=["para:1"],  # at 1, not under the budget
    ),
    NoteCase(
        name="a query of 12 golds in 12 chunks",
        kind="unknown",
        arguments="-s para:1 -k 2",
        files=python_data(
            [(f"t{n}", f"w{n:03} ") for n in range(14)],
            [(tuple(f"t{n}" for n in range(12)), "w000")],
        ),
        strategies=[],
    ),
]


class DepthCase(NamedTuple):
    """Whether a chunker falls too often to a space or a character."""

    name: str
    text: str
    spec: str
    is_noted: bool


DEPTH_CASES = [
    DepthCase(
        name="all cuts at a character",
        text="x" * 100,
        spec="recursive:20",
        is_noted=True,
    ),
    DepthCase(
        name="all cuts at a space",
        text="one two " * 12,
        spec="recursive:20",
        is_noted=True,
    ),
    DepthCase(
        name="all cuts at a sentence end",
        text="one two. " * 12,
        spec="recursive:20",
        is_noted=False,
    ),
    DepthCase(
        name="only a recursive chunker falls",
        text="x" * 100,
        spec="fixed:20",
        is_noted=False,
    ),
    DepthCase(
        name="one cut of six",
        text="one two three. " * 5 + "y" * 39,
        spec="recursive:20",
        is_noted=False,
    ),
    DepthCase(
        name="one cut of five",
        text="one two three. " * 4 + "y" * 39,
        spec="recursive:20",
        is_noted=True,
    ),
]


class Notes(unittest.TestCase):
    """When a note holds, and when it does not."""

    def test_a_note_stands_where_it_holds_and_nowhere_else(self):
        for case in NOTE_CASES:
            with self.subTest(case.name):
                report = measured(
                    PY_RUN + case.arguments,
                    case.files,
                )
                self.assertEqual(
                    noted_strategies(report, case.kind), case.strategies
                )

    def test_depth_is_noted_from_a_fifth_of_the_cuts(self):
        for case in DEPTH_CASES:
            with self.subTest(case.name):
                report = measured(
                    PY_RUN + "-s " + case.spec,
                    single_query(case.text, case.text[:3]),
                )
                noted = noted_strategies(report, "depth")
                self.assertEqual(noted, [case.spec] * case.is_noted)

    def test_chance_is_noted_from_a_twentieth(self):
        """One of six chunks answers, at 1: each query by luck in 1/6."""
        for count, share in ((1, "16.7 %"), (2, None)):  # 1/36 is too rare
            files = python_data(
                [(letter, letter * 2 + " ") for letter in "abcdef"],
                [(("c",), "cc")] * count,
            )
            report = measured(PY_RUN + "-s para:1 -k 1", files)
            text = f"random chunks do as well in {share} of draws."
            wanted = [f"recall@1 may be luck: {text}"] if share else []
            self.assertEqual(note_texts(report, "chance"), wanted)

    def test_what_luck_gives_in_half_of_all_draws_is_no_better(self):
        """One of two chunks answers, at 1."""
        files = python_data([("a", "aa "), ("b", "bb ")], [(("a",), "aa")])
        report = measured(PY_RUN + "-s para:1 -k 1", files)
        wanted = "recall@1 is no better than luck: random chunks do as well "
        wanted += "in 50.0 % of draws."
        self.assertEqual(note_texts(report, "chance"), [wanted])

    def test_a_recall_that_chance_gives_for_half_is_easily_high(self):
        """One of two chunks answers each: at random, 5 of 5 in 1/32."""
        for count, share in ((2, "50.0 %"), (3, None)):
            letters = "abc"[:count]
            files = python_data(
                [(letter, letter * 2 + " ") for letter in letters],
                [(("a",), "aa")] * 5,
            )
            report = measured(PY_RUN + "-s para:1 -k 1", files)
            wanted = f"recall@1 is easily high: of {count} chunks, random "
            wanted += f"draws of 1 answer {share} of the questions."
            self.assertEqual(
                note_texts(report, "chance"), [wanted] if share else []
            )

    def test_how_many_need_too_much_is_said(self):
        """Of a thing alone the verb says so."""
        golds = tuple(f"t{n}" for n in range(13))
        paragraphs = [(f"t{n}", f"w{n:03} ") for n in range(14)]
        for count, said in (
            (1, "1 question needs too many golds."),
            (2, "2 questions need too many golds."),
        ):
            files = python_data(paragraphs, [(golds, "w000")] * count)
            report = measured(PY_RUN + "-s para:1 -k 1", files)
            wanted = [f"chance@1 is not computed: {said}"]
            self.assertEqual(note_texts(report, "unknown"), wanted)

    def test_a_choice_with_too_many_golds_says_so(self):
        golds = tuple(f"t{n}" for n in range(13))
        paragraphs = [(f"t{n}", f"w{n:03} ") for n in range(40)]
        asked = [(golds, "w000 w001 w002 w003 w004 w005 w006"), ("t0", "w000")]
        said = choice_said(
            PY_RUN + "-s para:1 -s para:9 -k 13",
            python_data(paragraphs, asked),
        )
        self.assertIn(
            " beats random chunks is not known: a question needs too many "
            "golds.",
            said,
        )

    def test_what_is_saturated_is_said(self):
        for arguments, said in (
            ("-s para:1 -k 12", "recall@12 means nothing: all 12 chunks fit "),
            ("-s fixed:999", "recall@3 means nothing: the only chunk fits "),
            ("-s para:1 --budget 999", "all 12 chunks fit in 999 tokens."),
        ):
            report = measured(PY_RUN + arguments, ZOO)
            *_, text = note_texts(report, "saturated")
            self.assertIn(said, text)

    def test_what_is_saturated_has_no_ceiling(self):
        """The second gold is cut, so that recall cannot reach 1."""
        files = python_data(
            [("t", "aaaa bbbb cccc dddd")],
            [(("aaaa",), "aaaa"), (("bbbb cccc",), "bbbb cccc")],
        )
        three, four = (
            measured(PY_RUN + f"-s fixed:5 -k {k}", files) for k in (3, 4)
        )
        self.assertEqual(noted_strategies(three, "saturated"), [])
        self.assertEqual(noted_strategies(four, "saturated"), ["fixed:5"])
        ceilings = [
            [text.split()[0] for text in note_texts(report, "ceiling")]
            for report in (three, four)
        ]
        self.assertEqual(ceilings, [["recall@1", "recall@3"], ["recall@1"]])

    def test_a_ceiling_says_whether_k_or_the_chunks_stand_in_the_way(self):
        """One query is answered, two need two chunks, one is cut up."""
        files = python_data(
            [("t", "aaaa bbbb cccc dddd")],
            [
                (("aaaa",), "aaaa"),
                (("aaaa", "dddd"), "aaaa"),
                (("bbbb", "dddd"), "bbbb"),
                (("bbbb cccc",), "bbbb cccc"),
            ],
        )
        report = measured(PY_RUN + "-s fixed:5 -k 1", files)
        self.assertEqual(
            note_texts(report, "ceiling"),
            [
                "recall@1 is as high as any ranker could get with these "
                "chunks: 2 questions need more than 1 chunk, and 1 question "
                "needs what no chunk holds."
            ],
        )

    def test_a_ceiling_names_one_cause_where_there_is_one(self):
        whole = (("aaaa",), "aaaa")
        for other, why in (
            ((("aaaa", "dddd"), "aaaa"), "1 question needs more than 1"),
            ((("bbbb cccc",), "bbbb"), "1 question needs what no chunk"),
        ):
            files = python_data([("t", "aaaa bbbb cccc dddd")], [whole, other])
            report = measured(PY_RUN + "-s fixed:5 -k 1", files)
            (text,) = note_texts(report, "ceiling")
            self.assertIn(f"with these chunks: {why}", text)
            self.assertNotIn(", and ", text)

    def test_ten_are_listed_whole_and_of_eleven_one_is_more(self):
        ten = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10"
        self.assertEqual(cre.first_ten(range(1, 11)), ten)
        self.assertEqual(cre.first_ten(range(1, 12)), f"{ten} and 1 more")

    def test_a_budget_that_pays_for_every_chunk_is_saturated(self):
        files = python_data(
            [("a", "aa ab "), ("b", "ba bb bc "), ("c", "ca ")],
            [(("a",), "aa")],
        )
        for budget, noted in ((5, []), (6, ["para:1"])):
            with self.subTest(budget=budget):
                report = measured(
                    PY_RUN + f"-s para:1 --budget {budget}", files
                )
                self.assertEqual(noted_strategies(report, "saturated"), noted)

    def test_unmatched_queries_are_named_by_number(self):
        files = python_data(
            [("a", "aa "), ("b", "bb ")],
            [(("a",), "aa"), (("a",), "zz"), (("b",), "yy")],
        )
        report = measured(PY_RUN + "-s para:1 -k 1", files)
        (text,) = note_texts(report, "unmatched")
        self.assertIn("nothing for 2 questions (2, 3), which share", text)
        out = printed(PY_RUN + "-s para:1 -k 1 --explain 2", files)
        self.assertIn("it shares no token with any chunk", out)
        self.assertNotIn("outranked", out)

    def test_a_scrap_of_a_section_is_told_from_all_of_it(self):
        """Of 30 words under a heading one chunk of three is sent."""
        text = "# Guide\n\n" + numbered_words(0, 30)
        files = {
            "g.md": text,
            "q.jsonl": query("w0 w1", "g#guide") + query("w29", "g#guide"),
        }
        arguments = "--corpus g.md --queries q.jsonl --rounds 1 -k 1 "
        small = measured(arguments + "-s fixed:40", files)
        large = measured(arguments + "-s fixed:400", files)
        self.assertEqual(
            note_texts(small, "touched"),
            [
                "recall@1 flatters: for 2 questions it counts a section of "
                "which less than 60 % arrived. complete@1, which takes 60 %, "
                "is 0.000."
            ],
        )
        self.assertEqual(note_texts(large, "touched"), [])

    def test_all_strategies_share_a_line_where_all_share_a_note(self):
        files = python_data([("a", "aa "), ("b", "bb ")], [(("a",), "zz")])
        out = printed(PY_RUN + "-s para:1 -s fixed:3 -s fixed:2", files)
        self.assertRegex(out, r"(?m)^all rows +Retrieves nothing")
        out = printed(PY_RUN + "-s para:1", files)
        self.assertRegex(out, r"(?m)^para:1 +.*\n +Retrieves nothing")

    def test_a_page_has_notes_on_a_dozen_and_says_how_many_more(self):
        sizes = ",".join(str(size) for size in range(400, 415))
        arguments = PY_RUN + f"-s fixed:{sizes} -s fixed:20"
        out = printed(arguments, ZOO)
        self.assertEqual(len(re.findall(r"(?m)^fixed:\d+  recall", out)), 12)
        self.assertIn("Notes on 4 more strategies: see --format json.", out)
        dozen = ",".join(str(size) for size in range(400, 412))
        out = printed(PY_RUN + f"-s fixed:{dozen} -s para:90", ZOO)
        self.assertEqual(len(re.findall(r"(?m)^fixed:\d+  recall", out)), 12)
        self.assertNotIn("Notes on", out)
        report = measured(arguments, ZOO)
        self.assertEqual(len(noted_strategies(report, "saturated")), 15)


class FloorCase(NamedTuple):
    """Why a strategy has no chunk that covers a gold."""

    name: str
    text: str
    gold: str
    spec: str
    why: str


LETTERS_30 = "abcdefghijklmnopqrstuvwxyzABCD"
WIDE = "abcd" + " " * 22 + "efgh"  # a place of 30 characters
CUT, LONG = "is split across chunks", "is too long for a chunk"
FLOOR_CASES = [
    FloorCase(
        name="a chunk of 12 could hold 60 % of 20 characters",
        text=LETTERS_30,
        gold=LETTERS_30[1:21],
        spec="fixed:12",
        why=CUT,
    ),
    FloorCase(
        name="no chunk of 12 can hold 60 % of 21 characters",
        text=LETTERS_30,
        gold=LETTERS_30[1:22],
        spec="fixed:12",
        why=LONG,
    ),
    FloorCase(
        name="its only place is too long",
        text=WIDE,
        gold="abcdefgh",
        spec="fixed:12",
        why=LONG,
    ),
    FloorCase(
        name="one of its places is too long, and a boundary cuts the other",
        text=WIDE + "xxabcdefgh",
        gold="abcdefgh",
        spec="fixed:12",
        why=CUT,
    ),
    FloorCase(
        name="a user's chunker may leave text out",
        text=LETTERS_30,
        gold=LETTERS_30[20:25],
        spec="mine.half",
        why="is split across chunks or left out",
    ),
    FloorCase(
        name="a user's chunker may bring no chunk at all",
        text=LETTERS_30,
        gold=LETTERS_30[20:25],
        spec="mine.nothing",
        why="is split across chunks or left out",
    ),
    FloorCase(
        name="a topic of five words, in chunks of two",
        text="aa bb cc dd ee ",
        gold="t",
        spec="fixed:6",
        why=LONG,
    ),
    FloorCase(
        name="a topic of four words, in chunks of up to three",
        text="aaaa bbbb c d",
        gold="t",
        spec="fixed:8",  # "aaaa bbb" and "b c d"
        why=CUT,
    ),
    FloorCase(
        name="a topic of marks alone",
        text="... ",
        gold="t",
        spec="fixed:9",
        why="has no token to match",
    ),
]


class FloorNote(unittest.TestCase):
    """How many golds no chunk can cover, and why."""

    def test_it_says_why_a_gold_is_covered_by_no_chunk(self):
        for case in FLOOR_CASES:
            with self.subTest(case.name):
                files = python_data(
                    {
                        "one": [("t", case.text)],
                        "two": [("other", "a word of another document")],
                    },
                    [((case.gold,), "one")],
                )
                report = measured(
                    PY_RUN + "-s " + case.spec,
                    {**files, "mine.py": HALVES_PY},
                )
                noun = "topic" if case.gold == "t" else "passage"
                self.assertEqual(
                    note_texts(report, "floor"),
                    [
                        "1 question cannot be answered with these chunks: "
                        f"1 {noun} {case.why}."
                    ],
                )

    def test_of_sections_it_says_what_recall_cannot_count(self):
        """Two chunks hold 7 of its 14 characters each; pieces add up."""
        files = {
            "g.md": "# A\n\n"
            + "a" * 13
            + "\n\n# B\n\n"
            + "b" * 7
            + "\n\n# C\n\n"
            + "c" * 30,
            "q.jsonl": query("b", "g#b"),
        }
        report = measured("--corpus g.md --queries q.jsonl -s fixed:27", files)
        self.assertEqual(
            note_texts(report, "floor"),
            [
                "recall cannot count 1 question, whatever is sent: 1 section "
                "is split across chunks."
            ],
        )

    def test_it_counts_the_golds_of_each_strategy_by_reason(self):
        text = "".join(f"w{number:02} " for number in range(30))
        golds = [  # fixed:20 cuts at 20, 40, ...
            text[0:60],
            text[40:100],
            text[0:8],
            text[14:26],
            text[34:46],
            text[54:66],
            text[45:75],
        ]
        files = python_data(
            [("t", text)], [((gold,), "w01") for gold in golds]
        )
        report = measured(PY_RUN + "-s fixed:20,60", files)
        start = "cannot be answered with these chunks:"
        self.assertEqual(
            note_texts(report, "floor"),
            [
                f"6 questions {start} 2 passages are too long for a "
                "chunk, 4 passages are split across chunks.",
                f"2 questions {start} 2 passages are split across chunks.",
            ],
        )


# ---- what to make of the figures -------------------------------------------
def wrapped_lines(arguments, files=None):
    """What a run prints, each paragraph as one line."""
    parts = printed(arguments, files).split("\n\n")
    return [" ".join(part.split()) for part in parts]


def paragraph_with(words, arguments, files):
    """The one paragraph of a run's page that has these words, as one line."""
    (found,) = [
        part for part in wrapped_lines(arguments, files) if words in part
    ]
    return found


def choice_said(arguments, files):
    """What a run's page says of its choice, two paragraphs as one line."""
    parts = wrapped_lines(arguments, files)
    starts = [part.startswith("Choose ") for part in parts]
    first = starts.index(True)
    return " ".join(parts[first : first + 2])


class Verdicts(unittest.TestCase):
    """What the page says of the comparisons."""

    def test_it_is_decided_under_a_twentieth(self):
        row = {"wins": [1, 2, 3], "losses": []}
        for p, verdict in ((0.0499, "better"), (0.05, "undecided")):
            found = cre.verdict_of(row, p, [False] * 20, 1)
            self.assertEqual(found["verdict"], verdict)

    def test_losses_can_decide_as_well(self):
        """Against a baseline that answers all nothing can win."""
        row = {"wins": [], "losses": [1]}
        found = cre.verdict_of(row, 1.0, [True] * 20, 1)
        self.assertTrue(found["decidable"])
        found = cre.verdict_of(row, 1.0, [True] * 3 + [False] * 3, 1)
        self.assertFalse(found["decidable"])

    def test_a_small_p_is_rounded_or_bounded(self):
        self.assertEqual(cre.p_text(0.0006), "p = 0.001")
        self.assertEqual(cre.p_text(0.0004), "p < 0.001")

    def test_ten_comparisons_are_told_and_of_eleven_one_is_more(self):
        for count, more in (
            (10, []),
            (11, ["  and 1 more (--detail has all)"]),
        ):
            spec = ",".join(str(20 + n) for n in range(count + 1))
            out = printed(PY_RUN + f"-s fixed:{spec}", MANY)
            lines = out.splitlines()
            lines = [line for line in lines if line.startswith("  and ")]
            self.assertEqual(lines, more)

    def test_one_that_is_decided_and_one_that_is_not(self):
        """para:45 wins 30 and loses none, para:46 cuts alike."""
        said = paragraph_with(
            "Compared with",
            PY_RUN + "-s para:45 -s fixed:20 -s para:46",
            MANY,
        )
        self.assertIn(
            "Compared with the baseline, para:45, by recall@3 (p is adjusted "
            "for all 4 comparisons: 2 here, 2 by recall@1 in --detail): "
            "worse fixed:20 -0.750 0 won, 30 lost p < 0.001 "
            "undecided para:46 +0.000 0 won, 0 lost p = 1.000 no difference "
            "seen By recall@1: worse fixed:20 -0.750",
            said,
        )
        self.assertIn(
            "Undecided does not mean equal: 40 questions are too few", said
        )
        self.assertNotIn('"Needs"', said)
        self.assertNotIn("could be shown", said)

    def test_where_one_is_decided_a_verdict_was_possible(self):
        """8 won decide after others, though 9 are needed at first."""
        undecided = {"verdict": "undecided", "decidable": False}
        undecided["queries_needed"] = None
        decided = {"verdict": "better", "decidable": True}
        report = SimpleNamespace(data=SimpleNamespace(queries=[None] * 14))
        said = cre.undecided_text(report, [decided, undecided])
        self.assertEqual(
            said,
            "Undecided does not mean equal: 14 questions are too few to tell "
            "which is better.",
        )

    def test_the_best_result_that_is_possible_may_not_be_enough(self):
        """fixed:20 misses 3 of 4: of 2 comparisons, 7 in a row decide."""
        few = python_data(
            [("all", text) for text in MANY_TEXTS],
            [((text[:38],), text) for text in MANY_TEXTS[:3]]
            + [((MANY_TEXTS[0][:5],), MANY_TEXTS[0])],
        )
        said = paragraph_with(
            "Compared with", PY_RUN + "-s fixed:20 -s para:45", few
        )
        self.assertIn(
            "No difference from fixed:20 could be shown with these questions: "
            "it takes 7 won and none lost, or the reverse, but only the 3 "
            "that fixed:20 misses can be won, and only the 1 that it answers "
            "can be lost.",
            said,
        )
        rows = measured(PY_RUN + "-s fixed:20 -s para:45", few)["comparisons"]
        self.assertEqual([row["decidable"] for row in rows], [False, False])

    def test_ten_are_shown_and_the_others_counted(self):
        sizes = ",".join(str(size) for size in range(50, 63))
        said = paragraph_with(
            "Compared with", PY_RUN + f"-s fixed:{sizes} -k 1", ZOO
        )
        self.assertEqual(said.count("undecided fixed:"), 10)
        self.assertIn("and 2 more (--detail has all)", said)

    def test_a_saturated_baseline_is_compared_with_nothing(self):
        for arguments, why in (
            (
                "-s fixed:9999 -s fixed:20",
                "the baseline, fixed:9999, has",
            ),
            (
                "-s fixed:20 -s fixed:9999",
                "every strategy but the baseline, fixed:20, has",
            ),
        ):
            out = wrapped_lines(PY_RUN + arguments, MANY)
            self.assertIn(
                f"Nothing is compared by recall@3: {why} so few chunks that "
                "all fit in the top 3.",
                out,
            )
            report = measured(PY_RUN + arguments, MANY)
            self.assertEqual(
                {row["verdict"] for row in report["comparisons"]}, {None}
            )

    def test_a_single_strategy_is_compared_with_nothing(self):
        out = printed(PY_RUN + "-s para:45", MANY)
        self.assertNotIn("ompared", out)

    def test_estimated_queries_have_the_power_that_is_said(self):
        """The exact test finds such a difference in some 80 % of the cases."""
        for wins, losses, total, tests in (
            (30, 10, 100, 1),
            (30, 10, 100, 7),
            (12, 1, 40, 16),
        ):
            with self.subTest(wins=wins, losses=losses, tests=tests):
                count = cre.queries_needed(wins, losses, total, tests)
                power = exact_power(wins / total, losses / total, count, tests)
                self.assertGreater(power, 0.7)
                self.assertLess(power, 0.87)
                if tests > 1:  # the family cannot be left out
                    alone = cre.queries_needed(wins, losses, total, 1)
                    power = exact_power(
                        wins / total, losses / total, alone, tests
                    )
                    self.assertLess(power, 0.6)

    def test_no_difference_needs_no_number_of_queries(self):
        self.assertIsNone(cre.queries_needed(4, 4, 20, 3))
        self.assertIsNone(cre.queries_needed(0, 0, 20, 3))

    def test_intervals_of_differences_by_hand(self):
        """Of 14 queries 5 won: a = 6/16, b = 1/16 (Bonett and Price 2012)."""
        for counts, low, high in (
            ((5, 0, 14), 0.026854, 0.598146),
            ((0, 5, 14), -0.598146, -0.026854),
            ((0, 0, 54), -0.049497, 0.049497),
            ((0, 1, 1), -1, 0.733536),
        ):
            with self.subTest(counts):
                found = cre.paired_interval(*counts)
                self.assertAlmostEqual(found[0], low, places=5)
                self.assertAlmostEqual(found[1], high, places=5)

    def test_events_by_a_fourier_transform(self):
        rng = random.Random(31)
        for _ in range(200):
            size = rng.randint(0, 30)
            chances = [rng.choice([0, 1, rng.random()]) for _ in range(size)]
            shares = exactly(chances)
            for count in range(size + 1):
                found = cre.at_least(chances, count)
                self.assertAlmostEqual(found, sum(shares[count:]), places=12)
        rare = cre.at_least([0.001] * 3000, 3)  # near Poisson's 1 - 8.5 / e^3
        self.assertAlmostEqual(rare, 1 - 8.5 * math.exp(-3), places=3)

    def test_what_is_almost_sure_to_happen_is_counted_as_well(self):
        """At least n - 2 events happen where at most 2 fail to."""
        for count in range(1, 6):
            found = cre.at_least([0.999] * 3000, 3001 - count)
            failed = cre.at_least([0.001] * 3000, count)
            self.assertAlmostEqual(found, 1 - failed, places=10)


def exact_power(won, lost, total, tests):
    """How often the exact test, at 0.05 / tests, finds such a difference."""
    found = 0.0
    tied = 1 - won - lost
    for uneven in range(total + 1):
        share = (
            comb(total, uneven)
            * (won + lost) ** uneven
            * tied ** (total - uneven)
        )
        for wins in range(uneven + 1):
            losses = uneven - wins
            if tests * cre.mcnemar(wins, losses) < 0.05:
                part = (won / (won + lost)) ** wins
                part *= (lost / (won + lost)) ** losses
                found += share * comb(uneven, wins) * part
    return found


class FewQuestions(unittest.TestCase):
    """Which of the columns of one gold and of several say little."""

    def said(self, single, multi):
        """What the head says of so many questions of either kind."""
        golds = [["one"]] * single + [["one", "two"]] * multi
        queries = [SimpleNamespace(golds=each) for each in golds]
        return cre.few_text(SimpleNamespace(queries=queries))

    def test_it_is_the_column_of_under_five(self):
        self.assertEqual(self.said(10, 4), " multi rests on 4 questions.")
        self.assertEqual(self.said(10, 1), " multi rests on 1 question.")
        self.assertEqual(self.said(4, 10), " single rests on 4 questions.")

    def test_there_is_none_from_five_on_or_without_both_columns(self):
        self.assertEqual(self.said(5, 5), "")
        self.assertEqual(self.said(3, 0), "")
        self.assertEqual(self.said(0, 3), "")


class Choice(unittest.TestCase):
    """What the page says of the choice; that it is right, see BruteForce."""

    def test_too_few_queries_give_the_best_recall(self):
        """para:45 is shown to be better than fixed:20, so it is no guess."""
        said = choice_said(PY_RUN + "-s fixed:20 -s para:45", MANY)
        self.assertEqual(
            said,
            "Choose para:45: it found what "
            "30 of 40 questions need (0.750; 95 % interval 0.60 to 0.86) for "
            "27.0 tokens a question. It misses questions 31, 32, 33, 34, 35, "
            "36, 37, 38, 39, 40 (--explain 31 says why). Leave-one-out "
            "recall@3, the fairer "
            "figure, is 0.750: chosen on 39 questions and tried on the one "
            "left out, each in turn, the choice answers 30 of 40. With fewer "
            "than 54 questions this is just the best recall@3: no cheaper "
            "strategy can be shown to come within 0.05 of it. Not considered: "
            "fixed:20 (nothing answered).",
        )

    def test_a_cheaper_one_that_is_shown_to_be_as_good(self):
        """para:45 and para:90 answer the same 60 of 60 queries.

        fixed:20 answers six of them.
        """
        files = python_data(
            [("all", text) for text in MANY_TEXTS],
            [((text[:38],), text) for text in MANY_TEXTS[:27]] * 2
            + [((text[:15],), text[:18]) for text in MANY_TEXTS[::8]]
            + [((text[:15],), text[:18]) for text in MANY_TEXTS[:1]],
        )
        said = choice_said(PY_RUN + "-s para:90 -s para:45 -s fixed:20", files)
        self.assertIn(
            "Choose para:45: it found what 60 of 60 questions need (1.000;",
            said,
        )
        self.assertIn(
            "para:90 has 1.000 for 54.0 tokens; para:45 is shown to come "
            "within 0.05 of it (--margin).",
            said,
        )
        self.assertIn(
            "Cheaper, but 0.05 or more below para:90, so that more questions "
            "would not help at this difference: fixed:20.",
            said,
        )

    def test_better_than_the_baseline_may_be_a_guess_among_the_others(self):
        """fixed:30 is as good as para:45, on the few questions there are."""
        said = choice_said(PY_RUN + "-s fixed:20 -s para:45 -s para:46", MANY)
        self.assertRegex(
            said,
            r"^Choose para:4[56] \(better than fixed:20; among the others a "
            r"guess, with 40 questions\): it found",
        )

    def test_no_other_is_left_for_a_guess(self):
        """Besides the baseline and what cannot be chosen."""
        said = choice_said(
            PY_RUN + "-s fixed:20 -s para:45 -s para:9999", MANY
        )
        self.assertTrue(said.startswith("Choose para:45: it found"), said)
        row = {"verdict": "better", "strategy": "a", "metric": "recall@3"}
        report = SimpleNamespace(
            data=SimpleNamespace(queries=[None] * 40),
            baseline="b",
            metric="recall@3",
            comparisons=[row],
            results=[SimpleNamespace(label=label) for label in "ab"],
        )
        choice = {"strategy": "a", "margin": 0.05, "excluded": {}}
        self.assertEqual(cre.doubt_text(report, choice), "")
        report.results.append(SimpleNamespace(label="c"))
        self.assertEqual(
            cre.doubt_text(report, choice),
            " (better than b; among the others a guess, with 40 questions)",
        )

    def test_what_it_misses_is_told(self):
        """By its number, or its id if it has one."""
        ids = ["", "q-2", "", ""]
        for hits, said in (
            ([1, 1, 1, 1], []),
            ([1, 1, 0, 1], ["It misses question 3 (--explain 3 says why)."]),
            (
                [1, 0, 0, 1],
                ["It misses questions q-2, 3 (--explain q-2 says why)."],
            ),
        ):
            report = SimpleNamespace(
                results=[SimpleNamespace(label="a", columns={"r": hits})],
                metric="r",
                data=SimpleNamespace(
                    queries=[SimpleNamespace(id=each) for each in ids]
                ),
            )
            self.assertEqual(list(cre.missed_text(report, "a")), said)

    def test_what_is_not_shown_to_be_better_is_a_guess(self):
        """As the baseline it is compared with a worse one only."""
        said = choice_said(PY_RUN + "-s para:45 -s fixed:20", MANY)
        self.assertIn("Choose para:45 (a guess, with 40 questions): it", said)

    def test_cheaper_ones_of_the_same_recall_are_named(self):
        """Of few queries all answer all; the cheapest is named first."""
        files = python_data(
            [("all", text) for text in MANY_TEXTS],
            [((text[:38],), text) for text in MANY_TEXTS[:9]],
        )
        said = choice_said(PY_RUN + "-s para:90 -s para:45 -s para:135", files)
        self.assertIn("Choose para:135 (a guess, with 9 questions)", said)
        self.assertTrue(
            said.endswith(
                "Cheaper, with the same recall@3: para:45, para:90. Of equals "
                "the dearest is chosen, since a cheaper one has to prove "
                "itself; to save tokens at that risk, take para:45 (27.0 "
                "tokens)."
            ),
            said,
        )

    def test_a_budget_leaves_a_choice_though_chance_is_not_known(self):
        said = choice_said(PY_RUN + "-s fixed:20 -s para:45 --budget 60", MANY)
        self.assertIn("Choose para:45", said)
        self.assertIn(
            "Whether para:45 beats random chunks is not known: with a "
            "budget, that is not computed.",
            said,
        )

    def test_what_costs_the_same_is_not_cheaper(self):
        good = cre.Candidate("good", [True] * 60, [5] * 60)
        poor = cre.Candidate("poor", [True] * 30 + [False] * 30, [5] * 60)
        self.assertEqual(cre.choose([good, poor], 0.05)["cheaper"], [])

    def test_an_interval_that_ends_at_the_margin_shows_nothing(self):
        dear = cre.Candidate("dear", [True] * 60, [5] * 60)
        cheap = cre.Candidate("cheap", [True] * 60, [4] * 60)
        low, _ = cre.paired_interval(0, 0, 60)
        at_margin = cre.choose([dear, cheap], -low)
        over_margin = cre.choose([dear, cheap], 1e-9 - low)
        self.assertEqual(at_margin["strategy"], "dear")
        self.assertEqual(over_margin["strategy"], "cheap")

    def test_two_queries_can_each_be_left_out(self):
        one = cre.Candidate("one", [True, True], [5, 5])
        self.assertEqual(cre.choose([one], 0.05)["leave_one_out"], 1)
        alone = cre.Candidate("alone", [True], [5])
        self.assertIsNone(cre.choose([alone], 0.05)["leave_one_out"])

    def test_from_54_queries_on_it_is_no_guess(self):
        """The interval of no difference in 54 ends at -0.0495."""
        self.assertTrue(cre.is_guess({"margin": 0.05}, 53))
        self.assertFalse(cre.is_guess({"margin": 0.05}, 54))

    def test_more_than_100000_questions_are_not_counted(self):
        needs = [("b", 100_000), ("c", 100_001)]
        cheaper = [
            {"strategy": label, "queries_needed": needed}
            for label, needed in needs
        ]
        choice = {"reference": "a", "margin": 0.05, "cheaper": cheaper}
        (said,) = cre.cheaper_text(choice, 60)
        self.assertIn("b (would take about 100000 questions)", said)
        self.assertIn("c (would take over 100000 questions)", said)

    def test_how_many_queries_would_show_a_cheaper_one(self):
        """para:45 misses 1 of 60 that para:90 answers: it takes 87."""
        files = python_data(
            [("all", text) for text in MANY_TEXTS],
            [((text[:38],), text) for text in MANY_TEXTS[:30]] * 2
            + [((MANY_TEXTS[4] + MANY_TEXTS[5],), MANY_TEXTS[5])],
        )
        arguments = PY_RUN + "-s para:90 -s para:45"
        choice = measured(arguments, files)["choice"]
        (cheaper,) = choice["cheaper"]
        needed = cheaper["queries_needed"]
        self.assertEqual(choice["strategy"], "para:90")
        scaled = [
            count
            for count in range(1, needed + 1)
            if shown_within(0.05, 0, count / 61, count)
        ]
        self.assertEqual(scaled, [needed])
        self.assertIn(
            "Cheaper, but not shown to come within 0.05 of para:90: para:45 "
            f"(would take about {needed} questions).",
            choice_said(arguments, files),
        )

    def test_the_least_number_of_queries_by_trying_each(self):
        rng = random.Random(32)
        for _ in range(300):
            total = rng.randint(1, 200)
            wins = rng.randint(0, total // 4)
            losses = rng.randint(0, total // 4)
            margin = rng.choice([0, 0.02, 0.05, 0.2])
            found = cre.queries_to_show(wins, losses, total, margin)
            if wins - losses <= -margin * total:
                self.assertIsNone(found)
            elif found < 3000:
                first = next(
                    count
                    for count in range(1, 3001)
                    if shown_within(
                        margin,
                        wins * count / total,
                        losses * count / total,
                        count,
                    )
                )
                self.assertEqual(found, first)

    def test_nothing_qualifies(self):
        for arguments, said in (
            (
                "-s fixed:9999 -s fixed:5000",
                "Nothing here can be chosen. Not considered: fixed:9999, "
                "fixed:5000 (all chunks fit in the top 3).",
            ),
            (
                "-s fixed:9999",
                "Nothing here can be chosen. Not considered: fixed:9999 (all "
                "chunks fit in the top 3).",
            ),
        ):
            self.assertIn(said, wrapped_lines(PY_RUN + arguments, MANY))
            self.assertIsNone(measured(PY_RUN + arguments, MANY)["choice"])

    def test_what_answers_nothing_cannot_be_chosen(self):
        said = paragraph_with(
            "Nothing here", PY_RUN + "-s fixed:20 -s para:45 --budget 2", MANY
        )
        self.assertIn(
            "considered: fixed:20, para:45 (nothing answered).", said
        )

    def test_no_margin_leaves_the_best(self):
        said = choice_said(PY_RUN + "-s fixed:20 -s para:45 --margin 0", MANY)
        self.assertIn("with a margin of 0, no cheaper one", said)

    def test_rounds_that_disagree_choose_nothing(self):
        arguments = PY_DATA + TURNING + TWO_SIZES + "--covered 60,80"
        report = measured(arguments, MINE_ZOO)
        self.assertIsNone(report["choice"])
        out = printed(arguments, MINE_ZOO)
        self.assertNotIn("Choose", out)
        self.assertIn("Nothing is tested, since runs disagree.", out)

    def test_of_one_strategy_only_the_standing_is_told(self):
        out = printed(PY_RUN + "-s para:45", MANY)
        self.assertIn("para:45 found what 30 of 40 questions need", out)
        self.assertNotIn("Choose", out)

    def test_one_query_leaves_none_out(self):
        files = python_data(
            [(letter, letter * 2 + " ") for letter in 30 * "abcdefgh"],
            [(("aaaa",), "aa")],
        )
        files = python_data(
            [(f"t{n}", f"w{n:03} ") for n in range(40)], [(("t7",), "w007")]
        )
        choice = measured(PY_RUN + "-s para:1 -k 1", files)["choice"]
        self.assertEqual(choice["recall"], 1)
        self.assertIsNone(choice["leave_one_out"])

    def test_sections_go_by_what_is_complete(self):
        """Chunks of 20 touch each section; only structure sends it."""
        parts = [
            f"## Part {n}\n\n" + "word " * 12 + f"w{n:03}\n\n"
            for n in range(20)
        ]
        files = {
            "g.md": "# Guide\n\n" + "".join(parts),
            "q.jsonl": "".join(
                query(f"Part w{n:03}", f"g#part-{n}") for n in range(20)
            ),
        }
        arguments = (
            "--corpus g.md --queries q.jsonl --rounds 1 -s fixed:20 "
            "-s structure:200"
        )
        report = measured(arguments, files)
        small, large = report["strategies"]
        self.assertGreater(small["recall@3"], 0.5)
        self.assertEqual(small["complete@3"], 0)
        self.assertEqual(large["complete@3"], 1)
        self.assertEqual(
            {row["metric"] for row in report["comparisons"]},
            {"complete@1", "complete@3"},
        )
        self.assertEqual(
            [row["verdict"] for row in report["comparisons"]], ["better"] * 2
        )
        self.assertEqual(report["choice"]["strategy"], "structure:200")
        self.assertEqual(report["frontier"], ["fixed:20", "structure:200"])
        head = printed(arguments, files).split("\n\n")[1].split("\n")[0]
        columns = "chunks recall@1 recall@3 complete@1 complete@3 tokens"
        self.assertEqual(head.split(), ["strategy", *columns.split()])


class NamedQueries(unittest.TestCase):
    """Ids, categories and distractors of a query file."""

    FILES: ClassVar = {
        "c.jsonl": paragraphs(
            ("fox", "The red fox hunts mice. "),
            ("whale", "The blue whale dives deep. "),
            ("bee", "A bee dances for the others. "),
            ("owl", "An owl flies at night. "),
        ),
        "q.jsonl": query(
            "fox mice", "fox", id="a-1", category="land", distractors=["bee"]
        )
        + query(
            "whale dives bee",
            "whale",
            id="a-2",
            category="sea",
            distractors=["bee", "A bee dances"],
        )
        + query("zzz", "owl", id="a-3", category="land"),
    }
    ARGUMENTS = JSONL_DATA + "--rounds 1 -s para:1 -k 1,2 "

    def row(self):
        (row,) = measured(self.ARGUMENTS, self.FILES)["strategies"]
        return row

    def test_recall_by_category(self):
        """Of the two on land one finds nothing."""
        self.assertEqual(
            self.row()["categories"],
            {
                "land": {"queries": 2, "recall@1": 0.5, "recall@2": 0.5},
                "sea": {"queries": 1, "recall@1": 1, "recall@2": 1},
            },
        )
        out = printed(self.ARGUMENTS + "--detail", self.FILES)
        self.assertRegex(
            out,
            r"recall@2 of +land \(2 queries\) +sea \(1 query\)\n"
            r"para:1 +0\.500 +1\.000\n",
        )
        (line,) = csv_rows(self.ARGUMENTS, self.FILES)
        self.assertEqual(line["recall@2 of land"], "0.5")

    def test_distractors_that_arrive_are_counted(self):
        """At 2 the second query gets both, which one chunk covers."""
        row = self.row()
        self.assertEqual(row["distractors@1"], 0)
        self.assertAlmostEqual(row["distractors@2"], 2 / 3)
        out = printed(self.ARGUMENTS + "--detail", self.FILES)
        self.assertIn("distractors@2", out)
        self.assertNotIn("distractors@2", str(zoo_report()))

    def test_an_id_stands_wherever_a_query_is_named(self):
        out = printed(self.ARGUMENTS, self.FILES)
        self.assertIn("Retrieves nothing for 1 question (a-3), which", out)
        out = printed(self.ARGUMENTS + "--explain a-2", self.FILES)
        self.assertIn("question 2 (a-2): whale dives bee", out)
        self.assertNotIn("question 1", out)
        ids = [found["id"] for found in self.row()["queries"]]
        self.assertEqual(ids, ["a-1", "a-2", "a-3"])
        out = printed(
            self.ARGUMENTS + "-s fixed:4 --detail --baseline para:1",
            self.FILES,
        )
        self.assertRegex(out, r"fixed:4 +recall@1 .*a-1, a-2\n")

    def test_a_query_that_is_not_there_is_an_error(self):
        for wanted, said in (
            ("a-4", 'the nearest is "a-'),
            ("4", "a number from 1 to 3, or a query's id"),
            ("0", "a number from 1 to 3"),
        ):
            outcome = run(self.ARGUMENTS + "--explain " + wanted, self.FILES)
            self.assertEqual(outcome.status, 2)
            self.assertIn(said, outcome.err[0])


class Fragility(unittest.TestCase):
    """--covered and --shifts."""

    def test_pairs_of_starts_are_won_tied_or_lost(self):
        ours = cre.Shift("a", [0, 1, 2], [0.5, 0.6, 0.4])
        theirs = cre.Shift("b", [0, 1], [0.5, 0.5])
        self.assertEqual(cre.pairs_won(ours, theirs), (2, 2, 2))
        ours = cre.Shift("a", [0, 1], [0.5, 0.6])
        self.assertEqual(cre.pairs_won(ours, theirs), (2, 2, 0))

    def test_markdown_has_both_tables(self):
        arguments = PY_RUN + "-s fixed:30,60 --covered 60,90 --shifts 2 "
        out = printed(arguments + "--format markdown", ZOO)
        self.assertIn("| recall@3 | 60 % | 90 % |", out)
        self.assertIn("| recall@3 | at 0 | mean | least | most |", out)

    def test_each_share_gives_what_it_gives_alone(self):
        arguments = PY_RUN + "-s fixed:30,60 -s para:90 -k 1,3 --covered "
        report = measured(arguments + "60,30,95", ZOO)
        self.assertEqual(report["covered"], 60)
        self.assertEqual(
            [row["covered"] for row in report["thresholds"]], [30, 95]
        )
        seen = set()
        for row in report["thresholds"]:
            alone = measured(arguments + str(row["covered"]), ZOO)
            self.assertEqual(alone["covered"], row["covered"])
            self.assertEqual(alone["thresholds"], [])
            recalls = {
                each["strategy"]: each["recall@3"]
                for each in alone["strategies"]
            }
            self.assertEqual(row["recall"], recalls)
            verdicts = {
                each["strategy"]: each["verdict"]
                for each in alone["comparisons"]
                if each["metric"] == "recall@3"
            }
            self.assertEqual(row["verdicts"], verdicts)
            seen.add(tuple(recalls.values()))
        self.assertEqual(len(seen), 2)

    def test_a_share_is_of_the_characters_of_a_quote(self):
        """A chunk of 7 holds 70 % of a quote of 10, together 100 %."""
        files = python_data(
            [("t", "abcdefghij xyz")], [(("abcdefghij",), "x")]
        )
        for covered, recall, complete in ((70, 1, 1), (71, 0, 1)):
            (row,) = measured(
                PY_RUN
                + f"-s fixed:7 --retriever mine.Order --covered {covered}",
                {**files, "mine.py": ORDERS_PY},
            )["strategies"]
            self.assertEqual(row["recall@3"], recall)
            self.assertEqual(row["complete@3"], complete)

    def test_the_page_says_which_verdicts_change(self):
        """Few quotes of 38 characters lie whole in a chunk of fixed:45."""
        files = python_data(
            [("all", text) for text in MANY_TEXTS],
            [((text[:38],), text) for text in MANY_TEXTS[:30]],
        )
        arguments = PY_RUN + "-s para:45 -s fixed:45 -k 1 --covered "
        said = paragraph_with(
            "Verdicts that differ", arguments + "60,100", files
        )
        self.assertIn("60 %: fixed:45 is worse at 100 %.", said)
        table = paragraph_with(
            "How recall depends", arguments + "60,100", files
        )
        self.assertIn("recall@1 60 % 100 % para:45", table)
        arguments = PY_RUN + "-s para:45 -s para:46 -k 1 --covered "
        same = wrapped_lines(arguments + "60,61", files)
        self.assertIn(
            "No difference from para:45 is shown at any of these shares.", same
        )
        arguments = PY_RUN + "-s para:45 -s fixed:20 -k 1 --covered "
        same = wrapped_lines(arguments + "60,61", files)
        self.assertIn("No verdict at 60 % changes at the other shares.", same)

    WINDOWS_PY = """
def windows(text, size, step, offset):
    found = [(0, offset)] if text[:offset].strip() else []
    for start in range(offset, len(text), step):
        end = min(start + size, len(text))
        if text[start:end].strip():
            found.append((start, end))
        if end == len(text):
            break
    return found

"""

    def test_shifted_windows_by_a_chunker_of_ones_own(self):
        offsets = {"fixed:30": (0, 7, 15, 22), "overlap:40/15": (0, 6, 12, 18)}
        shapes = {"fixed:30": (30, 30), "overlap:40/15": (40, 25)}
        own = self.WINDOWS_PY
        for spec, numbers in offsets.items():
            for offset in numbers:
                name = re.sub(r"\W", "_", spec)
                size, step = shapes[spec]
                own += f"def {name}_{offset}(text):\n"
                own += f"    return windows(text, {size}, {step}, {offset})\n"
        report = measured(
            PY_RUN + "-s fixed:30 -s overlap:40/15 -s para:60 --shifts 4", ZOO
        )
        *shifted, fixed = report["shifts"]
        for row in shifted:
            spec = row["strategy"]
            self.assertEqual(row["offsets"], list(offsets[spec]))
            names = [
                "mine.{}_{}".format(re.sub(r"\W", "_", spec), offset)
                for offset in row["offsets"]
            ]
            alone = measured(
                [*PY_RUN.split(), *specs(*names)], {**ZOO, "mine.py": own}
            )
            recalls = [each["recall@3"] for each in alone["strategies"]]
            self.assertEqual(row["recall"], recalls, spec)
            self.assertGreater(len(set(recalls)), 1)
        para = report["strategies"][2]
        self.assertEqual(
            fixed,
            {
                "strategy": "para:60",
                "offsets": [0],
                "recall": [para["recall@3"]],
            },
        )

    def test_the_page_counts_pairs_of_offsets(self):
        arguments = PY_RUN + "-s fixed:30 -s overlap:40/15 --shifts 4"
        base, other = measured(arguments, ZOO)["shifts"]
        pairs = list(product(other["recall"], base["recall"]))
        won = sum(one > two for one, two in pairs)
        tied = sum(one == two for one, two in pairs)
        said = paragraph_with("How recall depends", arguments, ZOO)
        self.assertTrue(
            said.endswith(f" 4 {won} {tied} {16 - won - tied}"), said
        )

    def test_windows_in_tokens_are_shifted_by_tokens(self):
        """Of four words a window of two begins at the first or second."""
        files = python_data(
            [("t", "aa bbbb cccc dd")], [(("bbbb cccc",), "bbbb cccc")]
        )
        report = measured(PY_RUN + "-s fixed:2t --shifts 2 -k 1", files)
        (row,) = report["shifts"]
        self.assertEqual(row["offsets"], [0, 1])
        self.assertEqual(row["recall"], [0, 1])

    def test_a_tie_of_spreads_is_not_taken_for_no_windows(self):
        arguments = PY_RUN + "-s para:999 -s fixed:300 --shifts 2 -k 9"
        out = wrapped_lines(arguments, ZOO)
        self.assertEqual(
            out[-1], "The start of the first window changes no recall."
        )

    def test_what_the_start_does_to_the_choice_is_said(self):
        """Besides the one that it moves most, if that is another."""
        wide = cre.Shift("fixed:9", [0, 1], [0.25, 0.75])
        chosen = cre.Shift("overlap:9/3", [0, 1], [0.5, 0.625])
        whole = cre.Shift("para:9", [0], [0.5])
        report = SimpleNamespace(
            shifts=[wide, chosen, whole],
            settings={"deterministic": True, "starts": 2},
            choice={"strategy": "overlap:9/3"},
        )
        moved = "The start of the first window alone moves fixed:9 from 0.250 "
        moved += "to 0.750."
        self.assertEqual(
            cre.shift_text(report),
            f"{moved} The choice, overlap:9/3, ranges from 0.500 to 0.625.",
        )
        report.choice["strategy"] = "fixed:9"
        self.assertEqual(
            cre.shift_text(report),
            moved.replace("fixed:9", "fixed:9, the choice,"),
        )
        report.choice["strategy"] = "para:9"
        self.assertEqual(cre.shift_text(report), moved)
        report.choice = None
        self.assertEqual(cre.shift_text(report), moved)

    def test_very_many_offsets_take_no_longer(self):
        self.assertEqual(
            cre.window_offsets("overlap:9/3", 10**12), list(range(6))
        )

    def test_more_offsets_than_a_step_has_are_said(self):
        out = wrapped_lines(PY_RUN + "-s fixed:3 --shifts 9", ZOO)
        self.assertIn(
            "Fewer starts than 9, as the step is shorter: fixed:3 (3).",
            out[-1],
        )

    def test_without_windows_nothing_can_be_shifted(self):
        out = wrapped_lines(PY_RUN + "-s para:60 --shifts 9", ZOO)
        self.assertEqual(
            out[-1],
            "No strategy here has windows whose start can be shifted.",
        )

    @needs_shipped_data
    def test_over_all_offsets_of_the_shipped_corpus(self):
        """Design: fixed:50 ranges from 0.357 to 0.786 at 3."""
        report = measured(ONE_ROUND + "-s fixed:50 --shifts 50")
        (row,) = report["shifts"]
        self.assertEqual(len(row["offsets"]), 50)
        self.assertEqual(f"{min(row['recall']):.3f}", "0.357")
        self.assertEqual(f"{max(row['recall']):.3f}", "0.786")
        self.assertEqual(f"{row['recall'][0]:.3f}", "0.500")
        said = "The start of the first window alone moves fixed:50 from 0.357 "
        lines = wrapped_lines(ONE_ROUND + "-s fixed:50 --shifts 50")
        self.assertEqual(lines[-1], said + "to 0.786.")


class Spread(unittest.TestCase):
    """The intervals of the figures that are no shares of queries."""

    def test_they_are_the_percentiles_of_groups_drawn_anew(self):
        rng = random.Random(34)
        columns = [[rng.uniform(-1, 1) for _ in range(24)] for _ in range(3)]
        columns.append([-1] * 23 + [1])
        groups = [*range(9), *(rng.randrange(9) for _ in range(15))]
        members = [
            [row for row in range(24) if groups[row] == group]
            for group in range(9)
        ]
        toss = random.Random(0)
        means = [[] for _ in columns]
        for _ in range(2000):
            rows = []
            for _ in range(9):
                rows += members[int(toss.random() * 9)]
            for found, column in zip(means, columns):
                found.append(sum(column[row] for row in rows) / len(rows))
        for found, interval in zip(means, cre.bootstrap(columns, groups)):
            found.sort()
            self.assertAlmostEqual(interval[0], found[50], places=12)
            self.assertAlmostEqual(interval[1], found[1949], places=12)

    def test_two_groups_have_intervals_and_one_has_none(self):
        self.assertEqual(cre.bootstrap([[1, -1]], [0, 1]), [[-1.0, 1.0]])
        self.assertEqual(cre.bootstrap([[1, -1]], [0, 0]), [None])

    def test_they_are_near_the_normal_ones(self):
        """Of 400 values, each its own group: mean and 1.96 errors."""
        rng = random.Random(33)
        column = [rng.gauss(0.1, 1) for _ in range(400)]
        middle = sum(column) / 400
        error = math.sqrt(
            sum((value - middle) ** 2 for value in column) / 399 / 400
        )
        column = [value / 4 for value in column]  # each from -1 to 1
        ((low, high),) = cre.bootstrap([column], range(400))
        low, high = 4 * low, 4 * high
        self.assertAlmostEqual(low, middle - NORMAL_95 * error, delta=0.01)
        self.assertAlmostEqual(high, middle + NORMAL_95 * error, delta=0.01)

    def test_queries_on_one_paragraph_count_as_one(self):
        """By the place of the first gold."""
        files = python_data(
            [("a", "aa ab ac "), ("b", "xx yy "), ("a", "zz ")],
            [
                (("aa ab",), "x"),
                (("ab ac", "xx"), "x"),
                (("xx", "aa"), "x"),
                (("a",), "x"),
            ],
        )
        with workplace(files):
            data = cre.read_queries("queries.py", cre.read_corpus("corpus.py"))
        self.assertEqual(cre.paragraph_groups(data), [0, 0, 1, 0])

    def test_json_and_detail_have_them(self):
        arguments = PY_RUN + "-s fixed:30 -s para:60 -s fixed:60"
        rows = measured(arguments, ZOO)["differences"]
        self.assertEqual(
            [row["metric"] for row in rows],
            ["char_recall", "char_precision", "char_iou", "rr", "evidence@3"]
            * 2,
        )
        means = {
            each["strategy"]: each
            for each in measured(arguments, ZOO)["strategies"]
        }
        out = printed(arguments + " --detail", ZOO)
        for row in rows:
            name, metric = row["strategy"], row["metric"]
            gain = means[name][metric] - means["fixed:30"][metric]
            self.assertAlmostEqual(row["difference"], gain)
            low, high = row["interval"]
            self.assertLess(low, gain)
            self.assertGreater(high, gain)
            self.assertRegex(
                out,
                rf"(?m)^{name} +{metric} +"
                + re.escape(f"{gain:+.3f}")
                + " +"
                + re.escape(f"{low:+.3f} to {high:+.3f}"),
            )

    def test_one_group_has_no_interval(self):
        files = python_data([("a", "aa ab ac ")], [(("aa",), "aa")] * 3)
        rows = measured(PY_RUN + "-s fixed:3,6", files)["differences"]
        self.assertEqual({row["interval"] for row in rows}, {None})


class RoundsThatDisagree(unittest.TestCase):
    """What is printed of figures that vary."""

    ARGUMENTS = PY_DATA + TURNING + TWO_SIZES

    def test_the_json_says_that_the_run_is_not_deterministic(self):
        self.assertIs(
            measured(self.ARGUMENTS, MINE_ZOO)["deterministic"], False
        )

    def test_nothing_is_tested(self):
        rows = measured(self.ARGUMENTS, MINE_ZOO)["comparisons"]
        self.assertEqual(
            [(row["p"], row["p_holm"]) for row in rows], [(None, None)] * 2
        )

    def test_the_csv_has_ranges(self):
        first = csv_rows(self.ARGUMENTS, MINE_ZOO)[0]
        self.assertRegex(first["range of recall@1"], r"^0\.\d+ 0\.\d+$")

    def test_the_table_has_ranges(self):
        self.assertRegex(
            printed(self.ARGUMENTS, MINE_ZOO), r"\d \[\d\.\d+, \d\.\d+\]"
        )


def fused(rankings):
    """Reciprocal rank fusion over the top 50 of each ranking."""
    scores = Counter()
    for ranking in rankings:
        for rank, chunk in enumerate(ranking[:50], 1):
            scores[chunk] += 1 / (60 + rank)
    return sorted(scores, key=lambda chunk: (-round(scores[chunk], 9), chunk))


def random_text_data():
    """140 paragraphs of common and rare words, and 20 such queries.

    With these, fusion by any constant but 60, or of fewer or more than 50
    chunks, would rank otherwise.
    """
    rng = random.Random(11)

    def some_words(least, most):
        count = rng.randint(least, most)
        return " ".join(
            f"w{int(rng.random() ** 2 * 50)}" for _ in range(count)
        )

    texts = [some_words(3, 12) + " " for _ in range(140)]
    return python_data(
        [(f"t{number}", text) for number, text in enumerate(texts)],
        [(("t0",), some_words(2, 9)) for _ in range(20)],
    )


def hash_vector(tokens):
    """Four bytes of a token's MD5 each add 1 to one of 128 places."""
    return Counter(
        byte % 128
        for token in tokens
        for byte in hashlib.md5(token.encode()).digest()[:4]
    )


def cosine(one, two):
    """The cosine of two vectors, as Counters; 0 where one is empty."""
    product_sum = sum(one[place] * two[place] for place in one)
    squares = (sum(n * n for n in vector.values()) for vector in (one, two))
    first, second = squares
    return product_sum / max(1, first * second) ** 0.5


def hash_scores(texts, query):
    """The scores that --explain prints, {text: "0.123"}."""
    files = python_data([("t", text) for text in texts], [(("t",), query)])
    out = printed(PY_RUN + "-s para:1 --retriever hash --explain -k 9", files)
    joined = "".join(texts)
    found = re.findall(r"corpus (\d+)-(\d+), .*?, score (-?\d\.\d{3})\b", out)
    return {joined[int(a) : int(b)]: score for a, b, score in found}


class Retrievers(unittest.TestCase):
    """The mock embedding, the hybrid, and what all rankers have in common."""

    def test_hybrid_is_reciprocal_rank_fusion(self):
        report = measured(
            PY_RUN
            + "--retriever bm25 --retriever hash --retriever hybrid "
            + "-s para:1 -k 200",
            random_text_data(),
        )
        bm25, by_hash, hybrid = (
            [
                [tuple(chunk) for chunk in query["top"]]
                for query in row["queries"]
            ]
            for row in report["strategies"]
        )
        self.assertEqual(len(hybrid), 20)
        for number, found in enumerate(hybrid):
            wanted = fused([bm25[number], by_hash[number]])
            self.assertEqual(found, wanted, f"query {number + 1}")

    def test_hash_finds_a_text_that_is_the_query(self):
        files = python_data(WORDS, [((topic,), text) for topic, text in WORDS])
        report = measured(PY_RUN + "--retriever hash -s fixed:5", files)
        (row,) = report["strategies"]
        self.assertEqual(row["rr"], 1)
        self.assertEqual(row["recall@1"], 1)

    def test_hash_and_hybrid_are_called_a_mock(self):
        for name in ("hash", "hybrid"):
            with self.subTest(name):
                arguments = PY_RUN + f"--retriever {name} -s fixed:50"
                (row,) = measured(arguments, ZOO)["strategies"]
                self.assertIn("mock", row["retriever"])
                self.assertIn("mock", printed(arguments, ZOO))

    def test_hash_is_the_cosine_of_hashed_counts(self):
        """A text without a token scores 0, and is not found."""
        tokens = {
            "red fox ": ["red", "fox"],
            "red red 缓存命中 ": ["red", "red", "缓存", "存命", "命中"],
            "grey owl at night ": ["grey", "owl", "at", "night"],
            ". ": [],
        }
        asked = hash_vector(["red", "fox", "缓存"])
        wanted = {
            text: cosine(hash_vector(words), asked)
            for text, words in tokens.items()
        }
        self.assertEqual(
            hash_scores(list(tokens), "red fox 缓存"),
            {text: f"{score:.3f}" for text, score in wanted.items() if score},
        )

    def test_hash_of_many_tokens_that_meet_in_128_places(self):
        words = [f"w{number}" for number in range(60)]
        text, asked = " ".join(words[:40]), " ".join(words[20:])
        wanted = cosine(hash_vector(words[:40]), hash_vector(words[20:]))
        self.assertEqual(hash_scores([text], asked), {text: f"{wanted:.3f}"})

    def test_scores_that_agree_to_nine_places_are_a_tie(self):
        """Ties go to the earlier text; a score of 0 is no match."""
        scores = [0.25, 0, 0.25 + 1e-12, 0.25 + 1e-8]
        self.assertEqual(cre.best_numbers(range(4), scores, 4), [3, 0, 2])
        self.assertEqual(cre.best_numbers(range(4), scores, 2), [3, 0])

    def test_the_hash_seed_of_python_changes_nothing(self):
        command = [
            sys.executable,
            SCRIPT,
            *(PY_RUN + "-s fixed:50 --format json").split(),
            *("--retriever", "hash", "--retriever", "hybrid"),
        ]
        with workplace(ZOO) as folder:
            one, two = (
                subprocess.run(
                    command,
                    cwd=folder,
                    env={**os.environ, "PYTHONHASHSEED": seed},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    check=True,
                ).stdout
                for seed in "12"
            )
        self.assertIn(b"mock", one)
        self.assertEqual(one, two)


class Rounds(unittest.TestCase):
    """Each round is done afresh."""

    def test_rounds_share_no_tokens(self):
        """Each tokenizes as much as the first.

        The chunker, called first in a round, says so on standard error; and
        so does the tokenizer.
        """
        marking = (
            "import sys\n"
            "def whole(text):\n"
            "    print('round' if text else '', file=sys.stderr)\n"
            "    return [text]\n"
        )
        plain = cre.quick_tokenize

        def telling(text):
            print("tokenized", file=sys.stderr)
            return plain(text)

        with mock.patch.object(cre, "quick_tokenize", telling):
            outcome = run(
                PY_DATA + "-s mine.whole -s fixed:50 -s para:90 --rounds 3",
                {**ZOO, "mine.py": marking},
            )
        _, *rounds = "\n".join(outcome.err).split("round")
        counts = [each.count("tokenized") for each in rounds]
        self.assertEqual(len(counts), 3)
        self.assertGreater(counts[0], 0)
        self.assertEqual(counts, counts[:1] * 3)

    def test_rounds_that_agree_are_kept_once(self):
        """Large corpora need the memory."""
        kept, plain = [], cre.by_job

        def recording(*arguments, **options):
            kept.extend(plain(*arguments, **options))
            return kept

        with mock.patch.object(cre, "by_job", recording):
            printed(PY_DATA + "-s fixed:50 --rounds 3", ZOO)
        (rounds,) = kept
        self.assertEqual(len(rounds), 3)
        self.assertEqual(len(set(map(id, rounds))), 1)


# The figures of a strategy, in the JSON and in the CSV.
FIGURES = {
    "strategy",
    "retriever",
    "chunks",
    "recall@1",
    "recall@3",
    "single@3",
    "multi@3",
    "tokens",
    "sent",
    "longest",
    "rr",
    "ceiling@1",
    "ceiling@3",
    "chance@1",
    "chance@3",
    "chance_p@1",
    "chance_p@3",
    "cut",
    "outranked",
    "char_recall",
    "char_precision",
    "char_iou",
    "evidence@1",
    "evidence@3",
    "complete@1",
    "complete@3",
    "redundancy",
    "index_growth",
    "ci@1",
    "ci@3",
}
REPORT_KEYS = """
    version tokenizer count k budget rounds deterministic corpus queries
    strategies comparisons choice covered thresholds shifts frontier elbow
    notes
"""


class JsonOutput(unittest.TestCase):
    """What other programs read in the JSON."""

    def test_it_has_every_key(self):
        report = zoo_report()
        strategy = report["strategies"][0]
        for name, part, keys in [
            ("report", report, REPORT_KEYS),
            (
                "corpus",
                report["corpus"],
                "documents paragraphs topics characters sha256",
            ),
            (
                "queries",
                report["queries"],
                "total single multi skipped sha256",
            ),
            ("strategy", strategy, " ".join(FIGURES) + " queries"),
            (
                "query",
                strategy["queries"][0],
                "query gold top answered@1 answered@3 missing tokens",
            ),
            (
                "comparison",
                report["comparisons"][0],
                "metric baseline strategy difference interval wins losses p "
                "p_holm verdict decidable queries_needed",
            ),
            (
                "choice",
                report["choice"],
                "strategy reference margin recall tokens leave_one_out "
                "as_good",
            ),
            ("note", report["notes"][0], "kind strategies text"),
        ]:
            with self.subTest(name):
                self.assertEqual(set(keys.split()) - set(part), set())

    def test_tokens_are_the_mean_of_those_of_the_queries(self):
        for row in zoo_report()["strategies"]:
            with self.subTest(row["strategy"]):
                paid = [query["tokens"] for query in row["queries"]]
                self.assertEqual(len(paid), len(ZOO_QUERIES))
                self.assertAlmostEqual(row["tokens"], sum(paid) / len(paid))

    def test_chinese_is_not_escaped(self):
        text = ZOO_QUERIES[4][1]
        self.assertFalse(text.isascii())
        out = printed(PY_RUN + "-s fixed:50 --format json", ZOO)
        self.assertIn(f'"query": "{text}"', out)


class MarkdownOutput(unittest.TestCase):
    """The tables of the Markdown."""

    def test_tables_are_well_formed(self):
        tables = markdown_tables(PY_RUN + "--detail", ZOO)
        self.assertGreater(len(tables), 1)
        for head, rule, *rows in tables:
            with self.subTest(head=head):
                self.assertTrue(rows)
                widths = {len(row) for row in (rule, *rows)}
                self.assertEqual(widths, {len(head)})
                for cell in rule:
                    self.assertRegex(cell, r"\A:?-+:?\Z")

    def test_tables_have_every_figure(self):
        tables = markdown_tables(PY_RUN + "--detail", ZOO)
        columns = {column for head, *_ in tables for column in head}
        self.assertEqual(FIGURES - {"retriever"} - columns, set())

    def test_without_detail_it_is_one_table_its_notes_and_the_choice(self):
        out = printed(PY_RUN + "--format markdown", ZOO)
        table, notes, choice = out.rstrip("\n").split("\n\n")
        self.assertEqual({line[0] for line in table.split("\n")}, {"|"})
        self.assertEqual({line[:4] for line in notes.split("\n")}, {"- **"})
        self.assertRegex(choice, r"\AChoose [^\n]*\Z")


class TablesAndJson(unittest.TestCase):
    """The tables of the Markdown say what the JSON says."""

    @classmethod
    def setUpClass(cls):
        """Six strategies: with more than five the frontier is marked."""
        arguments = PY_RUN + "-s fixed:50,60,70,80 -s para:90 -s recursive:60"
        cls.tables = markdown_tables(arguments + " --detail", ZOO)
        cls.report = measured(arguments, ZOO)

    def test_the_frontier_is_marked(self):
        marks = {
            row["strategy"]: row["frontier"]
            for row in rows_with(self.tables, "frontier")
        }
        wanted = {
            row["strategy"]: "*"
            if row["strategy"] in self.report["frontier"]
            else "-"
            for row in self.report["strategies"]
        }
        self.assertEqual(marks, wanted)
        self.assertEqual(set(marks.values()), {"*", "-"})

    def test_the_comparisons_are_there(self):
        shown = [
            (
                row["against fixed:50"],
                row["metric"],
                row["difference"],
                row["questions won"],
                row["questions lost"],
            )
            for row in rows_with(self.tables, "questions won")
        ]
        wanted = [
            (
                row["strategy"],
                row["metric"],
                "{:+.3f}".format(row["difference"]),
                ", ".join(map(str, row["wins"])) or "-",
                ", ".join(map(str, row["losses"])) or "-",
            )
            for row in self.report["comparisons"]
        ]
        self.assertEqual(len(wanted), 10)
        self.assertEqual(shown, wanted)

    def test_each_cut_of_a_recursive_chunker_is_counted_at_one_level(self):
        (row,) = rows_with(self.tables, "cuts after")
        self.assertEqual(row.pop("cuts after"), "recursive:60")
        self.assertEqual(len(row), 6)
        self.assertEqual(
            sum(map(int, row.values())),
            self.report["strategies"][-1]["chunks"] - 1,
        )

    def test_the_end_of_a_document_is_no_cut(self):
        files = python_data(
            {"D": [("t", "x y")], "E": [("t", "z")]}, [(("t",), "x")]
        )
        tables = markdown_tables(PY_RUN + "-s recursive:2 --detail", files)
        (row,) = rows_with(tables, "cuts after")
        found = {level: cuts for level, cuts in row.items() if cuts != "0"}
        self.assertEqual(found, {"cuts after": "recursive:2", "space": "1"})


class CsvOutput(unittest.TestCase):
    """What a spreadsheet reads."""

    def rows_and_results(self):
        """Each line of the CSV, and what the JSON says of its strategy."""
        rows = csv_rows(PY_RUN, ZOO)
        results = zoo_report()["strategies"]
        self.assertEqual(
            [row["strategy"] for row in rows],
            [result["strategy"] for result in results],
        )
        return zip(rows, results)

    def test_it_has_a_line_for_each_strategy(self):
        rows = csv_rows(PY_RUN, ZOO)
        self.assertEqual([row["strategy"] for row in rows], cre.STRATEGIES)

    def test_it_has_a_byte_order_mark_and_plain_line_ends(self):
        text = printed(PY_RUN + "--format csv", ZOO)
        self.assertEqual(text[0], "\ufeff")
        self.assertNotIn("\r", text)

    def test_it_has_every_figure_unrounded(self):
        texts = {"ci@1", "ci@3", "strategy", "retriever"}
        for row, result in self.rows_and_results():
            with self.subTest(result["strategy"]):
                self.assertEqual(FIGURES - set(row), set())
                for key in FIGURES - texts:
                    self.assertEqual(float(row[key]), result[key], key)

    def test_it_has_the_ends_of_the_intervals(self):
        for row, result in self.rows_and_results():
            for key in ("ci@1", "ci@3"):
                with self.subTest(result["strategy"], key=key):
                    ends = [float(end) for end in row[key].split()]
                    self.assertEqual(ends, result[key])

    def test_it_says_what_is_on_the_frontier(self):
        best = zoo_report()["frontier"]
        for row, result in self.rows_and_results():
            name = result["strategy"]
            self.assertEqual(row["frontier"], str(name in best), name)

    def test_it_has_the_comparisons(self):
        lines = {row["strategy"]: row for row in csv_rows(PY_RUN, ZOO)}
        for row in zoo_report()["comparisons"]:
            line, metric = lines[row["strategy"]], row["metric"]
            with self.subTest(row["strategy"], metric=metric):
                for key in ("difference", "p", "p_holm", "verdict"):
                    found = line[f"{key} of {metric}"]
                    wanted = "" if row[key] is None else str(row[key])
                    self.assertEqual(found, wanted, key)
                for key in ("wins", "losses", "interval"):
                    found = line[f"{key} of {metric}"]
                    self.assertEqual(found.split(), list(map(str, row[key])))

    def test_it_marks_the_choice(self):
        chosen = zoo_report()["choice"]["strategy"]
        marks = {
            row["strategy"]: row["choice"] for row in csv_rows(PY_RUN, ZOO)
        }
        for strategy, mark in marks.items():
            self.assertEqual(mark, str(strategy == chosen))


class TableOutput(unittest.TestCase):
    """What a person reads."""

    def test_what_was_measured_stands_above_the_table(self):
        out = " ".join(printed(PY_RUN + "--budget 20", ZOO).split())
        self.assertIn(
            "What is needed is found when one of the best chunks by "
            "bm25(k1=1.5, b=0.75), up to 20 tokens in all, holds 60 % of it. "
            "At 1, it is the top chunk, whatever its tokens. Sizes: "
            "characters. Tokens: words or character pairs, not an LLM's. 1 "
            "run.",
            out,
        )

    def test_what_the_questions_need_is_said(self):
        """By topics, quotes, sections, or several kinds."""
        two = python_data(
            [("a", "aa "), ("b", "bb "), ("c", "cc ")],
            [(("a", "b"), "aa bb"), (("a", "c"), "aa cc")],
        )
        three = python_data(
            [("a", "aa "), ("b", "bb "), ("c", "cc ")],
            [(("a", "b", "c"), "aa"), (("bb",), "bb")],
        )
        sections = {
            "g.md": "# A\n\nw1\n\n# B\n\nw2",
            "q.jsonl": query("w1", "g#a"),
        }
        for arguments, files, said in (
            (PY_RUN, two, "2 questions (each needs two topics), one text of"),
            (PY_RUN, three, "2 questions (1 needs one gold, 1 needs several)"),
            (
                JSONL_DATA,
                ANIMALS,
                "2 questions (each needs one topic), 2 texts of",
            ),
            (
                "--corpus g.md --queries q.jsonl",
                sections,
                "1 question (it needs one section), one text of",
            ),
        ):
            out = " ".join(printed(arguments, files).split())
            self.assertTrue(out.startswith(said), out[:100])

    def test_what_counts_is_said_of_sections(self):
        """And of a section beside a quote."""
        guide = "# A\n\nw1\n\n# B\n\nw2"
        complete = "Complete counts a {} of which at least 60 % was sent; "
        decides = "verdicts and choice go by it. Sizes:"
        for golds, said in (
            (
                ("g#a", "g#b"),
                "Recall counts a section if one of the top 3 chunks by "
                "bm25(k1=1.5, b=0.75) shares with it at least 60 % of the "
                "shorter of the two. "
                f"{complete.format('section')}{decides}",
            ),
            (
                ("g#a", "w2"),
                "holds 60 % of it (a section, if it shares 60 % of the "
                f"shorter of the two). {complete.format('gold')}since some "
                f"are sections, {decides}",
            ),
        ):
            files = {"g.md": guide, "q.jsonl": query("w1", *golds)}
            out = printed("--corpus g.md --queries q.jsonl", files)
            self.assertIn(said, " ".join(out.split()))

    def test_the_unit_of_sizes_is_said(self):
        for arguments, said in (
            ("-s fixed:9", "Sizes: characters. Tokens"),
            ("-s fixed:9t -s para:9t", "Sizes: tokens. Tokens"),
            (
                "-s fixed:9t -s para:9",
                "characters, or tokens if marked t. Tok",
            ),
        ):
            out = " ".join(printed(PY_RUN + arguments, ZOO).split())
            self.assertIn(said, out)

    def test_single_and_multi_are_there_where_both_are(self):
        """Else they repeat the recall."""
        (row,) = [("a", "aa ")]
        files = python_data([row, ("b", "bb ")], [(("a",), "aa")])
        head = printed(PY_RUN, files).split("\n\n")[1]
        self.assertNotIn("single@3", head)
        self.assertNotIn("multi@3", head)
        self.assertIn("single@3", printed(PY_RUN, ZOO))

    def test_detail_shows_each_figure_in_its_shape(self):
        """Tokens and chunks sent have one decimal, shares three.

        Counts have none. There is no query of several golds.
        """
        files = python_data(
            [("a", "aa aa aa aa "), ("b", "bb "), ("c", "cc ")],
            [
                (("a",), "aa bb"),
                (("b",), "zz"),
                (("c",), "bb aa"),
                (("b",), "bb"),
            ],
        )
        out = printed(PY_RUN + "-s para:1 --detail", files)
        shown = {}
        for head, line in zip(out.splitlines(), out.splitlines()[1:]):
            if head.startswith("strategy"):
                shown.update(zip(head.split(), line.split()))
        wanted = {
            "chunks": "3",
            "sent": "1.2",
            "tokens": "2.8",
            "tokens@1": "2.2",
            "rr": "0.500",
            "cut": "0",
            "outranked": "2",
            "recall@3": "0.500",
            "chance@3": "1.000",
        }
        found = {key: shown.get(key) for key in wanted}
        self.assertEqual(found, wanted)

    def test_detail_has_the_tokens_of_each_k(self):
        words = printed(PY_RUN + "--detail", ZOO).split()
        self.assertIn("tokens@1", words)
        self.assertIn("tokens@3", words)

    def test_detail_names_the_frontier_and_the_elbow(self):
        """Nothing is on it where every chunk can be sent."""
        out = printed(PY_RUN + "--detail", ZOO)
        self.assertIn("\nfrontier   para:90, para:180\nelbow      none\n", out)
        out = printed(PY_RUN + "-s fixed:999 --detail", ZOO)
        self.assertIn("\nfrontier   none\nelbow      none\n", out)

    def test_detail_does_not_repeat_the_first_table(self):
        out = printed(PY_RUN + "--detail", ZOO)
        self.assertEqual(len(re.findall("(?m)^strategy +chunks ", out)), 1)

    def test_detail_changes_neither_csv_nor_json(self):
        for name in ("csv", "json"):
            with self.subTest(name):
                plain = PY_RUN + "--format " + name
                self.assertEqual(
                    printed(plain + " --detail", ZOO), printed(plain, ZOO)
                )


def trec_lines(arguments, files):
    """The one strategy's figures, and the fields of its run and qrels."""
    texts, report = written_files(PY_RUN + arguments, files, "--trec")
    (row,) = report["strategies"]
    fields = {
        os.path.splitext(name)[1]: [line.split() for line in text.splitlines()]
        for name, text in texts.items()
    }
    return row, fields[".run"], fields[".qrels"]


class Trec(unittest.TestCase):
    """The files for trec_eval and its like."""

    def check(self, arguments, files):
        """RR@10, worked from the files, is rr."""
        row, ranked, known = trec_lines(arguments, files)
        relevant = {
            (number, chunk) for number, _, chunk, grade in known if int(grade)
        }
        asked = list(dict.fromkeys(line[0] for line in known))
        self.assertEqual(
            asked, [str(n) for n in range(1, len(row["queries"]) + 1)]
        )
        total = 0
        for number in asked:
            lines = [line for line in ranked if line[0] == number]
            lines.sort(key=lambda line: -float(line[4]))
            self.check_ranking(lines)
            hits = [(number, line[2]) in relevant for line in lines[:10]]
            total += 1 / (hits.index(True) + 1) if any(hits) else 0
        self.assertAlmostEqual(row["rr"], total / len(asked))
        return ranked, known

    def check_ranking(self, lines):
        """Ranks count from 1; no chunk and no score stands there twice."""
        _, _, chunks, ranks, scores, _ = zip(*lines) if lines else [()] * 6
        self.assertEqual(
            list(ranks), [str(n) for n in range(1, len(lines) + 1)]
        )
        self.assertEqual(len(set(chunks)), len(lines))
        self.assertEqual(len(set(scores)), len(lines))

    def test_the_reciprocal_rank_can_be_worked_from_the_files(self):
        for spec, retriever in product(
            ("fixed:50", "parent:30/90"), ("bm25", "hash")
        ):
            with self.subTest(spec, retriever=retriever):
                self.check(f"-s {spec} --retriever {retriever}", ZOO)

    def test_a_query_that_no_chunk_answers_has_a_line_of_grade_0(self):
        _, known = self.check("-s fixed:10", ZOO)
        self.assertIn("0", {line[3] for line in known})

    def test_ten_chunks_are_ranked_though_three_are_sent(self):
        ranked, _ = self.check("-s fixed:20", ZOO)
        self.assertEqual(max(int(line[3]) for line in ranked), 10)

    def test_a_query_that_finds_nothing_counts(self):
        files = python_data(WORDS, [(("b",), "zzz"), (("c",), "cccc")])
        ranked, _ = self.check("-s fixed:5", files)
        self.assertEqual({line[0] for line in ranked}, {"2"})

    def test_a_slice_that_is_retrieved_twice_is_ranked_once(self):
        files = python_data(WORDS, [(("b",), "bbbb"), (("c",), "cccc")])
        self.check(
            "-s fixed:5 --retriever mine.Twice",
            {**files, "mine.py": ORDERS_PY},
        )

    def test_the_files_of_two_documents_by_hand(self):
        files = python_data(
            {"D": [("a", "aaaa "), ("b", "bbbb ")], "E": [("c", "cccc ")]},
            [(("a", "b", "c"), "cccc")],
        )
        texts, _ = written_files(
            PY_RUN + "-s fixed:99 --retriever bm25 --retriever hash",
            files,
            "--trec",
        )
        self.assertEqual(
            sorted(texts),
            [
                "fixed-99-bm25.qrels",
                "fixed-99-bm25.run",
                "fixed-99-hash.qrels",
                "fixed-99-hash.run",
            ],
        )
        self.assertEqual(
            texts["fixed-99-bm25.run"], "1 Q0 1:0-5 1 -1 fixed-99-bm25\n"
        )
        self.assertEqual(
            texts["fixed-99-bm25.qrels"], "1 0 0:0-10 2\n1 0 1:0-5 1\n"
        )


SVG = "{http://www.w3.org/2000/svg}"


class Label(NamedTuple):
    """A text of the picture, and the box that it takes."""

    words: str
    left: float
    top: float
    right: float
    bottom: float


def drawn_labels(root):
    """The texts of a picture: letters of 12 pixels, each some 6 wide."""
    found = []
    for text in root.iter(SVG + "text"):
        words = "".join(text.itertext())
        anchored = {"middle": 3, "end": 6}.get(text.get("text-anchor"), 0)
        left = float(text.get("x")) - anchored * len(words)
        base = float(text.get("y"))
        right = left + 6 * len(words)
        found.append(Label(words, left, base - 9, right, base + 2))
    return found


def do_overlap(one, two):
    """Whether the boxes of two labels share a part."""
    side_by_side = one.left >= two.right or two.left >= one.right
    stacked = one.top >= two.bottom or two.top >= one.bottom
    return not (side_by_side or stacked)


def drawn(arguments, files):
    """The root of the picture of a run, and what the JSON says."""
    texts, report = written_files(arguments, files, "--plot")
    return ElementTree.fromstring(texts["x.svg"]), report


ZOO_WHOLE = "".join(text for _, text in ZOO_TEXT)
ZOO_QUOTES = python_data(  # many queries, so that points lie close together
    ZOO_TEXT,
    [
        ((ZOO_WHOLE[at : at + 40],), ZOO_WHOLE[at + 10 : at + 20])
        for at in range(0, len(ZOO_WHOLE) - 40, 12)
    ],
)
OVERLAPS = "/0,10%,20%,30%,40% "


class PictureCase(NamedTuple):
    """What is drawn, and how many strategies the frontier has at least."""

    name: str
    arguments: str
    files: dict
    frontier: int


PICTURE_CASES = [
    PictureCase(
        name="the strategies of a bare run",
        arguments="",
        files=ZOO,
        frontier=2,
    ),
    PictureCase(
        name="thirty strategies",
        arguments="-s overlap:20,40,60,80,100,140" + OVERLAPS,
        files=ZOO,
        frontier=6,
    ),
    PictureCase(
        name="a crowd of much the same size",
        arguments="-s overlap:50,52,54,56,58,60" + OVERLAPS,
        files=ZOO_QUOTES,
        frontier=6,
    ),
    PictureCase(
        name="thirty strategies on a budget",
        arguments="-s overlap:20,40,60,80,100,140" + OVERLAPS + "--budget 40",
        files=ZOO_QUOTES,
        frontier=4,
    ),
]


class Picture(unittest.TestCase):
    """The SVG of recall against tokens."""

    def test_its_labels_can_be_read(self):
        """They lie within the picture, and apart from one another."""
        for case in PICTURE_CASES:
            with self.subTest(case.name):
                root, report = drawn(PY_RUN + case.arguments, case.files)
                self.assertGreaterEqual(len(report["frontier"]), case.frontier)
                labels = drawn_labels(root)
                self.check_room(labels)
                self.check_marks(labels, report)
                self.check_titles(root, report)

    def check_room(self, labels):
        for label in labels:
            self.assertGreaterEqual(label.left, 0, label)
            self.assertLessEqual(label.right, 720, label)
            self.assertGreaterEqual(label.top, 0, label)
            self.assertLessEqual(label.bottom, 440, label)
        for one, two in combinations(labels, 2):
            self.assertFalse(do_overlap(one, two), (one, two))

    def check_marks(self, labels, report):
        """All are labelled; elbow and choice, and no other, are called so."""
        named = {label.words.split(" ")[0]: label.words for label in labels}
        for row in report["strategies"]:
            self.assertIn(row["strategy"], named)
        chosen = report["choice"] and report["choice"]["strategy"]
        for role, strategy in (("elbow", report["elbow"]), ("choice", chosen)):
            found = [name for name, words in named.items() if role in words]
            self.assertEqual(found, list(filter(None, [strategy])))
        for sign in ("interval", "ceiling", "chance", "frontier", "saturated"):
            self.assertTrue(any(sign in label.words for label in labels))

    def check_titles(self, root, report):
        """Each strategy is the title of one point."""
        titles = [title.text for title in root.iter(SVG + "title")]
        for row in report["strategies"]:
            name = row["strategy"] + ":"
            found = [title for title in titles if title.startswith(name)]
            self.assertEqual(len(found), 1, name)

    def test_what_is_saturated_is_hollow_and_off_the_frontier(self):
        root, report = drawn(PY_RUN, ZOO)
        hollow = {
            point.find(SVG + "title").text.split(": ")[0]
            for point in root.iter(SVG + "circle")
            if point.get("class") == "full" and len(point)
        }
        self.assertEqual(hollow, {"fixed:500"})
        (line,) = [
            path.get("d")
            for path in root.iter(SVG + "path")
            if path.get("class") == "line" and "L" in path.get("d")
        ]
        self.assertEqual(line.count("L") + 1, len(report["frontier"]))
        self.assertNotIn("fixed:500", report["frontier"])

    def test_only_saturated_strategies_have_no_line(self):
        root, report = drawn(PY_RUN + "-s fixed:999", ZOO)
        self.assertEqual(report["frontier"], [])
        lines = [
            path
            for path in root.iter(SVG + "path")
            if path.get("class") == "line"
        ]
        self.assertEqual(len(lines), 1)  # that of the legend

    def test_a_name_with_signs_is_escaped(self):
        """It stands in the title of the point, and in its label."""
        root, _ = drawn(
            PY_RUN + "-s mine.a<b&c",
            {**ZOO, "mine.py": "globals()['a<b&c'] = lambda text: [text]"},
        )
        texts = [
            "".join(element.itertext())
            for element in root.iter()
            if element.tag in (SVG + "text", SVG + "title")
        ]
        self.assertEqual(sum("mine.a<b&c" in text for text in texts), 2)


def pages_of(out):
    """What --explain prints of each query."""
    return re.split(r"(?m)^(?=question \d+: )", out.rstrip("\n") + "\n\n")[1:]


class ExplainedChunk(NamedTuple):
    """A chunk in a page of --explain."""

    rank: int
    start: int
    end: int
    tokens: int
    covers: List[bool]  # for each gold of the query


def explained_chunks(page, golds):
    """The chunks that a page lists."""
    lines = re.findall(
        r"(?m)^ +(\d+)\. corpus (\d+)-(\d+).*?(\d+) tokens?(.*)$", page
    )
    return [
        ExplainedChunk(
            *map(int, numbers), [f'"{gold}"' in rest for gold in golds]
        )
        for *numbers, rest in lines
    ]


class ExplainAgainstTruth(unittest.TestCase):
    """--explain says what the definitions say."""

    def setUp(self):
        """Each chunk and each gold that is missing stand on one line."""
        patch = mock.patch.object(cre, "wrapped", lambda text, _: text)
        patch.start()
        self.addCleanup(patch.stop)

    def test_each_verdict_chunk_and_missing_gold(self):
        seen = Counter()
        for k, spec in product((1, 3), ("fixed:50", "para:120")):
            with self.subTest(spec, k=k):
                seen += self.check_pages(spec, k)
        self.assertEqual(set(seen), {"answered", "cut", "outranked"})

    def check_pages(self, spec, k):
        """How often each verdict is given."""
        truth = Truth({"corpus": ZOO_TEXT}, ZOO_QUERIES, spec)
        arguments = PY_RUN + f"-s {spec} -k "
        pages = pages_of(printed(f"{arguments}{k} --explain", ZOO))
        (row,) = measured(f"{arguments}{k}", ZOO)["strategies"]
        (deep,) = measured(f"{arguments}99", ZOO)["strategies"]
        self.assertEqual(len(pages), len(ZOO_QUERIES))
        verdicts = Counter()
        for number, page in enumerate(pages):
            part = page[page.index(f"  {spec}: ") :]
            sent, all_ranked = row["queries"][number], deep["queries"][number]
            verdict = self.verdict(truth, number, sent, k)
            first = part.splitlines()[0]
            self.assertEqual(
                re.findall("answered|cut|outranked", first), [verdict]
            )
            verdicts[verdict] += 1
            self.check_chunks(truth, number, part, sent)
            self.check_missing(truth, part, sent, all_ranked)
        self.assertEqual(verdicts["cut"], row["cut"])
        self.assertEqual(verdicts["outranked"], row["outranked"])
        return verdicts

    def verdict(self, truth, number, sent, k):
        if sent[f"answered@{k}"]:
            return "answered"
        return "outranked" if truth.draws(number, k) else "cut"

    def check_chunks(self, truth, number, part, sent):
        golds, masks = truth.golds[number], truth.masks[number]
        wanted = []
        for rank, (name, start, end) in enumerate(sent["top"], 1):
            place = (name, start, end)
            covers = [
                bool(masks[place] >> bit & 1) for bit in range(len(golds))
            ]
            tokens = len(truth.tokens(place))
            wanted.append(ExplainedChunk(rank, start, end, tokens, covers))
        self.assertEqual(explained_chunks(part, golds), wanted)

    def check_missing(self, truth, part, sent, all_ranked):
        """Its name, and the rank of the first chunk that covers it."""
        lines = [
            line
            for line in part.splitlines()
            if line.strip().startswith("missing")
        ]
        self.assertEqual(len(lines), len(sent["missing"]))
        for gold, line in zip(sent["missing"], lines):
            self.assertIn(f'"{gold}"', line)
            ranks = [
                rank
                for rank, chunk in enumerate(all_ranked["top"], 1)
                if truth.covers(tuple(chunk), gold)
            ]
            if ranks:
                self.assertTrue(line.endswith(f" is ranked {ranks[0]}"), line)
            else:
                self.assertNotIn(" is ranked ", line)

    def test_the_page_of_one_query_is_the_same_as_among_all(self):
        pages = pages_of(printed(PY_RUN + "--explain", ZOO))
        (third,) = pages_of(printed(PY_RUN + "--explain 3", ZOO))
        self.assertEqual(third, pages[2])

    def test_a_slice_that_is_retrieved_twice_is_listed_once(self):
        files = python_data(WORDS, [(("b",), "bbbb")])
        out = printed(
            PY_RUN + "-s fixed:5 --retriever mine.Twice --explain",
            {**files, "mine.py": ORDERS_PY},
        )
        self.assertEqual(
            re.findall(r"(?m)^ +\d\. (.*)$", out),
            [
                "corpus 0-5, 1 token",
                'corpus 5-10, 1 token, covers "b"',
                "corpus 10-15, 1 token",
            ],
        )

    def test_the_rank_of_what_is_missing_may_be_beyond_the_tenth(self):
        files = python_data(
            [(f"t{number}", f"w{number:03} ") for number in range(12)],
            [(("t11",), "x")],
        )
        out = printed(
            PY_RUN + "-s fixed:5 --retriever mine.Order --explain",
            {**files, "mine.py": ORDERS_PY},
        )
        self.assertIn(
            "; the first chunk that holds enough is ranked 12\n", out
        )


def idle_process():
    """A process that sleeps; by fork where there is one, for its speed."""
    methods = multiprocessing.get_all_start_methods()
    method = "fork" if "fork" in methods else None
    context = multiprocessing.get_context(method)
    return context.Process(target=time.sleep, args=(60,))


class Jobs(unittest.TestCase):
    """--jobs N does the work in N processes."""

    def test_they_change_nothing(self):
        arguments = (
            PY_RUN + "-s fixed:50 -s overlap:50/15 -s parent:50/180 "
            "--format json"
        )
        self.assertEqual(
            printed(arguments + " --jobs 2", ZOO), printed(arguments, ZOO)
        )

    def test_they_take_all_options(self):
        files = {**ZOO, "mine.py": "letters = len"}
        arguments = (
            PY_RUN + "--budget 100 --context --explain 3 "
            "--count mine.letters " + TWO_SIZES
        )
        self.assertEqual(
            printed(arguments + "--jobs 2", files), printed(arguments, files)
        )

    def test_the_work_is_done_in_other_processes(self):
        """What counts tokens tells where it is called."""
        where = (
            "from multiprocessing import parent_process\n"
            "def process(text): return 2 if parent_process() else 1\n"
        )
        files = {**ZOO, "mine.py": where}
        arguments = PY_RUN + "-s fixed:50 --count mine.process --jobs "
        for jobs in (1, 2):
            (row,) = measured(arguments + str(jobs), files)["strategies"]
            self.assertEqual(row["longest"], jobs)

    def test_other_processes_are_left_alone(self):
        other = idle_process()
        other.start()
        try:
            printed(PY_RUN + "-s fixed:50 --jobs 2", ZOO)
            self.assertTrue(other.is_alive())
        finally:
            other.terminate()
            other.join()

    def test_a_process_that_ends_early_is_an_error(self):
        dying = "import os\ndef split(text): os._exit(3) if text else None\n"
        outcome = run(
            PY_DATA + "-s mine.split --jobs 2", {**ZOO, "mine.py": dying}
        )
        self.assertEqual(outcome.status, 2)
        (line,) = outcome.err
        self.assertRegex(line, r"\Aerror: --jobs 2: .* \(.+\)\Z")

    def test_an_interrupt_ends_them_and_does_not_wait(self):
        slow = (
            "import time\n"
            "def split(text):\n"
            "    time.sleep(20 if text else 0)\n"
            "    return [text]\n"
        )
        begin = time.monotonic()
        with mock.patch.object(
            cre, "show_progress", side_effect=KeyboardInterrupt
        ):
            outcome = run(
                PY_RUN + "-s mine.split --jobs 2", {**ZOO, "mine.py": slow}
            )
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(outcome.status, 1)
        self.assertEqual(outcome.err, ["interrupted"])


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self):
        return True


class Progress(unittest.TestCase):
    """The line that says how far a run is."""

    def said(self, terminal_type, more="", status=0):
        """What two rounds of two strategies say, after the first line."""
        arguments = PY_DATA + "--rounds 2 -s fixed:5 -s para:90" + more
        broken = {"mine.py": "def f(text): return 1 / 0 if text else []\n"}
        with contextlib.ExitStack() as during:
            during.enter_context(workplace({**ZOO, **broken}))
            during.enter_context(
                mock.patch.dict(os.environ, TERM=terminal_type)
            )
            during.enter_context(contextlib.redirect_stdout(io.StringIO()))
            err = during.enter_context(contextlib.redirect_stderr(Terminal()))
            self.assertEqual(cre.main(arguments.split()), status)
        return err.getvalue().partition("\n")[2]

    def test_a_terminal_has_one_line_that_is_wiped_at_the_end(self):
        lines = [
            "0 of 4 done, next fixed:5",
            "1 of 4 done, next para:90",
            "2 of 4 done, next fixed:5",
            "3 of 4 done, next para:90",
            "",
        ]
        wanted = "".join("\r" + line.ljust(58) for line in lines) + "\r"
        self.assertEqual(self.said("xterm"), wanted)

    def test_an_error_stands_on_a_line_of_its_own(self):
        for jobs in ("", " --jobs 2"):
            said = self.said("xterm", " -s mine.f" + jobs, status=2)
            wiped = "\r" + " " * 58 + "\r"
            self.assertRegex(
                said,
                wiped + r"error: mine.f \(mine.py:1\): it raised ZeroDivision",
            )

    def test_a_dumb_terminal_has_none(self):
        self.assertEqual(self.said("dumb"), "")


def printed_at_exit(option):
    """What --help or --version prints; they end by SystemExit(0)."""
    out = io.StringIO()
    try:
        run([option], stdout=out)
    except SystemExit as end:
        if end.code == 0:
            return out.getvalue()
        raise
    raise AssertionError("it does not end")


class Help(unittest.TestCase):
    """--help and --version."""

    def test_it_tells_how_strategies_are_spelled(self):
        words = " ".join(printed_at_exit("--help").split())
        self.assertIn("examples: ", words)
        self.assertIn("overlap:50/15, overlap:300/15%;", words)
        self.assertIn("fixed:50,100 means two", words)

    def test_its_five_examples_work_as_they_stand(self):
        """In the folder of the project."""
        lines = printed_at_exit("--help").splitlines()
        examples = [line for line in lines if line.startswith("  python ")]
        self.assertEqual(len(examples), 5)
        for example in examples:
            with self.subTest(example):
                _, script, *arguments = shlex.split(example)
                self.assertEqual(script, os.path.basename(SCRIPT))
                path = os.path.join(HERE, "README.md")
                arguments = [
                    path if argument == "README.md" else argument
                    for argument in arguments
                ]
                self.assertTrue(printed(arguments))

    def test_it_groups_its_options(self):
        out = printed_at_exit("--help")
        groups = (
            "data",
            "strategies",
            "measuring",
            "output",
            "looking into it",
        )
        places = [out.index(f"\n{group}:\n") for group in groups]
        self.assertEqual(places, sorted(places))
        self.assertIn("Sizes are in characters", out)

    def test_version_prints_the_version(self):
        self.assertEqual(printed_at_exit("--version").strip(), cre.VERSION)


# ======================== what is published =================================
PART_1_LINES = 240  # that are not blank, at most: it is to be quoted


@lru_cache(maxsize=None)
def shipped_report():
    """What the JSON says of a bare run."""
    return measured("")


@lru_cache(maxsize=None)
def readme():
    """The text of README."""
    return read_exactly(os.path.join(HERE, "README.md"))


def part_1():
    """The lines of Part 1 of the script."""
    lines = read_exactly(SCRIPT).split("\n")
    first, last = (
        next(
            number
            for number, line in enumerate(lines)
            if line.startswith("# =") and title in line
        )
        for title in ("Part 1:", "Part 2:")
    )
    return lines[first:last]


def pasted(corpus, queries):
    """What Part 1 prints in a file of its own, under data, over one call."""
    source = [
        f"CORPUS = {corpus!r}",
        f"QUERIES = {queries!r}",
        *part_1(),
        "report(CORPUS, QUERIES)",
    ]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = compile("\n".join(source), "pasted.py", "exec")
        exec(code, {"__name__": "pasted"})
    return out.getvalue()


class PartOne(unittest.TestCase):
    """Part 1 of the script, in a file of its own."""

    def test_it_is_short_and_narrow(self):
        lines = [line for line in part_1() if line.strip()]
        self.assertLessEqual(len(lines), PART_1_LINES)
        self.assertLessEqual(max(map(len, lines)), 79)

    def test_it_prints_the_five_rows_that_a_bare_run_prints(self):
        queries = [pair for pair in ZOO_QUERIES if "milk" not in pair[0][0]]
        *rows, rounds = pasted(ZOO_TEXT, queries).splitlines()
        self.assertEqual(len(rows), 6)
        self.assertEqual(rounds, "3 rounds agree exactly.")
        whole = printed(PY_RUN, python_data(ZOO_TEXT, queries))
        self.assertIn("\n\n" + "\n".join(rows) + "\n", whole)

    def test_it_says_how_to_paste_it(self):
        """Its first comment names the lines that begin and end it."""
        lines = read_exactly(SCRIPT).split("\n")
        marks = [line for line in lines if line.startswith("# ====")]
        self.assertEqual(len(marks), 2)
        comment = " ".join(part_1()[1:8])
        self.assertIn("copy from the line above", comment)
        named = re.search(r'"(# =+ Part 2: [a-z ]+)"', comment)[1]
        self.assertTrue(marks[1].startswith(named), marks[1])

    def test_a_misspelt_topic_is_named(self):
        for topics, named in ((("fix",), '"fix"'), ((), '""')):
            with self.assertRaisesRegex(
                ValueError, "unknown topic " + named + ".*fox"
            ):
                pasted(ZOO_TEXT, [(topics, "Who runs?")])

    def test_a_forgotten_comma_and_a_topic_twice_change_nothing(self):
        plain = pasted(ZOO_TEXT, [(("fox",), "Who hunts mice?")])
        for golds in ("fox", ("fox", "fox"), ["fox"]):
            again = pasted(ZOO_TEXT, [(golds, "Who hunts mice?")])
            self.assertEqual(again, plain, golds)

    def test_a_strategy_that_does_not_exist_is_named(self):
        document = cre.Document("text", [(0, 4)])
        for strategy in ("fixd:50", "sentence:p95", "fix"):
            with self.assertRaisesRegex(ValueError, f"no strategy {strategy}"):
                cre.cut(strategy, document)

    def test_an_overlap_must_be_under_the_size(self):
        for overlap in (50, 51, -1):
            with self.assertRaisesRegex(ValueError, "under the size"):
                cre.chunk_overlap("text", 50, overlap)


@needs_shipped_data
class ShippedData(unittest.TestCase):
    """The data have the sizes that the article fixes (design, section 4)."""

    def test_the_chunks_of_each_strategy_are_as_many(self):
        chunks = {
            row["strategy"]: row["chunks"]
            for row in shipped_report()["strategies"]
        }
        self.assertEqual(chunks["fixed:50"], 20)
        self.assertEqual(chunks["overlap:50/15"], 28)
        self.assertEqual(chunks["fixed:500"], 2)
        self.assertIn(chunks["para:90"], range(14, 17))
        self.assertIn(chunks["para:180"], range(6, 8))

    def test_the_corpus_has_as_many_characters(self):
        characters = shipped_report()["corpus"]["characters"]
        self.assertIn(characters, range(961, 981))

    def test_both_chunks_of_fixed_500_have_some_748_tokens(self):
        """Each query sends them, in the order of the text."""
        report = measured(
            ONE_ROUND + "-s fixed:500 --retriever mine.Order",
            {"mine.py": ORDERS_PY},
        )
        (row,) = report["strategies"]
        self.assertEqual(row["sent"], 2)
        self.assertGreaterEqual(row["tokens"], 0.95 * 748)
        self.assertLessEqual(row["tokens"], 1.05 * 748)

    def test_the_corpus_has_seven_topics_of_three_paragraphs(self):
        topics = Counter(topic for topic, _ in CORPUS)
        self.assertEqual(len(topics), 7)
        self.assertEqual(set(topics.values()), {3})

    def test_three_topics_share_a_word_in_every_paragraph(self):
        shared = [
            text
            for topic, text in CORPUS
            if topic in ("KV 缓存", "前缀缓存", "语义缓存")
        ]
        self.assertEqual(len(shared), 9)
        for text in shared:
            self.assertIn("缓存", text)

    def test_eight_queries_have_one_gold_and_six_have_two(self):
        self.assertEqual(
            Counter(len(golds) for golds, _ in QUERIES), {1: 8, 2: 6}
        )

    def test_the_first_line_of_each_data_file_is_right(self):
        characters = sum(len(text) for _, text in CORPUS)
        for name, wanted in (
            ("corpus.py", [21, 7, 3, characters]),
            ("queries.py", [14, 8, 6]),
        ):
            with self.subTest(name):
                first = read_exactly(os.path.join(HERE, name)).split("\n")[0]
                found = [int(number) for number in re.findall(r"\d+", first)]
                self.assertEqual(found, wanted)


@needs_shipped_data
class Published(unittest.TestCase):
    """The figures of README, the transcript and the picture are a run's."""

    def test_the_transcript_is_a_bare_run(self):
        with open(os.path.join(HERE, "transcript.txt"), "rb") as file:
            self.assertEqual(file.read(), bare_run())

    def test_the_transcript_has_at_most_80_columns(self):
        lines = bare_run().decode("utf-8").splitlines()
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_readme_shows_the_transcript(self):
        shown = bare_run().decode("utf-8")
        command = "$ python chunking_retrieval_eval.py\n"
        self.assertIn(f"{command}{shown}```", readme())

    def test_readme_has_the_figures_of_the_table(self):
        """Its tokens are those of the article: three chunks are sent."""
        filled = measured(
            ONE_ROUND + "--retriever mine.Filled", {"mine.py": FILLED_PY}
        )
        rows = zip(shipped_report()["strategies"], filled["strategies"])
        for row, full in rows:
            line = "| {strategy} | {chunks} | {recall@1:.3f} | {recall@3:.3f} "
            tokens = "| {tokens:.1f} |".format_map(full)
            self.assertIn(line.format_map(row) + tokens, readme())

    def test_readme_has_the_verdicts(self):
        """In English and in Chinese; none is told from chance."""
        rows = {
            row["strategy"]: row
            for row in shipped_report()["comparisons"]
            if row["metric"] == "recall@3"
        }
        overlap, para = rows["overlap:50/15"], rows["para:90"]
        p = overlap["p_holm"], para["p_holm"]
        self.assertGreaterEqual(min(p), 0.05)
        for row, words in (
            (overlap, "won {} questions and lost {} (adjusted p = {:.3f})"),
            (para, "won {} and lost {} (adjusted p = {:.3f})"),
            (overlap, "{} 胜 {} 负（校正后 p = {:.3f}）"),
            (para, "{} 胜 {} 负，校正后 p = {:.3f}"),
        ):
            counts = len(row["wins"]), len(row["losses"])
            self.assertIn(words.format(*counts, row["p_holm"]), readme())
        whole = measured(ONE_ROUND + "--covered 100")["comparisons"]
        (decided,) = [
            row["p_holm"]
            for row in whole
            if (row["strategy"], row["metric"]) == ("para:90", "recall@3")
        ]
        self.assertLess(decided, 0.05)
        self.assertIn(f"decided (adjusted p = {decided:.3f})", readme())

    def test_readme_has_what_the_start_of_windows_decides(self):
        shifts = measured(ONE_ROUND + "--shifts 50")["shifts"]
        base, overlap, para = [row["recall"] for row in shifts[:3]]
        for recall, words in (
            (base, "`fixed:50` ranges from {:.3f} to {:.3f}"),
            (overlap, "`overlap:50/15` from {:.3f} to {:.3f}"),
            (base, "`fixed:50` 就在 {:.3f} 到 {:.3f} 之间"),
        ):
            ends = min(recall), max(recall)
            self.assertIn(words.format(*ends), readme())
        pairs = list(product(base, overlap))
        share = sum(one >= two for one, two in pairs) / len(pairs)
        self.assertIn(f"in {100 * share:.0f} % of the pairs", readme())
        self.assertIn(f"有 {100 * share:.0f}% 的组合", readme())
        self.assertGreater(para[0], max(base))  # wherever they start

    def test_readme_has_the_sizes(self):
        words = " ".join(readme().split())
        report = shipped_report()
        characters = report["corpus"]["characters"]
        self.assertIn(f"({characters} characters, 21 paragraphs", words)
        choice = report["choice"]
        asked = report["queries"]["total"]
        self.assertIn(
            f"`{choice['strategy']}` finds what "
            f"{round(choice['recall'] * asked)} of the {asked} questions need,"
            f" for {choice['tokens']:.1f} tokens a question",
            words,
        )

    def test_the_picture_is_that_of_a_bare_run(self):
        texts, _ = written_files("", {}, "--plot")
        kept = os.path.join(HERE, ".github", "cost-recall.svg")
        self.assertEqual(texts["x.svg"], read_exactly(kept))


# A retriever that sends as many chunks as are asked for, matching or not.
FILLED_PY = """
from chunking_retrieval_eval import BM25

class Filled(BM25):
    def topk(self, query, k):
        scores = self.scores(query)
        return sorted(range(len(scores)), key=lambda n: -scores[n])[:k]
"""


def public(name):
    """The path of a file of the public data."""
    return os.path.join(SHARED, *name.split("/"))


# Where README's names of public data stand here.
PUBLIC_FILES = {
    "cmrc2018_trial.json": public("cmrc2018/cmrc2018_trial.json"),
    "chroma/corpora": public("chroma/corpora"),
    "chroma/questions_df.csv": public("chroma/questions_df.csv"),
}


def readme_commands():
    """The arguments of the commands that README runs the script with."""
    blocks = re.findall(r"(?s)```console\n(.*?)```", readme())
    lines = [line for block in blocks for line in block.splitlines()]
    commands = []
    for line in lines:
        words = shlex.split(line.lstrip("$ ")) if "python " in line else []
        if words[:2] == ["python", os.path.basename(SCRIPT)]:
            commands.append(words[2:])
    return commands


# What README's Python takes from others, as far as it uses it.
STAND_INS = {
    "langchain_text_splitters.py": """
class RecursiveCharacterTextSplitter:
    def __init__(self, chunk_size, chunk_overlap):
        self.size = chunk_size

    def split_text(self, text):
        ends = range(0, len(text), self.size)
        return [text[start : start + self.size] for start in ends]
""",
    "my_model.py": """
class Array(list):
    def __getitem__(self, part):
        found = super().__getitem__(part)
        return Array(found) if isinstance(part, slice) else found

    def mean(self, axis):
        return Array(sum(column) / len(self) for column in zip(*self))

    def __matmul__(self, other):
        return sum(x * y for x, y in zip(self, other))

def embed(text):
    return Array([[letter in "的一是", 1.0] for letter in text])
""",
    "dask/distributed.py": """
from concurrent.futures import ThreadPoolExecutor

class Client:
    def get_executor(self, pure):
        return ThreadPoolExecutor()
""",
}


class Readme(unittest.TestCase):
    """What README says that does not depend on the shipped data."""

    def test_it_tells_how_to_run_the_tests(self):
        self.assertIn("\npython test_eval.py\n```", readme())

    def test_its_commands_on_made_up_files_run(self):
        """What it calls docs and questions.jsonl, a reader makes up."""
        files = {
            "docs/guide.md": "# Foxes\n\nThe red fox hunts mice at night.\n",
            "questions.jsonl": query("What does it hunt?", "hunts mice"),
        }
        commands = [each for each in readme_commands() if "docs" in each]
        self.assertEqual(len(commands), 2)
        for arguments in commands:
            with self.subTest(arguments):
                self.assertTrue(printed(arguments, files))

    def test_how_many_questions_it_asks_for(self):
        """The least with which equal answers are shown to be as good."""
        shown = [n for n in range(1, 200) if shown_within(0.05, 0, 0, n)]
        said = f"That takes {shown[0]} questions at least"
        self.assertIn(said, readme())

    def test_its_lines_of_data_are_read(self):
        """Each example of a format, with what it names."""
        (corpus_line,) = re.findall(r'`(\{"topic": .*?\})`', readme())
        (query_line,) = re.findall(r'`(\{"query": "Which.*?\})`', readme())
        files = {
            "guide/install.md": "# Ports\n\nIt serves metrics on port 9464.",
            "c.jsonl": corpus_line,
            "q.jsonl": query_line.replace("guide/", ""),
            "p.jsonl": query("Who pays?", "billing"),
        }
        for arguments in (
            "--corpus guide --queries q.jsonl",
            "--corpus c.jsonl --queries p.jsonl",
        ):
            self.assertTrue(printed(arguments + " -s para:90", files))

    def test_its_plugged_in_splitter_and_model_run(self):
        """By the command in their first line, with stand-ins for others'."""
        blocks = re.findall(
            r"(?s)```python\n(# mine.py +(.*?)\n.*?)```", readme()
        )
        self.assertEqual(len(blocks), 2)
        for source, command in blocks:
            with self.subTest(command):
                words = command.split()
                self.assertEqual(
                    words[:2], ["python", os.path.basename(SCRIPT)]
                )
                files = {**STAND_INS, "mine.py": source}
                self.assertIn("mine.", printed(words[2:], files))

    def test_its_sweep_prints_the_rows(self):
        """On an executor that stands in for Dask's."""
        (source,) = re.findall(r"(?s)```python\n(# sweep.py.*?)```", readme())
        out = io.StringIO()
        with workplace(STAND_INS) as folder, contextlib.redirect_stdout(out):
            for name in ("corpus.py", "queries.py"):
                shutil.copy(os.path.join(HERE, name), folder)
            sys.path.insert(0, folder)
            exec(source, {"__name__": "__main__"})
        strategies = [line.split()[0] for line in out.getvalue().splitlines()]
        self.assertEqual(strategies, ["strategy", "fixed:50", "para:90"])

    def test_its_links_are_whole(self):
        """No paper, data set or library is linked twice."""
        links = re.findall(r"\]\((https://[^()\s]+)\)", readme())
        self.assertGreater(len(links), 15)
        self.assertEqual(len(links), len(set(links)))

    def test_the_command_that_prints_part_1_does(self):
        """As sed does it: from one banner to the line before the other."""
        self.assertIn(
            "sed -n '/^# =* Part 1/,/^# =* Part 2/p' "
            "chunking_retrieval_eval.py | sed '$d'",
            readme(),
        )
        lines = read_exactly(SCRIPT).split("\n")
        first, last = (
            [n for n, line in enumerate(lines) if re.match(mark, line)]
            for mark in ("# =* Part 1", "# =* Part 2")
        )
        self.assertEqual(len(first), 1)
        self.assertEqual(len(last), 1)
        self.assertEqual(lines[first[0] : last[0]], part_1())


@needs_public_data
class PublishedOnPublicData(unittest.TestCase):
    """README's commands and figures on the data of Chroma and CMRC 2018."""

    @classmethod
    def setUpClass(cls):
        """What each command says, by its first strategies, in one round.

        Of the one whose choice README shows it is the page, else the JSON.
        """
        cls.said = {}
        for arguments in readme_commands():
            named = [
                PUBLIC_FILES.get(argument, argument) for argument in arguments
            ]
            if named != arguments:
                chosen = arguments[arguments.index("-s") + 1]
                show = printed if chosen == "fixed:100,300,500" else measured
                cls.said[chosen] = show([*named, *ONE_ROUND.split()])

    def rows(self, chosen):
        """The rows of the JSON, or of the table, by strategy."""
        said = self.said[chosen]
        if isinstance(said, dict):
            return {row["strategy"]: row for row in said["strategies"]}
        head, *lines = [
            line.split() for line in said.split("\n\n")[1].split("\n")
        ]
        return {line[0]: dict(zip(head, line)) for line in lines}

    def test_there_are_three_commands(self):
        self.assertEqual(len(self.said), 3)

    def test_characters_on_the_corpora_of_chroma(self):
        rows = self.rows("fixed:400,800,1600")
        self.assertEqual(len(rows), 4)
        for row in rows.values():
            line = (
                "| {strategy} | {retriever} | {char_recall:.3f} "
                "| {char_precision:.3f} | {char_iou:.3f} |"
            )
            self.assertIn(line.format_map(row), readme())
        middle = rows["fixed:800"]
        self.assertIn(
            "reach {char_recall:.3f} of the characters at a precision of "
            "{char_precision:.3f}".format_map(middle),
            readme(),
        )

    def test_the_choice_on_cmrc(self):
        page = self.said["fixed:100,300,500"]
        choice = page[page.index("Choose ") :]
        self.assertIn(f"```\n{choice.rstrip()}\n```", readme())

    def test_what_the_choice_hangs_on(self):
        report, rows = self.said["fixed:300"], self.rows("fixed:300")
        whole = report["thresholds"][0]["recall"]
        for name, row in rows.items():
            self.assertIn(
                f"`{name}` falls from {row['recall@3']:.3f} to "
                f"{whole[name]:.3f}",
                readme(),
            )
        recall = report["shifts"][0]["recall"]
        self.assertIn(
            f"`fixed:300` gets {min(recall):.3f} to {max(recall):.3f} "
            f"({recall[0]:.3f} where it happens to start)",
            readme(),
        )

    def test_recall_on_a_budget(self):
        """And at the top 3, and how much more text that sends."""
        self.assertIn("-s fixed:100,300,500 --budget 400`", readme())
        spent = measured(
            [
                *("--squad", PUBLIC_FILES["cmrc2018_trial.json"]),
                *(ONE_ROUND + "-s fixed:100,300,500 --budget 400").split(),
            ]
        )
        top = self.rows("fixed:100,300,500")
        names = [f"fixed:{size}" for size in (100, 300, 500)]
        for words, recalls in (
            ("recall is", [r["recall@400t"] for r in spent["strategies"]]),
            ("the top 3 it is", [top[name]["recall@3"] for name in names]),
        ):
            shown = "{:.3f}, {:.3f} and {:.3f}".format(*map(float, recalls))
            self.assertIn(f"{words} {shown}", readme())
        large, small = top["fixed:500"], top["fixed:100"]
        times = float(large["tokens"]) / float(small["tokens"])
        self.assertIn(f"sends {times:.1f} times the text", readme())

    def test_texts_that_are_a_single_chunk(self):
        data = cre.read_squad(PUBLIC_FILES["cmrc2018_trial.json"])
        lengths = [len(document.text) for document in data.documents]
        whole = sum(length <= 500 for length in lengths)
        self.assertIn(
            f"{whole} of the {len(lengths)} texts are a single chunk",
            readme(),
        )


# ======================== the fast ways and the plain =======================
class FastAndPlain(unittest.TestCase):
    """What Part 2 does sooner gives what the plain way gives."""

    def test_tokens(self):
        """quick_tokenize is tokenize."""
        rng = random.Random(21)
        marks = "，：；！？（）。、 \u0301\u3000_"
        letters = "aZé9字かナ한ไхक्षﬁＡ½ß" + marks
        texts = ["".join(rng.choices(letters, k=12)) for _ in range(3000)]
        for text in [*texts, *nasty_texts(rng, 60)]:
            plain = cre.tokenize(text)
            self.assertEqual(cre.quick_tokenize(text), plain, text[:80])

    def test_every_character_and_mark(self):
        """Of the first 200,000, each on its own line; and at marks."""
        for first in range(0, 200_000, 100):
            text = "\n".join(map(chr, range(first, first + 100)))
            self.assertEqual(cre.quick_tokenize(text), cre.tokenize(text))
        for mark in cre.FULL_WIDTH:
            for text in (f"a{mark}b", f"字{mark}\u0301字", f"{mark}\u3099が"):
                self.assertEqual(cre.quick_tokenize(text), cre.tokenize(text))

    def test_topk(self):
        """MaxScore.topk is BM25.topk, ties included."""
        rng = random.Random(22)
        words = [f"w{number}" for number in range(40)]
        for _ in range(60):
            weights = [rng.random() ** 4 for _ in words]
            texts = [
                " ".join(rng.choices(words, weights, k=rng.randint(0, 25)))
                for _ in range(rng.randint(1, 60))
            ]
            texts += rng.sample(texts, len(texts) // 3)
            plain = cre.BM25(texts)
            fast = cre.MaxScore(texts)
            for _ in range(15):
                asked = " ".join(rng.choices(words, k=rng.randint(1, 12)))
                for k in (0, 1, 2, 3, 10, 99):
                    wanted = plain.topk(asked, k)
                    self.assertEqual(fast.topk(asked, k), wanted, asked)

    def test_judge_by_wording(self):
        """judge_by_wording is by_wording of each gold."""
        rng = random.Random(23)
        words = [f"w{number}" for number in range(25)]
        for _ in range(60):
            bags = {
                (0, start, start + 1): set(
                    rng.choices(words, k=rng.randint(0, 14))
                )
                for start in range(rng.randint(1, 30))
            }
            places = list(bags)
            golds = [
                cre.RuledGold(
                    f"t{number}",
                    "wording",
                    tuple(rng.sample(places, min(3, len(places)))),
                )
                for number in range(4)
            ]
            chunks = places[:: rng.randint(1, 3)]
            for covered in (0.07, 0.1, 0.3, 0.5, 0.6, 0.8, 1):
                wanted = {
                    gold: cre.by_wording(
                        gold, chunks, bags.__getitem__, covered
                    )
                    for gold in golds
                }
                found = cre.judge(golds, chunks, bags.__getitem__, covered)
                self.assertEqual(found, wanted, covered)

    def test_judge_by_position(self):
        """By the sets of the characters' positions."""
        rng = random.Random(24)
        for _ in range(200):
            chunks = random_places(rng, 12)
            golds = [
                cre.RuledGold("g", rule, tuple(random_places(rng, 3)))
                for rule in ("quote", "section")
            ]
            covers = cre.judge(golds, chunks, None)
            for gold in golds:
                wanted = {
                    number
                    for number, chunk in enumerate(chunks)
                    if any(holds(gold, place, chunk) for place in gold.places)
                }
                self.assertEqual(covers[gold], wanted)

    def test_lengths_of_places(self):
        """union_length and common_length, by sets of positions."""
        rng = random.Random(25)
        for _ in range(300):
            one, other = random_places(rng, 6), random_places(rng, 6)
            first, second = place_positions(one), place_positions(other)
            self.assertEqual(cre.union_length(one), len(first))
            common = cre.common_length(one, other)
            self.assertEqual(common, len(first & second))

    def test_the_least_number_of_tokens(self):
        """least_held is the first count whose share is enough."""
        for per_cent in range(1, 101):
            covered = per_cent / 100
            for wanted in range(1, 60):
                needed = next(
                    count
                    for count in range(wanted + 1)
                    if count / wanted >= covered
                )
                self.assertEqual(cre.least_held(wanted, covered), needed)

    def test_evaluate_and_trial_measure_the_same(self):
        """Part 1 and Part 2 on random corpora, every figure of the row."""
        for seed in range(12):
            rng = random.Random(seed)
            words = [f"w{number}" for number in range(30)]
            corpus = [
                (f"t{rng.randrange(4)}", " ".join(rng.choices(words, k=9)))
                for _ in range(12)
            ]
            queries = [
                ((topic,), " ".join(rng.choices(words, k=3)))
                for topic, _ in corpus[:6]
            ]
            documents, golds = cre.join(corpus)
            asked = cre.with_golds(queries, golds)
            report = measured(PY_DATA, python_data(corpus, queries))
            for row in report["strategies"]:
                done = cre.evaluate(row["strategy"], documents, asked, 3)
                plain = cre.measure(done, asked, 3)
                self.assertEqual({key: row[key] for key in plain}, plain)


def random_places(rng, most):
    """Up to so many places in two documents of 40 characters, in order."""
    places = set()
    for _ in range(rng.randint(1, most)):
        start = rng.randrange(40)
        end = rng.randint(start + 1, 40)
        places.add((rng.randrange(2), start, end))
    return sorted(places)


def place_positions(places):
    """The characters of places, as a set of (document, position)."""
    return {
        (document, at)
        for document, start, end in places
        for at in range(start, end)
    }


def holds(gold, place, chunk):
    """Whether a chunk holds 60 % of a place, or of itself, by its rule."""
    wanted, held = place_positions([place]), place_positions([chunk])
    whole = len(wanted)
    if gold.rule == "section":
        whole = min(whole, len(held))
    return 5 * len(wanted & held) >= 3 * whole


if __name__ == "__main__":
    unittest.main()
