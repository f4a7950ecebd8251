// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <assay/base/text.h>
#include <assay/session/spec.h>
#include <gtest/gtest.h>

namespace assay::session {
namespace {

/// "@" stands for a secret.
struct Case {
  std::string line;
  std::string shown;
};

std::string with_secret(std::string text) {
  for (size_t at = text.find('@'); at != text.npos; at = text.find('@', at + 1))
    text.replace(at, 1, "hunter2-x");
  return text;
}

/// As a list of words and as one text it must come to the same.
void check(const Case& wanted) {
  const std::string line = with_secret(wanted.line);
  EXPECT_EQ(masked_text(line), wanted.shown) << line;
  Target target;
  target.command = *split_words(line);
  EXPECT_EQ(masked(target).command, *split_words(wanted.shown)) << line;
}

TEST(SecretOptions, hide_the_password_of_a_user) {
  for (const Case& wanted : std::vector<Case>{
           {"curl -u admin:@ http://h", "curl -u admin:*** http://h"},
           {"curl -u 'admin:two @' http://h", "curl -u 'admin:***' http://h"},
           {"curl --user admin:@ -s", "curl --user admin:*** -s"},
           {"curl --user=admin:@ -s", "curl --user=admin:*** -s"},
           {"curl --proxy-user a:@", "curl --proxy-user a:***"},
           {"curl -U a:1234", "curl -U a:***"},
           {"curl -ume:@ http://h", "curl -ume:*** http://h"},
           {"curl -Ume:@ http://h", "curl -Ume:*** http://h"},
           {"app --login me:@ x", "app --login me:*** x"},
           {"app --login=me:@ x", "app --login=me:*** x"},
       }) {
    check(wanted);
  }
}

TEST(SecretOptions, hide_what_known_programs_take_behind_a_letter) {
  for (const Case& wanted : std::vector<Case>{
           {"mysql -uroot -p@ db", "mysql -uroot -p*** db"},
           {"/usr/bin/mysqldump -p@ --all", "/usr/bin/mysqldump -p*** --all"},
           {"sudo mariadb -h host -p@", "sudo mariadb -h host -p***"},
           {"sshpass -p @ ssh -p 22 host", "sshpass -p *** ssh -p 22 host"},
           {"sshpass -p@ ssh -p22 host", "sshpass -p*** ssh -p22 host"},
           {"redis-cli -a @ ping", "redis-cli -a *** ping"},
           {"redis-cli -h host -p 6379 -a @ ping", "redis-cli -h host -p 6379 -a *** ping"},
           {"redis-cli -a @ ping | ls -a x", "redis-cli -a *** ping | ls -a x"},
           {"mysql -p@ db | nc -p80 host", "mysql -p*** db | nc -p80 host"},
       }) {
    check(wanted);
  }
  EXPECT_EQ(masked_text(with_secret("mysql -p'two @' db")), "mysql -p*** db");
  EXPECT_EQ(masked_text(with_secret("sh -c 'mysql -p@ db'")), "sh -c 'mysql -p*** db'");
}

TEST(SecretOptions, hide_a_password_that_looks_like_an_option) {
  for (const Case& wanted : std::vector<Case>{
           {"app --password --@ x", "app --password *** x"},
           {"app --password -@ x", "app --password *** x"},
           {"app --db-passwd '--two @' x", "app --db-passwd '***' x"},
           {"app --password --token @", "app --password *** ***"},
           {"app --pw --@ x", "app --pw *** x"},
           {"app --psk --@ x", "app --psk *** x"},
       }) {
    check(wanted);
  }
}

TEST(SecretOptions, leave_ordinary_words) {
  for (const std::string line : {"app -p 8080",
                                 "app -p8080",
                                 "docker run -p 80:8080 -u 1000:1000 image",
                                 "app -u nobody",
                                 "app --user nobody",
                                 "app --user",
                                 "app -u http://host:80/x",
                                 "app --user=me",
                                 "app --tokenizer bert",
                                 "app --token --verbose",
                                 "mysql -p db",
                                 "mysql -P3306",
                                 "mysql",
                                 "ls -a x",
                                 "app -u1000:1000",
                                 "app -uhttp://host:80/x",
                                 "app --login me",
                                 "app --key-frames 5",
                                 "app --sort-key a",
                                 "app --pinned x",
                                 "app --gpio-pin 17",
                                 "app --login-mode a:b",
                                 "ssh -p 22 host",
                                 "mkdir -p a/b"}) {
    check({line, line});
  }
}

}  // namespace
}  // namespace assay::session
