// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "exit_code.h"

#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/session/session.h>

namespace assay::cli {
namespace {

struct ReportArguments {
  std::string id;
  std::string format;  ///< empty: as the output is named
  std::string output;
};

Result<std::string> document(const report::SessionView& view, const std::string& format) {
  if (format == "json") return report::session_document(view).dump(2) + "\n";
  if (format == "csv") return report::samples_csv(view);
  if (format == "junit") return report::junit_xml(view);
  if (format == "text") return report::text_summary(view, false);
  return report::html_page(view);
}

/// What the ending of a file's name asks for; a page where there is none.
Result<std::string> format_of(const std::filesystem::path& file) {
  const std::string ending = file.extension();
  if (ending.empty() || ending == ".html" || ending == ".htm") return std::string("html");
  if (ending == ".json" || ending == ".csv") return ending.substr(1);
  if (ending == ".xml") return std::string("junit");
  if (ending == ".txt") return std::string("text");
  return bad_input(
      fmt::format("cannot write a {} file; name it .html, .json, .csv, .xml or .txt, or "
                  "say --format",
                  ending));
}

Result<int> make_report(const ReportArguments& args, const Context& context) {
  const bool to_file = !args.output.empty() && args.output != "-";
  std::string format = args.format;
  if (format.empty()) {
    ASSAY_TRY(format, format_of(args.output));
  }
  if (format == "html" && !to_file && isatty(STDOUT_FILENO) != 0)
    return bad_input("a page is not for reading in a terminal; use -o FILE, or --format text");
  ASSAY_CHECK(check_named_store(context));
  ASSAY_TRY(const auto store, store::open_sqlite(context.store));
  (void)session::recover(*store);
  ASSAY_TRY(const auto view, session::load_view(*store, args.id));
  ASSAY_TRY(const std::string text, document(view, format));
  if (!to_file) {
    fmt::print("{}", text);
    return kDone;
  }
  ASSAY_CHECK(write_file(args.output, text));
  fmt::print(stderr, "wrote {}\n", args.output);
  return kDone;
}

}  // namespace

void add_report_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("report", "Make a document from a session in the history");
  command->footer(
      "\nExamples:\n  assay report last -o report.html\n  assay report last -o samples.csv\n  "
      "assay "
      "report last --format text\n");
  auto args = std::make_shared<ReportArguments>();
  command->add_option("session", args->id, "A session's id, the beginning of one, or `last`")
      ->type_name("SESSION")
      ->required();
  command
      ->add_option(
          "--format", args->format,
          "html, json, csv, junit or text (default: by FILE's ending .html .json .csv .xml .txt)")
      ->check(CLI::IsMember(std::vector<std::string>(kFormats.begin(), kFormats.end())))
      ->type_name("FORMAT");
  command->add_option("-o,--output", args->output, "File to write (default: standard output)")
      ->type_name("FILE");
  add_store_option(*command, context);
  command->callback([args, &context] {
    context.action = [args, &context] { return make_report(*args, context); };
  });
}

}  // namespace assay::cli
