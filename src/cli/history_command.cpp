// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "exit_code.h"
#include "history_list.h"
#include "named_file.h"
#include "terminal.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include <assay/session/session.h>

namespace assay::cli {
namespace {

struct HistoryArguments {
  std::string id;
  std::string file;
  bool json = false;
};

Result<std::unique_ptr<store::Store>> open_history(const Context& context) {
  ASSAY_TRY(auto store, store::open_sqlite(context.store));
  for (const auto& line : session::recover(*store)) fmt::print(stderr, "{}\n", line);
  return store;
}

Result<std::unique_ptr<store::Store>> open_named_history(const Context& context) {
  ASSAY_CHECK(check_named_store(context));
  return open_history(context);
}

Result<int> list(const HistoryArguments& args, const Context& context) {
  ASSAY_TRY(const auto store, open_named_history(context));
  ASSAY_TRY(const auto sessions, listed_sessions(*store));
  if (args.json) {
    fmt::print("{}\n", history_json(sessions).dump(2, ' ', false, Json::error_handler_t::replace));
  } else if (sessions.empty()) {
    fmt::print("no sessions yet; `assay run -- COMMAND` makes the first one\n");
  } else {
    fmt::print("{}", history_table(sessions, SystemClock().now()));
  }
  return kDone;
}

Result<int> show(const HistoryArguments& args, const Context& context) {
  ASSAY_TRY(const auto store, open_named_history(context));
  ASSAY_TRY(const auto view, session::load_view(*store, args.id));
  if (args.json) {
    fmt::print("{}\n", report::session_document(view).dump(2));
    return kDone;
  }
  const Look look = output_look();
  fmt::print("{}", report::text_summary(view, look.color, look.columns));
  return kDone;
}

/// What a container wrote as root, only root can remove.
Failure cannot_remove(const std::filesystem::path& folder, const std::error_code& error) {
  return refused(
      fmt::format("its folder {0} could not be removed whole: {1}; where its app has written files "
                  "as another user: sudo rm -r {0}",
                  folder.native(), error.message()));
}

/// A session's own folder is named after it; an imported session has none, and a damaged one does
/// not say.
Result<void> remove_folder(const Result<SessionRecord>& session, const std::string& id,
                           const Context& context) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (session) {
    const fs::path folder = session->folder;
    if (folder.is_absolute() && folder.filename() == id) fs::remove_all(folder, error);
    if (error) return cannot_remove(folder, error);
    return {};
  }
  const fs::path usual = fs::absolute(context.store, error).parent_path() / "sessions" / id;
  if (fs::exists(usual, error))
    fmt::print("the session was damaged; its folder may be {}\n", usual.native());
  return {};
}

Result<int> remove(const HistoryArguments& args, const Context& context) {
  ASSAY_TRY(const auto store, open_named_history(context));
  ASSAY_TRY(const auto summary, store->summary(args.id));
  if (summary.running) {
    return bad_input(fmt::format(
        "session {} is still running; stop it first (Ctrl-C where it runs)", summary.id));
  }
  const auto session = store->session(summary.id);
  ASSAY_CHECK(store->remove(summary.id));
  fmt::print("removed {}\n", summary.id);
  ASSAY_CHECK(remove_folder(session, summary.id, context));
  return kDone;
}

Result<int> export_one(const HistoryArguments& args, const Context& context) {
  ASSAY_TRY(const auto store, open_named_history(context));
  ASSAY_CHECK(store->export_session(args.id, args.file));
  fmt::print("wrote {}; read it on another machine with: assay history import {}\n", args.file,
             args.file);
  return kDone;
}

Result<int> import_one(const HistoryArguments& args, const Context& context) {
  ASSAY_TRY(const auto store, open_history(context));
  ASSAY_TRY(const auto before, store->list());
  // Through its archive: the folder belongs to the history that it comes from.
  std::error_code error;
  const std::filesystem::path file = args.file;
  ASSAY_CHECK(check_named_file(file));
  const bool folder = std::filesystem::is_directory(file, error);
  ASSAY_TRY(const std::string id, store->import_session(folder ? file / "session.assay" : file));
  const bool known = std::any_of(before.begin(), before.end(),
                                 [&](const store::Summary& s) { return s.id == id; });
  fmt::print("{}\n",
             known ? id + " is already in the history; nothing was changed" : "imported " + id);
  return kDone;
}

using Action = Result<int> (*)(const HistoryArguments&, const Context&);

CLI::App* add(CLI::App& history, Context& context, const char* name, const char* help,
              Action action, const std::shared_ptr<HistoryArguments>& args) {
  auto* command = history.add_subcommand(name, help);
  add_store_option(*command, context);
  command->callback([args, action, &context] {
    context.action = [args, action, &context] { return action(*args, context); };
  });
  return command;
}

void add_id(CLI::App& command, HistoryArguments& args) {
  command.add_option("session", args.id, "A session's id, the beginning of one, or `last`")
      ->type_name("SESSION")
      ->required();
}

}  // namespace

void add_history_command(CLI::App& app, Context& context) {
  auto* history =
      app.add_subcommand("history", "List, show, remove, export and import past sessions");
  history->footer(
      "\nSessions are named by their id, the beginning of one, or `last`. Alone: list.\n");
  history->require_subcommand(0, 1);
  auto args = std::make_shared<HistoryArguments>();
  add_store_option(*history, context);
  history->add_flag("--json", args->json, "As JSON");
  history->parse_complete_callback(
      [args, &context] { context.action = [args, &context] { return list(*args, context); }; });
  auto* list_command = add(*history, context, "list", "All sessions, newest first", list, args);
  list_command->add_flag("--json", args->json, "As JSON");
  auto* show_command = add(*history, context, "show", "What a session found", show, args);
  add_id(*show_command, *args);
  show_command->add_flag("--json", args->json, "Print the session document");
  add_id(*add(*history, context, "rm", "Remove a session and its folder", remove, args), *args);
  auto* export_command = add(*history, context, "export",
                             "Write a session into one file to mail or attach", export_one, args);
  add_id(*export_command, *args);
  export_command->add_option("-o,--output", args->file, "The file to write")
      ->type_name("FILE")
      ->required();
  add(*history, context, "import", "Take a session from an exported file or a session folder",
      import_one, args)
      ->add_option("file", args->file, "What `export` wrote, or a session's folder")
      ->type_name("FILE|FOLDER")
      ->required();
}

}  // namespace assay::cli
