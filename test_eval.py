"""The tests of chunking_retrieval_eval: against the design, values worked by hand, SQLite's bm25(), brute force, published
figures, and what users bring. Run them by `python test_eval.py` or `python -m unittest`; they need nothing else."""
import atexit
import contextlib
import csv
import hashlib
import io
import itertools
import json
import multiprocessing
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from fractions import Fraction
from functools import reduce
from itertools import accumulate, combinations, groupby, islice, permutations, product
from math import comb, log
from operator import or_
from xml.etree import ElementTree

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "chunking_retrieval_eval.py")
sys.path.insert(0, HERE)
import chunking_retrieval_eval as cre  # noqa: E402
from chunking_retrieval_eval import (BM25, Document, Gold, Query, chunk, chunk_fixed, chunk_overlap, chunk_para,  # noqa: E402
                                     evaluate, load, measure, tokenize)
from corpus import CORPUS  # noqa: E402
from queries import QUERIES  # noqa: E402

# ======================== tokenizer, BM25, chunkers, judge ===================
def texts_of(spec, text):
    """The texts of the chunks, the white space around them aside."""
    return [text[start:end].strip() for start, end in chunk(spec, text)]

def words(first, last):
    """Distinct tokens: "w3 w4 w5" for 3, 6."""
    return " ".join("w%d" % number for number in range(first, last))

def jumble(rng, vocabulary, most):
    """Up to so many words at random, the first of the vocabulary most often."""
    return " ".join(vocabulary[int(len(vocabulary) * rng.random() ** 3)] for _ in range(rng.randint(1, most)))

class Tokenizer(unittest.TestCase):
    TABLE = [
        ("大模型", ["大模", "模型"]), ("字", ["字"]), ("人々", ["人々"]), ("二〇二四", ["二〇", "〇二", "二四"]),
        ("ひらがな", ["ひら", "らが", "がな"]), ("スーパー", ["スー", "ーパ", "パー"]), ("食べる", ["食べ", "べる"]),
        ("検索エンジン", ["検索", "索エ", "エン", "ンジ", "ジン"]), ("한국어", ["한국", "국어"]), ("한글字", ["한글", "글字"]),
        ("\u1112\u1161\u11ab글", ["한글"]), ("ไทย", ["ไท", "ทย"]), ("ดีมาก", ["ดี", "ีม", "มา", "าก"]), ("ລາວ", ["ລາ", "າວ"]),
        ("ខ្មែរ", ["ខ្", "្ម", "មែ", "ែរ"]), ("မြန်", ["မြ", "ြန", "န်"]), ("हिन्दी भाषा", ["हिन्दी", "भाषा"]), ("ＢＭ２５", ["bm25"]),
        ("ﾃﾞｰﾀ", ["デー", "ータ"]), ("アイ・ウ", ["アイ", "ウ"]), ("caf\u00e9", ["caf\u00e9"]), ("cafe\u0301", ["caf\u00e9"]),
        ("x\u0323\u0302y", ["x\u0323\u0302y"]), ("Straße STRASSE", ["strasse", "strasse"]), ("Ὀδυσσεύς", ["ὀδυσσεύσ"]),
        ("İ", ["i\u0307"]), ("a👩\u200d👧b", ["a", "b"]), ("👩\u200d👩\u200d👧🏽", []), ("3", ["3"]), ("٣٤ 3.14", ["٣٤", "3", "14"]),
        ("x² ½ Ⅳ", ["x2", "1", "2", "iv"]), ("大模型RAG", ["大模", "模型", "rag"]), ("用GPU跑", ["用", "gpu", "跑"]),
        ("3月15日", ["3", "月", "15", "日"]), ("GPT-4o", ["gpt", "4o"]), ("snake_case", ["snake", "case"]), ("don't", ["don", "t"]),
        ("缓存，命中。", ["缓存", "命中"]), ("", []), (" \n", []), ("，。——_", []), ("\u0301\u0302", []), ("-\u0301a", ["a"])]

    def test_table(self):
        """Each text gives exactly these tokens."""
        for text, tokens in self.TABLE:
            with self.subTest(text=text):
                self.assertEqual(list(tokenize(text)), tokens)

    def test_tokens_by_position(self):
        """memory() gives each slice of a text the tokens that tokenize makes of it, wherever it cuts."""
        rng = random.Random(8)
        parts = ["大模型", "RAG ", "，", "：", "\u3000", " ", "\n", "e\u0301", "\u0301", "\u1112\u1161\u11ab", "한", "\u00b4", "ﾃﾞ", "हि", "👩\u200d👧", "3.14",
                 "ῼ", "\x00", "ｘ", "。", "a", "ς", "ดี", "\x1c", "½", "、"]
        for text in ["".join(rng.choices(parts, k=rng.randint(0, 30))) for _ in range(300)] + list(nasty_texts(rng, 20)):
            words, doc = cre.memory(), Document("", text, ())
            for start, end in [(0, len(text))] + [sorted(rng.choices(range(len(text) + 1), k=2)) for _ in range(12)]:
                self.assertEqual(words(doc, start, end), tokenize(text[start:end]), (text[:80], start, end))

class Ranking(unittest.TestCase):
    def test_scores_by_hand(self):
        """Lengths 3 3 1 5 3, mean 3: k1 * (1 - b + b * len / mean) is 1.5, 1.5, 0.75, 2.25, 1.5."""
        index = BM25(["red red blue", "red green green", "blue", "green green green blue gold", "gold tin tin"])
        two, three, one = log(1 + 3.5 / 2.5), log(1 + 2.5 / 3.5), log(1 + 4.5 / 1.5)  # idf where so many of 5 texts have it
        red, blue = [two * 2 * 2.5 / (2 + 1.5), two * 1 * 2.5 / (1 + 1.5)], three * 1 * 2.5 / (1 + 1.5)
        for query, scores in [
                ("red", red + [0, 0, 0]), ("RED red", [2 * red[0], 2 * red[1], 0, 0, 0]),
                ("blue", [blue, 0, three * 2.5 / (1 + 0.75), three * 2.5 / (1 + 2.25), 0]),
                ("tin green", [0, two * 2 * 2.5 / (2 + 1.5), 0, two * 3 * 2.5 / (3 + 2.25), one * 2 * 2.5 / (2 + 1.5)]),
                ("red blue red", [2 * red[0] + blue, 2 * red[1], three * 2.5 / 1.75, three * 2.5 / 3.25, 0]),
                ("lead", [0] * 5), ("", [0] * 5)]:
            with self.subTest(query=query):
                for found, wanted in zip(index.scores(query), scores):
                    self.assertAlmostEqual(found, wanted, 8)
                ranked = sorted((n for n in range(5) if scores[n]), key=lambda n: -scores[n])
                self.assertEqual(list(index.topk(query, 5)), ranked)  # a text that scores 0 is not there
        everywhere = BM25(["a b", "a c", "a d"]).scores("a")  # the idf is not negative: ln(1 + 0.5 / 3.5) * 2.5 / 2.5
        self.assertEqual([round(score, 8) for score in everywhere], [round(log(8 / 7), 8)] * 3)

    def test_ties_go_to_the_earlier(self):
        """Scores that are equal, or equal to 9 places, keep the order of the texts."""
        same = [" ".join(" ".join(word * times) for word, times in zip("abcd", order)) for order in permutations([1, 2, 3, 7])]
        for k in (1, 3, 24):
            self.assertEqual(list(BM25(same).topk("a b c d", k)), list(range(k)))
        longer_first = BM25(["a b c d", "a b", "a"], 1.5, 1e-11)  # the shorter are better by some 1e-12
        self.assertEqual(list(longer_first.topk("a", 2)), [0, 1])
        for texts in ([], ["", "。"]):  # nothing to find is no error
            self.assertEqual((list(BM25(texts).topk("a", 3)), list(BM25(texts).scores("a"))), ([], [0] * len(texts)))

    def test_topk_is_the_plain_way(self):
        """topk and scores: every text scored by a second implementation, rounded to 9 places, sorted; 300 random queries."""
        rng, vocabulary = random.Random(7), words(0, 80).split()
        for corpus in range(5):
            texts = [jumble(rng, vocabulary, 30) for _ in range(50)]
            texts += rng.sample(texts, 10)
            index, bags = BM25(texts), [Counter(tokenize(text)) for text in texts]
            lengths = [sum(bag.values()) for bag in bags]
            for _ in range(60):
                query, scores = jumble(rng, vocabulary, 14), [0.0] * len(texts)
                for token in tokenize(query):
                    n = sum(token in bag for bag in bags)
                    for text, bag in enumerate(bags):
                        norm = 1.5 * (0.25 + 0.75 * lengths[text] * len(texts) / sum(lengths))
                        scores[text] += log(1 + (len(texts) - n + 0.5) / (n + 0.5)) * bag[token] * 2.5 / (bag[token] + norm)
                plain = [text for score, text in sorted((-round(score, 9), text) for text, score in enumerate(scores)) if score]
                for k in (1, 2, 3, 10, 25, 60, 99):
                    self.assertEqual(list(index.topk(query, k)), plain[:k], (corpus, query, k))
                for found, wanted in zip(index.scores(query), scores):
                    self.assertAlmostEqual(found, wanted, 8)

    def test_scores_against_sqlite(self):
        """FTS5's bm25(), whose k1 = 1.2 and b = 0.75 are fixed. It returns -idf * (the same weight of a token), with
        idf = ln((N - n + 0.5) / (n + 0.5)), or 1e-6 where that is not above 0: so for queries of one token each side
        is divided by its own idf. The tokens are fed in hex, so that FTS5's tokenizer passes each as it is."""
        try:
            import sqlite3
            base = sqlite3.connect(":memory:")
            base.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
        except (ImportError, sqlite3.OperationalError) as error:
            self.skipTest("no SQLite with FTS5: %s" % error)
        self.addCleanup(base.close)
        rng = random.Random(3)
        texts = [jumble(rng, ["缓存命中", "GPU", "café", "前缀", "3.14", "हिन्दी", "量化"], 15) for _ in range(40)]  # 缓存: in most
        bags = list(map(tokenize, texts))
        base.executemany("INSERT INTO t(rowid, x) VALUES(?, ?)", (
            (number, " ".join("x" + token.encode().hex() for token in bag)) for number, bag in enumerate(bags)))
        for token in sorted(set().union(*bags)):
            n = sum(token in bag for bag in bags)
            ours, theirs = log(1 + (40.5 - n) / (n + 0.5)), log((40.5 - n) / (n + 0.5))
            rows = base.execute("SELECT rowid, bm25(t) FROM t WHERE t MATCH ?", ("x" + token.encode().hex(),)).fetchall()
            scores = BM25(texts, k1=1.2, b=0.75).scores(token)
            self.assertEqual({text for text, _ in rows}, {text for text, score in enumerate(scores) if score})
            for text, score in rows:
                self.assertAlmostEqual(scores[text] / ours, -score / (theirs if theirs > 0 else 1e-6), 6)

    def test_a_tie_that_the_last_token_makes(self):
        """What is behind until the last token, and ties by it, is not given up before."""
        self.assertEqual(list(BM25(["q r", "p x"]).topk("p p p q q r", 1)), [0])

PARTS = [  # what nasty_texts texts are made of
    "x" * 5000, "字" * 700, "短行\n" * 30, "一句话。第二句，带逗号！第三？" * 6, "a, b，c、 d " * 25, " \t\n\r\n\u3000\xa0" * 9, "\n\n\n",
    "。！？；… .!? ，，\n" * 5, "👩\u200d👩\u200d👧🏽🇨🇳𠮷" * 20, "e\u0301\u0302\u0300क्षि" * 25, "一行。\r\n\r\n二行，三。\r\n" * 8, "\ufeff\u200b",
    "| 甲 | 乙 |\n|---|---|\n" + "| 1 | 2 |\n" * 9, "\n\n| 甲 |\n|---|\n| 1 |\n\n注：说明这张表。\n\n",
    "\n```py\ncode()\n\n\nmore = 1\n```\n", "\n````\n```\n\nx\n````\n\n", "\n~~~\n没有收尾\n\n", "\n# 一\n\n## 二\n### 三\n正文。\n\n", "\n#\n#标签 no heading\n## End\n",
    "Pi is 3.14, e.g. https://a.io/x?y=1.2 in b.py! “Yes.” ", "\n"]
FENCE = r"(`{3,}|~{3,})(?:(?!\n\1[ \t\r]*(?:\n|\Z)).)*(?:\n\1)?\s*"
TABLE = r"(?:[^\S\n]*\|[^\n]*(?:\n|\Z))+\s*?(?:(?!\s*(?:\n|\Z|\|)|#{1,6}\s|```|~~~)[^\n]+(?:\n|\Z))*\s*"
UNCUT = re.compile(r"(?:#{1,6}(?:\s[^\n]*)?\n|\s*\n)*(?:%s|%s)" % (FENCE, TABLE), re.S)  # headings, then one fence or table

def nasty_texts(rng, count):
    """Texts of a few of the PARTS, some without their beginning."""
    for _ in range(count):
        parts = [rng.choice(PARTS) for _ in range(rng.randint(1, 7))]
        yield "".join(part if rng.random() < 0.7 else part[rng.randrange(len(part)):] for part in parts)

def random_specs(rng):
    """Each chunker with random sizes and an overlap up to one under the size, as (spec, the size of its chunks or None)."""
    size = rng.choice([1, 2, 7, 30, 80, 300])
    pair = (size, rng.choice([0, size // 3, size - 1, rng.randrange(size)]))
    for spec in ("fixed:%d", "para:%d", "recursive:%d", "semantic:0.45/%d", "semantic:p95/%d", "structure:%d"):
        yield spec % size, size
    for spec in ("overlap:%d/%d", "sentence:%d/%d", "recursive:%d/%d", "structure:%d/%d"):
        yield spec % pair, size
    yield "overlap:%d/%d%%" % (size, rng.randrange(100)), size
    yield "parent:%d/%d" % (size, size + rng.randrange(200)), size
    yield rng.choice(["semantic:0.%d", "semantic:p%d"]) % rng.randrange(100), None

class Chunkers(unittest.TestCase):
    def check(self, spec, size, text):
        """What the design promises of every chunker on every text."""
        chunks, reach, last = chunk(spec, text), 0, (-1, -1)
        for start, end in chunks:
            self.assertTrue(0 <= start < end <= len(text) and text[start:end].strip(), "empty, or only white space")
            self.assertEqual(text[reach:start].strip(), "", "left out")
            self.assertFalse(last[0] <= start and end <= last[1], "inside the one before")
            reach, last = max(reach, end), (start, end)
            if size and end - start > size:
                whole = UNCUT.fullmatch(text[start:end]) if spec.startswith("structure:") else (
                    spec.startswith("para:") and (start, end) in chunk("para:1", text))
                self.assertTrue(whole, "%d characters, over the size: %r" % (end - start, text[start:end][:300]))
        self.assertEqual(text[reach:].strip(), "", "left out at the end")

    def test_promises(self):
        """Every chunker on nasty_texts texts with random sizes; short lines with an overlap one under the size."""
        rng = random.Random(11)
        for text in ["", " \n\t", "字", "\n\n。"] + list(nasty_texts(rng, 60)):
            for spec, size in random_specs(rng):
                with self.subTest(spec=spec, text=text[:60]):
                    self.check(spec, size, text)
        for text in ("ab\n" * 60, "一。" * 60, "a b, c\n\n" * 30, "x" * 99):
            for spec in ("overlap:9/8", "sentence:9/8", "recursive:9/8"):
                self.check(spec, 9, text)

    def test_windows(self):
        """fixed tiles, overlap shares exactly and stops at the window that reaches the end; white windows are left out.
        A percentage rounds down: 10 % of 333 is 33, 29 % of 50 is 14."""
        rng = random.Random(5)
        for text in nasty_texts(rng, 40):
            size = rng.randint(1, 90)
            for overlap in {0, size - 1, rng.randrange(size)}:
                plain = [(at, min(at + size, len(text))) for at in range(0, len(text), size - overlap)
                         if (at == 0 or at + overlap < len(text)) and text[at:at + size].strip()]
                self.assertEqual(list(chunk_overlap(text, size, overlap)), plain)
                self.assertEqual(chunk("overlap:%d/%d" % (size, overlap), text), plain)
                if not overlap:
                    self.assertEqual(list(chunk_fixed(text, size)), plain)
        for percent, plain in (("333/10%", "333/33"), ("50/29%", "50/14"), ("7/99%", "7/6"), ("9/0%", "9/0"), ("3/33%", "3/0")):
            for name in ("overlap:", "sentence:", "recursive:"):
                self.assertEqual(chunk(name + percent, "x" * 999), chunk(name + plain, "x" * 999), name + percent)

    def test_paragraphs_stay_whole(self):
        """para: the plain greedy way, with gaps between paragraphs and without."""
        rng = random.Random(2)
        for _ in range(200):
            at, paragraphs, plain, limit = 0, [], [], rng.randint(1, 120)
            for _ in range(rng.randint(1, 12)):
                start, end = at, at + rng.randint(1, 60)
                paragraphs, at = paragraphs + [(start, end)], end + rng.choice([0, 2])
                fits = plain and end - plain[-1][0] <= limit
                plain = plain[:-1] + [(plain[-1][0], end)] if fits else plain + [(start, end)]
            self.assertEqual(list(chunk_para(paragraphs, limit)), plain)
            self.assertEqual(chunk("para:%d" % limit, "x" * at, paragraphs), plain)

    def test_tails(self):
        """sentence and recursive: a chunk starts with the tail of the one before, shorter only at the size."""
        rng = random.Random(4)
        for _ in range(60):
            text, size = "".join("字" * rng.randint(1, 60) + rng.choice("。！，") for _ in range(20)), rng.randint(2, 90)
            overlap = rng.randrange(size)
            for name in ("sentence", "recursive"):
                chunks = chunk("%s:%d/%d" % (name, size, overlap), text)
                for (start, end), (following, stop) in zip(chunks, chunks[1:]):
                    self.assertTrue(start <= following and end - following <= overlap)
                    if stop - following < size:
                        self.assertGreaterEqual(end - following, min(overlap, end - start - 1))

    SENTENCES = [  # each as it is found in their text
        ["甲乙。", "丙丁！", "戊己？", "庚；", "辛…", "壬"], ["他说：“好。”", "她走了。"], ["（完。）", "下句。"], ["「行！」", "他答。"],
        ["等等……", "真的？！", "好"], ["圆周率是 3.14 吗？", "是。"], ["第一行", "第二行"], ["v2.0.", "读 README.md 吧", "U.S. law"],
        ["Pi is 3.14, e.g. here.", "See https://a.io/x?y=1.2 and b.py now.", "Wait...", "End"], ['"Go!"', "Then (he left.)", "No."]]

    def test_sentences(self):
        """By semantic:0.99, which cuts between all sentences that differ; and Chinese without a space is cut at its ends."""
        for sentences in self.SENTENCES:
            text = "".join(s + (" " if s.isascii() else "\n" if s[-1].isalnum() else "") for s in sentences)
            with self.subTest(text=text):
                self.assertEqual(texts_of("semantic:0.99", text), sentences)
        text = "".join("字" * n + "。" for n in (3, 9, 14, 2, 8, 14, 5, 1, 12))
        for spec in ("sentence:15/0", "sentence:15/4", "recursive:15", "recursive:15/4", "structure:15"):
            self.assertEqual({piece[-1] for piece in texts_of(spec, text)}, {"。"}, spec)

    NUMBERS, LINES = "一二三四五。六七八九十。甲乙丙丁戊。", "甲乙\n甲乙\n甲丙\n丁戊\n丁戊"
    NESTED = "# A\n\none\n\n## B\n\ntwo, longer than ten\n\n# C\n\nthree\n"
    BY_HAND = [  # (spec, text, its chunks)
        ("para:5", "a\nb\n\nc d\n \n# h\n\ne\n\n```\nf\n\ng\n```", ["a\nb", "c d", "# h\n\ne", "```\nf\n\ng\n```"]),
        ("para:5", "- 1. ```sh\n   # a\n\n   b\n   ```\n\nc d", ["- 1. ```sh\n   # a\n\n   b\n   ```", "c d"]),
        ("para:5", "# h\n\n## i\n### j\n\ne\n\n# k", ["# h\n\n## i\n### j\n\ne", "# k"]),
        ("sentence:10/4", NUMBERS, ["一二三四五。", "三四五。六七八九十。", "八九十。甲乙丙丁戊。"]),
        ("sentence:9/4", NUMBERS, ["一二三四五。", "四五。六七八九十。", "九十。甲乙丙丁戊。"]),  # the tail shrinks
        ("sentence:12/0", NUMBERS, ["一二三四五。六七八九十。", "甲乙丙丁戊。"]), ("sentence:5/2", NUMBERS[:6], ["一二三四五", "四五。"]),
        ("recursive:10/3", "abcdefghijklmnopqrstuvwx", ["abcdefghij", "hijklmnopq", "opqrstuvwx"]),
        ("recursive:7", "aa bb\n\ncc dd", ["aa bb", "cc dd"]), ("recursive:6", "aaaa bbbb\n\ncc", ["aaaa", "bbbb", "cc"]),
        ("recursive:11", "aa. bb\ncc. dd", ["aa. bb", "cc. dd"]), ("recursive:8", "ab. cd ef, gh", ["ab.", "cd ef,", "gh"]),
        ("recursive:6", "一二三四，五六七八，九", ["一二三四，", "五六七八，九"]), ("recursive:4", "abcdefghij", ["abcd", "efgh", "ij"]),
        # likenesses of LINES: 2/2, 1/2, 0, 2/2; distances 0, 0.5, 1, 0; their 50th percentile is 0.25, the 67th just over 0.5
        ("semantic:0.5", LINES, ["甲乙\n甲乙\n甲丙", "丁戊\n丁戊"]), ("semantic:0.51", LINES, ["甲乙\n甲乙", "甲丙", "丁戊\n丁戊"]),
        ("semantic:p50", LINES, ["甲乙\n甲乙", "甲丙", "丁戊\n丁戊"]), ("semantic:p66", LINES, ["甲乙\n甲乙", "甲丙", "丁戊\n丁戊"]),
        ("semantic:p67", LINES, ["甲乙\n甲乙\n甲丙", "丁戊\n丁戊"]), ("semantic:p100", LINES, [LINES]),
        ("semantic:0.45/6", "甲乙。" * 4, ["甲乙。甲乙。"] * 2),
        ("structure:99", NESTED, ["# A\n\none", "## B\n\ntwo, longer than ten", "# C\n\nthree"]),
        ("structure:99/15", NESTED, ["# A\n\none\n\n## B\n\ntwo, longer than ten", "# C\n\nthree"]),
        # two fences that touch are told apart, and one within a line opens none
        ("structure:20", "```\naaaaaaaaaaaaaaaa\n```\n" * 2, ["```\naaaaaaaaaaaaaaaa\n```"] * 2),
        ("structure:20", "```a``` is code.\n\nThe first of all.\n\n# H\n\nT.", ["```a``` is code.", "The first of all.", "# H\n\nT."]),
        ("para:5", "``a\n\nb", ["``a", "b"]),  # two marks open no fence
        ("recursive:5", "一二三、四五六", ["一二三、", "四五六"]), ("recursive:7/3", "xy z\n\nab cd\n\nef", ["xy z", "ab cd", "d\n\nef"]),
        ("semantic:0.9", "AB\nab", ["AB\nab"]), ("semantic:p0", "\nab\ncd", ["ab", "cd"]),
        ("semantic:p0", "abc\nabcdef\nx\nxy", ["abc\nabcdef", "x\nxy"]),  # 3 / sqrt(18) and 1 / sqrt(2) are one likeness
        ("structure:99/10", NESTED, ["# A\n\none", "## B\n\ntwo, longer than ten", "# C\n\nthree"]),
        ("structure:10", "abcde\n\nfgh\n\n", ["abcde\n\nfgh"]), ("structure:5", "# A\n\nabcdefgh", ["# A", "abcde", "fgh"]),
        ("parent:5/5", "abcd", ["abcd"]),
        ("para:5", "x\n\n# h\n\n## i", ["x", "# h\n\n## i"]),
        ] + [(spec, text, [text] if text.strip() else [])  # one sentence, none, all alike
             for spec in ("semantic:0.45", "semantic:p95", "semantic:p0", "semantic:0.45/90", "semantic:p95/90")
             for text in ("只有一句。", "没有句号", "", " \n", "甲乙。" * 9)]

    def test_by_hand(self):
        """Each spec of the table cuts its text into these chunks; recursive starts no chunk with a separator."""
        for spec, text, pieces in self.BY_HAND:
            with self.subTest(spec=spec, text=text):
                self.assertEqual(texts_of(spec, text), pieces)
        text = "ab, cd，ef。gh! ij\nkl\n\nmn、op " * 9
        for size in range(4, 60):
            for start, _ in chunk("recursive:%d" % size, text):
                self.assertNotIn(text[start], " ,.\n，。!、", size)

    def test_structure_keeps_whole(self):
        """A fence with blank lines, a table with the note after it, headings with the first text under them, or with the
        beginning of one that is over the size."""
        whole = ["# One\n\nFirst text.", "```py\na = 1\n\n\n# no heading\nb = 2\n```", "## Two\n\n### Three\n\nDeep text.",
                 "| a | b |\n|---|---|\n| 1 | 2 |\n\nnote on it.", "~~~\nopen\n\n\n" + "and open" * 9]
        for spec in ("structure:40", "structure:41/10", "structure:80/20"):
            found = texts_of(spec, "\n\nMore text here.\n\n".join(whole))
            for piece in whole:
                self.assertTrue(any(piece in held for held in found), "%s cuts %r: %r" % (spec, piece, found))
        for body in ("One of many words here. " * 9, "没有空格的长句。" * 20, "x" * 300):
            with self.subTest(body=body[:9]):
                self.assertIn("# Title\n\n" + body[:3], texts_of("structure:60", "# Title\n\n" + body)[0])

    def test_parents(self):
        """Searched slices lie in their para chunk; of many hits in one parent it is sent once, and k parents are found."""
        docs, golds = load([("crowd", "cat " * 60), ("a", "a dog and a cat " * 3), ("b", "two dogs and a cat " * 3), ("c", "none")])
        run, parents = evaluate("parent:8/70", docs, [Query("cat", [golds["crowd"]])]), chunk_para(docs[0].paragraphs, 70)
        self.assertEqual(([place[1:] for place in run.chunks], sorted(run.records[0].ranked)), (parents, [0, 1, 2]))
        self.assertEqual(measure(run, 3)["tokens"], 60 + 3 * 5 + (3 * 5 + 1))
        for start, end in chunk("parent:8/70", docs[0].text, docs[0].paragraphs):
            self.assertTrue(end - start <= 8 and any(left <= start and end <= right for left, right in parents))

    def test_a_parent_has_the_score_of_its_best_slice(self):
        docs, golds = load([("a", "cat cat dog dog owl owl ")])
        run = evaluate("parent:8/90", docs, [Query("cat dog dog", [golds["a"]])], scored=True)
        children = BM25(["cat cat ", "dog dog ", "owl owl "]).scores("cat dog dog")
        self.assertEqual(run.records[0].scores, {0: max(children)})

    def test_a_strategy_named_twice_runs_once(self):
        self.assertEqual(cre.strategies(["fixed:50", "fixed:50", "fixed:60,50"]), ["fixed:50", "fixed:60"])

class Judge(unittest.TestCase):
    def covers(self, strategy, docs, gold):
        """The numbers of the chunks that cover a gold."""
        return set(evaluate(strategy, docs, [Query("w0", [gold])]).records[0].covers[gold])

    def test_wording(self):
        """A paragraph is covered by another that has 60 % of its distinct tokens, however often either repeats them."""
        for wanted, other, covered in [
                (words(0, 5), words(0, 3), True), (words(0, 5), words(0, 2), False), (words(0, 5), words(1, 5), True),
                (words(0, 100), words(0, 60), True), (words(0, 100), words(0, 59), False), (words(0, 100), words(39, 99), True),
                (words(0, 7), words(3, 7), False), (words(0, 7), words(2, 7), True), (words(0, 1), words(0, 9), True),
                ("w0 w0 w0 w0 w0 w0 w1 w2 w3 w4", "w0 w0 w1", False), ("w0 w0 w0 w1 w2 w3 w4", "w1 w2 w3 x y z", True)]:
            docs, golds = load([("wanted", wanted), ("other", other)])
            self.assertEqual(self.covers("para:1", docs, golds["wanted"]), {0, 1} if covered else {0}, (wanted, other))
        docs, golds = load([("twice", words(0, 5)), ("twice", words(10, 15)), ("other", words(11, 14))])
        self.assertEqual(self.covers("para:1", docs, golds["twice"]), {0, 1, 2})  # any one paragraph is enough

    def test_positions(self):
        """Of 3 chunks of 100: a quote needs 60 % of its own characters, a section 60 % of the shorter of the two."""
        docs = [Document(name, "abcdefghij" * 30, [(0, 300)]) for name in "de"]
        for rule, start, end, covering in [
                ("quote", 94, 104, {0}), ("quote", 95, 105, set()), ("quote", 93, 103, {0}), ("quote", 96, 106, {1}),
                ("quote", 40, 140, {0}), ("quote", 41, 141, set()), ("quote", 39, 139, {0}), ("quote", 0, 300, set()),
                ("quote", 20, 187, set()), ("quote", 34, 199, {1}), ("section", 94, 104, {0}), ("section", 95, 105, set()),
                ("section", 93, 103, {0}), ("section", 40, 300, {0, 1, 2}), ("section", 41, 300, {1, 2}),
                ("section", 39, 300, {0, 1, 2}), ("section", 0, 160, {0, 1}), ("section", 0, 159, {0})]:
            for number in (0, 1):
                found = self.covers("fixed:100", docs, Gold("g", rule, ((number, start, end),)))
                self.assertEqual(found, {3 * number + piece for piece in covering}, (rule, start, end))
            either = Gold("g", rule, ((0, start, end), (1, 210, 220)))
            self.assertEqual(self.covers("fixed:100", docs, either), covering | {5})  # any one place is enough

    def test_wording_is_the_plain_way(self):
        """covers: the sets of tokens of every chunk and every paragraph, intersected."""
        rng, vocabulary = random.Random(9), words(0, 40).split()
        for strategy in ["fixed:9", "fixed:30", "overlap:40/25", "para:1", "para:60", "fixed:999"] * 7:
            docs, golds = load({name: [("t%d" % rng.randrange(5), jumble(rng, vocabulary, 12)) for _ in range(6)] for name in "abc"})
            run = evaluate(strategy, docs, [Query("w0", list(golds.values()))])
            chunks = [(n, *piece) for n, doc in enumerate(docs) for piece in chunk(strategy, doc.text, doc.paragraphs)]
            bag = lambda place: set(tokenize(docs[place[0]].text[place[1]:place[2]]))
            self.assertEqual(list(run.chunks), chunks)
            for gold, covering in run.records[0].covers.items():
                self.assertEqual(set(covering), {number for number, held in enumerate(map(bag, chunks)) if any(
                    5 * len(held & wanted) >= 3 * len(wanted) for wanted in map(bag, gold.places))})

class FiveRows(unittest.TestCase):
    PAIRS = [("red", "red red red red"), ("blue", "blue blue red"), ("green", "green leaf"), ("grey", "grey"),
             ("tin", "tin red can lid cup")]
    ASKED = [  # with para:1, what is sent at 3, its tokens, and whether it is answered at 1 and at 3
        (("red",), "red"),              # red, blue, tin: 12, yes, yes
        (("blue",), "red"),             # the same: 12, no, yes
        (("green",), "grey"),           # grey: 1, no, no
        (("red", "blue"), "red"),       # red, blue, tin: 12, no, yes
        (("green", "grey"), "leaf"),    # green: 2, no, no
        (("grey",), "nothing of it")]   # none: 0, no, no

    def test_by_hand(self):
        """Each figure, where the answer is plain to see; a query that matches nothing is a miss that costs nothing."""
        docs, golds = load(self.PAIRS)
        queries = [Query(text, [golds[topic] for topic in topics]) for topics, text in self.ASKED]
        row = measure(evaluate("para:1", docs, queries), 3)
        self.assertEqual(row, {"strategy": "para:1", "chunks": 5, "recall@1": 1 / 6, "recall@3": 3 / 6, "single@3": 2 / 4,
                               "multi@3": 1 / 2, "tokens": (12 + 12 + 1 + 12 + 2 + 0) / 6})
        row = measure(evaluate("para:1", docs, queries[1:2]), 1)
        self.assertEqual((row["recall@1"], row["single@1"], row["multi@1"], row["tokens"]), (0, 0, None, 4))
        row = measure(evaluate("fixed:99", docs, queries[3:4]), 3)  # one chunk, where redblue, redgreen, leafgreytin are words
        self.assertEqual((row["chunks"], row["recall@1"], row["single@3"], row["multi@3"], row["tokens"]), (1, 1, None, 1, 11))

# ======================== data, bad input, own pieces ========================
COUNTER = itertools.count()
FOX = '{"topic": "red fox", "text": "The red fox runs over the hill at night."}\n'
WHALE = '{"topic": "blue whale", "text": "The blue whale dives deep below the cold sea."}\n'
Q1 = '{"query": "Where does the fox run?", "gold": ["red fox"]}\n'
Q2 = '{"query": "How deep does a whale dive?", "gold": ["blue whale"]}\n'
GOOD, DATA = {"c.jsonl": FOX + WHALE, "q.jsonl": Q1 + Q2}, "--corpus c.jsonl --queries q.jsonl "
PY, PYQ = 'CORPUS = [("fox", "The red fox runs."), ("alpaca", "Its wool is warm.")]\n', 'QUERIES = [(("fox",), "Who runs?")]\n'
CSV, PYS, SQUAD = "--corpus c.jsonl --queries q.csv ", "--corpus c.py --queries q.py ", "--squad s.json "
# A user's module is "{m}": another one in each run. `lines` makes each line a chunk; `Nth` brings the text whose number
# ends the query, and remembers the texts.
OWN = """import re
def lines(text): return [match.span() for match in re.finditer("[^\\n]+", text)]
class Nth:
    def __init__(self, texts): Nth.seen = self.texts = list(texts)
    def topk(self, query, k): return [n for n in [int(query.split()[-1])] if n < len(self.texts)]
"""
RANKER = "class f:\n def __init__(self, texts): self.n = len(texts)\n def topk(self, query, k): "
RANKED = DATA + "-s para:90 --retriever {m}.f "

def run(files, arguments, stdout=None, look=None):
    """main() in a temporary folder with these files: (status, stdout, stderr without the line on the environment)."""
    module, back, path, known = "own_%d" % next(COUNTER), os.getcwd(), list(sys.path), set(sys.modules)
    out, err = stdout or io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory(prefix="my texts 文档 ") as folder:
        for name, content in files.items():
            target = os.path.join(folder, name.replace("{m}", module))
            os.makedirs(target if content is None else os.path.dirname(target), exist_ok=True)
            if content is not None:
                with open(target, "wb") as file:
                    file.write(content if isinstance(content, bytes) else content.encode("utf-8"))
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                arguments = arguments.split() if isinstance(arguments, str) else arguments
                status = cre.main([argument.replace("{m}", module) for argument in arguments])
            if look and status == 0:
                look(sys.modules[module])
        finally:
            os.chdir(back)
            sys.path[:] = path
            for name in [name for name in set(sys.modules) - known if name.startswith("own_")]:
                del sys.modules[name]
    lines = [line for line in err.getvalue().splitlines() if not line.startswith("chunking_retrieval_eval ")]
    return status, "" if stdout else out.getvalue().replace(module, "{m}"), [line.replace(module, "{m}") for line in lines]

def row(query, *golds, **more):
    """A line of queries in JSON."""
    return json.dumps(dict(query=query, gold=golds, **more)) + "\n"

def squad(*questions, context="The red fox runs over the hill. The fox sleeps."):
    """A SQuAD file of one context; a question is (text, (answer, start), ...)."""
    qas = [{"question": q, "answers": [{"text": t, "answer_start": s} for t, s in answers]} for q, *answers in questions]
    return json.dumps({"data": [{"title": "T", "paragraphs": [{"context": context, "qas": qas}]}]})

# (the file that is bad, or "" where the arguments are; other files; arguments; [(what is bad, what the error says ...)])
BAD = [
    ("", GOOD, DATA + "-s %s", [
        ("fixed:5٠", "fixed:5٠", "fixed:50"),
        ("fixd:50", "fixd", '"fixed"'), ("fixed:0", "fixed:0", "fixed:50"), ("fixed:-5", "fixed:-5", "fixed:50"),
        ("fixed:1.5", "fixed:1.5", "fixed:50"), ("fixed", '"fixed"', "fixed:50"), ("fixed:50,", "fixed:50"),
        ("overlap:50", "overlap:50", "overlap:50/15"), ("overlap:50/50", "size 50, overlap 50", "under the size"),
        ("overlap:50/100%", "overlap:50/100%", "under"), ("sentence:9/9", "sentence:9/9"), ("parent:50/20", "parent:50/20"),
        ("semantic:p101", "p101", "p95"), ("no_such_module.f", "no_such_module.f", "module.function")]),
    ("", GOOD, DATA + "%s", [
        ("--round 2", "--round 2", "--help"), ("-k 1٣", "-k", "1٣"), ("--chunks --format csv", "--format csv", "--chunks"),
        ("-k 0", "-k", "0"), ("-k 2,x", "-k", "x"), ("--rounds 0", "--rounds", "0"), ("--rounds 1.5", "1.5"), ("--budget 0", "--budget"),
        ("-k 3 --budget 50", "-k", "--budget"), ("--format x", "--format", "x", "json"), ("--explain 99", "--explain 99", "2"),
        ("--baseline fixed:9", "fixed:9", "fixed:50"), ("--squad s.json", "--squad", "--corpus"), ("--nonsense", "--nonsense", "--help"),
        ("--retriever bm26", "bm26", '"bm25"'), ("--jobs 0", "--jobs"), ("--count len", "len", "module.function"),
        ("--queries no.csv", "no.csv", "no such file"), ("--plot c.jsonl/x.svg", "c.jsonl", "written"), ("--trec c.jsonl/x", "c.jsonl", "written"),
        ("--explain 1 --format csv", "--format csv", "--explain")]),
    ("", {"f/a.rst": "x", "f/.b.md": "fox", "f/.g/c.md": "fox", "e/a.md": "", "u/a.md": "x", "u/b.md": b"x\ny\n\xe9t\xe9", "c.jsonl": FOX}, "--corpus %s", [
        ("no.py", "no.py", "no such file"), ("nowhere", "nowhere", "no such file"), ("c.pdf", "c.pdf", "no such file"), ("f", "f: ", ".md", ".txt"),
        ("e", "e: ", "token"), ("u", "b.md:3", "0xe9", "UTF-8"), ("c.jsonl", "queries.py: none of its 20 golds"),
        ("c.jsonl --queries f/../u/a.md", "a.md", ".csv")]),
    ("c.py", {"q.py": PYQ}, PYS, [
        ("x = 1\nCORPUS = = 2\n", "c.py:2", "CORPUS"), ("x = 1\n\n1 / 0\n", "c.py:3", "ZeroDivisionError"),
        ("import sys\nsys.exit(3)\n", "c.py:2", "SystemExit"), ("import json\n\n\nCORPUS = json.loads('{')\n", "c.py:4", "JSONDecodeError"),
        ("X = 1\n", "c.py", "CORPUS"), ("CORPUS = 5\n", "c.py: CORPUS", "list"),
        ('CORPUS = "abc"\n', "c.py: CORPUS", "list"), ("CORPUS = []\n", "c.py", "empty"), ('CORPUS = [("a", "...")]\n', "c.py", "token"),
        ('CORPUS = [("a", "b"), "xy"]\n', "c.py: CORPUS[1]", "xy", "pair"), ('CORPUS = [("a", 5)]\n', "c.py: CORPUS[0]", "5"),
        ('CORPUS = [("a", "fox"), ("a", " ")]\n', "c.py: CORPUS[1]", "blank"),
        ('CORPUS = {"d": [("a", "fox"), ("b",)]}\n', "c.py: CORPUS['d'][1]", "pair"), ('CORPUS = {"d": "fox"}\n', "c.py: CORPUS['d']", "list")]),
    ("q.py", {"c.py": PY}, PYS, [
        ("X = 1\n", "q.py", "QUERIES"), ("QUERIES = []\n", "q.py", "no query"), ('QUERIES = {"fox": "fox"}\n', "q.py: QUERIES", "list"),
        ('QUERIES = [((), "fox?")]\n', "q.py: QUERIES[0]", "gold", "topic"), ('QUERIES = [(5, "fox?")]\n', "q.py: QUERIES[0]", '"gold"', "list"),
        ('QUERIES = [(("fox",), "x"), (("alpacka",), "wool")]\n', "q.py: QUERIES[1]", "alpacka", '"alpaca"'),
        ('QUERIES = [(("fox",), "?!")]\n', "q.py: QUERIES[0]", "?!", "token"), ('QUERIES = [("fox?",)]\n', "q.py: QUERIES[0]", "pair")]),
    ("c.jsonl", GOOD, DATA, [
        (FOX + '\n{"topic": "x", "text"}\n', "c.jsonl:3", "JSON"), (FOX + "[1]\n", "c.jsonl:2", "object", '"topic"'),
        (FOX + "[" * 99999 + "\n", "c.jsonl:2", "JSON"), (FOX + '{"topic": "x"}\n', "c.jsonl:2", '"text"'),
        (FOX + '{"topic": 5, "text": "x"}\n', "c.jsonl:2", '"topic"', "5"), (FOX + '{"topic": "x", "text": " "}\n', "c.jsonl:2", '"text"'),
        (FOX + '{"topic": "x", "text": "y", "doc": 5}', "c.jsonl:2", '"doc"'), (FOX.encode() + b'{"\xff', "c.jsonl:2", "0xff", "UTF-8")]),
    ("q.jsonl", dict(GOOD, **{"f/a/x.md": "the fox", "f/b/x.md": "the fox"}), DATA, [
        (row("fox?", "runs over", doc="c.jsonl:7"), "q.jsonl:1", '"c.jsonl:7"; the nearest is "c.jsonl:'),
        ("\n \n", "q.jsonl", "no query"), (None, "q.jsonl", "director"), (Q1 + row("fox?"), "q.jsonl:2", "gold", "fox?"),
        ('{"query": "fox?"}', "q.jsonl:1", '"gold"'), (row("fox?", 5), "q.jsonl:1", '"gold"', "5"),
        ('{"gold": ["red fox"]}', "q.jsonl:1", '"query"', '"question"'), (row("fox?", "red fox", " "), "q.jsonl:1"),
        (Q1 + row("fox?", "runs over a hill by night"), "q.jsonl:2", "runs over a hill", "The red fox runs over the hill at night."),
        (row("a", "alien") + row("b", "stranger", "space"), "q.jsonl: none of its 3 golds", "of this corpus"),
        (row("fox?", "runs over", doc="c.jsonl:7"), "q.jsonl:1", "c.jsonl:7", '"c.jsonl:'),
        (row("fox?", "runs over", doc=["c.jsonl:1"]), "q.jsonl:1", "doc"), (row("fox?", "runs over", doc=""), "q.jsonl:1", "doc"),
        (Q2 + row("fox?", "runs over", doc="c.jsonl:2"), "q.jsonl:2", "runs over", "c.jsonl:2"),
        (row("fox?", "dives deep, then runs over the hill at night", doc="c.jsonl:2"), "q.jsonl:1", "The blue whale dives deep")]),
    ("q.jsonl", {"f/a/x.md": "the fox", "f/b/x.md": "the fox"}, "--corpus f --queries q.jsonl", [
        (row("fox?", "the fox", doc="x"), "q.jsonl:1", "2 documents", '"x"')]),
    ("q.csv", GOOD, CSV, [
        ("", "q.csv:1", "query"), ("a,b\n1,2\n", "q.csv:1", "a, b", "query or question", "gold or references"), ("query,gold\n", "q.csv", "no query"),
        ('query,gold\nfox,"[""red fox"", ]"\n', "q.csv:2", "JSON"), ('query,gold\nfox,"[1, 2]"\n', "q.csv:2", "gold"),
        ('query,gold\nfox,"[[""red fox""]]"\n', "q.csv:2", "gold"), ("query,gold\nfox,\n", "q.csv:2", "gold"),
        ('query,gold\n"fox\nfox",red fox\nfox,zzz\n', "q.csv:4", "zzz"),
        ('question,references\nfox,"[{""content"": ""red fox""}]"\n', "q.csv:2", "start_index"),
        ('question,references\nfox,"[""red fox""]"\n', "q.csv:2", "red fox", '"content"'),
        ("question,references\nfox,5\n", "q.csv:2", "references")]),
    ("s.json", {}, "--squad s.json", [
        (None, "s.json", "director"), ('{"data": [\n{"title": }]}', "s.json:2", "JSON"), ("{}", "s.json", '"data"'),
        (squad(("q", ("a", 0)), context=5), "s.json: data[0].paragraphs[0]", '"context"'), ('{"data": []}', "s.json"),
        (squad((None, ("fox", 4))), "qas[0]", '"question"'), (squad((0, ("fox", 4))), "qas[0]", '"question"', "0"), (squad((5, ("fox", 4))), "s.json: data[0].paragraphs[0].qas[0]", '"question"', "5"), ('{"data": [{"title": "T"}]}', "data[0]", '"paragraphs"'),
        (squad(("q", ("fox", "4"))), "s.json: data[0].paragraphs[0].qas[0]", '"answer_start"'), (squad(("who?",)), "s.json", "question"),
        (squad(("who?", ("...", 0)), context="..."), "s.json", "token")]),
    ("{m}.py", GOOD, DATA + "-s {m}.f", [
        ("def f(text): return [(0, len(text) + 1)]", "{m}.f", "chunk 1 of 40", "(0, 41)"),
        ("g = 5", "{m}.f", "no attribute 'f'"), ("1 / 0", "{m}.f", "ZeroDivisionError"), ("import sys\nsys.exit(3)", "{m}.f", "SystemExit"),
        ("def f(text): raise ValueError('two\\nlines %s {}')", "{m}.f", "ValueError", "two lines %s {}"),
        ("def f(text): raise SystemExit(3)", "{m}.f", "SystemExit"), ("def f(text): return None", "{m}.f", "None"),
        ("def f(text): return text", "{m}.f", "one text"), ("def f(text): return [1, 2]", "{m}.f", "chunk 1", "1", "(start, end)"),
        ("def f(text): return [(0, 5), (5, 999)]", "{m}.f", "chunk 2", "(5, 999)", "40"), ("def f(text): return [(-3, 5)]", "{m}.f", "(-3, 5)"),
        ("def f(text): return [text[:9], text.upper()]", "{m}.f", "chunk 2", "THE RED FOX"),
        ("def f(text): return [text[20:], text[:20]]", "{m}.f", "chunk 2", "in order"), ("def f(text): raise ValueError(text * 99)", "{m}.f")]),
    ("{m}.py", GOOD, DATA + "-s {m}.f:50", [("def f(text): return [text]", "{m}.f:50")]),
    ("{m}.py", GOOD, DATA + "--explain 1 --retriever {m}.f", [
        ("def f(texts): return None", "{m}.f", "None", "topk(query, k)"), ("def f(texts): raise KeyError('gone')", "{m}.f", "KeyError", "gone"),
        (RANKER + "return [99]", "{m}.f", "99", "from 0"), (RANKER + "return [-1]", "{m}.f", "-1"), (RANKER + "return None", "{m}.f", "None"),
        (RANKER + "return ['a']", "{m}.f", "str"), (RANKER + "raise SystemExit(3)", "{m}.f", "SystemExit"),
        (RANKER + "return [0]\n def scores(self, query): return 1 / 0", "{m}.f", "ZeroDivisionError")]),
    ("{m}.py", GOOD, DATA + "--count {m}.f", [
        ("def f(text): return None", "{m}.f", "None", "whole number"), ("def f(text): return -1", "{m}.f", "-1"),
        ("def f(text): return 2.5", "{m}.f", "2.5"), ("def f(text): return 1 / 0", "{m}.f", "ZeroDivisionError")]),
]

# (name, what the warnings say, facts of the JSON, files beside GOOD, arguments if not DATA)
FINE = [
    ("byte order mark, CRLF, no last newline", "", {"corpus.paragraphs": 2, "queries.total": 2},
     {"c.jsonl": "\ufeff" + (FOX + WHALE).replace("\n", "\r\n"), "q.jsonl": "\ufeff" + (Q1 + Q2)[:-1]}),
    ("blank lines", "", {"corpus.paragraphs": 2, "queries.total": 1}, {"c.jsonl": "\n" + FOX + " \n\t\n" + WHALE, "q.jsonl": "\n\n" + Q1 + "\n"}),
    ("an unknown key", r'c.jsonl: keys not used .*: 1 \("id"\)', {"queries.total": 2}, {"c.jsonl": FOX.replace("{", '{"id": 7, ') + WHALE}),
    ("a CSV field too long for csv", "", {"queries.total": 1}, {"q.csv": "query,gold\nfox%s,red fox\n" % (" fox" * 40000)}, CSV),
    ("a CSV of Windows", "", {"queries.total": 1}, {"q.csv": "\ufeffquery,gold\r\n\r\nfox,red fox\r\n\r\n"}, CSV),
    ("a wrong offset in a CSV", "golds .*start_index.*: 1 ", {"strategies.0.recall@1": 1.0},
     {"q.csv": 'question,references,doc\nfox,"[{""content"": ""red fox"", ""start_index"": 9}]",c.jsonl:1\n'}, CSV),
    ("thirty golds", "", {"strategies.0.recall@3": 0.0, "strategies.0.ceiling@3": 0.0, "strategies.0.chance@3": 0.0},
     {"c.jsonl": "".join(FOX.replace("fox", "w%d" % n) for n in range(30)), "q.jsonl": row("w7", *("red w%d runs" % n for n in range(30)))}),
    ("an empty doc in a CSV", "", {"queries.total": 1}, {"q.csv": "query,gold,doc\nfox,runs over,\n"}, CSV),
    ("duplicate queries", "q.jsonl: queries .*: 1 ", {"queries.total": 3}, {"q.jsonl": Q1 + Q2 + Q1}),
    ("duplicate golds", "q.jsonl: golds .*: 1 ", {"queries.single": 1, "queries.multi": 0}, {"q.jsonl": row("fox?", "red fox", "red fox")}),
    ("duplicate quotes", "q.jsonl: golds .*: 1 ", {"queries.single": 1, "queries.multi": 0}, {"q.jsonl": row("fox?", "runs over", "runs  over")}),
    ("topics alike", '"ＢＬＵＥ Whale"', {"corpus.topics": 3}, {"c.jsonl": FOX + WHALE + WHALE.replace("blue whale", "ＢＬＵＥ Whale")}),
    ("1 MB without a space", "", {"queries.total": 2, "strategies.0.chunks": 212},
     {"c.jsonl": FOX + WHALE.replace("sea", "sea" * 350000)}, DATA + "--rounds 1 -s fixed:5000 -s recursive:5000"),
    ("NUL and lone surrogates", "", {"corpus.characters": 87, "queries.total": 1},
     {"c.jsonl": FOX.replace("fox", "fo\\u0000x\\ud800") + WHALE, "q.jsonl": row("\udc00 fo\0x?", "red fo\0x\ud800")}),
    ("no word of the corpus", "", {"strategies.0.recall@3": 0.0, "strategies.0.sent": 0.0}, {"q.jsonl": row("zzz?", "red fox")}),
    ("a gold that is no list", "", {"queries.single": 1}, {"q.jsonl": '{"question": "fox?", "gold": "red fox"}'}),
    ("a generator", "", {"strategies.0.chunks": 4}, {"{m}.py": "def f(text):\n yield text[:20]\n yield text[20:]\n"}, DATA + "-s {m}.f"),
    ("unsorted slices", "", {"strategies.0.chunks": 4}, {"{m}.py": "def f(text): return [(20, len(text)), (0, 20)]"}, DATA + "-s {m}.f"),
    ("no chunk", "", {"strategies.0.chunks": 0, "notes.0.kind": "lost"}, {"{m}.py": "def f(text): return ['', ' ']"}, DATA + "-s {m}.f"),
    ("an index twice", "", {"strategies.0.recall@1": 0.5, "strategies.0.recall@3": 1.0}, {"{m}.py": RANKER + "return [0, 0, 1, 1]"}, RANKED),
    ("fewer than asked", "", {"strategies.0.recall@3": 0.5, "strategies.0.sent": 1.0}, {"{m}.py": RANKER + "return iter([1])"}, RANKED),
    ("no more asked than there are", "", {"strategies.0.recall@3": 1.0},
     {"{m}.py": RANKER + "return list(range(k if k <= self.n else 1 / 0))"}, RANKED),
    ("what is not read", r'c: files .* not read.*: 2 \("b.rst", "d/e.mdx"\)', {"corpus.documents": 2, "queries.total": 1},
     {"c/a.MD": "red fox", "c/b.rst": "x", "c/d/e.mdx": "x", "c/d/f.txt": "y", "c/.g.rst": "x", "q.jsonl": Q1}, "--corpus c --queries q.jsonl"),
    ("a hidden file by its name", "", {"queries.total": 1}, {".h.md": "red fox", "q.jsonl": Q1}, "--corpus .h.md --queries q.jsonl"),
    ("a doc by its whole name", "", {"queries.total": 1}, {"f/x.md": "red fox", "f/a/x.md": "red fox", "q.jsonl": row("a", "fox", doc="x")},
     "--corpus f --queries q.jsonl"),
    ("a blank SQuAD question", "questions without a token.*: 1 ", {"queries.total": 2}, {"s.json": squad(("", ("red fox", 4)), ("who?", ("red fox", 4)))}, SQUAD),
    ("SQuAD's wrong starts", r"answers .*found near.*: 2 .*answers .*dropped.*: 1 \(.purple", {"queries.total": 2, "queries.skipped": 0},
     {"s.json": squad(("who?", ("red fox", 3)), ("what?", ("hill", -1), ("purple", 2)))}, SQUAD),
    ("SQuAD's answer that stands nowhere", r'answers .*dropped.*: 1 .*questions skipped, all answers dropped: 1 \("who.?"', {"queries.total": 1, "queries.skipped": 1},
     {"s.json": squad(("who?", ("purple", 4)), ("what?", ("fox", 8)))}, SQUAD),
    ("SQuAD's answer that stands in the next context", "answers .*dropped.*: 1 .*questions skipped.*: 1 ", {"queries.total": 1},
     {"s.json": json.dumps({"data": [{"paragraphs": [
         {"context": "A red fox.", "qas": [{"question": "who?", "answers": [{"text": "owl", "answer_start": 2}]}]},
         {"context": "An owl.", "qas": [{"question": "who?", "answers": [{"text": "owl", "answer_start": 3}]}]}]}]})}, SQUAD),
    ("SQuAD's unanswerable", r'questions skipped, unanswerable: 1 \("who.?"', {"queries.total": 1, "queries.skipped": 1},
     {"s.json": squad(("who?",), ("what?", ("fox", 8)))}, SQUAD),
    ("SQuAD's article without a paragraph", "", {"queries.total": 1, "corpus.documents": 1},
     {"s.json": squad(("who?", ("fox", 8))).replace('[{"title"', '[{"title": "E", "paragraphs": []}, {"title"')}, SQUAD),
    ("SQuAD's impossible question that has answers", "questions skipped, unanswerable: 1 ", {"queries.total": 1, "corpus.documents": 1},
     {"s.json": squad(("who?", ("fox", 8)), ("what?", ("hill", 26))).replace('"T"', '" "').replace('"answers"', '"is_impossible": true, "answers"', 1)},
     SQUAD),
    ("SQuAD's gold is one that stands", "answers .*dropped.*: 1 ", {"strategies.0.queries.0.gold": ["fox"]},
     {"s.json": squad(("who?", ("purple", 4), ("fox", 8)))}, SQUAD),
    ("a line separator within a text", "", {"corpus.paragraphs": 2}, {"c.jsonl": FOX.replace("fox runs", "fox\u2028runs") + WHALE}),
    ("Python that is run, not started", "", {"queries.total": 1}, {"c.py": PY + 'if __name__ == "__main__":\n    1 / 0\n', "q.py": PYQ}, PYS),
    ("Python that reads what is beside it", "", {"queries.total": 1},
     {"c.py": 'import os\nwith open(os.path.join(os.path.dirname(__file__), "beside")) as file:\n    CORPUS = [("fox", file.read())]\n', "beside": "the fox", "q.py": PYQ}, PYS),
    ("white space around a reference", "", {"queries.total": 1},
     {"q.csv": 'question,references\nfox,"[{""content"": "" red fox "", ""start_index"": 3}]"\n'}, CSV),
    ("a NUL in a CSV", "", {"strategies.0.queries.0.gold": ["red fox"]}, {"q.csv": "query,gold\nfox,red fo\0x\n"}, CSV),
    ("a JSON list on two lines of a CSV", "", {"queries.multi": 1}, {"q.csv": 'query,gold\nfox,"[""red fox"",\n""blue whale""]"\n'}, CSV),
]
PAGES = ("--explain --chunks --detail --plot p.svg --trec t --context --rounds 1", "--format markdown --rounds 1", "--format csv --rounds 1")

def reports(files, arguments):
    """What --format json says."""
    status, out, err = run(files, arguments + " --format json")
    if status:
        raise AssertionError(err)
    return json.loads(out)

class BadAndOddInput(unittest.TestCase):
    def test_bad_input_gives_one_line(self):
        errors = []
        for number, (target, files, arguments, cases) in enumerate(BAD):
            for case, *fragments in cases:
                with self.subTest("%d: %s %s" % (number, target or arguments, repr(case)[:60])):
                    status, out, err = run(dict(files, **{target: case}) if target else files, arguments if target else arguments % case)
                    self.assertEqual((status, out), (2, ""), err)
                    lines = [line for line in err if not line.startswith("warning: ")]
                    self.assertEqual([line[:7] for line in lines], ["error: "], lines)
                    self.assertLess(len(lines[0]), 500)
                    for fragment in fragments:
                        self.assertIn(fragment, lines[0])
                    errors += lines
        vague = [line for line in errors if not re.search(r"\(.+\)$|the nearest", line)]
        self.assertEqual(vague, [], "these do not say what would be right")

    def test_odd_input_is_fine(self):
        for name, warning, facts, files, *arguments in FINE:
            with self.subTest(name):
                files, arguments = dict(GOOD, **files), (arguments or [DATA])[0]
                status, out, err = run(files, arguments + " --format json")
                self.assertEqual(status, 0, err)
                self.assertEqual([line[:9] for line in err], ["warning: "] * len(err))
                self.assertEqual(bool(err), bool(warning), err)
                self.assertTrue(re.search(warning, " ".join(err)), err)
                for path, wanted in facts.items():
                    value = json.loads(out)
                    for key in path.split("."):
                        value = value[int(key) if isinstance(value, list) else key]
                    self.assertEqual(value, wanted, path)
                for page in PAGES if "MB" not in name and "long" not in name else ():
                    self.assertEqual(run(files, arguments + " " + page)[0], 0, page)

    def test_an_empty_name_is_not_the_data_of_the_article(self):
        for option in ("--corpus", "--queries", "--squad", "--plot", "--trec"):
            status, out, err = run({}, [option, ""])
            self.assertEqual((status, out, len(err)), (2, "", 1))
            self.assertIn(option, err[0])

    def test_an_odd_name_is_on_one_line_too(self):
        for arguments in (["--corpus", "no\nsuch.md"], ["-s", "fixed:\n5"], ["--squad", "\r\n.json"]):
            self.assertEqual((len(run({}, arguments)[2]), run({}, arguments)[0]), (1, 2), arguments)
        self.assertEqual(run({"f/a.md": "red fox", "f/b.md\n": "x", "q.jsonl": Q1}, "--corpus f --queries q.jsonl")[0], 0)

    def test_what_cannot_be_compared_is_no_gold(self):
        code = "class Odd:\n    def __eq__(self, other): raise ValueError\n    __ne__ = __eq__\nQUERIES = [(Odd(), 'fox')]\n"
        status, out, err = run({"c.py": PY, "q.py": code}, PYS)
        self.assertEqual((status, out, len(err)), (2, "", 1))

    def test_no_permission(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "c.jsonl")
            open(path, "w").close()
            os.chmod(path, 0)
            if os.access(path, os.R_OK):
                self.skipTest("this user may read everything")
            status, out, err = run({}, ["--corpus", path])
            self.assertEqual((status, out, len(err)), (2, "", 1))
            self.assertRegex(err[0], r"^error: .*c\.jsonl: permission denied \(.+\)$")

    def test_a_row_longer_than_its_header_is_not_cut_quietly(self):
        files = {"c.jsonl": FOX + WHALE.replace("deep", "deep, slow"), "q.csv": "query,gold\nfox,red fox\nwhale,dives deep, slow\n"}
        status, _, err = run(files, CSV)
        self.assertTrue(status == 2 or err, "the gold lost what follows its comma")

    def test_interrupted(self):
        self.assertEqual(run(dict(GOOD, **{"{m}.py": "def f(text): raise KeyboardInterrupt"}), DATA + "-s {m}.f"), (1, "", ["interrupted"]))

    def test_a_warning_shows_three_and_how_many(self):
        for keys, said in (("abc", '3 ("a", "b", "c")'), ("abcd", '4 ("a", "b", "c", ...)')):
            odd = "".join('"%s": 1, ' % key for key in keys)
            err = run(dict(GOOD, **{"c.jsonl": FOX.replace("{", "{" + odd) + WHALE}), DATA)[2]
            self.assertEqual(err, ["warning: c.jsonl: keys not used (known: topic, text, doc): " + said])

    def test_a_quoted_text_is_one_short_line(self):
        text = "0123456789" * 7
        for given, shown in ((" a\n b ", "a b"), (text[:60], text[:60]), (text[:61], text[:40] + " ... " + text[41:61])):
            self.assertEqual(cre.quoted(given), '"%s"' % shown)

    def test_the_nearest_name_whatever_its_case(self):
        for name, others, nearest in (("FIXED", ["fixed"], '; the nearest is "fixed"'), ("red fox", ["RED Fox"], '; the nearest is "RED Fox"'),
                                      ("zzz", ["fixed"], "")):
            self.assertEqual(cre.nearest(name, others), nearest)

    def test_the_line_of_an_error(self):
        """That of the line that failed, not of its caller; a line of JSON is numbered once."""
        for name, text, arguments, wanted in (
                ("c.py", "def f():\n    return 1 / 0\n\nCORPUS = f()\n", PYS, "error: c.py:2: ZeroDivisionError: "),
                ("c.jsonl", FOX + "{]\n", DATA, "error: c.jsonl:2: JSONDecodeError: ")):
            err = run(dict(GOOD, **{"q.py": PYQ, name: text}), arguments)[2]
            self.assertEqual([line[:len(wanted)] for line in err], [wanted])

    def test_the_nearest_passage_of_a_short_gold_is_a_sentence(self):
        err = run(dict(GOOD, **{"q.jsonl": row("fox?", "zz hill")}), DATA)[2]
        self.assertIn('the nearest passage is "The red fox runs over the hill at night."', err[0])

def jsonl(pairs):
    return "".join(row(*pair) for pair in pairs)

def corpus(*items):
    """A corpus.jsonl of (topic, text) or (topic, text, doc)."""
    return "".join(json.dumps(dict(zip(("topic", "text", "doc"), item))) + "\n" for item in items)

def indexed(files, arguments):
    """The texts that a strategy indexes, and the report."""
    seen = []
    status, out, err = run(dict(files, **{"{m}.py": OWN}), arguments + " --retriever {m}.Nth --rounds 1 --format json",
                           look=lambda module: seen.extend(module.Nth.seen))
    if status:
        raise AssertionError(err)
    return seen, json.loads(out)

def covering(golds, files, arguments, write=jsonl):
    """{gold: the lines of the corpus that cover it}; write([(query, gold), ...]) makes the file whose content is "?"."""
    pairs = [("chunk 0", next(iter(golds)))]
    for _ in range(2):  # once to see the lines, once to ask of each gold and line
        seen, report = indexed({name: write(pairs) if text == "?" else text for name, text in files.items()}, arguments + " -s {m}.lines")
        pairs = [("chunk %d" % number, gold) for gold in golds for number in range(len(seen))]
    hits = [query["answered@1"] for query in report["strategies"][0]["queries"]]
    return {gold: [line for line, hit in zip(seen, hits[n * len(seen):]) if hit] for n, gold in enumerate(golds)}

class Formats(unittest.TestCase):
    def test_sections(self):
        guide = ("an intro\n# Fox Den\nthe den one\n~~~py\n# no heading\n~~~\n## Deep & low\nfar below\n## Deep & low\nfurther below\n"
                 "# 鲸 {#sea}\nin the water\n")
        lines = guide.splitlines()
        wanted = {"guide": lines, "guide#fox-den": lines[1:10], "guide#deep--low": lines[6:8], "guide#deep--low-1": lines[8:10],
                  "guide#sea": lines[10:]}
        for ending in (".md", ".txt"):
            found = covering(wanted, {"guide" + ending: guide, "q.jsonl": "?"}, "--queries q.jsonl --corpus guide" + ending)
            self.assertEqual(found, wanted)
        self.assertEqual(run({"guide.md": guide, "q.jsonl": row("x", "guide#no-heading")}, "--corpus guide.md --queries q.jsonl")[0], 2)

    def test_what_is_a_document(self):
        pairs, folder = [("a", "the fox "), ("b", "runs")], {"f/b.md": "bee", "f/a/z.txt": "zed", "f/a.md": "ace", "f/.h.md": "hid",
                                                             "f/.g/x.md": "hid", "f/c.rst": "other"}
        for path, gold, files, wanted in (
                ("c.py", "a", {"c.py": "CORPUS = %r" % pairs}, ["the fox runs"]), ("f", "a/z", folder, ["ace", "zed", "bee"]),
                ("c.py", "a", {"c.py": "CORPUS = %r" % {"d": pairs, "e": pairs}}, ["the fox runs"] * 2),
                ("c.jsonl", "a", {"c.jsonl": corpus(*pairs)}, ["the fox ", "runs"]),
                ("c.jsonl", "a", {"c.jsonl": corpus(("a", "one", "x"), ("b", "two", "y"), ("c", "three", "x"))}, ["one\nthree", "two"]),
                ("c.txt", "c#a", {"c.txt": "# a\r\n\r\nb\r\n"}, ["# a\r\n\r\nb\r\n"])):
            with self.subTest(files):
                files = dict(files, **{"q.jsonl": row("x 0", gold)})
                self.assertEqual(indexed(files, "-s fixed:99 --queries q.jsonl --corpus " + path)[0], wanted)

    def test_no_chunk_crosses_two_documents(self):
        files = {"c.jsonl": FOX + WHALE + WHALE.replace("blue", "grey"), "q.jsonl": row("x 0", "red fox")}
        docs = [json.loads(line)["text"] for line in files["c.jsonl"].splitlines()]
        for strategy in ("fixed:99", "overlap:99/9", "para:99", "sentence:99/9", "recursive:99", "structure:99/99", "semantic:p100/99"):
            self.assertEqual(indexed(files, DATA + "-s " + strategy)[0], docs, strategy)
        for strategy in ("fixed:7", "overlap:30/9", "sentence:20/5", "recursive:20/5", "semantic:p50/20", "structure:20", "parent:9/99"):
            texts = indexed(files, DATA + "-s " + strategy)[0]
            self.assertEqual([text for text in texts if not any(text in doc for doc in docs)], [], strategy)

    def test_context_is_the_headings_above(self):
        files = {"guide.md": "intro\n\n# A\n\nalpha\n\n## A b\n\nbeta\n\n# C {#see}\n\ngamma", "q.jsonl": row("x 0", "alpha")}
        texts = indexed(files, "--corpus guide.md --queries q.jsonl --context -s structure:99")[0]
        self.assertEqual([text.split("\n")[0] for text in texts], ["guide", "guide > A", "guide > A > A b", "guide > C"])
        text, = indexed(files, "--corpus guide.md --queries q.jsonl --context -s fixed:999")[0]
        self.assertEqual(text, "guide\n" + files["guide.md"])

    def test_quotes(self):
        one, owl, two = "a small  fox eats", "the owl looks", "my small fox sleeps in"
        files = {"c.jsonl": corpus(("a", one, "one"), ("b", owl, "one"), ("c", two, "two")), "q.jsonl": "?"}
        wanted = {"small\n fox": [one, two], "a": [one], "fox sleeps": [two], "owl": [owl], "owllooks": [owl]}
        self.assertEqual(covering(wanted, files, DATA), wanted)
        found = covering(["small fox"], files, DATA, lambda pairs: "".join(row(*pair, doc="two") for pair in pairs))
        self.assertEqual(found, {"small fox": [two]})
        python = "QUERIES = {'two': [(('small fox',), 'chunk %d')]}"
        for line, hit in enumerate((False, False, True)):  # the dict of documents says it as well
            texts, report = indexed(dict(files, **{"q.py": python % line, "{m}.py": OWN}), "--corpus c.jsonl --queries q.py -s {m}.lines")
            self.assertEqual((len(texts), report["strategies"][0]["queries"][0]["answered@1"]), (3, hit))

    def test_csv(self):
        files, arguments = {"c.txt": "fox one\nfox two\nowl\n", "q.csv": "?"}, "--corpus c.txt --queries q.csv"
        wanted = {"fox": ["fox one", "fox two"], '"[""fox two""]"': ["fox two"], "owl": ["owl"]}
        self.assertEqual(covering(wanted, files, arguments, lambda pairs: "query,gold\n" + "".join("%s,%s\n" % pair for pair in pairs)), wanted)

        def chroma(pairs):
            cell = '{""content"": ""fox"", ""start_index"": %d, ""end_index"": %d}'
            return "question,references,corpus_id\n" + "".join('%s,"[%s]",c\n' % (query, cell % (at, at + 3)) for query, at in pairs)
        wanted = {0: ["fox one"], 8: ["fox two"], 7: ["fox two"], 2: ["fox one"]}
        self.assertEqual(covering(wanted, files, arguments, chroma), wanted)

    def test_squad_places(self):
        context = "fox one 7\nan owl\nfox two 7"
        one, owl, two = context.split("\n")
        wanted = {(("fox", 0),): [one], (("fox", 17),): [two], (("fox", 15),): [two], (("fox", 3),): [one], (("fox", 999),): [two],
                  (("fox", 0), ("owl", 13)): [one, owl], (("elk", 3), ("owl", 0)): [owl], (("7", -1),): [one]}
        found = covering(wanted, {"s.json": "?"}, SQUAD, lambda pairs: squad(*((q, *a) for q, a in pairs), context=context))
        self.assertEqual(found, wanted)

    def test_what_is_a_heading(self):
        """Not a line indented as code, with seven marks or without a space; closing marks and links are not in an anchor."""
        text = "   # Three #\n    # four\n####### seven\n#tag\n## C# ##\n## C#\n## [A_b](http://x/y) हिन्दी\n### e {#x} ##\n"
        self.assertEqual([(topic, titles.split(" > ")[-1]) for topic, _, _, titles in cre.sections(text, "s")], [
            ("s", "s"), ("s#three", "Three"), ("s#c", "C#"), ("s#c-1", "C#"), ("s#a_b-हिन्दी", "[A_b](http://x/y) हिन्दी"), ("s#x", "e")])

    def test_no_two_sections_of_a_file_have_one_name(self):
        found = [topic for topic, *_ in cre.sections("# A\n# A\n# A-1\n# A-1\n# A" + " " * 5000 + "A\n", "s")]
        self.assertEqual(found, ["s", "s#a", "s#a-1", "s#a-1-1", "s#a-1-2", "s#a%sa" % ("-" * 5000)])

    def test_names_of_files(self):
        """Endings in capitals count; two files of one name, and a folder that cannot be read, are Faults; an empty file has no topic."""
        files = {"f/a.MD": "red fox", "C.TXT": "red fox", "d/a.md": "x", "d/a.txt": "red fox", "e/a.md": "red fox", "e/empty.md": "",
                 "q.jsonl": row("fox?", "red fox"), "p.jsonl": row("fox?", "empty")}
        for path in "f", "C.TXT":
            self.assertEqual(run(files, "--queries q.jsonl --corpus " + path)[::2], (0, []))
        self.assertRegex(run(files, "--queries q.jsonl --corpus d")[2][0], r"^error: d.a\.txt: .*second file called \"a\"")
        self.assertRegex(run(files, "--queries p.jsonl --corpus e")[2][0], '^error: p.jsonl:1: "empty" is no topic')
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(os, "scandir", side_effect=PermissionError(13, "not yours", folder)):
            self.assertRaisesRegex(PermissionError, "not yours", cre.read_corpus, folder)

    def test_slices_of_a_quote_may_overlap(self):
        self.assertEqual([cre.find("a a a", "aa", near, cre.squeeze) for near in (None, 1)], [[(0, 3), (2, 5)], [(0, 3)]])

    def test_squad_documents(self):
        """An article is a document, whatever its title; an answer stands in its own context, and the first names the gold."""
        def part(context, *answers):
            return {"context": context, "qas": [{"question": "who?", "answers": [{"text": t, "answer_start": s} for t, s in answers]}]}
        articles = [{"title": "T", "paragraphs": [part("A fox.", ("fox", 2)), part("My red fox.", ("red fox", 3), ("fox", 7))]},
                    {"title": "T", "paragraphs": [part("An elk.", ("elk", 3))]}, {"title": None, "paragraphs": [part("An owl.", ("owl", 3))]}]
        path = os.path.join(FOLDER.name, "s.json")
        with open(path, "w") as file:
            json.dump({"data": articles}, file)
        data = cre.read_squad(path)
        self.assertEqual([(doc.name, doc.text, doc.headings) for doc in data.docs], [
            ("T", "A fox.\nMy red fox.", [(0, "T")]), ("T", "An elk.", [(0, "T")]), ("article 3", "An owl.", [(0, "article 3")])])
        self.assertEqual([(gold.name, gold.places) for query in data.queries for gold in query.golds], [
            ("fox", ((0, 2, 5),)), ("red fox", ((0, 10, 17), (0, 14, 17))), ("elk", ((1, 3, 6),)), ("owl", ((2, 3, 6),))])

    def test_a_section_is_found_by_a_chunk_within_it(self):
        files = {"g.md": "# A\n\n" + words(0, 60), "q.jsonl": row("w9", "g#a")}
        entry, = reports(files, "--corpus g.md --queries q.jsonl -s fixed:50 -k 1")["strategies"]
        self.assertEqual((entry["recall@1"], entry["evidence@1"], entry["complete@1"], entry["char_recall"] < 0.3), (1, 1, 1, True))

    def test_what_was_skipped_is_said(self):
        out = run({"s.json": squad(("who?",), ("what?", ("fox", 8)))}, SQUAD)[1]
        self.assertIn("queries    1: 1 single-hop, 0 multi-hop, 1 skipped  [", out)

class OwnPieces(unittest.TestCase):
    def test_chunks_are_placed_in_order(self):
        for text, chunks, wanted in (
                ("one two  three", ["one", "two", "three"], [(0, 3), (4, 7), (9, 14)]), ("ab cd ab", ["ab", "cd ab"], [(0, 2), (3, 8)]),
                ("ab ab ab", ["ab", "ab", "ab"], [(0, 2), (3, 5), (6, 8)]), ("one two three", [(0, 7), [4, 13]], [(0, 7), (4, 13)]),
                ("one two three four", ["one two three", "two three four"], [(0, 13), (4, 18)]),
                ("one\n\n two\tthree", ["one two", "three"], [(0, 9), (10, 15)]),
                ("a a a a", ["a a", "a a"], [(0, 3), (4, 7)]), ("one two three", [(4, 13), (0, 7)], [(0, 7), (4, 13)])):
            with self.subTest(chunks):
                files = {"c.py": "CORPUS = [('a', %r)]" % text, "q.py": "QUERIES = [(('a',), 'x %%d' %% n) for n in range(%d)]" % len(chunks),
                         "{m}.py": OWN + "def f(text): return %r\n" % (chunks,)}
                queries = reports(files, PYS + "-s {m}.f --retriever {m}.Nth -k 1")["strategies"][0]["queries"]
                self.assertEqual([tuple(query["top"][0][1:]) for query in queries], wanted)

    def test_a_row_says_which_retriever(self):
        files, arguments = dict(GOOD, **{"{m}.py": RANKER + "return [0]"}), RANKED + "--retriever bm25"
        self.assertRegex(run(files, arguments)[1], r"(?m)^para:90 \{m\}\.f +2 .*\npara:90 bm25 +2 ")
        self.assertEqual([entry["retriever"] for entry in reports(files, arguments)["strategies"]], ["{m}.f", "bm25(k1=1.5, b=0.75)"])

    def test_count(self):
        files = dict(GOOD, **{"{m}.py": "def f(text): return 7 * len(text)"})
        self.assertIn("counted by {m}.f", run(files, DATA + "--count {m}.f")[1])
        report = reports(files, DATA + "-s para:90 -k 1 --count {m}.f")
        entry = report["strategies"][0]
        self.assertEqual((report["count"], entry["tokens"], entry["longest"]), ("{m}.f", 7 * (40 + 45) / 2, 7 * 45))

    def test_rounds_that_differ_show_as_ranges(self):
        code = "made = []\n" + RANKER.replace("self.n = len(texts)", "made.append(1)") + "return [len(made) % 2]"
        files, arguments = dict(GOOD, **{"{m}.py": code, "q.jsonl": Q1}), RANKED + "--rounds 4"
        out = run(files, arguments)[1]
        self.assertRegex(out, r"(?ms)^para:90 [^\n]* 0\.500 \[0\.000, 1\.000\].*^varies: ")
        self.assertNotIn("bit for bit", out)
        self.assertIs(reports(files, arguments)["deterministic"], False)
        self.assertIs(reports(GOOD, DATA)["deterministic"], True)

    def test_check(self):
        text = "# Foxes\n\nThe red fox runs over the hill.\n\nThe red fox sleeps.\n\n# Whales\n\nA whale dives.\n\nIt sings again.\n\nIt sings again.\n"
        files = {"my notes/a.md": text, "q.jsonl": row("Who runs?", "red fox runs over", "a#whales") + row("zzz qqq", "A whale dives.")}
        status, out, err = run(files, ["--corpus", "my notes", "--queries", "q.jsonl", "--check"])
        self.assertEqual((status, err), (0, []))
        for pattern in (r"1 document, 5 paragraphs, 3 topics, %d characters" % len(text), r"2: 1 single-hop, 1 multi-hop",
                        r"characters a paragraph +15, 19, 40\b", r"tokens a paragraph +3, 4, 8\b", r"characters a token +%.2f" % (113 / 22),
                        r"2 quotes, 1 section\b", r"characters a gold +14, 17, 59\b", r"repeat +1\b", r'match +1: "zzz qqq"'):
            self.assertRegex(out, pattern)
        command = out.strip().splitlines()[-1]
        sizes = [float(size) for size in re.search(r"fixed:(\S+)", command).group(1).split(",")]
        self.assertTrue(sizes[0] < 17 < sizes[2] and len(set(sizes)) == 3, command)
        words = shlex.split(command)
        self.assertEqual(run(files, words[words.index("--corpus"):])[::2], (0, []), command)

    def test_check_gives_three_sizes_for_short_golds(self):
        out = run({"c.txt": "a fox is here", "q.jsonl": row("who?", "fox")}, "--corpus c.txt --queries q.jsonl --check")[1]
        self.assertEqual(len(set(re.search(r"fixed:(\S+)", out).group(1).split(","))), 3, out)

    def test_chunks(self):
        out = run({"c.py": PY, "q.py": PYQ}, PYS + "-s para:9 -s fixed:25 --chunks")[1]
        self.assertRegex(out, r'para:9: 2 chunks.* number 1\n +1\. corpus 0-17, 4 tokens, covers "fox"\n +The red fox runs\.\n +2\. corpus 17-34, 4')
        self.assertRegex(out, r"fixed:25: 2 chunks.* number 1\n +1\. .*\n +The red fox runs\.Its wool~\n +2\. .*\n +~ ?is warm\.\n")

    def test_explain(self):
        every, second = run(GOOD, DATA + "--explain")[1], run(GOOD, DATA + "--explain 2")[1]
        self.assertRegex(every, r"(?s)query 1: Where does the fox run\?.*query 2: How deep")
        self.assertRegex(second, r"query 2: How deep")
        self.assertNotIn("query 1: ", second)

    def test_a_range_is_from_the_least_to_the_most(self):
        code = "made = []\n" + RANKER.replace("self.n = len(texts)", "made.append(1)") + "return [len(made) % 2]"
        entry, = reports(dict(GOOD, **{"{m}.py": code, "q.jsonl": Q1}), RANKED + "--rounds 3")["strategies"]
        self.assertEqual((entry["range"]["recall@1"], round(entry["recall@1"], 9)), ([0, 1], round(1 / 3, 9)))

    def test_rounds_that_differ_in_no_figure_vary_too(self):
        code = "made = []\n" + RANKER.replace("self.n = len(texts)", "made.append(1)") + "return [len(made) % 2]"
        files = {"c.py": 'CORPUS = [("a", "aa "), ("b", "bb "), ("c", "cc ")]', "q.py": 'QUERIES = [(("c",), "cc")]', "{m}.py": code}
        report = reports(files, PYS + "-s fixed:3 --retriever {m}.f --rounds 2")
        self.assertEqual((report["deterministic"], report["notes"][0]["kind"]), (False, "varies"))
        self.assertIn("(0 figures)", report["notes"][0]["text"])

    def test_explain_why_a_gold_is_missing(self):
        corpus = [("x", "aa bb "), ("t", "cc dd ee ff gg "), ("t", "hh ii jj kk ll mm ")]
        files = {"c.py": "CORPUS = %r" % corpus, "q.py": "QUERIES = [(('t',), 'cc')]",
                 "g.md": "# A\n\n" + words(0, 20) + "\n\n# B\n\n" + words(20, 40), "q.jsonl": row("w0", "g#b")}
        for arguments, spec, found, held, best, why in (
                (PYS, "fixed:6", "[3]", 20, 40, "no chunk covers it"), (PYS, "para:1", "[0]", 0, 100, "what covers it was not retrieved"),
                (PYS, "para:1", "[0, 2]", 0, 100, "the chunk that covers it is ranked 2"),
                ("--corpus g.md --queries q.jsonl ", "fixed:20", "[0]", 0, 100, "what covers it was not retrieved")):
            out = run(dict(files, **{"{m}.py": RANKER + "return " + found}), arguments + "--retriever {m}.f -k 1 --explain -s " + spec)[1]
            self.assertIn(": all that was sent holds %d %% of it, the best single chunk covers %d %%; %s\n" % (held, best, why), out)

    def test_what_is_said_of_a_chunk(self):
        gold = "red fox runs over the hill at nigh"
        out = run(dict(GOOD, **{"q.jsonl": row("fox", gold)}), DATA + "--explain -s para:90")[1]
        self.assertRegex(out, r' 1\. c\.jsonl:1 0-40, 9 tokens, score \d\.\d{3}, covers "red fox runs over th \.\.\. ll at nigh"\n')
        self.assertRegex(run(GOOD, DATA + "--chunks -s para:90")[1], '(?s) 1\\. .* covers "red fox"\n.* 2\\. .* covers "blue whale"\n')

    def test_check_of_topics(self):
        """Without queries the topics are the golds; of each its shortest place counts."""
        files = {"c.jsonl": corpus(("a", "four"), ("a", "a longer text"), ("b", "fully ten !")),
                 "q.jsonl": "".join(row("zz%d" % n, "four") for n in range(4)), "s.json": squad(("what?", ("fox", 8)))}
        out = run(files, "--corpus c.jsonl --check")[1]
        for pattern in r"golds +2 topics\n", r"characters a gold +4, 11, 11\n", r" --corpus c\.jsonl --queries QUESTIONS -s fixed:6,16,55\n":
            self.assertRegex(out, pattern)
        self.assertRegex(run(files, DATA + "--check")[1], 'queries without a match +4: "zz0"; "zz1"; "zz2"\n')
        self.assertIn(".py --squad s.json -s fixed:", run(files, SQUAD + "--check")[1])

    def test_check_gives_no_size_of_0(self):
        out = run({"c.txt": "a fox is here", "q.jsonl": row("who?", "x")}, "--corpus c.txt --queries q.jsonl --check")[1]
        self.assertRegex(out, r"characters a gold +1, 1, 1\n(?s:.*) -s fixed:1,2,5\n$")

class Transcript(unittest.TestCase):
    bare = run({}, [])[1].encode("utf-8")  # through a StringIO

    def start(self, *command, **more):
        """A process: (status, the bytes of stdout), the text of stderr."""
        environment = dict(os.environ, **more.pop("env", {}))
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, timeout=60, **more)
        return (done.returncode, done.stdout), done.stderr.decode("utf-8", "replace")

    def test_a_stream_of_another_encoding(self):
        files = dict(GOOD, **{"q.jsonl": Q1.replace("fox run", "fox 狐\\ud800 run")})
        for arguments, wanted in (("", self.bare), (DATA + "--explain 1", "狐\\ud800".encode("utf-8"))):
            out = io.TextIOWrapper(io.BytesIO(), encoding="ascii", newline="\r\n")
            self.assertEqual(run(files, arguments, out)[0], 0)
            self.assertIn(wanted, out.buffer.getvalue())
            self.assertNotIn(b"\r", out.buffer.getvalue())

    def test_the_same_bytes_everywhere(self):
        self.assertIn("fixed:500", self.bare.decode("utf-8"))
        with tempfile.TemporaryDirectory(prefix="只 读 ") as folder:
            for name in ("chunking_retrieval_eval.py", "corpus.py", "queries.py"):
                shutil.copy(os.path.join(HERE, name), folder)
            os.chmod(folder, 0o555)
            for options, cwd, path, environment in (
                    ([], HERE, folder, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONHASHSEED": "0"}),
                    (["-O"], folder, HERE, {"PYTHONIOENCODING": "ascii", "PYTHONHASHSEED": "1", "COLUMNS": "20"}), (["-OO"], folder, folder, {})):
                with self.subTest(options):
                    result, err = self.start(sys.executable, *options, os.path.join(path, "chunking_retrieval_eval.py"), env=environment, cwd=cwd)
                    self.assertEqual((result, len(os.listdir(folder))), ((0, self.bare), 3), err[-300:])
            os.chmod(folder, 0o755)

    @unittest.skipUnless(os.name == "posix", "needs a pseudo-terminal")
    def test_a_narrow_terminal(self):
        import fcntl
        import pty
        import struct
        import termios
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
        with subprocess.Popen([sys.executable, SCRIPT, "--rounds", "1"], stdout=slave, stderr=subprocess.DEVNULL) as process:
            os.close(slave)
            text = b""
            with contextlib.suppress(OSError):  # how Linux says that the other end is closed
                for part in iter(lambda: os.read(master, 9999), b""):
                    text += part
        text = text.decode("utf-8").replace("\r\n", "\n")
        self.assertEqual(process.returncode, 0)
        self.assertIn("fixed:500", text)
        self.assertLessEqual({len(line) > 60 for line in text.split("\n") if not line.startswith(("strategy", *cre.STRATEGIES))}, {False})

    def test_a_closed_pipe_ends_quietly(self):
        with subprocess.Popen([sys.executable, SCRIPT, "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.close()
            err = process.stderr.read().decode("utf-8", "replace")
        self.assertIn(process.returncode, (0, 1))
        self.assertNotRegex(err, "Traceback|Exception|Error")

    @unittest.skipUnless(os.name == "posix", "asks a shell to close it")
    def test_no_standard_output_at_all(self):
        (status, _), err = self.start("sh", "-c", 'exec "$0" "$1" >&-', sys.executable, SCRIPT)
        self.assertIn(status, (0, 1))
        self.assertNotIn("Traceback", err)

    def test_what_a_stream_holds_goes_first(self):
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        out.write("a")
        cre.emit("b", out)
        self.assertEqual(out.buffer.getvalue(), b"ab")

    def test_the_environment_is_said(self):
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as err:
            self.assertEqual(cre.main(["--check"]), 0)
        self.assertEqual(err.getvalue(), "chunking_retrieval_eval %s, %s %s, %s\n" % (
            cre.VERSION, sys.implementation.name, "%d.%d.%d" % sys.version_info[:3], sys.platform))

    def test_lines_on_a_terminal(self):
        """As wide as it is, up to 80 columns; a word with a hyphen stays whole."""
        for columns, widest in ((40, 39), (79, 79), (200, 79)):
            with unittest.mock.patch.object(os, "isatty", return_value=True), unittest.mock.patch.object(sys, "stdout", sys.__stdout__), \
                    unittest.mock.patch.object(os, "get_terminal_size", return_value=os.terminal_size((columns, 24))):
                lines = cre.wrapped("word " * 99, 0).split("\n")
            self.assertEqual(max(map(len, lines)), widest, columns)
        self.assertIn("ab-cd", cre.wrapped("word " * 15 + "ab-cd-ef"))

# ======================== measures, notes, outputs ===========================
FOLDER = tempfile.TemporaryDirectory()
atexit.register(FOLDER.cleanup)
sys.path.insert(0, FOLDER.name)
with open(os.path.join(FOLDER.name, "own_pieces.py"), "w") as file:
    file.write('''
class Order:  # every text in its order, whatever the query
    def __init__(self, texts): self.all = list(range(len(texts)))
    def topk(self, query, k): return self.all[:k]
class Twice(Order):  # the first text twice
    def topk(self, query, k): return (self.all[:1] + self.all)[:k]
class Turning(Order):  # another order each time that it is made
    made = []
    def __init__(self, texts):
        self.made.append(self)
        self.all = [(number + len(self.made)) % len(texts) for number in range(len(texts))]
def half(text): return [(0, len(text) // 2)]
def whole(text): return [(0, len(text) // 2), text[len(text) // 2:]]
''')

def printed(*arguments):
    """What a run prints that succeeds."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        if cre.main(["--rounds", "1", *arguments]):
            raise AssertionError(err.getvalue())
    return out.getvalue()

def measured(*arguments):
    return json.loads(printed("--format", "json", *arguments))

def on(corpus, queries):
    """The arguments that name such data."""
    paths = [os.path.join(FOLDER.name, name) for name in ("corpus.py", "queries.py")]
    for path, text in zip(paths, ("CORPUS = %r" % (corpus,), "QUERIES = %r" % (queries,))):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return ["--corpus", paths[0], "--queries", paths[1]]

def given(*strategies):
    return [word for strategy in strategies for word in ("-s", strategy)]

# ---- the definitions, on sets of positions ----------------------------------
def spots(*places):
    return {(name, at) for name, start, end in places for at in range(start, end)}

def share(whole, part):
    """How much of one set lies in another."""
    return Fraction(len(whole & part), len(whole))

class Truth:
    """Data cut by one strategy: its chunks, and for each query the golds (as bits) that each chunk covers."""
    def __init__(self, corpus, queries, strategy):
        self.texts, self.topics, self.chunks = {}, {}, []
        for name, pairs in corpus.items():
            self.texts[name] = "".join(text for _, text in pairs)
            ends = list(accumulate(len(text) for _, text in pairs))
            for (topic, _), start, end in zip(pairs, [0] + ends, ends):
                self.topics.setdefault(topic, []).append((name, start, end))
            self.chunks += [(name, *piece) for piece in cre.chunk(strategy, self.texts[name], list(zip([0] + ends, ends)))]
        self.golds = [list(dict.fromkeys(golds)) for golds, _ in queries]
        self.masks = [{chunk: sum(self.covers(chunk, gold) << bit for bit, gold in enumerate(golds))
                       for chunk in self.chunks} for golds in self.golds]

    def tokens(self, place):
        return cre.tokenize(self.texts[place[0]][place[1]:place[2]])

    def places(self, gold):
        return self.topics.get(gold) or [(name, at, at + len(gold)) for name, text in self.texts.items()
                                         for at in range(len(text)) if text.startswith(gold, at)]

    def covers(self, chunk, gold):
        bag = (lambda place: set(self.tokens(place))) if gold in self.topics else spots
        return any(share(bag(place), bag(chunk)) >= Fraction(3, 5) for place in self.places(gold))

    def draws(self, number, k):
        """The share of all choices of k chunks that answer a query."""
        full, masks = (1 << len(self.golds[number])) - 1, self.masks[number].values()
        hits = [reduce(or_, choice) == full for choice in combinations(masks, min(k, len(masks)))]
        return Fraction(sum(hits), len(hits))

    def query(self, number, top, k):
        """{key: value} for one query, from what it sent."""
        golds, masks, there, found = self.golds[number], self.masks[number], spots(*top), {}
        for n in 1, k:
            hit, luck = reduce(or_, map(masks.get, top[:n]), 0) == (1 << len(golds)) - 1, self.draws(number, n)
            found.update({"recall@%d" % n: hit, "ceiling@%d" % n: luck > 0, "chance@%d" % n: luck})
        best = [max(self.places(gold), key=lambda place: share(spots(place), there)) for gold in golds]
        whole = [share(spots(place), there) >= Fraction(3, 5) for place in best]
        paid, wanted = sum(end - start for _, start, end in top), spots(*best)
        both, rank = len(wanted & there), next((n for n, chunk in enumerate(top[:10], 1) if masks[chunk]), 0)
        found.update({"evidence@%d" % k: sum(whole) / len(golds), "complete@%d" % k: all(whole),
                      ("single@%d" if len(golds) == 1 else "multi@%d") % k: hit}, **{"rr": rank and 1 / rank} if k >= 10 else {})
        return dict(found, sent=len(top), tokens=sum(len(self.tokens(chunk)) for chunk in top), char_recall=both / len(wanted),
                    char_precision=both / paid if paid else 0, char_iou=both / (paid + len(wanted) - both),
                    redundancy=1 - len(there) / paid if paid else 0, cut=not hit and not luck, outranked=not hit and luck > 0)

    def figures(self, tops, k):
        """What a row must hold."""
        each, row = [self.query(number, top, k) for number, top in enumerate(tops)], {"single@%d" % k: None, "multi@%d" % k: None}
        for key in {key for query in each for key in query}:
            values = [query[key] for query in each if key in query]
            row[key] = float(sum(values)) / (1 if key in ("cut", "outranked") else len(values))
        return dict(row, chunks=len(self.chunks), longest=max(len(self.tokens(chunk)) for chunk in self.chunks),
                    index_growth=sum(end - start for _, start, end in self.chunks) / sum(map(len, self.texts.values())))

def generated_data(seed):
    """A small corpus of one to three documents, and queries that need topics and quotes."""
    rng, queries = random.Random(seed), []
    words = ["".join(rng.choices("缓存语义前缀向量检索分块", k=rng.randint(2, 4))) for _ in range(8)] + ["rag", "Kv", "，"]
    corpus = {"doc%d" % number: [("topic%d" % rng.randrange(3), "".join(rng.choices(words, k=rng.randint(2, 5))) + "段。")
                                 for _ in range(rng.randint(1, 4))] for number in range(rng.randint(1, 3))}
    for number in range(rng.choice([2, 5, 14])):
        pairs = rng.choice(list(corpus.values()))
        golds, text = [topic for topic, _ in rng.choices(pairs, k=rng.randint(0, 2))], "".join(text for _, text in pairs)
        start = rng.randrange(len(text))
        golds += [text[start:start + rng.randint(4, 30)]] * rng.randint(not golds, 1)
        queries.append((tuple(golds), "问%d" % number + "".join(rng.choices(words, k=rng.randint(0, 3)))))
    return corpus, queries

class BruteForce(unittest.TestCase):
    def check(self, corpus, queries, k, arguments):
        """A run against the definitions. Returns the kinds that its notes must have, of five."""
        content, stranded = measured(*arguments, "-k", str(k)), []
        for row in content["strategies"]:
            truth, tops = Truth(corpus, queries, row["strategy"]), [list(map(tuple, query["top"])) for query in row["queries"]]
            for key, value in truth.figures(tops, k).items():
                (self.assertEqual if value is None else self.assertAlmostEqual)(row[key], value, msg=(key, row["strategy"]))
                self.assertTrue(key in ("tokens", "index_growth", "sent") or not isinstance(row[key], float) or row[key] <= 1, key)
            for n in 1, k:
                self.assertGreaterEqual(row["ceiling@%d" % n], row["recall@%d" % n])
                self.assertEqual(row["ci@%d" % n], cre.wilson(row["recall@%d" % n], len(queries)))
            for query, golds, masks, top in zip(row["queries"], truth.golds, truth.masks, tops):
                bits = reduce(or_, map(masks.get, top), 0)
                self.assertEqual((query["gold"], query["missing"]), (golds, [g for n, g in enumerate(golds) if not bits >> n & 1]))
            stranded += [row["strategy"]] * any(reduce(or_, masks.values()) != (1 << len(golds)) - 1
                                                for masks, golds in zip(truth.masks, truth.golds))
        self.check_comparisons(content, k)
        return self.check_notes(content, k, stranded)

    def check_comparisons(self, content, k):
        (base, *others), found = content["strategies"], iter(content["comparisons"])
        for n in 1, k:
            rows, key = list(islice(found, len(others))), "answered@%d" % n
            for row, other in zip(rows, others):
                pairs = [(query[key], mine[key]) for query, mine in zip(base["queries"], other["queries"])]
                wins, losses = ([at for at, pair in enumerate(pairs, 1) if pair == kind] for kind in ((False, True), (True, False)))
                tosses, uneven = len(wins + losses), abs(len(wins) - len(losses))
                self.assertEqual(row, dict(row, metric="recall@%d" % n, strategy=other["strategy"], wins=wins, losses=losses))
                self.assertAlmostEqual(row["difference"], other[row["metric"]] - base[row["metric"]])
                self.assertAlmostEqual(row["p"] * 2 ** tosses, sum(
                    comb(tosses, heads) for heads in range(tosses + 1) if abs(tosses - 2 * heads) >= uneven))
                self.assertAlmostEqual(row["p_holm"], min(1, max(  # each p that is no larger, times how many are no smaller
                    a["p"] * sum(b["p"] >= a["p"] for b in rows) for a in rows if a["p"] <= row["p"])))
        points = {row["strategy"]: (row["tokens"], -row["recall@%d" % k]) for row in content["strategies"]}
        self.assertEqual(content["frontier"], sorted((a for a, (cost, loss) in points.items() if not any(
            b != (cost, loss) and b[0] <= cost and b[1] <= loss for b in points.values())), key=points.get))

    def check_notes(self, content, k, stranded):
        rows, recall = content["strategies"], "recall@%d" % k
        wanted = [("saturated", [row["strategy"] for row in rows if row["chunks"] <= k]), ("floor", stranded), ("chance", [
            row["strategy"] for row in rows if row["chunks"] > k and 0 < row[recall] <= 2 * row["chance@%d" % k]])]
        for n in 1, k:
            wanted += [("ceiling", [row["strategy"] for row in rows if row["chunks"] > n
                                    and 0 < row["recall@%d" % n] == row["ceiling@%d" % n] < 1]),
                       ("inseparable", [row["strategy"] for row in content["comparisons"]
                                        if row["metric"] == "recall@%d" % n and row["p_holm"] >= 0.05])]
        found = [(note["kind"], note["strategies"]) for note in content["notes"] if note["kind"] in dict(wanted)]
        for pair in found + [pair for pair in wanted if pair[1] and len(content["notes"]) < 7]:
            self.assertTrue(pair in wanted and pair in found, pair)
        return {kind for kind, labels in wanted if labels}

    def test_random_corpora(self):
        seen = []
        for seed in range(50):
            with self.subTest(seed=seed):
                (corpus, queries), strategies = generated_data(seed), given("fixed:14", "overlap:24/9", "para:40", "recursive:30/5")
                data = on(corpus, queries) + strategies[:8 if seed % 3 else 4]
                seen.append(self.check(corpus, queries, 3 if seed % 2 else 10, data))
        for kind in "saturated", "floor", "chance", "ceiling":  # each of them holds somewhere, and somewhere not
            self.assertEqual({kind in kinds for kinds in seen}, {True, False}, kind)

    def test_the_data_of_the_article(self):
        self.check({"corpus": CORPUS}, QUERIES, 3, [])
        self.check({"corpus": CORPUS}, QUERIES, 2, ["--retriever", "hash"])

class Statistics(unittest.TestCase):
    def test_published_values(self):
        for hits, total, low, high in [  # the first four: Newcombe 1998, table I; the others: as statsmodels prints them
                (81, 263, "0.2553", "0.3662"), (15, 148, "0.0624", "0.1605"), (0, 20, "0.0000", "0.1611"), (1, 29, "0.0061", "0.1718"),
                (10, 14, "0.453509", "0.882786"), (5, 14, "0.163447", "0.612356"), (14, 14, "0.784689", "1.000000")]:
            self.assertEqual(["%.*f" % (len(low) - 2, end) for end in cre.wilson(hits / total, total)], [low, high])
        for wins, losses, p in [(3, 0, 0.25), (0, 3, 0.25), (6, 0, 0.03125), (5, 1, 0.21875), (10, 2, 0.03857421875),
                                (4, 4, 1), (0, 0, 1), (1, 0, 1), (2000, 0, 0)]:
            self.assertAlmostEqual(cre.mcnemar(wins, losses), p, 12)
        for ps, adjusted in [([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]), ([0.8, 0.9], [1, 1]), ([0.2], [0.2]), ([], [])]:
            self.assertEqual([round(p, 9) for p in cre.holm(ps)], adjusted)

    def test_reachable(self):
        """By a budget just where the cheapest chunks that cover all golds together fit in it."""
        for bits, golds, costs, total in [
                ({}, 1, [], float("inf")), ({0: 1}, 2, [1], float("inf")), ({0: 1, 1: 1}, 1, [2, 5], 2), ({0: 1, 1: 1}, 1, [5, 2], 2),
                ({0: 1, 1: 2, 2: 3}, 2, [2, 2, 5], 4), ({0: 1, 1: 2, 2: 3}, 2, [2, 2, 3], 3), ({0: 3, 1: 6, 2: 5, 3: 4}, 3, [4, 4, 1, 9], 5),
                ({0: 7, 1: 3, 2: 4}, 3, [9, 0, 0], 0), ({0: 3, 1: 1, 2: 4}, 3, [4, 3, 3], 7)]:
            run = cre.Run("", "", range(len(costs)), costs, 0, [])
            record = cre.Record([], None, {gold: {n for n in bits if bits[n] >> gold & 1} for gold in range(golds)})
            for budget in range(12):
                self.assertEqual(cre.reachable(run, record, "%dt" % budget), total <= budget, (bits, costs, budget))

    def test_frontier_and_elbow(self):
        article = [(0.643, 113.4), (0.714, 117.5), (0.786, 152.6), (0.929, 341.5), (1.0, 748)]
        for points, best, bend in [
                (article, [0, 1, 2, 3, 4], 3), (article[:4], [0, 1, 2, 3], 2), (article[::-1], [4, 3, 2, 1, 0], 1),
                ([(0.5, 10), (0.5, 10), (0.5, 12), (0.4, 10), (0.6, 12)], [0, 1, 4], None),  # equals stay, what is beaten goes
                ([(0.5, 10)] * 3, [0, 1, 2], None), ([(0.5, 10)], [0], None), ([], [], None),
                ([(0, 0), (0.5, 5), (1, 10)], [0, 1, 2], None), ([(0, 0), (0.2, 5), (1, 10)], [0, 1, 2], None)]:
            self.assertEqual((cre.frontier(points), cre.elbow(points)), (best, bend), points)

    def test_golds_that_the_same_chunks_cover_are_one_need(self):
        """So that many of them, which are 2 ** n subsets, take no longer."""
        run, record = cre.Run("", "", range(4), [], 0, []), cre.Record([], None, {n: {0, 1} for n in range(12)})
        with unittest.mock.patch.object(cre, "comb", side_effect=comb) as counted:
            self.assertEqual((cre.chance(run, record, 1), counted.call_count), (0.5, 3))

    def test_an_interval_ends_at_0_and_1(self):
        ends = [(cre.wilson(0, total)[0], cre.wilson(1, total)[1]) for total in range(1, 400)]
        self.assertEqual([pair for pair in ends if pair[0] < 0 or pair[1] > 1], [])

    def test_of_two_elbows_the_cheaper(self):
        self.assertEqual(cre.elbow([(0, 0), (1 / 3, 1), (5 / 6, 3), (1, 4)]), 1)  # both are 1 / 3 above, but for the last bits

WORDS = [("a", "aaaa "), ("b", "bbbb "), ("c", "cccc "), ("d", "dddd ")]  # four chunks of fixed:5, a token each
ORDER, TWICE = ["--retriever", "own_pieces.Order"], ["--retriever", "own_pieces.Twice"]

class Edges(unittest.TestCase):
    def test_defined_answers(self):
        letters, dozen = [("t", "abcdefghijklmnopqrst")], [("t%d" % number, "w%03d " % number) for number in range(12)]
        for what, corpus, golds, query, spec, arguments, wanted in [
                ("nothing retrieved", WORDS, ["a"], "zzz", "fixed:5", [], dict.fromkeys(
                    "recall@3 tokens sent rr char_recall char_precision char_iou redundancy evidence@3 complete@3 cut".split(), 0)),
                ("a chunk of no tokens", [("t", "aaaa ..... bbbb")], ["aaaa"], "aaaa", "fixed:5", ORDER,
                 {"chunks": 3, "sent": 3, "tokens": 2, "longest": 1, "recall@3": 1, "char_precision": 4 / 15}),
                ("golds that overlap", letters, ["abcdefgh", "efghijkl"], "abcdefghij", "fixed:10", [],
                 {"recall@1": 1, "char_recall": 10 / 12, "char_precision": 1, "char_iou": 10 / 12, "multi@3": 1, "single@3": None}),
                ("a slice twice: found once, paid twice", WORDS, ["aaaa"], "aaaa", "fixed:5", TWICE,
                 {"recall@3": 1, "tokens": 3, "sent": 3, "redundancy": 1 / 3, "char_recall": 1, "char_precision": 4 / 15,
                  "char_iou": 4 / 15, "chance@3": 0.75, "index_growth": 1}),
                ("a slice twice is one chunk", WORDS, ["bbbb", "cccc"], "aaaa", "fixed:5", TWICE, {"recall@3": 0, "evidence@3": 0.5}),
                ("a gold listed twice", WORDS, ["a", "a"], "aaaa", "fixed:5", [], {"recall@1": 1, "single@3": 1, "multi@3": None, "chance@1": 0.25}),
                ("slices that overlap", letters, ["abcdefgh"], "abcdefghij", "overlap:10/5", ORDER + ["-k", "2"],
                 {"redundancy": 0.25, "char_recall": 1, "char_precision": 8 / 20, "char_iou": 8 / 20, "index_growth": 1.5}),
                ("the tenth counts", dozen, ["t9"], "x", "fixed:5", ORDER, {"rr": 0.1, "recall@3": 0, "chance@3": 0.25, "outranked": 1}),
                ("the eleventh does not", dozen, ["t10", "t11"], "x", "fixed:5", ORDER, {"rr": 0, "ceiling@3": 1, "ceiling@1": 0}),
                ("nor where more are sent", dozen, ["t10"], "x", "fixed:5", ORDER + ["-k", "12"], {"rr": 0, "recall@12": 1}),
                ("one chunk, one query, fewer than k", letters, ["t"], "abcdefghijklmnopqrst", "fixed:500", [],
                 {"chunks": 1, "sent": 1, "recall@3": 1, "chance@3": 1, "ceiling@3": 1, "single@3": 1, "multi@3": None}),
                ("pieces that add up", letters, ["fghijklmno"], "abc", "fixed:10", ORDER,
                 {"recall@3": 0, "evidence@3": 1, "complete@3": 1, "char_recall": 1, "ceiling@3": 0, "cut": 1, "rr": 0})]:
            with self.subTest(what):
                row, = measured(*on(corpus, [(tuple(golds), query)]), "-s", spec, *arguments)["strategies"]
                for key, value in wanted.items():
                    self.assertEqual(row[key] and round(row[key], 12), value and round(value, 12), key)

    def test_all_strategies_equal(self):
        content = measured(*given("fixed:60", "overlap:60/0", "overlap:60/0%"))
        self.assertEqual({(row["p"], row["p_holm"], row["difference"]) for row in content["comparisons"]}, {(1, 1, 0)})
        self.assertEqual((content["elbow"], len(content["frontier"])), (None, 3))

class Settings(unittest.TestCase):
    def test_budget(self):
        data = on([("a", "aa ab "), ("b", "ba bb bc "), ("c", "ca ")], [(("a",), "aa")]) + ORDER + ["-s", "para:1"]
        for budget, sent, paid in (1, 0, 0), (2, 1, 2), (4, 1, 2), (5, 2, 5), (6, 3, 6):  # 4: the third would fit, not the second
            content, at = measured(*data, "--budget", str(budget)), "@%dt" % budget
            row, hit = content["strategies"][0], sent > 0
            self.assertEqual((row["sent"], row["tokens"], row["recall" + at], row["ceiling" + at]), (sent, paid, hit, hit))
            self.assertEqual((row["queries"][0]["answered" + at], "recall@3" in row, content["budget"]), (hit, False, budget))
            self.assertEqual("lost" in [note["kind"] for note in content["notes"]], not hit)

    def test_several_k(self):
        many = measured("-k", "1,3,5")["strategies"]
        self.assertEqual(measured("-k", "1")["strategies"][2]["tokens"], measured()["strategies"][2]["tokens@1"])
        for k in 1, 3, 5:
            for row, alone in zip(many, measured("-k", str(k))["strategies"]):
                for key in "recall", "single", "multi", "ceiling", "chance", "evidence", "complete", "ci":
                    self.assertEqual(row["%s@%d" % (key, k)], alone["%s@%d" % (key, k)])
                self.assertEqual(row["tokens@%d" % k], alone["tokens"])
        self.assertLess({"recall@1", "recall@3", "recall@5"}, set(printed("-k", "1,3,5").split()))

    def test_parents(self):
        corpus = [("t%d" % n, ("apple " * (14 - n) + "filler " * 15)[:90]) for n in range(4)]  # 50 children hold the query's word
        row, = measured(*on(corpus, [(("t0",), "apple")]), "-s", "parent:6/90")["strategies"]
        self.assertEqual(row["queries"][0]["top"], [["corpus", 90 * n, 90 * n + 90] for n in range(3)])
        self.assertEqual((row["chunks"], row["tokens"]), (4, sum(len(text.split()) for _, text in corpus[:3])))

    def test_context(self):
        data = on({"Guide": [("t", "alpha beta")]}, [(("t",), "guide")]) + ["-s", "para:50"]
        plain, led = (measured(*data, *more)["strategies"][0] for more in ([], ["--context"]))
        self.assertEqual([(row["tokens"], row["longest"], row["recall@1"]) for row in (plain, led)], [(0, 2, 0), (3, 3, 1)])
        self.assertEqual((led["queries"][0]["top"], led["index_growth"] > plain["index_growth"] == 1), ([["Guide", 0, 10]], True))

    def test_pairs_and_baseline(self):
        arguments = ["--retriever", "bm25", "--retriever", "hash", *given("fixed:50", "para:90")]
        content, other = measured(*arguments, "--baseline", "para:90 hash"), measured(*arguments)
        hits = [[query["answered@3"] for query in row["queries"]] for row in content["strategies"]]
        for row, mine in zip(content["comparisons"][3:], hits):
            self.assertEqual((row["metric"], row["baseline"]), ("recall@3", "para:90 hash"))
            self.assertEqual(row["wins"], [n for n, pair in enumerate(zip(mine, hits[3]), 1) if pair == (True, False)])
        one, two = content["comparisons"][3], other["comparisons"][-1]
        self.assertEqual((one["wins"], one["p"], one["strategy"]), (two["losses"], two["p"], two["baseline"]))

    def test_a_budget_for_more_than_ten_chunks(self):
        data = on([("t%d" % n, "w%d " % n) for n in range(15)], [(("t0",), "w0")])
        row, = measured(*data, *ORDER, "-s", "para:1", "--budget", "12")["strategies"]
        self.assertEqual((row["sent"], row["tokens"]), (12, 12))

    def test_repeated_and_unsorted(self):
        content = measured("-k", "8,1,8", "--retriever", "bm25", "--retriever", "bm25", "-s", "fixed:50")
        self.assertEqual((content["k"], [row["name"] for row in content["strategies"]]), ([1, 8], ["fixed:50"]))

    def test_a_baseline_without_its_retriever(self):
        rows = measured("--retriever", "bm25", "--retriever", "hash", *given("fixed:50", "para:90"), "--baseline", "para:90")["comparisons"]
        self.assertEqual({row["baseline"] for row in rows}, {"para:90 bm25"})

    def test_check_of_the_data_of_the_article(self):
        self.assertIn("queries    14: 8 single-hop, 6 multi-hop  [", printed("--check"))

    def test_a_budget_is_no_k(self):
        self.assertEqual([measured(*more)[key] for more in ([], ["--budget", "60"]) for key in ("k", "budget")], [[3], None, None, 60])

class Notes(unittest.TestCase):
    """Those that random corpora do not show both where they hold and where they do not."""
    def many(self):
        """40 queries: fixed:20 answers none, para:45 all but ten that need four paragraphs, para:200 nearly all."""
        texts = ["common p%02d q%02d r%02d s%02d t%02d u%02d v%02d w%02d. " % ((n,) * 8) for n in range(40)]
        queries = [((text[:38],), text) for text in texts[:30]]
        return on([("all", text) for text in texts], queries + [
            (tuple(text[:38] for text in texts[n:n + 4]), texts[n]) for n in range(0, 40, 4)])

    def test_where_they_hold_and_where_not(self):
        few, vary = given("fixed:50", "para:90"), ["--retriever", "own_pieces.Turning", "--rounds", "3"]
        bend = self.many() + given("fixed:20", "para:45", "para:200")
        for kind, arguments, labels in [
                ("elbow", bend, ["para:45"]), ("elbow", bend[:-2], None), ("elbow", bend[:-1] + ["fixed:9999"], None),
                ("elbow", [], None),  # the article's: none is told from the first
                ("elbow", bend + ["--retriever", "bm25", *vary], None),  # nothing is tested
                ("inseparable", few, ["para:90"]), ("inseparable", bend[:-2], None),
                ("varies", vary + few, ["fixed:50", "para:90"]), ("varies", ["--rounds", "3", *ORDER], None),
                ("lost", given("own_pieces.half", "own_pieces.whole"), ["own_pieces.half"]), ("lost", given("own_pieces.whole"), None),
                ("lost", ["--budget", "60", *few], ["para:90"]), ("lost", ["--budget", "90", *few], None)]:
            found = {note["kind"]: note["strategies"] for note in measured(*arguments)["notes"]}
            self.assertEqual(found.get(kind), labels, (kind, arguments))
        self.assertTrue(measured()["elbow"])
        for text, spec, holds in [("x" * 100, "recursive:20", True), ("one two " * 12, "recursive:20", True),
                                  ("one two. " * 12, "recursive:20", False), ("x" * 100, "fixed:20", False),
                                  ("one two three. " * 5 + "y" * 39, "recursive:20", False), ("one two three. " * 4 + "y" * 39, "recursive:20", True)]:
            found = measured(*on([("t", text)], [(("t",), "one")]), "-s", spec)["notes"]
            self.assertEqual("depth" in [note["kind"] for note in found], holds, (text, spec))

    def test_the_step_after_the_elbow_is_a_step(self):
        one, two = ([note["text"] for note in measured(*self.many(), *given("fixed:20", *same, "para:200"))["notes"]
                     if note["kind"] == "elbow"] for same in (["para:45"], ["para:45", "para:46"]))
        self.assertEqual(one, two)

    def test_what_is_saturated_has_no_ceiling(self):
        data = on([("t", "aaaa bbbb cccc dddd")], [(("aaaa",), "aaaa"), (("bbbb cccc",), "bbbb cccc")])  # the second is cut
        for k in "34":
            notes = measured(*data, "-s", "fixed:5", "-k", k)["notes"]
            self.assertEqual("saturated" in [note["kind"] for note in notes], k == "4")
            self.assertEqual([note["text"][:8] for note in notes if note["kind"] == "ceiling"], ["recall@1"] + ["recall@3"] * (k == "3"))

    def test_five_are_named_and_the_others_counted(self):
        text, = [note["text"] for note in measured(*given("fixed:50,51,52,53,54,55,56,57"), "-k", "1")["notes"] if note["kind"] == "inseparable"]
        self.assertRegex(text, r"fixed:51 .*fixed:55 \(.*\) and 2 more$")

    def test_floor_tells_why(self):
        text = "".join("w%02d " % n for n in range(30))  # fixed:20 cuts at 20, 40, ...
        golds = [text[0:60], text[40:100], text[0:8], text[14:26], text[34:46], text[54:66], text[45:75]]
        data = on([("t", text)], [((gold,), "w01") for gold in golds])
        note, = [note["text"] for note in measured(*data, *given("fixed:20", "fixed:60"))["notes"] if note["kind"] == "floor"]
        self.assertEqual([re.findall(r"\d+", part) for part in note.split("fixed:")[1:]], [["20", "2", "4"], ["60", "2"]])

    def test_rounds_that_vary(self):
        arguments = ["--retriever", "own_pieces.Turning", *given("fixed:50", "para:90"), "--rounds", "3"]
        content = measured(*arguments)
        text = list(csv.DictReader(io.StringIO(printed(*arguments, "--format", "csv")[1:])))[0]
        self.assertRegex(text["range of recall@1"], r"^0\.\d+ 0\.\d+$")
        self.assertEqual((content["deterministic"], {row["p"] for row in content["comparisons"]}), (False, {None}))
        self.assertRegex(printed(*arguments), r"\d \[\d.*\d\]")

    def test_at_most_seven_and_all_printed(self):
        arguments = ["-k", "1,2,3,4,5", *given(*cre.STRATEGIES, "own_pieces.half", "fixed:1000")]
        texts, shown = [note["text"] for note in measured(*arguments)["notes"]], " ".join(printed(*arguments).split())
        self.assertEqual([text in shown for text in texts], [True] * 7)

    def test_a_budget_for_all_is_saturated(self):
        data = on([("a", "aa ab "), ("b", "ba bb bc "), ("c", "ca ")], [(("a",), "aa")]) + ["-s", "para:1"]
        for budget in 5, 6:
            kinds = [note["kind"] for note in measured(*data, "--budget", str(budget))["notes"]]
            self.assertEqual("saturated" in kinds, budget == 6, kinds)

    def test_why_a_gold_is_unreached(self):
        """Longer than a chunk: if 60 % of each of its places is; of 20 characters 12 are enough."""
        for places, why in ((((0, 6, 26),), "1 cut by a boundary"), (((0, 6, 27),), "1 too long for a chunk"),
                            (((0, 0, 30), (0, 8, 16)), "1 cut by a boundary")):
            records = [cre.Record([], None, {Gold("g", "quote", places): set()})]
            run = cre.Run("fixed:12", "", [(0, 0, 12), (0, 12, 24), (0, 24, 30)], [1] * 3, 0, records)
            self.assertEqual(cre.unreached(run), why, places)
        for chunks, why in (run.chunks, "1 cut by a boundary or left out"), ([], "1 cut by a boundary or left out"):  # what else loses text
            self.assertEqual(cre.unreached(run._replace(strategy="m.f", chunks=chunks)), why)

    def test_the_end_of_a_document_is_no_cut(self):
        docs = [Document("a", "x y", ()), Document("b", "z", ())]
        counts = cre.levels(cre.Run("", "", [(0, 0, 2), (0, 2, 3), (1, 0, 1)], [], 0, []), docs)
        self.assertEqual({level: count for level, count in counts.items() if count}, {"space": 1})

    def test_what_the_step_after_the_elbow_pays(self):
        content = measured(*self.many(), *given("fixed:20", "para:45", "para:200"))
        (_, bend, step), (text,) = content["strategies"], [note["text"] for note in content["notes"] if note["kind"] == "elbow"]
        self.assertIn("pays %.1f tokens more for %+.3f:" % (step["tokens"] - bend["tokens"], step["recall@3"] - bend["recall@3"]), text)

    def test_what_varies_is_no_bargain(self):
        """BM25, but from the second round on the first two are swapped: recall@3 has the elbow, and is not to be trusted."""
        with open(os.path.join(FOLDER.name, "own_swap.py"), "w") as file:
            file.write("from chunking_retrieval_eval import BM25\nmade = []\nclass Swap(BM25):\n"
                       "    def __init__(self, texts):\n        super().__init__(texts)\n        made.append(texts)\n"
                       "    def topk(self, query, k):\n        found = super().topk(query, k)\n"
                       "        return found[1::-1] + found[2:] if len(made) > 3 else found\n")
        content = measured(*self.many(), *given("fixed:20", "para:45", "para:200"), "--retriever", "own_swap.Swap", "--rounds", "2")
        kinds = {note["kind"]: note["strategies"] for note in content["notes"]}
        self.assertEqual((content["elbow"], kinds["varies"], "elbow" in kinds), ("para:45", ["fixed:20", "para:45", "para:200"], False))

    def test_no_sixth_is_named(self):
        text, = [note["text"] for note in measured(*given("fixed:50,51,52,53,54,55,56,57"), "-k", "1")["notes"] if note["kind"] == "inseparable"]
        self.assertEqual(re.findall(r"fixed:\d+", text), ["fixed:%d" % size for size in range(50, 56)])  # the first is the baseline

class Retrievers(unittest.TestCase):
    def test_hybrid_is_reciprocal_rank_fusion(self):
        names = [word for name in ("bm25", "hash", "hybrid") for word in ("--retriever", name)]
        for spec in "fixed:8", "overlap:20/18":  # here 59 or 61 instead of 60 would show
            rows = measured(*names, "-s", spec, "-k", "200")["strategies"]
            for *two, fused in zip(*([[tuple(chunk) for chunk in query["top"]] for query in row["queries"]] for row in rows)):
                scores = {chunk: sum(1 / (61 + top.index(chunk)) for top in two if chunk in top[:50]) for chunk in sum(two, [])}
                best = sorted((chunk for chunk in scores if scores[chunk]), key=lambda chunk: (-round(scores[chunk], 9), chunk))
                self.assertEqual(fused, best)

    def test_hash_is_a_mock_that_finds_what_is_the_same(self):
        row, = measured(*on(WORDS, [((topic,), text) for topic, text in WORDS]), "--retriever", "hash", "-s", "fixed:5")["strategies"]
        self.assertEqual((row["rr"], row["recall@1"]), (1, 1))
        for name in "hash", "hybrid":
            self.assertIn("mock", printed("--retriever", name, "-s", "fixed:50"))
            self.assertIn("mock", measured("--retriever", name, "-s", "fixed:50")["strategies"][0]["retriever"])

    def test_hash_by_hand(self):
        """The cosine of counts: four bytes of each token's MD5 pick the places."""
        def vector(text):
            return Counter(byte % 128 for token in tokenize(text) for byte in hashlib.md5(token.encode()).digest()[:4])

        def dot(one, two):
            return sum(one[place] * two[place] for place in one)
        texts, query = ["red fox", "red red 缓存命中", "grey owl at night", "."], "red fox 缓存"
        index = cre.RETRIEVERS["hash"](texts, tokens=map(tokenize, texts))
        for text, score in zip(texts, index.scores(query)):
            lengths = dot(vector(text), vector(text)) * dot(vector(query), vector(query))
            self.assertAlmostEqual(score, dot(vector(text), vector(query)) / max(1, lengths) ** 0.5)

    def test_rounds_share_nothing(self):
        """Each round tokenizes as much as the first."""
        (docs, golds), calls, plain = load(CORPUS), [], cre.tokenize
        queries = [Query(text, tuple(golds[topic] for topic in topics)) for topics, text in QUERIES]
        with unittest.mock.patch.object(cre, "tokenize", lambda text: calls.append(text) or plain(text)):
            for rounds in (1, 2, 3):
                cre.sweep(["fixed:50", "para:90"], docs, queries, rounds=rounds)
                self.assertEqual(len(calls), rounds * (rounds + 1) // 2 * (len(calls) if rounds == 1 else first))
                first = len(calls) if rounds == 1 else first

    def test_the_same_whatever_the_hash_seed(self):
        command = [sys.executable, cre.__file__, "--retriever", "hash", "--retriever", "hybrid", "-s", "fixed:50", "--format", "json"]
        one, two = (subprocess.run(command, env=dict(os.environ, PYTHONHASHSEED=seed), stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, check=True).stdout for seed in "12")
        self.assertEqual(one, two)

    def test_a_ranker_rounds_to_nine_places(self):
        self.assertEqual(cre.ranker("", lambda query: [0.25, 0, 0.25 + 1e-12, 0.25 + 1e-8]).topk("", 4), [3, 0, 2])

    def test_progress(self):
        docs, golds = load(WORDS)
        calls, queries = [], [Query("aaaa", [golds["a"]])]
        cre.sweep(["fixed:5", "para:90"], docs, queries, rounds=2, progress=lambda *call: calls.append(call))
        self.assertEqual(calls, [(0, 4, "fixed:5"), (1, 4, "para:90"), (2, 4, "fixed:5"), (3, 4, "para:90")])

    def test_hash_of_many_tokens(self):
        """The cosine of sums of one-token vectors, which meet in 128 places."""
        places = [[byte % 128 for byte in hashlib.md5(b"w%d" % n).digest()[:4]] for n in range(60)]
        held, asked = (Counter(itertools.chain(*part)) for part in (places[:40], places[20:]))
        cosine = sum(held[n] * asked[n] for n in range(128)) / (sum(n * n for n in held.values()) * sum(n * n for n in asked.values())) ** 0.5
        texts = [words(0, 40)]
        self.assertAlmostEqual(cre.RETRIEVERS["hash"](texts, tokens=map(tokenize, texts)).scores(words(20, 60))[0], cosine)

FIGURES = set("""strategy retriever chunks recall@1 recall@3 single@3 multi@3 tokens sent longest rr ceiling@1 ceiling@3 chance@1
    chance@3 cut outranked char_recall char_precision char_iou evidence@3 complete@3 redundancy index_growth ci@1 ci@3""".split())

class Outputs(unittest.TestCase):
    def test_json_has_every_key(self):
        content = measured()
        for part, keys in [
                (content, "version tokenizer count k budget rounds deterministic corpus queries strategies comparisons frontier elbow notes"),
                (content["corpus"], "documents paragraphs topics characters sha256"), (content["queries"], "total single multi skipped sha256"),
                (content["strategies"][0], " ".join(FIGURES) + " queries"), (content["notes"][0], "kind strategies text"),
                (content["strategies"][0]["queries"][0], "query gold top answered@1 answered@3 missing tokens"),
                (content["comparisons"][0], "metric baseline strategy difference wins losses p p_holm")]:
            self.assertLessEqual(set(keys.split()), set(part))

    def test_markdown_and_csv(self):
        lines = groupby(printed("--format", "markdown").splitlines(), lambda line: line.startswith("|"))
        tables = [[[cell.strip() for cell in line.strip("|").split("|")] for line in rows] for piped, rows in lines if piped]
        for head, rule, *rows in tables:
            self.assertTrue(rows and {len(row) for row in [rule, *rows]} == {len(head)}, head)
            self.assertTrue(all(re.fullmatch(":?-+:?", cell) for cell in rule))
        self.assertLessEqual(FIGURES - {"retriever"}, {cell for head, *_ in tables for cell in head})
        text = printed("--format", "csv")
        rows = list(csv.DictReader(io.StringIO(text[1:])))
        self.assertEqual((text[0], [row["strategy"] for row in rows]), ("\ufeff", cre.STRATEGIES))
        for row, wanted in zip(rows, measured()["strategies"]):
            for key in FIGURES - {"ci@1", "ci@3", "strategy", "retriever"}:
                self.assertEqual(float(row[key]), wanted[key])
            self.assertLessEqual(FIGURES, set(row))
            self.assertEqual(row["frontier"], str(wanted["strategy"] in measured()["frontier"]))
        for row in measured()["comparisons"]:
            line = next(line for line in rows if line["strategy"] == row["strategy"])
            for key in "difference", "p", "p_holm":
                self.assertEqual(float(line["%s of %s" % (key, row["metric"])]), row[key])
            for key in "wins", "losses":
                self.assertEqual(line["%s of %s" % (key, row["metric"])], " ".join(map(str, row[key])))

    def check_trec(self, *arguments):
        """RR@10, worked from the files, is rr. Returns the lines of the run and of the qrels."""
        target = tempfile.mkdtemp(dir=FOLDER.name)
        row, = measured(*arguments, "--trec", target)["strategies"]
        ran, known = ([line.split() for line in cre.read_text(os.path.join(target, name)).splitlines()]
                      for name in sorted(os.listdir(target), reverse=True))
        relevant, total = {(query, document) for query, _, document, grade in known if int(grade)}, 0
        self.assertEqual(list(dict.fromkeys(line[0] for line in known)), [str(n + 1) for n in range(len(row["queries"]))])
        for query in {line[0] for line in known}:
            ranked = sorted((line for line in ran if line[0] == query), key=lambda line: -float(line[4]))
            self.assertEqual([line[3] for line in ranked], [str(n + 1) for n in range(len(ranked))])
            self.assertEqual({len({line[at] for line in ranked}) for at in (2, 4)}, {len(ranked)}, "a chunk or a score stands twice")
            total += next((1 / n for n, line in enumerate(ranked[:10], 1) if (query, line[2]) in relevant), 0)
        self.assertAlmostEqual(row["rr"], total / len(row["queries"]))
        return ran, known

    def test_trec(self):
        for spec, retriever in product(("fixed:50", "parent:30/90", "fixed:20"), ("bm25", "hash")):
            ran, known = self.check_trec("-s", spec, "--retriever", retriever)
        self.assertIn("0", {line[3] for line in known})  # a query that no chunk of fixed:20 can answer
        self.assertGreaterEqual(max(int(line[3]) for line in ran), 10)
        self.check_trec(*on(WORDS, [(("b",), "zzz"), (("c",), "cccc")]), "-s", "fixed:5")  # nothing is found

    def test_trec_of_a_slice_retrieved_twice(self):
        self.check_trec(*on(WORDS, [(("b",), "bbbb"), (("c",), "cccc")]), "-s", "fixed:5", *TWICE)

    def test_plot(self):
        path, svg = os.path.join(FOLDER.name, "plot.svg"), "{http://www.w3.org/2000/svg}"
        text = "".join(text for _, text in CORPUS)
        quotes = on(CORPUS, [((text[at:at + 25],), text[at + 4:at + 10]) for at in range(0, 912, 12)])
        crowd, thirty = (given("overlap:%s/0,10%%,20%%,30%%,40%%" % sizes) for sizes in ("50,52,54,56,58,60", "20,40,60,80,100,140"))
        for arguments in [], thirty, quotes + crowd, quotes + thirty + ["--budget", "200"]:
            content, boxes = measured(*arguments, "--plot", path), []
            root = ElementTree.parse(path).getroot()
            for text in root.iter(svg + "text"):  # letters of 12 pixels, some 6 wide
                words, x, y = "".join(text.itertext()), float(text.get("x")), float(text.get("y"))
                left = x - {"middle": 3, "end": 6}.get(text.get("text-anchor"), 0) * len(words)
                boxes.append((left, y - 9, left + 6 * len(words), y + 2, words))
                self.assertTrue(0 <= left and boxes[-1][2] <= 720 and 9 <= y <= 438, words)
            for a, b in combinations(boxes, 2):
                self.assertTrue(a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3], (a, b))
            first = [words.split(" ")[0] for *_, words in boxes]
            self.assertEqual([label for label in content["frontier"] if label not in first], [])
            self.assertEqual([label for label, box in zip(first, boxes) if "elbow" in box[4]], [content["elbow"]] * bool(content["elbow"]))
            titles = [title.text for title in root.iter(svg + "title")]
            self.assertEqual({sum(title.startswith(row["strategy"] + ":") for title in titles) for row in content["strategies"]}, {1})

    def test_help_shows_three_examples(self):
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as end:
            cre.main(["--help"])
        examples = [shlex.split(line)[2:] for line in out.getvalue().splitlines() if line.startswith("  python ")]
        self.assertEqual((len(examples), end.exception.code), (3, 0))
        self.assertTrue(printed(*examples[0]) and printed(*examples[2]))

    def test_jobs_leave_other_processes_alone(self):
        other = multiprocessing.get_context("fork" if "fork" in multiprocessing.get_all_start_methods() else None).Process(
            target=time.sleep, args=(60,))
        other.start()
        printed("-s", "fixed:50", "--jobs", "2")
        alive = other.is_alive()
        other.terminate()
        other.join()
        self.assertTrue(alive)

    def test_runs_that_agree_are_kept_once(self):
        docs, golds = load(CORPUS)
        rounds, = cre.sweep(["fixed:50"], docs, [Query("缓存", tuple(golds.values())[:1])])
        self.assertEqual((len(rounds), len(set(map(id, rounds)))), (3, 1))

    def test_explain_of_a_slice_retrieved_twice(self):
        out = printed(*on(WORDS, [(("b",), "bbbb")]), "-s", "fixed:5", *TWICE, "--explain")
        self.assertEqual([line[-8:] for line in out.splitlines() if re.match(r" +\d\. ", line)], [" 1 token", " 1 token", 'vers "b"'])

    def test_a_process_that_ends_early(self):
        path = os.path.join(FOLDER.name, "dying.py")
        with open(path, "w") as file:
            file.write("import os\ndef split(text): os._exit(3)\n")
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            self.assertEqual(cre.main(["-s", "dying.split", "--jobs", "2"]), 2)
        self.assertRegex(err.getvalue(), r"(?m)\Achunking_retrieval_eval .*\nerror: --jobs 2: .* \(.+\)\n\Z")

    def test_jobs_change_nothing(self):
        arguments = ["--format", "json", *given("fixed:50", "overlap:50/15", "parent:50/180")]
        self.assertEqual(printed(*arguments, "--jobs", "2"), printed(*arguments))

    def test_explain(self):
        for k, spec in product("13", ("fixed:50", "para:90")):
            pages, third = (re.split(r"(?m)^(?=query \d+: )", printed("-k", k, "-s", spec, "--explain", *more).rstrip("\n") + "\n\n")[1:]
                            for more in ([], ["3"]))
            self.assertEqual((len(pages), third), (len(QUERIES), pages[2:3]))
            truth, verdicts, (row, deep) = Truth({"corpus": CORPUS}, QUERIES, spec), [], (
                measured("-s", spec, "-k", depth)["strategies"][0] for depth in (k, "99"))
            for number, (page, query) in enumerate(zip(pages, row["queries"])):
                golds, masks, part = truth.golds[number], truth.masks[number], page[page.index(spec + ":"):]
                verdicts += re.findall(r"answered|cut|outranked", part.splitlines()[0])
                self.assertEqual(verdicts[number:], [
                    "answered" if query["answered@" + k] else "outranked" if truth.draws(number, int(k)) else "cut"])
                sent = re.findall(r"(?m)^ +(\d+)\. corpus (\d+)-(\d+).*?(\d+) tokens(.*)$", part)
                self.assertEqual([(*map(int, line[:4]), [gold in line[4] for gold in golds]) for line in sent], [
                    (rank, *chunk[1:], len(truth.tokens(chunk)), [bool(masks[tuple(chunk)] >> bit & 1) for bit in range(len(golds))])
                    for rank, chunk in enumerate(query["top"], 1)])
                lost = [line for line in part.splitlines() if line.strip().startswith("missing")]
                self.assertEqual(len(lost), len(query["missing"]))
                for gold, line in zip(query["missing"], lost):  # its name, and the rank of the first chunk that covers it
                    ranks = [rank for rank, chunk in enumerate(deep["queries"][number]["top"], 1) if truth.covers(tuple(chunk), gold)]
                    self.assertTrue(gold in line and (not ranks or re.findall(r"\d+", line)[-1] == str(ranks[0])), line)
            self.assertEqual([verdicts.count(word) for word in ("cut", "outranked")], [row["cut"], row["outranked"]])

    def test_shape_of_figures(self):
        self.assertEqual([cre.cell(*item) for item in (("sent", 2.0), ("tokens@3", 12.25), ("rr", 0.5), ("cut", 2), ("multi@3", None))],
                         ["2.0", "12.2", "0.500", "2", "-"])

    def test_tables_say_what_the_json_says(self):
        arguments, rows = given("fixed:50,60,70,80", "para:90", "recursive:60"), []
        for piped, lines in groupby(printed("--format", "markdown", *arguments).splitlines(), lambda line: line.startswith("|")):
            head, *body = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines] if piped else [()]
            rows += [dict(zip(head, line)) for line in body[1:]]
        content = measured(*arguments)
        self.assertEqual([row["strategy"] for row in rows if row.get("frontier") == "*"],
                         [row["strategy"] for row in content["strategies"] if row["strategy"] in content["frontier"]])
        self.assertEqual([[row[key] for key in ("against fixed:50", "metric", "difference", "won", "lost")] for row in rows if "won" in row], [
            [row["strategy"], row["metric"], "%+.3f" % row["difference"], *(" ".join(map(str, row[key])) or "-" for key in ("wins", "losses"))]
            for row in content["comparisons"]])
        cuts, = [[int(row.pop(key)) for key in list(row)[1:]] for row in rows if row.get("cuts after") == "recursive:60"]
        self.assertEqual((len(cuts), sum(cuts)), (6, content["strategies"][-1]["chunks"] - 1))

    def test_what_stands_above_the_table(self):
        out = " ".join(printed("--budget", "60").split())
        for line in "bm25(k1=1.5, b=0.75), as many chunks as fit in 60 tokens", "rounds 1, so nothing says whether it varies":
            self.assertIn(line, out)

    def test_detail_has_the_tokens_of_each_k(self):
        self.assertLessEqual({"tokens@1", "tokens@3"}, set(printed("--detail").split()))

    def test_intervals_in_csv(self):
        rows = csv.DictReader(io.StringIO(printed("--format", "csv")[1:]))
        self.assertEqual([list(map(float, row["ci@3"].split())) for row in rows], [row["ci@3"] for row in measured()["strategies"]])

    def test_csv_has_plain_line_ends(self):
        self.assertEqual(printed("--format", "csv").count("\r"), 0)

    def test_tokens_by_query(self):
        for row in measured()["strategies"]:
            self.assertAlmostEqual(sum(query["tokens"] for query in row["queries"]) / len(QUERIES), row["tokens"])

    def test_json_is_not_escaped(self):
        self.assertIn('"query": "%s"' % QUERIES[0][1], printed("--format", "json"))

    def test_trec_by_hand(self):
        data, folder = on({"D": [("a", "aaaa "), ("b", "bbbb ")], "E": [("c", "cccc ")]}, [(("a", "b", "c"), "cccc")]), tempfile.mkdtemp(dir=FOLDER.name)
        printed(*data, "-s", "fixed:99", "--retriever", "bm25", "--retriever", "hash", "--trec", folder)
        self.assertEqual(sorted(os.listdir(folder)), ["fixed-99-%s" % end for end in ("bm25.qrels", "bm25.run", "hash.qrels", "hash.run")])
        self.assertEqual([cre.read_text(os.path.join(folder, "fixed-99-bm25." + end)) for end in ("run", "qrels")],
                         ["1 Q0 1:0-5 1 -1 fixed-99-bm25\n", "1 0 0:0-10 2\n1 0 1:0-5 1\n"])

    def test_plot_of_a_name_with_signs(self):
        def look(module):
            with open("p.svg", encoding="utf-8") as file:
                texts = ["".join(text.itertext()) for text in ElementTree.parse(file).iter() if text.tag.endswith(("}text", "}title"))]
            self.assertEqual([module.__name__ + ".a<b&c" in text for text in texts].count(True), 2, texts)  # the point's and the label
        status, _, err = run(dict(GOOD, **{"{m}.py": "globals()['a<b&c'] = lambda text: [text]"}), DATA + "-s {m}.a<b&c --plot p.svg", look=look)
        self.assertEqual((status, err), (0, []))

    def test_help_and_version(self):
        for option, parts in (("--help", ["examples: ", "--explain 3", "overlap:50/15, overlap:300/15%;", "fixed:50,100 is two"]),
                              ("--version", [cre.VERSION + " "])):
            with redirect_stdout(io.StringIO()) as out, self.assertRaises(SystemExit) as end:
                cre.main([option])
            text = " ".join(out.getvalue().split()) + " "
            self.assertEqual((end.exception.code, [part for part in parts if part not in text]), (0, []), text)

    def test_jobs_run_elsewhere_and_take_all_options(self):
        with open(os.path.join(FOLDER.name, "own_count.py"), "w") as file:
            file.write("letters = len")
        arguments = ["--budget", "100", "--context", "--explain", "3", "--count", "own_count.letters", *given("fixed:50", "para:90")]
        with unittest.mock.patch.object(cre, "in_processes", side_effect=cre.in_processes) as used:
            self.assertEqual(printed(*arguments), printed(*arguments, "--jobs", "2"))
        self.assertEqual([call[0][0] for call in used.call_args_list], [2])

    def test_progress_on_a_terminal(self):
        for term, shown in (("xterm", "\r%-58s\r%-58s\r" % ("0 of 2 done, next a", "")), ("dumb", "")):
            stream = io.StringIO()
            stream.isatty = lambda: True
            with unittest.mock.patch.dict(os.environ, TERM=term), redirect_stderr(stream):
                cre.progress(0, 2, "a")
                cre.progress(1, 2, "b")
            self.assertEqual(stream.getvalue(), shown)

    def test_detail_adds_to_the_tables_alone(self):
        self.assertEqual(len(re.findall(r"(?m)^strategy +chunks ", printed("--detail"))), 1)
        for name in "csv", "json":
            self.assertEqual(printed("--format", name, "--detail"), printed("--format", name))

    def test_jobs_end_when_interrupted(self):
        """The processes are ended, not waited for."""
        with open(os.path.join(FOLDER.name, "own_slow.py"), "w") as file:
            file.write("import time\ndef f(text):\n    time.sleep(20 * bool(text))\n    return [text]\n")
        docs, golds = load(WORDS)
        start = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            cre.in_processes(1, ["own_slow.f"], docs, [Query("aaaa", [golds["a"]])], rounds=1,
                             progress=unittest.mock.Mock(side_effect=KeyboardInterrupt))
        self.assertLess(time.monotonic() - start, 10)

    def test_explain_ranks_every_chunk(self):
        data = on([("t%d" % n, "w%03d " % n) for n in range(12)], [(("t11",), "x")])
        self.assertIn("; the chunk that covers it is ranked 12\n", printed(*data, *ORDER, "-s", "fixed:5", "--explain"))

# ======================== what is published ==================================
class Published(unittest.TestCase):
    """Figures in README, the data files, the transcript and the picture come from a run."""
    with open(os.path.join(HERE, "README.md"), encoding="utf-8", newline="") as file:
        README = file.read()
    RUN = json.loads(run({}, "--format json")[1])
    SHARED = os.path.join(HERE, "..", "shared", "data")

    def test_transcript(self):
        with open(os.path.join(HERE, "transcript.txt"), "rb") as file:
            transcript = file.read()
        self.assertEqual(transcript, Transcript.bare)
        self.assertLessEqual(max(map(len, transcript.decode("utf-8").splitlines())), 80)
        self.assertIn("$ python chunking_retrieval_eval.py\n%s```" % transcript.decode("utf-8"), self.README)
        self.assertIn("```console\npython test_eval.py\n```", self.README)

    def test_part_1_alone(self):
        """Part 1 in a file of its own, under the data and over one call, prints the five rows; it has at most 220 lines."""
        with open(SCRIPT, encoding="utf-8") as file:
            lines = file.read().split("\n")
        first, last = (next(n for n, line in enumerate(lines) if line.startswith("# =") and part in line)
                       for part in ("Part 1:", "Part 2:"))
        self.assertLessEqual(last - first, 220)
        source = "CORPUS = %r\nQUERIES = %r\n%s\nreport(CORPUS, QUERIES)\n" % (CORPUS, QUERIES, "\n".join(lines[first:last]))
        with redirect_stdout(io.StringIO()) as out:
            exec(compile(source, "pasted.py", "exec"), {"__name__": "pasted"})
        self.assertEqual(len(out.getvalue().splitlines()), 6)
        self.assertIn(out.getvalue(), Transcript.bare.decode("utf-8"))

    def test_sizes_of_the_article(self):
        """Design, section 4: the sizes that the article's table fixes."""
        chunks = {row["strategy"]: row["chunks"] for row in self.RUN["strategies"]}
        self.assertEqual([chunks[name] for name in ("fixed:50", "overlap:50/15", "fixed:500")], [20, 28, 2])
        self.assertTrue(14 <= chunks["para:90"] <= 16 and 6 <= chunks["para:180"] <= 7, chunks)
        text = "".join(paragraph for _, paragraph in CORPUS)
        self.assertTrue(961 <= len(text) <= 980)
        self.assertTrue(0.95 * 748 <= sum(len(tokenize(text[a:b])) for a, b in chunk_fixed(text, 500)) <= 1.05 * 748)
        topics = Counter(topic for topic, _ in CORPUS)
        self.assertEqual((len(CORPUS), set(topics.values()), len(topics)), (21, {3}, 7))
        for topic in ("KV 缓存", "前缀缓存", "语义缓存"):
            self.assertTrue(all("缓存" in paragraph for name, paragraph in CORPUS if name == topic))
        self.assertEqual(Counter(len(golds) for golds, _ in QUERIES), {1: 8, 2: 6})

    def test_comments_of_the_data_files(self):
        counts = {"corpus.py": [21, 7, 3, len("".join(paragraph for _, paragraph in CORPUS))], "queries.py": [14, 8, 6]}
        for name, wanted in counts.items():
            with open(os.path.join(HERE, name), encoding="utf-8") as file:
                self.assertEqual(list(map(int, re.findall(r"\d+", file.readline()))), wanted)

    def test_readme_on_the_article(self):
        for row in self.RUN["strategies"]:
            self.assertIn("| %s | %d | %.3f | %.3f | %.1f |" % (
                row["strategy"], row["chunks"], row["recall@1"], row["recall@3"], row["tokens"]), self.README)
        least = min(row["p_holm"] for row in self.RUN["comparisons"])
        self.assertGreaterEqual(least, 0.05)  # none of the differences: README says so
        self.assertEqual(self.README.count("p = %.2f" % least), 3)  # in the output, in English and in Chinese
        for figure in ("%d characters" % self.RUN["corpus"]["characters"], "3 of its 7 chunks drawn at random reach %.3f" % next(
                row["chance@3"] for row in self.RUN["strategies"] if row["strategy"] == "para:180")):
            self.assertIn(figure, " ".join(self.README.split()))

    def test_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.svg")
            self.assertEqual(run({}, ["--plot", path])[0], 0)
            with open(path, "rb") as new, open(os.path.join(HERE, ".github", "cost-recall.svg"), "rb") as kept:
                self.assertEqual(new.read(), kept.read())

    @unittest.skipUnless(os.path.isdir(SHARED), "the public data are not here")
    def test_readme_on_public_data(self):
        back = os.getcwd()
        try:
            os.chdir(self.SHARED)
            for row in measured(*"--corpus chroma/corpora --queries chroma/questions_df.csv -k 5 -s fixed:400,800,1600".split(),
                                *"-s overlap:800/400".split())["strategies"]:
                self.assertIn("| %s | %s | %.3f | %.3f | %.3f |" % tuple(row[key] for key in (
                    "strategy", "retriever", "char_recall", "char_precision", "char_iou")), self.README)
            for budget in (200, 400, 800):
                rows = measured("--squad", "cmrc2018/cmrc2018_trial.json", *"-s fixed:50,100,200,500 --budget".split(), str(budget))
                self.assertIn("| %d | %s |" % (budget, " | ".join("%.3f" % row["recall@%dt" % budget] for row in rows["strategies"])),
                              self.README)
            rows = measured("--squad", "cmrc2018/cmrc2018_trial.json", "-s", "sentence:150,300,600/0")["strategies"]
            self.assertIn("recall@3 with BM25 is %.3f, %.3f, %.3f for" % tuple(row["recall@3"] for row in rows), self.README)
        finally:
            os.chdir(back)

if __name__ == "__main__":
    unittest.main()
