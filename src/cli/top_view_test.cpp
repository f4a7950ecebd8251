// SPDX-License-Identifier: Apache-2.0
#include "top_view.h"

#include "top_text.h"

#include <algorithm>
#include <clocale>

#include <gtest/gtest.h>

namespace assay::cli {
namespace {

constexpr const char* kQuiet =
    R"({"node": {"name": "pole-7", "cores": 4, "memory_bytes": 4e9}, "apps": [
  {"id": "/a", "kind": "container", "name": "cam-10", "image": "waggle/cam:1", "seconds": 12,
   "cores": {"now": 1.5, "10s": {"mean": 1.25, "p95": 1.5, "max": 1.75}, "1m": {"mean": 1, "p95": 1.5, "max": 2}},
   "memory_bytes": {"now": 612e6}, "limits": {"cores": 2, "memory_bytes": 1e9},
   "network_receive_bytes_per_second": {"now": 1200}, "network_transmit_bytes_per_second": {"now": 300},
   "disk_read_bytes_per_second": {"now": 0}, "disk_write_bytes_per_second": {"now": 0}},
  {"id": "/b", "kind": "service", "name": "cam-9", "seconds": 90061,
   "cores": {"now": 0.25}, "memory_bytes": {"now": 900e6}},
  {"id": "/c", "kind": "run", "name": "once", "seconds": 3, "running": false, "cores": {"now": 1}}]})";

constexpr const char* kTold = R"({"apps": [
  {"id": "/a", "kind": "container", "name": "cam", "seconds": 12, "cores": {"now": 0.5},
   "reported": {"fps": {"value": 8.25}, "latency": {"value": 0.0813, "unit": "seconds", "mean": 0.08, "p95": 0.12}},
   "goals": [{"goal": "fps >= 10", "met": false}, {"goal": "latency.p95 <= 200ms", "met": true}],
   "advice": [{"kind": "starved", "sentence": "It has too few cores: it was held back for a third of the last minute by its limit of half a core."}]},
  {"id": "/b", "kind": "container", "name": "birds", "seconds": 12, "cores": {"now": 0.75},
   "reported": {"fps": {"value": 30}}, "goals": [{"goal": "fps >= 1", "met": true}]},
  {"id": "/c", "kind": "service", "name": "sshd", "seconds": 12, "cores": {"now": 0}}]})";

Key text(char c) {
  return {KeyKind::text, std::string(1, c)};
}
Key function(int number) {
  return {KeyKind::function, "", number};
}

class TopViewTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr); }
  void TearDown() override { std::setlocale(LC_CTYPE, "C"); }

  void show(const char* document) { view.take(*read_top_document(document)); }

  std::string screen(size_t columns, size_t rows) {
    std::string out;
    for (const auto& line : view.frame({columns, rows})) {
      std::string row = plain_text(fitted_line(line, columns));
      row.erase(row.find_last_not_of(' ') + 1);
      out += row + "\n";
    }
    return out;
  }

  /// The first word of each row of the table.
  std::vector<std::string> names(size_t columns = 80) {
    std::vector<std::string> found;
    bool below = false;
    const auto lines = view.frame({columns, 24});
    for (const auto& line : lines) {
      const std::string row = plain_text(line);
      if (below && !row.empty() && &line != &lines.back())
        found.push_back(row.substr(0, row.find(' ')));
      below = below || row.starts_with("NAME");
    }
    return found;
  }

  std::string chosen() {
    for (const auto& line : view.frame({80, 24}))
      if (line.front().ink == Ink::chosen)
        return line.front().text.substr(0, line.front().text.find(' '));
    return "";
  }

  void type(std::string_view letters) {
    for (const char c : letters) view.press(text(c));
  }

  TopView view{TopChoice{}};
};

using Names = std::vector<std::string>;

TEST_F(TopViewTest, shows_the_table_in_eighty_columns) {
  show(kQuiet);
  EXPECT_EQ(screen(80, 12),
            "assay top  pole-7  2 apps, 1 ended                                    by cores ▼\n"
            "cores  [█████░░░░░░] 1.75 of 4          memory [████░░░░░░░] 1.51 GB of 4 GB\n"
            "NAME                  KIND       CORES           MEMORY   NET/s  DISK/s      AGE\n"
            "cam-10                container   1.50        ▆  612 MB  1.5 kB     0 B     0:12\n"
            "cam-9                 service     0.25        ▃  900 MB       -       -  1 d 1 h\n"
            "once                  run        ended                -       -       -     0:03\n"
            "\n\n\n\n\n"
            "F1Help F3Search F4Filter F6Sort EnterApp SpacePause IInvert qQuit\n");
}

TEST_F(TopViewTest, shows_limits_where_there_is_room) {
  show(kQuiet);
  EXPECT_NE(screen(110, 12).find("LIMITS   NET/s"), std::string::npos);
  EXPECT_NE(screen(110, 12).find("  2    1 GB  1.5 kB"), std::string::npos);
}

TEST_F(TopViewTest, leaves_out_columns_where_it_is_narrow_or_low) {
  show(kQuiet);
  EXPECT_EQ(screen(40, 8),
            "assay top  pole-7  2 apps, 1 ended\n"
            "NAME              CORES  MEMORY      AGE\n"
            "cam-10             1.50  612 MB     0:12\n"
            "cam-9              0.25  900 MB  1 d 1 h\n"
            "once              ended       -     0:03\n"
            "\n\n"
            "F1Help F3Search F4Filter F6Sort qQuit\n");
  EXPECT_EQ(screen(10, 3), "assay top\nNAME\nqQuit\n");
}

TEST_F(TopViewTest, every_line_has_the_width_of_the_screen) {
  show(kTold);
  for (const size_t columns : {1U, 7U, 33U, 80U, 200U}) {
    for (const size_t rows : {1U, 2U, 5U, 24U}) {
      for (const auto& line : view.frame({columns, rows}))
        EXPECT_EQ(line_columns(fitted_line(line, columns)), columns);
    }
  }
}

TEST_F(TopViewTest, shows_what_apps_report_and_their_goals) {
  show(kTold);
  EXPECT_EQ(screen(80, 8),
            "assay top  3 apps, 1 misses a goal                                    by cores ▼\n"
            "NAME                   CORES           MEMORY     fps   GOALS ADVICE         AGE\n"
            "birds                   0.75        ▆       -      30   1/1 ✓               0:12\n"
            "cam                     0.50        ▅       -    8.25   1/2 ✗ starved       0:12\n"
            "sshd                    0.00        ▁       -       -       -               0:12\n"
            "\n\n"
            "F1Help F3Search F4Filter F6Sort EnterApp SpacePause IInvert qQuit\n");
}

TEST_F(TopViewTest, sorts_by_keys_and_apps_without_the_value_come_last) {
  show(kTold);
  EXPECT_EQ(names(), (Names{"birds", "cam", "sshd"}));
  type("I");
  EXPECT_EQ(names(), (Names{"sshd", "cam", "birds"}));
  type("N");
  EXPECT_EQ(names(), (Names{"birds", "cam", "sshd"}));
  type("I");
  EXPECT_EQ(names(), (Names{"sshd", "cam", "birds"}));
  show(kQuiet);
  type("M");
  EXPECT_EQ(names(), (Names{"cam-9", "cam-10", "once"}));
  type("N");
  EXPECT_EQ(names(), (Names{"cam-9", "cam-10", "once"}));
}

TEST_F(TopViewTest, steps_through_the_columns_to_sort_by) {
  show(kTold);
  const auto order = [this] {
    const std::string head = plain_text(view.frame({80, 24}).front());
    return head.substr(head.rfind("by "));
  };
  type(">");
  EXPECT_EQ(order(), "by memory ▼");
  view.press(function(6));
  type(">>");
  EXPECT_EQ(order(), "by fps ▼");
  EXPECT_EQ(names(), (Names{"birds", "cam", "sshd"}));
  type("<<<<");
  EXPECT_EQ(order(), "by cores ▼");
}

TEST_F(TopViewTest, filters_while_it_is_typed_and_escape_clears) {
  show(kQuiet);
  type("\\CAM");
  EXPECT_EQ(names(), (Names{"cam-10", "cam-9"}));
  EXPECT_NE(screen(80, 10).find("Filter: CAM▏   Enter keeps it, Esc clears\n"), std::string::npos);
  view.press({KeyKind::backspace});
  view.press({KeyKind::enter});
  EXPECT_NE(screen(80, 10).find("filter 'CA': 2 of 3, Esc clears it\n"), std::string::npos);
  view.press({KeyKind::escape});
  EXPECT_EQ(names().size(), 3U);
  view.press(function(4));
  type("waggle/");
  EXPECT_EQ(names(), Names{"cam-10"});
  type("x");
  EXPECT_NE(screen(80, 10).find("no app is like that\n"), std::string::npos);
}

TEST_F(TopViewTest, a_key_while_typing_is_a_letter) {
  show(kQuiet);
  type("\\qMI");
  EXPECT_NE(screen(80, 10).find("Filter: qMI▏"), std::string::npos);
  EXPECT_FALSE(view.press(function(10)));
}

TEST_F(TopViewTest, searches_and_finds_the_next) {
  show(kQuiet);
  type("/cam-9");
  EXPECT_EQ(chosen(), "cam-9");
  view.press({KeyKind::escape});
  type("/cam");
  EXPECT_EQ(chosen(), "cam-9");
  view.press(function(3));
  EXPECT_EQ(chosen(), "cam-10");
  view.press({KeyKind::enter});
  type("n");
  EXPECT_EQ(chosen(), "cam-9");
}

TEST_F(TopViewTest, the_chosen_app_stays_chosen_where_it_moves) {
  show(kTold);
  EXPECT_EQ(chosen(), "birds");
  view.press({KeyKind::down});
  EXPECT_EQ(chosen(), "cam");
  type("N");
  EXPECT_EQ(chosen(), "cam");
  type("I");
  view.press({KeyKind::up});
  EXPECT_EQ(chosen(), "sshd");
  view.press({KeyKind::end});
  EXPECT_EQ(chosen(), "birds");
  view.press({KeyKind::home});
  EXPECT_EQ(chosen(), "sshd");
}

TEST_F(TopViewTest, scrolls_with_the_chosen_row) {
  std::string apps;
  for (int i = 0; i < 50; ++i)
    apps += (i > 0 ? ", " : "") + std::string(R"({"id": ")") + std::to_string(i) +
            R"(", "name": "app-)" + std::to_string(i) + R"("})";
  show((R"({"apps": [)" + apps + "]}").c_str());
  type("N");
  EXPECT_EQ(names().size(), 20U);
  view.press({KeyKind::page_down});
  EXPECT_EQ(chosen(), "app-20");
  EXPECT_EQ(names().front(), "app-1");
  view.press({KeyKind::end});
  EXPECT_EQ(names().back(), "app-49");
  show(R"({"apps": [{"id": "x", "name": "left"}]})");
  EXPECT_EQ(names(), Names{"left"});
  EXPECT_EQ(chosen(), "left");
}

TEST_F(TopViewTest, a_pause_keeps_the_table_and_then_shows_the_newest) {
  show(kTold);
  type(" ");
  show(kQuiet);
  EXPECT_EQ(names(), (Names{"birds", "cam", "sshd"}));
  EXPECT_NE(screen(80, 10).find("paused; space goes on\n"), std::string::npos);
  type(" ");
  EXPECT_EQ(names(), (Names{"cam-10", "cam-9", "once"}));
}

TEST_F(TopViewTest, tells_trouble_over_a_dim_table) {
  show(kTold);
  view.set_trouble("no answer from x for 3 s; trying again");
  const Lines lines = view.frame({80, 12});
  EXPECT_EQ(plain_text(lines[2]), "no answer from x for 3 s; trying again");
  EXPECT_EQ(lines[5].front().ink, Ink::dim);
}

TEST_F(TopViewTest, an_ended_app_is_dim) {
  show(kQuiet);
  EXPECT_EQ(view.frame({80, 12})[5].front().ink, Ink::dim);
}

TEST_F(TopViewTest, the_page_of_an_app_begins_with_advice_and_goals) {
  show(kTold);
  view.press({KeyKind::down});
  view.press({KeyKind::enter});
  EXPECT_EQ(screen(60, 8),
            "assay top  3 apps, 1 misses a goal                by cores ▼\n"
            "cam  container, running for 0:12\n"
            "starved           It has too few cores: it was held back for\n"
            "                  a third of the last minute by its limit of\n"
            "                  half a core.\n"
            "goal              fps >= 10  ✗ missed\n"
            "goal              latency.p95 <= 200ms  ✓ met\n"
            "EscBack PgDnMore SpacePause F10Quit\n");
  view.press({KeyKind::page_down});
  EXPECT_EQ(screen(60, 8),
            "assay top  3 apps, 1 misses a goal                by cores ▼\n"
            "limits            none\n"
            "\n"
            "    over       mean       p95       max\n"
            "fps                    8.25\n"
            "latency             81.3 ms\n"
            "    1 min     80 ms    120 ms\n"
            "EscBack PgDnMore SpacePause F10Quit\n");
}

TEST_F(TopViewTest, the_page_shows_values_over_each_span) {
  show(kQuiet);
  view.press({KeyKind::enter});
  EXPECT_EQ(screen(80, 18),
            "assay top  pole-7  2 apps, 1 ended                                    by cores ▼\n"
            "cores  [█████░░░░░░] 1.75 of 4          memory [████░░░░░░░] 1.51 GB of 4 GB\n"
            "cam-10  container, running for 0:12\n"
            "limits            2 cores, 1 GB\n"
            "\n"
            "                        now  over       mean       p95       max\n"
            "cores                  1.50  10 s       1.25      1.50      1.75\n"
            "                             1 min      1.00      1.50      2.00\n"
            "memory               612 MB\n"
            "network receive    1.2 kB/s\n"
            "network transmit    300 B/s\n"
            "disk read             0 B/s\n"
            "disk write            0 B/s\n"
            "\n"
            "image             waggle/cam:1\n"
            "id                /a\n"
            "\n"
            "EscBack PgDnMore SpacePause F10Quit\n");
}

TEST_F(TopViewTest, the_page_of_an_app_that_is_gone_says_so_and_leads_back) {
  show(kTold);
  view.press({KeyKind::enter});
  show(R"({"apps": []})");
  EXPECT_NE(screen(80, 24).find("birds  container, ended after 0:12\n"), std::string::npos);
  EXPECT_TRUE(view.press(text('q')));
  EXPECT_NE(screen(80, 24).find("no app runs here\n"), std::string::npos);
  EXPECT_FALSE(view.press(text('q')));
}

TEST_F(TopViewTest, help_scrolls_where_it_is_long) {
  type("h");
  EXPECT_NE(screen(80, 24).find("F10 q  quit\n"), std::string::npos);
  EXPECT_EQ(screen(80, 6).find("F10 q  quit\n"), std::string::npos);
  view.press({KeyKind::end});
  EXPECT_NE(screen(80, 6).find("F10 q  quit\n"), std::string::npos);
  view.press({KeyKind::escape});
  EXPECT_NE(screen(80, 6).find("no app runs here\n"), std::string::npos);
}

TEST_F(TopViewTest, wide_and_hostile_names_keep_the_columns) {
  show(R"({"apps": [{"id": "1", "name": "水位計水位計水位計水位計水位計", "cores": {"now": 1}},
                    {"id": "2", "name": "x\u001b[31m\u202ey\n", "cores": {"now": 2}}]})");
  EXPECT_EQ(screen(32, 6),
            "assay top  2 apps     by cores ▼\n"
            "NAME               CORES  MEMORY\n"
            "x?[31my?            2.00       -\n"
            "水位計水位計水位…   1.00       -\n"
            "\n"
            "F1Help F3Search F4Filter qQuit\n");
}

TEST_F(TopViewTest, draws_in_ascii_elsewhere) {
  std::setlocale(LC_CTYPE, "C");
  view = TopView(TopChoice{{}, "", false});
  show(kTold);
  for (const char c : screen(120, 20)) EXPECT_GT(c, 0);
  view.press({KeyKind::down});
  view.press({KeyKind::enter});
  for (const char c : screen(120, 20)) EXPECT_GT(c, 0);
}

TEST_F(TopViewTest, once_is_as_wide_as_its_names_or_as_the_terminal) {
  const auto document = *read_top_document(kQuiet);
  EXPECT_EQ(once_text(document, {}, 0),
            "NAME   KIND       CORES  MEMORY       LIMITS   NET/s  DISK/s      AGE\n"
            "cam-10 container   1.50  612 MB    2    1 GB  1.5 kB     0 B     0:12\n"
            "cam-9  service     0.25  900 MB            -       -       -  1 d 1 h\n"
            "once   run        ended       -            -       -       -     0:03\n");
  EXPECT_EQ(once_text(document, {{"name", false}, "cam", true}, 40),
            "NAME              CORES  MEMORY      AGE\n"
            "cam-9              0.25  900 MB  1 d 1 h\n"
            "cam-10             1.50  612 MB     0:12\n");
}

TEST(FrameWriter, sends_only_rows_that_have_changed) {
  FrameWriter writer(false);
  EXPECT_EQ(writer.draw({{{"a"}}, {{"b", Ink::chosen}}}, {2, 2}),
            "\033[0m\033[2J\033[1;1Ha \033[2;1H\033[7mb\033[0m\033[7m \033[0m");
  EXPECT_EQ(writer.draw({{{"a"}}, {{"b", Ink::chosen}}}, {2, 2}), "");
  EXPECT_EQ(writer.draw({{{"c"}}, {{"b", Ink::chosen}}}, {2, 2}), "\033[1;1Hc ");
  EXPECT_EQ(writer.draw({{{"c"}}, {{"b", Ink::chosen}}}, {3, 1}), "\033[0m\033[2J\033[1;1Hc  ");
  writer.forget();
  EXPECT_EQ(writer.draw({}, {3, 1}), "\033[0m\033[2J");
}

TEST(FrameWriter, leaves_colours_out_where_they_are_not_wanted) {
  EXPECT_EQ(FrameWriter(true).draw({{{"a", Ink::good}}}, {1, 1}),
            "\033[0m\033[2J\033[1;1H\033[32ma\033[0m");
  EXPECT_EQ(FrameWriter(false).draw({{{"a", Ink::good}}}, {1, 1}), "\033[0m\033[2J\033[1;1Ha");
}

}  // namespace
}  // namespace assay::cli
