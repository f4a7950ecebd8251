// SPDX-License-Identifier: Apache-2.0
#include "spec_app.h"
#include "spec_checks.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>

#include <assay/base/files.h>
#include <assay/base/text.h>
#include <assay/launch/launcher.h>
#include <assay/session/spec.h>

namespace assay::session {
namespace {

namespace fs = std::filesystem;

constexpr YamlUse kSpec = {
    .what = "a spec",
    .least = "write at least a name, or an image or command to run",
    .example = "name: my-app",
};

/// A text to read, where it comes from, and the folder its relative paths start from.
struct Source {
  std::string name;
  std::string text;
  std::optional<fs::path> folder;
};

/// What the targets of one spec have in common while they are put together.
struct Frame {
  App app;
  std::optional<fs::path> app_folder;      ///< where a process runs unless told otherwise
  std::optional<fs::path> section_folder;  ///< where paths of the profiling section start from
  Section command_line;                    ///< laid over every target
};

std::string resolved(const std::optional<fs::path>& folder, const std::string& path) {
  if (!folder || path.find("://") != std::string::npos) return path;
  const auto full = (*folder / path).lexically_normal();
  return full.has_filename() ? full.string() : full.parent_path().string();
}

Section section_of(const Overrides& overrides) {
  Section section;
  if (overrides.runtime && check_runtime(*overrides.runtime)) section.runtime = overrides.runtime;
  if (overrides.dataset) section.dataset = {from_here(*overrides.dataset), ""};
  return section;
}

bool is_process(const Section& section) {
  const bool contained = section.runtime == "docker" || section.runtime == "kubernetes";
  return section.runtime == "process" || (section.command && !section.image && !contained);
}

/// Decides between a command and an image. "Nothing to run" is only said when nothing else is
/// wrong, since it may be the other error's consequence; nor is an image made up then.
void choose_what_runs(const Section& section, const App& app, Target& target, Problems& problems) {
  if (section.command) target.command = *section.command;
  if (section.args) {
    target.command.insert(target.command.end(), section.args->begin(), section.args->end());
  }
  if (is_process(section)) {
    if (!section.command && problems.empty()) {
      problems.add(section.line, "runtime: process needs a command; add \"command: …\"");
    }
    return;
  }
  target.image = section.image.value_or("");
  if (section.image || !problems.empty()) return;
  target.image = app.full_name();
  if (app.name.empty() && (section.runtime == "docker" || section.runtime == "kubernetes")) {
    problems.add(section.line,
                 fmt::format("runtime: {} needs an image; add \"image: …\"", *section.runtime));
  } else if (app.name.empty()) {
    problems.add(0, "nothing to run; add a command, an image, or the app's name");
  } else if (const auto valid = check_image(target.image); !valid) {
    problems.add(0, valid.error().message + ", or add a command or an image");
  }
}

/// What goes only with something else that the target lacks.
void check_company(const Section& section, Problems& problems) {
  const auto refuse = [&](const std::string& key, const char* message) {
    const auto place = section.places.find(key);
    problems.add(place != section.places.end() ? place->second.line : section.line, message);
  };
  if (section.playback && !section.dataset && !section.places.contains("dataset"))
    refuse("playback", "playback: there is no dataset to play; add \"dataset: …\"");
  if (!is_process(section)) return;
  if (section.docker_args)
    refuse("docker_args", "docker_args need a container; name an image, or remove them");
  if (section.needs) refuse("needs", "needs go with a container; name an image, or remove them");
  if (!section.limits.gpus.empty())
    refuse("resources", "a choice of GPUs needs a container; name an image, or remove it");
  if (!section.limits.network.empty())
    refuse("resources", "network limits need a container; name an image, or remove them");
}

Target make_target(const Section& section, const Frame& frame, Problems& problems) {
  Target target;
  target.name = section.name.value_or("");
  choose_what_runs(section, frame.app, target, problems);
  if (section.workdir) {
    target.workdir =
        target.image.empty() ? resolved(frame.section_folder, *section.workdir) : *section.workdir;
  } else if (target.image.empty() && frame.app_folder) {
    target.workdir = frame.app_folder->string();
  }
  if (section.dataset) {
    target.dataset = resolved(frame.section_folder, section.dataset->source);
    target.dataset_sha256 = section.dataset->sha256;
  }
  target.runtime = section.runtime.value_or(target.runtime);
  target.docker_args = section.docker_args.value_or(target.docker_args);
  target.playback = section.playback.value_or(target.playback);
  target.needs = section.needs.value_or(target.needs);
  target.env = section.env;
  target.timeout = section.timeout.value_or(target.timeout);
  target.warmup = section.warmup.value_or(target.warmup);
  target.interval = section.interval.value_or(target.interval);
  target.grace = section.grace.value_or(target.grace);
  target.repeat = section.repeat.value_or(target.repeat);
  target.limits = section.limits;
  target.goals = section.goals;
  target.metrics = section.metrics.value_or(target.metrics);
  check_company(section, problems);
  if (const auto valid = check_target(target); !valid) {
    problems.add(section.line, valid.error().message);
  }
  return target;
}

/// The command line says what runs; the section says how.
void forget_what_runs(Section& section) {
  section.command.reset();
  section.image.reset();
  section.places.erase("command");
}

std::string file_name(const std::string& path) {
  return fs::path(path).filename().string();
}

/// Whether a program is known only for running others: "python3.11", "bash".
bool is_interpreter(std::string_view program) {
  constexpr std::array<std::string_view, 10> kNames = {"python",  "pypy",  "node", "perl", "ruby",
                                                       "Rscript", "julia", "bash", "sh",   "lua"};
  program = program.substr(0, program.find_first_of("0123456789"));
  return std::find(kNames.begin(), kNames.end(), program) != kNames.end();
}

/// What a person calls a command: the file name of the program, or of the script it interprets.
std::string program_name(const std::vector<std::string>& command) {
  std::string program = file_name(command.front());
  if (!is_interpreter(program)) return program;
  for (size_t i = 1; i < command.size(); ++i) {
    if (command[i] == "-m" && i + 1 < command.size()) return command[i + 1];
    if (command[i] == "-c" || command[i] == "-e") break;
    if (!command[i].starts_with("-")) return file_name(command[i]);
  }
  return program;
}

/// Names the app after what it runs where the spec gives it no name.
void complete_app(App& app, const Target& first) {
  app.image = first.image;
  if (!app.name.empty()) return;
  if (!first.image.empty()) {
    app = app_of_image(first.image);
  } else if (!first.command.empty()) {
    app.name = program_name(first.command);
  }
}

Spec make_spec(const Frame& frame, const Section& top, const Profiling& profiling,
               Problems& problems) {
  Spec spec;
  spec.app = frame.app;
  const Section defaults = overlay(top, profiling.defaults);
  std::vector<Section> sections;
  for (const auto& target : profiling.targets) sections.push_back(overlay(defaults, target));
  if (sections.empty()) sections.push_back(defaults);
  for (auto& section : sections) {
    section = overlay(section, frame.command_line);
    spec.targets.push_back(make_target(section, frame, problems));
    spec.places.push_back(section.places);
  }
  complete_app(spec.app, spec.targets.front());
  return spec;
}

void append(std::vector<Diagnostic>& all, std::vector<Diagnostic> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

SpecResult finish(Spec spec, std::vector<Diagnostic> errors) {
  // Targets that share a default also share its error.
  const auto same = [](const Diagnostic& a, const Diagnostic& b) {
    return a.file == b.file && a.line == b.line && a.message == b.message;
  };
  errors.erase(std::unique(errors.begin(), errors.end(), same), errors.end());
  SpecResult result;
  if (errors.empty()) {
    result.spec = std::move(spec);
  } else {
    result.draft = std::move(spec);
  }
  result.errors = std::move(errors);
  return result;
}

std::optional<Profiling> load_profile(const Source& source, Problems& problems) {
  const auto root = load_map(source.text, kSpec, problems);
  if (!root) return std::nullopt;
  return read_profile(*root, problems);
}

SpecResult build(const Source& app_source, const Source* profile_source,
                 const Overrides& overrides = {}) {
  Problems app_problems(app_source.name);
  AppFile file;
  const auto root = load_map(app_source.text, kSpec, app_problems);
  if (root) file = read_app(*root, profile_source != nullptr, app_problems);
  const Frame frame = {file.app, app_source.folder,
                       profile_source != nullptr ? profile_source->folder : app_source.folder,
                       section_of(overrides)};
  if (profile_source == nullptr) {
    Spec spec;
    if (root) {
      spec = make_spec(frame, file.section, file.profiling.value_or(Profiling()), app_problems);
    }
    return finish(std::move(spec), app_problems.take());
  }
  Problems profile_problems(profile_source->name);
  const auto profiling = load_profile(*profile_source, profile_problems);
  Spec spec;
  if (root && profiling) spec = make_spec(frame, file.section, *profiling, profile_problems);
  auto errors = app_problems.take();
  append(errors, profile_problems.take());
  return finish(std::move(spec), std::move(errors));
}

/// Without the path that `text()` puts in front anyway.
std::string without_path(std::string message, const fs::path& file) {
  const size_t at = message.find(file.native());
  if (at == std::string::npos) return message;
  const size_t space_before = at > 0 ? 1 : 0;
  message.erase(at - space_before, file.native().size() + (at > 0 ? space_before : 1));
  return message;
}

std::optional<Source> open_source(const fs::path& file, std::vector<Diagnostic>& errors) {
  auto text = read_file(file, kLargestYaml);
  if (!text) {
    errors.push_back({file.string(), 0,
                      without_path(text.error().message, file) + "; give the path of a YAML file"});
    return std::nullopt;
  }
  std::error_code ignored;
  return Source{file.string(), std::move(*text), fs::absolute(file, ignored).parent_path()};
}

}  // namespace

SpecResult read_spec(const fs::path& file, const std::optional<fs::path>& profile,
                     const Overrides& overrides) {
  SpecResult result;
  const auto app = open_source(file, result.errors);
  std::optional<Source> section;
  if (profile) section = open_source(*profile, result.errors);
  if (!result.errors.empty()) return result;
  return build(*app, section ? &*section : nullptr, overrides);
}

SpecResult parse_spec(const std::string& text, const std::string& name) {
  return build({name, text, std::nullopt}, nullptr);
}

SpecResult parse_spec(const std::string& text, const std::string& name,
                      const std::string& profile_text, const std::string& profile_name) {
  const Source profile = {profile_name, profile_text, std::nullopt};
  return build({name, text, std::nullopt}, &profile);
}

Spec spec_for_command(const std::vector<std::string>& command) {
  Spec spec;
  Target target;
  target.command = command;
  if (!command.empty()) spec.app.name = program_name(command);
  spec.targets.push_back(std::move(target));
  return spec;
}

SpecResult spec_for_command(const std::vector<std::string>& command, const fs::path& profile,
                            const Overrides& overrides) {
  SpecResult result;
  const auto source = open_source(profile, result.errors);
  if (!source) return result;
  Problems problems(source->name);
  Profiling profiling = load_profile(*source, problems).value_or(Profiling());
  forget_what_runs(profiling.defaults);
  for (auto& target : profiling.targets) forget_what_runs(target);
  profiling.defaults.command = command;
  Frame frame;
  frame.section_folder = source->folder;
  frame.command_line = section_of(overrides);
  Spec spec = make_spec(frame, Section(), profiling, problems);
  return finish(std::move(spec), problems.take());
}

Result<Spec> spec_for_container(const std::string& id) {
  ASSAY_TRY(const auto containers, launch::find_containers());
  ASSAY_TRY(Target target, containers->describe(id));
  Spec spec;
  spec.app = app_of_image(target.image);
  target = masked(target);
  spec.targets.push_back(std::move(target));
  return spec;
}

Result<Spec> spec_for_process(pid_t pid, const SysRoot& root) {
  const std::string folder = fmt::format("/proc/{}", pid);
  const std::string stat = root.read(folder + "/stat").value_or("");
  if (stat.find(") Z", stat.rfind(')')) != std::string::npos) {
    return bad_input(
        fmt::format("process {} has ended; it is only listed until its parent asks for it", pid));
  }
  const std::string command = root.read(folder + "/cmdline").value_or("");
  std::vector<std::string> words;
  std::string_view rest = command;
  while (!rest.empty()) words.emplace_back(next_field(rest, '\0'));
  if (words.empty()) words = {root.read(folder + "/comm").value_or(fmt::format("pid-{}", pid))};
  Spec spec = spec_for_command(words);
  spec.app.name = masked_text(spec.app.name);
  return spec;
}

SpecResult spec_for_image(const std::string& image, const std::optional<fs::path>& profile,
                          const Overrides& overrides) {
  SpecResult result;
  if (const auto valid = check_image(image); !valid) {
    result.errors.push_back({"command line", 0, valid.error().message});
  }
  std::optional<Source> source;
  if (profile) source = open_source(*profile, result.errors);
  if (!result.errors.empty()) return result;

  Frame frame;
  frame.app = app_of_image(image);
  frame.command_line = section_of(overrides);
  Problems problems(source ? source->name : "command line");
  Profiling profiling;
  if (source) {
    frame.section_folder = source->folder;
    profiling = load_profile(*source, problems).value_or(Profiling());
  }
  profiling.defaults.image = image;
  Spec spec = make_spec(frame, Section(), profiling, problems);
  return finish(std::move(spec), problems.take());
}

}  // namespace assay::session
