# SPDX-License-Identifier: Apache-2.0
"""embed.py TEMPLATE CSS JS LICENSE OUT: the page as a C++ source, cut where its data goes."""
import base64
import hashlib
import pathlib
import sys

PIECE = 8000
DELIMITER = "assay_page"


def fill(template, css, js, licence):
    js = js.replace("</script", "<\\/script")
    digest = base64.b64encode(hashlib.sha256(js.encode()).digest()).decode()
    # The program goes in last: what it holds must not be taken for a place to fill.
    return (template.replace("{{script-hash}}", f"'sha256-{digest}'")
            .replace("{{licence}}", licence.strip().replace("--", "—"))
            .replace("{{css}}", css).replace("{{js}}", js))


def pieces(text):
    return [text[i:i + PIECE] for i in range(0, len(text), PIECE)]


def function(name, text):
    literals = ",\n".join(f'    R"{DELIMITER}({p}){DELIMITER}"' for p in pieces(text))
    return (f"std::span<const std::string_view> {name}() {{\n"
            f"  static constexpr std::string_view kPieces[] = {{\n{literals}}};\n"
            "  return kPieces;\n}\n")


def main(*paths):
    *inputs, out = map(pathlib.Path, paths)
    template, *parts = (path.read_text(encoding="utf-8") for path in inputs)
    before, after = (fill(half, *parts) for half in template.split("{{data}}"))
    source = ('#include "page_template.h"\n\nnamespace assay::report {\n\n'
              + function("page_before_data", before) + "\n" + function("page_after_data", after)
              + "\n}  // namespace assay::report\n")
    out.write_text(source, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
