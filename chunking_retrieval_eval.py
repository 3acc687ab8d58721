#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# /// script
# requires-python = ">=3.8"
# dependencies = []
# ///
"""What does a way of cutting text into chunks buy, and what does it cost?

Part 1 is the benchmark: a tokenizer, BM25, three chunking functions, the judge
and five rows. It runs alone: paste it under a CORPUS and QUERIES, then call
report(CORPUS, QUERIES). Part 2 is the workbench around it: own data, more ways
to chunk and to retrieve, diagnosis, statistics, exports, the command line.
"""
# ======================== Part 1: the benchmark =============================
import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict, namedtuple
from functools import lru_cache
from heapq import nlargest, nsmallest
from itertools import accumulate
from math import log
from unicodedata import category, name, normalize

STRATEGIES = ["fixed:50", "overlap:50/15", "para:90", "para:180", "fixed:500"]
COVERED = 60  # per cent of a gold that a chunk must hold to cover it
# A slice is (start, end) in characters. A place and a chunk are (document number, start, end).
Document = namedtuple("Document", "name text paragraphs headings", defaults=[()])
Gold = namedtuple("Gold", "name rule places")  # to be covered at any one of its places
Query = namedtuple("Query", "text golds")
Record = namedtuple("Record", "ranked covers")  # chunk numbers, best first; the chunks that cover each gold
Run = namedtuple("Run", "strategy retriever chunks tokens indexed records")

# ---- tokenizer: words, and bigrams where words are not set apart -----------
UNSPACED = set("CJK IDEOGRAPHIC HANGZHOU HIRAGANA KATAKANA KATAKANA-HIRAGANA HENTAIGANA "
               "HANGUL THAI LAO KHMER MYANMAR".split())  # as the names of characters begin
RUNS = re.compile("(w)[wm]*|u[um]*")

@lru_cache(None)
def kind(character):
    """What a character is: "w" of words, "u" of a script without spaces, "m" a mark, or " "."""
    major = category(character)[0]
    unspaced = name(character, "").partition(" ")[0] in UNSPACED
    return "m" if major == "M" else " " if major not in "LN" else "u" if unspaced else "w"

def tokenize(text):
    """Words of scripts that use spaces, character bigrams of scripts that do not."""
    text, tokens = normalize("NFKC", text).casefold(), []
    for run in RUNS.finditer("".join(map(kind, text))):
        piece = text[run.start():run.end()]
        tokens += [piece] if run.lastindex or len(piece) == 1 else map("".join, zip(piece, piece[1:]))
    return tokens

# ---- retriever: which texts match a query best -----------------------------
class BM25:
    """An inverted index; ties go to the earlier text, and a text that scores 0 is not found."""
    def __init__(self, texts, k1=1.5, b=0.75, tokens=None):
        self.k1, self.b, self.known = k1, b, {}
        self.postings = defaultdict(list)  # token -> the number of its text, once an occurrence
        lengths = []
        for number, words in enumerate(map(tokenize, texts) if tokens is None else tokens):
            lengths.append(len(words))
            for token in words:
                self.postings[token].append(number)
        average = sum(lengths) / max(len(lengths), 1) or 1
        self.norms = [k1 * (1 - b + b * length / average) for length in lengths]

    def __repr__(self):
        return "bm25(k1=%g, b=%g)" % (self.k1, self.b)

    def weigh(self, token, times):
        """What a query's token adds to the scores: the most, and {text number: how much}."""
        if (token, times) not in self.known:
            counts = Counter(self.postings.get(token, ()))
            idf = log(1 + (len(self.norms) - len(counts) + 0.5) / (len(counts) + 0.5))
            added = {text: times * idf * tf * (self.k1 + 1) / (tf + self.norms[text]) for text, tf in counts.items()}
            self.known[token, times] = max(added.values(), default=0), added
        return self.known[token, times]

    def best(self, query, k):
        """(-score, text number) of the k best texts; one that can no longer get there is not scored on."""
        terms = sorted((self.weigh(*item) for item in Counter(tokenize(query)).items()), key=lambda term: -term[0])
        rest, enough, scores = sum(most for most, _ in terms), 0, {}
        for most, added in terms:
            for text in scores if enough > rest else added:
                scores[text] = scores.get(text, 0) + added.get(text, 0)
            rest -= most
            enough = min(nlargest(k, scores.values())) - 1e-6 if len(scores) >= k > 0 else 0
            if enough > rest:
                scores = {text: score for text, score in scores.items() if score + rest > enough}
        return nsmallest(k, ((-round(score, 9), text) for text, score in scores.items() if round(score, 9)))

    def scores(self, query):
        """The score of every text."""
        scores = {text: -score for score, text in self.best(query, len(self.norms))}
        return [scores.get(text, 0.0) for text in range(len(self.norms))]

    def topk(self, query, k):
        """The numbers of the k best texts, best first."""
        return [text for _, text in self.best(query, k)]

# ---- chunkers: from a document to slices of it -----------------------------
def chunk_overlap(text, size, overlap):
    """Windows of `size` characters that share `overlap`, up to the one that reaches the end."""
    if not 0 <= overlap < size:
        raise ValueError("size %d, overlap %d (an overlap from 0 to under the size)" % (size, overlap))
    starts = range(0, max(len(text) - overlap, 1), size - overlap)
    return [(i, min(i + size, len(text))) for i in starts if text[i:i + size].strip()]

def chunk_fixed(text, size):
    """Every `size` characters, no overlap."""
    return chunk_overlap(text, size, 0)

def chunk_para(paragraphs, limit):
    """Whole paragraphs, joined while they fit in `limit` characters; a longer one stays whole."""
    chunks = []
    for start, end in paragraphs:
        if chunks and end - chunks[-1][0] <= limit:
            start = chunks.pop()[0]
        chunks.append((start, end))
    return chunks

def characters(number, size):
    """The second number of a strategy: "45", or "15%" of the first, rounded down."""
    return size * int(number[:-1]) // 100 if number.endswith("%") else int(number)

CHUNKERS = {"fixed": lambda text, paragraphs, size: chunk_fixed(text, int(size)),
            "overlap": lambda text, paragraphs, size, second: chunk_overlap(text, int(size), characters(second, int(size))),
            "para": lambda text, paragraphs, limit: chunk_para(paragraphs, int(limit))}

def chunk(spec, text, paragraphs=None):
    """The slices that a strategy such as "overlap:50/15" makes of one document."""
    chunker, *numbers = re.split("[:/]", spec)
    return CHUNKERS[chunker](text, paragraphs, *numbers)

# ---- judge: which chunks cover a gold --------------------------------------
def holding(wanted, holders):
    """The chunks that hold at least 60 % of the `wanted` tokens; holders: token -> its chunks."""
    rarest = sorted(wanted, key=lambda token: (len(holders[token]), token))
    need = -(-len(rarest) * COVERED // 100)
    first = len(rarest) - need + 1  # a chunk without any of these lacks too many
    counts = Counter(number for token in rarest[:first] for number in holders[token])
    for left, token in zip(range(need - 1, 0, -1), rarest[first:]):
        counts = {number: n + (number in holders[token]) for number, n in counts.items() if n + left >= need}
    return [number for number, n in counts.items() if n >= need]

def by_wording(golds, docs, chunks, tokens):
    """{gold: the chunks that hold enough of one of its paragraphs}; tokens: text -> its tokens."""
    holders = defaultdict(set)
    for number, (document, start, end) in enumerate(chunks if golds else ()):
        for token in set(tokens(docs[document].text[start:end])):
            holders[token].add(number)
    return {gold: {number for document, start, end in gold.places
                   for number in holding(set(tokens(docs[document].text[start:end])), holders)} for gold in golds}

# ---- one strategy, one round -----------------------------------------------
RETRIEVERS = {"bm25": BM25}
RULES = {"wording": by_wording}

def evaluate(strategy, docs, queries, depth=10, budget=0, retriever="bm25", tokens=tokenize, count=None, lead=None):
    """Chunk, tokenize, index, retrieve, judge. lead: what is put before a chunk, count: what its text costs."""
    def text(document, start, end):
        return (lead(docs[document], start) if lead else "") + docs[document].text[start:end]

    tokens = lru_cache(None)(tokens)
    pieces = [(number, *piece) for number, doc in enumerate(docs) for piece in chunk(strategy, doc.text, doc.paragraphs)]
    sends = [piece[:1] + piece[-2:] for piece in pieces]  # a slice that stands for another names it after its own
    chunks = list(dict.fromkeys(sends))
    owner = list(map({place: number for number, place in enumerate(chunks)}.get, sends))
    each = max(Counter(owner).values(), default=1)  # among n * each slices there are n chunks
    texts = [text(*piece[:3]) for piece in pieces]
    index = RETRIEVERS[retriever](texts, tokens=map(tokens, texts))
    costs = [count(text(*place)) if count else len(tokens(text(*place))) for place in chunks]
    depth = max(depth, sum(total <= budget for total in accumulate(sorted(costs))))
    golds, covers = {gold for query in queries for gold in query.golds}, {}
    for rule, judge in RULES.items():
        covers.update(judge([gold for gold in golds if gold.rule == rule], docs, chunks, tokens))
    records = []
    for query in queries:
        found = [owner[number] for number in index.topk(query.text, depth * each)]
        ranked = list(dict.fromkeys(found))[:depth] if each > 1 else found
        records.append(Record(ranked, [covers[gold] for gold in query.golds]))
    return Run(strategy, repr(index), chunks, costs, sum(map(len, texts)), records)

# ---- report: five rows -----------------------------------------------------
def load(corpus, queries):
    """CORPUS and QUERIES as documents and queries; a list is one document, its paragraphs joined."""
    docs, places = [], defaultdict(list)
    for title, pairs in (corpus if isinstance(corpus, dict) else {"corpus": corpus}).items():
        ends = list(accumulate(len(paragraph) for _, paragraph in pairs))
        slices = list(zip([0] + ends, ends))
        for (topic, _), (start, end) in zip(pairs, slices):
            places[topic].append((len(docs), start, end))
        docs.append(Document(title, "".join(paragraph for _, paragraph in pairs), slices))
    golds = {topic: Gold(topic, "wording", tuple(places[topic])) for topic in places}
    return docs, [Query(text, tuple(golds[topic] for topic in topics)) for topics, text in queries]

def sent(run, record, k):
    """The chunks that a query sends: the first k, or those that a budget of tokens, "350t", pays for."""
    totals = accumulate(run.tokens[number] for number in record.ranked)
    return record.ranked[:k if isinstance(k, int) else sum(total <= int(k[:-1]) for total in totals)]

def answered(record, chunks):
    """Whether every gold of the query is covered by one of these chunks."""
    return all(not covering.isdisjoint(chunks) for covering in record.covers)

def mean(values):
    """The mean, or None of nothing."""
    values = list(values)
    return sum(values) / len(values) if values else None

def measure(run, k):
    """One row: recall@1, recall@k, the same by hops, and the tokens that a query sends."""
    def recall(k, records=run.records):
        return mean(answered(record, sent(run, record, k)) for record in records)
    return {"strategy": run.strategy, "chunks": len(run.chunks), "recall@1": recall(1), "recall@%s" % k: recall(k),
            "single@%s" % k: recall(k, [record for record in run.records if len(record.covers) == 1]),
            "multi@%s" % k: recall(k, [record for record in run.records if len(record.covers) > 1]),
            "tokens": mean(sum(run.tokens[number] for number in sent(run, record, k)) for record in run.records)}

def table(rows):
    """Rows {name: value} as aligned lines under their names."""
    def cell(key, value):
        shape = "%s" if not isinstance(value, float) else "%.1f" if key.startswith("tokens") else "%.3f"
        return "-" if value is None else shape % value
    lines = [list(rows[0])] + [[cell(*item) for item in row.items()] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join("  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines)

def report(corpus, queries, k=3):
    """Print the five rows."""
    docs, queries = load(corpus, queries)
    print(table([measure(evaluate(strategy, docs, queries), k) for strategy in STRATEGIES]))

# ======================== Part 2: the workbench =============================
def by_position(golds, docs, chunks, tokens):
    """{gold: the chunks that hold enough of one of its places}: of a quote, or of the shorter of section and chunk."""
    reach = list(accumulate(((document, end) for document, _, end in chunks), max))
    covers = {gold: set() for gold in golds}
    for gold in golds:
        for document, start, end in gold.places:
            for number in range(bisect_right(reach, (document, start)), bisect_left(chunks, (document, end))):
                _, left, right = chunks[number]
                whole = end - start if gold.rule == "quote" else min(end - start, right - left)
                if 100 * (min(end, right) - max(start, left)) >= COVERED * whole:
                    covers[gold].add(number)
    return covers

RULES.update(quote=by_position, section=by_position)
