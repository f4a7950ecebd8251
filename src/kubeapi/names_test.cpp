// SPDX-License-Identifier: Apache-2.0
#include <assay/kubeapi/names.h>
#include <gtest/gtest.h>

namespace assay::kubeapi {
namespace {

TEST(Names, AreAsAClusterTakesThem) {
  for (const char* name : {"train", "train-2", "0", "a.b-c"}) EXPECT_EQ(wrong_name(name), "");
  for (const char* name : {"", "Train", "train_2", "-a", "a.", "a b"})
    EXPECT_NE(wrong_name(name).find("is no name: it has a to z"), std::string::npos) << name;
  EXPECT_EQ(wrong_name(std::string(253, 'a')), "");
  EXPECT_NE(wrong_name(std::string(254, 'a')).find("longer than 253"), std::string::npos);
}

TEST(Names, OfNamespacesAreShortAndHaveNoPoints) {
  EXPECT_EQ(wrong_namespace("lab-1"), "");
  EXPECT_EQ(wrong_namespace(std::string(63, 'a')), "");
  EXPECT_NE(wrong_namespace(std::string(64, 'a')), "");
  EXPECT_EQ(wrong_namespace("lab.one"),
            "'lab.one' is no name of a namespace: it has a to z, 0 to 9 and '-', and no mark at "
            "its ends");
}

TEST(Names, OfKeysMayHaveOneDomain) {
  for (const std::string& key : {std::string("gpu"), std::string("nvidia.com/gpu"),
                                 std::string("hugepages-2Mi"), "a/" + std::string(63, 'x')})
    EXPECT_EQ(wrong_key(key), "");
  for (const std::string& key :
       {std::string(), std::string("a/b/c"), std::string("/gpu"), std::string("x/"),
        std::string("A/b"), std::string("-a"), "a/" + std::string(64, 'x')})
    EXPECT_NE(wrong_key(key), "") << key;
}

}  // namespace
}  // namespace assay::kubeapi
