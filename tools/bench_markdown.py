#!/usr/bin/env python3
"""Tables of `larmor bench --json FILE` as Markdown: bench_markdown.py FILE [TABLE ...]; without tables all."""
import json
import sys


def cell(value):
    if value is None:
        return ""
    if "text" in value:
        return value["text"]
    return f"{value['value']:.4g}"


def markdown(table):
    columns = table["columns"]
    heads = [c["name"] + (f", {c['unit']}" if c["unit"] else "") for c in columns]
    lines = [f"| {table['title']} | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for row in table["rows"]:
        cells = [cell(row["values"].get(c["name"])) for c in columns]
        lines.append(f"| {row['label'].strip()} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    report = json.load(open(sys.argv[1]))
    print(f"{report['device']}, {report['date'][:10]}, commit {report['commit']}\n")
    for table in report["tables"]:
        if len(sys.argv) < 3 or table["name"] in sys.argv[2:]:
            print(markdown(table))


if __name__ == "__main__":
    main()
