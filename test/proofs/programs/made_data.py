"""Writes small data in the form of a data set that a project would download: made_data.py FORM FOLDER."""

import array
import os
import pickle
import random
import struct
import sys

form, folder = sys.argv[1:]
chance = random.Random(1)


def characters():
    """Tokens of nanoGPT: two files of 16-bit numbers, and what the numbers mean."""
    text = "".join(f"{chance.choice('abcdefgh') * 3} {chance.choice('klmnop') * 2}\n" for _ in range(4_000))
    letters = sorted(set(text))
    numbers = {letter: at for at, letter in enumerate(letters)}
    for name, part in (("train", text[:20_000]), ("val", text[20_000:])):
        with open(f"{folder}/{name}.bin", "wb") as file:
            array.array("H", [numbers[letter] for letter in part]).tofile(file)
    with open(f"{folder}/meta.pkl", "wb") as file:
        pickle.dump({"vocab_size": len(letters), "stoi": numbers, "itos": dict(enumerate(letters))}, file)


def digits():
    """Pictures of ten classes, as MNIST's files: class k has a bright row and a bright column."""
    raw = f"{folder}/MNIST/raw"
    os.makedirs(raw)
    for part, count in (("train", 640), ("t10k", 320)):
        labels = bytes(at % 10 for at in range(count))
        with open(f"{raw}/{part}-labels-idx1-ubyte", "wb") as file:
            file.write(struct.pack(">II", 2049, count) + labels)
        with open(f"{raw}/{part}-images-idx3-ubyte", "wb") as file:
            file.write(struct.pack(">IIII", 2051, count, 28, 28))
            for label in labels:
                bright = 2 * label + 4
                file.write(
                    bytes(
                        min(255, chance.randrange(64) + (160 if bright in (row, column) else 0))
                        for row in range(28)
                        for column in range(28)
                    )
                )


def posts():
    """Questions with tags, as Stack Overflow's rows."""
    words = {"r": "ggplot frame vector tidy lapply", "python": "list dict pandas import def"}
    with open(f"{folder}/data.xml", "w", encoding="utf-8") as file:
        for number in range(600):
            tag = chance.choice(["r", "python"])
            body = " ".join(chance.choice(f"{words[tag]} how why error code value".split()) for _ in range(30))
            file.write(f'<row Id="{number}" Tags="&lt;{tag}&gt;" Title="Question {number}" Body="{body}" />\n')


def text():
    """Lines of words in three files, as WikiText-2's."""
    for name, count in (("train", 1_500), ("valid", 200), ("test", 200)):
        with open(f"{folder}/{name}.txt", "w", encoding="utf-8") as file:
            for _ in range(count):
                subject = chance.choice("ada grace alan".split())
                file.write(f" {subject} {chance.choice('writes reads proves'.split())} the program of {subject} . \n")


{"characters": characters, "digits": digits, "posts": posts, "text": text}[form]()
