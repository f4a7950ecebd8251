// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "exit_code.h"
#include "terminal.h"
#include "top_screen.h"
#include "top_source.h"
#include "top_text.h"
#include "top_view.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <poll.h>
#include <set>
#include <sys/signalfd.h>
#include <unistd.h>

#include <assay/base/time.h>

namespace assay::cli {
namespace {

struct TopOptions {
  std::string url;
  std::filesystem::path token_file;
  std::string sort = "cores";
  std::string filter;
  bool once = false;
  bool json = false;
};

Fd signals_of_a_terminal() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP, SIGCONT})
    sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

/// The live table on a terminal: waits for keys, news and signals, and draws what has changed.
class LiveTop {
 public:
  LiveTop(const AgentAnswer& answer, const TopChoice& choice, bool color)
      : address_(answer.address.shown),
        signals_(signals_of_a_terminal()),
        source_(answer.address),
        view_(choice),
        writer_(color) {
    view_.take(answer.document);
  }

  int run() {
    while (!exit_) {
      if (shown_) {
        view_.set_trouble(trouble());
        const ScreenSize size = screen_.size();
        // A terminal that takes nothing is gone.
        if (!screen_.write(writer_.draw(view_.frame(size), size))) return kInterrupted;
      }
      wait();
    }
    return *exit_;
  }

 private:
  void wait() {
    constexpr int kRestOfAKey = 50;
    constexpr int kSecond = 1000;
    std::array<pollfd, 3> all = {pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{signals_.get(), POLLIN, 0},
                                 pollfd{source_.descriptor(), POLLIN, 0}};
    const int ready = ::poll(all.data(), all.size(), keys_.waiting() ? kRestOfAKey : kSecond);
    if (ready == 0) press(keys_.give_up());
    if (ready <= 0) return;
    if (all[1].revents != 0) take_signals();
    if (all[0].revents != 0 && shown_) read_keys((all[0].revents & (POLLHUP | POLLERR)) != 0);
    if (all[2].revents != 0) take_news();
  }

  /// `gone`: the terminal has been closed; what was typed before still counts.
  void read_keys(bool gone) {
    std::array<char, 256> bytes{};
    const ssize_t size = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (size > 0) return press(keys_.take({bytes.data(), static_cast<size_t>(size)}));
    if (gone) exit_ = exit_.value_or(kInterrupted);
  }

  void press(const std::vector<Key>& keys) {
    for (const auto& key : keys)
      if (!view_.press(key)) exit_ = kDone;
  }

  void take_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      const auto signal = static_cast<int>(info.ssi_signo);
      if (signal == SIGTSTP) {
        screen_.leave();
        shown_ = false;
        ::kill(::getpid(), SIGSTOP);
      } else if (signal == SIGCONT) {
        screen_.enter();
        writer_.forget();
        shown_ = true;
      } else if (signal != SIGWINCH) {
        exit_ = kInterrupted;
      }
    }
  }

  void take_news() {
    auto news = source_.take();
    connected_ = news.connected;
    reason_ = std::move(news.reason);
    if (!news.document) return;
    const Timestamp now = clock_.now();
    if (last_) pace_ = now - *last_;
    last_ = now;
    view_.take(std::move(*news.document));
  }

  /// An agent may be slow, and is then waited for in its own pace.
  std::string trouble() const {
    if (!connected_ && !reason_.empty()) return reason_ + "; trying again";
    const Nanoseconds silent = clock_.now() - last_.value_or(started_);
    const Nanoseconds patience = std::max<Nanoseconds>(std::chrono::seconds(3), 3 * pace_);
    const bool broken = !connected_ && silent >= std::chrono::seconds(2);
    if (!broken && silent < patience) return "";
    return fmt::format("no answer from {} for {:.0f} s; trying again", address_, seconds(silent));
  }

  std::string address_;
  SystemClock clock_;
  Timestamp started_ = clock_.now();
  Fd signals_;  // before the source, whose thread must not take them
  TopSource source_;
  TopView view_;
  FrameWriter writer_;
  KeyReader keys_;
  TopScreen screen_;
  bool shown_ = true;
  bool connected_ = false;
  std::string reason_;
  std::optional<Timestamp> last_;
  Nanoseconds pace_ = std::chrono::seconds(1);
  std::optional<int> exit_;
};

/// The usual columns may be asked for before any app has them.
Result<void> check_order(const std::string& key, const TopDocument& document) {
  std::set<std::string> keys(kTopOrders.begin(), kTopOrders.end());
  const RecentCores recent;
  for (const auto& column : top_columns(document, recent, true)) keys.insert(column.key);
  keys.erase("");
  if (keys.contains(key)) return {};
  return bad_input(
      fmt::format("--sort: there is no column '{}', only {}", key, fmt::join(keys, ", ")));
}

Result<int> top(const TopOptions& options) {
  const bool unicode = use_environment_characters();
  ASSAY_TRY(const auto addresses, agent_addresses(options.url, options.token_file));
  ASSAY_TRY(const auto answer, ask_agent(addresses));
  if (options.json) {
    fmt::print("{}", answer.body);
    return kDone;
  }
  ASSAY_CHECK(check_order(options.sort, answer.document));
  const TopChoice choice = {{options.sort, false}, options.filter, unicode};
  if (options.once || !TopScreen::is_possible()) {
    fmt::print("{}", once_text(answer.document, choice, terminal_columns(STDOUT_FILENO, 0)));
    return kDone;
  }
  return LiveTop(answer, choice, output_look().color).run();
}

}  // namespace

void add_top_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("top", "Watch the apps of a node that an agent watches");
  command->footer(
      "\nA live table of what each app uses, reports and reaches; h in it tells the keys.\n"
      "Asks $XDG_RUNTIME_DIR/assay/agent.sock, /run/assay/agent.sock, then "
      "http://127.0.0.1:9410.\n");
  auto options = std::make_shared<TopOptions>();
  command
      ->add_option("--url", options->url,
                   "The agent's address or socket (default: ASSAY_URL, else this machine's)")
      ->type_name("URL");
  command->add_option("--token-file", options->token_file, "Holds the token (default: ASSAY_TOKEN)")
      ->type_name("FILE");
  command->add_option("--sort", options->sort, "Column to sort by: cores, memory, name, fps, ...")
      ->type_name("COLUMN");
  command->add_option("--filter", options->filter, "Only apps whose name, kind or image holds it")
      ->type_name("TEXT");
  command->add_flag("--once", options->once, "Print the table once, as plain text");
  command->add_flag("--json", options->json, "Print what the agent tells, as JSON");
  command->callback([options, &context] { context.action = [options] { return top(*options); }; });
}

}  // namespace assay::cli
