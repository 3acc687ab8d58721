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
Record = namedtuple("Record", "ranked scores covers")  # chunk numbers, best first; their scores; what covers each gold
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

CHUNKERS = {"fixed": lambda doc, size: chunk_fixed(doc.text, int(size)),
            "overlap": lambda doc, size, second: chunk_overlap(doc.text, int(size), characters(second, int(size))),
            "para": lambda doc, limit: chunk_para(doc.paragraphs, int(limit))}

def slices(strategy, doc):
    """What a strategy such as "overlap:50/15" cuts a document into; a slice that stands for another names it too."""
    chunker, *numbers = re.split("[:/]", strategy)
    return CHUNKERS[chunker](doc, *numbers)

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

def evaluate(strategy, docs, queries, depth=10, budget=0, retriever="bm25", tokens=tokenize,
             count=None, lead=None, scored=False):
    """Chunk, tokenize, index, retrieve, judge. lead: what is put before a chunk, count: what its text costs."""
    def text(document, start, end):
        return (lead(docs[document], start) if lead else "") + docs[document].text[start:end]

    tokens = lru_cache(None)(tokens)
    pieces = [(number, *piece) for number, doc in enumerate(docs) for piece in slices(strategy, doc)]
    sends = [piece[:1] + piece[-2:] for piece in pieces]  # the slice itself, or the one that it stands for
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
        found = index.topk(query.text, depth * each)
        scores = index.scores(query.text) if scored and hasattr(index, "scores") else None
        ranked = [owner[number] for number in found]
        ranked = list(dict.fromkeys(ranked))[:depth] if each > 1 else ranked
        scores = scores and {owner[number]: scores[number] for number in reversed(found)}
        records.append(Record(ranked, scores, [covers[gold] for gold in query.golds]))
    return Run(strategy, repr(index), chunks, costs, sum(map(len, texts)), records)

# ---- report: five rows -----------------------------------------------------
def load(corpus):
    """The documents of CORPUS and the gold of each topic; a list is one document, its paragraphs joined."""
    docs, places = [], defaultdict(list)
    for title, pairs in (corpus if isinstance(corpus, dict) else {"corpus": corpus}).items():
        ends = list(accumulate(len(paragraph) for _, paragraph in pairs))
        slices = list(zip([0] + ends, ends))
        for (topic, _), (start, end) in zip(pairs, slices):
            places[topic].append((len(docs), start, end))
        docs.append(Document(title, "".join(paragraph for _, paragraph in pairs), slices))
    return docs, {topic: Gold(topic, "wording", tuple(places[topic])) for topic in places}

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
    docs, golds = load(corpus)
    queries = [Query(text, [golds[topic] for topic in topics]) for topics, text in queries]
    print(table([measure(evaluate(strategy, docs, queries), k) for strategy in STRATEGIES]))

# ======================== Part 2: the workbench =============================
import os
import sys
from bisect import bisect_left, bisect_right
from functools import partial
from itertools import chain, groupby, product
from math import comb, sqrt

VERSION = "1.0.0"

class Fault(Exception):
    """What is wrong with data or arguments, in one line: where, what, and what would be right."""

def fault(where, what, *values):
    """Raise a Fault that says "where: what", the values put into the %s of `what`."""
    raise Fault("%s: %s" % (where, what % values if values else what))

def warn(what, *values):
    """Say on standard error what is odd, but usable, in the data."""
    print("warning: " + what % values, file=sys.stderr)

def quoted(text, width=60):
    """A text in quotes on one line, the middle left out of a long one."""
    text = " ".join(text.split())
    return '"%s"' % (text if len(text) <= width else text[:width * 2 // 3] + " ... " + text[-width // 3:])

def nearest(name, names):
    """'; the nearest is "..."' for a name that is not among `names`, or nothing where none is near."""
    from difflib import get_close_matches
    folded = {other.casefold(): other for other in names}
    found = get_close_matches(name.casefold(), folded, 1, 0.5)
    return '; the nearest is "%s"' % folded[found[0]] if found else ""

# ---- reading: files as they are --------------------------------------------
def read_text(path):
    """The text of a file in UTF-8, its byte order mark dropped. A Fault names a wrong byte and its line."""
    try:
        with open(path, "rb") as file:
            data = file.read()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        fault("%s:%d" % (path, line), "byte 0x%02x is not UTF-8 (save the file as UTF-8)", error.object[error.start])
    except OSError as error:
        fault(path, "%s (a file that can be read)", (error.strerror or str(error)).lower())

def parse_json(text, path, line=None):
    """What a JSON text says; a Fault at the line where it breaks: `line`, or that of the text."""
    import json
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        line = line or getattr(error, "lineno", 1)
        fault("%s:%d" % (path, line), "broken JSON: %s", getattr(error, "msg", "") or str(error))

def read_jsonl(path, known):
    """(FILE:LINE, object) of each line; blank lines are passed over, keys that are not in `known` warned of."""
    strange = Counter()
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            item, where = parse_json(line, path, number), "%s:%d" % (path, number)
            if not isinstance(item, dict):
                fault(where, "no object (a line such as {%s})", ", ".join('"%s": ...' % key for key in known[:2]))
            strange.update(set(item) - set(known))
            yield where, item
    for key, times in strange.items():
        warn("%s: key %s of %d lines is not known, and not used (known: %s)", path, quoted(key), times, ", ".join(known))

def field(item, where, *keys, kind=str):
    """What an object has under the first of `keys` that it knows; a Fault where that is nothing, or not of the kind."""
    key = next((key for key in keys if isinstance(item, dict) and item.get(key) is not None), None)
    wanted = {str: "a text", int: "a whole number", list: "a list"}[kind]
    if key is None:
        fault(where, 'no "%s" (%s)', '" or "'.join(keys), wanted)
    if not isinstance(item[key], kind) or kind is str and not item[key].strip():
        fault(where, '"%s" is %s (%s)', key, quoted(repr(item[key])), wanted)
    return item[key]

def run_py(path, name):
    """What a Python file calls `name`. The file is run, and what it raises becomes a Fault at its line."""
    scope, line = {"__name__": os.path.basename(path)[:-3], "__file__": path}, None
    try:
        exec(compile(read_text(path), path, "exec"), scope)
    except SyntaxError as error:
        fault("%s:%s" % (path, error.lineno or 1), "%s (Python that defines %s)", error.msg, name)
    except Fault:
        raise
    except (Exception, SystemExit) as error:
        trace = error.__traceback__
        while trace:
            line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == path else line
            trace = trace.tb_next
        fault("%s:%s" % (path, line or 1), "raises %s: %s", type(error).__name__, error)
    if name not in scope:
        fault(path, "does not define %s (%s = [...], as in the %s.py that comes with the script)", name, name, name.lower())
    return scope[name]

# ---- prose: the lines, blocks and sections of Markdown ---------------------
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t\r\n]*$")
EXPLICIT = re.compile(r"\s*\{#([^}\s]+)\}$")

def scan(text):
    """(start, end, what) of each line: what is "blank", "heading", "fence", "table" or "text"."""
    fence = ""
    for match in re.finditer(r"[^\n]*\n|[^\n]+", text):
        line, mark, what = match.group(), FENCE.match(match.group()), "text"
        if fence or mark:
            what = "fence"
            closing = mark and mark[1].startswith(fence) and not line[mark.end():].strip()
            fence = ("" if closing else fence) if fence else mark[1]
        elif not line.strip():
            what = "blank"
        elif HEADING.match(line):
            what = "heading"
        elif line.lstrip().startswith("|"):
            what = "table"
        yield match.start(), match.end(), what

def blocks(text):
    """The paragraphs of a text, as slices: what stands between blank lines. A heading goes with the block after it,
    a fence is one block whatever it holds; the white space after a block is in none."""
    found, going, title = [], False, False
    for start, end, what in scan(text):
        if what == "blank":
            going = going and title
            continue
        going = going and (title or what != "heading")
        first = found.pop()[0] if going else start
        found.append((first, start + len(text[start:end].rstrip())))
        going, title = True, what == "heading"
    return found

def slug(title, seen):
    """GitHub's anchor of a heading, or its explicit {#id}; `seen` counts anchors: the second of a kind ends in -1."""
    if EXPLICIT.search(title):
        return EXPLICIT.search(title)[1]
    plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", title).strip().lower()
    anchor = "".join(c for c in plain if c in "-_ " or category(c)[0] in "LMN").replace(" ", "-")
    seen[anchor] += 1
    return anchor if seen[anchor] == 1 else "%s-%d" % (anchor, seen[anchor] - 1)

def sections(text, stem):
    """({topic: its slices}, headings): the whole text is the topic `stem`, what stands under a heading and its
    subheadings `stem#slug`; headings are (start, "stem > title > subtitle") in order."""
    topics, headings, path, seen = {stem: [(0, len(text))]}, [(0, stem)], [], Counter()
    lines = [(start, HEADING.match(text[start:end])) for start, end, what in scan(text) if what == "heading"]
    for start, match in lines + [(len(text), None)]:
        while path and (not match or path[-1][0] >= len(match[1])):
            _, begin, topic, _ = path.pop()
            topics.setdefault(topic, []).append((begin, start))
        if match:
            title = match[2] or ""
            path.append((len(match[1]), start, "%s#%s" % (stem, slug(title, seen)), EXPLICIT.sub("", title)))
            headings.append((start, " > ".join([stem] + [entry[3] for entry in path])))
    return topics, headings

def heading(doc, start):
    """The line that --context puts before a chunk: the titles that it stands under, or nothing where there are none."""
    at = bisect_right(doc.headings, (start, "\U0010ffff"))
    return doc.headings[at - 1][1] + "\n" if at else ""

# ---- data: documents, topics, queries with their places --------------------
Data = namedtuple("Data", "docs topics queries skipped", defaults=[[], 0])  # topics: {name: Gold}

def document(name, parts):
    """A document of texts joined by newlines; each is a paragraph, the name its title."""
    starts = list(accumulate([0] + [len(part) + 1 for part in parts]))
    return Document(name, "\n".join(parts), [(start, start + len(part)) for start, part in zip(starts, parts)], [(0, name)])

def corpus_py(path):
    """CORPUS = [(topic, paragraph), ...], or {document: [(topic, paragraph), ...]}, in a Python file, as Data."""
    corpus = run_py(path, "CORPUS")
    for name, pairs in corpus.items() if isinstance(corpus, dict) else [(None, corpus)]:
        where = "%s: CORPUS%s" % (path, "" if name is None else "[%r]" % (name,))
        if not isinstance(pairs, (list, tuple)) or not isinstance(name, (str, type(None))):
            fault(where, "is no list (a list of (topic, paragraph) pairs, or a dict of such lists by document)")
        for number, pair in enumerate(pairs):
            if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not all(isinstance(s, str) for s in pair):
                fault("%s[%d]" % (where, number), "%s is no pair (a (topic, paragraph) of texts)", quoted(repr(pair)))
            if not pair[0].strip() or not pair[1].strip():
                fault("%s[%d]" % (where, number), "has a blank text (a (topic, paragraph) of texts)")
    docs, topics = load(corpus)
    return Data([doc._replace(headings=[(0, doc.name)] if isinstance(corpus, dict) else ()) for doc in docs], topics)

def corpus_jsonl(path):
    """JSON lines {"topic", "text", "doc"} as Data: the lines of a doc are one document, one without is its own."""
    parts, places, docs = {}, defaultdict(list), []
    for where, item in read_jsonl(path, ("topic", "text", "doc")):
        name = field(item, where, "doc") if item.get("doc") is not None else os.path.basename(where)
        parts.setdefault(name, []).append((field(item, where, "topic"), field(item, where, "text")))
    for number, (name, pairs) in enumerate(parts.items()):
        docs.append(document(name, [text for _, text in pairs]))
        for (topic, _), piece in zip(pairs, docs[-1].paragraphs):
            places[topic].append((number, *piece))
    return Data(docs, {topic: Gold(topic, "wording", tuple(places[topic])) for topic in places})

def corpus_prose(path):
    """A Markdown or text file, or a folder of them in sorted order, as Data: its sections are its topics."""
    names = [os.path.basename(path)] if not os.path.isdir(path) else sorted(
        os.path.relpath(os.path.join(folder, name), path).replace(os.sep, "/")
        for folder, _, names in os.walk(path) for name in names if name.lower().endswith((".md", ".txt")))
    names = [name for name in names if not any(part.startswith(".") for part in name.split("/"))]
    docs, topics, root = [], {}, path if os.path.isdir(path) else os.path.dirname(path)
    if not names:
        fault(path, "no .md or .txt file in it (a folder of texts)")
    for number, name in enumerate(names):
        text, stem = read_text(os.path.join(root, name)), os.path.splitext(name)[0]
        if stem in topics:
            fault(os.path.join(path, name), "is the second file called %s (one file a name)", quoted(stem))
        found, headings = sections(text, stem)
        docs.append(Document(stem, text, blocks(text), headings))
        for topic, slices in found.items():
            topics[topic] = Gold(topic, "section", tuple((number, *piece) for piece in slices if piece[0] < piece[1]))
    return Data(docs, topics)

def read_corpus(path):
    """The documents and topics at a path, as Data without queries; its name tells the format."""
    ending = os.path.splitext(path)[1].lower()
    if ending in (".md", ".txt", "") or os.path.isdir(path):
        data = corpus_prose(path)
    elif ending in (".py", ".jsonl"):
        data = corpus_py(path) if ending == ".py" else corpus_jsonl(path)
    else:
        fault(path, "no format is called %s (.py, .jsonl, .md, .txt, or a folder of .md and .txt)", ending)
    if not any(tokenize(line) for doc in data.docs for line in doc.text.splitlines()):
        fault(path, "the corpus is empty, it has not one token (a text with letters or digits)")
    alike = defaultdict(list)
    for topic in data.topics:
        alike[normalize("NFKC", topic).casefold()].append(topic)
    for topics in alike.values():
        if len(topics) > 1:
            warn("%s: topics that differ only in case or width: %s", path, ", ".join(map(quoted, topics)))
    return data

def squeeze(text):
    """(the text without white space, where in the text each of its characters stands)."""
    from array import array
    return "".join(text.split()), array("L", (i for i, c in enumerate(text) if not c.isspace()))

def finder(docs):
    """A function that finds quotes. find(quote, numbers, near=None): its places in the documents of these numbers,
    white space aside; with `near`, only the place that is nearest to that position."""
    squeezed = lru_cache(None)(lambda number: squeeze(docs[number].text))

    def find(quote, numbers, near=None):
        if near is not None and docs[numbers[0]].text.startswith(quote, near):
            return [(numbers[0], near, near + len(quote))]
        quote, places = "".join(quote.split()), []
        for number in numbers:
            plain, where = squeezed(number)
            at = plain.find(quote)
            while at >= 0:
                places.append((number, where[at], where[at + len(quote) - 1] + 1))
                at = plain.find(quote, at + 1)
        return places if near is None else sorted(places, key=lambda place: abs(place[1] - near))[:1]
    return find

Asked = namedtuple("Asked", "where text golds doc")  # golds: topics or quotes, or (quote, position) pairs

def queries_py(path):
    """QUERIES = [((gold, ...), query), ...] in a Python file, as Asked."""
    pairs = run_py(path, "QUERIES")
    if not isinstance(pairs, (list, tuple)):
        fault(path + ": QUERIES", "is no list (a list of ((gold, ...), query) pairs)")
    for number, pair in enumerate(pairs):
        where = "%s: QUERIES[%d]" % (path, number)
        if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not isinstance(pair[1], str):
            fault(where, "%s is no pair (a ((gold, ...), query))", quoted(repr(pair)))
        if not isinstance(pair[0], (list, tuple)) or not all(isinstance(gold, str) for gold in pair[0]):
            fault(where, "its golds are %s (texts in a tuple, such as (\"topic\",) with its comma)", quoted(repr(pair[0])))
        yield Asked(where, pair[1], pair[0], None)

def queries_jsonl(path):
    """JSON lines {"query", "gold", "doc"} as Asked; `question` is read as query."""
    for where, item in read_jsonl(path, ("query", "gold", "doc", "question")):
        golds = item.get("gold")
        golds = [golds] if isinstance(golds, str) else golds
        if not isinstance(golds, list) or not all(isinstance(gold, str) for gold in golds):
            fault(where, '"gold" is %s (a list of topics or quotes)', quoted(repr(golds)))
        yield Asked(where, field(item, where, "query", "question"), golds, item.get("doc"))

def queries_csv(path):
    """Rows of query or question, gold or references, and doc or corpus_id, as Asked."""
    import csv
    import io
    csv.field_size_limit(2 ** 31 - 1)
    rows = csv.DictReader(io.StringIO(read_text(path), newline=""))
    try:
        columns = set(rows.fieldnames or ())
        if not columns & {"query", "question"} or not columns & {"gold", "references"}:
            fault(path + ":1", "columns %s (query or question, and gold or references)", ", ".join(sorted(columns)))
        for row in rows:
            where, golds = "%s:%d" % (path, rows.line_num), row.get("references") or row.get("gold") or ""
            if row.get("references") or golds.startswith("["):
                golds = parse_json(golds, path, rows.line_num)
            if row.get("references"):
                golds = [(field(item, where, "content"), field(item, where, "start_index", kind=int)) for item in golds]
            golds = [golds] if isinstance(golds, str) and golds.strip() else golds
            yield Asked(where, field(row, where, "query", "question"), golds, row.get("corpus_id") or row.get("doc"))
    except csv.Error as error:
        fault("%s:%d" % (path, rows.line_num), "broken CSV: %s", error)

def settle(asked, data, path):
    """The queries asked, each gold with its places: a topic, or a quote that stands in the corpus; a Fault otherwise."""
    find, queries, missing, total = finder(data.docs), [], [], 0
    names = defaultdict(list)
    for number, doc in enumerate(data.docs):
        for name in {doc.name, doc.name.rpartition("/")[2]}:
            names[name].append(number)
    for where, text, wanted, doc in asked:
        numbers = range(len(data.docs)) if doc is None else names.get(doc, ())
        if doc is not None and len(numbers) != 1:
            fault(where, "%d documents are called %s%s (one)", len(numbers), quoted(str(doc)), nearest(str(doc), names))
        if not tokenize(text):
            fault(where, "the query %s has no token (a text with letters or digits)", quoted(text))
        if not wanted:
            fault(where, "the query %s has no gold (a topic, or a passage of the corpus)", quoted(text))
        golds = []
        for gold in wanted:
            quote, near = gold if isinstance(gold, tuple) else (gold, None)
            known = data.topics.get(quote) if near is None else None
            places = [] if known or not quote.strip() else find(quote, numbers, near)
            if not known and not places:
                missing.append((where, quote))
            golds.append(known or Gold(quote, "quote", tuple(places)))
        total += len(wanted)
        queries.append(Query(text, tuple(dict.fromkeys(golds))))
    if not queries:
        fault(path, "no query in it")
    if missing and len(missing) == total > 1:
        fault(path, "none of its %d golds stands in the corpus (the queries of this corpus)", total)
    if missing:
        where, quote = missing[0]
        like = nearest(quote, data.topics) or passage(quote, data.docs)
        fault(where, "%s is no topic and stands nowhere in the corpus%s", quoted(quote), like)
    if len(set(queries)) < len(queries):
        warn("%s: %d queries are asked more than once, and count each time", path, len(queries) - len(set(queries)))
    if sum(len(query.golds) for query in queries) < total:
        warn("%s: %d golds stand twice in one query, and count once", path, total - sum(len(q.golds) for q in queries))
    return queries

def passage(quote, docs):
    """'; the nearest passage is "..."', for a quote that stands nowhere."""
    size = max(len(quote), 20)
    texts = [doc.text[start:end] for doc in docs for start, end in chunk_overlap(doc.text, 2 * size, size)]
    found = BM25(texts).topk(quote, 1)
    return "; the nearest passage is " + quoted(texts[found[0]], 80) if found else ""

def read_queries(path, data):
    """The Data with the queries at a path; its name tells the format."""
    readers = {".py": queries_py, ".jsonl": queries_jsonl, ".csv": queries_csv}
    ending = os.path.splitext(path)[1].lower()
    if ending not in readers:
        fault(path, "no format of queries (.py, .jsonl, .csv)")
    return data._replace(queries=settle(readers[ending](path), data, path))

def read_squad(path):
    """The articles and questions of a file in SQuAD's format as Data. A wrong answer_start is healed: the occurrence
    in its context that is nearest to it counts. What cannot be used is skipped, and said."""
    docs, queries, healed, dropped, skipped, without = [], [], 0, 0, [], 0
    content = parse_json(read_text(path), path)
    for a, article in enumerate(field({"data": content} if isinstance(content, list) else content, path, "data", kind=list)):
        where = "%s: data[%d]" % (path, a)
        contexts = field(article, where, "paragraphs", kind=list)
        texts = [field(context, "%s.paragraphs[%d]" % (where, p), "context") for p, context in enumerate(contexts)]
        docs.append(document(str(article.get("title") or "article %d" % (a + 1)), texts))
        for p, (context, (base, _)) in enumerate(zip(contexts, docs[-1].paragraphs)):
            find = finder([docs[-1]._replace(text=texts[p])])
            for q, question in enumerate(field(context, "%s.paragraphs[%d]" % (where, p), "qas", kind=list)):
                at, places = "%s.paragraphs[%d].qas[%d]" % (where, p, q), []
                answers = field(question, at, "answers", kind=list)
                for answer in () if question.get("is_impossible") else answers:
                    text, start = field(answer, at, "text"), field(answer, at, "answer_start", kind=int)
                    found = find(text, [0], start)
                    healed += bool(found) and found[0][1] != start
                    dropped += not found
                    places += [(a, base + left, base + right) for _, left, right in found]
                text = "" if question.get("question") == "" else field(question, at, "question")
                if places:
                    queries.append(Query(text, (Gold(answers[0]["text"], "quote", tuple(dict.fromkeys(places))),)))
                else:
                    skipped.append(text)
                    without += bool(question.get("is_impossible") or not answers)
    if healed or dropped:
        warn("%s: %d answers did not stand at their answer_start: %d found nearby, %d dropped", path, healed + dropped, healed, dropped)
    if skipped:
        warn("%s: %d questions skipped, %d of them unanswerable: %s", path, len(skipped), without, "; ".join(map(quoted, skipped[:3])))
    return Data(docs, {}, queries, len(skipped))


# ---- pieces by name: ours, and the user's module.function ------------------
def calling(name, function, *arguments):
    """What somebody else's function returns; what it raises becomes a Fault."""
    try:
        return function(*arguments)
    except Exception as error:
        fault(name, "raises %s: %s", type(error).__name__, error)

def imported(name):
    """The callable that module.function names, looked up from the working directory as well as among what is installed."""
    import importlib
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    module, _, attribute = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except Exception as error:
        fault(name, "%s: %s (module.function, importable from here)", type(error).__name__, error)
    if not callable(found):
        fault(name, "%s has no function %s (module.function)", module, attribute)
    return found

class Pieces(dict):
    """Pieces by name; a name with a dot is imported, and wrapped in what checks it: wrap(name, callable)."""
    def __init__(self, what, wrap, pieces):
        super().__init__(pieces)
        self.what, self.wrap = what, wrap

    def __missing__(self, name):
        if "." not in name.strip("."):
            fault("%s %s" % (self.what, quoted(name)), "there is none of that name (%s, or module.function%s)",
                  ", ".join(self), nearest(name, self))
        self[name] = self.wrap(name, imported(name))
        return self[name]

def own_chunker(name, function):
    """A chunker made of the user's function from text to strings, or to (start, end) pairs. Strings are placed in
    order, white space aside: right after the one before where that fits, else at the next place after its start."""
    def chunker(doc):
        text, found = doc.text, calling(name, lambda: list(function(doc.text)))
        slices, plain, where, begin, end = [], None, None, -1, 0
        for number, piece in enumerate(found):
            if isinstance(piece, str):
                plain, where = (plain, where) if where else squeeze(text)
                wanted = "".join(piece.split())
                begin = end if plain.startswith(wanted, end) else plain.find(wanted, begin + 1)
                if begin < 0:
                    fault(name, "chunk %d is not in the text: %s (slices of the text, unchanged)", number + 1, quoted(piece))
                end = begin + len(wanted)
                piece = (where[begin], where[end - 1] + 1) if wanted else (0, 0)
            if not (isinstance(piece, (tuple, list)) and len(piece) == 2 and all(isinstance(at, int) for at in piece)
                    and 0 <= piece[0] <= piece[1] <= len(text)):
                fault(name, "chunk %d is %s (a string, or (start, end) within the %d characters)",
                      number + 1, quoted(repr(piece)), len(text))
            slices.append(tuple(piece))
        return sorted(piece for piece in slices if text[piece[0]:piece[1]].strip())
    return chunker

class Own:
    """A retriever made by the user's factory from a list of texts; what its topk returns is checked."""
    def __init__(self, name, factory, texts, tokens=None):
        self.name, self.size, self.index = name, len(texts), calling(name, factory, texts)
        if not callable(getattr(self.index, "topk", None)):
            fault(name, "made %s, which has no topk (an object with topk(query, k))", quoted(repr(self.index)))
        if callable(getattr(self.index, "scores", None)):
            self.scores = self.index.scores

    def __repr__(self):
        return self.name

    def topk(self, query, k):
        """As the user's topk has it: indices of texts, best first, at most k; a Fault where they are none."""
        from operator import index
        found = calling(self.name, lambda: [index(number) for number in self.index.topk(query, k)])[:k]
        for number in found:
            if not 0 <= number < self.size:
                fault(self.name, "topk returned %d (numbers of the %d texts, from 0)", number, self.size)
        return found

# ---- more chunkers ---------------------------------------------------------
SENTENCE = re.compile(r"""(?:[。！？；…｡]+[”’」』）】》〉"')\]]*
    | (?<![.!?]) (?:(?<!\b[A-Za-z])\.|[!?]) [.!?]*[”’」』）】》〉"')\]]* (?=\s|\Z) | \n) \s*""", re.X)
SEPARATORS = [re.compile(r"\n\s*\n\s*"), re.compile(r"\n\s*"), SENTENCE, re.compile(r"[，、,]\s*"), re.compile(r"\s+")]
LEVELS = ["blank line", "newline", "sentence end", "comma", "space", "character"]

def split(pattern, text, start=0, end=None):
    """A slice of a text, cut after each match of a pattern: slices that leave nothing out."""
    end = len(text) if end is None else end
    cuts = [start] + [match.end() for match in pattern.finditer(text, start, end)] + [end]
    return [(a, b) for a, b in zip(cuts, cuts[1:]) if a < b]

def pack(pieces, size, overlap=0, chunks=None):
    """Neighbouring slices joined while they fit in `size` characters, as chunks that are added to `chunks`. Each
    starts with the last `overlap` characters of the one before, or as many as fit; a longer piece is cut at the size."""
    if not 0 <= overlap < size:
        raise ValueError("size %d, overlap %d (an overlap from 0 to under the size)" % (size, overlap))
    chunks, joins = [] if chunks is None else chunks, False
    for start, end in pieces:
        if joins and end - chunks[-1][0] <= size:
            chunks[-1] = (chunks[-1][0], end)
            continue
        while start < end:
            back = max(start - overlap, chunks[-1][0] + 1) if chunks else start
            back = max(back, end - size) if end - start <= size else back
            chunks.append((back, min(end, back + size)))
            start = chunks[-1][1]
        joins = True
    return chunks

def solid(text, chunks):
    """The chunks that hold more than white space."""
    return [(start, end) for start, end in chunks if text[start:end].strip()]

def chunk_sentence(text, size, overlap):
    """Whole sentences joined up to `size` characters, each chunk starting with the last `overlap` of the one before."""
    return solid(text, pack(split(SENTENCE, text), size, overlap))

def chunk_recursive(text, size, overlap=0):
    """Cut at the coarsest of SEPARATORS that gives pieces of at most `size` characters, and joined again up to it, as
    LangChain's RecursiveCharacterTextSplitter does; the separator stays with the piece that it ends."""
    chunks = []

    def cut(start, end, level):
        if level == len(SEPARATORS):
            pack([(start, end)], size, overlap, chunks)
            return
        for fits, run in groupby(split(SEPARATORS[level], text, start, end), lambda piece: piece[1] - piece[0] <= size):
            if fits:
                pack(run, size, overlap, chunks)
            else:
                for piece in run:
                    cut(*piece, level + 1)
    cut(0, len(text), 0)
    return solid(text, chunks)

def chunk_semantic(text, threshold, limit=None):
    """Cuts between neighbouring sentences whose likeness, the cosine of their sets of characters, is under a threshold
    such as "0.45", or whose distance, 1 - likeness, is over a percentile such as "p95" of them all."""
    sentences = split(SENTENCE, text)
    sets = [set(text[start:end].casefold()) - set(" \t\r\n") for start, end in sentences]
    distances = [1 - (len(a & b) / sqrt(len(a) * len(b)) if a and b else 1) for a, b in zip(sets, sets[1:])]
    if not 0 <= float(threshold.lstrip("p")) <= (100 if threshold.startswith("p") else 1):
        raise ValueError("threshold %s (a likeness from 0 to 1, or a percentile from p0 to p100)" % threshold)
    if threshold.startswith("p"):
        place = float(threshold[1:]) / 100 * max(len(distances) - 1, 0)
        low, high = [(sorted(distances) or [0])[min(int(place) + i, max(len(distances) - 1, 0))] for i in (0, 1)]
        bound = low + (high - low) * (place - int(place))
    else:
        bound = 1 - float(threshold)
    chunks, group = [], sentences[:1]
    for distance, sentence in zip(distances + [2], sentences[1:] + [None]):
        if distance > bound + 1e-12:
            pack(group, limit or len(text), 0, chunks)
            group = []
        group.append(sentence)
    return solid(text, chunks)

# Lines as letters, b(lank) h(eading) f(ence) t(able) x: what belongs together, and in group 1 what is never cut.
ATOM = re.compile(r"(?:h[hb]*)?(?:(f+|t+(?:b*x+)?)|x*)b*")

def chunk_structure(text, size, least=0):
    """Markdown: a chunk for what stands under each heading; one under `least` characters joins the next. What is longer
    than `size` is cut by `recursive`, but a fence, and a table with the note that follows it, are never cut."""
    chunks, parts, lines = [], [], list(scan(text))
    letters = "".join("x" if what == "text" else what[0] for _, _, what in lines)
    for atom in filter(re.Match.group, ATOM.finditer(letters)):
        start, end = lines[atom.start()][0], lines[atom.end() - 1][1]
        if not parts or atom.group()[0] == "h" and start - parts[-1][0][0] >= least:
            parts.append([])
        parts[-1].append((start, end, bool(atom[1])))
    for part in parts:
        pieces = [(start + left, start + right) for start, end, whole in part for left, right in
                  ([(0, end - start)] if whole or end - start <= size else chunk_recursive(text[start:end], size))]
        for fits, run in groupby(pieces, lambda piece: piece[1] - piece[0] <= size):
            chunks += pack(run, size) if fits else run
    return solid(text, chunks)

def chunk_parent(doc, size, limit):
    """Every `size` characters within each chunk of `para:limit`, as (start, end, start of that chunk, its end)."""
    if limit < size:
        raise ValueError("children of %d in parents of %d (children no longer than parents)" % (size, limit))
    return [(start + left, start + right, start, end) for start, end in chunk_para(doc.paragraphs, limit)
            for left, right in chunk_fixed(doc.text[start:end], size)]

def sized(chunker):
    """A function of a text, a size and a second number, as CHUNKERS holds it."""
    return lambda doc, size, second="0": chunker(doc.text, int(size), characters(second, int(size)))

CHUNKERS = Pieces("strategy", own_chunker, dict(
    CHUNKERS, sentence=sized(chunk_sentence), recursive=sized(chunk_recursive), structure=sized(chunk_structure),
    semantic=lambda doc, threshold, limit="0": chunk_semantic(doc.text, threshold, int(limit)),
    parent=lambda doc, size, limit: chunk_parent(doc, int(size), int(limit))))
EXAMPLES = {"fixed": "fixed:50", "overlap": "overlap:50/15, overlap:300/15%", "para": "para:90",
            "sentence": "sentence:300/45", "recursive": "recursive:200, recursive:200/30",
            "semantic": "semantic:0.45, semantic:p95, semantic:p95/400", "structure": "structure:480/40",
            "parent": "parent:50/180"}
SPELLING = re.compile(r"\w+:([1-9]\d{0,8}|0?\.\d+|p\d{1,3})(/\d{1,9}%?)?", re.ASCII)

def chunk(spec, text, paragraphs=None):
    """The slices [(start, end), ...] that any strategy makes of a text; of `parent`, those that are searched. The
    paragraphs, slices too, are by default the blocks between blank lines. Raises ValueError or Fault for a wrong spec."""
    doc = Document("", text, blocks(text) if paragraphs is None else paragraphs)
    return [piece[:2] for piece in slices(spec, doc)]

def strategies(specs):
    """Specs, their lists multiplied out, each tried: ["fixed:50,100"] -> ["fixed:50", "fixed:100"]. Faults name what
    is wrong with one."""
    found = []
    for spec in specs:
        name, colon, rest = spec.partition(":")
        found += [name + colon + "/".join(numbers) for numbers in product(*(part.split(",") for part in rest.split("/")))]
    for spec in found:
        name, where = spec.partition(":")[0], "strategy " + quoted(spec)
        if CHUNKERS[name] and name in EXAMPLES:
            if not SPELLING.fullmatch(spec):
                fault(where, "not a size from 1, and what goes with it (such as %s)", EXAMPLES[name])
            try:
                chunk(spec, "x", [(0, 1)])
            except TypeError:
                fault(where, "takes another number of sizes (such as %s)", EXAMPLES[name])
            except ValueError as error:
                fault(where, "%s (such as %s)" % (error, EXAMPLES[name]) if "invalid" in str(error) else str(error))
    return list(dict.fromkeys(found))

# ---- the other rules of the judge: by position ------------------------------
def by_position(golds, docs, chunks, tokens):
    """{gold: the chunks that hold enough of one of its places: of a quote, or of the shorter of section and chunk}."""
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

# ---- more retrievers -------------------------------------------------------
class Hash:
    """The tuning article's mock of an embedding: the MD5 of each token picks places of a vector; by cosine."""
    size = 128

    def __init__(self, texts, tokens=None):
        vectors = list(map(self.vector, map(tokenize, texts) if tokens is None else tokens))
        self.columns = [[vector.get(place, 0.0) for vector in vectors] for place in range(self.size)]

    def __repr__(self):
        return "hash(mock, %d dimensions)" % self.size

    def vector(self, tokens):
        """{place: weight} of tokens, its length 1: four bytes of a token's MD5 are its four places."""
        counts = Counter()
        for token, times in Counter(tokens).items():
            for byte in digest(token)[:4]:
                counts[byte % self.size] += times
        length = sqrt(sum(count * count for count in counts.values()))
        return {place: count / length for place, count in counts.items()}

    def scores(self, query):
        """The cosine of the query with every text, in their order."""
        scores = [0.0] * len(self.columns[0])
        for place, weight in sorted(self.vector(tokenize(query)).items()):
            scores = [score + weight * value for score, value in zip(scores, self.columns[place])]
        return [round(score, 9) for score in scores]

    def topk(self, query, k):
        """The numbers of the k best texts, best first; ties go to the earlier, and 0 is no match."""
        scores = enumerate(self.scores(query))
        return [text for _, text in nsmallest(k, ((-score, text) for text, score in scores if score))]

@lru_cache(None)
def digest(token):
    """The 16 bytes of a token's MD5."""
    from hashlib import md5
    return md5(token.encode("utf-8", "surrogatepass")).digest()

class Hybrid:
    """BM25 and the mock embedding, fused: a text's score is the sum of 1 / (60 + rank) over the top 50 of each
    (reciprocal rank fusion, Cormack, Clarke and Buettcher 2009)."""
    def __init__(self, texts, tokens=None):
        tokens = list(map(tokenize, texts) if tokens is None else tokens)
        self.members = [BM25(texts, tokens=tokens), Hash(texts, tokens=tokens)]

    def __repr__(self):
        return "hybrid(%s + %s)" % tuple(self.members)

    def topk(self, query, k):
        """The numbers of the k best texts, best first; ties go to the earlier."""
        fused = defaultdict(float)
        for member in self.members:
            for rank, text in enumerate(member.topk(query, 50), 1):
                fused[text] += 1 / (60 + rank)
        return sorted(fused, key=lambda text: (-round(fused[text], 9), text))[:k]

RETRIEVERS = Pieces("retriever", lambda name, factory: partial(Own, name, factory),
                    dict(RETRIEVERS, hash=Hash, hybrid=Hybrid))
RULES.update(quote=by_position, section=by_position)

# ---- sweep: many strategies, each round afresh -----------------------------
SAFE = re.compile(r"[^\s，。、；：！？]*[\s，。、；：！？]*")  # no token, and no composition of NFKC, crosses such an end

class Memory:
    """tokenize for the many texts of one round: what stands between two spaces or commas is tokenized once. It equals
    tokenize on every text; a copy of it, in another process, starts with nothing remembered."""
    def __init__(self):
        self.piece = lru_cache(None)(lambda piece: list(map(sys.intern, tokenize(piece))))

    def __call__(self, text):
        return list(chain.from_iterable(map(self.piece, SAFE.findall(text))))

    def __reduce__(self):
        return Memory, ()

def sweep(strategies, docs, queries, retrievers=("bm25",), rounds=3, executor=None, progress=None, **options):
    """Every strategy with every retriever in every round: a list of lists of Runs, one a round. A run that equals the
    first to the bit is that first. The jobs go to any concurrent.futures.Executor, or are done here one by one;
    `progress` is called with how many are done, how many there are, and the strategy; `options` are evaluate's."""
    jobs = [(strategy, retriever) for strategy in strategies for retriever in retrievers]
    submit, runs, memory = executor.submit if executor else None, [[] for _ in jobs], Memory()
    pending = [[submit(evaluate, strategy, docs, queries, retriever=retriever, tokens=memory, **options)
                for strategy, retriever in jobs] for _ in range(rounds if submit else 0)]
    for number in range(rounds):
        memory = Memory()
        for job, (strategy, retriever) in enumerate(jobs):
            if progress:
                progress(number * len(jobs) + job, rounds * len(jobs), strategy)
            run = pending[number][job].result() if submit else evaluate(
                strategy, docs, queries, retriever=retriever, tokens=memory, **options)
            runs[job].append(runs[job][0] if runs[job] and run == runs[job][0] else run)
    return runs

# ---- measure: every figure is a function of the records and the chunks ------
def union(places):
    """Places, overlaps merged, in order."""
    merged = []
    for document, start, end in sorted(places):
        if merged and merged[-1][0] == document and start <= merged[-1][2]:
            merged[-1] = (document, merged[-1][1], max(end, merged[-1][2]))
        else:
            merged.append((document, start, end))
    return merged

def size(places):
    """The characters of places, those of two counted twice."""
    return sum(end - start for _, start, end in places)

def shared(places, others):
    """The characters that two unions of places have in common."""
    return sum(max(0, min(end, stop) - max(start, begin)) for document, start, end in places
               for number, begin, stop in others if number == document)

def by_characters(query, record, chunks, sent):
    """One query's figures by position, as the shares of characters that Chroma's report defines ("Evaluating Chunking
    Strategies for Retrieval", 2024), and the lab's evidence, where pieces add up."""
    slices = [chunks[number] for number in sent]
    retrieved, paid = union(slices), size(slices)
    wanted = union(max(gold.places, key=lambda place: shared([place], retrieved) / size([place])) for gold in query.golds)
    both = shared(wanted, retrieved)
    found = [not covering.isdisjoint(sent) if gold.rule == "section" else
             any(100 * shared([place], retrieved) >= COVERED * size([place]) for place in gold.places)
             for gold, covering in zip(query.golds, record.covers)]
    return {"char_recall": both / size(wanted), "char_precision": both / paid if paid else 0.0,
            "char_iou": both / (paid + size(wanted) - both) if paid else 0.0, "evidence": mean(found),
            "complete": float(all(found)), "redundancy": 1 - size(retrieved) / paid if paid else 0.0}

def patterns(record):
    """{chunk number: bits of the golds it covers}, for the chunks that cover any."""
    bits = defaultdict(int)
    for gold, covering in enumerate(record.covers):
        for number in covering:
            bits[number] |= 1 << gold
    return bits

def least(bits, golds, cost):
    """The least total cost(chunk number) of chunks that cover all of so many golds: exact; infinity if none do."""
    offers, paid = {}, {0: 0}
    for number, pattern in bits.items():
        offers[pattern] = min(cost(number), offers.get(pattern, float("inf")))
    for pattern, price in offers.items():
        for had, total in list(paid.items()):
            paid[had | pattern] = min(total + price, paid.get(had | pattern, float("inf")))
    return paid.get((1 << golds) - 1, float("inf"))

def chance(bits, golds, total, k):
    """The probability that k different ones of `total` chunks, drawn at random, cover every gold: exact, by inclusion
    and exclusion over the golds that all of them miss."""
    counts, k = Counter(bits.values()), min(k, total)
    ways = sum((-1) ** bin(missed).count("1") * comb(
        total - sum(count for pattern, count in counts.items() if pattern & missed), k) for missed in range(1 << golds))
    return ways / comb(total, k)

def wilson(share, total):
    """The Wilson 95 % interval [low, high] of a share of `total` queries (Wilson 1927)."""
    z = 1.959963984540054
    middle, half = share + z * z / (2 * total), z * sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return [max(0.0, (middle - half) / (1 + z * z / total)), min(1.0, (middle + half) / (1 + z * z / total))]

def figures(run, docs, queries, cutoffs, several=False):
    """Every metric of the design for one run: {name: number, None, or [low, high]}. `cutoffs` are the ks, or 1 and a
    budget such as "350t"; what has no @k is of the last. `several`: tokens for each k as well."""
    last, total, each = cutoffs[-1], len(queries), {}
    row = {key: value for k in cutoffs for key, value in measure(run, k).items()}
    bits = [patterns(record) for record in run.records]
    golds = [len(record.covers) for record in run.records]
    few = [least(*pair, lambda number: 1) for pair in zip(bits, golds)]
    for k in cutoffs:
        fits = [n <= k for n in few] if isinstance(k, int) else [
            least(*pair, run.tokens.__getitem__) <= int(k[:-1]) for pair in zip(bits, golds)]
        each = [by_characters(query, record, run.chunks, sent(run, record, k)) for query, record in zip(queries, run.records)]
        hits = [answered(record, sent(run, record, k)) for record in run.records]
        row["ceiling@%s" % k] = mean(fits)
        row["chance@%s" % k] = mean(chance(*pair, len(run.chunks), k) if fit else 0.0 for pair, fit in
                                    zip(zip(bits, golds), fits)) if isinstance(k, int) else None
        row["evidence@%s" % k], row["complete@%s" % k] = mean(q["evidence"] for q in each), mean(q["complete"] for q in each)
        row["ci@%s" % k] = wilson(row["recall@%s" % k], total)
        if several:
            row["tokens@%s" % k] = measure(run, k)["tokens"]
    row["cut"] = sum(not hit and not fit for hit, fit in zip(hits, fits))
    row["outranked"] = hits.count(False) - row["cut"]
    row["sent"] = mean(len(sent(run, record, last)) for record in run.records)
    row["longest"] = max(run.tokens, default=0)
    row["rr"] = mean(next((1 / rank for rank, number in enumerate(record.ranked[:10], 1) if any(
        number in covering for covering in record.covers)), 0.0) for record in run.records)
    row.update((key, mean(query[key] for query in each)) for key in
               ("char_recall", "char_precision", "char_iou", "redundancy"))
    row["index_growth"] = run.indexed / max(1, sum(len(doc.text) for doc in docs))
    return {"strategy": run.strategy, "retriever": run.retriever, **row}

# ---- compare: what is told from chance, what is worth its cost -------------
def mcnemar(wins, losses):
    """The exact two-sided p of McNemar's test: as many wins and losses, or more uneven, by tossing a coin."""
    tosses = wins + losses
    return min(1.0, 2 * sum(comb(tosses, n) for n in range(min(wins, losses) + 1)) / 2 ** tosses)

def holm(ps):
    """The p-values adjusted for being several (Holm 1979), in their order."""
    adjusted, highest = [0.0] * len(ps), 0.0
    for rank, number in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[number]))
        adjusted[number] = highest
    return adjusted

def compare(labels, runs, base, cutoffs):
    """Each run against the one of number `base`, query by query, for recall at each cutoff: dicts as in the JSON."""
    found = []
    for k in cutoffs:
        hits = [[answered(record, sent(run, record, k)) for record in run.records] for run in runs]
        rows = []
        for label, mine in zip(labels, hits):
            wins = [n for n, (theirs, hit) in enumerate(zip(hits[base], mine), 1) if hit and not theirs]
            losses = [n for n, (theirs, hit) in enumerate(zip(hits[base], mine), 1) if theirs and not hit]
            rows.append({"metric": "recall@%s" % k, "baseline": labels[base], "strategy": label,
                         "difference": (len(wins) - len(losses)) / len(mine), "wins": wins, "losses": losses,
                         "p": mcnemar(len(wins), len(losses))})
        del rows[base]
        found += [dict(row, p_holm=p) for row, p in zip(rows, holm([row["p"] for row in rows]))]
    return found

def frontier(points):
    """The numbers of the points (recall, tokens) that none beats in both, the cheapest first."""
    return [n for n, (recall, tokens) in sorted(enumerate(points), key=lambda item: (item[1][1], item[1][0])) if not any(
        better >= recall and cost <= tokens and (better, cost) != (recall, tokens) for better, cost in points)]

def elbow(points):
    """The number of the frontier's point that is farthest above the chord between its ends, both axes scaled to 0..1
    (Satopaa and others 2011); None where none is above it."""
    ends = frontier(points)
    (low, cheap), (high, dear) = [points[n] for n in (ends[0], ends[-1])] if ends else [(0, 0), (0, 0)]
    if high == low or dear == cheap:
        return None
    above = {n: (points[n][0] - low) / (high - low) - (points[n][1] - cheap) / (dear - cheap) for n in ends}
    best = max(ends, key=lambda n: round(above[n], 9))
    return best if above[best] > 1e-9 else None

# ---- results: what notes and outputs are made from -------------------------
Result = namedtuple("Result", "label run row low high")  # row: the figures, their mean where the rounds vary
Report = namedtuple("Report", "data results comparisons cutoffs base settings")

def summarize(label, runs, data, cutoffs, several=False):
    """The Result of one strategy's rounds."""
    rows = [figures(run, data.docs, data.queries, cutoffs, several) for run in (
        runs if any(run is not runs[0] for run in runs) else runs[:1])]
    row, low, high = dict(rows[0]), {}, {}
    for key in row:
        values = [other[key] for other in rows]
        if isinstance(row[key], (int, float)) and len(set(values)) > 1:
            row[key], low[key], high[key] = mean(values), min(values), max(values)
    return Result(label, runs[0], row, low, high if len(rows) > 1 else None)

def saturated(result, k):
    """Whether the top k, or what a budget pays for, is every chunk there is."""
    return len(result.run.chunks) <= k if isinstance(k, int) else sum(result.run.tokens) <= int(k[:-1])

def unreached(result, data):
    """The golds that no chunk covers, counted: (longer than any chunk can hold, cut by a boundary)."""
    lost = {gold for query, record in zip(data.queries, result.run.records)
            for gold, covering in zip(query.golds, record.covers) if not covering}
    room = max((end - start for _, start, end in result.run.chunks), default=0)
    long = sum(all(COVERED * (end - start) > 100 * room for _, start, end in gold.places) for gold in lost)
    return long, len(lost) - long

def levels(run, docs):
    """{level: cuts} of a recursive chunker, each told by the characters before it."""
    counts = Counter()
    for (document, _, end), (following, _, _) in zip(run.chunks, run.chunks[1:]):
        before = docs[document].text[max(0, end - 99):end]
        space = before[len(before.rstrip()):]
        if document == following:
            counts["blank line" if space.count("\n") > 1 else "newline" if "\n" in space else
                   "sentence end" if re.search(r"[。！？；…｡.!?][”’」』）】》〉\"')\]]*\s*$", before) else
                   "comma" if before.rstrip()[-1:] in "，、," else "space" if space else "character"] += 1
    return counts

def left_out(run, docs):
    """The share of the corpus, white space aside, that stands in no chunk."""
    kept = sum(len("".join(docs[document].text[start:end].split())) for document, start, end in union(run.chunks))
    return 1 - kept / sum(len("".join(doc.text.split())) for doc in docs)

# ---- notes: when a number means nothing ------------------------------------
# Each gives (kind, [(label, detail), ...], text), where {} stands for the labels; without labels it does not hold.
def note_varies(report):
    """Rounds that disagreed."""
    yield "varies", [(r.label, "%d rounds" % report.settings["rounds"]) for r in report.results if r.high is not None], (
        "rounds disagree for {}; the table shows mean [min, max], figures by query are the first round's")

def note_lost(report):
    """A user's chunker that leaves text out; a budget that the best chunk of a query does not fit."""
    k, gaps = report.cutoffs[-1], [(r.label, left_out(r.run, report.data.docs)) for r in report.results
                                   if "." in r.run.strategy.partition(":")[0]]
    yield "lost", [(label, "%.1f %%" % (100 * gap)) for label, gap in gaps if gap > 0], (
        "text that is in no chunk, and that no query can find: {}")
    empty = [(r.label, sum(not sent(r.run, record, k) for record in r.run.records if record.ranked)) for r in report.results]
    yield "lost", [(label, "%d queries" % n) for label, n in empty if n], (
        "nothing is sent where the best chunk alone is over the budget of %s tokens: {}" % str(k)[:-1])

def note_saturated(report):
    """So few chunks that any ranker that returns everything gets the ceiling."""
    k = report.cutoffs[-1]
    yield "saturated", [(r.label, "%d chunks" % len(r.run.chunks)) for r in report.results if saturated(r, k)], (
        "the top %s is all there is, so recall@%s says nothing about retrieval: {}" % (k, k))

def note_chance(report):
    """Chunks drawn at random would reach half of recall@k."""
    k = report.cutoffs[-1]
    yield "chance", [(r.label, "%.3f of %.3f" % (r.row["chance@%s" % k], r.row["recall@%s" % k]))
                     for r in report.results if not saturated(r, k) and r.row["chance@%s" % k] is not None
                     and 0 < r.row["recall@%s" % k] <= 2 * r.row["chance@%s" % k]], (
        "%s chunks drawn at random already reach half of recall@%s: {}" % (k, k))

def note_floor(report):
    """Golds that no chunk can cover."""
    golds = len({gold for query in report.data.queries for gold in query.golds})
    lost = [(r.label, *unreached(r, report.data)) for r in report.results]
    yield "floor", [(label, "%d longer than a chunk, %d cut by a boundary" % (long, cut))
                    for label, long, cut in lost if long + cut], "golds, of %d, that no chunk can cover: {}" % golds

def note_ceiling(report):
    """A ranker that is perfect on chunks that are not."""
    for k in report.cutoffs:
        yield "ceiling", [(r.label, "%.3f" % r.row["recall@%s" % k]) for r in report.results if not saturated(r, k)
                          and 0 < r.row["recall@%s" % k] == r.row["ceiling@%s" % k] < 1], (
            "recall@%s is all that these chunks allow, whatever the ranker: {}" % k)

def unsure(report, k):
    """The comparisons at k that these queries cannot tell from chance."""
    return [row for row in report.comparisons if row["metric"] == "recall@%s" % k and (row["p_holm"] or 0) >= 0.05]

def note_inseparable(report):
    """Differences from the baseline that so few queries cannot tell from chance."""
    for k in reversed(report.cutoffs):
        enough = next(n for n in range(1, 99) if mcnemar(n, 0) * (len(report.results) - 1) < 0.05)
        yield "inseparable", [(row["strategy"], "+%d -%d, p = %.2f" % (len(row["wins"]), len(row["losses"]), row["p_holm"]))
                              for row in unsure(report, k)], (
            "by recall@%s, %d queries cannot tell these from %s (it takes %d wins without a loss): {}"
            % (k, len(report.data.queries), report.base, enough))

def note_elbow(report):
    """The frontier's elbow among the strategies that can be believed, and what the next step up costs."""
    k = report.cutoffs[-1]
    doubted = {row["strategy"] for row in unsure(report, k)}
    sure = [r for r in report.results if not saturated(r, k) and r.label not in doubted and r.high is None]
    points = [(r.row["recall@%s" % k], r.row["tokens"]) for r in sure]
    at = elbow(points)
    if at is not None:
        after = points[frontier(points)[frontier(points).index(at) + 1]]
        yield "elbow", [(sure[at].label, "%.3f for %.1f tokens" % points[at])], (
            "the best bargain is {}; the next step up pays %.1f tokens more for %+.3f" % (
                after[1] - points[at][1], after[0] - points[at][0]))

def note_depth(report):
    """A recursive chunker that found nothing better than spaces or characters for a fifth of its cuts."""
    cuts = [(r.label, levels(r.run, report.data.docs)) for r in report.results if r.run.strategy.startswith("recursive:")]
    cuts = [(label, (n["space"] + n["character"]) / sum(n.values())) for label, n in cuts if n]
    yield "depth", [(label, "%.0f %%" % (100 * share)) for label, share in cuts if share >= 0.2], (
        "cuts that fell to a space or within a word, for want of a better place: {}")

def notes(report):
    """What the figures do not say for themselves, the weightiest first, at most seven: [(kind, labels, text), ...]."""
    found = []
    for make in (note_varies, note_lost, note_saturated, note_chance, note_floor, note_ceiling, note_inseparable,
                 note_elbow, note_depth):
        for kind, pairs, text in make(report):
            named = ", ".join("%s (%s)" % pair for pair in pairs[:5]) + " and %d more" % (len(pairs) - 5) * (len(pairs) > 5)
            found += [(kind, [label for label, _ in pairs], text.format(named))] if pairs else []
    return found[:7]

# ---- print: tables, and what other programs read ---------------------------
def spelled(result, key):
    """A figure as tables show it, with its range where rounds vary."""
    value, shape = result.row[key], "%.1f" if key.startswith(("tokens", "sent")) else "%.3f"
    if key in result.low:
        return "%s [%s, %s]" % tuple(shape % number for number in (value, result.low[key], result.high[key]))
    if isinstance(value, list):
        return "%.3f-%.3f" % tuple(value)
    return shape % value if isinstance(value, float) else value

def select(report, keys):
    """The results as rows of some figures, for table(); the label stands for the strategy."""
    return [{"strategy": r.label, **{key: spelled(r, key) for key in keys}} for r in report.results]

def usual(report):
    """The figures of the default table."""
    last = report.cutoffs[-1]
    return ["chunks"] + ["recall@%s" % k for k in report.cutoffs] + ["single@%s" % last, "multi@%s" % last, "tokens"]

def wrapped(text, indent=2):
    """A text in lines of at most 80 columns, the later ones indented."""
    from textwrap import fill
    return fill(text, 80, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)

def plural(number, noun):
    """3 and "query" as "3 queries"."""
    return "%d %s" % (number, noun if number == 1 else noun[:-1] + "ies" if noun.endswith("y") else noun + "s")

def fingerprint(value):
    """The SHA-256 of plain data, the same on every Python."""
    from hashlib import sha256
    return sha256(ascii(value).encode()).hexdigest()

def facts(data):
    """The corpus and the queries in numbers, as the JSON has them; the hashes are of what was loaded."""
    hops = [len(query.golds) for query in data.queries]
    texts = [(doc.name, doc.text, [tuple(piece) for piece in doc.paragraphs]) for doc in data.docs]
    return {"corpus": {"documents": len(data.docs), "paragraphs": sum(len(doc.paragraphs) for doc in data.docs),
                       "topics": len(data.topics), "characters": sum(len(doc.text) for doc in data.docs),
                       "sha256": fingerprint((texts, sorted(data.topics)))},
            "queries": {"total": len(hops), "single": hops.count(1), "multi": len(hops) - hops.count(1),
                        "skipped": data.skipped, "sha256": fingerprint([(query.text, [tuple(gold) for gold in query.golds])
                                                                        for query in data.queries])}}

def said(facts):
    """The lines that say what was measured."""
    corpus, queries = facts["corpus"], facts["queries"]
    return [wrapped("corpus     %s  [%s]" % (", ".join(plural(corpus[noun + "s"], noun) for noun in (
        "document", "paragraph", "topic", "character")), corpus["sha256"][:8]), 11),
        wrapped("queries    %d: %d single-hop, %d multi-hop%s  [%s]" % (
            queries["total"], queries["single"], queries["multi"], ", %d skipped" % queries["skipped"] * bool(
                queries["skipped"]), queries["sha256"][:8]), 11)]

TOKENIZER = "words; character bigrams in scripts without spaces"

def to_text(report):
    """The table as a person reads it, with what was measured above it and the notes below."""
    settings, sends = report.settings, report.cutoffs[-1]
    names = list(dict.fromkeys(result.row["retriever"] for result in report.results))
    lines = said(facts(report.data)) + [wrapped(line, 11) for line in (
        "tokenizer  " + TOKENIZER, "retriever  " + ", ".join(names),
        "sent       " + ("the top %s" % ", ".join(map(str, settings["k"])) if isinstance(sends, int) else
                         "the best chunks that fit in %s tokens" % sends[:-1]))]
    agreed = all(result.high is None for result in report.results)
    counted = "A token is a word, or two neighbours of Chinese and the like; an LLM counts its own."
    if settings["count"] != "tokens":
        counted = "Tokens are counted by %s." % settings["count"]
    lines += ["", table(select(report, usual(report))), "", "%s %s." % (plural(settings["rounds"], "round"), (
        "agree bit for bit" if settings["rounds"] > 1 else "was run") if agreed else "disagree"), wrapped(counted)]
    return "\n".join(lines + [""] * bool(notes(report)) + [wrapped("%s: %s" % (kind, text)) for kind, _, text in notes(report)])

def groups(report):
    """The figures that the default table leaves out, in tables of a few."""
    at = lambda *keys: ["%s@%s" % (key, k) for key in keys for k in report.cutoffs]
    return [at("ceiling", "chance") + ["cut", "outranked"], at("evidence", "complete") + ["rr", "sent", "longest"],
            ["char_recall", "char_precision", "char_iou", "redundancy", "index_growth"], at("ci"),
            *([at("tokens")] if len(report.settings["k"]) > 1 else [])]

def contrasts(report):
    """The comparisons as rows, the queries won and lost by number."""
    return [{"strategy": row["strategy"], "metric": row["metric"], "difference": "%+.3f" % row["difference"],
             **({} if row["p"] is None else {"p": row["p"], "p_holm": row["p_holm"]}),
             "won": " ".join(map(str, row["wins"])) or "-", "lost": " ".join(map(str, row["losses"])) or "-"}
            for row in report.comparisons]

def depths(report):
    """Where the cuts of the recursive chunkers fall, as rows."""
    return [{"strategy": r.label, **{level: levels(r.run, report.data.docs)[level] for level in LEVELS}}
            for r in report.results if r.run.strategy.startswith("recursive:")]

def to_detail(report):
    """The other figures, the comparisons, and the levels of recursive cuts, in tables."""
    tables = [table(select(report, keys)) for keys in groups(report)]
    tables += ["against %s:\n%s" % (report.base, table(contrasts(report)))] if report.comparisons else []
    tables += ["cuts after:\n" + table(depths(report))] if depths(report) else []
    return "\n\n".join(tables)

def to_markdown(report):
    """All figures as Markdown tables, and the notes as a list."""
    def marked(rows):
        lines = [list(rows[0]), [":--"] + ["--:"] * (len(rows[0]) - 1)] + [[
            "%.3f" % value if isinstance(value, float) else "-" if value is None else str(value).replace("|", "\\|")
            for value in row.values()] for row in rows]
        return "\n".join("| %s |" % " | ".join(line) for line in lines)
    parts = [marked(select(report, keys)) for keys in [usual(report), *groups(report)]]
    parts += [marked(rows) for rows in (contrasts(report), depths(report)) if rows]
    parts += ["\n".join("- **%s**: %s" % (kind, text) for kind, _, text in notes(report))] if notes(report) else []
    return "\n\n".join(parts)

def to_csv(report):
    """All figures, a line a strategy, unrounded; a byte order mark tells spreadsheets that it is UTF-8."""
    import csv
    import io
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(list(report.results[0].row))
    for result in report.results:
        writer.writerow([result.label if key == "strategy" else " ".join(map(str, value)) if isinstance(value, list) else value
                         for key, value in result.row.items()])
    return "\ufeff" + out.getvalue().rstrip("\n")

def by_query(result, report):
    """What one strategy did, query by query, as in the JSON."""
    run, docs, last = result.run, report.data.docs, report.cutoffs[-1]
    for query, record in zip(report.data.queries, run.records):
        top = sent(run, record, last)
        yield {"query": query.text, "gold": [gold.name for gold in query.golds],
               "top": [[docs[run.chunks[number][0]].name, *run.chunks[number][1:]] for number in top],
               **{"answered@%s" % k: answered(record, sent(run, record, k)) for k in report.cutoffs},
               "missing": [gold.name for gold, covering in zip(query.golds, record.covers) if covering.isdisjoint(top)],
               "tokens": sum(run.tokens[number] for number in top)}

def to_json(report):
    """Everything, unrounded, as JSON."""
    import json
    points = [(result.row["recall@%s" % report.cutoffs[-1]], result.row["tokens"]) for result in report.results]
    bend = elbow(points)
    content = {"version": VERSION, "tokenizer": TOKENIZER, **report.settings,
               "deterministic": all(result.high is None for result in report.results), **facts(report.data),
               "strategies": [{**result.row, **({"range": {key: [result.low[key], result.high[key]] for key in result.low}}
                                                if result.low else {}), "queries": list(by_query(result, report))}
                              for result in report.results],
               "comparisons": report.comparisons, "frontier": [report.results[n].label for n in frontier(points)],
               "elbow": None if bend is None else report.results[bend].label,
               "notes": [{"kind": kind, "strategies": labels, "text": text} for kind, labels, text in notes(report)]}
    return json.dumps(content, ensure_ascii=False, indent=1)

def write_trec(report, folder):
    """NAME.run and NAME.qrels for each strategy: a chunk is document:start-end, its score 1 / rank, its relevance the
    golds that it covers. A query without a chunk that covers any has a line of relevance 0, so that it counts."""
    try:
        os.makedirs(folder, exist_ok=True)
        for result in report.results:
            path = os.path.join(folder, re.sub(r"[^\w.%-]+", "-", result.label))
            names = ["%d:%d-%d" % place for place in result.run.chunks]
            with open(path + ".run", "w", encoding="utf-8", newline="\n") as out:
                out.writelines("%d Q0 %s %d %.9f %s\n" % (query, names[number], rank, 1 / rank, os.path.basename(path))
                               for query, record in enumerate(result.run.records, 1)
                               for rank, number in enumerate(dict.fromkeys(record.ranked), 1))
            with open(path + ".qrels", "w", encoding="utf-8", newline="\n") as out:
                for query, record in enumerate(result.run.records, 1):
                    bits = patterns(record) or {0: 0}
                    out.writelines("%d 0 %s %d\n" % (query, names[n], bin(bits[n]).count("1")) for n in sorted(bits))
    except OSError as error:
        fault(folder, "%s (a folder that can be written)", (error.strerror or str(error)).lower())

# ---- pages: what a person looks into ---------------------------------------
def excerpt(text, width=24):
    """The first and last characters of a text on one line."""
    text = " ".join(text.split())
    return text if len(text) <= 2 * width + 1 else text[:width] + "…" + text[-width:]

def where(doc, chunk):
    """A chunk's place for a reader: document start-end."""
    return "%s %d-%d" % (doc.name, chunk[1], chunk[2])

def coverage(gold, chunk, words):
    """The largest share of a place of a gold that one chunk holds, as the judge measures it; words(place): its tokens."""
    if gold.rule == "wording":
        return max(len(words(place) & words(chunk)) / max(1, len(words(place))) for place in gold.places)
    whole = (lambda place: min(size([place]), size([chunk]))) if gold.rule == "section" else lambda place: size([place])
    return max(shared([place], [chunk]) / whole(place) for place in gold.places)

def explain(report, only=None):
    """The page that tells, query by query, what each strategy retrieved, what it missed, and why."""
    data, k, lines = report.data, report.cutoffs[-1], []
    words = lru_cache(None)(lambda place: set(tokenize(data.docs[place[0]].text[place[1]:place[2]])))
    for number, query in enumerate(data.queries, 1):
        if only in (None, number):
            lines += ["query %d: %s" % (number, query.text), "  needs " + " and ".join(quoted(g.name) for g in query.golds)]
            for result in report.results:
                lines += explained(result, query, result.run.records[number - 1], k, data.docs, words)
            lines.append("")
    return "\n".join(lines[:-1])

def explained(result, query, record, k, docs, words):
    """The lines of one query and strategy: the verdict, what was sent, what is missing; words: place -> its tokens."""
    run, top = result.run, sent(result.run, record, k)
    limit, cost = (k, lambda number: 1) if isinstance(k, int) else (int(k[:-1]), run.tokens.__getitem__)
    possible = least(patterns(record), len(record.covers), cost) <= limit
    yield "  %s: %s" % (result.label, "answered" if answered(record, top) else (
        "missed, outranked: other chunks hold it all, and the ranker did not put them in the top %s" if possible else
        "missed, cut: no choice of these chunks holds it all within %s") % k)
    for rank, number in enumerate(top, 1):
        document, start, end = run.chunks[number]
        covers = [quoted(gold.name, 30) for gold, covering in zip(query.golds, record.covers) if number in covering]
        yield "    %d. %s, %d tokens%s%s" % (
            rank, where(docs, run.chunks[number]), run.tokens[number], ", score %.3f" % record.scores[number]
            if record.scores else "", ", covers " + " and ".join(covers) if covers else "")
        yield "       " + excerpt(docs[document].text[start:end])
    for gold, covering in zip(query.golds, record.covers):
        if covering.isdisjoint(top):
            together = union(run.chunks[number] for number in top)
            ranks = [rank for rank, number in enumerate(record.ranked, 1) if number in covering]
            yield "    missing %s: what was sent holds %.0f %% of it together, the best chunk of all %.0f %%; %s" % (
                quoted(gold.name, 30), 100 * max(shared([place], together) / size([place]) for place in gold.places),
                100 * max(coverage(gold, chunk, words) for chunk in run.chunks),
                "no chunk covers it" if not covering else "the first chunk that covers it is number %d" % ranks[0] if ranks
                else "the chunks that cover it match no word of the query")

def torn(doc, position):
    """"~" where a position lies inside a paragraph, or nothing."""
    at = bisect_left(doc.paragraphs, (position,)) - 1
    return "~" if at >= 0 and position < doc.paragraphs[at][1] else ""

def list_chunks(report):
    """The chunks of each strategy: where, tokens, the golds they cover, their ends; ~ where a paragraph is cut."""
    lines, docs = [], report.data.docs
    for result in report.results:
        run, covers = result.run, defaultdict(dict)
        for query, record in zip(report.data.queries, run.records):
            for gold, covering in zip(query.golds, record.covers):
                for number in covering:
                    covers[number][quoted(gold.name, 30)] = None
        longest = run.tokens.index(max(run.tokens, default=0)) if run.tokens else 0
        lines.append("%s: %s, the longest is number %d" % (result.label, plural(len(run.chunks), "chunk"), longest + 1))
        for number, (document, start, end) in enumerate(run.chunks):
            doc, golds = docs[document], " and ".join(covers[number])
            lines.append("%4d. %s %d-%d, %d tokens%s" % (
                number + 1, doc.name, start, end, run.tokens[number], golds and ", covers " + golds))
            lines.append("      " + torn(doc, start) + excerpt(doc.text[start:end]) + torn(doc, end))
        lines.append("")
    return "\n".join(lines[:-1])

def check(data, command):
    """What a person needs to know of data before choosing sizes."""
    lengths = sorted(end - start for doc in data.docs for start, end in doc.paragraphs) or [0]
    tokens = sorted(len(tokenize(doc.text[start:end])) for doc in data.docs for start, end in doc.paragraphs) or [0]
    golds = {gold for query in data.queries for gold in query.golds} or set(data.topics.values())
    passages = sorted(min(size([place]) for place in gold.places) for gold in golds if gold.places) or [0]
    kinds = Counter({"wording": "labelled topic", "section": "section", "quote": "quote"}[gold.rule] for gold in golds)
    vocabulary = set(chain.from_iterable(map(Memory(), (doc.text for doc in data.docs))))
    strange = [quoted(query.text) for query in data.queries if vocabulary.isdisjoint(tokenize(query.text))]
    twice = Counter(doc.text[start:end] for doc in data.docs for start, end in doc.paragraphs)
    spread = lambda values: "%d, %d, %d" % (values[0], values[len(values) // 2], values[-1])
    tried = ",".join(str(max(1, round(passages[len(passages) // 2] * factor, -1) or 5)) for factor in (0.5, 1.5, 4))
    return "\n".join(said(facts(data)) + [
        "", "                          least, median, most",
        "characters a paragraph    " + spread(lengths), "tokens a paragraph        " + spread(tokens),
        "characters a gold         " + spread(passages), "",
        "characters a token        %.2f" % (sum(lengths) / max(1, sum(tokens))),
        "golds                     " + ", ".join(plural(count, kind) for kind, count in sorted(kinds.items())),
        "paragraphs that repeat    %d" % sum(count - 1 for count in twice.values()),
        "queries without a match   %d%s" % (len(strange), ": " + "; ".join(strange[:3]) if strange else ""), "",
        "Sizes below, around and above the length of a gold:", "  python %s -s fixed:%s" % (command, tried)])

# ---- picture: cost against recall, as SVG ----------------------------------
STYLE = """text{font:12px sans-serif;fill:#333}.axis{stroke:#999}.grid{stroke:#8883}.ci{stroke:#8886}
.dot{fill:#888}.best{fill:#0969da}.line{fill:none;stroke:#0969da}.limit{stroke:#b35900}.luck{fill:#b35900}
@media(prefers-color-scheme:dark){text{fill:#ddd}.best{fill:#58a6ff}.line{stroke:#58a6ff}.limit{stroke:#f0883e}.luck{fill:#f0883e}}"""

def ticks(top):
    """Round numbers from 0 to at least `top`, some five of them."""
    step = 10 ** (len(str(int(top))) - 1)
    step = next(s for s in (step / 5, step / 2, step, step * 2) if top / s <= 6)
    return [step * n for n in range(int(-(-top // step)) + 1)]

def to_svg(report):
    """recall@k against tokens: a point a strategy, titled; the frontier joined, its points and the elbow labelled; the
    95 % interval as a bar, the ceiling as a dash, chance as a square."""
    from html import escape
    k, best, taken = report.cutoffs[-1], [], []
    points = [(r.row["recall@%s" % k], r.row["tokens"]) for r in report.results]
    marks, best, bend = ticks(max(1.0, *(tokens for _, tokens in points))), frontier(points), elbow(points)
    spots = [(60 + 640 * tokens / marks[-1], 390 - 350 * recall) for recall, tokens in points]
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 440" width="720" height="440" role="img">',
           "<title>recall@%s against tokens sent</title>" % k, "<style>%s</style>" % STYLE]
    for mark in marks:
        out.append('<path class="grid" d="M%.1f 40V390"/><text x="%.1f" y="408" text-anchor="middle">%g</text>' % (
            60 + 640 * mark / marks[-1], 60 + 640 * mark / marks[-1], mark))
    for fifth in range(6):
        out.append('<path class="grid" d="M60 %dH700"/><text x="52" y="%d" text-anchor="end">%.1f</text>' % (
            390 - 70 * fifth, 394 - 70 * fifth, fifth / 5))
    out.append('<text x="60" y="24">recall@%s, bars: 95 %% interval, dash: ceiling, square: chance</text>' % k)
    out.append('<text x="700" y="430" text-anchor="end">tokens sent a query</text>')
    out.append('<path class="line" d="M%s"/>' % "L".join("%.1f %.1f" % spots[n] for n in best))
    for n, (result, (x, y)) in enumerate(zip(report.results, spots)):
        low, high = (390 - 350 * share for share in result.row["ci@%s" % k])
        out.append('<path class="ci" d="M%.1f %.1fV%.1f"/>' % (x, low, high))
        out.append('<path class="limit" d="M%.1f %.1fh12"/>' % (x - 6, 390 - 350 * result.row["ceiling@%s" % k]))
        if result.row["chance@%s" % k] is not None:
            out.append('<rect class="luck" x="%.1f" y="%.1f" width="5" height="5"/>' % (
                x - 2.5, 387.5 - 350 * result.row["chance@%s" % k]))
        out.append('<circle class="%s" cx="%.1f" cy="%.1f" r="5"><title>%s: %.3f for %.1f tokens</title></circle>' % (
            "best" if n in best else "dot", x, y, escape(result.label), *points[n]))
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in spots]
    for n in best:
        label = report.results[n].label + " (elbow)" * (n == bend)
        x, y, width = *spots[n], 7 * len(label)
        boxes = [(left, y + down, left + width, y + down + 14) for far in range(0, 300, 6) for down in (-7 - far, far - 7)
                 for left in (x + 9, x - 9 - width) if 60 <= left <= 712 - width and 28 < y + down < 376]
        box = next((box for box in boxes if all(
            box[0] >= right or left >= box[2] or box[1] >= bottom or top >= box[3] for left, top, right, bottom in taken)), boxes[0])
        taken.append(box)
        out.append('<text x="%.1f" y="%.1f">%s</text>' % (box[0], box[1] + 11, escape(label)))
    return "\n".join(out + ["</svg>"]) + "\n"

# ---- command line ----------------------------------------------------------
EXAMPLES_OF_USE = """examples:
  python chunking_retrieval_eval.py
  python chunking_retrieval_eval.py --corpus docs/ --queries questions.jsonl -s fixed:200,400,800 -s recursive:400/10%
  python chunking_retrieval_eval.py --explain 3 -s para:90"""

def parse(arguments):
    """The command line as a namespace. Faults, and no exit, for what is wrong with it."""
    from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter

    class Parser(ArgumentParser):
        def error(self, message):
            fault("arguments", "%s (--help lists them)", message)

    def whole(text):
        if not re.fullmatch(r"[1-9]\d{0,8}", text, re.ASCII):
            raise ArgumentTypeError("%s is no whole number from 1" % quoted(text))
        return int(text)
    parser = Parser(prog="chunking_retrieval_eval.py", description=__doc__.split("\n")[0], epilog=EXAMPLES_OF_USE,
                    formatter_class=RawDescriptionHelpFormatter, allow_abbrev=False)
    data, run, output = (parser.add_argument_group(title) for title in ("data", "what is run", "what is shown"))
    data.add_argument("--corpus", metavar="PATH", help=".py, .jsonl, .md, .txt, or a folder of .md and .txt (corpus.py)")
    data.add_argument("--queries", metavar="PATH", help=".py, .jsonl or .csv (queries.py)")
    data.add_argument("--squad", metavar="FILE", help="corpus and queries in SQuAD's JSON")
    data.add_argument("--check", action="store_true", help="validate the data, print its statistics, stop")
    run.add_argument("-s", "--strategy", metavar="SPEC", action="append", help="; ".join(EXAMPLES.values()).replace(
        "%", "%%") + "; or module.function; fixed:50,100 is two; repeatable")
    run.add_argument("--retriever", metavar="NAME", action="append", help="bm25, hash, hybrid or module.factory; repeatable")
    sends = run.add_mutually_exclusive_group()
    sends.add_argument("-k", "--top-k", metavar="N[,N...]", type=lambda text: sorted({whole(part) for part in text.split(",")}),
                       default=[3], help="how many chunks are sent (3)")
    sends.add_argument("--budget", metavar="TOKENS", type=whole, help="send what fits in so many tokens instead")
    run.add_argument("--rounds", metavar="N", type=whole, default=3, help="how often the whole is done (3)")
    run.add_argument("--baseline", metavar="SPEC", help="what the others are compared with (the first)")
    run.add_argument("--count", metavar="module.function", help="what counts tokens instead: text -> int")
    run.add_argument("--context", action="store_true", help="index, and pay for, each chunk with its title and headings")
    run.add_argument("--jobs", metavar="N", type=whole, default=1, help="strategies side by side in N processes")
    output.add_argument("--format", choices=list(FORMATS), default="table", help="table, markdown, csv or json")
    output.add_argument("--detail", action="store_true", help="the other figures, and the queries won and lost")
    output.add_argument("--explain", metavar="N", nargs="?", type=whole, const=0, help="query by query, or query N: why")
    output.add_argument("--chunks", action="store_true", help="the chunks of each strategy, and what each covers")
    output.add_argument("--plot", metavar="FILE.svg", help="draw cost against recall")
    output.add_argument("--trec", metavar="DIR", help="write NAME.run and NAME.qrels for trec_eval and its like")
    parser.add_argument("--version", action="version", version=VERSION)
    return parser.parse_args(arguments)

FORMATS = {"table": to_text, "markdown": to_markdown, "csv": to_csv, "json": to_json}

def counted(name, text):
    """How many tokens the user's module.function says that a text has."""
    found = calling(name, imported(name), text)
    if not isinstance(found, int) or found < 0:
        fault(name, "counted %s (a whole number from 0)", quoted(repr(found)))
    return found

def gather(options):
    """The data that the options name, as Data."""
    here = os.path.dirname(os.path.abspath(__file__))
    if options.squad:
        if options.corpus or options.queries:
            fault("--squad", "brings its own corpus and queries (without --corpus and --queries)")
        return read_squad(options.squad)
    data = read_corpus(options.corpus or os.path.join(here, "corpus.py"))
    if options.check and options.corpus and not options.queries:
        return data
    return read_queries(options.queries or os.path.join(here, "queries.py"), data)

def quiet():
    """What a worker process does first: leave Ctrl-C to the one that started it."""
    import signal
    signal.signal(signal.SIGINT, signal.SIG_IGN)

def side_by_side(jobs, *arguments, **options):
    """sweep, in so many processes, which end with it however it ends."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import active_children
    executor = ProcessPoolExecutor(jobs, initializer=quiet)
    try:
        return sweep(*arguments, executor=executor, **options)
    except BaseException:
        for child in active_children():
            child.terminate()
        raise
    finally:
        executor.shutdown()

def progress(done, total, strategy):
    """One line on a terminal, written over and over: how much is done, what is being done."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        line = "" if done == total else "%d of %d: %s" % (done, total, strategy)
        print("\r" + line.ljust(58)[:58] + "\r" * (done == total), end="", file=sys.stderr, flush=True)

def work(options, data):
    """The Report that the options ask for."""
    specs = strategies(options.strategy or STRATEGIES)
    retrievers = list(dict.fromkeys(options.retriever or ["bm25"]))
    for name in retrievers:
        RETRIEVERS[name]
    labels = [spec if len(retrievers) == 1 else "%s %s" % (spec, name) for spec in specs for name in retrievers]
    cutoffs = [1, "%dt" % options.budget] if options.budget else sorted({1, *options.top_k})
    base = options.baseline or labels[0]
    base = next((n for n, label in enumerate(labels) if base in (label, label.split(" ")[0])), None)
    if base is None:
        fault("--baseline %s" % quoted(options.baseline), "is none of the strategies%s (%s)", nearest(options.baseline, labels), ", ".join(labels))
    count = partial(counted, options.count) if options.count else None
    runs = (partial(side_by_side, options.jobs) if options.jobs > 1 else sweep)(
        specs, data.docs, data.queries, retrievers, options.rounds, progress=progress, budget=options.budget or 0,
        depth=10 ** 9 if options.explain is not None else max(10, *options.top_k), scored=options.explain is not None,
        count=count, lead=heading if options.context else None)
    results = [summarize(*pair, data, cutoffs, len(options.top_k) > 1) for pair in zip(labels, runs)]
    steady = all(result.high is None for result in results)
    comparisons = compare(labels, [result.run for result in results], base, cutoffs)
    settings = {"count": options.count or "tokens", "k": options.top_k, "budget": options.budget, "rounds": options.rounds}
    return Report(data, results, comparisons if steady else [dict(row, p=None, p_holm=None) for row in comparisons],
                  cutoffs, labels[base], settings)

def output(options, data):
    """What a run prints."""
    if options.check:
        ways = (("--corpus", options.corpus), ("--queries", options.queries), ("--squad", options.squad))
        return check(data, " ".join(["chunking_retrieval_eval.py"] + ["%s %s" % way for way in ways if way[1]]))
    if options.explain and options.explain > len(data.queries):
        fault("--explain %d" % options.explain, "there are %d queries (a number from 1)", len(data.queries))
    if options.format != "table" and (options.detail or options.chunks or options.explain is not None):
        fault("--format " + options.format, "has no pages (--detail, --explain and --chunks go with the table)")
    report = work(options, data)
    if options.trec:
        write_trec(report, options.trec)
    if options.plot:
        try:
            with open(options.plot, "w", encoding="utf-8", newline="\n") as out:
                out.write(to_svg(report))
        except OSError as error:
            fault(options.plot, "%s (a file that can be written)", (error.strerror or str(error)).lower())
    pages = [FORMATS[options.format](report)]
    pages += [to_detail(report)] if options.detail else []
    pages += [explain(report, options.explain)] if options.explain is not None else []
    pages += [list_chunks(report)] if options.chunks else []
    return "\n\n".join(pages)

def emit(text, stream):
    """Write text as UTF-8 with plain line ends to a console, a pipe, or any text stream."""
    if hasattr(stream, "buffer"):
        stream.flush()
        stream.buffer.write(text.encode("utf-8", "backslashreplace"))
        stream.buffer.flush()
    else:
        stream.write(text)

def main(arguments=None):
    """Run the command line. Returns the exit status: 0 done, 1 interrupted or stdout closed, 2 bad arguments or data."""
    try:
        options = parse(arguments)
        emit("chunking_retrieval_eval %s, %s %d.%d.%d, %s\n" % (
            VERSION, sys.implementation.name, *sys.version_info[:3], sys.platform), sys.stderr)
        emit(output(options, gather(options)) + "\n", sys.stdout)
        return 0
    except Fault as problem:
        emit("error: %s\n" % " ".join(str(problem).split()), sys.stderr)
        return 2
    except KeyboardInterrupt:
        emit("interrupted\n", sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1

if __name__ == "__main__":
    sys.exit(main())
