"""Trains tokenizers of every kind that text encoders have, and writes what the Rust library makes of harsh strings with each.

Usage: make_tokenizers.py <folder> <seed> [<kind>...]. Writes strings.json; <kind>/tokenizer.json, and <kind>.json with the ids of each
string, of each cut at 24 tokens, and ids and types of each with the next one as a pair.
"""

import io
import json
import random
import sys
import unicodedata
from collections import Counter
from pathlib import Path

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

STRINGS, CUT = 10_000, 24
# First and last letter of each script, besides those of Latin.
SCRIPTS = {
    "latin": (0x61, 0x17F), "vietnamese": (0x1EA0, 0x1EF9), "greek": (0x370, 0x3FF), "polytonic": (0x1F00, 0x1FFE),
    "cyrillic": (0x400, 0x52F), "armenian": (0x531, 0x58F), "hebrew": (0x591, 0x5F4), "arabic": (0x600, 0x6FF),
    "syriac": (0x700, 0x74F), "thaana": (0x780, 0x7B1), "devanagari": (0x900, 0x97F), "bengali": (0x980, 0x9FE),
    "gurmukhi": (0xA01, 0xA76), "gujarati": (0xA81, 0xAFF), "tamil": (0xB82, 0xBFA), "telugu": (0xC00, 0xC7F),
    "kannada": (0xC80, 0xCF2), "malayalam": (0xD00, 0xD7F), "sinhala": (0xD81, 0xDF4), "thai": (0xE01, 0xE5B),
    "lao": (0xE81, 0xEDF), "tibetan": (0xF00, 0xFDA), "myanmar": (0x1000, 0x109F), "georgian": (0x10A0, 0x10FF),
    "jamo": (0x1100, 0x11FF), "hangul": (0xAC00, 0xD7A3), "ethiopic": (0x1200, 0x137C), "cherokee": (0x13A0, 0x13FD),
    "khmer": (0x1780, 0x17F9), "mongolian": (0x1800, 0x18AA), "kana": (0x3041, 0x30FF), "han": (0x4E00, 0x9FA5),
    "rare han": (0x20000, 0x2A6DF), "fullwidth": (0xFF01, 0xFFEE), "presentation forms": (0xFB00, 0xFDFB),
    "mathematical": (0x1D400, 0x1D7FF), "gothic": (0x10330, 0x1034A), "adlam": (0x1E900, 0x1E959),
}  # fmt: skip
ODD = [
    "👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇩🇪", "1️⃣", "☺️", "é", "e\u0301", "\u0301", "ǆ", "ß", "ẞ", "İ", "ı", "ΑΣ", "Σ", "ΟΔΟΣ.", "ﬁ", "½", "①", "…",
    "\u200b", "\u200d", "\u200e", "\u202e", "\u2066", "\ufeff", "\u00ad", "\u0000", "\u0001", "\u0007", "\u001b", "\u007f", "\u0085", "\u009f",
    "\u00a0", "\u1680", "\u2003", "\u2028", "\u202f", "\u3000", "\t", "\n", "\r\n", "  ", "   ", "\v", "\f", "\u180e", "\u2581", "\ufffd", "\ue000",
    "\ud800", "\udc00x", "[CLS]", "[SEP]", "[MASK]", "[UNK]", "[PAD]", "[mask]", "<s>", "</s>", "<mask>", "<pad>", "<unk>", " <mask> ", "##ing",
    "don't", "we'll", "I'M", "a_b", "x=1;", "``quoted''", "3.14", "1,000", "http://a.b/c?d=e#f", "a@b.co", "C++", "--", "$5", "°", "€", "ﷺ", "ㄱㅏ", "각", "각",
]  # fmt: skip
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def draw(count, seed):
    """Return strings of one script or several, with odd parts in some. Lone surrogates arrive as U+FFFD, as UTF-8 has none."""
    chance = random.Random(seed)
    letters = {
        name: [chr(code) for code in range(first, last + 1) if unicodedata.category(chr(code)) not in ("Cn", "Cs")]
        for name, (first, last) in SCRIPTS.items()
    }

    def word(name):
        made = "".join(chance.choices(letters[name], k=chance.randint(1, 8)))
        form = chance.choice((None, None, None, "NFC", "NFD", "NFKC", "upper", "title"))
        return made if form is None else getattr(made, form)() if form in ("upper", "title") else unicodedata.normalize(form, made)

    strings = ["", " ", *ODD]
    while len(strings) < count:
        scripts = chance.sample(list(SCRIPTS), chance.choice((1, 1, 1, 2, 4)))
        parts = [chance.choice(ODD) if chance.random() < 0.25 else word(chance.choice(scripts)) for _ in range(chance.randint(1, 12))]
        strings.append("".join(part + chance.choice((" ", " ", " ", "", "-", ". ")) for part in parts))
    return [one.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for one in strings]


def bert(words, **options):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(**options)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(words, trainers.WordPieceTrainer(vocab_size=6000, special_tokens=SPECIAL, show_progress=False))
    return surround(tokenizer, "[CLS]", "[SEP]", True)


def surround(tokenizer, begin, end, typed):
    ids = [(one, tokenizer.token_to_id(one)) for one in (begin, end)]
    second = 1 if typed else 0
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", pair=f"{begin} $A {end} $B:{second} {end}:{second}", special_tokens=ids
    )
    return tokenizer


def byte_pairs(words, splitter, normalizer=None, special=ROBERTA):
    tokenizer = Tokenizer(models.BPE())
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = splitter
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=4000, special_tokens=special[:-1], initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(words, trainer)
    # The mask of RoBERTa takes the space before it.
    tokenizer.add_special_tokens([AddedToken(special[-1], lstrip=True, special=True)])
    return tokenizer


def roberta(words, prefixed):
    tokenizer = byte_pairs(words, pre_tokenizers.ByteLevel(add_prefix_space=prefixed))
    ends = [(one, tokenizer.token_to_id(one)) for one in ("</s>", "<s>")]
    tokenizer.post_processor = processors.RobertaProcessing(*ends, trim_offsets=True, add_prefix_space=prefixed)
    return tokenizer


def unigram(words, normalizer, splitter, special, begin, end, typed):
    tokenizer = Tokenizer(models.Unigram())
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = splitter
    unknown = next(one for one in special if "unk" in one.lower())
    trainer = trainers.UnigramTrainer(vocab_size=5000, special_tokens=special, unk_token=unknown, show_progress=False)
    # Each letter becomes a piece, so only the usual ones are known.
    known = {letter for letter, _ in Counter("".join(words)).most_common(2500)}
    tokenizer.train_from_iterator(["".join(letter for letter in one if letter in known) for one in words], trainer)
    return surround(tokenizer, begin, end, typed)


def with_fallback(words):
    """SentencePiece's BPE, whose unknown characters become tokens of their bytes."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    special = [*ROBERTA, *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = trainers.BpeTrainer(vocab_size=4000, special_tokens=special, limit_alphabet=800, show_progress=False)
    tokenizer.train_from_iterator(words, trainer)
    return surround(tokenizer, "<s>", "</s>", False)


def characters():
    """The map of characters that SentencePiece puts into each model (nmt_nfkc), whatever it learns from."""
    model = io.BytesIO()
    words = ["the letters of a text", "and the words of it"]
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(words), model_writer=model, vocab_size=20, minloglevel=2)
    proto = sentencepiece_model_pb2.ModelProto.FromString(model.getvalue())
    return proto.normalizer_spec.precompiled_charsmap


def kinds(words):
    mapped = normalizers.Precompiled(characters())
    joined = normalizers.Replace(Regex(" {2,}"), " ")
    quotes = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    bare = [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
    splits = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    meta = pre_tokenizers.Metaspace()
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    gpt = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    pieces = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(gpt), "isolated"), level])
    return {
        "wordpiece-uncased": lambda: bert(words, lowercase=True),
        "wordpiece-cased": lambda: bert(words, lowercase=False),
        "wordpiece-accents": lambda: bert(words, lowercase=True, strip_accents=False, handle_chinese_chars=False),
        "bpe-roberta": lambda: roberta(words, False),
        "bpe-prefixed": lambda: roberta(words, True),
        "bpe-modernbert": lambda: surround(
            byte_pairs(words, pre_tokenizers.ByteLevel(add_prefix_space=False), normalizers.NFC(), SPECIAL), "[CLS]", "[SEP]", False
        ),
        "bpe-split": lambda: surround(byte_pairs(words, pieces, normalizers.NFC()), "<s>", "</s>", False),
        "bpe-fallback": lambda: with_fallback(words),
        "unigram-nfkc": lambda: unigram(words, normalizers.NFKC(), meta, ROBERTA, "<s>", "</s>", False),
        "unigram-xlm-roberta": lambda: unigram(words, normalizers.Sequence([mapped, joined]), splits, ROBERTA, "<s>", "</s>", False),
        "unigram-albert": lambda: unigram(
            words, normalizers.Sequence([*quotes, *bare, mapped, joined]), meta, SPECIAL, "[CLS]", "[SEP]", True
        ),
        "unigram-deberta-v3": lambda: unigram(
            words, normalizers.Sequence([normalizers.Strip(), mapped, joined]), meta, SPECIAL, "[CLS]", "[SEP]", True
        ),
    }


def main(folder, seed, wanted):
    strings = draw(STRINGS, seed)
    (folder / "strings.json").write_text(json.dumps(strings))
    words = [one for one in draw(4_000, seed + 1) if one.strip()] + ["the letters of a text and the words of it"] * 20
    made = kinds(words)
    for name in wanted or made:
        tokenizer = made[name]()
        (folder / name).mkdir(exist_ok=True)
        tokenizer.save(str(folder / name / "tokenizer.json"))
        ids = [one.ids for one in tokenizer.encode_batch(strings)]
        pairs = [(one.ids, one.type_ids) for one in tokenizer.encode_batch(list(zip(strings[::10], strings[1::10])))]
        tokenizer.enable_truncation(CUT)
        cut = [one.ids for one in tokenizer.encode_batch(strings)]
        (folder / f"{name}.json").write_text(json.dumps({"ids": ids, "cut": cut, "pairs": pairs}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
