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
from itertools import accumulate, chain
from math import fsum, log
from unicodedata import category, name, normalize

STRATEGIES = ["fixed:50", "overlap:50/15", "para:90", "para:180", "fixed:500"]
COVERED = 60  # per cent of a gold that a chunk must hold to cover it
# A slice is (start, end) in characters. A place and a chunk are (document number, start, end).
Document = namedtuple("Document", "name text paragraphs headings", defaults=[()])  # headings: (start, titles) of each
Gold = namedtuple("Gold", "name rule places")  # to be covered at any one of its places
Query = namedtuple("Query", "text golds")
Record = namedtuple("Record", "ranked scores covers")  # chunk numbers, best first; {number: score}; {gold: numbers}
Run = namedtuple("Run", "strategy retriever chunks tokens indexed records")  # tokens: what each chunk costs

# ---- tokenizer: words, and bigrams where words are not set apart -----------
UNSPACED = re.compile("(CJK|IDEOGRAPHIC|HANGZHOU|HIRAGANA|KATAKANA|HENTAIGANA|HANGUL|THAI|LAO|KHMER|MYANMAR)\\b")
RUNS = re.compile("(w)[wm]*|u[um]*")

@lru_cache(None)
def kind(character):
    """What a character is, by category and name: "w" of words, "u" of a script without spaces, "m" a mark, or " "."""
    letter = "u" if UNSPACED.match(name(character, "")) else "w"
    return {"M": "m", "L": letter, "N": letter}.get(category(character)[0], " ")

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
        self.name, self.k1, self.known = "bm25(k1=%g, b=%g)" % (k1, b), k1, {}
        self.postings = postings = defaultdict(list)  # token -> the number of its text, once an occurrence
        lengths = []
        for number, words in enumerate(map(tokenize, texts) if tokens is None else tokens):
            lengths.append(len(words))
            for token in words:
                postings[token].append(number)
        average = sum(lengths) / max(len(lengths), 1) or 1
        self.norms = [k1 * (1 - b + b * length / average) for length in lengths]

    def weigh(self, token, times):
        """What a query's token adds to the scores: the most, and {text number: how much}."""
        if (token, times) not in self.known:
            counts = Counter(self.postings[token])
            idf = log(1 + (len(self.norms) - len(counts) + 0.5) / (len(counts) + 0.5))
            added = {text: times * idf * tf * (self.k1 + 1) / (tf + self.norms[text]) for text, tf in counts.items()}
            self.known[token, times] = max(added.values()), added
        return self.known[token, times]

    def best(self, query, k):
        """(-score, text number) of the k best texts; one that can no longer get there is not scored on."""
        counts = Counter(filter(self.postings.__contains__, tokenize(query)))
        terms = sorted((self.weigh(*item) for item in counts.items()), key=lambda term: -term[0])
        total, enough, scores = sum(most for most, _ in terms), 0, {}
        rest = total
        for most, added in terms:
            least = enough - rest
            if least > 0:
                scores = {text: score + added.get(text, 0) for text, score in scores.items() if score > least}
            else:
                for text, weight in added.items():
                    scores[text] = scores.get(text, 0) + weight
            rest -= most
            if 0 < k <= len(scores) and total > 3 * rest:  # sooner, few scores can exceed the rest
                enough = min(nlargest(k, scores.values())) - 1e-6
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

CHUNKERS = {"fixed": lambda doc, size: chunk_fixed(doc.text, size),
            "overlap": lambda doc, size, overlap: chunk_overlap(doc.text, size, overlap),
            "para": lambda doc, limit: chunk_para(doc.paragraphs, limit)}

def slices(strategy, doc):
    """What a strategy such as "overlap:50/30%" cuts a document into; a slice that stands for another names it too."""
    chunker, *numbers = re.split("[:/]", strategy)
    numbers = [int(number) if number.isdigit() else int(numbers[0]) * int(number[:-1]) // 100
               if number.endswith("%") else number for number in numbers]
    return CHUNKERS[chunker](doc, *numbers)

# ---- judge: which chunks cover a gold --------------------------------------
def by_wording(golds, chunks, tokens):
    """{gold: the chunks that hold 60 % of the distinct tokens of one of its places}; tokens(*place): what it has."""
    holders = defaultdict(list)
    for number, chunk in enumerate(chunks if golds else ()):
        for token in set(tokens(*chunk)):
            holders[token].append(number)

    def holding(place):
        wanted = set(tokens(*place))
        need = -(-len(wanted) * COVERED // 100)
        some = max(1, need // 4)  # what holds enough of all holds so many of the rarest, whichever it lacks
        rarest = sorted((holders[token] for token in wanted), key=len)[:len(wanted) - need + some]
        return [number for number, held in Counter(chain.from_iterable(rarest)).items()
                if held >= some and len(wanted.intersection(tokens(*chunks[number]))) >= need]
    return {gold: set(chain.from_iterable(map(holding, gold.places))) for gold in golds}

# ---- one strategy, one round -----------------------------------------------
RETRIEVERS = {"bm25": BM25}
RULES = {"wording": by_wording}

def evaluate(strategy, docs, queries, depth=10, budget=0, retriever="bm25", count=None, lead=lambda doc, start: "",
             scored=False, words=lambda doc, start, end: tokenize(doc.text[start:end])):
    """Chunk, tokenize, index, retrieve, judge: a Run. depth, budget: how far to rank; count: text -> what it costs;
    lead(doc, start): what is put before a chunk; scored: keep scores; words(doc, start, end): a slice's tokens."""
    tokens = lru_cache(None)(lambda document, start, end: words(docs[document], start, end))

    def indexed(document, start, end):
        before, bag = lead(docs[document], start), tokens(document, start, end)
        return before + docs[document].text[start:end], tokenize(before) + bag if before else bag
    pieces = [(number, *piece) for number, doc in enumerate(docs) for piece in slices(strategy, doc)]
    sends = [piece[:1] + piece[-2:] for piece in pieces]  # the slice itself, or the one that it stands for
    chunks = list(dict.fromkeys(sends))
    owner = list(map({place: number for number, place in enumerate(chunks)}.get, sends))
    each = max(Counter(owner).values(), default=1)  # among n * each slices there are n chunks
    contents = [indexed(*piece[:3]) for piece in pieces]
    index = RETRIEVERS[retriever]([text for text, _ in contents], tokens=[bag for _, bag in contents])
    costs = [count(text) if count else len(bag) for text, bag in (indexed(*place) for place in chunks)]
    depth = max(depth, sum(total <= budget for total in accumulate(sorted(costs))))
    golds, covers, records = dict.fromkeys(gold for query in queries for gold in query.golds), {}, []
    for rule, judge in RULES.items():
        covers.update(judge([gold for gold in golds if gold.rule == rule], chunks, tokens))
    for query in queries:
        found = index.topk(query.text, min(depth * each, len(pieces)))
        ranked = [owner[number] for number in found]
        ranked = ranked if each == 1 else list(dict.fromkeys(ranked))
        scores = index.scores(query.text) if scored and hasattr(index, "scores") else None
        scores = scores and {owner[number]: scores[number] for number in reversed(found)}
        records.append(Record(ranked[:depth], scores, {gold: covers[gold] for gold in query.golds}))
    return Run(strategy, index.name, chunks, costs, sum(len(text) for text, _ in contents), records)

# ---- report: five rows -----------------------------------------------------
def load(corpus, joint=""):
    """The documents of CORPUS and the gold of each topic; a list is one document, its paragraphs joined."""
    docs, places = [], defaultdict(list)
    for title, pairs in (corpus if isinstance(corpus, dict) else {"corpus": corpus}).items():
        starts = accumulate([0] + [len(paragraph) + len(joint) for _, paragraph in pairs])
        slices = [(start, start + len(paragraph)) for start, (_, paragraph) in zip(starts, pairs)]
        for (topic, _), piece in zip(pairs, slices):
            places[topic].append((len(docs), *piece))
        docs.append(Document(title, joint.join(paragraph for _, paragraph in pairs), slices))
    return docs, {topic: Gold(topic, "wording", tuple(places[topic])) for topic in places}

def sent(run, record, k):
    """The chunks that a query sends: the first k, or as many of the first as fit in a budget of tokens, "350t"."""
    totals = accumulate(run.tokens[number] for number in record.ranked)
    return record.ranked[:k if isinstance(k, int) else sum(total <= int(k[:-1]) for total in totals)]

def answered(record, chunks):
    """Whether every gold of the query is covered by one of these chunks."""
    return all(not covering.isdisjoint(chunks) for covering in record.covers.values())

def mean(values):
    """The mean of a list, or None of an empty one."""
    return fsum(values) / len(values) if values else None

def measure(run, k):
    """One row: recall@1, recall@k, the same by hops, and the tokens that a query sends."""
    def recall(k, records=run.records):
        return mean([answered(record, sent(run, record, k)) for record in records])
    return {"strategy": run.strategy, "chunks": len(run.chunks), "recall@1": recall(1), "recall@%s" % k: recall(k),
            "single@%s" % k: recall(k, [record for record in run.records if len(record.covers) == 1]),
            "multi@%s" % k: recall(k, [record for record in run.records if len(record.covers) > 1]),
            "tokens": mean([sum(run.tokens[number] for number in sent(run, record, k)) for record in run.records])}

def cell(key, value):
    """A figure as tables show it."""
    shape = "%.1f" if key.startswith(("tokens", "sent")) else "%.3f"
    return "-" if value is None else shape % value if isinstance(value, float) else str(value)

def table(rows):
    """Rows {name: value} as aligned lines under their names."""
    lines = [list(rows[0])] + [[cell(*item) for item in row.items()] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join("  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines)

def report(corpus, queries, k=3):
    """Print the five rows."""
    docs, golds = load(corpus)
    queries = [Query(text, [golds[topic] for topic in dict.fromkeys(topics)]) for topics, text in queries]
    print(table([measure(evaluate(strategy, docs, queries), k) for strategy in STRATEGIES]))

# ======================== Part 2: the workbench =============================
import gc
import os
import sys
from array import array
from bisect import bisect_left, bisect_right
from contextlib import contextmanager
from functools import partial
from itertools import combinations, groupby, product
from math import ceil, comb, sqrt
from operator import index, mul
from types import SimpleNamespace

VERSION = "1.0.0"

# ---- faults: what a user did, in one line ----------------------------------
class Fault(ValueError):
    """What is wrong with data or arguments: "WHERE: what is wrong (what would be right)"."""

def fault(where, what, *values):
    """Raise a Fault, always; the values fill the %s of `what`."""
    raise Fault("%s: %s" % (where, what % values if values else what))

def warn(where, odd):
    """Say on standard error what is odd, but usable: {what: [each that is so, ...]}."""
    for what, texts in odd.items():
        if texts:
            such = ", ".join(map(quoted, texts[:3])) + ", ..." * (len(texts) > 3)
            emit("warning: %s: %s: %d (%s)\n" % (where, what, len(texts), such), sys.stderr)

def quoted(text, width=60):
    """A text in quotes on one line, the middle of a long one left out."""
    text = " ".join(str(text).split())
    return '"%s"' % (text if len(text) <= width else text[:width * 2 // 3] + " ... " + text[-width // 3:])

def nearest(name, names):
    """'; the nearest is "..."' for a name that is not among `names`, or nothing where none is near."""
    from difflib import get_close_matches
    folded = {other.casefold(): other for other in names}
    found = get_close_matches(name.casefold(), folded, 1, 0.5)
    return "; the nearest is " + quoted(folded[found[0]]) if found else ""

# ---- files: text, JSON, Python ---------------------------------------------
LIST, GOLDS = (list, tuple), (str, list, tuple)
RIGHT = {str: "a text, not blank", int: "a whole number", LIST: "a list", GOLDS: "a topic or passage, or a list"}

@contextmanager
def blame(where, right):
    """Around what runs a user's code or data: what goes wrong becomes a Fault that says what would be right, with the
    line that the error tells if `where` is a file."""
    try:
        yield
    except Fault:
        raise
    except (Exception, SystemExit) as error:
        from traceback import extract_tb
        own = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == where]
        line = own[-1] if own else getattr(error, "lineno", None)  # that of the file's own code, or of its syntax
        at = ":%d" % line if line and os.path.isfile(where) else ""
        fault(where + at, "%s: %s (%s)", type(error).__name__, quoted(error, 200), right)

def read_text(path):
    """The text of a file in UTF-8, without its byte order mark. A Fault names a wrong byte and its line."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return file.read()
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        fault("%s:%d" % (path, line), "byte 0x%02x is not UTF-8 (save it as UTF-8)", error.object[error.start])
    except OSError as error:
        fault(path, "%s (a file that can be read)", str(error.strerror or error).lower())

def parse_json(text, where):
    """What a JSON text says; it stands at FILE:LINE, or is all of a FILE."""
    from json import loads
    with blame(where, "one JSON value"):
        return loads(text)

def read_jsonl(path, known):
    """[(FILE:LINE, value), ...] of the lines that are not blank; keys that are not `known` are warned of."""
    lines = [("%s:%d" % (path, number), line) for number, line in enumerate(read_text(path).split("\n"), 1)]
    rows = [(where, parse_json(line, where)) for where, line in lines if line.strip()]
    odd = [key for _, row in rows if isinstance(row, dict) for key in row if key not in known]
    warn(path, {"keys not used (known: %s)" % ", ".join(known): odd})
    return rows

def field(item, where, *keys, kind=str, needed=True):
    """What an object has under the first of its `keys`, or None if that is not needed; a Fault if of another kind."""
    if not isinstance(item, dict):
        fault(where, '%s is no object (one with "%s")', quoted(repr(item)), keys[0])
    key = next((key for key in keys if item.get(key) is not None), None)
    if key is None:
        return fault(where, 'no "%s" in %s (%s)', '" or "'.join(keys), quoted(item), RIGHT[kind]) if needed else None
    if not isinstance(item[key], kind) or kind is str and not item[key].strip():
        fault(where, '"%s" is %s %s (%s)', key, type(item[key]).__name__, quoted(item[key]), RIGHT[kind])
    return item[key]

# ---- Markdown: lines, blocks, sections -------------------------------------
UNIT = r"""(?xm)(?!\Z)(?:
    (?P<f>[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?P<mark>(?P<char>[`~])(?P=char){2,})(?!(?<=`)[^\n]*`)[^\n]*
        (?:\n(?![ \t]*(?P=mark)(?P=char)*[^\S\n]*$)[^\n]*)*(?:\n[^\n]*)?)  # to the line of its mark, or the end
    |(?P<h>[ ]{0,3}\#{1,6}(?![^ \t\r\n])[^\n]*)|(?P<t>[^\S\n]*\|[^\n]*)|(?P<x>[^\S\n]*\S[^\n]*)|(?P<b>[^\n]*)
    )\n?"""
BLOCK = "(?:h[hb]*)?[ftx]+|h(?:[hb]*h)?"  # in the letters of scan: text with its headings, or these alone
EXPLICIT = r"\{#([^{}\s]+)\}$"

def scan(text):
    """(start, end, letter) of each line, or whole fence, the white space after it left out: f for a fence, h for a
    heading, t for a line of a table, b for a blank one, x for other text."""
    return [(unit.start(), unit.start() + len(unit[0].rstrip()), unit.lastgroup) for unit in re.finditer(UNIT, text)]

def blocks(text):
    """The paragraphs of a text, as slices: what stands between blank lines, or a fence whatever it holds. A heading
    goes with the block after it; the white space after a block is in none."""
    lines = scan(text)
    found = re.finditer(BLOCK, "".join(letter for _, _, letter in lines))
    return [(lines[block.start()][0], lines[block.end() - 1][1]) for block in found]

def slug(title, seen):
    """GitHub's anchor of a heading, or its explicit {#id}; `seen` counts those so far: the second ends in -1."""
    explicit = re.search(EXPLICIT, title)
    if explicit:
        return explicit[1]
    plain = re.sub(r"!?\[([^\[\]]*)\]\([^()]*\)", r"\1", title).strip().lower()
    first = anchor = "".join(c for c in plain if c in "-_ " or category(c)[0] in "LMN").replace(" ", "-")
    while anchor in seen:
        seen[first] += 1
        anchor = "%s-%d" % (first, seen[first])
    seen[anchor] = 0
    return anchor

def sections(text, stem):
    """(topic, start, end, "stem > title > subtitle") of the whole text, which is the topic `stem`, and of what stands
    under each heading and its subheadings, `stem#slug`."""
    path, seen, found = [], {}, [(0, 0, stem)]
    for start, line in ((start, text[start:end].strip()) for start, end, letter in scan(text) if letter == "h"):
        title = re.sub(r"(?<!\S)#+$", "", line.lstrip("#").strip()).strip()  # without the #s that may close it
        found.append((start, len(line) - len(line.lstrip("#")), title))
    for n, (start, level, title) in enumerate(found):
        end = next((found[m][0] for m in range(n + 1, len(found)) if found[m][1] <= level), len(text))
        path = [entry for entry in path if entry[0] < level] + [(level, re.sub(EXPLICIT, "", title).rstrip())]
        topic = "%s#%s" % (stem, slug(title, seen)) if level else stem
        yield topic, start, end, " > ".join(title for _, title in path)

def heading(doc, start):
    """What --context puts before a chunk: the titles that its start stands under, in a line, or nothing."""
    at = bisect_left(doc.headings, (start + 1,))
    return doc.headings[at - 1][1] + "\n" if at else ""

# ---- corpora: documents and topics -----------------------------------------
Data = namedtuple("Data", "docs topics queries skipped", defaults=[[], 0])  # topics: {name: Gold}

def reader(path, readers):
    """The one of the readers, {ending of a name: function}, that a path calls for."""
    os.stat(path)  # an OSError where there is none
    ending = "a directory" if os.path.isdir(path) else os.path.splitext(path)[1].lower()
    return readers.get(ending) or fault(path, "no format is called %s (%s)", quoted(ending), ", ".join(readers))

def rows_py(path, name, first, second):
    """(WHERE, {first, second, "doc"}) of each pair of the list that a Python file calls `name`, or of a dict of such
    lists by document. The file is run."""
    source, scope = read_text(path), {"__name__": os.path.basename(path)[:-3], "__file__": path}
    with blame(path, "Python that defines " + name):
        exec(compile(source, path, "exec"), scope)
    found = scope.get(name)
    for doc, pairs in found.items() if isinstance(found, dict) else [(None, found)]:
        where = "%s: %s" % (path, name if doc is None else "%s[%r]" % (name, doc))
        if not isinstance(pairs, LIST):
            fault(where, "no list (one of (%s, %s) pairs, or a dict of such lists by document)", first, second)
        for number, pair in enumerate(pairs):
            at = "%s[%d]" % (where, number)
            if not isinstance(pair, LIST) or len(pair) != 2:
                fault(at, "%s is no pair (a (%s, %s))", quoted(repr(pair)), first, second)
            yield at, {first: pair[0], second: pair[1], "doc": doc}

def corpus_rows(rows, joint, name=None):
    """Rows (WHERE, {"topic", "text", "doc"}) as Data: the rows of a doc are a document, their texts joined; a row
    without one belongs to the document `name`, or is its own."""
    corpus, headings = defaultdict(list), {}
    for where, row in rows:
        topic, title = field(row, where, "topic"), field(row, where, "doc", needed=False)
        corpus[title or name or os.path.basename(where)].append((topic, field(row, where, "text")))
        headings[title] = [(0, title)]
    docs, topics = load(corpus, joint)
    return Data([doc._replace(headings=headings.get(doc.name, [])) for doc in docs], topics)

def corpus_prose(path):
    """A Markdown or text file, or a folder of them in sorted order, as Data: its sections are its topics."""
    def unreadable(error):
        raise error
    folder, names, docs, places = os.path.dirname(path), [os.path.basename(path)], {}, defaultdict(list)
    if os.path.isdir(path):
        files = [os.path.join(root, name) for root, _, names in os.walk(path, onerror=unreadable) for name in names]
        folder, names = path, sorted(os.path.relpath(file, path).replace(os.sep, "/") for file in files)
        names = [name for name in names if "/." not in "/" + name]  # without what is hidden
        prose = re.compile(r"\.(md|txt)\Z", re.IGNORECASE).search
        warn(path, {"files that are not read, neither .md nor .txt": [name for name in names if not prose(name)]})
        names = list(filter(prose, names))
    for name in names:
        file, stem = os.path.join(folder, name), os.path.splitext(name)[0]
        text = read_text(file)
        if stem in docs:
            fault(file, "is the second file called %s (one file a name)", quoted(stem))
        found = list(sections(text, stem)) if text else []
        for topic, start, end, _ in found:
            places[topic].append((len(docs), start, end))
        docs[stem] = Document(stem, text, blocks(text), [(start, titles) for _, start, _, titles in found])
    topics = {topic: Gold(topic, "section", tuple(places[topic])) for topic in places}
    return Data(list(docs.values()), topics) if docs else fault(path, "no .md or .txt file there (a folder of texts)")

def read_corpus(path):
    """The documents and topics at a path, as Data without queries; the name tells the format."""
    data = reader(path, {
        ".py": lambda path: corpus_rows(rows_py(path, "CORPUS", "topic", "text"), "", "corpus"),
        ".jsonl": lambda path: corpus_rows(read_jsonl(path, ("topic", "text", "doc")), "\n"),
        ".md": corpus_prose, ".txt": corpus_prose, "a directory": corpus_prose})(path)
    folded = {topic: normalize("NFKC", topic).casefold() for topic in data.topics}
    times = Counter(folded.values())
    warn(path, {"topics that differ only in case or width": [topic for topic in folded if times[folded[topic]] > 1]})
    return data

# ---- queries: golds and where they stand -----------------------------------
def squeeze(text):
    """A text without its white space, and where in the text each of its characters stands."""
    return "".join(text.split()), array("L", (at for at, c in enumerate(text) if not c.isspace()))

def find(text, quote, near, squeezed):
    """The slices of a text that are a quote, white space aside, or of these the one nearest to a position `near`, if
    that is not None; squeezed(text): what squeeze gives."""
    if near is not None and near >= 0 and text.startswith(quote, near):
        return [(near, near + len(quote))]
    (plain, stands), quote, found = squeezed(text), "".join(quote.split()), []
    at = plain.find(quote)
    while at >= 0:
        found.append((stands[at], stands[at + len(quote) - 1] + 1))
        at = plain.find(quote, at + 1)
    return found if near is None else sorted(found, key=lambda piece: abs(piece[0] - near))[:1]

def rows_csv(path):
    """(FILE:LINE, {column: value}) of each row, lists of golds and references read from their JSON."""
    import csv
    import io
    csv.field_size_limit(2 ** 31 - 1)
    rows = csv.DictReader(io.StringIO(read_text(path).replace("\0", ""), newline=""))  # before 3.11, csv takes no NUL
    columns = rows.fieldnames or []
    if not {"query", "question"} & {*columns} or not {"gold", "references"} & {*columns}:
        fault(path + ":1", "its columns are %s (query or question; gold or references)", quoted(", ".join(columns)))
    for row in rows:
        where = "%s:%d" % (path, rows.line_num)
        if None in row:
            fault(where, "has more cells than the header (quotes around one with a comma)")
        row = {column: cell for column, cell in row.items() if cell}
        for column in ("gold", "references"):
            if re.fullmatch(r"\s*\[.*\]\s*", row.get(column, ""), re.DOTALL):
                row[column] = parse_json(row[column], where)
        yield where, row

def wanted(row, where):
    """The golds of a row, as (topic or quote, None) or (quote, position); at least one."""
    references = field(row, where, "references", kind=LIST, needed=False)
    if references:
        return [(field(item, where, "content"), field(item, where, "start_index", kind=int)) for item in references]
    golds = field(row, where, "gold", kind=GOLDS) or fault(where, 'no "gold" for %s (%s)', quoted(row), RIGHT[GOLDS])
    return [(field({"gold": gold}, where, "gold"), None) for gold in ([golds] if isinstance(golds, str) else golds)]

def nowhere(data, where, name, room, within):
    """Raise the Fault of a gold that is no topic, and no passage of the documents `within`; it names the nearest."""
    size, texts = max(len(name), 20), [data.docs[number].text for number in within]
    passages = [text[start:end] for text in texts for start, end in chunk_overlap(text, 2 * size, size)]
    found = ["; the nearest passage is " + quoted(passages[best], 80) for best in BM25(passages).topk(name, 1)]
    hint = nearest(name, data.topics) or "".join(found) or " (a passage of the corpus)"
    fault(where, "%s is no topic, and stands nowhere in %s%s", quoted(name), room, hint)

def read_queries(path, data):
    """The Data with the queries at a path. Each gold is a topic of the data, or a quote that stands in it."""
    keys = "query", "gold", "doc", "question", "references", "corpus_id"
    rows = reader(path, {".py": lambda path: rows_py(path, "QUERIES", "gold", "query"), ".csv": rows_csv,
                         ".jsonl": lambda path: read_jsonl(path, keys)})(path)
    docs, queries, missing, odd, called = data.docs, [], [], defaultdict(list), defaultdict(list)
    squeezed = lru_cache(None)(squeeze)
    for number, doc in enumerate(docs):
        called[doc.name.rpartition("/")[2]].append(number)
    called.update((doc.name, [number]) for number, doc in enumerate(docs))  # its whole name goes first
    for where, row in rows:
        text, doc = field(row, where, "query", "question"), field(row, where, "corpus_id", "doc", needed=False)
        if not tokenize(text):
            fault(where, "the query %s has no token (a text with letters or digits)", quoted(text))
        within, golds = called.get(doc, []) if doc else range(len(docs)), {}
        if doc and len(within) != 1:
            fault(where, "%d documents called %s%s (one)", len(within), quoted(doc), nearest(doc, {*called} - {doc}))
        for name, near in wanted(row, where):
            gold = data.topics.get(name) if near is None else None
            gold = gold or Gold(name, "quote", tuple(
                (number, *piece) for number in within for piece in find(docs[number].text, name, near, squeezed)))
            if not gold.places:
                missing.append((where, name, quoted(doc) if doc else "the corpus", within))
            elif near not in (None, *(start for _, start, _ in gold.places)):
                odd["golds not at their start_index, found near it"].append(name)
            if gold[1:] in golds:
                odd["golds at the place of another of their query, counted once"].append(name)
            golds.setdefault(gold[1:], gold)
        queries.append(Query(text, tuple(golds.values())))
    if len(missing) > 1 and not any(gold.places for query in queries for gold in query.golds):
        fault(path, "none of its %d golds stands in the corpus (--queries with those of this corpus)", len(missing))
    if missing:
        nowhere(data, *missing[0])
    again = [query.text for query, times in Counter(queries).items() if times > 1]
    warn(path, {**odd, "queries asked more than once, and counted each time": again})
    return data._replace(queries=queries) if queries else fault(path, "there is no query in it (at least one)")

def read_squad(path):
    """The articles and questions of a file in SQuAD's JSON as Data. An answer that does not stand at its answer_start
    is looked for in its context, nearest to it; what cannot be used is skipped, and said."""
    corpus, asked, queries, odd = defaultdict(list), [], [], defaultdict(list)
    squeezed = lru_cache(None)(squeeze)
    for a, article in enumerate(field(parse_json(read_text(path), path), path, "data", kind=LIST)):
        at = "%s: data[%d]" % (path, a)
        for p, part in enumerate(field(article, at, "paragraphs", kind=LIST)):
            where = "%s.paragraphs[%d]" % (at, p)
            title = str(article.get("title") or "").strip() or "article %d" % (a + 1)
            corpus[title, a].append((where, field(part, where, "context")))  # two articles may have one title
            asked += [("%s.qas[%d]" % (where, q), question, where)
                      for q, question in enumerate(field(part, where, "qas", kind=LIST))]
    docs, contexts = load(corpus, "\n")
    docs = [Document(title, text, paragraphs, [(0, title)]) for (title, _), text, paragraphs, _ in docs]
    for where, question, context in asked:
        (number, left, right), places = contexts[context].places[0], {}
        blank = isinstance(question, dict) and not str(question.get("question")).strip()
        text = "" if blank else field(question, where, "question")
        answers = [] if question.get("is_impossible") else field(question, where, "answers", kind=LIST)
        for answer in answers:
            quote, start = field(answer, where, "text"), field(answer, where, "answer_start", kind=int)
            found = find(docs[number].text[left:right], quote, start, squeezed)
            places.update({(number, left + begin, left + end): quote for begin, end in found})
            if [begin for begin, _ in found] != [start]:
                what = "found near it" if found else "dropped: they stand nowhere in their context"
                odd["answers not at their answer_start, " + what].append(quote)
        if places:
            queries.append(Query(text, (Gold([*places.values()][0], "quote", tuple(places)),)))
        else:
            odd["questions skipped, " + ("all answers dropped" if answers else "unanswerable")].append(text)
        if not tokenize(text):
            odd["questions without a token, which can find nothing"].append(text)
    warn(path, odd)
    data = Data(docs, {}, queries, len(asked) - len(queries))
    return data if queries else fault(path, "no question has an answer that stands in its context (at least one)")

# ---- pieces by name: ours, and the user's module.function ------------------
@lru_cache(None)
def imported(name):
    """What module.function names, looked up among what is installed and in the working directory."""
    from importlib import import_module
    module, _, function = name.rpartition(".")
    sys.path.append(os.getcwd())
    with blame(name, "module.function, importable from here"):
        return getattr(import_module(module), function)

def registry(what, wrap, ours):
    """`ours` by name, as a dict in which any other name is imported, and made like ours by wrap(name, callable)."""
    class Pieces(dict):
        def __missing__(self, name):
            if "." not in name:
                fault("%s %s" % (what, quoted(name)), "there is none of that name%s (%s, or module.function)",
                      nearest(name, self), ", ".join(self))
            return partial(wrap, name, imported(name))
    return Pieces(ours)

def own_slices(name, function, doc):
    """The slices that the user's function makes of a document's text: (start, end) pairs, or strings, which are
    placed in order, white space aside: right after the one before if they fit, else next after its start."""
    (plain, stands), slices, begin, end = squeeze(doc.text), [], -1, 0
    with blame(name, "the chunks of a text, as strings, its parts in order, or as (start, end) pairs"):
        found = function(doc.text) if doc.text else []  # strategies() tries each on no text
        if isinstance(found, str):
            raise TypeError("one text: %r" % found)
        for number, piece in enumerate(found, 1):
            if isinstance(piece, str):
                part = "".join(piece.split())
                begin = end if plain.startswith(part, end) else plain.find(part, begin + 1)
                end = begin + len(part)
                start, stop = (stands[begin], stands[end - 1] + 1) if part and begin >= 0 else (begin, begin)
            else:
                start, stop = map(index, piece) if isinstance(piece, LIST) else (-1, -1)
            if not 0 <= start <= stop <= len(doc.text):
                raise ValueError("chunk %d of %d characters is %r" % (number, len(doc.text), piece))
            slices += [(start, stop)] if doc.text[start:stop].strip() else []
    return sorted(slices)

def own_retriever(name, factory, texts, tokens):
    """The retriever that the user's factory makes from a list of texts; what it returns is checked."""
    checked = blame(name, "made from texts, with topk(query, k): numbers of theirs, from 0, best first")
    made = checked(factory)(texts)

    @checked
    def topk(query, k):
        found = [index(number) for number in made.topk(query, k)]
        for number in found:
            if not 0 <= number < len(texts):
                raise ValueError("%d is no number of %d texts" % (number, len(texts)))
        return found

    @blame(name, "scores(query): a number a text")
    def scores(query):
        found = made.scores(query)
        return [float(found[number]) for number in range(len(texts))]
    return SimpleNamespace(name=name, topk=topk, **{"scores": scores} if hasattr(made, "scores") else {})

def counted(name, text):
    """How many tokens the user's module.function finds in a text."""
    with blame(name, "a function of a text, to a whole number from 0"):
        found = imported(name)(text)
        if not hasattr(found, "__index__") or found < 0:
            raise ValueError("counted %r" % (found,))
        return index(found)

# ---- more chunkers ---------------------------------------------------------
CLOSING = r"""[”’」』）】》〉〕］｝»)\]]*(?:(?:"'?|'"?)[”’」』）】》〉〕］｝»)\]]*)?"""
SENTENCE = (  # not after a letter between two stops, as in e.g. or U.S.
    r"(?:[。！？；…｡]+%s|(?<![.!?])(?:(?<!\.[^\W\d_])\.|[!?])[.!?]*%s(?=\s|\Z)|\n)\s*" % (CLOSING, CLOSING))
SEPARATORS = {"blank line": r"\n\s*\n\s*", "newline": r"\n\s*", "sentence end": SENTENCE,
              "comma": r"[，、,]\s*", "space": r"\s+"}

def split(pattern, text, start=0, end=sys.maxsize):
    """A slice of a text, cut after each match of a pattern, as slices that leave nothing out."""
    cuts = [start, *(match.end() for match in re.compile(pattern).finditer(text, start, end)), min(end, len(text))]
    return [(left, right) for left, right in zip(cuts, cuts[1:]) if left < right]

def pack(text, groups, size, overlap=0):
    """The neighbouring slices of each group joined while they fit in `size` characters; a longer one is cut at the
    size. A chunk starts with the last `overlap` characters of the one before, or as many as fit."""
    chunk_overlap("", size, overlap)  # which knows what an overlap may be
    chunks = [(-1, 0)]  # before the first
    for group in groups:
        for number, (start, end) in enumerate(group):
            if number and end - chunks[-1][0] <= size:
                chunks[-1] = chunks[-1][0], end
                continue
            while start < end:
                back = max(chunks[-1][0] + 1, start - overlap, end - size if end - start <= size else 0)
                chunks.append((back, min(end, back + size)))
                start = chunks[-1][1]
    return [(start, end) for start, end in chunks if text[start:end].strip()]

def chunk_recursive(doc, size, overlap=0, start=0, end=sys.maxsize):
    """Cut at the coarsest of SEPARATORS that gives pieces of at most `size` characters, which are joined up to it
    again; a separator stays with the piece that it ends. After LangChain's RecursiveCharacterTextSplitter."""
    def groups(start, end, separator, *finer):
        for fits, run in groupby(split(separator, doc.text, start, end), lambda piece: piece[1] - piece[0] <= size):
            if fits or not finer:
                yield run
            else:
                for piece in run:
                    yield from groups(*piece, *finer)
    return pack(doc.text, groups(start, end, *SEPARATORS.values()), size, overlap)

def chunk_semantic(doc, threshold, limit=0):
    """Cuts between neighbouring sentences whose likeness, the cosine of their sets of characters, is under a
    threshold, "0.45", or whose distance, 1 - likeness, is over a percentile, "p95"; then at `limit`, if any."""
    sentences = split(SENTENCE, doc.text)
    sets = [set("".join(doc.text[start:end].casefold().split())) for start, end in sentences]
    distances = [1 - len(a & b) / sqrt(len(a) * len(b)) if a and b else 0 for a, b in zip(sets, sets[1:])] or [0]
    bound = (1 - float(threshold) if threshold[0] != "p" else
             sorted(distances)[(len(distances) - 1) * int(threshold[1:]) // 100])
    cuts = [0, *(n for n, distance in enumerate(distances, 1) if distance > bound + 1e-12), len(sentences)]
    groups = [sentences[first:stop] for first, stop in zip(cuts, cuts[1:])]
    return pack(doc.text, groups, limit or len(doc.text) + 1)

# In the letters of scan: headings; then what is never cut, a fence or a table with its note, or text.
ATOM = r"(?!b|\Z)(h[hb]*|)(?:(f|t+(?:b*x+)?)|x*)"

def chunk_structure(doc, size, least=0):
    """Markdown: a chunk for what stands under each heading; one under `least` characters joins the next, one over
    `size` is cut by `recursive`, but never in a fence, in a table or before its note, or right after a heading."""
    text, parts, lines = doc.text, [], [*scan(doc.text), (len(doc.text), 0, "")]
    for atom in re.finditer(ATOM, "".join(letter for _, _, letter in lines)):
        start, body, end = (lines[at][0] for at in (atom.start(), atom.end(1), atom.end()))
        end = start + len(text[start:end].rstrip())
        if not parts or atom[1] and start - parts[-1][0][0] >= least:
            parts.append([])
        if atom[2] or end - start <= size:
            parts[-1].append((start, end))
        else:  # the heading, unless it fills a chunk, is taken off, and put back before what is then the first piece
            body = end - len(text[body:end].lstrip())
            body = body if atom[1] and body - start < size else start
            rest = chunk_recursive(doc, size - (body - start), 0, body, end)
            parts[-1] += [(start if left == body else left, right) for left, right in rest]
    return [piece for part in parts for piece in chunk_para(part, size)]

def chunk_parent(doc, size, limit):
    """Every `size` characters within each chunk of `para:limit`: (start, end, start of that chunk, its end)."""
    if limit < size:
        raise ValueError("children of %d in parents of %d (children no longer than parents)" % (size, limit))
    return [(start + left, start + right, start, end) for start, end in chunk_para(doc.paragraphs, limit)
            for left, right in chunk_fixed(doc.text[start:end], size)]

CHUNKERS = registry("strategy", own_slices, dict(
    CHUNKERS, sentence=lambda doc, *numbers: pack(doc.text, [split(SENTENCE, doc.text)], *numbers),
    recursive=chunk_recursive, semantic=chunk_semantic, structure=chunk_structure, parent=chunk_parent))
EXAMPLES = {examples.partition(":")[0]: examples for examples in (
    "fixed:50", "overlap:50/15, overlap:300/15%", "para:90", "sentence:300/45", "recursive:200, recursive:200/30",
    "semantic:0.45, semantic:p95, semantic:p95/400", "structure:480, structure:480/40", "parent:50/180")}
SPELLING = (
    r"(?a)(fixed|para):N|overlap:N/M|(sentence|recursive|structure):N(/M)?|semantic:P(/N)?|parent:N/N|[^:]+\.[^:]+"
    .replace("N", r"[1-9]\d{0,8}").replace("M", r"\d{1,9}%?").replace("P", r"(0?\.\d+|p\d\d?|p100)"))

def chunk(spec, text, paragraphs=None):
    """The slices [(start, end), ...] that any strategy makes of a text; of `parent`, those that are searched. The
    paragraphs, slices too, are by default the blocks between blank lines. A Fault says what is wrong with `spec`."""
    name, where = spec.partition(":")[0], "strategy " + quoted(spec)
    if CHUNKERS[name] and not re.fullmatch(SPELLING, spec):  # or a Fault where there is none of that name
        fault(where, "not so spelled (such as %s; sizes are whole numbers from 1)", EXAMPLES.get(name, name))
    doc = Document("", text, blocks(text) if paragraphs is None else paragraphs)
    try:
        return [piece[:2] for piece in slices(spec, doc)]
    except ValueError as error:
        fault(where, "%s", error)

def strategies(specs):
    """Specs, their lists multiplied out, each tried on no text: ["fixed:50,100"] -> ["fixed:50", "fixed:100"]."""
    found = dict.fromkeys("".join(parts) for spec in specs
                          for parts in product(*(part.split(",") for part in re.split("([:/])", spec))))
    for spec in found:
        chunk(spec, "")
    return list(found)

# ---- the judge's other rules, and more retrievers --------------------------
def by_position(golds, chunks, tokens):
    """{gold: the chunks that hold 60 % of one of its places: of a quote, or of the shorter of section and chunk}."""
    reach = list(accumulate(((document, end) for document, _, end in chunks), max))  # the farthest end so far
    covers = {gold: set() for gold in golds}
    for gold in golds:
        for document, start, end in gold.places:
            for number in range(bisect_right(reach, (document, start)), bisect_left(chunks, (document, end))):
                _, left, right = chunks[number]
                whole = end - start if gold.rule == "quote" else min(end - start, right - left)
                if 100 * (min(end, right) - max(start, left)) >= COVERED * whole:
                    covers[gold].add(number)
    return covers

def ranker(name, scores):
    """The retriever that ranks texts by scores(query), one a text; ties go to the earlier, and 0 is no match."""
    def topk(query, k):
        scored = ((-round(score, 9), text) for text, score in enumerate(scores(query)) if score)
        return [text for _, text in nsmallest(k, scored)]
    return SimpleNamespace(name=name, scores=scores, topk=topk)

def hash_index(texts, tokens):
    """The tuning article's mock of an embedding: the MD5 of each token picks four of 128 places; by cosine."""
    from hashlib import md5

    def vector(tokens):
        counts = Counter(byte % 128 for token in tokens for byte in md5(token.encode(errors="replace")).digest()[:4])
        length = sqrt(sum(count * count for count in counts.values())) or 1
        return [counts[place] / length for place in range(128)]
    vectors = list(map(vector, tokens))

    def scores(query):
        asked = vector(tokenize(query))
        return [sum(map(mul, asked, held)) for held in vectors]
    return ranker("hash(mock embedding)", scores)

def hybrid_index(texts, tokens):
    """BM25 and the mock embedding, fused by reciprocal rank over the top 50 of each (Cormack and others 2009)."""
    members = BM25(texts, tokens=tokens), hash_index(texts, tokens)

    def scores(query):
        total = Counter()
        for member in members:
            total.update({text: 1 / (60 + rank) for rank, text in enumerate(member.topk(query, 50), 1)})
        return [total[text] for text in range(len(texts))]
    return ranker("hybrid(%s + %s)" % tuple(member.name for member in members), scores)

RULES.update(quote=by_position, section=by_position)
RETRIEVERS = registry("retriever", own_retriever, dict(RETRIEVERS, hash=hash_index, hybrid=hybrid_index))

# ---- sweep: many strategies, each round afresh -----------------------------
SAFE = r"[^\s，。、；：！？]*[\s，。、；：！？]*"  # which no token, and nothing that NFKC joins, crosses

def memory():
    """evaluate's words(doc, start, end), for one round: a document is tokenized once, and a slice takes its tokens by
    position; what it cuts, up to the next space or comma, is tokenized on its own."""
    known = lru_cache(None)(tokenize)

    @lru_cache(None)
    def cut(text):
        pieces = re.findall(SAFE, text)
        return [0, *accumulate(map(len, pieces))], list(map(known, pieces))

    def words(doc, start, end):
        ends, tokens = cut(doc.text)
        first = bisect_left(ends, start)
        last = max(first, bisect_right(ends, end) - 1)  # the same where a slice reaches no end
        before, after = known(doc.text[start:min(ends[first], end)]), known(doc.text[ends[last]:end])
        return [*before, *chain.from_iterable(tokens[first:last]), *after]
    return words

def afresh(job):
    """A job of sweep done with a memory of its own, in whatever process this is."""
    return job(words=memory())

def sweep(strategies, docs, queries, retrievers=("bm25",), rounds=3, executor=None, progress=None, **options):
    """For each strategy with each retriever a list of Runs, one a round, on any concurrent.futures.Executor or here.
    progress(how many are done, of how many, the next strategy) is called before each; `options` are evaluate's."""
    jobs = [partial(evaluate, strategy, docs, queries, retriever=retriever, **options)
            for strategy in strategies for retriever in retrievers]
    pending = [executor.submit(afresh, job) for job in jobs * rounds] if executor else []
    runs = []
    for _ in range(rounds):
        words = memory()
        for number, job in enumerate(jobs):
            if progress:
                progress(len(runs), len(jobs) * rounds, job.args[0])
            run = pending.pop(0).result() if executor else job(words=words)
            same = number < len(runs) and run == runs[number]  # as in the first round: what agrees is kept once
            runs.append(runs[number] if same else run)
    return [runs[first::len(jobs)] for first in range(len(jobs))]

# ---- measure: every figure is a function of the records and the chunks -----
Result = namedtuple("Result", "label run row spread")  # row: means of rounds; spread: {key: [least, most]}, or None
Report = namedtuple("Report", "data results points comparisons cutoffs base settings")  # points: (recall, tokens)

def extent(places):
    """How many characters stand in at least one of these places."""
    total, reach = 0, {}  # up to where each document is counted
    for document, start, end in sorted(places):
        start = max(start, reach.get(document, 0))
        reach[document] = max(start, end)
        total += reach[document] - start
    return total

def shared(places, others):
    """How many characters two lists of places have in common."""
    return extent(places) + extent(others) - extent([*places, *others])

def reachable(run, record, k):
    """Whether some choice of at most k chunks, or of chunks within a budget, answers a query."""
    limit, cost = (k, lambda number: 1) if isinstance(k, int) else (int(k[:-1]), run.tokens.__getitem__)
    bits = Counter()  # {chunk number: a bit for each gold that it covers}
    for gold, covering in enumerate(record.covers.values()):
        bits.update(dict.fromkeys(covering, 1 << gold))
    dear_first = sorted(bits, key=cost, reverse=True)  # so that of those alike the cheapest stays
    cheapest = {bits[number]: cost(number) for number in dear_first}
    paid = {0: 0}  # {the bits of some golds: the least that covers them}, within the limit
    for pattern, price in cheapest.items():
        for had, total in list(paid.items()):
            if total + price <= limit:
                paid[had | pattern] = min(total + price, paid.get(had | pattern, limit))
    return (1 << len(record.covers)) - 1 in paid

def chance(run, record, k):
    """The exact probability that k different chunks drawn at random answer a query, by inclusion and exclusion."""
    needs, total, drawn = set(map(frozenset, record.covers.values())), len(run.chunks), min(k, len(run.chunks))
    ways = sum((-1) ** n * comb(total - len(frozenset().union(*missed)), drawn)
               for n in range(len(needs) + 1) for missed in combinations(needs, n))
    return ways / comb(total, drawn)

def wilson(share, total):
    """The 95 % interval [low, high] of a share of `total` queries (Wilson 1927)."""
    z = 1.959963984540054
    middle, half = share + z * z / (2 * total), z * sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return [max(0.0, (middle - half) / (1 + z * z / total)), min(1.0, (middle + half) / (1 + z * z / total))]

def of_query(run, record, k):
    """One query's figures at k, or at a budget (no chance then); the char_ ones as in Chroma's report of 2024."""
    at, top, fits = "@%s" % k, sent(run, record, k), reachable(run, record, k)
    luck = None if isinstance(k, str) else chance(run, record, k) if fits else 0.0
    ten, useful = list(dict.fromkeys(record.ranked))[:10], set().union(*record.covers.values())
    slices = [run.chunks[number] for number in top]
    held = {place: shared([place], slices) / extent([place]) for gold in record.covers for place in gold.places}
    best = [max(gold.places, key=held.get) for gold in record.covers]  # of each, the place that is retrieved most
    found = [not covering.isdisjoint(top) if gold.rule == "section" else 100 * held[place] >= COVERED
             for (gold, covering), place in zip(record.covers.items(), best)]
    paid, wanted, both = sum(end - start for _, start, end in slices), extent(best), shared(best, slices)
    return {"ceiling" + at: fits, "chance" + at: luck,
            "cut": not fits, "outranked": fits and not answered(record, top), "sent": len(top),
            "rr": next((1 / rank for rank, number in enumerate(ten, 1) if number in useful), 0.0),
            "char_recall": both / wanted, "char_precision": both / max(1, paid),
            "char_iou": both / (paid + wanted - both), "redundancy": (paid - extent(slices)) / max(1, paid),
            "evidence" + at: mean(found), "complete" + at: all(found)}

def figures(run, data, cutoffs):
    """Every figure of a run, {name: number or None}, after its names; what has no @k is of the last k."""
    row = {"strategy": run.strategy, "retriever": run.retriever}
    for k in cutoffs:
        row.update(measure(run, k))
        each = [of_query(run, record, k) for record in run.records]
        for key in each[0]:
            values = [query[key] for query in each if query[key] is not None]
            row[key] = sum(values) if key in ("cut", "outranked") else mean(values)
        row["tokens@%s" % k] = row["tokens"]
    characters = sum(len(doc.text) for doc in data.docs)
    return dict(row, longest=max(run.tokens, default=0), index_growth=run.indexed / characters)

def summarize(label, runs, data, cutoffs):
    """The Result of one strategy's rounds; `run` is the first, and `spread` None where all rounds agree."""
    varies = any(run != runs[0] for run in runs)
    rows = [figures(run, data, cutoffs) for run in (runs if varies else runs[:1])]
    each = {key: [row[key] for row in rows] for key in rows[0]}
    spread = {key: [min(values), max(values)] for key, values in each.items() if len(set(values)) > 1}
    row = {"name": label, **rows[0], **{key: mean(each[key]) for key in spread}}
    row.update(("ci@%s" % k, wilson(row["recall@%s" % k], len(data.queries))) for k in cutoffs)
    return Result(label, runs[0], row, spread if varies else None)

# ---- compare: what is told from chance, what is worth its cost -------------
def mcnemar(wins, losses):
    """The exact two-sided p of so many wins and losses, or more uneven ones, if a coin tossed them (McNemar 1947)."""
    tosses = wins + losses
    return min(1.0, 2 * sum(comb(tosses, n) for n in range(min(wins, losses) + 1)) / 2 ** tosses)

def holm(ps):
    """p-values adjusted for being several (Holm 1979), in their order."""
    order = sorted(range(len(ps)), key=ps.__getitem__)
    adjusted = accumulate((min(1.0, (len(ps) - rank) * ps[number]) for rank, number in enumerate(order)), max)
    return [p for _, p in sorted(zip(order, adjusted))]

def compare(results, base, k):
    """Each result but that labelled `base` against it, query by query, by recall@k, as dicts for the JSON."""
    hits = {r.label: [answered(record, sent(r.run, record, k)) for record in r.run.records] for r in results}
    rows, theirs = [], hits.pop(base)
    for label, mine in hits.items():
        gains = [hit - other for hit, other in zip(mine, theirs)]
        won, lost = ([n for n, gain in enumerate(gains, 1) if gain == sign] for sign in (1, -1))
        rows.append({"metric": "recall@%s" % k, "baseline": base, "strategy": label, "difference": mean(gains),
                     "wins": won, "losses": lost, "p": mcnemar(len(won), len(lost))})
    return [dict(row, p_holm=p) for row, p in zip(rows, holm([row["p"] for row in rows]))]

def frontier(points):
    """The numbers of the points (recall, tokens) that no other beats, the cheapest first."""
    return [n for n in sorted(range(len(points)), key=lambda n: points[n][1]) if all(
        more < points[n][0] or cost > points[n][1] or (more, cost) == points[n] for more, cost in points)]

def elbow(points):
    """The number of the frontier's point farthest above the chord of its ends (Satopaa and others 2011), or None."""
    ends = frontier(points)
    (low, cheap), (high, dear) = (points[ends[at]] if ends else (0, 0) for at in (0, -1))
    above = {n: (points[n][0] - low) * (dear - cheap) - (points[n][1] - cheap) * (high - low) for n in ends}
    return max((n for n in ends if above[n] > 1e-9), key=lambda n: round(above[n], 9), default=None)

# ---- notes: when a number means nothing ------------------------------------
def amount(k):
    """A cutoff in words: "3 chunks", or "chunks within 350 tokens"."""
    return plural(k, "chunk") if isinstance(k, int) else "chunks within %s tokens" % k[:-1]

def saturated(run, k):
    """Whether the top k, or what a budget pays for, is every chunk there is."""
    return len(run.chunks) <= k if isinstance(k, int) else sum(run.tokens) <= int(k[:-1])

def unreached(run):
    """How many golds no chunk covers, and why, as in "1 too long for a chunk, 2 cut by a boundary", or nothing."""
    lost = {gold for record in run.records for gold, covering in record.covers.items() if not covering}
    most = max((end - start for _, start, end in run.chunks), default=float("inf"))
    long = sum(all(COVERED * (end - start) > 100 * most for _, start, end in gold.places) for gold in lost)
    torn = "cut by a boundary" if ":" in run.strategy else "cut by a boundary or left out"  # ours leave nothing out
    why = {"too long for a chunk": long, torn: len(lost) - long}
    return ", ".join("%d %s" % (number, reason) for reason, number in why.items() if number)

def left_out(run, docs):
    """How much of the corpus, white space aside, stands in no chunk, as in "50.1 %", or nothing."""
    words = [(number, *match.span()) for number, doc in enumerate(docs) for match in re.finditer(r"\S+", doc.text)]
    share = 1 - shared(words, run.chunks) / extent(words)
    return "%.1f %%" % (100 * share) if share else ""

def levels(run, docs):
    """{level of SEPARATORS, or "character": cuts} of a recursive chunker, told by what stands before each cut."""
    counts = dict.fromkeys([*SEPARATORS, "character"], 0)
    for (document, _, end), (following, _, _) in zip(run.chunks, run.chunks[1:]):
        if document == following:
            before = docs[document].text[max(0, end - 99):end]
            found = [level for level, pattern in SEPARATORS.items() if re.search("(?:%s)\\Z" % pattern, before)]
            counts[found[0] if found else "character"] += 1
    return counts

def remarks(report):
    """(kind, text, {label: detail}) of each note, the weightiest first; it holds of the labels that have a detail."""
    results, k, queries = report.results, report.cutoffs[-1], report.data.queries
    recall, luck = "recall@%s" % k, "chance@%s" % k
    varied = {r.label: plural(len(r.spread), "figure") for r in results if r.spread is not None}
    yield "varies", "rounds disagree; means [min, max] are shown, and figures by query are the first round's", varied
    yield "lost", "text that is in no chunk, and no query can find", {
        r.label: left_out(r.run, report.data.docs) for r in results if ":" not in r.run.strategy}  # ours lose none
    starved = Counter(r.label for r in results for each in r.run.records if each.ranked and not sent(r.run, each, k))
    yield "lost", "nothing is sent where the best chunk alone is over %s tokens" % str(k)[:-1], {
        label: plural(number, "query") for label, number in starved.items()}
    full = {r.label: plural(len(r.run.chunks), "chunk") for r in results if saturated(r.run, k)}
    yield "saturated", "every chunk there is can be sent, so %s says nothing about retrieval" % recall, full
    yield "chance", "%s drawn at random reach half of %s or more" % (amount(k), recall), {
        r.label: "%.3f of %.3f" % (r.row[luck], r.row[recall]) for r in results
        if r.label not in full and 0 < r.row[recall] <= 2 * (r.row[luck] or 0)}
    golds = {gold for query in queries for gold in query.golds}
    yield "floor", "golds, of %d, that no chunk can cover" % len(golds), {r.label: unreached(r.run) for r in results}
    for at in report.cutoffs:
        yield "ceiling", "recall@%s is all that these chunks allow, whatever the ranker" % at, {
            r.label: "%.3f" % r.row["recall@%s" % at] for r in results
            if not saturated(r.run, at) and 0 < r.row["recall@%s" % at] == r.row["ceiling@%s" % at] < 1}
    enough = next(n for n in range(1, 99) if mcnemar(n, 0) * (len(results) - 1) < 0.05)
    would = "%d wins without a loss would%s" % (enough, "; ask more queries" if enough > len(queries) else "")
    doubts = {}
    for at in [k, *report.cutoffs[:-1]]:
        doubts[at] = {row["strategy"]: "+%d -%d, p = %.2f" % (len(row["wins"]), len(row["losses"]), row["p_holm"])
                      for row in report.comparisons
                      if row["metric"] == "recall@%s" % at and (row["p_holm"] or 0) >= 0.05}
        yield "inseparable", "by recall@%s, %s cannot tell these from %s (%s)" % (
            at, plural(len(queries), "query"), report.base, would), doubts[at]
    sure = [] if varied else [n for n, r in enumerate(results) if r.label not in (*full, *doubts[k])]
    points = [report.points[n] for n in sure]
    bend = elbow(points)
    if bend is not None:
        more, dearer = next(points[n] for n in frontier(points) if points[n] > points[bend])
        step = dearer - points[bend][1], more - points[bend][0]
        yield "elbow", "the best bargain; the next step up from it pays %.1f tokens more for %+.3f" % step, {
            results[sure[bend]].label: "%.3f for %.1f tokens" % points[bend]}
    cuts = {r.label: levels(r.run, report.data.docs) for r in results if r.run.strategy.startswith("recursive:")}
    deep = {label: (each["space"] + each["character"]) / max(1, sum(each.values())) for label, each in cuts.items()}
    yield "depth", "cuts that fell to a space or a character, for want of a better place", {
        label: "%.0f %%" % (100 * share) for label, share in deep.items() if share >= 0.2}

def notes(report):
    """What the figures do not say for themselves, as dicts for the JSON, the weightiest first, at most seven."""
    found = []
    for kind, text, details in remarks(report):
        labels = [label for label in details if details[label]]
        named = ", ".join("%s (%s)" % (label, details[label]) for label in labels[:5])
        more = " and %d more" % (len(labels) - 5) if len(labels) > 5 else ""
        found += [{"kind": kind, "strategies": labels, "text": text + ": " + named + more}] if labels else []
    return found[:7]

# ---- print: tables, and what other programs read ---------------------------
TOKENIZER = "words, and character bigrams of scripts without spaces"

def plural(number, noun):
    """3 and "query" as "3 queries"."""
    return "%d %s" % (number, noun if number == 1 else noun[:-1] + "ies" if noun.endswith("y") else noun + "s")

def wrapped(text, indent=2):
    """A text in lines of 80 columns, or of those that a narrower terminal has; the later ones indented."""
    from textwrap import fill
    width = (os.get_terminal_size(1).columns if os.isatty(1) and sys.stdout is sys.__stdout__ else 0) or 80
    return fill(text, min(width, 80), subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)

def facts(data):
    """The corpus and the queries in numbers, as in the JSON; the SHA-256 are of what was loaded."""
    from hashlib import sha256
    docs, asked = [doc[:3] for doc in data.docs], [(text, list(map(tuple, golds))) for text, golds in data.queries]
    corpus, queries = (sha256(ascii(value).encode()).hexdigest() for value in ((docs, sorted(data.topics)), asked))
    single = sum(len(golds) == 1 for _, golds in asked)
    return {"corpus": {"documents": len(docs), "paragraphs": sum(len(doc.paragraphs) for doc in data.docs),
                       "topics": len(data.topics), "characters": sum(len(doc.text) for doc in data.docs),
                       "sha256": corpus},
            "queries": {"total": len(asked), "single": single, "multi": len(asked) - single,
                        "skipped": data.skipped, "sha256": queries}}

def said(data):
    """What is said of the corpus and of the queries, as {name: text}."""
    corpus, queries = facts(data).values()
    sizes = ", ".join(plural(corpus[noun + "s"], noun) for noun in ("document", "paragraph", "topic", "character"))
    hops = "%(total)d: %(single)d single-hop, %(multi)d multi-hop" % queries
    hops += ", %(skipped)d skipped" % queries if data.skipped else ""
    return {"corpus": "%s  [%.8s]" % (sizes, corpus["sha256"]), "queries": "%s  [%.8s]" % (hops, queries["sha256"])}

def header(report):
    """What was measured, and how, as {name: text}."""
    how, names = report.settings, ", ".join(dict.fromkeys(r.row["retriever"] for r in report.results))
    sends = "top " + ", ".join(map(str, how["k"])) if how["k"] else "as many chunks as fit in %(budget)d tokens" % how
    sends += ", titles and headings put before each chunk" if how["context"] else ""
    agree = ("which disagree" if not how["deterministic"] else
             "which agree bit for bit" if how["rounds"] > 1 else "so nothing says whether it varies")
    unit = ("a word or a character bigram, not a token of an LLM" if how["count"] == "tokens" else
            "as counted by " + how["count"])
    return {**said(report.data), "tokenizer": TOKENIZER, "retriever": "%s, %s" % (names, sends),
            "rounds": "%d, %s" % (how["rounds"], agree), "token": unit}

def shown(result, key):
    """A figure, or a text of its range where the rounds vary, or of an interval."""
    value = result.row[key]
    if key in (result.spread or ()):
        return "%s [%s, %s]" % tuple(cell(key, figure) for figure in (value, *result.spread[key]))
    return "-".join(cell(key, end) for end in value) if isinstance(value, list) else value

def tables(report):
    """All figures as tables of rows: that of a bare run, and then what it leaves out."""
    from fnmatch import filter as matching
    found, last = [], report.cutoffs[-1]
    for names in ("chunks recall@* single@%s multi@%s tokens" % (last, last), "ceiling@* chance@* cut outranked",
                  "evidence@* complete@* rr sent longest", "char_* redundancy index_growth", "ci@*", "tokens@*"):
        keys = [key for name in names.split() for key in matching(report.results[0].row, name)]
        found.append([{"strategy": r.label, **{key: shown(r, key) for key in keys}} for r in report.results])
    if len(report.results) > len(STRATEGIES):
        best = frontier(report.points)
        for n, row in enumerate(found[0]):
            row["frontier"] = "*" if n in best else "-"
    found.append([{"against " + row["baseline"]: row["strategy"], "metric": row["metric"],
                   "difference": "%+.3f" % row["difference"], "p": row["p"], "p_holm": row["p_holm"],
                   "won": " ".join(map(str, row["wins"])) or "-", "lost": " ".join(map(str, row["losses"])) or "-"}
                  for row in report.comparisons])
    found.append([{"cuts after": r.label, **levels(r.run, report.data.docs)} for r in report.results
                  if r.run.strategy.startswith("recursive:")])
    return [rows for rows in found if rows]

def to_text(report):
    """What was measured, the table, and the notes, for a person."""
    above = [wrapped("%-10s %s" % line, 11) for line in header(report).items()]
    below = [wrapped("%(kind)s: %(text)s" % note) for note in notes(report)]
    return "\n\n".join(filter(None, ["\n".join(above), table(tables(report)[0]), "\n".join(below)]))

def to_markdown(report):
    """What was measured, all figures as tables, and the notes, in Markdown."""
    parts = ["\n".join("- %s: %s" % line for line in header(report).items())]
    for rows in tables(report):
        lines = [list(rows[0]), [":--"] + ["--:"] * (len(rows[0]) - 1)]
        lines += [[cell(*item) for item in row.items()] for row in rows]
        parts.append("\n".join("| %s |" % " | ".join(line) for line in lines))
    parts.append("\n".join("- **%(kind)s**: %(text)s" % note for note in notes(report)))
    return "\n\n".join(filter(None, parts))

def to_csv(report):
    """All figures and comparisons, a line a strategy, unrounded; the byte order mark tells a spreadsheet of UTF-8."""
    import csv
    import io
    best, lines = frontier(report.points), {}
    for n, r in enumerate(report.results):
        ranges = {"range of " + key: ends for key, ends in (r.spread or {}).items()}
        lines[r.label] = {**r.row, "frontier": n in best, **ranges}
    for row in report.comparisons:
        for key in ("difference", "wins", "losses", "p", "p_holm"):
            lines[row["strategy"]]["%s of %s" % (key, row["metric"])] = row[key]
    out = io.StringIO()
    writer = csv.DictWriter(out, dict.fromkeys(chain(*lines.values())), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: " ".join(map(str, value)) if isinstance(value, list) else value
                      for key, value in line.items()} for line in lines.values())
    return "\ufeff" + out.getvalue().rstrip("\n")

def by_query(run, report):
    """What one strategy did, query by query, as dicts for the JSON."""
    for query, record in zip(report.data.queries, run.records):
        top = sent(run, record, report.cutoffs[-1])
        yield {"query": query.text, "gold": [gold.name for gold in query.golds],
               "top": [(report.data.docs[run.chunks[number][0]].name, *run.chunks[number][1:]) for number in top],
               **{"answered@%s" % k: answered(record, sent(run, record, k)) for k in report.cutoffs},
               "missing": [gold.name for gold, covering in record.covers.items() if covering.isdisjoint(top)],
               "tokens": sum(run.tokens[number] for number in top)}

def to_json(report):
    """Everything, unrounded."""
    import json
    labels = dict(enumerate(r.label for r in report.results))
    return json.dumps({
        "version": VERSION, "tokenizer": TOKENIZER, **report.settings, **facts(report.data), "strategies": [
            {**r.row, **({"range": r.spread} if r.spread else {}), "queries": list(by_query(r.run, report))}
            for r in report.results],
        "comparisons": report.comparisons, "frontier": [labels[n] for n in frontier(report.points)],
        "elbow": labels.get(elbow(report.points)), "notes": notes(report)}, ensure_ascii=False)

def save(path, text):
    """Write a file in UTF-8 with plain line ends, and the folders that it stands in."""
    with blame(path, "a file that can be written"):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="\n") as out:
            out.write(text)

def write_trec(report, folder):
    """NAME.run and NAME.qrels of each strategy: a chunk is document:start-end, its score minus its rank, and its
    relevance how many golds it covers. A query none of whose golds is covered has a line of 0, so that it counts."""
    for r in report.results:
        name, ranked, relevant = re.sub(r"[^\w.%-]+", "-", r.label), [], []
        ids = ["%d:%d-%d" % place for place in r.run.chunks]
        for query, record in enumerate(r.run.records, 1):
            ranked += ["%d Q0 %s %d %d %s\n" % (query, ids[number], rank, -rank, name)
                       for rank, number in enumerate(dict.fromkeys(record.ranked), 1)]
            grades = Counter(chain.from_iterable(record.covers.values()))
            relevant += ["%d 0 %s %d\n" % (query, ids[number], grades[number]) for number in sorted(grades)] or [
                "%d 0 none 0\n" % query]
        save(os.path.join(folder, name + ".run"), "".join(ranked))
        save(os.path.join(folder, name + ".qrels"), "".join(relevant))

# ---- pages: what a person looks into ---------------------------------------
def entries(run, docs, numbers, records, scores=None):
    """Two lines on each of these chunks: rank, place, tokens, score, which golds of the records it covers; its first
    and last characters, with ~ where a paragraph is cut."""
    def cut(paragraphs, at):
        left, right = paragraphs[bisect_left(paragraphs, (at,)) - 1]
        return "~" * (left < at < right)
    names = defaultdict(dict)  # of the golds that a chunk covers, each once
    for gold, covering in chain.from_iterable(record.covers.items() for record in records):
        for number in covering:
            names[number][quoted(gold.name, 30)] = None
    for rank, number in enumerate(numbers, 1):
        document, start, end = run.chunks[number]
        doc, score = docs[document], ", score %.3f" % scores[number] if scores else ""
        held = ", covers " + " and ".join(names[number]) if number in names else ""
        yield "%6d. %s %d-%d, %s%s%s" % (
            rank, doc.name, start, end, plural(run.tokens[number], "token"), score, held)
        words = quoted(doc.text[start:end])[1:-1]  # without the quotes
        yield "        " + cut(doc.paragraphs, start) + words + cut(doc.paragraphs, end)

def explain(report, numbers):
    """The lines on these queries: what each strategy sent, what is missing, and why."""
    docs, k = report.data.docs, report.cutoffs[-1]
    tokens = lru_cache(None)(lambda document, start, end: set(tokenize(docs[document].text[start:end])))

    def coverage(gold, place, chunk):  # in per cent, as the judge has it
        if gold.rule == "wording":
            return 100 * len(tokens(*place) & tokens(*chunk)) / max(1, len(tokens(*place)))
        whole = extent([place]) if gold.rule == "quote" else min(extent([place]), extent([chunk]))
        return 100 * shared([place], [chunk]) / whole
    for number in numbers:
        query = report.data.queries[number - 1]
        yield "\nquery %d: %s" % (number, query.text)
        yield "  needs " + " and ".join(quoted(gold.name) for gold in query.golds)
        for label, run, *_ in report.results:
            record = run.records[number - 1]
            top = sent(run, record, k)
            slices = [run.chunks[chunk] for chunk in top]
            yield "  %s: %s" % (label, "answered" if answered(record, top) else
                                "missed, outranked: some chunks would answer it, and the ranker did not bring them"
                                if reachable(run, record, k) else "missed, cut: no choice of %s answers it" % amount(k))
            yield from entries(run, docs, top, [record], record.scores)
            missing = [(gold, covering) for gold, covering in record.covers.items() if covering.isdisjoint(top)]
            for gold, covering in missing:
                held = max(100 * shared([place], slices) / extent([place]) for place in gold.places)
                best = max((coverage(gold, *pair) for pair in product(gold.places, run.chunks)), default=0)
                ranks = [rank for rank, chunk in enumerate(record.ranked, 1) if chunk in covering]
                why = ("no chunk covers it" if not covering else "what covers it was not retrieved" if not ranks else
                       "the chunk that covers it is ranked %d" % ranks[0])
                yield ("    missing %s: all that was sent holds %.0f %% of it, the best single chunk "
                       "covers %.0f %%; %s" % (quoted(gold.name, 30), held, best, why))

def list_chunks(report):
    """The lines on all chunks of each strategy, and the golds of all queries that each covers."""
    for label, run, *_ in report.results:
        longest = ", the longest is number %d" % (run.tokens.index(max(run.tokens)) + 1) if run.tokens else ""
        yield "\n%s: %s%s" % (label, plural(len(run.chunks), "chunk"), longest)
        yield from entries(run, report.data.docs, range(len(run.chunks)), run.records)

def check(data, options):
    """What a person needs to know of data before choosing sizes, and the command that tries three."""
    from shlex import quote
    from statistics import median_high
    texts = [doc.text[start:end] for doc in data.docs for start, end in doc.paragraphs]
    tokens = list(map(tokenize, texts))
    golds = {gold for query in data.queries for gold in query.golds} or set(data.topics.values())
    lengths = [min(extent([place]) for place in gold.places) for gold in golds]
    measured = {"characters a paragraph": list(map(len, texts)), "tokens a paragraph": list(map(len, tokens)),
                "characters a gold": lengths}
    kinds = Counter("topic" if gold.rule == "wording" else gold.rule for gold in golds)
    known = set(chain.from_iterable(tokens))
    strange = [quoted(query.text) for query in data.queries if known.isdisjoint(tokenize(query.text))]
    sizes = ",".join("%d" % max(1, round(median_high(lengths) * times)) for times in (0.5, 1.5, 5))
    given = "".join(" --%s %s" % (name, quote(path)) for name, path in vars(options).items()
                    if name in ("corpus", "queries", "squad") and path)
    given += " --queries QUESTIONS" if options.corpus and not options.queries else ""
    return "\n".join([
        *(wrapped("%-10s %s" % line, 11) for line in said(data).items()), "", "least, median, most",
        *("  %-22s  %d, %d, %d" % (what, min(n), median_high(n), max(n)) for what, n in measured.items()),
        "", "characters a token        %.2f" % (sum(map(len, texts)) / sum(map(len, tokens))),
        "golds                     " + ", ".join(plural(kinds[kind], kind) for kind in sorted(kinds)),
        "paragraphs that repeat    %d" % (len(texts) - len(set(texts))),
        "queries without a match   %d%s" % (len(strange), ": " * bool(strange) + "; ".join(strange[:3])),
        "", "sizes below, around and above what a gold is long:",
        "  python chunking_retrieval_eval.py%s -s fixed:%s" % (given, sizes)])

# ---- picture: cost against recall ------------------------------------------
STYLE = """text{font:12px sans-serif;fill:#444}.grid{stroke:#8884}.bar{stroke:#8888}.other{fill:#888}.best{fill:#0969da}
.line{fill:none;stroke:#0969da}.limit{stroke:#bf5700;stroke-width:2}.luck{fill:#bf5700}@media(prefers-color-scheme:dark){
text{fill:#ccc}.best{fill:#58a6ff}.line{stroke:#58a6ff}.limit{stroke:#ff9d4d}.luck{fill:#ff9d4d}}"""

def beside(x, y, width, taken):
    """Where a label of a width has the most room near a spot, as (left, top, right, bottom)."""
    boxes = [(left, top, left + width, top + 14) for far in range(0, 340, 5) for top in (y - 7 - far, y - 7 + far)
             for left in (x + 9, x - 9 - width, x - width / 2) if 60 <= left <= 714 - width and 30 < top < 374]
    return min(boxes, default=(60, 30, 60 + width, 44), key=lambda box: sum(
        box[0] < right and left < box[2] and box[1] < bottom and top < box[3] for left, top, right, bottom in taken))

def to_svg(report):
    """recall@k against tokens, as SVG: a point a strategy, its name as its title; the frontier joined, its points and
    the elbow labelled; bars are the 95 % intervals, dashes the ceilings, squares what chance gives."""
    from html import escape

    def up(share):
        return 390 - 350 * share
    at, best, bend = "@%s" % report.cutoffs[-1], frontier(report.points), elbow(report.points)
    most = ceil(max(tokens for _, tokens in report.points)) or 1
    step = next(n * 10 ** zeros for zeros in range(99) for n in (1, 2, 5) if most <= 6 * n * 10 ** zeros)
    marks = range(0, most + step, step)
    scale = 640 / marks[-1]
    spots = [(60 + scale * tokens, up(recall)) for recall, tokens in report.points]
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 440" role="img">',
           "<title>recall%s against tokens, %s</title>" % (at, escape(header(report)["retriever"])),
           "<style>%s</style>" % STYLE,
           '<text x="60" y="20">recall%s (bar: 95 %% interval, dash: ceiling, square: chance)</text>' % at,
           '<text x="700" y="432" text-anchor="end">tokens sent a query</text>']
    out += ['<path class="grid" d="M%.1f 40V390"/>\n<text x="%.1f" y="408" text-anchor="middle">%d</text>' % (
        60 + scale * mark, 60 + scale * mark, mark) for mark in marks]
    out += ['<path class="grid" d="M60 %dH700"/>\n<text x="52" y="%d" text-anchor="end">%.1f</text>' % (
        up(share), up(share) + 4, share) for share in (0, 0.2, 0.4, 0.6, 0.8, 1)]
    out.append('<path class="line" d="M%s"/>' % "L".join("%.1f %.1f" % spots[n] for n in best))
    for n, ((x, y), (label, _, row, _)) in enumerate(zip(spots, report.results)):
        out += ['<path class="bar" d="M%.1f %.1fV%.1f"/>' % (x, *map(up, row["ci" + at])),
                '<path class="limit" d="M%.1f %.1fh10"/>' % (x - 5, up(row["ceiling" + at]))]
        luck = row["chance" + at]
        if luck is not None:  # it is None with a budget
            out.append('<rect class="luck" x="%.1f" y="%.1f" width="5" height="5"/>' % (x - 2.5, up(luck) - 2.5))
        out.append('<circle class="%s" cx="%.1f" cy="%.1f" r="5"><title>%s: %.3f, %.1f tokens</title></circle>' % (
            "best" if n in best else "other", x, y, escape(label), *report.points[n]))
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in spots]
    for n in best:
        (x, y), label = spots[n], report.results[n].label + " (elbow)" * (n == bend)
        taken.append(beside(x, y, 7 * len(label), taken))
        left, top, right, _ = taken[-1]
        out += ['<path class="bar" d="M%.1f %.1fL%.1f %.1f"/>' % (x, y, min(max(x, left), right), top + 7),
                '<text x="%.1f" y="%.1f">%s</text>' % (left, top + 11, escape(label))]
    return "\n".join(out + ["</svg>", ""])

# ---- command line ----------------------------------------------------------
FORMATS = {"table": to_text, "markdown": to_markdown, "csv": to_csv, "json": to_json}

USES = """examples:
  python chunking_retrieval_eval.py --explain 3
  python chunking_retrieval_eval.py --corpus docs --queries questions.jsonl --check
  python chunking_retrieval_eval.py -s fixed:50,100 -s overlap:100/15% --detail"""

def parse(arguments):
    """The command line as a namespace; a Fault for what is wrong with it."""
    from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter

    def spelled(pattern, what, kind, text):
        if not re.fullmatch(pattern, text, re.ASCII | re.DOTALL):
            raise ArgumentTypeError("%s is no %s" % (quoted(text), what))
        return kind(text)
    whole = partial(spelled, r"[1-9]\d{0,8}", "whole number from 1", int)
    name = partial(spelled, ".+", "name", str)
    parser = ArgumentParser(prog="chunking_retrieval_eval.py", usage="%(prog)s [options]", allow_abbrev=False,
                            description=(__doc__ or "").split("\n")[0], epilog=USES,
                            formatter_class=RawDescriptionHelpFormatter)
    parser.error = partial(fault, "arguments", "%s (--help lists what there is)")
    add = parser.add_argument
    add("--corpus", metavar="PATH", type=name, help=".py, .jsonl, .md, .txt, or a folder of .md and .txt (corpus.py)")
    add("--queries", metavar="PATH", type=name, help=".py, .jsonl or .csv (queries.py)")
    add("--squad", metavar="FILE", type=name, help="corpus and queries in one file of SQuAD's JSON")
    add("--check", action="store_true", help="validate the data, print their statistics, stop")
    specs = "; ".join([*EXAMPLES.values(), "module.function", "fixed:50,100 is two", "repeatable"])
    add("-s", "--strategy", metavar="SPEC", action="append", help=specs.replace("%", "%%"))
    add("--retriever", metavar="NAME", action="append", help="bm25, hash, hybrid or module.factory; repeatable")
    either = parser.add_mutually_exclusive_group().add_argument
    either("-k", "--top-k", metavar="N[,N...]", type=lambda text: sorted({whole(part) for part in text.split(",")}),
           default=[3], help="how many chunks are sent (3)")
    either("--budget", metavar="TOKENS", type=whole, help="send the best chunks, up to so many tokens, instead")
    add("--rounds", metavar="N", type=whole, default=3, help="how often all is done (3)")
    add("--baseline", metavar="SPEC", help="what the others are compared with (the first)")
    add("--count", metavar="module.function", type=name, help="what counts tokens instead: text -> int")
    add("--context", action="store_true", help="index, and pay for, each chunk with its title and headings")
    add("--jobs", metavar="N", type=whole, default=1, help="strategies side by side in N processes")
    add("--format", choices=list(FORMATS), default="table", help="table, markdown, csv or json")
    add("--detail", action="store_true", help="the other figures, and the queries won and lost")
    add("--explain", metavar="N", nargs="?", type=whole, const=0, help="what each query, or N, got, missed, and why")
    add("--chunks", action="store_true", help="the chunks of each strategy, and what each covers")
    add("--plot", metavar="FILE.svg", type=name, help="draw recall against tokens")
    add("--trec", metavar="DIR", type=name, help="write NAME.run and NAME.qrels for trec_eval and its like")
    add("--version", action="version", version=VERSION)
    return parser.parse_args(arguments)

def gather(options):
    """The Data that the options name; what they leave out stands beside the script."""
    if options.squad and (options.corpus or options.queries):
        fault("--squad", "brings its own corpus and queries (without --corpus and --queries)")
    corpus = options.squad or options.corpus or os.path.join(os.path.dirname(__file__), "corpus.py")
    data = read_squad(corpus) if options.squad else read_corpus(corpus)
    if not any(tokenize(line) for doc in data.docs for line in doc.text.splitlines()):
        fault(corpus, "the corpus is empty: it has not one token (a text with letters or digits)")
    if options.squad or options.check and options.corpus and not options.queries:
        return data
    return read_queries(options.queries or os.path.join(os.path.dirname(__file__), "queries.py"), data)

def in_processes(jobs, *arguments, **options):
    """sweep in so many processes, which end when it ends, however it does; Ctrl-C is left to the first."""
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
    from multiprocessing import active_children
    from signal import SIG_IGN, SIGINT, signal
    others = active_children()
    with ProcessPoolExecutor(jobs, initializer=signal, initargs=(SIGINT, SIG_IGN)) as executor:
        try:
            return sweep(*arguments, executor=executor, **options)
        except BrokenProcessPool:
            fault("--jobs %d" % jobs, "a process ended before its work (without --jobs it may tell why)")
        finally:
            for child in active_children():
                if child not in others:
                    child.terminate()

def progress(done, total, strategy):
    """One line on a terminal, written over and over: how much is done, and what is next."""
    if sys.stderr and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        line = "%d of %d done, next %s" % (done, total, strategy) if done < total - 1 else ""
        emit("\r%-58.58s%s" % (line, "" if line else "\r"), sys.stderr)

def work(options, data):
    """The Report that the options ask for."""
    specs, explaining = strategies(options.strategy or STRATEGIES), options.explain is not None
    names = [name for name in dict.fromkeys(options.retriever or ["bm25"]) if RETRIEVERS[name]]  # or a Fault, early
    labels = [spec if len(names) == 1 else "%s %s" % (spec, name) for spec in specs for name in names]
    base = next((label for label in labels if options.baseline in (None, label, label.split(" ")[0])), None) or fault(
        "--baseline " + quoted(options.baseline), "is not run%s", nearest(options.baseline, labels) or " (see -s)")
    run = partial(in_processes, options.jobs) if options.jobs > 1 else sweep
    runs = run(
        specs, data.docs, data.queries, names, options.rounds, progress=progress, budget=options.budget or 0,
        depth=10 ** 9 if explaining else max(10, *options.top_k), scored=explaining,  # to explain, rank every chunk
        count=options.count and partial(counted, options.count), **({"lead": heading} if options.context else {}))
    cutoffs = [1, "%dt" % options.budget] if options.budget else sorted({1, *options.top_k})
    results = [summarize(label, rounds, data, cutoffs) for label, rounds in zip(labels, runs)]
    agree = all(r.spread is None for r in results)
    comparisons = [row if agree else dict(row, p=None, p_holm=None)
                   for k in cutoffs for row in compare(results, base, k)]
    points = [(r.row["recall@%s" % cutoffs[-1]], r.row["tokens"]) for r in results]
    return Report(data, results, points, comparisons, cutoffs, base, {
        "count": options.count or "tokens", "k": None if options.budget else options.top_k, "budget": options.budget,
        "context": options.context, "rounds": options.rounds, "deterministic": agree})

def output(options, data):
    """All that a run prints."""
    if options.check:
        return check(data, options)
    asked = [number for number in range(1, len(data.queries) + 1) if options.explain in (0, number)]
    if options.explain and not asked:
        fault("--explain %d" % options.explain, "there are %s (a number from 1)", plural(len(data.queries), "query"))
    if options.format != "table" and (options.chunks or asked):
        fault("--format " + options.format, "has no room for --explain and --chunks (--format table has)")
    report = work(options, data)
    if options.trec:
        write_trec(report, options.trec)
    if options.plot:
        save(options.plot, to_svg(report))
    lines = [FORMATS[options.format](report)]
    if options.detail and options.format == "table":  # markdown has all tables anyway, csv and json have none
        lines += ["\n" + table(rows) for rows in tables(report)[1:]]
    lines += explain(report, asked)
    lines += list_chunks(report) if options.chunks else []
    return "\n".join(lines)

def emit(text, stream):
    """Write UTF-8 with plain line ends to a console, a pipe, or any text stream, whatever the locale."""
    if hasattr(stream, "buffer"):
        stream.flush()
        stream.buffer.write(text.encode("utf-8", "backslashreplace"))
        stream.buffer.flush()
    elif stream is not None:  # it is None where it was closed before the start
        stream.write(text)

def main(arguments=None):
    """Run the command line. The exit status: 0 done, 1 interrupted or stdout closed, 2 something else is wrong."""
    if hasattr(gc, "set_threshold"):  # not in PyPy
        gc.set_threshold(500000)  # what is built here has no cycles, and looking for them takes a tenth of the time
    text = None
    try:
        options = parse(arguments)
        emit("chunking_retrieval_eval %s, %s %d.%d.%d, %s\n" % (
            VERSION, sys.implementation.name, *sys.version_info[:3], sys.platform), sys.stderr)
        text = output(options, gather(options)) + "\n"
        emit(text, sys.stdout)
        return 0 if sys.stdout else 1
    except KeyboardInterrupt:
        emit("interrupted\n", sys.stderr)
        return 1
    except Fault as problem:
        wrong = str(problem)
    except OSError as error:
        if text:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left must not fail again at exit
        if isinstance(error, BrokenPipeError):
            return 1
        wrong = "%s: %s (what can be read, or written to)" % (
            error.filename or ("standard output" if text else "system"), str(error.strerror or error).lower())
    emit("error: %s\n" % " ".join(wrong.split()), sys.stderr)
    return 2

if __name__ == "__main__":
    sys.exit(main())
