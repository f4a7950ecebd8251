# SPDX-License-Identifier: Apache-2.0
"""The case runner, tried on plain shell commands."""
import pytest
import run_cases


def outcome(text):
    return [run_cases.run(case, None) for case in run_cases.parse(text, "x.case")]


def test_a_case_that_holds_passes():
    assert outcome("""
# a comment
NAME everything at once
FILE sub/in.txt <<END
one
two
END
SETUP echo three > more.txt
RUN cat sub/in.txt more.txt
RUN echo oops >&2; exit 7
EXPECT one
EXPECT_REGEX ^t.o$
EXPECT three
EXPECT_STDERR oops
EXPECT_NOT four
EXIT 7
""") == [[]]


@pytest.mark.parametrize("lines, words", [
    ("RUN exit 1", "EXIT 0, but it was 1"),
    ("RUN true\nEXIT 2", "EXIT 2, but it was 0"),
    ("RUN echo aaa\nEXPECT bbb", "EXPECT bbb: no such line"),
    ("RUN echo aaa >&2\nEXPECT aaa", "EXPECT aaa: no such line"),
    ("RUN echo aaa\nEXPECT_STDERR aaa", "EXPECT_STDERR aaa: no such line"),
    ("RUN printf 'aaa\\nbbb\\n'\nEXPECT bbb\nEXPECT aaa", "EXPECT aaa: no such line"),
    ("RUN echo a.c\nEXPECT_REGEX ^.c", "EXPECT_REGEX ^.c: no such line"),
    ("RUN echo 10\nEXPECT_REGEX ^0$", "EXPECT_REGEX ^0$: no such line"),
    ("RUN echo abc\nEXPECT a.c", "EXPECT a.c: no such line"),
    ("RUN echo a\nEXPECT_NOT a", "EXPECT_NOT a: it is there"),
    ("SETUP false\nRUN true", "SETUP false: exit 1"),
    ("RUN tail -f /dev/null\nTIMEOUT 1", "none within 1 s"),
])
def test_a_case_that_does_not_hold_fails(lines, words):
    wrong, = outcome("NAME x\n" + lines)
    assert wrong and words in wrong[0]


def test_the_output_is_shown_on_failure():
    wrong, = outcome("NAME x\nRUN echo seen; exit 1")
    assert "    | seen\n" in "".join(wrong)


def test_cases_see_an_empty_home_of_their_own():
    assert outcome("NAME a\nRUN touch ~/x\nNAME b\nRUN ls -A ~\nEXPECT_NOT x") == [[], []]


@pytest.mark.parametrize("text, words", [
    ("RUN true", "before the first NAME"),
    ("NAME x", "has no RUN"),
    ("NAME x\nRUM true", "x.case:2: unknown word 'RUM'"),
    ("NAME x\nRUN true\nEXPECT 10", r"x.case:3: '10' is in too many lines; write EXPECT_REGEX \^10\$"),
    ("NAME x\nRUN true\nEXPECT_STDERR 7", "x.case:3: '7' is in too many lines"),
    ("NAME x\nRUN true\nEXPECT_REGEX 7", "x.case:3: '7' is in too many lines"),
    ("NAME x\nRUN true\nEXPECT", "x.case:3: '' is in too many lines"),
    ("NAME x\nFILE f <<END\nabc\n", "no line 'END'"),
])
def test_a_mistake_in_a_case_file_is_told(text, words):
    with pytest.raises(run_cases.BadCase, match=words):
        run_cases.parse(text, "x.case")
