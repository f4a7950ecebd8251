// SPDX-License-Identifier: Apache-2.0
#include <assay/session/spec.h>
#include <gtest/gtest.h>

namespace assay::session {
namespace {

using Words = std::vector<std::string>;

/// Nothing here is or looks like a credential in the source; the forms are put together at run
/// time.
const std::string& plain() {
  static const std::string kPlain = "correct" + std::string("horse") + std::to_string(42);
  return kPlain;
}

std::string body(size_t size) {
  std::string text;
  while (text.size() < size) text += "aB3dE5";
  return text.substr(0, size);
}

/// Replaces each @ by the secret, masks, and expects each @ to be *** then.
void expect_masked(const std::string& form, const std::string& secret) {
  std::string text;
  std::string expected;
  for (const char c : form) {
    text += c == '@' ? secret : std::string(1, c);
    expected += c == '@' ? "***" : std::string(1, c);
  }
  EXPECT_EQ(masked_text(text), expected);
  EXPECT_EQ(masked_text(expected), expected) << "masking twice";
}

TEST(MaskedText, hides_values_of_secret_names) {
  for (const auto* form : {"--token=@",
                           "--password @",
                           "--password   @ --verbose",
                           "-password @",
                           "run --api-key @ x",
                           "sh -c \"app --token @\"",
                           "--token '@' x",
                           "MY_TOKEN=@",
                           "DB_PASSWORD=@ run",
                           "PGPASSWORD=@",
                           "mysql_pwd=@;",
                           "apiKey: @",
                           "password: \"@\"",
                           "{\"password\": \"@\", \"user\": \"me\"}",
                           "{\\\"token\\\":\\\"@\\\",\\\"n\\\":1}",
                           "client_secret = @",
                           "accessToken=@",
                           "db_pass=@",
                           "Server=x;Password=@;Port=1",
                           "https://host/path?user=me&token=@&size=3",
                           "/get?api_key=@#top",
                           "?sig=@&x=1",
                           "?key=@",
                           "x-auth-token: @",
                           "ACCESS_KEY_ID=@",
                           "private-key=@",
                           "AWS_SECRET=@",
                           "TOKEN_2=@",
                           "session_key=@",
                           "credentials=@",
                           "--openai-key @",
                           "OPENAI_KEY=@",
                           "api_key_value=@",
                           "OPENAI_KEY_PROD=@",
                           "STRIPE_KEY=@",
                           "--wandb-key @ x",
                           "--stream-key=@",
                           "--psk @",
                           "wifi_psk=@",
                           "--pw @",
                           "--db-pw=@",
                           "--pin @",
                           "SIM_PIN=@",
                           "--signature @",
                           "https://h/x?X-Amz-Date=1&X-Amz-Signature=@&n=1",
                           "?signature=@&x=1"}) {
    expect_masked(form, plain());
  }
}

TEST(MaskedText, hides_passwords_in_urls) {
  const std::pair<std::string, std::string> cases[] = {
      {"rtsp://admin:" + plain() + "@camera:554/live", "rtsp://admin:***@camera:554/live"},
      {"get http://u:a/" + plain() + "@h/x now", "get http://u:***@h/x now"},
      {"http://u:p@" + plain() + "@h", "http://u:***@h"},
      {"redis://:" + plain() + "@h:1", "redis://:***@h:1"},
      {"https://" + body(24) + "@git.example/x", "https://***@git.example/x"},
      {"a=x://u:" + plain() + "@h,y://v:" + plain() + "@h", "a=x://u:***@h"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(masked_text(text), expected);
}

TEST(MaskedText, hides_headers_and_keeps_their_scheme) {
  expect_masked("Authorization: Bearer @", plain());
  expect_masked("authorization: Basic @\nAccept: x", plain());
  expect_masked("curl -H 'Authorization: Token @' http://h", plain());
  expect_masked("Cookie: @", "a=1; b=" + plain());
  expect_masked("sent Bearer @ to x", plain());
}

TEST(MaskedText, hides_tokens_by_their_shape) {
  for (const auto* prefix : {"ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-",
                             "sk-", "sk-proj-", "nvapi-", "hf_", "AIza"}) {
    expect_masked("use @ here", prefix + body(36));
    expect_masked("x=@", prefix + body(36));
  }
  for (const auto* prefix : {"AKIA", "ASIA"}) {
    expect_masked("id @.", std::string(prefix) + "ABCDEFGH" + "23456789");
  }
  expect_masked("got @, ok", "eyJ" + body(30) + "." + body(40) + "." + body(20));
  expect_masked("-----BEGIN PRIVATE KEY-----@-----END PRIVATE KEY----- rest",
                "\n" + body(60) + "\n");
}

TEST(MaskedText, leaves_everything_else) {
  for (const std::string text : {"--tokenizer bert",
                                 "--tokenizer=bert",
                                 "AUTHOR=me",
                                 "AUTHORS: a, b",
                                 "--keyboard us",
                                 "--key-frame 5",
                                 "--key-frames 5",
                                 "video_key_frame=5",
                                 "--sort-key a",
                                 "partition_key=day",
                                 "row-key: 7",
                                 "foreignKey=id",
                                 "PUBLIC_KEY=x",
                                 "--pinned x",
                                 "pin_memory=1",
                                 "led_pin=17",
                                 "-p 8080",
                                 "pw_layers=3",
                                 "--signature-def x",
                                 "no matching signature: expected tensor",
                                 "--max-tokens 512",
                                 "max_tokens=512",
                                 "n_tokens: 3",
                                 "PWD=/home/me",
                                 "--low-pass 50",
                                 "--passes 3",
                                 "pass: 3, fail: 0",
                                 "COMPASS=north",
                                 "bypass=1",
                                 "secretary=x",
                                 "TOKEN_FILE=/run/x",
                                 "--auth-mode none",
                                 "SSH_AUTH_SOCK=/tmp/s",
                                 "XAUTHORITY=/home/x",
                                 "primary_key=id",
                                 "cache-key: 7",
                                 "monkey=1",
                                 "http://host:8080/path@2x",
                                 "ssh://git@host/x",
                                 "http://auth:8080/",
                                 "user@host:/path",
                                 "12:30:05",
                                 "std::auth::x",
                                 "Bearer authentication is used",
                                 "sk-learn-contrib-something",
                                 "task-123456789012345678901",
                                 "ghp_short",
                                 "eyJust",
                                 "AKIA",
                                 "--token --verbose",
                                 "--verbose --token",
                                 "token==x",
                                 "a = b",
                                 "?monkey=1",
                                 "keywords: a",
                                 "",
                                 "-",
                                 "--",
                                 "=",
                                 ":",
                                 "://",
                                 "@"}) {
    EXPECT_EQ(masked_text(text), text);
  }
}

TEST(MaskedText, takes_long_texts_in_its_stride) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "token=://eyJ-bearer sk- -- ";
  EXPECT_LE(masked_text(text).size(), text.size());
  EXPECT_EQ(masked_text("token=" + std::string(1'000'000, '=')).size(), 1'000'006U);
}

TEST(Masked, covers_command_env_and_urls) {
  Target target;
  target.command = {"app",
                    "--token",
                    plain(),
                    "--password=two " + plain(),
                    "--api-key",
                    "--fast",
                    "-e",
                    "MY_SECRET=" + plain(),
                    "--tokenizer",
                    "bert",
                    "-p",
                    "80",
                    "rtsp://u:" + plain() + "@cam"};
  target.env = {{"API_TOKEN", plain()},
                {"EMPTY_TOKEN", ""},
                {"AUTHOR", "me"},
                {"PWD", "/home"},
                {"URL", "http://u:" + plain() + "@h"}};
  target.dataset = "s3://k:" + plain() + "@bucket";
  const auto safe = masked(target);
  EXPECT_EQ(safe.command,
            (Words{"app", "--token", "***", "--password=***", "--api-key", "--fast", "-e",
                   "MY_SECRET=***", "--tokenizer", "bert", "-p", "80", "rtsp://u:***@cam"}));
  EXPECT_EQ(safe.env, (std::map<std::string, std::string>{{"API_TOKEN", "***"},
                                                          {"EMPTY_TOKEN", ""},
                                                          {"AUTHOR", "me"},
                                                          {"PWD", "/home"},
                                                          {"URL", "http://u:***@h"}}));
  EXPECT_EQ(safe.dataset, "s3://k:***@bucket");
}

TEST(Masked, finds_the_value_of_a_secret_variable_elsewhere) {
  Target target;
  target.env = {{"API_TOKEN", plain()}, {"COPY", "<" + plain() + ">"}, {"SHORT_TOKEN", "app"}};
  target.command = {"app", "x" + plain()};
  const auto safe = masked(target);
  EXPECT_EQ(safe.command, (Words{"app", "x***"}));
  EXPECT_EQ(safe.env.at("COPY"), "<***>");
}

TEST(Masked, covers_docker_arguments_in_every_form) {
  Target target;
  target.docker_args = {"-e",
                        "TOKEN=two " + plain(),
                        "--env=TOKEN=two " + plain(),
                        "-eTOKEN=two " + plain(),
                        "-e=TOKEN=two " + plain(),
                        "-iteTOKEN=" + plain(),
                        "-eURL=http://u:" + plain() + "@h",
                        "--env",
                        "TOKEN",
                        "-e",
                        "LEVEL=debug info",
                        "--entrypoint=sh",
                        "-v",
                        "/data:/data:ro",
                        "-u",
                        "me:staff"};
  EXPECT_EQ(
      masked(target).docker_args,
      (Words{"-e", "TOKEN=***", "--env=TOKEN=***", "-eTOKEN=***", "-e=TOKEN=***", "-iteTOKEN=***",
             "-eURL=http://u:***@h", "--env", "TOKEN", "-e", "LEVEL=debug info", "--entrypoint=sh",
             "-v", "/data:/data:ro", "-u", "me:staff"}));
}

TEST(Masked, covers_what_the_app_needs) {
  Target target;
  Need need;
  need.command = {"serve", "--password", plain(), "x" + plain()};
  need.env = {{"BROKER_PASSWORD", plain()}, {"LEVEL", "debug"}};
  need.ready_log = "listening with token=" + plain();
  target.needs = {need};
  target.command = {"app", "x" + plain()};
  target.docker_args = {"--hostname=x" + plain()};
  target.dataset = "https://h/x?X-Amz-Credential=" + plain() + "&X-Amz-Signature=" + plain();
  const auto safe = masked(target);
  EXPECT_EQ(safe.needs[0].command, (Words{"serve", "--password", "***", "x***"}));
  EXPECT_EQ(safe.needs[0].env,
            (std::map<std::string, std::string>{{"BROKER_PASSWORD", "***"}, {"LEVEL", "debug"}}));
  EXPECT_EQ(safe.needs[0].ready_log, "listening with token=***");
  EXPECT_EQ(safe.command, (Words{"app", "x***"}));
  EXPECT_EQ(safe.docker_args, Words{"--hostname=x***"});
  EXPECT_EQ(safe.dataset, "https://h/x?X-Amz-Credential=***&X-Amz-Signature=***");
}

TEST(MaskedText, hides_what_the_secret_variables_of_a_target_hold) {
  Target target;
  target.env = {{"API_TOKEN", plain()}, {"SHORT_TOKEN", "app"}, {"LEVEL", "verbose-one"}};
  Need need;
  need.env = {{"BROKER_PASSWORD", "second-" + body(9)}};
  need.ready_log = "opened with " + need.env["BROKER_PASSWORD"];
  target.needs = {need};
  EXPECT_EQ(masked_text("app: verbose-one " + plain() + ", " + need.ready_log, target),
            "app: verbose-one ***, opened with ***");
  EXPECT_EQ(masked_text("--password x", target), "--password ***");
  EXPECT_EQ(masked(target).needs[0].ready_log, "opened with ***");
}

TEST(Masked, leaves_the_rest_of_a_target_alone) {
  Target target;
  target.command = {"app", "two words", "it's"};
  target.timeout = std::chrono::seconds(5);
  target.repeat = 7;
  const auto safe = masked(target);
  EXPECT_EQ(safe.command, target.command);
  EXPECT_EQ(safe.timeout, target.timeout);
  EXPECT_EQ(safe.repeat, 7);
}

}  // namespace
}  // namespace assay::session
