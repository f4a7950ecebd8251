// SPDX-License-Identifier: Apache-2.0
#include <assay/session/spec.h>
#include <gtest/gtest.h>

namespace assay::session {
namespace {

std::string repeated(const std::string& piece, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += piece;
  return text;
}

/// The one error that a text must have.
std::string error_of(const std::string& text) {
  const auto result = parse_spec(text, "s.yaml");
  EXPECT_FALSE(result.spec);
  EXPECT_EQ(result.errors.size(), 1U);
  return result.errors.empty() ? "" : result.errors[0].text();
}

TEST(HostileSpec, tells_the_line_of_a_syntax_error) {
  EXPECT_EQ(
      error_of("name: a\nprofiling:\n  targets: [\n"),
      "s.yaml:4: not valid YAML: end of sequence flow not found; check indentation, quotes and "
      "brackets before here");
  EXPECT_EQ(error_of("name: a\n\tb: c\n"),
            "s.yaml:2: YAML allows no tabs for indentation; use spaces");
}

TEST(HostileSpec, is_one_map_of_text) {
  EXPECT_EQ(error_of(""), "s.yaml: is empty; write at least a name, or an image or command to run");
  EXPECT_EQ(error_of("# only\n"),
            "s.yaml: is empty; write at least a name, or an image or command to run");
  EXPECT_EQ(error_of("hello\n"),
            "s.yaml:1: holds text; write keys with values, as in \"name: my-app\"");
  EXPECT_EQ(error_of("\n- a\n"),
            "s.yaml:2: holds a list; write keys with values, as in \"name: my-app\"");
  EXPECT_EQ(error_of("name: a\n---\nname: b\n"),
            "s.yaml:2: a second document starts here; keep one document per file");
  EXPECT_EQ(error_of(std::string("name: a\n\0\1\2", 11)),
            "s.yaml:2: has control characters; is this a YAML file? Save it as UTF-8 text");
}

TEST(HostileSpec, is_utf8) {
  EXPECT_EQ(parse_spec("command: [grün, \u96ea, \U0001F328]\n", "s.yaml").errors.size(), 0U);
  for (const std::string bytes : {"\xFF", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80",
                                  "\xF4\x90\x80\x80", "\x80", "\xE9\x9B"}) {
    EXPECT_EQ(error_of("command: x" + bytes + "\n"), "s.yaml: is not UTF-8 text; save it as UTF-8");
  }
}

TEST(HostileSpec, may_not_be_nested_too_deep) {
  for (const std::string piece : {"[", "{", "{a: ", "- ", "? ", "[\n"}) {
    const auto error = error_of(repeated(piece, 50'000));
    EXPECT_NE(error.find("is nested too deep to be a spec; use fewer levels"), std::string::npos)
        << piece << error;
  }
}

TEST(HostileSpec, may_not_be_huge) {
  EXPECT_EQ(error_of(std::string((256U << 10U) + 1, '#')),
            "s.yaml: is larger than 256 KiB; is this a spec?");
}

TEST(HostileSpec, cannot_grow_by_aliases) {
  std::string bomb = "a: &a [x, x]\n";
  std::string before = "*a";
  for (const char c : std::string("bcdefghijklmnopqrstuvwxyz")) {
    const std::string name(1, c);
    bomb.append(name).append(": &").append(name).append(" [");
    bomb.append(before).append(", ").append(before).append("]\n");
    before = "*" + name;
  }
  EXPECT_EQ(parse_spec(bomb + "command: run\n", "s.yaml").errors.size(), 0U);

  const std::string many =
      "command: run\nt: &t {args: x}\nprofiling:\n  targets:\n" + repeated("    - *t\n", 101);
  EXPECT_EQ(error_of(many), "s.yaml:4: targets: 101 are too many; the most is 100");
}

TEST(HostileSpec, may_hold_itself) {
  EXPECT_EQ(parse_spec("command: run\nx: &x [*x]\n", "s.yaml").errors.size(), 0U);
  EXPECT_EQ(error_of("command: run\nprofiling: {args: &x [*x]}\n"),
            "s.yaml:2: args: must be a list of words, not a list; write for example \"--size 640 "
            "--fast\" or [--size, 640, --fast]");
}

TEST(HostileSpec, ends_the_list_of_errors_somewhere) {
  std::string text = "command: run\nprofiling:\n";
  for (int i = 0; i < 500; ++i) text += "  zebra" + std::to_string(i) + ": 1\n";
  const auto result = parse_spec(text, "s.yaml");
  ASSERT_EQ(result.errors.size(), 101U);
  EXPECT_EQ(result.errors.back().text(), "s.yaml: more than 100 errors; correct these first");
}

TEST(HostileSpec, is_shown_shortened_and_without_control_characters) {
  EXPECT_EQ(
      error_of("command: x\nprofiling: {runtime: \"\\e[31m" + std::string(100, 'a') + "\"}\n"),
      "s.yaml:2: runtime: unknown runtime '?[31m" + std::string(55, 'a') +
          "…'; choose of: auto, process, docker, kubernetes");
  EXPECT_EQ(error_of("command: x\nprofiling: {runtime: " + repeated("ä", 100) + "}\n"),
            "s.yaml:2: runtime: unknown runtime '" + repeated("ä", 30) +
                "…'; choose of: auto, process, docker, kubernetes");
}

TEST(HostileSpec, with_a_secret_does_not_show_it_in_its_errors) {
  const std::string secret = "hunter" + std::to_string(22);
  const auto error = error_of("command: x\nprofiling:\n  args: --password " + secret + " 'open\n");
  EXPECT_EQ(error.find(secret), std::string::npos) << error;
}

}  // namespace
}  // namespace assay::session
