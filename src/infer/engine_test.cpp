// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <csignal>

#include <assay/infer/engine.h>
#include <gtest/gtest.h>

namespace assay::infer {
namespace {

/// An engine that is a script of the shell: after its greeting, the text answers line after line.
Result<Engine> scripted(const std::string& text) {
  return Engine::start({"sh", "-c", "echo '{\"engine\": \"test\", \"version\": \"1\"}'; " + text});
}

std::string error_of(const std::string& text) {
  auto engine = scripted(text);
  EXPECT_TRUE(engine) << engine.error().message;
  const auto loaded = engine->load({.file = "/m.onnx"});
  return loaded ? "" : loaded.error().message;
}

TEST(Engine, says_its_name_and_is_told_what_to_do) {
  auto engine = scripted(
      R"(read line; case $line in
        *'"do":"load"'*'"file":"/m.onnx"'*'"threads":2'*)
          echo '{"seconds": 0.5, "inputs": [{"name": "x", "type": "float32", "shape": [1, 3, "n"]}]}';;
        *) echo '{"error": "no"}';; esac
      read line; echo '{"times": [0.25, 0.5, -1, "x"]}')");
  ASSERT_TRUE(engine) << engine.error().message;
  EXPECT_EQ(engine->name(), "test");
  EXPECT_EQ(engine->version(), "1");
  const auto loaded = engine->load({.file = "/m.onnx", .threads = 2});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->seconds, 0.5);
  EXPECT_EQ(loaded->inputs, (std::vector<Tensor>{{"x", "float32", {1, 3, -1}}}));
  const auto times = engine->run({.count = 2});
  ASSERT_TRUE(times) << times.error().message;
  EXPECT_EQ(*times, (std::vector<double>{0.25, 0.5}));
}

TEST(Engine, that_does_not_say_that_it_computes_on_the_gpu_is_refused) {
  const auto load = [](const char* answer) {
    auto engine = scripted(std::string(R"(read line; case $line in
      *'"gpu":true'*) echo ')") +
                           answer + "';; *) echo '{}';; esac");
    const auto loaded = engine->load({.file = "/m.onnx", .gpu = true});
    return loaded ? "" : loaded.error().message;
  };
  EXPECT_EQ(load(R"({"seconds": 1, "gpu": true})"), "");
  for (const char* answer : {R"({"seconds": 1})", R"({"gpu": false})", R"({"gpu": "yes"})"})
    EXPECT_EQ(load(answer), "the engine does not say that it computes on the GPU") << answer;
}

TEST(Engine, tells_what_an_engine_does_not_like) {
  EXPECT_EQ(error_of(R"(read line; echo '{"error": "Unsupported operator NonZero"}')"),
            "Unsupported operator NonZero");
}

TEST(Engine, that_ends_is_told_with_how_and_its_last_words) {
  EXPECT_EQ(error_of("read line; echo first >&2; echo out of memory >&2; exit 7"),
            "sh ended with 7: out of memory");
  EXPECT_EQ(error_of("read line; kill -SEGV $$"), "sh was ended by Segmentation fault");
}

TEST(Engine, that_only_closes_its_output_is_ended) {
  EXPECT_EQ(error_of("read line; exec >&-; sleep 1000"), "sh was ended by Killed");
}

TEST(Engine, that_does_not_answer_in_time_may_another_time) {
  auto engine = scripted("read line; exec sleep 1000");
  ASSERT_TRUE(engine) << engine.error().message;
  const auto times = engine->run({.seconds = 0.01, .patience = 0.01});
  ASSERT_FALSE(times);
  EXPECT_EQ(times.error().message, "sh does not answer in time");
  EXPECT_TRUE(times.error().temporary);
}

TEST(Engine, that_talks_nonsense_is_told) {
  EXPECT_EQ(error_of("read line; echo loading..."),
            "the engine answers loading... instead of JSON");
}

TEST(Engine, without_times_has_not_run) {
  auto engine = scripted(R"(read line; echo '{"times": []}'; read line; echo '{}')");
  ASSERT_TRUE(engine);
  EXPECT_FALSE(engine->run({}));
  EXPECT_FALSE(engine->run({}));
}

TEST(Engine, tells_what_operators_take_or_that_it_cannot) {
  auto engine = scripted(
      R"(read line; case $line in *'"do":"profile"'*)
        echo '{"operators": [{"name": "Conv_0", "seconds": 0.5}, {"name": "x", "seconds": -1}, 3],
               "times": [3, 1, 2]}' | tr -d '\n'; echo;; esac
      read line; echo '{"error": "\"profile\" is not known"}'
      read line; echo '{"operators": [{"name": "Conv_0", "seconds": 0.5}]}')");
  ASSERT_TRUE(engine) << engine.error().message;
  const auto profile = engine->profile({});
  ASSERT_TRUE(profile) << profile.error().message;
  ASSERT_EQ(profile->operators.size(), 1U);
  EXPECT_EQ(profile->operators[0].name, "Conv_0");
  EXPECT_EQ(profile->operators[0].seconds, 0.5);
  EXPECT_EQ(profile->seconds, 2);
  EXPECT_FALSE(engine->profile({}));
  EXPECT_FALSE(engine->profile({}));
}

TEST(Engine, that_cannot_be_started_or_is_none_is_an_error) {
  const auto missing = Engine::start({"/nowhere/engine"});
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("/nowhere/engine"), std::string::npos);
  EXPECT_FALSE(Engine::start({}));
  const auto none = Engine::start({"sh", "-c", "echo '{}'"});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("is no engine"), std::string::npos);
}

TEST(Engine, that_nobody_waits_for_any_more_is_left) {
  auto engine = scripted("read line; read line");
  ASSERT_TRUE(engine);
  int asked = 0;
  engine->while_wanted([&] { return ++asked < 3; });
  const auto loaded = engine->load({.file = "/m.onnx"});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message, "interrupted");
  EXPECT_EQ(asked, 3);
}

TEST(Engine, ends_with_its_owner) {
  pid_t pid = 0;
  {
    auto engine = scripted("read line; read line");
    ASSERT_TRUE(engine);
    pid = engine->pid();
    ASSERT_EQ(kill(pid, 0), 0);
  }
  EXPECT_NE(kill(pid, 0), 0);
}

}  // namespace
}  // namespace assay::infer
