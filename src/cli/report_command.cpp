// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "exit_code.h"

#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include <assay/base/files.h>
#include <assay/session/session.h>

namespace assay::cli {
namespace {

struct ReportArguments {
  std::string id;
  std::string format = "html";
  std::string output;
};

Result<std::string> document(const report::SessionView& view, const std::string& format) {
  if (format == "json") return report::session_document(view).dump(2) + "\n";
  if (format == "csv") return report::samples_csv(view);
  if (format == "junit") return report::junit_xml(view);
  if (format == "text") return report::text_summary(view, false);
  return report::html_page(view);
}

Result<int> make_report(const ReportArguments& args, const Context& context) {
  ASSAY_TRY(const auto store, store::open_sqlite(context.store));
  (void)session::recover(*store);
  ASSAY_TRY(const auto view, session::load_view(*store, args.id));
  ASSAY_TRY(const std::string text, document(view, args.format));
  if (args.output.empty() || args.output == "-") {
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
      "\nExamples:\n  assay report last -o report.html\n  assay report last --format junit -o "
      "junit.xml\n");
  auto args = std::make_shared<ReportArguments>();
  command->add_option("session", args->id, "A session's id, the beginning of one, or `last`")
      ->type_name("SESSION")
      ->required();
  command->add_option("--format", args->format, "html, json, csv, junit or text (default html)")
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
