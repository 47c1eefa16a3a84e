"""Holds the reading of skills beside `skills-ref`, the standard's own checker: `python3 skills.py
READER`, where READER is the program `skills`. The cases are those of that package's tests, which it
does not install, and further forms of YAML. Both must find the same files faultless, and read the
same of them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from skills_ref.parser import read_properties
from skills_ref.validator import validate

GOOD = "name: my-skill\ndescription: A test skill\n"
# The front matter of files in a folder `my-skill`.
HEADS = {
    "valid": GOOD,
    "all fields": GOOD + "license: MIT\nmetadata:\n  author: Test\n",
    "allowed tools": GOOD + "allowed-tools: Bash(jq:*) Bash(git:*)\n",
    "allowed tools as a list": GOOD + "allowed-tools:\n  - Bash\n  - Read\n",
    "compatibility": GOOD + "compatibility: Requires Python 3.11+\n",
    "compatibility that is too long": GOOD + f"compatibility: {'x' * 550}\n",
    "compatibility of the limit": GOOD + f"compatibility: {'x' * 500}\n",
    "description that is too long": f"name: my-skill\ndescription: {'x' * 1100}\n",
    "description of the limit": f"name: my-skill\ndescription: {'x' * 1024}\n",
    "unexpected field": GOOD + "unknown_field: should not be here\n",
    "other name than the folder's": "name: correct-name\ndescription: A test skill\n",
    "no name": "description: A test skill\n",
    "no description": "name: my-skill\n",
    "empty description": "name: my-skill\ndescription: ''\n",
    "list in place of fields": "- just\n- a\n- list\n",
    "broken YAML": "name: [invalid\ndescription: broken\n",
    "double quotes": 'name: "my-skill"\ndescription: "Reads \\"PDFs\\": all\\nof them"\n',
    "single quotes": "name: 'my-skill'\ndescription: 'It''s: one'\n",
    "folded text": "name: my-skill\ndescription: >-\n  Reads PDFs.\n\n  Use it\n  when: seen\n",
    "literal text": "name: my-skill\ndescription: |\n  Reads PDFs.\n    Deeper.\n",
    "text over lines": "name: my-skill\ndescription: Reads\n  PDFs\n  whole\n",
    "comments": "# A comment\nname: my-skill # mine\ndescription: Reads C#\n",
    "quoted hash": 'name: my-skill\ndescription: "one # two" # three\n',
    "metadata of several kinds": GOOD
    + 'metadata:\n  version: "1.0"\n  keywords: a, b\n  long: >\n    more\n    lines\n',
    "address": "name: my-skill\ndescription: See http://x.y/z\n",
    "fields in another order": "license: MIT\ndescription: A test skill\nname: my-skill\n",
    "numbers": "name: my-skill\ndescription: 42\n",
}
# Names, each of a folder of the same name.
NAMES = [
    *("MySkill", "a" * 70, "a" * 64, "-my-skill", "my-skill-", "my--skill", "my_skill", "a.b"),
    *("技能", "мой-навык", "навык", "НАВЫК", "a1", "7", "café"),
]
# What we read all the same, with the reason.
LENIENT = {
    "colon in a description": (
        "name: my-skill\ndescription: Use when: a PDF comes\n",
        "is no YAML, and is what people write",
    ),
}


def cases() -> dict[str, tuple[str, str]]:
    """The folder and the text of each case."""
    found = {name: ("my-skill", f"---\n{head}---\nBody\n") for name, head in HEADS.items()}
    for name in NAMES:
        found[f"name {name}"] = (name, f"---\nname: {name}\ndescription: A skill\n---\nBody\n")
    found["no front matter"] = ("my-skill", "# No frontmatter here")
    found["no end"] = ("my-skill", f"---\n{GOOD}")
    return found


def main() -> None:
    told = cases() | {
        name: ("my-skill", f"---\n{head}---\nBody\n") for name, (head, _) in LENIENT.items()
    }
    lines = (
        json.dumps({"path": f"{folder}/SKILL.md", "text": text}) for folder, text in told.values()
    )
    reader = subprocess.run(
        [sys.argv[1]], input="\n".join(lines), stdout=subprocess.PIPE, encoding="utf-8", check=True
    )
    wrong = 0
    for (name, (folder, text)), line in zip(told.items(), reader.stdout.splitlines(), strict=True):
        ours = json.loads(line)
        with tempfile.TemporaryDirectory() as top:
            place = Path(top, folder)
            place.mkdir()
            (place / "SKILL.md").write_text(text, encoding="utf-8")
            errors = validate(place)
            known = None if errors else read_properties(place)
        agree = bool(errors) == bool(ours["faults"])
        if known is not None:
            description = " ".join(known.description.split())
            agree &= (ours["name"], ours["description"]) == (known.name, description)
        if name in LENIENT:
            agree = bool(errors) and ours["name"] is not None
        if not agree:
            wrong += 1
            print(f"{name}: {text!r}\n  {errors} {known}\n  {ours}")
    if wrong:
        sys.exit(f"{wrong} of {len(told)} skills are read otherwise")
    print(f"{len(told)} skills are read as by skills-ref")
    for name, (_, reason) in LENIENT.items():
        print(f"  but for a {name}, which {reason}")


main()
