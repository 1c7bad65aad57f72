"""Counts words. The standard library is enough: `lantern connect --exec` holds the connection, this answers one message."""

import collections
import json
import os
import pathlib
import sys

request = json.load(sys.stdin)
text = "\n".join(part["text"] for part in request["message"]["parts"] if "text" in part)
if not text.strip():
    print(json.dumps({"state": "rejected", "text": "Send me a text to count."}))
    sys.exit(0)

counts = collections.Counter(text.lower().split())

# Whatever lies in this folder at the end becomes an artifact of the task.
folder = pathlib.Path(os.environ["LANTERN_ARTIFACTS"])
rows = [f"{word},{count}" for word, count in counts.most_common()]
(folder / "words.csv").write_text("\n".join(["word,count", *rows]) + "\n", encoding="utf-8")

word, count = counts.most_common(1)[0]
print(json.dumps({"state": "completed", "text": f"The most frequent word is “{word}”, {count} times."}))
